/**
 * Which arguments differ from the state. Every one that does means a replacement, since the platform has no known
 * update. Never throws, whatever shape it is handed.
 */
import { isDeepStrictEqual } from "node:util";
import { own } from "../base/index.js";
import type { Kind } from "../kinds/index.js";

/**
 * @param olds the state's properties, perhaps of another version of this package, or old inputs (`refresh --run-program`).
 * @param news the checked inputs; may hold the engine's text for unknown values, which count as changed.
 */
export function changedProperties(kind: Kind, id: string, olds: unknown, news: unknown): string[] {
  const arguments_ = [...Object.keys(kind.wireNames), "additionalFields"];
  const changed = arguments_.filter((property) => !isSame(own(olds, property), own(news, property)));
  return adoptsAnother(id, own(news, "existingId")) ? [...changed, "existingId"] : changed;
}

/** Naming the object that is managed anyway, or no longer naming it, changes nothing. */
function adoptsAnother(id: string, existingId: unknown): boolean {
  return existingId !== undefined && existingId !== null && String(existingId) !== id;
}

function isSame(old: unknown, new_: unknown): boolean {
  return isDeepStrictEqual(plain(old), plain(new_));
}

/** Absent and null are the same; key order and prototypes do not matter. */
function plain(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, entry]) => [key, plain(entry)]));
}
