/**
 * Checks a catalog against the rules of advertisers and events, and reports all problems at once, as well as names that
 * are probably mistakes. (The JSON Schema for editors finds no conflicts between two places, and doesn't know an installation's
 * settings.)
 */
import { distance } from "fastest-levenshtein";
import { z } from "zod";
import {
  asRecord,
  joined,
  letters,
  looksOf,
  nearest,
  pick,
  quoted,
  type Values,
} from "../base/index.js";
import {
  adoptionClash,
  advertiser,
  advertiserRules,
  conversionEvent,
  entryRules,
  formerKeyConflicts,
  type Kind,
  type RuleSettings,
  sharedRules,
  warningsIn,
} from "../kinds/index.js";
import { LIVE_ID, type Problem, type Rules, validate } from "../rules/index.js";
import { adviceOn, readValue, secondsIn } from "./field-values.js";
import {
  type AddFinding,
  advertiserKey,
  type CatalogEntry,
  type CatalogFinding,
  eventKey,
  placeOf,
  type WrittenCatalog,
} from "./written.js";

/** Also reports names that are probably mistakes. @returns the objects without an error. */
export function validateCatalog(
  written: WrittenCatalog,
  limits: RuleSettings,
  report: AddFinding,
) {
  /** The entry that has each key (ignoring case), existingId and name so far; each may be taken once. */
  const taken = new Map<string, CatalogEntry>();
  /** The subjects that have an error. */
  const wrong = new Set<string>();
  /** The name that each undeclared advertiser probably means: thousands of events may have it. */
  const meantBy = new Map<string, string | undefined>();

  /** Notes that `by` has `what`. @returns the entry that has it already, if any. */
  function claim(what: string, by: CatalogEntry) {
    const other = taken.get(what);
    if (!other) taken.set(what, by);
    return other;
  }

  function addFinding(
    entry: CatalogEntry,
    property: string,
    reason: string,
    level: CatalogFinding["level"] = "error",
  ) {
    if (level === "error") wrong.add(entry.subject);
    report(entry.sourceOf(property), reason, { subject: entry.subject, property, level });
  }

  function noteAll(entry: CatalogEntry, problems: readonly Problem[]) {
    for (const { property, reason, level } of problems)
      addFinding(entry, property, reason, level);
  }

  /** Returns the values that fit, and reports problems and probable mistakes. */
  function check(entry: CatalogEntry, rules: Rules, given = entry.given) {
    const { values, problems } = validate(given, rules, {
      read: (rule, value) => readValue(rule, value, entry.hasDecimalCommas),
      advice: adviceOn,
    });
    // A window that is written with its unit is no mistake.
    const hasUnit = (name: string) => typeof secondsIn(String(given[name])) === "number";
    const others = pick(values, (name) => !hasUnit(name));
    noteAll(entry, [...problems, ...warningsIn(others, limits.maxWindowSeconds)]);
    return values;
  }

  function checkKey(entry: CatalogEntry, rule: z.ZodType, property = "key") {
    const { key, owner } = entry;
    const given = { [property]: key === "" ? undefined : key };
    const values = check(entry, z.strictObject({ [property]: rule }), given);
    if (values[property] === undefined) return;
    const other = claim(`key ${withoutCase(owner)}/${withoutCase(key)}`, entry);
    if (!other) return;
    addFinding(
      entry,
      property,
      `${quoted(key)} is already used at ${placeOf(other.sourceOf("key"))}; keys must differ in more than case and invisible details`,
    );
  }

  function argumentsIn(entry: CatalogEntry, rules: Rules, kind: Kind) {
    const values = check(entry, rules);
    const { existingId: id } = values;
    const adopter = id !== undefined && claim(`id ${kind.name} ${id}`, entry);
    if (adopter)
      addFinding(entry, "existingId", adoptionClash(String(id), adopter.subject));
    const { [kind.nameProperty]: name = "" } = entry.given;
    // A missing name is reported with the arguments.
    if (typeof name !== "string" || name === "") return values;
    const namesake = claim(`name ${entry.owner}/${letters(looksOf(name)) || name}`, entry);
    if (!namesake) return values;
    addFinding(
      entry,
      kind.nameProperty,
      `${quoted(name)} is also the name of ${quoted(namesake.subject)} (ignoring case, separators and invisible characters)`,
      "warning",
    );
    return values;
  }

  function checkOwner(entry: CatalogEntry) {
    const { owner } = entry;
    if (advertisers.has(owner)) return;
    if (LIVE_ID.test(owner)) return noteAll(entry, warningsIn({ advertiser: owner }));
    if (!meantBy.has(owner)) meantBy.set(owner, nearest(owner, advertisers.keys()));
    const meant = meantBy.get(owner);
    let reason = joined(
      "; ",
      `${quoted(owner)} is not declared`,
      meant && `did you mean ${meant}?`,
    );
    if (owner === "") reason = "is required: expected the key of an advertiser";
    addFinding(entry, "advertiser", reason);
  }

  const isDeclared = written.advertisers !== undefined;
  const declared = written.advertisers ?? advertisersNamedIn(written.events);
  const defaults = new Map(
    written.defaults.map((entry) => [entry.key, check(entry, sharedRules(limits))]),
  );
  const advertisers = new Map<string, Values | undefined>();
  // The file's reader takes an advertiser's `defaults` and `events` out: here they are only known names.
  const rulesOfDeclared = advertiserRules(limits).extend({
    defaults: z.unknown(),
    events: z.unknown(),
  });
  for (const entry of declared) {
    checkKey(entry, advertiserKey, isDeclared ? "key" : "advertiser");
    // The name of one that isn't declared is its key.
    advertisers.set(
      entry.key,
      isDeclared ? argumentsIn(entry, rulesOfDeclared, advertiser) : entry.given,
    );
  }
  const events = written.events.map((entry) => {
    const { key, owner } = entry;
    checkKey(entry, eventKey);
    checkOwner(entry);
    const given = argumentsIn(entry, entryRules(limits), conversionEvent);
    if (typeof given.formerKey === "string")
      given.formerKey = given.formerKey.normalize("NFC");
    const args = [defaults.get(""), defaults.get(owner), given].reduce(mergedWith, {});
    return { entry, key, advertiser: owner, args };
  });
  for (const ofOne of Map.groupBy(events, (event) => event.advertiser).values())
    for (const { entry, reason } of formerKeyConflicts(ofOne))
      addFinding(entry, "formerKey", reason);
  if (!isDeclared)
    for (const { event, reason } of misspeltAdvertisers(written.events))
      addFinding(event, "advertiser", reason, "warning");
  for (const { key, subject } of declared) if (wrong.has(subject)) advertisers.delete(key);
  for (const { owner } of written.events)
    if (LIVE_ID.test(owner)) advertisers.set(owner, undefined);
  return {
    advertisers: Array.from(advertisers, ([key, args]) => ({ key, args })),
    events: events.filter(
      ({ entry, advertiser: owner }) => !wrong.has(entry.subject) && advertisers.has(owner),
    ),
  };
}

/** `given` wins over `shared`; additionalFields are merged field by field, as in a `ConversionEventSet`. */
function mergedWith(shared: Values, given: Values = {}) {
  const fields = {
    ...asRecord(shared.additionalFields),
    ...asRecord(given.additionalFields),
  };
  const merged = { ...shared, ...given };
  if (merged.additionalFields === undefined) return merged;
  return { ...merged, additionalFields: fields };
}

/** One advertiser for each text that events name: the text is its key and its name. */
function advertisersNamedIn(events: readonly CatalogEntry[]) {
  return [...Map.groupBy(events, ({ owner }) => owner)].flatMap(([key, [first]]) => {
    if (!first || key === "" || LIVE_ID.test(key)) return [];
    return { ...first, owner: "", key, subject: key, given: { advertiserName: key } };
  });
}

/** The advertisers that have a single event and almost the name of another one, with their events. */
function* misspeltAdvertisers(events: readonly CatalogEntry[]) {
  const byName = [...Map.groupBy(events, ({ owner }) => owner)];
  const known = new Map<string, string[]>();
  byName.sort(([, a], [, b]) => b.length - a.length);
  for (const [name, [event, ...others]] of byName) {
    const key = tellingPart(name);
    const alike = known.get(key) ?? [];
    known.set(key, alike);
    const meant = alike.find((other) => isAlmost(name, other));
    if (alike.length < MAX_COMPARED) alike.push(name);
    if (!event || others.length > 0 || meant === undefined) continue;
    yield {
      event,
      reason: `${quoted(name)} may be a typo for ${quoted(meant)}: as written, it is another advertiser`,
    };
  }
}

/** Thousands of names, each compared with each other, would take minutes. */
const MAX_COMPARED = 100;

/** The first letter, short words and digits, which distinguish names on purpose. */
function tellingPart(name: string) {
  const telling = name
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length < 4 || /\p{N}/u.test(word));
  return [letters(name)[0], ...telling].join();
}

/** Whether names differ by one or two letters. */
function isAlmost(name: string, other: string) {
  if (withoutCase(name) === withoutCase(other)) return false;
  const shortest = Math.min(letters(name).length, letters(other).length);
  return distance(letters(name), letters(other)) <= Math.min(shortest - 3, 2);
}

/** Returns the same text for keys that differ only in case or in the Unicode form of their letters. */
function withoutCase(key: string) {
  return looksOf(key).toLowerCase();
}
