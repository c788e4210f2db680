/**
 * `catalog/`: reads a data file of advertisers and events, without Pulumi. Reports all mistakes at once, each with its
 * place, and returns only objects that fit. It may import `base/`, `rules/` and `kinds/`, and loads the libraries that
 * parse files only when the first file is read.
 */
export * from "./read-catalog.js";
export * from "./written.js";
