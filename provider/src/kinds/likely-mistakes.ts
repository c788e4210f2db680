/** Values that fit the rules, and yet are likely a mistake. Pure. */
import { count, isPlain, quoted, strayIn, type Values } from "../base/index.js";
import { type Problem, withUnit } from "../rules/index.js";
import type { Kind } from "./kind.js";
import { days, LIKELY_DAYS_BELOW_SECONDS, WINDOWS } from "./vocabulary.js";

/** @param at the path of the object whose arguments these are. */
export function likelyMistakes(kind: Kind, values: Values, at = ""): Problem[] {
  const problems: Problem[] = [];
  const note = (property: string, reason: string | undefined) => {
    if (reason !== undefined) problems.push({ property: `${at}${property}`, reason });
  };
  for (const property of WINDOWS) note(property, shortWindow(values[property]));
  for (const reason of oddName(values[kind.nameProperty])) note(kind.nameProperty, reason);
  for (const property of [...kind.exactIds, "existingId"])
    note(property, roundedId(values[property]));
  return problems;
}

function shortWindow(seconds: unknown): string | undefined {
  if (typeof seconds !== "number" || seconds >= LIKELY_DAYS_BELOW_SECONDS) return undefined;
  const meant = withUnit(days(seconds));
  return `is ${count(seconds, "second")}; windows are seconds here. If days were meant, write ${meant}`;
}

/** Programs write these where a table has nothing. */
const NO_NAME = /^(nan|null|none|nil|undefined|n\/?a)$/i;

function oddName(name: unknown): string[] {
  if (typeof name !== "string") return [];
  const reasons: string[] = [];
  if (NO_NAME.test(name)) reasons.push(`is "${name}": is that a name, or was there no value?`);
  const unseen = strayIn(name);
  if (unseen !== undefined)
    reasons.push(`${quoted(name)} has a character that nobody sees, ${unseen}: is it meant?`);
  return reasons;
}

/** A spreadsheet keeps 15 digits of a number, most programs 17; both write zeros for the others. */
const ROUNDED_ID = /^[1-9](\d{14}0+|\d{16}00+)$/;

export function roundedId(id: unknown): string | undefined {
  if (!isPlain(id) || !ROUNDED_ID.test(String(id))) return undefined;
  const cause =
    "spreadsheets and programs keep 15 to 17 digits of a number and write zeros for the others";
  return `is ${id}: ${cause}; is that the whole id?`;
}
