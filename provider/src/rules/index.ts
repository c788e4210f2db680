/**
 * `rules/`: checks values against zod schemas, with this package's own messages.
 *
 * - All problems are reported at once, each with its path.
 * - An unknown value switches off only the checks that depend on it.
 * - A secret value is never shown.
 *
 * It knows no kind of resource. It may import `base/` and zod.
 */
export * from "./fields.js";
export * from "./problem.js";
export * from "./validate.js";
