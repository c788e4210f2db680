/** Warnings about values that fit the rules but are probably mistakes. Pure. */
import { asRecord, count, hasStray, isPlain, quoted, type Values } from "../base/index.js";
import { type Problem, withUnit } from "../rules/index.js";
import { type Kind, memberPath, type SetKind } from "./kind.js";
import { days, WINDOWS } from "./vocabulary.js";

/** The probable mistakes in a resource's arguments. */
export function warningsIn(resource: Kind | SetKind, values: Values): Problem[] {
  if (!("member" in resource)) return likelyMistakes(resource, values);
  const { member } = resource;
  return [
    ...likelyMistakes(member, { advertiserId: values.advertiserId }),
    ...likelyMistakes(member, asRecord(values.defaults), "defaults."),
    ...Object.entries(asRecord(values.events)).flatMap(([key, event]) =>
      likelyMistakes(member, asRecord(event), `${memberPath(key)}.`),
    ),
  ];
}

/** @param at the path of the object with these arguments, ending in a dot; empty at the top. */
function likelyMistakes(kind: Kind, values: Values, at = "") {
  const problems: Problem[] = [];
  const note = (property: string, reason: string | undefined) => {
    if (reason !== undefined) problems.push({ property: `${at}${property}`, reason });
  };
  for (const property of WINDOWS) note(property, shortWindow(values[property]));
  note(kind.nameProperty, oddName(values[kind.nameProperty]));
  for (const property of [...kind.idArguments, "existingId"])
    note(property, roundedIdWarning(values[property]));
  return problems;
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

export function roundedIdWarning(id: unknown): string | undefined {
  if (!isPlain(id) || !ROUNDED_ID.test(String(id))) return undefined;
  return `is ${id}: spreadsheets write zeros after 15 to 17 digits; is that the whole id?`;
}
