/**
 * Reads texts as people and spreadsheets spell values: in a cell, where everything is text, and in YAML or JSON. A text
 * that can't be read is returned unchanged, so that its rule rejects it; the advice here says what to write instead.
 */
import type { z } from "zod";
import { letters, nearest, quoted } from "../base/index.js";
import { asAccepted, DescribedInvalidValue, described, type Form } from "../rules/index.js";

/** In English, German and French. */
const TRUE_WORDS = /^(yes|ja|wahr|oui|vrai)$/i;
const FALSE_WORDS = /^(no|nein|falsch|non|faux)$/i;

const NUMERIC: readonly (Form | undefined)[] = ["number", "named number", "seconds"];

/** Three digits after a separator may be thousands or decimals: a wrong guess would be live. */
const UNCLEAR = /^[+-]?[1-9]\d{0,2}[.,]\d{3}(?![\d.,])/;

/** @param text not empty. @param hasDecimalComma whether numbers may have one. */
export function readText(rule: z.ZodType, text: string, hasDecimalComma = false): unknown {
  const mistake = mistakeIn(text);
  if (mistake !== undefined) return new DescribedInvalidValue(mistake);
  const { form, names = {} } = described(rule);
  let plain = text;
  if (hasDecimalComma && NUMERIC.includes(form)) {
    if (UNCLEAR.test(text))
      return new DescribedInvalidValue(
        `${quoted(text)}, which may mean thousands or decimals: write it like 1234 or 1.2340`,
      );
    plain = text.replace(/^([+-]?\d*),(\d)/, "$1.$2");
  }
  const word = text.toLowerCase().replaceAll(/[\s_-]/g, "");
  const name = Object.keys(names).find((each) => letters(each) === word);
  if (name !== undefined) return names[name];
  switch (form) {
    case "number":
    case "named number":
      return asAccepted(rule, plain);
    case "seconds":
      return asAccepted(rule, secondsIn(plain));
    case "truth":
      return asAccepted(
        rule,
        text.replace(TRUE_WORDS, "true").replace(FALSE_WORDS, "false"),
      );
    default:
      return text;
  }
}

/** Says what to write instead of a value that was refused; a clause behind a semicolon. */
export function adviceOn(rule: z.ZodType, value: unknown): string | undefined {
  const { form, names = {} } = described(rule);
  const known = form === "choice" ? Object.values(names).map(String) : Object.keys(names);
  const meant = typeof value === "string" ? nearest(value, known) : undefined;
  if (meant !== undefined) return `did you mean ${meant}?`;
  switch (form) {
    case "text":
      return typeof value === "string" ? undefined : "put it in quotes";
    case "number":
      return "write a plain number: at most 15 digits, a decimal point, no thousands separator, percent or currency sign";
    case "id":
      return "write only its digits, without leading zeros";
    case "seconds":
      return "write seconds, or a number with its unit: 7d, 12h, 90min";
    case "named number":
      return `write its number, or ${known.join(" or ")}`;
    default:
      return undefined;
  }
}

/** Why a text can't be anybody's value: a formula, or a spreadsheet's error. @returns a clause; `undefined` if it can. */
export function mistakeIn(text: string): string | undefined {
  if (!text.startsWith("=") && !ERROR_VALUE.test(text)) return undefined;
  return `the formula or spreadsheet error ${quoted(text)}: write the value itself`;
}

/** In English, German and French, which has a space before the sign. Other words may be names of campaigns. */
const ERROR_VALUE =
  /^#(N\/A|NV|N\/D|##+|(REF|VALUE|NAME|DIV\/0|NULL|NUM|BEZUG|WERT|ZAHL|VALEUR|NOM|NOMBRE)\s?[!?])$/iu;

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

/** @returns seconds; `text` itself where it is no window. */
export function secondsIn(text: string): number | string {
  const [, amount, unit = ""] = WINDOW_TEXT.exec(text.toLowerCase()) ?? [];
  const found = WINDOW_UNITS.find(([, words]) => new RegExp(`^(${words})$`).test(unit));
  if (!found) return text;
  const [each] = found;
  return Number((Number(amount) * each).toFixed(3));
}
