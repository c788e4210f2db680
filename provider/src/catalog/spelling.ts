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
  advice: (value) =>
    ["number", "boolean", "bigint"].includes(typeof value) ? `put it in quotes: "${String(value)}"` : undefined,
};

const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/;

const number: Field = {
  ...data,
  fromCell: (cell) => (PLAIN_NUMBER.test(cell) && !wouldBeRounded(cell) ? Number(cell) : cell),
  advice: (value) =>
    wouldBeRounded(String(value)) ? ROUNDED : (unquoted(value, PLAIN_NUMBER) ?? mistakeInNumber(value)),
};

/** Ids keep their digits: the rules know them as strings too. */
const id: Field = {
  ...data,
  fromData: (value) => (typeof value === "bigint" ? String(value) : value),
  advice: mistakeInNumber,
};

const TRUE = ["true", "yes", "1"];
const FALSE = ["false", "no", "0"];

const truth: Field = {
  ...data,
  fromCell: (cell) => TRUE.includes(cell.toLowerCase()) || (FALSE.includes(cell.toLowerCase()) ? false : cell),
  advice: (value) => (typeof value === "string" ? "write true or false" : undefined),
};

const window: Field = {
  fromCell: (cell) => (/^\d{1,15}$/.test(cell) ? Number(cell) : secondsIn(cell.toLowerCase())),
  fromData: (value) => (typeof value === "string" ? secondsIn(value) : value),
  advice: (value) =>
    typeof value === "string" ? "write seconds, or a number with its unit: 7d, 12h, 90min" : undefined,
  written: (rule) => z.union([rule, z.string().regex(WINDOW_TEXT)]),
};

const attribution: Field = {
  ...text,
  fromCell: (cell) => Object.values(Attribution).find((known) => known === cell.toUpperCase()) ?? cell,
};

const EVENT_TYPES = Object.keys(EventType) as (keyof typeof EventType)[];

const eventType: Field = {
  fromCell: (cell) => {
    const named = EVENT_TYPES.find((name) => letters(name) === cell.toLowerCase().replaceAll(/[\s_-]/g, ""));
    if (named !== undefined) return EventType[named];
    // Also one that no event type has, such as -1: its rule then says what it expects.
    return /^[+-]?\d{1,15}(\.\d{1,6})?$/.test(cell) ? Number(cell) : cell;
  },
  fromData: (value) => EventType[EVENT_TYPES.find((name) => name === value) as keyof typeof EventType] ?? value,
  advice: (value) => unquoted(value, /^\d{1,15}$/) ?? mistakeInNumber(value) ?? `or write ${EVENT_TYPES.join(" or ")}`,
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

/** Whether this is a whole number that would be another one as a JavaScript number. YAML and JSON hand it over as a bigint instead. */
function wouldBeRounded(text: string): boolean {
  return /^[+-]?\d+(\.0*)?$/.test(text) && !Number.isSafeInteger(Number(text));
}

const ROUNDED = `a whole number beyond ${Number.MAX_SAFE_INTEGER} would be rounded`;

function unquoted(value: unknown, form: RegExp): string | undefined {
  return typeof value === "string" && form.test(value.trim()) ? `write ${value.trim()}, without quotes` : undefined;
}

/** Says what to write instead of a text that should be a number. Completes a sentence. */
function mistakeInNumber(value: unknown): string | undefined {
  const cell = typeof value === "string" ? value.trim() : "";
  if (cell.startsWith("#")) return "the spreadsheet could not work it out";
  if (/^[+-]?\d[.,]\d+E\+?\d+$/i.test(cell))
    return "a spreadsheet has shortened it: format the column as text, and type the digits again";
  if (/^[+-]?(0,\d+|\d+,(\d{1,2}|\d{4,}))$/.test(cell)) return `write ${cell.replace(",", ".")}, with a decimal point`;
  if (!/\d\D*[.,' \p{Zs}]\d|[%\p{Sc}]/u.test(cell)) return undefined;
  return "write a plain number: a decimal point, and no thousands separator, percent or currency sign";
}

/** Windows as people write them: `7d`, `12 hours`, `90min`, `2 weeks`, or seconds. */
const SECONDS: Readonly<Record<string, number>> = { s: 1, mi: 60, h: 3600, d: 86_400, w: 604_800 };

/** A number and a unit; `m` alone could be minutes or months, so it is none. */
const WINDOW_TEXT =
  /^(\d{1,9}(?:\.\d{1,6})?) ?(s|sec|secs|second|seconds|min|mins|minute|minutes|h|hour|hours|d|day|days|w|week|weeks)$/;

/** @returns whole seconds; `text` itself where it is no window. */
export function secondsIn(text: string): number | string {
  const [, amount = "", unit = ""] = WINDOW_TEXT.exec(text) ?? [];
  const length = SECONDS[unit.startsWith("mi") ? "mi" : unit.charAt(0)];
  const seconds = Number(amount) * (length ?? Number.NaN);
  const whole = Math.round(seconds);
  return Math.abs(seconds - whole) < 1e-6 ? whole : text;
}
