/** Reads what the engine passes on: arguments, perhaps secret or not known yet, beside hidden properties. */
import { ArgumentsError, own, type Secrets, type Values } from "../base/index.js";
import type { Action } from "../decision/index.js";
import type { ResourceName, SetKind } from "../kinds/index.js";
import { type Briefing, IDENTITY, type Ref, readBriefing, refOf, type Unresolved } from "../state/index.js";

export type Properties = Record<string, unknown>;

/** One object of a run: a single resource, or a member of a set. */
export interface Managed {
  readonly subject: Ref;
  readonly action: Action;
  readonly values: Values;
  /** The names of arguments whose values must not be shown. */
  readonly secret: ReadonlySet<string>;
  /** The object in the state, its arguments there, and when it was created at the latest, ISO 8601. */
  readonly held: string | undefined;
  readonly olds: Values;
  readonly created: string | undefined;
  /** A create of it in the state, with an unknown outcome. */
  readonly unsettled: Unresolved | undefined;
  /** The object whose place its create takes, and what its resource has had by the state, that included. */
  readonly replaces: string | undefined;
  readonly formerIds: readonly string[];
  readonly mark: string;
}

/** Which resource inputs are about, and what the program says of it. @throws ArgumentsError it was not declared with this package's classes. */
export function whoIn(resource: ResourceName, inputs: Properties): { readonly who: Ref; readonly briefing: Briefing } {
  const briefing = readBriefing(own(inputs, IDENTITY));
  if (briefing !== undefined) return { who: refOf(resource, briefing.identity), briefing };
  throw new ArgumentsError(
    `This ${resource} was not declared with a class of pulumi-advertising: nothing is sent for it.`,
  );
}

/** Without the hidden ones. */
export function argumentsIn(inputs: Properties): Properties {
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.startsWith("__")));
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

/** Masks the secret arguments from now on. */
export function maskSecrets(values: Properties, names: ReadonlySet<string>, secrets: Secrets): void {
  for (const name of names) maskSecretsIn(own(values, name), secrets);
}

/**
 * The names of a member's arguments that must not be shown. With any secret in `events` or `defaults`, none of the set's is shown.
 * @param secret the set's secret arguments, of now and of the state.
 */
export function secretOfMembers({ member }: SetKind, secret: ReadonlySet<string>): ReadonlySet<string> {
  // The owner is none of them: without it, an object could not be updated but only replaced.
  const theirs = member.outputs.filter((name) => !(name in member.refersTo));
  return secret.has("events") || secret.has("defaults") ? new Set([...secret, ...theirs]) : secret;
}
