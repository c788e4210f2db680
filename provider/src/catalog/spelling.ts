/**
 * Reads the fields of advertisers and events as people and spreadsheets spell them: in a cell, where everything is text, and in YAML
 * or JSON. What is no value of its kind stays as it was written: the resource's own rules then refuse it, and the advice here says
 * what to write instead.
 */
import { z } from "zod";
import { letters } from "../base/index.js";
import { Attribution, EventType } from "../kinds/index.js";

interface Field {
  /** @param text trimmed, and not empty. */
  readonly fromCell: (text: string) => unknown;
  readonly fromData: (value: unknown) => unknown;
  /** Says what to write instead of a value that was refused; a clause behind a semicolon. */
  readonly advice: (value: unknown) => string | undefined;
  /** The rule with the spellings that YAML and JSON may use, for editors. @param rule the resource's own. */
  readonly written: (rule: z.ZodType) => z.ZodType;
}

const asItIs = <T>(value: T) => value;

/** What is taken as it is written. */
const data: Field = { fromCell: asItIs, fromData: asItIs, advice: () => undefined, written: asItIs };

const text: Field = {
  ...data,
  advice: (value) => (typeof value === "number" || typeof value === "boolean" ? "put it in quotes" : undefined),
};

const number: Field = {
  ...data,
  fromCell: numberIn,
  advice: () =>
    "write a plain number: at most 15 digits, a decimal point, no quotes, thousands separator, percent or currency sign",
};

/** Ids keep their digits: the rules know them as strings too. */
const id: Field = {
  ...data,
  fromData: (value) => (typeof value === "bigint" ? String(value) : value),
  advice: (value) => {
    const [, digits] = /^(\d+)[.,]0+$/.exec(String(value)) ?? [];
    return digits === undefined ? undefined : `write its digits alone: ${digits}`;
  },
};

const TRUE = ["true", "yes", "1", "ja", "wahr", "oui", "vrai"];
const FALSE = ["false", "no", "0", "nein", "falsch", "non", "faux"];

const truth: Field = {
  ...data,
  fromCell: (cell) => TRUE.includes(cell.toLowerCase()) || (FALSE.includes(cell.toLowerCase()) ? false : cell),
};

const window: Field = {
  fromCell: (cell) => (/^\d+$/.test(cell) ? numberIn(cell) : secondsIn(inEnglish(cell.toLowerCase()))),
  fromData: (value) => (typeof value === "string" ? secondsIn(value) : value),
  advice: () => "write seconds, or a number with its unit: 7d, 12h, 90min",
  written: (rule) => z.union([rule, z.string().regex(WINDOW_TEXT)]),
};

const attribution: Field = {
  ...data,
  fromCell: (cell) => Object.values(Attribution).find((known) => known === cell.toUpperCase()) ?? cell,
};

const EVENT_TYPES = Object.keys(EventType) as (keyof typeof EventType)[];

const eventType: Field = {
  fromCell: (cell) => {
    const named = EVENT_TYPES.find((name) => letters(name) === letters(cell));
    return named === undefined ? numberIn(cell) : EventType[named];
  },
  fromData: (value) => EventType[EVENT_TYPES.find((name) => name === value) as keyof typeof EventType] ?? value,
  advice: () => `write its number without quotes, or ${EVENT_TYPES.join(" or ")}`,
  written: (rule) => z.union([rule, z.enum(EVENT_TYPES)]),
};

const FIELDS: Readonly<Record<string, Field>> = {
  advertiserName: text,
  eventName: text,
  value: number,
  eventTypeId: eventType,
  segmentId: id,
  countUnique: truth,
  clickWindow: window,
  viewWindow: window,
  attribution,
  existingId: id,
  additionalFields: data,
};

/** A field of an advertiser or of an event. */
export function fieldNamed(name: string): Field | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

/** `12,50` as `12.50`; none if it has separators of thousands too, so that it may be two numbers. */
export function withPoint(cell: string): string {
  return /^[+-]?\d+,\d+(?!\d)/.test(cell) ? cell.replace(",", ".") : cell;
}

/** The two numbers that a cell with a separator of thousands may be; none without one. @param hasComma whether the file has decimal commas. */
export function readingsOf(cell: string, hasComma: boolean): readonly [number, number] | undefined {
  const [, whole, decimals] = /^(\d{1,3}(?:[. \u00a0\u202f'’]\d{3})+)(,\d+)?$/.exec(cell) ?? [];
  if (whole === undefined || (decimals === undefined && !hasComma)) return undefined;
  const digits = whole.replaceAll(/\D/g, "");
  const others = whole.replaceAll(/[^\d.]/g, "") + (decimals ?? "").replace(",", "");
  return [Number(digits + (decimals ?? "").replace(",", ".")), Number(others)];
}

/** @returns the cell itself where it is no number, or a whole one that a JavaScript number would round. */
function numberIn(cell: string): number | string {
  const isWhole = /^[+-]?\d+(\.0*)?$/.test(cell);
  const isNumber = isWhole || /^[+-]?(\d+\.\d+|\.\d+|\d+)([eE][+-]?\d{1,3})?$/.test(cell);
  return isNumber && (!isWhole || Number.isSafeInteger(Number(cell))) ? Number(cell) : cell;
}

/** Windows as people write them: `7d`, `12 hours`, `90min`, `2 weeks`; `m` alone could be minutes or months, so it is none. */
const WINDOW_TEXT =
  /^(\d{1,9}(?:\.\d{1,6})?) ?(s|sec|secs|second|seconds|min|mins|minute|minutes|h|hour|hours|d|day|days|w|week|weeks)$/;

/** Units as German and French spreadsheets have them. */
const UNITS = [
  [/\b(tage?|jours?)$/, "d"],
  [/\b(stunden?|std|heures?)$/, "h"],
  [/\b(minuten?)$/, "min"],
  [/\b(sekunden?|secondes?)$/, "s"],
  [/\b(wochen?|semaines?)$/, "w"],
] as const;

function inEnglish(cell: string): string {
  return UNITS.reduce((text, [unit, english]) => text.replace(unit, english), cell);
}

const SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** @returns whole seconds; `text` itself where it is no window. */
export function secondsIn(text: string): number | string {
  const [, amount = "", unit = ""] = WINDOW_TEXT.exec(text) ?? [];
  const seconds = Number(amount) * (SECONDS[unit.charAt(0)] ?? Number.NaN);
  const whole = Math.round(seconds);
  return Math.abs(seconds - whole) < 1e-6 ? whole : text;
}
