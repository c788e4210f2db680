/**
 * The libraries that read catalogs, loaded when the first one is read: programs without a catalog do without them.
 */

export function yamlLibrary(): typeof import("yaml") {
  return require("yaml") as typeof import("yaml");
}

export function csvLibrary(): typeof import("csv-parse/sync", { with: { "resolution-mode": "require" }}) {
  return require("csv-parse/sync") as ReturnType<typeof csvLibrary>;
}
