/**
 * Checks a catalog against the rules of advertisers and events, and reports all problems at once, as well as names that
 * are probably mistakes. (The JSON Schema for editors finds no conflicts between two places, and doesn't know an installation's
 * settings.)
 */
import type { z } from "zod";
import {
  asRecord,
  editsBetween,
  joined,
  letters,
  looksOf,
  nearest,
  quoted,
  type Values,
} from "../base/index.js";
import {
  adoptionClash,
  advertiser,
  conversionEvent,
  conversionEventSet,
  formerKeyConflict,
  type Kind,
  type RuleSettings,
  roundedIdWarning,
  warningsIn,
} from "../kinds/index.js";
import { expectationOf, LIVE_ID, type Rules, validate } from "../rules/index.js";
import { adviceOn, mistakeIn, readText } from "./field-values.js";
import {
  advertiserKey,
  type CatalogContent,
  type CatalogEntry,
  type CatalogFinding,
  eventKey,
  type WrittenAdvertiser,
  type WrittenCatalog,
  type WrittenEvent,
} from "./written.js";

/** @param findings has the problems of reading; those of validating are added. */
export function validateCatalog(
  written: WrittenCatalog,
  limits: RuleSettings,
  findings: CatalogFinding[],
): Omit<CatalogContent, "findings"> {
  /** The object that has each key (ignoring case), existingId and name so far; each may be taken once. */
  const taken = new Map<string, CatalogEntry>();

  /** Notes that `by` has `what`. @returns the object that has it already, if any. */
  function claim(what: string, by: CatalogEntry) {
    const other = taken.get(what);
    if (!other) taken.set(what, by);
    return other;
  }

  function report(
    { subject, sourceOf }: CatalogEntry,
    property: string,
    reason: string | undefined,
    level: CatalogFinding["level"] = "error",
  ) {
    if (reason === undefined) return;
    findings.push({ level, subject, property, reason, source: sourceOf(property) });
  }

  /** Returns the values that fit, and reports problems and probable mistakes. */
  function valuesIn(entry: CatalogEntry, rules: Rules, kind: Kind) {
    const ruleOf = (name: string) => rules.shape[name] as z.ZodType;
    const given: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(entry.given)) {
      const text = typeof value === "bigint" ? String(value) : value;
      given[name] = text;
      if (typeof text === "string" && Object.hasOwn(rules.shape, name))
        given[name] = readText(ruleOf(name), text, entry.hasDecimalComma);
    }
    const { values, problems } = validate(given, rules, {
      advice: (property, value) => adviceOn(ruleOf(property), value),
    });
    for (const { property, reason } of problems) report(entry, property, reason);
    for (const { property, reason } of warningsIn(kind, values))
      report(entry, property, reason, "warning");
    const id = values.existingId;
    const other = id !== undefined && claim(`id ${kind.name} ${id}`, entry);
    if (other) report(entry, "existingId", adoptionClash(String(id), other.subject));
    return values;
  }

  function sharedIn(entry: CatalogEntry | undefined) {
    if (!entry) return {};
    return valuesIn(entry, conversionEventSet.sharedRules(limits), conversionEvent);
  }

  /** @param owner the key of an event's advertiser; empty for an advertiser. */
  function keyProblem(entry: CatalogEntry, rule: z.ZodType, owner: string) {
    const { key } = entry;
    const mistake = mistakeIn(key);
    if (mistake !== undefined) return `is ${mistake}`;
    const expected = `expected ${expectationOf(rule)}`;
    if (key === "") return `is required: ${expected}`;
    if (!rule.safeParse(key).success) return `${quoted(key)} is not valid: ${expected}`;
    const other = claim(`key ${withoutCase(owner)}/${withoutCase(key)}`, entry);
    if (!other) return undefined;
    const { file, line } = other.sourceOf("key");
    return `${quoted(key)} is already used at ${file}:${line}; keys must differ in more than case, invisible characters or how accents are encoded`;
  }

  function warnOfName(entry: CatalogEntry, owner: string, property: string) {
    const name = entry.given[property];
    // A missing name is reported with the arguments.
    if (typeof name !== "string" || name === "") return;
    const other = claim(`name ${owner}/${letters(looksOf(name)) || name}`, entry);
    if (!other) return;
    const reason = `${quoted(name)} is also the name of ${quoted(other.subject)} (ignoring case, separators and invisible characters)`;
    report(entry, property, reason, "warning");
  }

  function argumentsOfAdvertiser(entry: WrittenAdvertiser) {
    const isDeclared = written.advertisers !== undefined;
    const problem = keyProblem(entry, advertiserKey, "");
    report(entry, isDeclared ? "key" : "advertiser", problem);
    // An undeclared advertiser's name is its key, so a bad key is reported once.
    if (!isDeclared && problem !== undefined) return {};
    const values = valuesIn(entry, advertiser.rules(limits), advertiser);
    if (isDeclared) warnOfName(entry, "", "advertiserName");
    return values;
  }

  function argumentsOfEvent(entry: WrittenEvent) {
    const { advertiser: owner } = entry;
    report(entry, "key", keyProblem(entry, eventKey, owner));
    report(entry, "advertiser", ownerProblem(owner, defaults));
    report(entry, "advertiser", roundedIdWarning(owner), "warning");
    claim(`exact ${owner}/${entry.key}`, entry);
    warnOfName(entry, owner, "eventName");
    return valuesIn(entry, conversionEventSet.memberRules(limits), conversionEvent);
  }

  const declared = written.advertisers ?? advertisersNamedIn(written.events);
  const shared = sharedIn(written.defaults);
  const advertisers = new Map<string, Values | undefined>();
  const defaults = new Map<string, Values>();
  for (const each of declared) {
    advertisers.set(each.key, argumentsOfAdvertiser(each));
    defaults.set(each.key, mergedWith(shared, sharedIn(each.defaults)));
  }
  if (!written.advertisers)
    for (const { event, reason } of misspeltAdvertisers(written.events))
      report(event, "advertiser", reason, "warning");
  const events = written.events.map((event) => {
    const args = argumentsOfEvent(event);
    return { event, args: mergedWith(defaults.get(event.advertiser) ?? shared, args) };
  });
  // Checked when all keys are known: a formerKey must differ from all keys and from earlier former keys.
  for (const { event, args } of events) {
    if (typeof args.formerKey !== "string") continue;
    const formerKey = args.formerKey.normalize("NFC");
    args.formerKey = formerKey;
    const other = claim(`exact ${event.advertiser}/${formerKey}`, event);
    if (other) report(event, "formerKey", formerKeyConflict(formerKey));
  }
  const errors = findings.filter(({ level }) => level === "error");
  const wrong = new Set(errors.map(({ subject }) => subject));
  for (const { key, subject } of declared) if (wrong.has(subject)) advertisers.delete(key);
  for (const { advertiser: key } of written.events)
    if (LIVE_ID.test(key)) advertisers.set(key, undefined);
  const valid = events.filter(
    ({ event }) => !wrong.has(event.subject) && advertisers.has(event.advertiser),
  );
  return {
    advertisers: Array.from(advertisers, ([key, args]) => ({ key, args })),
    events: valid.map(({ event: { key, advertiser: owner }, args }) => {
      return { key, advertiser: owner, args };
    }),
  };
}

/** The advertisers that have a single event and almost the name of another one, with their events. */
function* misspeltAdvertisers(events: readonly WrittenEvent[]) {
  const byName = Map.groupBy(events, ({ advertiser: name }) => name);
  const known: string[] = [];
  const largestFirst = [...byName].toSorted(([, a], [, b]) => b.length - a.length);
  for (const [name, [event, ...others]] of largestFirst) {
    const meant = known.find((other) => isAlmost(name, other));
    known.push(name);
    if (meant === undefined || !event || others.length > 0) continue;
    const reason = `${quoted(name)} may be a typo for ${quoted(meant)}: as written, it is another advertiser`;
    yield { event, reason };
  }
}

/** @param advertisers the declared ones. */
function ownerProblem(key: string, advertisers: ReadonlyMap<string, unknown>) {
  if (advertisers.has(key) || LIVE_ID.test(key)) return undefined;
  if (key === "") return "is required: expected the key of an advertiser";
  const meant = nearest(key, advertisers.keys());
  return joined("; ", `${quoted(key)} is not declared`, meant && `did you mean ${meant}?`);
}

/** `own` wins over `defaults`; additionalFields are merged field by field, as in a `ConversionEventSet`. */
function mergedWith(defaults: Values, own: Values): Record<string, unknown> {
  const merged: Record<string, unknown> = { ...defaults, ...own };
  if (merged.additionalFields === undefined) return merged;
  const shared = asRecord(defaults.additionalFields);
  return { ...merged, additionalFields: { ...shared, ...asRecord(own.additionalFields) } };
}

/** One advertiser for each text that events name: the text is its key and its name. */
function advertisersNamedIn(events: readonly WrittenEvent[]): WrittenAdvertiser[] {
  const byName = Map.groupBy(events, ({ advertiser: name }) => name);
  return [...byName]
    .filter(([name]) => name !== "" && !LIVE_ID.test(name))
    .map(([key, [first]]) => ({
      key,
      subject: key,
      given: { advertiserName: key },
      sourceOf: () => (first as WrittenEvent).sourceOf("advertiser"),
    }));
}

/** Whether names differ by one or two letters. Not for short words or digits, which distinguish names on purpose. */
function isAlmost(name: string, other: string) {
  if (withoutCase(name) === withoutCase(other)) return false;
  if (wordsThatTell(name) !== wordsThatTell(other)) return false;
  const shortest = Math.min(letters(name).length, letters(other).length);
  return editsBetween(letters(name), letters(other)) <= Math.min(shortest - 3, 2);
}

function wordsThatTell(name: string) {
  return name
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length < 4 || /\p{N}/u.test(word))
    .join();
}

/** Returns the same text for keys that differ only in case or in the Unicode form of their letters. */
function withoutCase(key: string) {
  return looksOf(key).toLowerCase();
}
