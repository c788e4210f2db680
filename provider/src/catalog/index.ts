/** The front door of `catalog/`. */
export { CATALOG_RULES } from "./args.js";
export { Catalog, readCatalog } from "./read-catalog.js";
export { describeFinding, type Finding } from "./written.js";
