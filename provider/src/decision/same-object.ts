/**
 * Whether two descriptions are of one object. A new object may be one that the same run lets go of, under another name: to create it makes
 * a second live one. And an adoption may name the very object that a create of unknown outcome has made. Asked by the program's half, the
 * provider's warnings, a set's plan and the comment on a preview. Pure.
 */
import { isPlain, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { argumentNames, canonical, holds, holdsUnknown } from "./changes.js";

/** An object as far as it is known: by its arguments, or, of what only a note remembers, by its body's fingerprint. */
export interface Known {
  readonly kind: Kind;
  readonly values?: Values | undefined;
  readonly fingerprint?: string | undefined;
}

interface Rename<From, To> {
  readonly from: From;
  readonly to: To;
  /** All of both bodies is known. Otherwise they are the same as far as they are known. */
  readonly isWhole: boolean;
}

/**
 * @param gone what the run lets go of. @param fresh what it would create.
 * @param isHidden whether a value stands for another one that is not told, as a preview's `[secret]` does.
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

/** None where a part of the body is not known yet. */
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

/** What is known of a create that was sent. */
interface SentCreate {
  readonly kind: Kind["name"];
  /** On the platform; absent where it is secret. */
  readonly name?: string | undefined;
  /** By argument. */
  readonly facts?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * @param values the arguments of what adopts; those that are no plain values are not known yet, and contradict nothing.
 * @returns whether kind and name agree, and none of the other facts that both sides know contradicts it: the advertiser above all.
 */
export function matchesCreate(kind: Kind, values: Values, sent: SentCreate): boolean {
  if (kind.name !== sent.kind) return false;
  const agrees = (property: string, then: unknown) => {
    const now = values[property];
    return !isPlain(now) || !isPlain(then) || String(now) === String(then);
  };
  return (
    agrees(kind.nameProperty, sent.name) &&
    Object.entries(sent.facts ?? {}).every(([property, then]) => agrees(property, then))
  );
}

/** Whether what was sent has the owner that is wanted now, as far as that can be proved: another owner is another object. */
export function hasSameOwner(kind: Kind, values: Values, { facts = {} }: Pick<SentCreate, "facts">): boolean {
  return Object.keys(kind.refersTo).every(
    (name) => facts[name] !== undefined && String(facts[name]) === String(values[name]),
  );
}
