/**
 * Takes a live object off the platform, where the installation is known to have a way to; says what stays live elsewhere.
 */

import { printable } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { isReadableId } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { ACCOUNT, isUnresolved } from "../state/index.js";
import { expectSameAccount } from "./expect-account.js";
import type { Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";

/** Whether the installation is known to have a way to. */
export function canDelete(kind: Kind, { reading }: Pick<Runtime, "reading">): boolean {
  return knownOperations(kind, reading.settings).delete !== undefined;
}

/** Whether the engine deletes a resource's object when it is replaced. @param key the resource's, in the journal. */
export function deletesReplaced(kind: Kind, runtime: Runtime, key: string): boolean {
  return runtime.learned.of(key).wasDeleting === true && canDelete(kind, runtime);
}

/**
 * Whether something else in the program goes on with an object that is to be deleted.
 * @param own the URN of what lets go of it, where that is known.
 */
export function isHeldElsewhere(kind: Kind, runtime: Runtime, id: string, own?: string): boolean {
  if (runtime.adopting(kind).has(id)) return true;
  const { holder, isReplaced } = runtime.objects.of(kind, id);
  return holder !== undefined && holder !== own && isReplaced !== true;
}

/** @throws AdvertisingError it was not deleted, or nobody knows: it may be asked again. */
export async function deleteObject(kind: Kind, runtime: Runtime, id: string, label: string): Promise<void> {
  const operation = knownOperations(kind, runtime.reading.settings).delete;
  if (operation === undefined) throw new Error("delete without the operation");
  await runtime.track(async (mayBegin) => {
    mayBegin();
    return runtime.client().delete({ kind, operation, id, label });
  });
}

/**
 * Reached only where `retainOnDelete` was turned off. Where there is no known way to delete, that is where this package can't
 * see it (a transformation), or by an earlier version: to fail would leave what was replaced in the state for ever.
 * @throws AdvertisingError it was not deleted, or nobody knows: it may be asked again.
 */
export async function deleteLive(kind: Kind, runtime: Runtime, id: string, properties: Properties): Promise<void> {
  if (!isReadableId(id)) return; // unresolved: nobody knows what there is to delete
  const name = properties[kind.nameProperty];
  const isNamed = typeof name === "string" && !isUnresolved(properties);
  const label = `the ${kind.name}${isNamed ? ` named "${printable(name)}"` : ""} with the id ${id}`;
  const recorded = properties[ACCOUNT];
  // An id of another account would be somebody else's object.
  expectSameAccount(recorded, runtime.account, label);
  if (isHeldElsewhere(kind, runtime, id)) {
    runtime.say(`Not deleted: ${label}, which another resource of the program holds.`);
    return;
  }
  const isKnown = canDelete(kind, runtime);
  if (isKnown && typeof recorded === "string") return deleteObject(kind, runtime, id, `${kind.name} ${id}`);
  const why = isKnown
    ? "The state does not say at which account it was created"
    : "The platform has no known way to delete";
  runtime.say(`${why}, so ${label} left the state and ${kind.afterlife}; deactivate it there by hand.`);
}
