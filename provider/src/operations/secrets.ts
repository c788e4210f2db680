/** Which arguments of a resource are secret; their values are masked wherever the platform echoes them. */
import { own, type Secrets, type Values } from "../base/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { kindOf, secretArgumentsIn } from "../state/index.js";
import type { Runtime } from "./runtime.js";

/** Shorter texts are not real secrets, and masking them would damage ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Registers every string and number in `value` for scrubbing. */
function registerSecrets(value: unknown, secrets: Secrets): void {
  if (typeof value === "string") {
    if (value.length >= MIN_SECRET_CHARACTERS) secrets.add(value);
  } else if (typeof value === "number") {
    if (String(Math.abs(value)).length >= MIN_SECRET_CHARACTERS) secrets.addNumber(value);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) registerSecrets(part, secrets);
  }
}

/** The names of the objects' arguments that are secret, or were in the state. Values of those that are get masked. */
export function secretIn(
  resource: Kind | SetKind,
  { deployment, secrets }: Runtime,
  key: string,
  inputs: Values,
): ReadonlySet<string> {
  const names = secretArgumentsIn(inputs);
  for (const name of names) registerSecrets(own(inputs, name), secrets);
  return secretOfObjects(
    resource,
    new Set([...names, ...deployment.checked(key).wasSecret]),
  );
}

/** With any secret in a set's `events` or `defaults`, no argument of its members is shown. */
export function secretOfObjects(
  resource: Kind | SetKind,
  secret: ReadonlySet<string>,
): ReadonlySet<string> {
  if (!secret.has("events") && !secret.has("defaults")) return secret;
  const kind = kindOf(resource);
  // The owner is shown: without it, an object could not be updated but only replaced.
  return new Set([...secret, ...kind.outputs.filter((name) => name !== kind.owner)]);
}
