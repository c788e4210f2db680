/** Warnings about values that fit the rules but are probably mistakes. Pure. */
import { asRecord, count, isPlain, quoted, STRAY, type Values } from "../base/index.js";
import { withUnit } from "../rules/index.js";
import { memberOf } from "./kind.js";
import { days, hours, THIRTY_DAYS_IN_SECONDS } from "./vocabulary.js";

/** The check of each argument that has one. */
const CHECKS: Readonly<
  Record<string, (value: string, maxWindowSeconds: number) => string | undefined>
> = {
  clickWindow: oddWindow,
  viewWindow: oddWindow,
  advertiserName: oddName,
  eventName: oddName,
  key: oddText,
  // In a CSV file, an id or a name.
  advertiser: (text) => roundedId(text) ?? oddName(text),
  advertiserId: roundedId,
  segmentId: roundedId,
  existingId: roundedId,
};

/** The probable mistakes in a resource's arguments, with those in a set's `defaults` and `events`. */
export function warningsIn(values: Values, maxWindowSeconds = THIRTY_DAYS_IN_SECONDS) {
  /** @param at the path of the object with these arguments, ending in a dot; empty at the top. */
  const mistakesIn = (given: Values, at: string) =>
    Object.entries(given).flatMap(([property, value]) => {
      // An Output or a part of an object isn't plain.
      if (!isPlain(value)) return [];
      const reason = CHECKS[property]?.(String(value), maxWindowSeconds);
      if (reason === undefined) return [];
      return { property: `${at}${property}`, reason, level: "warning" as const };
    });
  return [
    ...mistakesIn(values, ""),
    ...mistakesIn(asRecord(values.defaults), "defaults."),
    ...Object.entries(asRecord(values.events)).flatMap(([key, event]) =>
      mistakesIn({ key, ...asRecord(event) }, `${memberOf("events", key)}.`),
    ),
  ];
}

/** The platform's own interface shows days, so few seconds, or whole days in minutes, probably have the wrong unit. */
function oddWindow(text: string, longest: number) {
  const seconds = Number(text);
  const meant = (unit: string, inSeconds: number) => {
    const is = `is ${count(seconds, "second")}; windows are in seconds. If you mean ${unit}, `;
    if (inSeconds > longest) return `${is}the longest is ${withUnit(longest)}`;
    return `${is}write ${withUnit(inSeconds)}`;
  };
  if (seconds <= 365) return meant("days", days(seconds));
  // Whole hours are often meant; but 12 are also the platform's default, 30 days, in minutes.
  const isHours = seconds % hours(1) === 0 && seconds !== hours(12);
  if (isHours || seconds % 1440 !== 0) return undefined;
  return meant("minutes", seconds * 60);
}

/** The bytes 0x80 to 0xBF, read as Windows-1252 or Latin-1. */
const TRAIL = "[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]";

/**
 * Letters that were UTF-8 and were read as Windows-1252 (`Ã©`; two in a row outside Latin), or as Mac Roman (`√©`); the
 * character for one that was lost; and a character as HTML, a URL or JSON writes it.
 */
const BROKEN = new RegExp(
  `[ÂÃ]${TRAIL}|([Ä-ß]${TRAIL}){2}|â[€‚„]|ï»¿|ðŸ|√[^\\s\\d]|\\ufffd|&([A-Za-z][a-z]+\\d*|#\\w+);|(%[89A-Fa-f][\\dA-Fa-f]){2}|\\\\u[\\dA-Fa-f]{4}`,
);

/** Placeholders of templates and scripts that nothing has filled in. */
const UNFILLED =
  /[$#]\{.*\}|\$\(.*\)|\{[{%].*[%}]\}|%[A-Za-z_]\w*%|\[object \w+\]|^<.*>$|^\$[A-Z_][A-Z\d_]*$/;

/** Programs write these texts for an empty cell of a table, and people for a name that they don't know yet. */
const NO_NAME = /^(nan|null|none|nil|undefined|n\/?a|todo|tbd|fixme|x{3,})$/i;

function oddName(name: string) {
  if (STRAY.test(name))
    return `${quoted(name)} has an invisible character: is it intended?`;
  return NO_NAME.test(name) ? `is "${name}": is that a name?` : oddText(name);
}

/** Mistakes that a key may have, as well as a name. */
function oddText(text: string) {
  const [broken] = BROKEN.exec(text) ?? [];
  if (broken !== undefined)
    return `${quoted(text)} has broken letters, ${quoted(broken)}: write it as people should read it`;
  if (!UNFILLED.test(text)) return undefined;
  return `is ${quoted(text)}: nothing has filled in this placeholder; write the name itself`;
}

/** A spreadsheet keeps 15 digits of a number, most programs 17; both write zeros for the others. */
const ROUNDED_ID = /^[1-9](\d{14}0+|\d{16}00+)$/;

function roundedId(id: string) {
  if (!ROUNDED_ID.test(id)) return undefined;
  return `is ${id}: spreadsheets write zeros after 15 to 17 digits; is that the whole id?`;
}
