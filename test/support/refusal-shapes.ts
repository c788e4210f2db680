import type { RefusalShape } from "../../provider/src/sandbox/index.js";

/** Every form in which the platform refuses a request. */
export const refusalShapes: readonly RefusalShape[] = [
  "success-false-200",
  "406-errors",
  "406-payload-lists",
  "400-by-field-nested",
  "detail",
  "plain-text",
  "403-permission",
  "401-body",
  "inner-success-false",
];
