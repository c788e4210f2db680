/**
 * Which arguments are secret: the provider gets their values in clear, and must not quote them.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import { isContainer } from "../rules/index.js";
import { memberOf } from "../state/index.js";
import { isNotPlain } from "./plain.js";

/** Inside these arguments each part is looked at by itself: a set's `defaults.value`, its `events["purchase"].value`. */
const PARTS: Readonly<Record<string, number>> = { defaults: 1, events: 2 };

export function mayHoldSecrets(given: Values): boolean {
  return Object.values(given).some((value) => isNotPlain(value));
}

/** Not asked before the whole program was found good; nobody need be told twice that it was not. */
export function secretsOnce(admitted: Promise<unknown>, given: Values): Promise<string[] | undefined> {
  const paths = admitted.then(() => secretPaths(given));
  paths.catch(() => undefined);
  return paths;
}

async function secretPaths(given: Values): Promise<string[] | undefined> {
  // Most values are plain: to wait for each would cost a promise.
  const unknown = Object.entries(given).filter(([, value]) => isNotPlain(value));
  const found = await Promise.all(unknown.map(([name, value]) => secretPathsAt(name, value, PARTS[name] ?? 0)));
  const paths = found.flat();
  return paths.length === 0 ? undefined : paths;
}

/** @param value is or holds what is not plain. @param levels how many levels below this value have paths of their own. */
async function secretPathsAt(path: string, value: unknown, levels: number): Promise<string[]> {
  if (levels === 0 || !isContainer(value)) {
    const output = pulumi.Output.isInstance(value) ? value : pulumi.output(value);
    return (await pulumi.isSecret(output)) ? [path] : [];
  }
  const unknown = Object.entries(value).filter(([, part]) => isNotPlain(part));
  const found = await Promise.all(
    unknown.map(([key, part]) =>
      secretPathsAt(levels === 2 ? memberOf(path, key) : `${path}.${key}`, part, levels - 1),
    ),
  );
  return found.flat();
}
