/**
 * How the fields of advertisers and events are written in a catalog: in a cell of a spreadsheet, where everything is text, and
 * in YAML or JSON. What is no value of its kind stays as it was written: the resource's own rules then refuse it.
 */
import { z } from "zod";
import { letters } from "../base/index.js";
import { Attribution, EventType } from "../kinds/index.js";
import { mistakeInNumber } from "./numbers.js";
import { secondsIn, WINDOW_TEXT } from "./window.js";

interface Field {
  /** @param text trimmed, and not empty. */
  readonly fromCell: (text: string) => unknown;
  readonly fromData: (value: unknown) => unknown;
  /** What to write instead of a value that was refused; completes a sentence of its own. */
  readonly advice: (value: unknown) => string | undefined;
  /** What may be written in YAML and JSON, for editors. @param rule the resource's own. */
  readonly written: (rule: z.ZodType) => z.ZodType;
}

const asItIs = <T>(value: T) => value;
const noAdvice = () => undefined;

const text: Field = {
  fromCell: asItIs,
  fromData: asItIs,
  advice: (value) =>
    ["number", "boolean", "bigint"].includes(typeof value) ? `put it in quotes: "${String(value)}"` : undefined,
  written: asItIs,
};

const PLAIN_NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?$/;

const number: Field = {
  fromCell: (cell) => (PLAIN_NUMBER.test(cell) ? Number(cell) : cell),
  fromData: asItIs,
  advice: numberAdvice,
  written: asItIs,
};

const integer: Field = { ...number, fromCell: (cell) => (/^\d{1,15}$/.test(cell) ? Number(cell) : cell) };

/** Ids keep their digits: the rules know them as strings too. */
const id: Field = {
  fromCell: asItIs,
  fromData: (value) => (typeof value === "bigint" ? String(value) : value),
  advice: (value) => (typeof value === "string" ? mistakeInNumber(value) : undefined),
  written: asItIs,
};

const TRUE = ["true", "yes", "1"];
const FALSE = ["false", "no", "0"];

const truth: Field = {
  fromCell: (cell) => {
    const word = cell.toLowerCase();
    return TRUE.includes(word) ? true : FALSE.includes(word) ? false : cell;
  },
  fromData: asItIs,
  advice: (value) => (typeof value === "string" ? "write true or false" : undefined),
  written: asItIs,
};

const window: Field = {
  fromCell: (cell) => {
    if (/^\d{1,15}$/.test(cell)) return Number(cell);
    const seconds = secondsIn(cell.toLowerCase());
    return typeof seconds === "number" ? seconds : cell;
  },
  fromData: (value) => (typeof value === "string" ? secondsIn(value) : value),
  advice: (value) => {
    if (typeof value !== "string") return undefined;
    return mistakeInNumber(value) ?? "write seconds, or a number with its unit: 7d, 12h, 90min";
  },
  written: (rule) => z.union([rule, z.string().regex(WINDOW_TEXT)]),
};

const attribution: Field = {
  ...text,
  fromCell: (cell) => {
    const word = cell.toUpperCase();
    return Object.values(Attribution).some((known) => known === word) ? word : cell;
  },
};

const EVENT_TYPES = Object.keys(EventType) as (keyof typeof EventType)[];

const eventType: Field = {
  fromCell: (cell) => {
    const named = EVENT_TYPES.find((name) => letters(name) === letters(cell));
    return named === undefined ? integer.fromCell(cell) : EventType[named];
  },
  fromData: (value) => EventType[EVENT_TYPES.find((name) => name === value) as keyof typeof EventType] ?? value,
  advice: (value) =>
    typeof value === "string" ? (numberAdvice(value) ?? `or write ${EVENT_TYPES.join(" or ")}`) : undefined,
  written: (rule) => z.union([rule, z.enum(EVENT_TYPES)]),
};

const data: Field = { fromCell: asItIs, fromData: asItIs, advice: noAdvice, written: asItIs };

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
  // Of the catalog's rules.
  maxClickWindow: window,
  maxViewWindow: window,
};

/** A field of an advertiser, of an event, or of a catalog's rules. */
export function fieldNamed(name: string): Field | undefined {
  return Object.hasOwn(FIELDS, name) ? FIELDS[name] : undefined;
}

function numberAdvice(value: unknown): string | undefined {
  if (typeof value !== "string") return undefined;
  if (PLAIN_NUMBER.test(value.trim())) return `write ${value.trim()}, without quotes`;
  return mistakeInNumber(value);
}
