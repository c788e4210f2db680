/**
 * Reads the fields of advertisers and events as people and spreadsheets spell them: in a cell, where everything is
 * text, and in YAML or JSON. A value that can't be parsed is returned unchanged, so that the resource's own rules reject
 * it; the advice here says what to write instead.
 */
import type { z } from "zod";
import { didYouMean, letters, nearest, own, quoted } from "../base/index.js";
import {
  advertiser,
  conversionEventSet,
  type Limits,
  THIRTY_DAYS_IN_SECONDS,
} from "../kinds/index.js";
import { DescribedInvalidValue, described, type Form } from "../rules/index.js";

/** How a file is written, and so how its values are to be written. */
export type Format = "csv" | "yaml" | "json";

interface Field {
  /** @param text trimmed, and not empty. @param allowsDecimalComma whether numbers may have a decimal comma. */
  readonly fromCell: (text: string, allowsDecimalComma: boolean) => unknown;
  readonly fromData: (value: unknown) => unknown;
  /** Says what to write instead of a value that was refused; a clause behind a semicolon. */
  readonly advice: (value: unknown, format: Format) => string | undefined;
  /** Whether its digits are kept as they are written. */
  readonly isId?: true;
}

/** A text as it is written in a file. */
function asText(text: string, format: Format): string {
  if (format !== "json") return text;
  return JSON.stringify(text);
}

function meantBy(value: unknown, known: readonly string[], format: Format): string | undefined {
  if (typeof value !== "string" || nearest(value, known) === undefined) return undefined;
  return didYouMean(value, known, (name) => asText(name, format));
}

const asItIs = <T>(value: T) => value;

const data: Field = { fromCell: asItIs, fromData: asItIs, advice: () => undefined };

const text: Field = {
  ...data,
  fromData: (value) => {
    const error = errorIn(String(value));
    return error === undefined ? value : new DescribedInvalidValue(error);
  },
  advice: (value) => {
    const isOther = ["number", "boolean"].includes(typeof value);
    return isOther ? "put it in quotes" : undefined;
  },
};

const number: Field = {
  ...data,
  fromCell: (cell, allowsDecimalComma) => {
    if (!allowsDecimalComma) return numberIn(cell);
    return unclear(cell) ?? numberIn(cell.replace(/^([+-]?\d*),(\d+)$/, "$1.$2"));
  },
  advice: (_, format) => {
    const not = ["thousands separator", "percent or currency sign"];
    if (format !== "csv") not.unshift("quotes");
    return `write a plain number: at most 15 digits, a decimal point, no ${not.join(", ")}`;
  },
};

/** Ids keep their digits: the rules know them as strings too. */
const id: Field = {
  ...data,
  fromData: (value) => (typeof value === "bigint" ? String(value) : value),
  advice: plainDigits,
  isId: true,
};

const TRUE = ["true", "yes", "1", "ja", "wahr", "oui", "vrai"];
const FALSE = ["false", "no", "0", "nein", "falsch", "non", "faux"];

const truthField: Field = {
  ...data,
  fromCell: (cell) => {
    const word = cell.toLowerCase();
    if (TRUE.includes(word)) return true;
    if (FALSE.includes(word)) return false;
    return cell;
  },
};

const window: Field = {
  fromCell: (cell, allowsDecimalComma) => {
    if (/^\d+$/.test(cell)) return numberIn(cell);
    if (!allowsDecimalComma) return secondsIn(cell);
    return unclear(/^[\d.,]*/.exec(cell)?.[0] ?? "") ?? secondsIn(cell.replace(",", "."));
  },
  fromData: (value) => {
    if (typeof value !== "string") return value;
    return secondsIn(value);
  },
  advice: (_, format) => {
    const examples = ["7d", "12h", "90min"].map((each) => asText(each, format));
    return `write seconds, or a number with its unit: ${examples.join(", ")}`;
  },
};

type Names = Readonly<Record<string, number | string>>;

function choice(names: Names): Field {
  const known = Object.values(names).map(String);
  return {
    ...data,
    fromCell: (cell) => known.find((each) => each === cell.toUpperCase()) ?? cell,
    advice: (value, format) => meantBy(value, known, format),
  };
}

/** As people spell names: `landing page`, `Landing_Page`. `Purchase?` is a question. */
const IS_NAME = /^[\p{L}\s_-]+$/u;

function namedNumber(values: Names): Field {
  const names = Object.keys(values);
  return {
    fromCell: (cell, allowsDecimalComma) => {
      const named = names.find((name) => IS_NAME.test(cell) && letters(name) === letters(cell));
      if (named !== undefined) return values[named];
      return number.fromCell(cell, allowsDecimalComma);
    },
    fromData: (value) => own(values, String(value)) ?? value,
    advice: (value, format) => {
      const known = names.map((name) => asText(name, format)).join(" or ");
      const digits = format === "csv" ? "its number" : "its number without quotes";
      return meantBy(value, names, format) ?? `write ${digits}, or ${known}`;
    },
  };
}

/** How a value of each form is spelled. What has no form is read as it is written. */
const SPELLINGS: Readonly<Record<Form, (names: Names) => Field>> = {
  text: () => text,
  number: () => number,
  truth: () => truthField,
  id: () => id,
  seconds: () => window,
  "named number": namedNumber,
  choice,
};

/** An argument's form does not depend on an installation's limits. */
const ANY_LIMITS: Limits = { maxWindowSeconds: THIRTY_DAYS_IN_SECONDS, markField: undefined };

const fields = new Map<string, Field>();

/** The arguments of an event that a catalog may have. */
export function rowRules() {
  return conversionEventSet.memberRules(ANY_LIMITS).shape as Readonly<
    Record<string, z.ZodType>
  >;
}

/** How an argument of an advertiser or an event is spelled; `undefined` if there is no such argument. */
export function fieldNamed(name: string): Field | undefined {
  if (fields.size === 0) {
    const rules = { ...advertiser.rules(ANY_LIMITS).shape, ...rowRules() };
    for (const [argument, rule] of Object.entries(rules)) fields.set(argument, fieldOf(rule));
  }
  return fields.get(name);
}

function fieldOf(rule: z.ZodType): Field {
  const { form, names = {} } = described(rule);
  if (form === undefined) return data;
  return SPELLINGS[form](names);
}

/** What a cell or a key is that is no value of any kind. */
export function mistakeIn(text: string): string | undefined {
  if (text.startsWith("=")) return `the formula ${quoted(text)}: write the value that it has`;
  return errorIn(text);
}

/** @returns in words, which error of a spreadsheet `text` is: one in English, German, French or Spanish. */
function errorIn(text: string): string | undefined {
  if (!ERROR_VALUE.test(text)) return undefined;
  return `the spreadsheet's error ${quoted(text)}: write the value that is meant`;
}

/** With a sign at their end, before which French has a space. Without one, each may be the name of a campaign. */
const ERROR_WORDS =
  "REF|VALUE|NAME|DIV/0|NULL|NUM|SPILL|CALC|FIELD|BLOCKED|CONNECT|ERROR|BEZUG|WERT|ZAHL|ÜBERLAUF|KALK|FELD|BLOCKIERT|VERBINDEN|VALEUR|NOM|NUL|PROPAGATION|EPARS|CHAMP|CONNEXION|BLOQUÉ|NOMBRE|DESBORDAMIENTO";
const ERROR_VALUE = new RegExp(
  `^(#((${ERROR_WORDS})\\s?[!?]|N/A|NV|N/D|N/DISP|GETTING_DATA|¡[\\p{L}/0]+!|##+)|(Err|Fehler):\\d{3})$`,
  "iu",
);

/** What to write instead of an id that a program or a spreadsheet has changed: `4711.0`, `0017`. */
export function plainDigits(value: unknown): string | undefined {
  const [, digits] = /^0*([1-9]\d*)(?:[.,]0+)?$/.exec(String(value)) ?? [];
  if (digits === undefined || digits === value) return undefined;
  return `write its digits alone: ${digits}`;
}

/** If a cell's separator can be read both ways, for thousands or for decimals, the two numbers that it may be: `1.234`, `1.234,50`, `1 234,50`. */
function unclear(number: string): DescribedInvalidValue | undefined {
  const plain = number.replace(/[^\d.,+-]/g, "");
  if (/^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(number))
    return oneOf(number, `${plain.replace(",", ".")}0`, plain.replace(/[.,]/, ""));
  if (/^[+-]?[1-9]\d{0,2}(\.\d{3}|([ \u00a0\u202f'’]\d{3})+),\d+$/.test(number))
    return oneOf(number, plain.replace(".", "").replace(",", "."), plain.replace(",", ""));
  return undefined;
}

function oneOf(number: string, one: string, other: string): DescribedInvalidValue {
  return new DescribedInvalidValue(
    `${quoted(number)}, which may be ${one} or ${other}: write the one that is meant`,
  );
}

/** @returns the cell itself where it is no number, or a whole one that a JavaScript number would round. */
function numberIn(cell: string): number | string {
  const isWhole = /^[+-]?\d+(\.0*)?$/.test(cell);
  if (isWhole && !Number.isSafeInteger(Number(cell))) return cell;
  if (isWhole || /^[+-]?(\d*\.\d+|\d+)([eE][+-]?\d{1,3})?$/.test(cell)) return Number(cell);
  return cell;
}

/** In English, German and French. `m` alone could be minutes or months, so it is none. */
const WINDOW_UNITS: readonly (readonly [seconds: number, words: string])[] = [
  [1, "s|secs?|seconds?|sekunden?|secondes?"],
  [60, "min|mins|minutes?|minuten"],
  [3600, "h|hours?|std|stunden?|heures?"],
  [86_400, "d|days?|tage?|j|jours?"],
  [604_800, "w|weeks?|wochen?|semaines?"],
];

/** Windows as people write them: `7d`, `12 hours`, `90min`, `14 tage`. */
export const WINDOW_TEXT = new RegExp(
  `^(\\d{1,9}(?:\\.\\d{1,6})?) ?(${WINDOW_UNITS.map(([, words]) => words).join("|")})$`,
);

/** @returns whole seconds; `text` itself where it is no window. */
export function secondsIn(text: string): number | string {
  const [, amount = "", unit = ""] = WINDOW_TEXT.exec(text.toLowerCase()) ?? [];
  const [each = Number.NaN] =
    WINDOW_UNITS.find(([, words]) => new RegExp(`^(${words})$`).test(unit)) ?? [];
  const seconds = Number(amount) * each;
  const whole = Math.round(seconds);
  if (Math.abs(seconds - whole) < 1e-6) return whole;
  return text;
}
