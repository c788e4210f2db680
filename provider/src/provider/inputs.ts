/** Reads what the engine passes on: arguments, perhaps secret or not known yet, beside hidden properties. */
import { ArgumentsError, own, type Secrets, type Values } from "../base/index.js";
import type { ResourceName, SetKind } from "../kinds/index.js";
import {
  type Briefing,
  DELETES,
  IDENTITY,
  MARK,
  PROVIDER,
  type Ref,
  readBriefing,
  refOf,
  SECRET_ARGUMENTS,
} from "../state/index.js";

export type Properties = Record<string, unknown>;

/** A resource or member with its arguments, declared or stored. */
export interface WithArguments {
  readonly subject: Ref;
  readonly values: Values;
  /** The names of those whose values must not be shown. */
  readonly secret: ReadonlySet<string>;
}

/** Which resource inputs are about, and what the program says of it. @throws ArgumentsError it was not declared with this package's classes. */
export function whoIn(resource: ResourceName, inputs: Properties): { readonly who: Ref; readonly briefing: Briefing } {
  const briefing = readBriefing(own(inputs, IDENTITY));
  if (briefing !== undefined) return { who: refOf(resource, briefing.identity), briefing };
  throw new ArgumentsError(
    `This ${resource} was not declared with a class of pulumi-advertising: nothing is sent for it.`,
  );
}

export function argumentsIn({
  [IDENTITY]: _identity,
  [SECRET_ARGUMENTS]: _secret,
  [PROVIDER]: _reference,
  [MARK]: _mark,
  [DELETES]: _deletes,
  ...values
}: Properties): Properties {
  return values;
}

/** Shorter texts are not real secrets, and masking them would damage ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Masks every string and number in `value` if the platform echoes it. */
function maskSecretsIn(value: unknown, secrets: Secrets): void {
  if (typeof value === "string") {
    if (value.length >= MIN_SECRET_CHARACTERS) secrets.add(value);
  } else if (typeof value === "number") {
    if (String(Math.abs(value)).length >= MIN_SECRET_CHARACTERS) secrets.addNumber(value);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) maskSecretsIn(part, secrets);
  }
}

/** `events["purchase"].value`, `defaults.value`, `advertiserId`: as `program/registration.ts` makes them. */
const PATH = /^(\w+)(?:\[("(?:[^"\\]|\\.)*")\])?(?:\.(.+))?$/s;

/** Masks the secret arguments from now on. @param paths of them. */
export function maskSecrets(values: Properties, paths: ReadonlySet<string>, secrets: Secrets): void {
  for (const path of paths) {
    const [, name = "", key, part] = PATH.exec(path) ?? [];
    const member = key === undefined ? own(values, name) : own(own(values, name), JSON.parse(key) as string);
    maskSecretsIn(part === undefined ? member : own(member, part), secrets);
  }
}

/**
 * The names of a member's arguments that must not be shown. With any secret in `events` or `defaults`, none of the set's is shown.
 * @param paths of the set's secret arguments, of now and of the state.
 */
export function secretOfMembers({ member }: SetKind, ...paths: readonly ReadonlySet<string>[]): ReadonlySet<string> {
  const all = paths.flatMap((each) => [...each]);
  // The owner is none of them: without it, an object could not be updated but only replaced.
  const theirs = member.outputs.filter((name) => !(name in member.refersTo));
  return new Set(all.some((path) => !(path in member.refersTo)) ? [...all, ...theirs] : all);
}
