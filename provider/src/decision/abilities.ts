/**
 * What an installation can do with objects of one kind besides creating them, from its settings. Everything that decides what
 * becomes of an object asks this, in the provider, in the comment on a preview and in `pending`.
 */
import type { Kind } from "../kinds/index.js";
import { knownOperations, type Operations } from "../settings/index.js";

export interface Abilities {
  /** An object can be read, for refreshes, `.get` and adoptions. */
  readonly read: boolean;
  /** An object can be changed in place. */
  readonly update: boolean;
  readonly delete: boolean;
  /**
   * A create can be looked for by its mark. @param field the request field that its mark was sent in: a search finds it only
   * where the settings still name the same field.
   */
  search(field: string | undefined): boolean;
}

/** Only the documented operations: nothing but creating. */
export const NO_ABILITIES: Abilities = { read: false, update: false, delete: false, search: () => false };

/** @param settings those of the installation, or just these two of them. */
export function abilitiesOf(
  kind: Kind,
  settings: { readonly operations: Operations | undefined; readonly traceField: string | undefined },
): Abilities {
  const known = knownOperations(kind, settings);
  return {
    read: known.read !== undefined,
    update: known.update !== undefined,
    delete: known.delete !== undefined,
    search: (field) => known.search !== undefined && field !== undefined && field === settings.traceField,
  };
}
