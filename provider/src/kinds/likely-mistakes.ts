/** Warnings about values that fit the rules but are probably mistakes. Pure. */
import { asRecord, count, hasStray, isPlain, quoted, type Values } from "../base/index.js";
import { type Problem, withUnit } from "../rules/index.js";
import { memberPath } from "./kind.js";
import { days } from "./vocabulary.js";

/** The check of each argument that has one. */
const CHECKS: Readonly<Record<string, (value: unknown) => string | undefined>> = {
  clickWindow: shortWindow,
  viewWindow: shortWindow,
  advertiserName: oddName,
  eventName: oddName,
  advertiser: roundedId,
  advertiserId: roundedId,
  segmentId: roundedId,
  existingId: roundedId,
};

/** The probable mistakes in a resource's arguments, with those in a set's `defaults` and `events`. */
export function warningsIn(values: Values): Problem[] {
  return [
    ...mistakesIn(values, ""),
    ...mistakesIn(asRecord(values.defaults), "defaults."),
    ...Object.entries(asRecord(values.events)).flatMap(([key, event]) =>
      mistakesIn(asRecord(event), `${memberPath(key)}.`),
    ),
  ];
}

/** @param at the path of the object with these arguments, ending in a dot; empty at the top. */
function mistakesIn(values: Values, at: string) {
  return Object.entries(values).flatMap(([property, value]) => {
    const reason = CHECKS[property]?.(value);
    if (reason === undefined) return [];
    return { property: `${at}${property}`, reason };
  });
}

/** The platform's own interface shows days, so a small number of seconds was probably meant as days. */
function shortWindow(seconds: unknown) {
  if (typeof seconds !== "number" || seconds > 365) return undefined;
  const meant = withUnit(days(seconds));
  return `is ${count(seconds, "second")}; windows are in seconds. If you mean days, write ${meant}`;
}

/** Programs write these texts for an empty cell of a table. */
const NO_NAME = /^(nan|null|none|nil|undefined|n\/?a)$/i;

function oddName(name: unknown) {
  if (typeof name !== "string") return undefined;
  if (hasStray(name)) return `${quoted(name)} has an invisible character: is it intended?`;
  return NO_NAME.test(name) ? `is "${name}": is that a name?` : undefined;
}

/** A spreadsheet keeps 15 digits of a number, most programs 17; both write zeros for the others. */
const ROUNDED_ID = /^[1-9](\d{14}0+|\d{16}00+)$/;

function roundedId(id: unknown) {
  if (!isPlain(id) || !ROUNDED_ID.test(String(id))) return undefined;
  return `is ${id}: spreadsheets write zeros after 15 to 17 digits; is that the whole id?`;
}
