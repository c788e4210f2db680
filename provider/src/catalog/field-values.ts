/**
 * Reads texts as people and spreadsheets spell values: in a cell, where everything is text, and in YAML or JSON. A text
 * that can't be read is returned unchanged, so that its rule rejects it; the advice here says what to write instead.
 */
import type { z } from "zod";
import { letters, nearest, quoted } from "../base/index.js";
import { asAccepted, described, type Form, withUnit } from "../rules/index.js";

/** A separator before three digits may mean thousands or decimals, so it is refused: a wrong guess would go live. */
const UNCLEAR = /^[+-]?[1-9]\d{0,2}[.,]\d{3}(?![\d.,])/;

const GROUPED = /^([+-]?[1-9]\d{0,2}([.,'’\s])\d{3}(?:\2\d{3})*)((?!\2)[.,]\d+)?$/;

/** A number's text without separators between thousands; `undefined` if it has none, or they may be decimal ones. */
function ungrouped(text: string) {
  const [, whole = "", separator = "", decimals = ""] = GROUPED.exec(text) ?? [];
  const isUnclear = decimals === "" && /^[^.,]*[.,][^.,]*$/.test(whole);
  if (whole === "" || isUnclear) return undefined;
  return whole.replaceAll(separator, "") + decimals;
}

/** Why a number can't be read where a comma is a decimal one, or undefined. */
function unclearNumber(text: string) {
  const plain = ungrouped(text);
  if (plain !== undefined) return `${quoted(text)}: write ${plain}`;
  if (!UNCLEAR.test(text)) return undefined;
  const decimal = text.replace(UNCLEAR, "$&0");
  return `${quoted(text)}, which may mean thousands or decimals: write ${text.replace(/[.,]/, "")} or ${decimal}`;
}

/** The forms that a text is read for. */
const READERS: Partial<Record<Form, (text: string) => unknown>> = {
  number: String,
  "named number": String,
  seconds: secondsIn,
  // In English, German and French.
  truth: (text) =>
    text
      .replace(/^(yes|ja|wahr|oui|vrai)$/i, "true")
      .replace(/^(no|nein|falsch|non|faux)$/i, "false"),
};

export function readValue(rule: z.ZodType, value: unknown, hasDecimalCommas = false) {
  // Larger than the integers that a number holds exactly.
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "string") return value;
  const { form, names = {} } = described(rule);
  const word = value.toLowerCase().replaceAll(/[\s_-]/g, "");
  const name = Object.keys(names).find((each) => letters(each) === word);
  if (name !== undefined) return names[name];
  const read = form && READERS[form];
  let text = value;
  let mistake: string | undefined;
  if (NO_VALUE.test(text))
    mistake = `the formula or spreadsheet error ${quoted(text)}: write the value itself`;
  if (hasDecimalCommas && read) {
    mistake ??= unclearNumber(text);
    text = text.replace(/^([+-]?\d*),(\d)/, "$1.$2");
  }
  if (mistake !== undefined) return Symbol(mistake);
  if (!read) return value;
  const accepted = asAccepted(rule, read(text));
  // A refused text is shown as it is written.
  return rule.safeParse(accepted).success ? accepted : value;
}

const ADVICE: Partial<Record<Form, string>> = {
  number:
    "write a plain number: at most 15 digits, a decimal point, no thousands separator, percent or currency sign",
  id: "write only its digits, without leading zeros",
  seconds: "write seconds, or a number with its unit: d, h or min",
};

/** Advice about a refused value, as a clause after a semicolon; undefined if there is none. */
export function adviceOn(rule: z.ZodType, value: unknown) {
  const { form, names = {} } = described(rule);
  const known = form === "choice" ? Object.values(names).map(String) : Object.keys(names);
  const text = typeof value === "string" ? value : "";
  const meant = nearest(text, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  if (form === "named number") return `write its number, or ${known.join(" or ")}`;
  if (form === "text" && typeof value !== "string") return "put it in quotes";
  if (form === "seconds") {
    const seconds = Number(secondsIn(String(value)));
    // A plain number is in seconds already: only its size is wrong.
    if (seconds > 0)
      return seconds === Number(value) ? undefined : `that is ${withUnit(seconds)}`;
  }
  let plain = form === "number" ? ungrouped(text)?.replace(",", ".") : undefined;
  // An advertiser's key may be an id too.
  if (form === "id" || form === undefined)
    [, plain] = /^([1-9]\d*)[.,]0+$/.exec(text) ?? [];
  if (plain !== undefined) return `write ${plain}`;
  return form && ADVICE[form];
}

/** Formulas, and spreadsheet errors in English, German and French (a space before the sign). Others may be names. */
const NO_VALUE =
  /^=|^#(N\/A|NV|N\/D|##+|(REF|VALUE|NAME|DIV\/0|NULL|NUM|BEZUG|WERT|ZAHL|VALEUR|NOM|NOMBRE)\s?[!?])$/iu;

/** Each unit's seconds, and its words in English, German and French. `m` alone could mean minutes or months. */
const WINDOW_UNITS = [
  [1, "s|secs?|seconds?|sekunden?|secondes?"],
  [60, "min|mins|minutes?|minuten"],
  [3600, "h|hours?|std|stunden?|heures?"],
  [86_400, "d|days?|tage?|j|jours?"],
  [604_800, "w|weeks?|wochen?|semaines?"],
] as const;

/** Windows as people write them: `7d`, `12 hours`, `90min`, `14 tage`. */
export const WINDOW_TEXT = new RegExp(
  `^(\\d{1,9}(?:\\.\\d{1,6})?) ?(?:${WINDOW_UNITS.map(([, words]) => `(${words})`).join("|")})$`,
);

/** @returns seconds, or `text` itself if it isn't a window. */
export function secondsIn(text: string) {
  const [, amount, ...units] = WINDOW_TEXT.exec(text.toLowerCase()) ?? [];
  const unit = WINDOW_UNITS[units.findIndex((word) => word !== undefined)];
  if (!unit) return text;
  return Number((Number(amount) * unit[0]).toFixed(3));
}
