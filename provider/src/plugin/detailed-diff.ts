/** The differences that a preview shows: each changed argument, and each changed event of a set. */
import { isDeepStrictEqual } from "node:util";
import { asRecord, type Values } from "../base/index.js";

export interface PropertyDiff {
  kind: "add" | "delete" | "update";
  /** Whether the difference replaces the resource. */
  replaces: boolean;
}

/** Arguments whose parts are shown one by one. */
const MAPS = ["additionalFields", "defaults", "events"];

/** @param replaces the arguments that cause a replacement. @returns each difference by the property's path. */
export function detailedDiff(olds: Values, news: Values, replaces: readonly string[]) {
  const diffs = new Map<string, PropertyDiff>();
  for (const name of namesIn(olds, news)) {
    const then = olds[name];
    const now = news[name];
    if (isDeepStrictEqual(then, now)) continue;
    const isMap =
      MAPS.includes(name) && typeof then === "object" && typeof now === "object";
    const parts = isMap ? changedParts(name, asRecord(then), asRecord(now)) : [];
    // In a path only a quotation mark is escaped, so none can end in a backslash.
    if (parts.length > 0 && !parts.some(([path]) => path.endsWith('\\"]')))
      for (const [path, kind] of parts) diffs.set(path, { kind, replaces: false });
    else diffs.set(name, { kind: changeOf(then, now), replaces: replaces.includes(name) });
  }
  for (const name of replaces)
    if (!diffs.has(name)) diffs.set(name, { kind: "update", replaces: true });
  return diffs;
}

/** By the path of each part. */
function changedParts(name: string, olds: Values, news: Values) {
  return [...namesIn(olds, news)]
    .filter((key) => !isDeepStrictEqual(olds[key], news[key]))
    .map((key) => {
      const path = `${name}["${key.replaceAll('"', '\\"')}"]`;
      return [path, changeOf(olds[key], news[key])] as const;
    });
}

function namesIn(olds: Values, news: Values) {
  return new Set([...Object.keys(olds), ...Object.keys(news)]);
}

function changeOf(then: unknown, now: unknown) {
  if (then === undefined) return "add";
  return now === undefined ? "delete" : "update";
}
