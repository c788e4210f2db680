/**
 * Advertisers that a spreadsheet names in its rows and declares nowhere: a misspelt one would be another live advertiser, which
 * nothing can delete.
 */
import { differsLittle, letters } from "../base/index.js";
import { show } from "../rules/index.js";
import { withoutCase } from "./keys.js";
import type { Finding, WrittenEvent } from "./written.js";

/** Of an advertiser with a single event whose name is almost that of one with more. */
export function misspeltAdvertisers(events: readonly WrittenEvent[]): Finding[] {
  const groups = [...Map.groupBy(events, ({ advertiser }) => advertiser)];
  const settled = groups.filter(([, own]) => own.length > 1).map(([name]) => name);
  return groups
    .filter(([, own]) => own.length === 1)
    .flatMap(([name, [event]]) => {
      const meant = settled.find((other) => isAlmost(name, other));
      if (event === undefined || meant === undefined) return [];
      const reason = `${show(name)} is almost ${show(meant)}: it is another advertiser, with this event alone`;
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
