/**
 * Where a resource stands among its parents, and which earlier places its aliases name: by what the program says alone,
 * before anything is registered.
 */

import type * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";

/** A name below parents of these types; `anywhere` where only the engine will know. */
export interface Place {
  readonly name: string | typeof ANY;
  readonly parentTypes: string | undefined | typeof ANY;
}

const ANY = Symbol("whatever it is");

const STACK_TYPE = "pulumi:pulumi:Stack";

/** The types of `parent` and its parents, as a URN has them; none for the stack itself. */
export function typesOf(parent: pulumi.Resource | undefined): string | undefined {
  const types: string[] = [];
  // Names of Pulumi's own, the same in every copy of it.
  type Linked = pulumi.Resource & { readonly __pulumiType: string; readonly __parentResource?: Linked };
  for (let each = parent as Linked | undefined; each !== undefined; each = each.__parentResource) {
    if (each.__pulumiType !== STACK_TYPE) types.unshift(each.__pulumiType);
  }
  return types.length === 0 ? undefined : types.join("$");
}

/** Where the resource was before, as its aliases say. */
export function formerPlaces(name: string, { aliases, parent }: pulumi.CustomResourceOptions): Place[] {
  const inherited = (parent as { readonly __aliases?: readonly unknown[] } | undefined)?.__aliases ?? [];
  if (inherited.length > 0) return [{ name: ANY, parentTypes: ANY }];
  if (aliases === undefined) return [];
  if (!Array.isArray(aliases)) return [{ name: ANY, parentTypes: ANY }];
  return aliases.map((alias: unknown) => {
    if (typeof alias === "string") return placeInUrn(alias);
    if (!isPlainAlias(alias)) return { name: ANY, parentTypes: ANY };
    const former = alias.name === undefined ? name : typeof alias.name === "string" ? alias.name : ANY;
    if (alias.noParent === true) return { name: former, parentTypes: undefined };
    if (typeof alias.parentUrn === "string") return { name: former, parentTypes: ANY };
    if (!Object.hasOwn(alias, "parent")) return { name: former, parentTypes: typesOf(parent) };
    // pulumi.rootStackResource is undefined.
    const isKnown =
      alias.parent === undefined || (typeof alias.parent === "object" && "__pulumiType" in Object(alias.parent));
    return { name: former, parentTypes: isKnown ? typesOf(alias.parent as pulumi.Resource | undefined) : ANY };
  });
}

export function isAt(place: Place, name: string, parentTypes: string | undefined): boolean {
  return (
    (place.name === ANY || place.name === name) && (place.parentTypes === ANY || place.parentTypes === parentTypes)
  );
}

function isPlainAlias(alias: unknown): alias is Values {
  return typeof alias === "object" && alias !== null && !("__pulumiOutput" in alias) && !(alias instanceof Promise);
}

/** urn:pulumi:<stack>::<project>::<types>::<name> */
function placeInUrn(urn: string): Place {
  const [, , types = "", ...name] = urn.split("::");
  const parents = types.split("$").slice(0, -1);
  return { name: name.join("::"), parentTypes: parents.length === 0 ? undefined : parents.join("$") };
}
