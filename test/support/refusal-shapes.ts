import type { RefusalShape } from "../../provider/src/sandbox/index.js";

/** Every way in which the platform refuses what was asked for. */
export const refusalShapes: readonly RefusalShape[] = [
  "success-false-200",
  "406-errors",
  "406-payload-lists",
  "400-by-field-nested",
  "409",
  "detail",
  "plain-text",
  "403-permission",
  "401-body",
  "inner-success-false",
];
