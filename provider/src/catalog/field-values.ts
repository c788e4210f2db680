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

/** A separator before three digits may mean thousands or decimals, so it is refused: a wrong guess would go live. */
const UNCLEAR = /^[+-]?[1-9]\d{0,2}[.,]\d{3}(?![\d.,])/;

/** @param text not empty. @param hasDecimalComma whether numbers may have a decimal comma. */
export function readText(rule: z.ZodType, text: string, hasDecimalComma = false): unknown {
  const mistake = mistakeIn(text);
  if (mistake !== undefined) return new DescribedInvalidValue(mistake);
  const { form, names = {} } = described(rule);
  let plain = text;
  if (hasDecimalComma && NUMERIC.includes(form)) {
    if (UNCLEAR.test(text))
      return new DescribedInvalidValue(
        `${quoted(text)}, which may mean thousands or decimals: write ${text.replace(/[.,]/, "")} or ${text}0`,
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

/** Advice about a refused value, as a clause after a semicolon; undefined if there is none. */
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

/** Recognises a formula or a spreadsheet's error. @returns why it can't be a value, as a clause, or `undefined`. */
export function mistakeIn(text: string): string | undefined {
  if (!text.startsWith("=") && !ERROR_VALUE.test(text)) return undefined;
  return `the formula or spreadsheet error ${quoted(text)}: write the value itself`;
}

/** Spreadsheet errors in English, German and French (with a space before the sign). Other texts may be names. */
const ERROR_VALUE =
  /^#(N\/A|NV|N\/D|##+|(REF|VALUE|NAME|DIV\/0|NULL|NUM|BEZUG|WERT|ZAHL|VALEUR|NOM|NOMBRE)\s?[!?])$/iu;

/** In English, German and French. `m` alone isn't a unit: it could mean minutes or months. */
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

/** @returns seconds, or `text` itself if it isn't a window. */
export function secondsIn(text: string): number | string {
  const [, amount, unit = ""] = WINDOW_TEXT.exec(text.toLowerCase()) ?? [];
  const found = WINDOW_UNITS.find(([, words]) => new RegExp(`^(${words})$`).test(unit));
  if (!found) return text;
  const [each] = found;
  return Number((Number(amount) * each).toFixed(3));
}
