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
export function detailedDiff(
  olds: Values,
  news: Values,
  replaces: readonly string[],
): Map<string, PropertyDiff> {
  const diffs = new Map<string, PropertyDiff>();
  for (const name of namesIn(olds, news)) {
    const then = olds[name];
    const now = news[name];
    const isMap =
      MAPS.includes(name) && typeof then === "object" && typeof now === "object";
    if (isDeepStrictEqual(then, now)) continue;
    if (!isMap)
      diffs.set(name, { kind: changeOf(then, now), replaces: replaces.includes(name) });
    else
      for (const [key, diff] of changedParts(asRecord(then), asRecord(now)))
        diffs.set(`${name}[${JSON.stringify(key)}]`, diff);
  }
  for (const name of replaces)
    if (!diffs.has(name)) diffs.set(name, { kind: "update", replaces: true });
  return diffs;
}

function changedParts(olds: Values, news: Values): [string, PropertyDiff][] {
  const changed = [...namesIn(olds, news)].filter(
    (key) => !isDeepStrictEqual(olds[key], news[key]),
  );
  return changed.map((key) => [
    key,
    { kind: changeOf(olds[key], news[key]), replaces: false },
  ]);
}

function namesIn(olds: Values, news: Values): Set<string> {
  return new Set([...Object.keys(olds), ...Object.keys(news)]);
}

function changeOf(then: unknown, now: unknown): PropertyDiff["kind"] {
  if (then === undefined) return "add";
  return now === undefined ? "delete" : "update";
}
