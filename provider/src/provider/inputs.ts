/**
 * Reads what the engine passes on: arguments, perhaps secret or not known yet, beside hidden properties. For a set the program's half
 * names secret arguments by path: `advertiserId`, `events`, `events["purchase"]`,
 * `events["purchase"].additionalFields`, `defaults`, `defaults.additionalFields`.
 */
import { ArgumentsError, own, type Secrets, type Values } from "../base/index.js";
import type { Kind, ResourceName } from "../kinds/index.js";
import {
  ACCOUNT,
  type Briefing,
  DELETES,
  IDENTITY,
  MARK,
  memberOf,
  PROVIDER,
  type Ref,
  readBriefing,
  refOf,
  SECRET_ARGUMENTS,
  splitMember,
} from "../state/index.js";

export type Properties = Record<string, unknown>;

/** A resource or member with its arguments, declared or stored. */
export interface WithArguments {
  readonly subject: Ref;
  readonly values: Values;
  /** The names of those whose values must not be shown. */
  readonly secret: ReadonlySet<string>;
}

/**
 * Which resource checked inputs are about.
 * @throws ArgumentsError if it was not declared with this package's classes: the journal could not note its creates.
 */
export function refIn(resource: ResourceName, inputs: Properties): Ref {
  const identity = own(inputs, IDENTITY);
  if (typeof identity === "string") return refOf(resource, identity);
  throw new ArgumentsError(
    `This ${resource} was not declared with a class of pulumi-advertising: nothing is sent for it.`,
  );
}

/** The program's briefing about a resource whose inputs are checked. @throws ArgumentsError as {@link refIn}. */
export function briefingIn(
  resource: ResourceName,
  given: Properties,
): { readonly briefing: Briefing; readonly subject: Ref } {
  const briefing = readBriefing(own(given, IDENTITY));
  return { briefing: briefing as Briefing, subject: refIn(resource, { [IDENTITY]: briefing?.identity }) };
}

export function argumentsIn({
  [IDENTITY]: _identity,
  [SECRET_ARGUMENTS]: _secret,
  [PROVIDER]: _reference,
  [ACCOUNT]: _account,
  [MARK]: _mark,
  [DELETES]: _deletes,
  ...values
}: Properties): Properties {
  return values;
}

/** Shorter texts are not real secrets, and masking them would damage ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Masks every string and number in `value` if the platform echoes it. */
export function maskSecretsIn(value: unknown, secrets: Secrets): void {
  if (typeof value === "string") {
    if (value.length >= MIN_SECRET_CHARACTERS) secrets.add(value);
  } else if (typeof value === "number") {
    if (String(Math.abs(value)).length >= MIN_SECRET_CHARACTERS) secrets.addNumber(value);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) maskSecretsIn(part, secrets);
  }
}

export type SecretOf = (key: string) => ReadonlySet<string>;

/** @returns the names of a member's secret arguments, by its key. */
export function secretOfMembers({ outputs }: Kind, paths: ReadonlySet<string>): SecretOf {
  const everything: ReadonlySet<string> = new Set(outputs);
  if (paths.has("events") || paths.has("defaults")) return () => everything;
  const byHolder = new Map<string | undefined, Set<string>>();
  for (const path of paths) {
    const { holder, name } = partsOf(path);
    const names = byHolder.get(holder) ?? new Set();
    for (const each of name === undefined ? everything : [name]) names.add(each);
    byHolder.set(holder, names);
  }
  const shared = new Set([...(byHolder.get(undefined) ?? []), ...(byHolder.get("defaults") ?? [])]);
  return (key) => {
    const own = byHolder.get(memberOf("events", key));
    return own === undefined ? shared : new Set([...own, ...shared]);
  };
}

/** Masks every string and number of the secret arguments if the platform echoes it. */
export function maskSecretMembers(values: Properties, paths: ReadonlySet<string>, secrets: Secrets): void {
  for (const path of paths) {
    const { holder = "", name } = partsOf(path);
    const { of, key } = splitMember(holder === "" ? (name ?? "") : holder);
    const held = key === undefined ? own(values, of) : own(own(values, of), key);
    maskSecretsIn(holder === "" || name === undefined ? held : own(held, name), secrets);
  }
}

/** `events["a.b"].value` is `value` of `events["a.b"]`; a path that ends with a key is the whole member. */
function partsOf(path: string): { readonly holder: string | undefined; readonly name: string | undefined } {
  if (splitMember(path).key !== undefined) return { holder: path, name: undefined };
  const dot = path.lastIndexOf(".");
  return dot < 0 ? { holder: undefined, name: path } : { holder: path.slice(0, dot), name: path.slice(dot + 1) };
}
