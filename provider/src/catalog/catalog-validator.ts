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
  errorAt,
  eventKey,
  type WrittenAdvertiser,
  type WrittenCatalog,
  type WrittenEvent,
} from "./written.js";

export class CatalogValidator {
  readonly #findings: CatalogFinding[] = [];
  /** The object that has each key (ignoring case), existingId and name so far; each may be taken once. */
  readonly #taken = new Map<string, CatalogEntry>();

  constructor(
    readonly written: WrittenCatalog,
    readonly limits: RuleSettings,
  ) {}

  validate(): CatalogContent {
    const { written } = this;
    const declared = written.advertisers ?? advertisersNamedIn(written.events);
    const shared = this.#shared(written.defaults);
    const advertisers = new Map<string, Values | undefined>();
    const defaults = new Map<string, Values>();
    for (const each of declared) {
      advertisers.set(each.key, this.#advertiser(each));
      defaults.set(each.key, mergedWith(shared, this.#shared(each.defaults)));
    }
    if (!written.advertisers) this.#warnOfMisspeltAdvertisers();
    const events = written.events.map((event) => {
      const args = this.#event(event, defaults);
      return { event, args: mergedWith(defaults.get(event.advertiser) ?? shared, args) };
    });
    // Checked when all keys are known: a formerKey must differ from all keys and from earlier former keys.
    for (const { event, args } of events) {
      const { formerKey } = args;
      if (typeof formerKey !== "string") continue;
      const other = this.#claim(`exact ${event.advertiser}/${formerKey}`, event);
      if (other) this.#report(event, "formerKey", formerKeyConflict(formerKey));
    }
    const findings = [...written.findings, ...this.#findings].toSorted(inOrderOfFile);
    if (declared.length + events.length + findings.length === 0)
      findings.push(
        errorAt({ file: written.file }, "", "has no advertisers and no events"),
      );
    const wrong = new Set(
      findings.filter(({ level }) => level === "error").map(({ subject }) => subject),
    );
    for (const { key, subject } of declared)
      if (wrong.has(subject)) advertisers.delete(key);
    for (const { advertiser: key } of written.events)
      if (LIVE_ID.test(key)) advertisers.set(key, undefined);
    const valid = events.filter(
      ({ event }) => !wrong.has(event.subject) && advertisers.has(event.advertiser),
    );
    return {
      advertisers: Array.from(advertisers, ([key, args]) => ({ key, args })),
      events: valid.map(({ event, args }) => {
        return { key: event.key, advertiser: event.advertiser, args };
      }),
      findings,
    };
  }

  #shared(written: CatalogEntry | undefined): Values {
    if (!written) return {};
    const rules = conversionEventSet.sharedRules(this.limits);
    return this.#values(written, rules, conversionEvent);
  }

  #advertiser(written: WrittenAdvertiser): Values {
    const isDeclared = this.written.advertisers !== undefined;
    const problem = this.#keyProblem(written, advertiserKey, "");
    this.#report(written, isDeclared ? "key" : "advertiser", problem);
    // An undeclared advertiser's name is its key, so a bad key is reported once.
    if (!isDeclared && problem !== undefined) return {};
    const values = this.#values(written, advertiser.rules(this.limits), advertiser);
    if (isDeclared) this.#warnOfName(written, "", "advertiserName");
    return values;
  }

  #event(written: WrittenEvent, advertisers: ReadonlyMap<string, unknown>): Values {
    const { advertiser: owner } = written;
    this.#report(written, "key", this.#keyProblem(written, eventKey, owner));
    this.#report(written, "advertiser", ownerProblem(owner, advertisers));
    this.#report(written, "advertiser", roundedIdWarning(owner), "warning");
    this.#claim(`exact ${owner}/${written.key}`, written);
    this.#warnOfName(written, owner, "eventName");
    const rules = conversionEventSet.memberRules(this.limits);
    const values = this.#values(written, rules, conversionEvent);
    const { formerKey } = values;
    if (typeof formerKey !== "string") return values;
    return { ...values, formerKey: formerKey.normalize("NFC") };
  }

  /** Returns the values that fit, and notes problems and probable mistakes. */
  #values(written: CatalogEntry, rules: Rules, kind: Kind): Values {
    const { shape } = rules;
    const given: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(written.given)) {
      const text = typeof value === "bigint" ? String(value) : value;
      given[name] = text;
      if (typeof text === "string" && Object.hasOwn(shape, name))
        given[name] = readText(shape[name] as z.ZodType, text, written.hasDecimalComma);
    }
    const { values, problems } = validate(given, rules, {
      isUnknown: () => false,
      advice: (property, value) => adviceOn(shape[property] as z.ZodType, value),
    });
    for (const { property, reason } of problems) this.#report(written, property, reason);
    for (const { property, reason } of warningsIn(kind, values))
      this.#report(written, property, reason, "warning");
    const id = values.existingId;
    if (id === undefined) return values;
    const other = this.#claim(`id ${kind.name} ${id}`, written);
    if (other)
      this.#report(written, "existingId", adoptionClash(String(id), other.subject));
    return values;
  }

  /** @param owner the key of an event's advertiser; empty for an advertiser. */
  #keyProblem(written: CatalogEntry, rule: z.ZodType, owner: string): string | undefined {
    const { key } = written;
    const mistake = mistakeIn(key);
    if (mistake !== undefined) return `is ${mistake}`;
    const expected = `expected ${expectationOf(rule)}`;
    if (key === "") return `is required: ${expected}`;
    if (!rule.safeParse(key).success) return `${quoted(key)} is not valid: ${expected}`;
    const other = this.#claim(`key ${withoutCase(owner)}/${withoutCase(key)}`, written);
    if (!other) return undefined;
    const { file, line } = other.sourceOf("key");
    return `${quoted(key)} is already used at ${file}:${line}; keys must differ in more than case, invisible characters or how accents are encoded`;
  }

  #warnOfName(written: CatalogEntry, owner: string, property: string) {
    const name = written.given[property];
    // A missing name is reported with the arguments.
    if (typeof name !== "string" || name === "") return;
    const other = this.#claim(`name ${owner}/${letters(looksOf(name)) || name}`, written);
    if (!other) return;
    const reason = `${quoted(name)} is also the name of ${quoted(other.subject)} (ignoring case, separators and invisible characters)`;
    this.#report(written, property, reason, "warning");
  }

  /** Warns of an advertiser that has a single event and almost the name of another one. */
  #warnOfMisspeltAdvertisers() {
    const byName = Map.groupBy(this.written.events, ({ advertiser: name }) => name);
    const known: string[] = [];
    const largestFirst = [...byName].toSorted(([, a], [, b]) => b.length - a.length);
    for (const [name, [event, ...others]] of largestFirst) {
      const meant = known.find((other) => isAlmost(name, other));
      known.push(name);
      if (meant === undefined || !event || others.length > 0) continue;
      const reason = `${quoted(name)} may be a typo for ${quoted(meant)}: as written, it is another advertiser`;
      this.#report(event, "advertiser", reason, "warning");
    }
  }

  /** Notes that `by` has `what`. @returns the object that has it already, if any. */
  #claim(what: string, by: CatalogEntry): CatalogEntry | undefined {
    const other = this.#taken.get(what);
    if (!other) this.#taken.set(what, by);
    return other;
  }

  #report(
    written: CatalogEntry,
    property: string,
    reason: string | undefined,
    level: CatalogFinding["level"] = "error",
  ) {
    if (reason === undefined) return;
    const { subject } = written;
    const source = written.sourceOf(property);
    this.#findings.push({ level, subject, property, reason, source });
  }
}

/** @param advertisers the declared ones. */
function ownerProblem(
  key: string,
  advertisers: ReadonlyMap<string, unknown>,
): string | undefined {
  if (advertisers.has(key) || LIVE_ID.test(key)) return undefined;
  if (key === "") return "is required: expected the key of an advertiser";
  const meant = nearest(key, advertisers.keys());
  return joined("; ", `${quoted(key)} is not declared`, meant && `did you mean ${meant}?`);
}

/** `own` wins over `defaults`; additionalFields are merged field by field, as in a `ConversionEventSet`. */
function mergedWith(defaults: Values, own: Values): Values {
  const merged = { ...defaults, ...own };
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

function inOrderOfFile({ source: a }: CatalogFinding, { source: b }: CatalogFinding) {
  const { line = 0, column = 0 } = a;
  return a.file.localeCompare(b.file) || line - (b.line ?? 0) || column - (b.column ?? 0);
}

/** Returns the same text for keys that differ only in case or in the Unicode form of their letters. */
function withoutCase(key: string) {
  return looksOf(key).toLowerCase();
}
