/**
 * Finds likely mistakes in a catalog whose values all fit: breaches of a team's own rules, each an error or a warning by the team's
 * choice, and advertisers that have almost the same name.
 */
import { z } from "zod";
import { differsLittle, letters } from "../base/index.js";
import { conversionEventSet, type Limits } from "../kinds/index.js";
import { duration, expecting, quoted, truth } from "../rules/index.js";
import { type CatalogEvent, type Finding, type WrittenEvent, withoutCase } from "./written.js";

/** The styles of names, as people call them in a catalog's rules. */
const CASINGS = ["sentence", "title", "lower", "upper", "kebab", "snake", "camel", "pascal"] as const;
type Casing = (typeof CASINGS)[number];

export interface RuleValues {
  /** Names of an advertiser's events differ in more than case and separators. */
  readonly uniqueNames?: boolean;
  readonly nameCasing?: Casing;
  readonly keyCasing?: Casing;
  /** Seconds. */
  readonly maxClickWindow?: number;
  readonly maxViewWindow?: number;
}

/** The warnings of a file that says nothing about them. */
export const DEFAULT_WARNINGS: RuleValues = { uniqueNames: true };

const casing = expecting(`one of ${CASINGS.join(", ")}`, z.enum(CASINGS)).optional();
const window = expecting("whole seconds from 1 up", z.int().min(1)).optional();

/** The rules that a file may set, by name. Windows are written as in the fields of events. */
export const RULES = z.strictObject({
  uniqueNames: truth.optional(),
  nameCasing: casing,
  keyCasing: casing,
  maxClickWindow: window,
  maxViewWindow: window,
});

/** @param events those that are all right by themselves. */
export function lint(
  events: readonly CatalogEvent[],
  rules: RuleValues,
  level: Finding["level"],
  limits: Limits,
): Finding[] {
  const findings: Finding[] = [];
  const find = ({ written }: CatalogEvent, property: string, reason: string) =>
    findings.push({ level, subject: written.subject, property, reason, source: written.sourceOf(property) });
  const names = new Map<string, CatalogEvent>();
  const byDefault = conversionEventSet.defaultsIn(limits);
  for (const event of events) {
    if (typeof event.args.eventName !== "string") continue; // reported with the arguments
    const name = event.args.eventName;
    if (rules.uniqueNames === true) {
      const id = `${event.advertiser}/${letters(name.normalize("NFKC")) || name}`;
      const first = names.get(id);
      if (first === undefined) names.set(id, event);
      else
        find(
          event,
          "eventName",
          `${quoted(name)} is also the name of ${quoted(first.written.subject)}, case and separators aside`,
        );
    }
    if (rules.nameCasing !== undefined && !fitsCasing(name, rules.nameCasing))
      find(event, "eventName", `${quoted(name)} is not in ${rules.nameCasing} case`);
    if (rules.keyCasing !== undefined && !fitsCasing(event.key, rules.keyCasing))
      find(event, "key", `${quoted(event.key)} is not in ${rules.keyCasing} case`);
    for (const [property, most] of [
      ["clickWindow", rules.maxClickWindow],
      ["viewWindow", rules.maxViewWindow],
    ] as const) {
      const seconds = Number(event.args[property] ?? byDefault[property]);
      if (most === undefined || seconds <= most) continue;
      const how = event.args[property] === undefined ? " by default, since nothing is written" : "";
      find(event, property, `is ${duration(seconds)}${how}; the catalog's rules allow ${duration(most)}`);
    }
  }
  return findings;
}

/** Warns of an advertiser that has a single event and almost the name of one that has more. */
export function misspeltAdvertisers(events: readonly WrittenEvent[]): Finding[] {
  const groups = [...Map.groupBy(events, ({ advertiser }) => advertiser)];
  const settled = groups.filter(([, own]) => own.length > 1).map(([name]) => name);
  return groups
    .filter(([, own]) => own.length === 1)
    .flatMap(([name, [event]]) => {
      const meant = settled.find((other) => isAlmost(name, other));
      if (event === undefined || meant === undefined) return [];
      const reason = `${quoted(name)} is almost ${quoted(meant)}: it is another advertiser, with this event alone`;
      const source = event.sourceOf("advertiser");
      return [{ level: "warning" as const, subject: event.subject, property: "advertiser", reason, source }];
    });
}

/** Word by word: `Store A` and `Store B` are two stores, and `Store 1` and `Store 2`. Keys that differ in case alone are refused. */
function isAlmost(name: string, other: string): boolean {
  if (withoutCase(name) === withoutCase(other)) return false;
  if (letters(name) === letters(other)) return true;
  const [words, others] = [name.split(/\s+/), other.split(/\s+/)];
  return words.length === others.length && words.every((word, i) => differsLittle(word, others[i] ?? ""));
}

const isUpper = (text: string) => text === text.toUpperCase();
const isLower = (text: string) => text === text.toLowerCase();
const beginsUpper = (word: string) => isUpper([...word][0] ?? "");
/** An abbreviation or a product's name may stand anywhere: USA, B2B. */
const isLowerOrShort = (word: string) => isLower([...word][0] ?? "") || isUpper(word);

const FITS: Readonly<Record<Casing, (text: string) => boolean>> = {
  sentence: (text) => beginsUpper(wordsIn(text)[0] ?? "") && wordsIn(text).slice(1).every(isLowerOrShort),
  // Short words such as "of" and "and" are written either way.
  title: (text) => wordsIn(text).every((word, index) => (index > 0 && word.length <= 3) || beginsUpper(word)),
  lower: isLower,
  upper: isUpper,
  kebab: (text) => isLower(text) && /^[\p{L}\p{N}]+(-[\p{L}\p{N}]+)*$/u.test(text),
  snake: (text) => isLower(text) && /^[\p{L}\p{N}]+(_[\p{L}\p{N}]+)*$/u.test(text),
  camel: (text) => (!beginsUpper(text) || isLower([...text][0] ?? "")) && /^[\p{L}\p{N}]+$/u.test(text),
  pascal: (text) => beginsUpper(text) && /^[\p{L}\p{N}]+$/u.test(text),
};

export function fitsCasing(text: string, casing: Casing): boolean {
  return FITS[casing](text);
}

function wordsIn(text: string): string[] {
  return text.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
}
