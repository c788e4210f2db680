/**
 * Holds what was written in a catalog against the rules of advertisers and events: everything that is wrong at once. The same rules as a
 * JSON Schema are for editors: that knows what is wrong in one place. What is wrong between two, and the settings of an installation,
 * only the rules themselves know.
 */
import { z } from "zod";
import { asRecord, count, perhapsMeant, type Values } from "../base/index.js";
import {
  adoptedTwice,
  advertiser,
  conversionEvent,
  conversionEventSet,
  type Kind,
  type Limits,
} from "../kinds/index.js";
import { expectationOf, LIVE_ID, quoted, type Rules, validate } from "../rules/index.js";
import { DEFAULT_WARNINGS, lint, misspeltAdvertisers, RULES, type RuleValues } from "./lint.js";
import { fieldNamed } from "./spelling.js";
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

export function judgeCatalog(written: WrittenCatalog, limits: Limits): Catalog {
  return new Judge(written, limits).judge();
}

class Judge {
  readonly #findings: Finding[] = [];
  /** The objects by their key, its case aside, and by their existingId: each may be taken once. */
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
    if (written.advertisers === undefined) this.#findings.push(...misspeltAdvertisers(written.events));
    const defaultsOf = new Map(declared.map((each) => [each.key, mergedWith(defaults, this.#defaults(each.defaults))]));
    const events = written.events.map((event) => this.#event(event, defaultsOf, defaults));
    if (declared.length === 0 && events.length === 0 && written.findings.length === 0)
      this.#findings.push(errorAt({ file: written.file, line: 1, column: 1 }, "", "has no advertisers and no events"));
    const wrongAlone = this.#wrong();
    this.#lint(events.filter(({ written: { subject } }) => !wrongAlone.has(subject)));

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

  #wrong(): Set<string> {
    const errors = [...this.written.findings, ...this.#findings].filter(({ level }) => level === "error");
    return new Set(errors.map(({ subject }) => subject));
  }

  #advertiser(written: WrittenAdvertiser): CatalogAdvertiser {
    this.#key(written, advertiserKey, "");
    const args = this.#values(written, advertiser.rules(this.limits));
    this.#existingId(written, advertiser, args);
    return { key: written.key, args };
  }

  #event(written: WrittenEvent, defaultsOf: ReadonlyMap<string, Values>, byDefault: Values): CatalogEvent {
    const { key, advertiser: owner } = written;
    this.#key(written, eventKey, owner);
    if (!defaultsOf.has(owner) && !LIVE_ID.test(owner)) {
      const hint = perhapsMeant(owner, defaultsOf.keys());
      const reason =
        owner === "" ? "is required: expected the key of an advertiser" : `${quoted(owner)} is not declared${hint}`;
      this.#find(written, "advertiser", reason);
    }
    const values = this.#values(written, conversionEventSet.memberRules(this.limits));
    this.#existingId(written, conversionEvent, values);
    this.#warnOfShortWindows(written, values);
    return { key, advertiser: owner, args: mergedWith(defaultsOf.get(owner) ?? byDefault, values), written };
  }

  /** The values that fit; what does not is noted. */
  #values(written: Written | undefined, rules: Rules): Record<string, unknown> {
    if (written === undefined) return {};
    const { values, problems } = validate(written.given, rules, { isUnknown: () => false });
    for (const { property, reason } of problems) {
      const isAbsent = written.given[property] === undefined;
      if (isAbsent && (written as WrittenEvent).told?.has(property)) continue;
      const advice = isAbsent ? undefined : adviceFor(property, written.given[property]);
      const told = advice === undefined ? reason : `${reason}; ${advice}`;
      this.#find(written, property, told, Object.hasOwn(rules.shape, property));
    }
    return values;
  }

  #defaults(written: Written | undefined): Values {
    const values = this.#values(written, conversionEventSet.sharedRules(this.limits));
    if (written !== undefined) this.#warnOfShortWindows(written, values);
    return values;
  }

  #warnOfShortWindows(written: Written, values: Values): void {
    for (const { property } of conversionEvent.warnings(values)) {
      const seconds = Number(values[property]);
      const reason = `is ${count(seconds, "second")}; windows are seconds if no unit is written. If days were meant, write ${seconds}d`;
      const source = written.sourceOf(property);
      this.#findings.push({ level: "warning", subject: written.subject, property, reason, source });
    }
  }

  #key(written: Written & { readonly key: string }, rule: z.ZodType, owner: string): void {
    const { key } = written;
    if (!rule.safeParse(key).success) {
      const got = key === "" ? "is required" : `${quoted(key)} is not valid`;
      this.#find(written, "key", `${got}: expected ${expectationOf(rule)}`);
      return;
    }
    const id = `key ${withoutCase(owner)}/${withoutCase(key)}`;
    const other = this.#taken.get(id);
    if (other === undefined) {
      this.#taken.set(id, written);
      return;
    }
    // Looked up for a finding only: in a long file that takes its time.
    const { file, line } = other.sourceOf("key");
    const at = `${file}:${line}`;
    const whose = owner === "" ? "keys of advertisers" : "keys of an advertiser's events";
    this.#find(written, "key", `${quoted(key)} is already used at ${at}; ${whose} must differ in more than case`);
  }

  #existingId(written: Written, kind: Kind, { existingId }: Values): void {
    if (existingId === undefined) return;
    const id = `id ${kind.name} ${String(existingId)}`;
    const other = this.#taken.get(id);
    if (other === undefined) this.#taken.set(id, written);
    else this.#find(written, "existingId", adoptedTwice(String(existingId), other.subject));
  }

  #lint(events: readonly CatalogEvent[]): void {
    const { errors, warnings } = this.written.rules;
    const strict: RuleValues = this.#values(errors, RULES);
    const lenient: RuleValues = { ...DEFAULT_WARNINGS, ...this.#values(warnings, RULES) };
    this.#findings.push(
      ...lint(events, strict, "error", this.limits),
      // As an error or as a warning, not as both.
      ...lint(
        events,
        strict.uniqueNames === true ? { ...lenient, uniqueNames: false } : lenient,
        "warning",
        this.limits,
      ),
    );
  }

  /** @param isKnown a property that is not known is found at its name. */
  #find(written: Written, property: string, reason: string, isKnown = true): void {
    const source = written.sourceOf(property, isKnown ? "value" : "name");
    this.#findings.push({ level: "error", subject: written.subject, property, reason, source });
  }
}

/** Says what to write instead of a value that was refused, where its field knows. */
function adviceFor(property: string, value: unknown): string | undefined {
  // `{ value: 12,50 }`
  if (/^\d+$/.test(property) && value === null) return "within { } a comma begins another entry: write a decimal point";
  return fieldNamed(property)?.advice(value);
}

/** `own` before `defaults`; request fields one by one, as in a `ConversionEventSet`. */
function mergedWith(defaults: Values, own: Values): Values {
  const fields = { ...asRecord(defaults.additionalFields), ...asRecord(own.additionalFields) };
  const additional = Object.keys(fields).length === 0 ? {} : { additionalFields: fields };
  return { ...defaults, ...own, ...additional };
}

/** Each text that stands for an advertiser is its key, and its name. */
function advertisersNamedIn(events: readonly WrittenEvent[]): WrittenAdvertiser[] {
  const first = new Map<string, WrittenEvent>();
  for (const event of events) {
    const { advertiser: key } = event;
    if (key !== "" && !LIVE_ID.test(key) && !first.has(key)) first.set(key, event);
  }
  return [...first].map(([key, event]) => ({
    key,
    subject: key,
    given: { advertiserName: key },
    defaults: undefined,
    sourceOf: () => event.sourceOf("advertiser"),
  }));
}

function inOrderOfFile({ source: a }: Finding, { source: b }: Finding): number {
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** An editor knows no stack: the widest that any installation may have. */
const WIDEST: Limits = { maxWindowSeconds: 2_147_483_647, markField: undefined };

export function catalogJsonSchema(): object {
  const defaults = z.strictObject(written(conversionEventSet.sharedRules(WIDEST))).optional();
  const rules = z.strictObject(written(RULES)).optional();
  const advertisers = z.record(
    advertiserKey,
    z.strictObject({
      ...written(advertiser.rules(WIDEST)),
      defaults,
      events: z.record(eventKey, z.strictObject(written(conversionEventSet.memberRules(WIDEST)))).optional(),
    }),
  );
  const catalog = z
    .strictObject({
      $schema: z.string().optional(),
      defaults,
      rules: z.strictObject({ errors: rules, warnings: rules }).optional(),
      advertisers: advertisers.optional(),
      eventsFile: z
        .string()
        .regex(/\.(csv|tsv)$/)
        .optional(),
    })
    .meta({
      title: "Advertisers and conversion events",
      anyOf: [{ required: ["advertisers"] }, { required: ["eventsFile"] }],
    });
  return z.toJSONSchema(catalog, {
    // The version that editors' plug-ins know.
    target: "draft-7",
    io: "input",
    // A rule that JSON Schema can't express is left out.
    unrepresentable: "any",
    override: ({ jsonSchema }) => {
      const { expected } = jsonSchema as { readonly expected?: string };
      if (expected === undefined) return;
      delete (jsonSchema as Record<string, unknown>).expected;
      jsonSchema.description = `Expected: ${expected}`;
    },
  });
}

/** The rules of an object with the spellings that a file may use for each field. */
function written({ shape }: Rules): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(shape).map(([name, rule]) => {
      const may = fieldNamed(name)?.written(rule as z.ZodType) ?? rule;
      return [name, may as z.ZodType];
    }),
  );
}
