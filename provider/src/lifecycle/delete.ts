/**
 * Takes a live object off the platform, where the installation is known to have a way to; says what stays live elsewhere.
 */
import { knownOperations } from "../config/operations.js";
import type { Kind } from "../kinds/kind.js";
import { ACCOUNT } from "../state/properties.js";
import { unresolvedMarkOf } from "../state/unresolved.js";
import { printable } from "../text.js";
import { isReadableId } from "../validation/fields.js";
import { expectSameAccount } from "./account.js";
import type { Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";

/**
 * Reached only where `retainOnDelete` was turned off. Where there is no known way to delete, that is where this package can't
 * see it (a transformation), or by an earlier version: to fail would leave what was replaced in the state for ever.
 * @throws AdvertisingError it was not deleted, or nobody knows: it may be asked again.
 */
export async function deleteLive(kind: Kind, runtime: Runtime, id: string, properties: Properties): Promise<void> {
  if (!isReadableId(id)) return; // unresolved: nobody knows what there is to delete
  const name = properties[kind.nameProperty];
  const isNamed = typeof name === "string" && unresolvedMarkOf(properties) === undefined;
  const label = `the ${kind.name}${isNamed ? ` named "${printable(name)}"` : ""} with the id ${id}`;
  const recorded = properties[ACCOUNT];
  const operation = knownOperations(kind, runtime.reading.settings).delete;
  // An id of another account would be somebody else's object.
  expectSameAccount(recorded, runtime.account, label);
  if (operation !== undefined && typeof recorded === "string") {
    await runtime.track(async (mayBegin) => {
      mayBegin();
      return runtime.client().records.delete({ kind, operation, id, label: `${kind.name} ${id}` });
    });
    return;
  }
  const why =
    operation === undefined
      ? "The platform has no known way to delete"
      : "The state does not say at which account it was created";
  runtime.say(`${why}, so ${label} left the state and ${kind.afterlife}; deactivate it there by hand.`);
}
