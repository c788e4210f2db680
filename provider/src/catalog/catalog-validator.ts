/**
 * Holds what was written in a catalog against the rules of advertisers and events: all that is wrong at once, and
 * names that are likely mistakes. (Their JSON Schema, for editors, knows neither what is wrong between two
 * places nor the settings of an installation.)
 */
import { z } from "zod";
import {
  asRecord,
  editsBetween,
  joined,
  letters,
  nearest,
  own,
  quoted,
  unseenDifference,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import {
  adoptedTwice,
  advertiser,
  conversionEvent,
  conversionEventSet,
  formerKeyConflicts,
  type Kind,
  type Limits,
  roundedId,
} from "../kinds/index.js";
import {
  booleanRule,
  expectationOf,
  expecting,
  LIVE_ID,
  type Rules,
  validate,
} from "../rules/index.js";
import { fieldNamed, mistakeIn, plainDigits } from "./field-values.js";
import {
  advertiserKey,
  type CatalogContent,
  type CatalogFinding,
  errorAt,
  eventKey,
  normalizedKey,
  type Written,
  type WrittenAdvertiser,
  type WrittenCatalog,
  type WrittenEvent,
  withoutCase,
} from "./written.js";

/** The rules that a file may set. `uniqueNames`: names of an advertiser's events that are alike are an error. */
export const TEAM_RULES = z.strictObject({
  errors: expecting(
    "an object",
    z.strictObject({ uniqueNames: booleanRule.optional() }),
  ).optional(),
});

export class CatalogValidator {
  readonly #findings: CatalogFinding[] = [];
  /** The objects by their key, its case aside, by their existingId and by their name: each may be taken once. */
  readonly #taken = new Map<string, Written>();

  constructor(
    readonly written: WrittenCatalog,
    readonly limits: Limits,
  ) {}

  validate(): CatalogContent {
    const { written } = this;
    const isUnique =
      own(this.#values(written.rules, TEAM_RULES).errors, "uniqueNames") === true;
    const declared = written.advertisers ?? advertisersNamedIn(written.events);
    const shared = this.#shared(written.defaults);
    const advertisers = declared.map((each) => ({
      key: each.key,
      args: this.#advertiser(each),
    }));
    if (written.advertisers === undefined) this.#warnOfMisspeltAdvertisers();
    this.#formerKeys();
    const defaults = new Map(
      declared.map((each) => [each.key, mergedWith(shared, this.#shared(each.defaults))]),
    );
    const events = written.events.map((event) => {
      const { key, subject, advertiser: owner } = event;
      const args = mergedWith(
        defaults.get(owner) ?? shared,
        this.#event(event, defaults, isUnique),
      );
      return { key, subject, advertiser: owner, args };
    });
    const isEmpty =
      declared.length === 0 && events.length === 0 && written.findings.length === 0;
    const start = { file: written.file, line: 1, column: 1 };
    if (isEmpty) this.#findings.push(errorAt(start, "", "has no advertisers and no events"));
    const findings = [...written.findings, ...this.#findings].toSorted(inOrderOfFile);
    const wrong = new Set(
      findings.filter(({ level }) => level === "error").map(({ subject }) => subject),
    );
    const right = advertisers.filter(({ key }) => !wrong.has(key));
    const live = new Set(
      events.map(({ advertiser: key }) => key).filter((key) => LIVE_ID.test(key)),
    );
    const keys = new Set([...right.map(({ key }) => key), ...live]);
    return {
      advertisers: [...right, ...[...live].map((key) => ({ key, args: undefined }))],
      events: events.filter((event) => !wrong.has(event.subject) && keys.has(event.advertiser)),
      findings,
    };
  }

  #shared(written: Written | undefined): Values {
    return this.#values(written, conversionEventSet.sharedRules(this.limits), conversionEvent);
  }

  #advertiser(written: WrittenAdvertiser): Values {
    const isDeclared = this.written.advertisers !== undefined;
    this.#report(
      written,
      isDeclared ? "key" : "advertiser",
      this.#keyProblem(written, advertiserKey, ""),
    );
    const values = this.#values(written, advertiser.rules(this.limits), advertiser);
    if (isDeclared)
      this.#report(
        written,
        "advertiserName",
        this.#nameProblem(written, "", "advertiserName"),
        "warning",
      );
    return values;
  }

  #event(
    written: WrittenEvent,
    advertisers: ReadonlyMap<string, unknown>,
    isUnique: boolean,
  ): Values {
    const { advertiser: owner } = written;
    this.#report(written, "key", this.#keyProblem(written, eventKey, owner));
    this.#report(written, "advertiser", ownerProblem(owner, advertisers));
    this.#report(written, "advertiser", roundedId(owner), "warning");
    const values = this.#values(
      written,
      conversionEventSet.memberRules(this.limits),
      conversionEvent,
    );
    const level = isUnique ? "error" : "warning";
    this.#report(written, "eventName", this.#nameProblem(written, owner, "eventName"), level);
    return withoutUndefined<Record<string, unknown>>({
      ...values,
      formerKey: formerKeyOf(written),
    });
  }

  #formerKeys(): void {
    for (const events of Map.groupBy(
      this.written.events,
      ({ advertiser: owner }) => owner,
    ).values()) {
      const conflicts = formerKeyConflicts(
        events.map((event) => ({ key: event.key, formerKey: formerKeyOf(event) })),
      );
      for (const event of events) this.#report(event, "formerKey", conflicts.get(event.key));
    }
  }

  /** The values that fit; what does not, or is likely a mistake, is noted. */
  #values(written: Written | undefined, rules: Rules, kind?: Kind): Values {
    if (written === undefined) return {};
    const advice = (property: string, value: unknown) =>
      fieldNamed(property)?.advice(value, written.format);
    const { values, problems } = validate(written.given, rules, {
      isUnknown: () => false,
      advice,
    });
    for (const { property, reason } of problems) this.#report(written, property, reason);
    if (kind === undefined) return values;
    for (const { property, reason } of kind.warnings(values))
      this.#report(written, property, reason, "warning");
    const id = values.existingId;
    if (id === undefined) return values;
    const other = this.#claim(`id ${kind.name} ${id}`, written);
    if (other !== undefined)
      this.#report(written, "existingId", adoptedTwice(String(id), other.subject));
    return values;
  }

  /** @param owner the key of its advertiser; empty for an advertiser. */
  #keyProblem(written: Written, rule: z.ZodType, owner: string): string | undefined {
    const { key } = written;
    const mistake = mistakeIn(key);
    if (mistake !== undefined) return `is ${mistake}`;
    const expected = `expected ${expectationOf(rule)}`;
    if (key === "") return `is required: ${expected}`;
    if (!rule.safeParse(key).success)
      return joined("; ", `${quoted(key)} is not valid: ${expected}`, plainDigits(key));
    const other = this.#claim(`key ${withoutCase(owner)}/${withoutCase(key)}`, written);
    if (other === undefined) return undefined;
    const { file, line } = other.sourceOf("key");
    const whose = owner === "" ? "keys of advertisers" : "keys of an advertiser's events";
    const alike = `${whose} must differ in more than case or how accents are encoded`;
    return `${quoted(key)} is already used at ${file}:${line}; ${unseenDifference(key, other.key) ?? alike}`;
  }

  #nameProblem(written: Written, owner: string, property: string): string | undefined {
    const name = written.given[property];
    if (typeof name !== "string" || name === "") return undefined; // reported with the arguments
    const other = this.#claim(
      `name ${owner}/${letters(name.normalize("NFKC")) || name}`,
      written,
    );
    if (other === undefined) return undefined;
    const told = `${quoted(name)} is also the name of ${quoted(other.subject)}`;
    const unseen = unseenDifference(name, String(other.given[property]));
    if (unseen !== undefined) return `${told}; ${unseen}`;
    return `${told}, case and separators aside`;
  }

  /** Warns of an advertiser that has a single event and almost the name of another one. */
  #warnOfMisspeltAdvertisers(): void {
    const groups = [
      ...Map.groupBy(this.written.events, ({ advertiser }) => advertiser).values(),
    ];
    const events = groups
      .toSorted((a, b) => b.length - a.length)
      .map(([event, ...others]) => ({ event, others }));
    const known: string[] = [];
    for (const { event, others } of events) {
      if (event === undefined) continue;
      const { advertiser: name } = event;
      const meant = known.find((other) => isAlmost(name, other));
      known.push(name);
      if (meant === undefined || others.length > 0) continue;
      const reason = `${quoted(name)} is almost ${quoted(meant)}: it is another advertiser, with this event alone`;
      this.#report(event, "advertiser", reason, "warning");
    }
  }

  /** Notes who has `what`. @returns who has it already. */
  #claim(what: string, by: Written): Written | undefined {
    const other = this.#taken.get(what);
    if (other === undefined) this.#taken.set(what, by);
    return other;
  }

  #report(
    written: Written,
    property: string,
    reason: string | undefined,
    level: CatalogFinding["level"] = "error",
  ): void {
    if (reason === undefined) return;
    this.#findings.push({
      level,
      subject: written.subject,
      property,
      reason,
      source: written.sourceOf(property),
    });
  }
}

/** @param advertisers those that are declared. */
function ownerProblem(
  key: string,
  advertisers: ReadonlyMap<string, unknown>,
): string | undefined {
  if (advertisers.has(key) || LIVE_ID.test(key)) return undefined;
  if (key === "") return "is required: expected the key of an advertiser";
  const meant = nearest(key, advertisers.keys());
  return joined("; ", `${quoted(key)} is not declared`, meant && `did you mean ${meant}?`);
}

function formerKeyOf({ given }: WrittenEvent): string | undefined {
  return typeof given.formerKey === "string" ? normalizedKey(given.formerKey) : undefined;
}

/** `own` before `defaults`; request fields one by one, as in a `ConversionEventSet`. */
function mergedWith(defaults: Values, own: Values): Values {
  const merged = { ...defaults, ...own };
  if (merged.additionalFields === undefined) return merged;
  return {
    ...merged,
    additionalFields: {
      ...asRecord(defaults.additionalFields),
      ...asRecord(own.additionalFields),
    },
  };
}

/** Each text that stands for an advertiser is its key, and its name. */
function advertisersNamedIn(events: readonly WrittenEvent[]): WrittenAdvertiser[] {
  const first = new Map(events.toReversed().map((event) => [event.advertiser, event]));
  const named = [...first.values()].filter(
    ({ advertiser: key }) => key !== "" && !LIVE_ID.test(key),
  );
  return named.reverse().map(({ advertiser: key, sourceOf }) => ({
    ...{
      format: "csv",
      key,
      subject: key,
      given: { advertiserName: key },
      defaults: undefined,
    },
    sourceOf: () => sourceOf("advertiser"),
  }));
}

/**
 * Word by word: `Store A` and `Store B` are two stores. Short words that differ may well be two, and so may those with
 * digits. Keys that differ in case alone are refused.
 */
function isAlmost(name: string, other: string): boolean {
  if (withoutCase(name) === withoutCase(other)) return false;
  if (letters(name) === letters(other)) return true;
  const words = wordsOfName(name);
  const others = wordsOfName(other);
  return (
    words.length === others.length &&
    words.every((word, at) => isMisspelt(word, others[at] ?? ""))
  );
}

function isMisspelt(word: string, meant: string): boolean {
  if (word === meant) return true;
  const shortest = Math.min(word.length, meant.length);
  const isWord = /^\p{L}+$/u.test(word + meant);
  return isWord && shortest >= 4 && editsBetween(word, meant) <= Math.min(shortest - 3, 2);
}

function wordsOfName(name: string): string[] {
  return name.split(/[^\p{L}\p{N}]+/u).map(letters);
}

function inOrderOfFile({ source: a }: CatalogFinding, { source: b }: CatalogFinding): number {
  return a.file.localeCompare(b.file) || a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}
