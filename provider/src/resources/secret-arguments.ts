/**
 * Which arguments are secret: the provider gets their values in clear, and must not quote them.
 */
import * as pulumi from "@pulumi/pulumi";
import { memberOf } from "../state/identity.js";
import { isContainer } from "../validation/known.js";
import { isNotPlain } from "./plain.js";

type Arguments = Readonly<Record<string, unknown>>;

/** Inside these arguments each part is looked at by itself: a set's `defaults.value`, its `events["purchase"].value`. */
const PARTS: Readonly<Record<string, number>> = { defaults: 1, events: 2 };

export function mayHoldSecrets(given: Arguments): boolean {
  return Object.values(given).some((value) => isNotPlain(value));
}

/** Not asked before the whole program was found good; nobody need be told twice that it was not. */
export function secretsOnce(admitted: Promise<unknown>, given: Arguments): Promise<string[] | undefined> {
  const paths = admitted.then(() => secretPaths(given));
  paths.catch(() => undefined);
  return paths;
}

async function secretPaths(given: Arguments): Promise<string[] | undefined> {
  const found = await Promise.all(
    Object.entries(given).map(([name, value]) => secretPathsAt(name, value, PARTS[name] ?? 0)),
  );
  const paths = found.flat();
  return paths.length === 0 ? undefined : paths;
}

/** @param levels how many levels below this value have paths of their own. */
async function secretPathsAt(path: string, value: unknown, levels: number): Promise<string[]> {
  if (!isNotPlain(value)) return [];
  if (levels === 0 || !isContainer(value)) return (await pulumi.isSecret(pulumi.output(value))) ? [path] : [];
  const found = await Promise.all(
    Object.entries(value).map(([key, part]) =>
      secretPathsAt(levels === 2 ? memberOf(path, key) : `${path}.${key}`, part, levels - 1),
    ),
  );
  return found.flat();
}
