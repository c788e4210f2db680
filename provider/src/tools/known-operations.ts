/** What the installation is known to have besides the documented operations, as far as a preview's changes depend on it. */

import type { Kind } from "../kinds/index.js";
import { knownOperations, operationsSchema } from "../settings/index.js";

export interface Abilities {
  canUpdate(kind: Kind): boolean;
  canDelete(kind: Kind): boolean;
}

/** @param setting the setting `operations` as JSON; nothing where it is not set, or is none: then the preview says so itself. */
export function abilitiesIn(setting: string | undefined): Abilities {
  const operations = operationsSchema.safeParse(parsed(setting)).data;
  return {
    canUpdate: (kind) => knownOperations(kind, { operations }).update !== undefined,
    canDelete: (kind) => knownOperations(kind, { operations }).delete !== undefined,
  };
}

function parsed(setting: string | undefined): unknown {
  try {
    return setting === undefined ? undefined : JSON.parse(setting);
  } catch {
    return undefined;
  }
}
