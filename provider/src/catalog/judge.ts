/**
 * Holds what was written in a catalog against the rules of advertisers and events: everything that is wrong at once, and names that are
 * likely mistakes. The same rules as a JSON Schema are for editors: that knows what is wrong in one place. What is wrong between two, and
 * the settings of an installation, only the rules themselves know.
 */
import { z } from "zod";
import { asRecord, editsBetween, letters, nearest, own, unseenDifference, type Values } from "../base/index.js";
import {
  adoptedTwice,
  advertiser,
  conversionEvent,
  conversionEventSet,
  type Kind,
  type Limits,
} from "../kinds/index.js";
import { expectationOf, expecting, LIVE_ID, quoted, type Rules, truth, validate } from "../rules/index.js";
import { fieldNamed, plainDigits } from "./spelling.js";
import {
  advertiserKey,
  type Catalog,
  type CatalogAdvertiser,
  type CatalogEvent,
  errorAt,
  eventKey,
  type Finding,
  type Written,
  type WrittenAdvertiser,
  type WrittenCatalog,
  type WrittenEvent,
  withoutCase,
} from "./written.js";

/** The rules that a file may set. `uniqueNames`: names of an advertiser's events that are alike are an error. */
export const TEAM_RULES = z.strictObject({
  errors: expecting("an object", z.strictObject({ uniqueNames: truth.optional() })).optional(),
});

export function judgeCatalog(written: WrittenCatalog, limits: Limits): Catalog {
  return new Judge(written, limits).judge();
}

class Judge {
  readonly #findings: Finding[] = [];
  /** The objects by their key, its case aside, by their existingId and by their name: each may be taken once. */
  readonly #taken = new Map<string, Written>();

  constructor(
    readonly written: WrittenCatalog,
    readonly limits: Limits,
  ) {}

  judge(): Catalog {
    const { written } = this;
    const defaults = this.#defaults(written.defaults);
    const declared = written.advertisers ?? advertisersNamedIn(written.events);
    const advertisers = declared.map((each) => this.#advertiser(each));
    if (written.advertisers === undefined) this.#warnOfMisspeltAdvertisers();
    const defaultsOf = new Map(declared.map((each) => [each.key, mergedWith(defaults, this.#defaults(each.defaults))]));
    const events = written.events.map((event) => this.#event(event, defaultsOf, defaults));
    if (declared.length === 0 && events.length === 0 && written.findings.length === 0)
      this.#findings.push(errorAt({ file: written.file, line: 1, column: 1 }, "", "has no advertisers and no events"));
    this.#sameNames(events);
    const wrong = this.#wrong();
    const right = advertisers.filter(({ key }) => !wrong.has(key));
    const live = [...new Set(events.map(({ advertiser: key }) => key))].filter((key) => LIVE_ID.test(key));
    const keys = new Set([...right.map(({ key }) => key), ...live]);
    return {
      advertisers: [...right, ...live.map((key) => ({ key, args: undefined }))],
      events: events.filter((event) => !wrong.has(event.written.subject) && keys.has(event.advertiser)),
      findings: [...written.findings, ...this.#findings].toSorted(inOrderOfFile),
    };
  }

  /** What has an error. */
  #wrong(): Set<string> {
    const errors = [...this.written.findings, ...this.#findings].filter(({ level }) => level === "error");
    return new Set(errors.map(({ subject }) => subject));
  }

  #advertiser(written: WrittenAdvertiser): CatalogAdvertiser {
    this.#key(written, advertiserKey, "", this.written.advertisers === undefined ? "advertiser" : "key");
    const args = this.#values(written, advertiser.rules(this.limits));
    this.#warn(written, advertiser, args);
    if (this.written.advertisers !== undefined)
      this.#name(written, "", "advertiserName", args.advertiserName, "warning");
    this.#existingId(written, advertiser, args);
    return { key: written.key, args };
  }

  #event(written: WrittenEvent, defaultsOf: ReadonlyMap<string, Values>, byDefault: Values): CatalogEvent {
    const { key, advertiser: owner } = written;
    this.#key(written, eventKey, owner);
    if (!defaultsOf.has(owner) && !LIVE_ID.test(owner)) {
      const meant = nearest(owner, defaultsOf.keys());
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      const required = "is required: expected the key of an advertiser";
      this.#find(written, "advertiser", owner === "" ? required : `${quoted(owner)} is not declared${hint}`);
    }
    const values = this.#values(written, conversionEventSet.memberRules(this.limits));
    this.#existingId(written, conversionEvent, values);
    this.#warn(written, conversionEvent, values);
    return { key, advertiser: owner, args: mergedWith(defaultsOf.get(owner) ?? byDefault, values), written };
  }

  /** The values that fit; what does not is noted. */
  #values(written: Written | undefined, rules: Rules): Record<string, unknown> {
    if (written === undefined) return {};
    const advice = (property: string, value: unknown) => fieldNamed(property)?.advice(value);
    const { values, problems } = validate(written.given, rules, { isUnknown: () => false, advice });
    for (const { property, reason } of problems) this.#find(written, property, reason);
    return values;
  }

  #defaults(written: Written | undefined): Values {
    const values = this.#values(written, conversionEventSet.sharedRules(this.limits));
    if (written !== undefined) this.#warn(written, conversionEvent, values);
    return values;
  }

  #warn(written: Written, kind: Kind, values: Values): void {
    for (const { property, reason } of kind.warnings(values)) this.#find(written, property, reason, "warning");
  }

  /** @param property where the key is written. */
  #key(written: WrittenAdvertiser | WrittenEvent, rule: z.ZodType, owner: string, property = "key"): void {
    const { key } = written;
    if (!rule.safeParse(key).success) {
      const got = key === "" ? "is required" : `${quoted(key)} is not valid`;
      const advice = plainDigits(key);
      this.#find(
        written,
        property,
        `${got}: expected ${expectationOf(rule)}${advice === undefined ? "" : `; ${advice}`}`,
      );
      return;
    }
    const other = this.#take(`key ${withoutCase(owner)}/${withoutCase(key)}`, written);
    if (other === undefined) return;
    const { file, line } = other.sourceOf("key");
    const whose = owner === "" ? "keys of advertisers" : "keys of an advertiser's events";
    const why =
      unseenDifference(key, (other as WrittenAdvertiser | WrittenEvent).key) ??
      `${whose} must differ in more than case`;
    const reason = `${quoted(key)} is already used at ${file}:${line}; ${why}`;
    this.#find(written, property, reason);
  }

  #existingId(written: Written, kind: Kind, { existingId }: Values): void {
    if (existingId === undefined) return;
    const other = this.#take(`id ${kind.name} ${String(existingId)}`, written);
    if (other !== undefined) this.#find(written, "existingId", adoptedTwice(String(existingId), other.subject));
  }

  #sameNames(events: readonly CatalogEvent[]): void {
    const isError = own(this.#values(this.written.rules, TEAM_RULES).errors, "uniqueNames") === true;
    for (const { advertiser: owner, args, written } of events)
      this.#name(written, owner, "eventName", args.eventName, isError ? "error" : "warning");
  }

  #name(written: Written, owner: string, property: string, name: unknown, level: Finding["level"]): void {
    if (typeof name !== "string") return; // reported with the arguments
    const other = this.#take(`name ${owner}/${letters(name.normalize("NFKC")) || name}`, written);
    if (other === undefined) return;
    const unseen = unseenDifference(name, String(other.given[property]));
    const aside = unseen === undefined ? ", case and separators aside" : `; ${unseen}`;
    this.#find(written, property, `${quoted(name)} is also the name of ${quoted(other.subject)}${aside}`, level);
  }

  /** Warns of an advertiser that has a single event and almost the name of one that has more. */
  #warnOfMisspeltAdvertisers(): void {
    const groups = [...Map.groupBy(this.written.events, ({ advertiser: name }) => name)];
    const settled = groups.filter(([, events]) => events.length > 1).map(([name]) => name);
    for (const [name, [event, ...others]] of groups) {
      const meant = others.length > 0 ? undefined : settled.find((other) => isAlmost(name, other));
      if (event === undefined || meant === undefined) continue;
      const reason = `${quoted(name)} is almost ${quoted(meant)}: it is another advertiser, with this event alone`;
      this.#find(event, "advertiser", reason, "warning");
    }
  }

  /** @returns the object that has it already. */
  #take(what: string, written: Written): Written | undefined {
    const other = this.#taken.get(what);
    if (other === undefined) this.#taken.set(what, written);
    return other;
  }

  #find(written: Written, property: string, reason: string, level: Finding["level"] = "error"): void {
    this.#findings.push({ level, subject: written.subject, property, reason, source: written.sourceOf(property) });
  }
}

/** `own` before `defaults`; request fields one by one, as in a `ConversionEventSet`. */
function mergedWith(defaults: Values, own: Values): Values {
  const fields = { ...asRecord(defaults.additionalFields), ...asRecord(own.additionalFields) };
  const additional = Object.keys(fields).length === 0 ? {} : { additionalFields: fields };
  return { ...defaults, ...own, ...additional };
}

/** Each text that stands for an advertiser is its key, and its name. */
function advertisersNamedIn(events: readonly WrittenEvent[]): WrittenAdvertiser[] {
  const named = events.filter(({ advertiser: key }) => key !== "" && !LIVE_ID.test(key));
  return [...Map.groupBy(named, ({ advertiser: key }) => key)].map(([key, [event]]) => ({
    key,
    subject: key,
    given: { advertiserName: key },
    defaults: undefined,
    sourceOf: () => (event as WrittenEvent).sourceOf("advertiser"),
  }));
}

/** Word by word: `Store A` and `Store B` are two stores, and `Store 1` and `Store 2`. Keys that differ in case alone are refused. */
function isAlmost(name: string, other: string): boolean {
  if (withoutCase(name) === withoutCase(other)) return false;
  const [words, others] = [name, other].map((each) => each.split(/[^\p{L}\p{N}]+/u).map(letters)) as [
    string[],
    string[],
  ];
  return words.length === others.length && words.every((word, at) => isMisspelt(word, others[at] ?? ""));
}

/** Shorter words that differ may well be two, and so may words with digits. Two letters that changed places are two edits. */
function isMisspelt(word: string, other: string): boolean {
  const mayBe = Math.min(word.length, other.length) > 4 && !/\d/.test(word + other);
  return word === other || (mayBe && editsBetween(word, other) <= 2);
}

function inOrderOfFile({ source: a }: Finding, { source: b }: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}
