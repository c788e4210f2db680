/**
 * `rules/`: checks values against zod schemas in this package's own words. It promises that
 * everything that is wrong is reported at once, each with its path, that what is not known yet switches off only what
 * depends on it, and that a secret value is never shown. It knows no kind of resource. It may import `base/` and zod.
 */
export * from "./fields.js";
export * from "./problem.js";
export * from "./validate.js";
