/**
 * What a create sends.
 */

import { exactInteger } from "../base/index.js";
import type { Kind } from "./kind.js";

type Properties = Readonly<Record<string, unknown>>;

/** The request's fields in wire names; optional ones only where given or defaulted. */
export function requestFields(kind: Kind, values: Properties): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...(values.additionalFields as Properties | undefined) };
  for (const [property, wireName] of Object.entries(kind.wireNames)) {
    const value = values[property];
    // Digits beyond a number's precision go out as a JSON number all the same.
    const isDigits = typeof value === "string" && kind.exactIds.has(property);
    if (value !== undefined) fields[wireName] = isDigits ? exactInteger(value) : value;
  }
  return fields;
}
