/**
 * Keys of advertisers and events: they make the resources' names, so they are compared as people see them.
 */
import { z } from "zod";
import { expecting } from "../rules/index.js";

/** No white space at the ends, no control or format characters, no `/`, no `::`, not `__proto__`; 1 to 100 characters. */
const KEY = /^(?!__proto__$)(?!\s)(?:(?!::)[^\p{C}\p{Zl}\p{Zp}/]){1,100}(?<!\s)$/u;

export const eventKey = expecting(
  "1 to 100 characters without / and ::, without control characters, and without spaces at the ends",
  z.string().regex(KEY),
);

/** Digits name a live advertiser by its id; any other number is one that a spreadsheet has changed. */
const NOT_A_NUMBER = "(?![\\d.,' +-]+$)(?!\\d[.,]?\\d*[eE]\\+?\\d+$)";

export const advertiserKey = expecting(
  `${eventKey.meta()?.expected}, not a number`,
  z.string().regex(new RegExp(KEY.source.replace("^", `^${NOT_A_NUMBER}`), "u")),
);

export const LIVE_ADVERTISER = /^[1-9]\d{0,29}$/;

/** One form for all ways to write the same letters. */
export function keyOf(written: string): string {
  return written.normalize("NFC");
}

/** Equal for keys that differ in nothing but case or in the form of their letters. */
export function withoutCase(key: string): string {
  return key.normalize("NFKC").toLowerCase();
}
