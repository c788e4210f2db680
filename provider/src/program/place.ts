/**
 * Where a resource stands: in which stack, below which parents, and where its aliases say that it stood before. All of it
 * follows from what the program says, before anything is registered.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Kind, SetKind } from "../kinds/index.js";
import { type Identity, identityText, journalKeyOf, placeInUrn } from "../state/index.js";

/** A name below parents of these types; `ANY` if only the engine will know. */
export interface Place {
  readonly name: string | typeof ANY;
  readonly parentTypes: string | undefined | typeof ANY;
}

const ANY = Symbol("any");
const ANYWHERE: Place = { name: ANY, parentTypes: ANY };

const STACK_TYPE = "pulumi:pulumi:Stack";

/** The stack that the program is of. */
export function placeOfProgram(): Pick<Identity, "organization" | "project" | "stack"> {
  return { organization: organization(), project: pulumi.getProject(), stack: pulumi.getStack() };
}

/** Pulumi throws if there is none, and the mocks of users' tests leave it out. */
function organization(): string {
  try {
    return pulumi.getOrganization();
  } catch {
    return "organization";
  }
}

/**
 * The identity that the state keeps of a resource, which the provider's process learns in no other way. It is as unique as the
 * URN and built like it, so that equal names below different components stay apart.
 */
export async function identityOf(name: string, parent: pulumi.Resource | undefined): Promise<string> {
  const parentUrn = parent === undefined ? undefined : await settled(parent.urn);
  // urn:pulumi:<stack>::<project>::<types>::<name>; the root stack is every resource's parent and says nothing.
  const types = parentUrn?.split("::")[2];
  return identityText({ ...placeOfProgram(), parentTypes: types === STACK_TYPE ? undefined : types, name });
}

/** An Output's value without its dependencies: a resource must not wait for its parent's other children. */
function settled<T>(output: pulumi.Output<T>): Promise<T> {
  return new Promise((resolve) => {
    output.apply(resolve);
  });
}

/** The journal's key of a resource. */
export function journalKeyIn(kind: Kind | SetKind, name: string, parent: pulumi.Resource | undefined): string {
  return journalKeyOf(kind.name, identityText({ ...placeOfProgram(), parentTypes: typesOf(parent), name }));
}

/** The types of `parent` and of its parents, as a URN has them; `undefined` for the stack itself. */
export function typesOf(parent: pulumi.Resource | undefined): string | undefined {
  const types: string[] = [];
  // These names are Pulumi's own, and the same in every copy of it.
  type Linked = pulumi.Resource & { readonly __pulumiType: string; readonly __parentResource?: Linked };
  for (let each = parent as Linked | undefined; each !== undefined; each = each.__parentResource) {
    if (each.__pulumiType !== STACK_TYPE) types.unshift(each.__pulumiType);
  }
  return types.length === 0 ? undefined : types.join("$");
}

/** The places at which the resource stood before, as its aliases say. */
export function formerPlaces(name: string, { aliases, parent }: pulumi.CustomResourceOptions): Place[] {
  const inherited = (parent as { readonly __aliases?: readonly unknown[] } | undefined)?.__aliases ?? [];
  if (inherited.length > 0) return [ANYWHERE];
  if (aliases === undefined) return [];
  if (!Array.isArray(aliases)) return [ANYWHERE];
  return aliases.map((alias: unknown) => placeIn(alias, name, parent));
}

function placeIn(alias: unknown, name: string, parent: pulumi.Resource | undefined): Place {
  if (typeof alias === "string") return placeInUrn(alias);
  if (!isPlainAlias(alias)) return ANYWHERE;
  const former = alias.name === undefined ? name : typeof alias.name === "string" ? alias.name : ANY;
  if (alias.noParent === true) return { name: former, parentTypes: undefined };
  if (typeof alias.parentUrn === "string") return { name: former, parentTypes: ANY };
  if (!Object.hasOwn(alias, "parent")) return { name: former, parentTypes: typesOf(parent) };
  // pulumi.rootStackResource is undefined.
  const isKnown =
    alias.parent === undefined || (typeof alias.parent === "object" && "__pulumiType" in Object(alias.parent));
  return { name: former, parentTypes: isKnown ? typesOf(alias.parent as pulumi.Resource | undefined) : ANY };
}

/** Compares a place that an alias names with that of a resource which an earlier run knew. */
export function isAt(place: Place, name: string, parentTypes: string | undefined): boolean {
  return (
    (place.name === ANY || place.name === name) && (place.parentTypes === ANY || place.parentTypes === parentTypes)
  );
}

function isPlainAlias(alias: unknown): alias is Readonly<Record<string, unknown>> {
  return typeof alias === "object" && alias !== null && !("__pulumiOutput" in alias) && !(alias instanceof Promise);
}
