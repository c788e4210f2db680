/**
 * Holds what was written in a catalog against the rules of advertisers and events: all that is wrong at once, and
 * names that are likely mistakes. (Their JSON Schema, for editors, knows neither what is wrong between two
 * places nor the settings of an installation.)
 */
import { z } from "zod";
import { asRecord, editsBetween, letters, nearest, own, quoted, unseenDifference, type Values } from "../base/index.js";
import {
  adoptedTwice,
  advertiser,
  conversionEvent,
  conversionEventSet,
  formerKeyConflicts,
  isTakenByPulumi,
  type Kind,
  type Limits,
  roundedId,
} from "../kinds/index.js";
import { expectationOf, expecting, LIVE_ID, type Rules, truth, validate } from "../rules/index.js";
import { fieldNamed, mistakeIn, plainDigits } from "./spelling.js";
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
  errors: expecting("an object", z.strictObject({ uniqueNames: truth.optional() })).optional(),
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
    const { written, limits } = this;
    const shared = (part: Written | undefined) =>
      this.#values(part, conversionEventSet.sharedRules(limits), conversionEvent);
    const defaults = shared(written.defaults);
    const areUnique = own(this.#values(written.rules, TEAM_RULES).errors, "uniqueNames") === true;
    const declared = written.advertisers ?? advertisersNamedIn(written.events);
    const advertisers = declared.map((each) => ({ key: each.key, args: this.#advertiser(each) }));
    if (written.advertisers === undefined) this.#warnOfMisspeltAdvertisers();
    this.#formerKeys();
    const defaultsOf = new Map(declared.map((each) => [each.key, mergedWith(defaults, shared(each.defaults))]));
    const events = written.events.map((event) => {
      const { key, subject, advertiser: owner } = event;
      const values = this.#event(event, defaultsOf, areUnique);
      return { key, subject, advertiser: owner, args: mergedWith(defaultsOf.get(owner) ?? defaults, values) };
    });
    if (declared.length === 0 && events.length === 0 && written.findings.length === 0)
      this.#findings.push(errorAt({ file: written.file, line: 1, column: 1 }, "", "has no advertisers and no events"));
    const findings = [...written.findings, ...this.#findings].toSorted(inOrderOfFile);
    const wrong = new Set(findings.filter(({ level }) => level === "error").map(({ subject }) => subject));
    const right = advertisers.filter(({ key }) => !wrong.has(key));
    const live = [...new Set(events.map(({ advertiser: key }) => key))].filter((key) => LIVE_ID.test(key));
    const keys = new Set([...right.map(({ key }) => key), ...live]);
    return {
      advertisers: [...right, ...live.map((key) => ({ key, args: undefined }))],
      events: events.filter((event) => !wrong.has(event.subject) && keys.has(event.advertiser)),
      findings,
    };
  }

  #advertiser(written: WrittenAdvertiser): Values {
    const isDeclared = this.written.advertisers !== undefined;
    this.#key(written, advertiserKey, "", isDeclared ? "key" : "advertiser");
    const values = this.#values(written, advertiser.rules(this.limits), advertiser);
    if (isDeclared) this.#name(written, "", "advertiserName", values.advertiserName, "warning");
    return values;
  }

  #event(written: WrittenEvent, advertisers: ReadonlyMap<string, unknown>, areUnique: boolean): Values {
    const { advertiser: owner } = written;
    this.#key(written, eventKey, owner);
    if (!advertisers.has(owner) && !LIVE_ID.test(owner)) {
      const meant = nearest(owner, advertisers.keys());
      const hint = meant === undefined ? "" : `; did you mean ${meant}?`;
      const required = "is required: expected the key of an advertiser";
      this.#find(written, "advertiser", owner === "" ? required : `${quoted(owner)} is not declared${hint}`);
    }
    const rounded = roundedId(owner);
    if (rounded !== undefined) this.#find(written, "advertiser", rounded, "warning");
    const values = this.#values(written, conversionEventSet.memberRules(this.limits), conversionEvent);
    this.#name(written, owner, "eventName", values.eventName, areUnique ? "error" : "warning");
    const formerKey = formerKeyOf(written);
    return formerKey === undefined ? values : { ...values, formerKey };
  }

  #formerKeys(): void {
    for (const events of Map.groupBy(this.written.events, ({ advertiser: owner }) => owner).values()) {
      const conflicts = formerKeyConflicts(events.map((event) => ({ key: event.key, formerKey: formerKeyOf(event) })));
      for (const event of events) {
        const reason = conflicts.get(event.key);
        if (reason !== undefined) this.#find(event, "formerKey", reason);
      }
    }
  }

  /** The values that fit; what does not, or is likely a mistake, is noted. */
  #values(written: Written | undefined, rules: Rules, kind?: Kind): Values {
    if (written === undefined) return {};
    const advice = (property: string, value: unknown) => fieldNamed(property)?.advice(value, written.format);
    const { values, problems } = validate(written.given, rules, { isUnknown: () => false, advice });
    for (const { property, reason } of problems) this.#find(written, property, reason);
    if (kind === undefined) return values;
    for (const { property, reason } of kind.warnings(values)) this.#find(written, property, reason, "warning");
    const id = values.existingId;
    if (id !== undefined)
      this.#take(`id ${kind.name} ${id}`, written, "existingId", ({ subject }) => adoptedTwice(String(id), subject));
    return values;
  }

  #key(written: Written, rule: z.ZodType, owner: string, property = "key"): void {
    const { key } = written;
    const mistake = mistakeIn(key);
    if (mistake !== undefined) {
      this.#find(written, property, `is ${mistake}`);
    } else if (isTakenByPulumi(key)) {
      this.#find(written, property, `${quoted(key)} is a name that Pulumi can't carry: choose another one`);
    } else if (!rule.safeParse(key).success) {
      const got = key === "" ? "is required" : `${quoted(key)} is not valid`;
      const advice = plainDigits(key);
      const instead = advice === undefined ? "" : `; ${advice}`;
      this.#find(written, property, `${got}: expected ${expectationOf(rule)}${instead}`);
    } else {
      this.#take(`key ${withoutCase(owner)}/${withoutCase(key)}`, written, property, (other) => {
        const { file, line } = other.sourceOf("key");
        const whose = owner === "" ? "keys of advertisers" : "keys of an advertiser's events";
        const why =
          unseenDifference(key, other.key) ?? `${whose} must differ in more than case or how accents are encoded`;
        return `${quoted(key)} is already used at ${file}:${line}; ${why}`;
      });
    }
  }

  #name(written: Written, owner: string, property: string, name: unknown, level: CatalogFinding["level"]): void {
    if (typeof name !== "string") return; // reported with the arguments
    const told = ({ subject, given }: Written) => {
      const unseen = unseenDifference(name, String(given[property]));
      const aside = unseen === undefined ? ", case and separators aside" : `; ${unseen}`;
      return `${quoted(name)} is also the name of ${quoted(subject)}${aside}`;
    };
    this.#take(`name ${owner}/${letters(name.normalize("NFKC")) || name}`, written, property, told, level);
  }

  /** Warns of an advertiser that has a single event and almost the name of another one. */
  #warnOfMisspeltAdvertisers(): void {
    const groups = [...Map.groupBy(this.written.events, ({ advertiser: name }) => name)];
    const byAmount = groups.toSorted(([, a], [, b]) => b.length - a.length);
    for (const [at, [name, [event, ...others]]] of byAmount.entries()) {
      if (event === undefined || others.length > 0) continue;
      const [meant] = byAmount.slice(0, at).find(([other]) => isAlmost(name, other)) ?? [];
      if (meant === undefined) continue;
      const reason = `${quoted(name)} is almost ${quoted(meant)}: it is another advertiser, with this event alone`;
      this.#find(event, "advertiser", reason, "warning");
    }
  }

  /** @param told what is wrong where another object has it already. */
  #take(
    what: string,
    by: Written,
    property: string,
    told: (other: Written) => string,
    level?: CatalogFinding["level"],
  ): void {
    const other = this.#taken.get(what);
    if (other === undefined) this.#taken.set(what, by);
    else this.#find(by, property, told(other), level);
  }

  #find(written: Written, property: string, reason: string, level: CatalogFinding["level"] = "error"): void {
    this.#findings.push({ level, subject: written.subject, property, reason, source: written.sourceOf(property) });
  }
}

function formerKeyOf({ given }: WrittenEvent): string | undefined {
  return typeof given.formerKey === "string" ? normalizedKey(given.formerKey) : undefined;
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
    ...{ format: "csv", key, subject: key, given: { advertiserName: key }, defaults: undefined },
    sourceOf: () => (event as WrittenEvent).sourceOf("advertiser"),
  }));
}

/**
 * Word by word: `Store A` and `Store B` are two stores. Short words that differ may well be two, and so may those with
 * digits. Two letters that changed places are two edits. Keys that differ in case alone are refused.
 */
function isAlmost(name: string, other: string): boolean {
  if (withoutCase(name) === withoutCase(other)) return false;
  if (letters(name) === letters(other)) return true;
  const words = wordsOfName(name);
  const others = wordsOfName(other);
  const isSame = (word: string, at: number) => word === others[at] || isMisspelt(word, others[at] ?? "");
  return words.length === others.length && words.every(isSame);
}

function isMisspelt(word: string, meant: string): boolean {
  if (![word, meant].every((each) => /^\p{L}{4,}$/u.test(each))) return false;
  const sorted = (text: string) => [...text].sort().join("");
  const isShort = Math.min(word.length, meant.length) === 4;
  const most = isShort && sorted(word) !== sorted(meant) ? 1 : 2;
  return editsBetween(word, meant) <= most;
}

function wordsOfName(name: string): string[] {
  return name.split(/[^\p{L}\p{N}]+/u).map(letters);
}

function inOrderOfFile({ source: a }: CatalogFinding, { source: b }: CatalogFinding): number {
  return a.file.localeCompare(b.file) || a.line - b.line || (a.column ?? 0) - (b.column ?? 0);
}
