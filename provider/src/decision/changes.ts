/**
 * What differs between two descriptions of one object: between the state and the program, for single resources, members of sets and the
 * comment on a preview ({@link changesIn}); and between the platform and the state or the program, for a refresh and before an adoption
 * ({@link differencesIn}). Never throws, whatever shape it gets.
 *
 * And whether two descriptions are of one object. A new resource may be one that leaves the state in the same run under another name, so that
 * creating it makes a second live object ({@link renamesIn}). An adoption may name the object that a create of unknown outcome made
 * ({@link matchesCreate}). Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { asRecord, isPlain, own, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind, type Limits } from "../kinds/index.js";
import { asAccepted, defaultOf, formsOf, isPlatformId } from "../rules/index.js";
import { UNKNOWN } from "../state/index.js";

export interface Changes {
  /** The names of the arguments that differ; {@link ANY} if only the fingerprint of the earlier body is known. */
  readonly names: readonly string[];
  /** True if each of them differs only because its value is not known yet. */
  readonly perhaps: boolean;
}

/** Used instead of a name if it is not known which argument differs. */
export const ANY = "*";

export const NO_CHANGES: Changes = { names: [], perhaps: false };

export function argumentNames(kind: Kind): string[] {
  return [...Object.keys(kind.wireNames), "additionalFields"];
}

/**
 * @param olds the state's properties, perhaps of another version of this package, or old inputs (`refresh --run-program`).
 * @param news the checked inputs; an unknown value counts as changed.
 */
export function changesIn(kind: Kind, olds: unknown, news: unknown): Changes {
  const names = argumentNames(kind).filter((name) => !isSameArgument(kind, name, own(olds, name), own(news, name)));
  return { names, perhaps: names.length > 0 && names.every((name) => holdsUnknown(own(news, name))) };
}

function isSameArgument(kind: Kind, name: string, old: unknown, now: unknown): boolean {
  // An id is a number, or its digits where a number could not hold it.
  if (kind.exactIds.has(name) && hasValue(old) && hasValue(now)) return String(old) === String(now);
  return canonical(old) === canonical(now) || (name === "additionalFields" && isEmpty(old) && isEmpty(now));
}

function isEmpty(fields: unknown): boolean {
  return !hasValue(fields) || canonical(fields) === "{}";
}

/** The same text for the same value, whatever the order of its keys; an absent value is the same as `null`. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const sorted = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${sorted.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join()}}`;
}

/** Whether `value` is or contains the engine's text for a value that is not known yet. */
export function holdsUnknown(value: unknown): boolean {
  return holds(value, (each) => each === UNKNOWN);
}

/** Whether `isIt` is true of `value`, or of a value in it at any depth. */
function holds(value: unknown, isIt: (value: unknown) => boolean): boolean {
  if (isIt(value)) return true;
  return typeof value === "object" && value !== null && Object.values(value).some((each) => holds(each, isIt));
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** The platform's values of the arguments that differ; `undefined` if it has none. */
export type Differences = ReadonlyMap<string, unknown>;

/** Compares only arguments that were given or have a default of this package, and only if the answer has them. */
export function differencesIn(kind: Kind, limits: Limits, values: Values, record: Values): Differences {
  const rules = kind.rules(limits).shape;
  const found = new Map<string, unknown>();
  for (const [property, field] of Object.entries(kind.wireNames)) {
    const ours = values[property];
    if (!hasValue(ours) || !Object.hasOwn(record, field)) continue;
    const theirs = asAccepted(rules[property], record[field]);
    if (!isSame(ours, theirs ?? defaultOf(rules[property]))) found.set(property, theirs);
  }
  const ours = asRecord(values.additionalFields);
  const theirs = Object.entries(ours).map(([field, value]) => {
    return [field, Object.hasOwn(record, field) ? likeOurs(value, record[field]) : value] as const;
  });
  if (theirs.some(([field, value]) => !isSame(ours[field], value))) {
    found.set("additionalFields", Object.fromEntries(theirs));
  }
  return found;
}

/** Every argument in the answer, in a program's form. */
export function argumentsFrom(kind: Kind, limits: Limits, record: Values): Record<string, unknown> {
  const rules = kind.rules(limits).shape;
  return Object.fromEntries(
    Object.entries(kind.wireNames).flatMap(([property, field]) => {
      const value = asAccepted(rules[property], own(record, field));
      return value === undefined ? [] : [[property, value]];
    }),
  );
}

export function withDifferences(values: Values, differences: Differences): Record<string, unknown> {
  const updated = { ...values };
  for (const [property, theirs] of differences) {
    if (theirs === undefined) delete updated[property];
    else updated[property] = theirs;
  }
  return updated;
}

function likeOurs(ours: unknown, theirs: unknown): unknown {
  if (!hasValue(ours)) return theirs ?? ours;
  if (Array.isArray(ours) && Array.isArray(theirs) && ours.length === theirs.length) {
    return ours.map((each, at) => likeOurs(each, theirs[at]));
  }
  if (isObject(ours) && isObject(theirs)) {
    const fields = Object.entries(ours).map(([name, each]) => [name, likeOurs(each, own(theirs, name) ?? null)]);
    return Object.fromEntries(fields);
  }
  return formsOf(theirs).find((each) => typeof each === typeof ours) ?? theirs ?? null;
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isSame(ours: unknown, theirs: unknown): boolean {
  if (isDeepStrictEqual(ours, theirs)) return true;
  // An id is a number, or its digits where a number could not hold it.
  return (
    [ours, theirs].every((each) => /^(number|string)$/.test(typeof each)) &&
    (typeof ours === "number" || isPlatformId(ours as string)) &&
    `${ours}` === `${theirs}`
  );
}

/** An object as far as it is known: by its arguments, or by its body's fingerprint if only a note has it. */
export interface Known {
  readonly kind: Kind;
  readonly values?: Values | undefined;
  readonly fingerprint?: string | undefined;
}

interface Rename<From, To> {
  readonly from: From;
  readonly to: To;
  /** Whether both bodies are known completely. Otherwise only their known parts are the same. */
  readonly isWhole: boolean;
}

/**
 * @param gone what leaves the state in the run. @param fresh what it would create.
 * @param isHidden whether a value only stands for the real one, as a preview's `[secret]` does.
 * @returns each new object at most once, and each old one at most once, in the order of `fresh`.
 */
export function renamesIn<From extends Known, To extends Known>(
  gone: readonly From[],
  fresh: readonly To[],
  isHidden: (value: unknown) => boolean = () => false,
): Rename<From, To>[] {
  const byName = Map.groupBy(gone, nameKey);
  const taken = new Set<From>();
  return fresh.flatMap((to): Rename<From, To>[] => {
    const candidates = [...(byName.get(nameKey(to)) ?? []), ...(byName.get(NAMELESS) ?? [])];
    const from = candidates.find((each) => !taken.has(each) && isSameBody(each, to));
    if (from === undefined) return [];
    taken.add(from);
    return [{ from, to, isWhole: isWhole(from, isHidden) && isWhole(to, isHidden) }];
  });
}

/** Whether two objects have the same body, as far as both are known. */
export function isSameBody(one: Known, other: Known): boolean {
  if (one.kind.name !== other.kind.name) return false;
  const [a, b] = [one.values, other.values];
  if (a !== undefined && b !== undefined) {
    return argumentNames(one.kind).every(
      (name) => holdsUnknown(a[name]) || holdsUnknown(b[name]) || canonical(a[name]) === canonical(b[name]),
    );
  }
  const [first, second] = [fingerprintIn(one), fingerprintIn(other)];
  return first !== undefined && first === second;
}

/** `undefined` if a part of the body is not known yet. */
function fingerprintIn({ kind, values, fingerprint }: Known): string | undefined {
  if (values === undefined) return fingerprint === "" ? undefined : fingerprint;
  return holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
}

const NAMELESS = "";

function nameKey({ kind, values }: Known): string {
  return values === undefined ? NAMELESS : `${kind.name} ${canonical(values[kind.nameProperty])}`;
}

function isWhole({ kind, values }: Known, isHidden: (value: unknown) => boolean): boolean {
  if (values === undefined) return true;
  return argumentNames(kind).every((name) => !holdsUnknown(values[name]) && !holds(values[name], isHidden));
}

interface SentCreate {
  readonly kind: Kind["name"];
  /** Its name on the platform; absent if it is secret. */
  readonly name?: string | undefined;
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
  readonly replaces?: string | undefined;
}

/**
 * Whether an adoption may settle a create of unknown outcome (R4).
 * @param id of the adopted object; none if it is not known yet.
 * @param values its arguments: the platform's if it was read, otherwise the program's. Values that are not plain are not known yet, and
 *   contradict nothing.
 * @returns true if it is not the object that the create was to replace, kind and name agree, and no other fact that both sides know
 *   differs, above all the advertiser.
 */
export function matchesCreate(kind: Kind, id: string | undefined, values: Values, sent: SentCreate): boolean {
  if (kind.name !== sent.kind || (id !== undefined && id === sent.replaces)) return false;
  return Object.keys(sentOtherwise(kind, values, sent)).length === 0;
}

/** What a create was sent with, by argument, as far as these values contradict it. */
export function sentOtherwise(kind: Kind, values: Values, sent: Pick<SentCreate, "name" | "facts">): Values {
  const differs = (property: string, then: unknown) => {
    const now = values[property];
    return isPlain(now) && now !== UNKNOWN && isPlain(then) && String(now) !== String(then);
  };
  const all = Object.entries({ [kind.nameProperty]: sent.name, ...sent.facts });
  return Object.fromEntries(all.filter(([property, then]) => differs(property, then)));
}

/**
 * What a run does with the object of an earlier create of the same resource, whose id is known. It is taken over as it is, or taken over and
 * updated; `refused`: neither, and a person decides (R4). The others depend on arguments that are not known yet: it is updated if it differs;
 * refused unless its owner is the same, and updated if it differs; or refused if it differs.
 */
export type TakeOver = "as it is" | "updated" | "refused" | "updated if it differs" | "if same owner" | "if unchanged";

const WITH_UPDATE: readonly TakeOver[] = ["updated", "updated if it differs", "if same owner"];

/** Whether the run reads or updates the object before it takes it over, and may find it gone. */
export function mayBeFoundGone(takeOver: TakeOver, canRead: boolean): boolean {
  return WITH_UPDATE.includes(takeOver) || (canRead && takeOver !== "refused");
}

export function takeOverOf(
  kind: Kind,
  values: Values,
  sent: Omit<SentCreate, "kind"> & { readonly fingerprint: string },
  canUpdate: boolean,
): TakeOver {
  const isKnown = !holdsUnknown(values);
  const mayBeSame = isKnown
    ? fingerprintOfBody(kind, values) === sent.fingerprint
    : matchesCreate(kind, undefined, values, { ...sent, kind: kind.name });
  if (isKnown && mayBeSame) return "as it is";
  const owners = Object.keys(kind.refersTo).map((name) => [sent.facts?.[name], values[name]] as const);
  // With another owner it is another object; the create must provably have been sent for this one.
  if (
    canUpdate &&
    owners.every(([then, now]) => then !== undefined && (now === UNKNOWN || String(then) === String(now)))
  ) {
    if (owners.some(([, now]) => now === UNKNOWN)) return "if same owner";
    return mayBeSame ? "updated if it differs" : "updated";
  }
  return mayBeSame ? "if unchanged" : "refused";
}
