/**
 * From which resource an argument's id comes. A preview knows no outputs of what is updated, since the engine asks no dynamic
 * provider for them; but the provider knows that its id stays, where it is told which resource that is.
 */
import * as pulumi from "@pulumi/pulumi";
import type { Values } from "../base/index.js";
import type { Kind, SetKind } from "../kinds/index.js";

/** By the Output that holds a resource's id: the resource's journal key. */
const owners = new WeakMap<object, string>();

export function noteOwner(id: pulumi.Output<unknown>, journalKey: string): void {
  owners.set(id, journalKey);
}

/**
 * By argument: the journal key of the resource whose id is given. Just of the resource itself and of its own Output: what is
 * made of that with `apply` may be another id.
 * @param args as the program gave them.
 */
export function ownersIn({ refersTo }: Kind | SetKind, args: Values): Readonly<Record<string, string>> | undefined {
  const found = Object.entries(refersTo).flatMap(([property, { idProperty }]) => {
    const given = args[property];
    const id = pulumi.Resource.isInstance(given) ? (given as unknown as typeof args)[idProperty] : given;
    const owner = pulumi.Output.isInstance(id) ? owners.get(id) : undefined;
    return owner === undefined ? [] : [[property, owner] as const];
  });
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
