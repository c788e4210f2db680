/**
 * Which arguments of a set's members are secret, from the paths that the program's half names: `advertiserId`, `events`,
 * `events["purchase"]`, `events["purchase"].additionalFields`, `defaults`, `defaults.additionalFields`.
 */

import { own, type Secrets } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { memberOf, splitMember } from "../state/index.js";
import { maskSecretsIn, type Properties } from "./inputs.js";

/** The names of a member's secret arguments, by its key. */
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

/** Has every string of the secret arguments masked where the platform echoes it. */
export function maskSecretMembers(values: Properties, paths: ReadonlySet<string>, secrets: Secrets): void {
  for (const path of paths) {
    const { holder = "", name } = partsOf(path);
    const { of, key } = splitMember(holder === "" ? (name ?? "") : holder);
    const held = key === undefined ? own(values, of) : own(own(values, of), key);
    maskSecretsIn(holder === "" || name === undefined ? held : own(held, name), secrets);
  }
}

/** `events["a.b"].value` is `value` of `events["a.b"]`; what ends with a key is the whole member. */
function partsOf(path: string): { readonly holder: string | undefined; readonly name: string | undefined } {
  if (splitMember(path).key !== undefined) return { holder: path, name: undefined };
  const dot = path.lastIndexOf(".");
  return dot < 0 ? { holder: undefined, name: path } : { holder: path.slice(0, dot), name: path.slice(dot + 1) };
}
