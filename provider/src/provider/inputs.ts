/**
 * Reading what the engine hands over: arguments, perhaps secret or not known yet, beside hidden properties.
 */
import type { Secrets } from "../base/index.js";
import { ACCOUNT, DELETES, IDENTITY, MARK, PROVIDER, SECRET_ARGUMENTS, UNKNOWN } from "../state/index.js";

export type Properties = Record<string, unknown>;

/** The arguments alone. */
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

/** The paths of arguments whose values must not be told. */
export function secretArgumentsOf(inputs: Properties): ReadonlySet<string> {
  const paths = inputs[SECRET_ARGUMENTS];
  return new Set(Array.isArray(paths) ? (paths as string[]) : []);
}

/** Shorter strings are no secrets worth the name, and would be masked within ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Has every string that `value` is or holds masked where the platform echoes it. */
export function maskSecretsIn(value: unknown, secrets: Secrets): void {
  if (typeof value === "string") {
    if (value.length >= MIN_SECRET_CHARACTERS) secrets.add(value);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) maskSecretsIn(part, secrets);
  }
}

/** Whether `value` is, or holds, the engine's string for what is not known yet. */
export function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null;
}

export function withoutUndefined(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
