/**
 * Decides what becomes of one object, a single resource's or an event of a set, from facts. The engine's calls, the words of a preview and the
 * comment on a pull request all ask here, so that what is said is what is done. Pure.
 */
import { printable, type Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { knownOperations, type Operations } from "../settings/index.js";
import { UNKNOWN, type Unresolved } from "../state/index.js";
import { ANY, type Changes, sentOtherwise } from "./compare.js";

export interface Abilities {
  /** An object can be read, for refreshes, `.get`, adoptions and take-overs. */
  readonly read: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /** Whether a create can be looked for by its mark. @param field the request field that its mark was sent in. */
  search(field: string | undefined): boolean;
}

/** Only the documented operations: nothing but creating. */
export const NO_ABILITIES: Abilities = { read: false, update: false, delete: false, search: () => false };

/** @param settings those of the installation, or only these two of them. */
export function abilitiesOf(
  kind: Kind,
  settings: { readonly operations: Operations | undefined; readonly markField: string | undefined },
): Abilities {
  const known = knownOperations(kind, settings);
  return {
    read: known.read !== undefined,
    update: known.update !== undefined,
    delete: known.delete !== undefined,
    search: (field) => known.search !== undefined && field !== undefined && field === settings.markField,
  };
}

export interface Facts {
  readonly kind: Kind;
  /** The platform's id in the state. */
  readonly held?: string | undefined;
  /** A create of it in the state, with an unknown outcome. */
  readonly unresolved?: Unresolved | undefined;
  /** Absent if the program no longer declares the object. `adopts`: what `existingId` names, perhaps the text for unknown values. */
  readonly wanted?: { readonly adopts?: string | undefined; readonly values: Values } | undefined;
  readonly changed: Changes;
  readonly can: Abilities;
  /** Whether its object is deleted when it leaves the state. */
  readonly deletes: boolean;
}

export type Action =
  | { readonly do: "keep" }
  | { readonly do: "create" }
  /** Another object is created. `perhaps`: only where values that are not known yet turn out to be others. */
  | { readonly do: "replace"; readonly perhaps: boolean }
  | { readonly do: "update"; readonly changed: readonly string[] }
  /** The program names the object: nothing is created. No id where it is not known yet. */
  | { readonly do: "adopt"; readonly id: string | undefined }
  /** The program names the object that the state has, and it can't be updated: the state alone takes the new arguments. */
  | { readonly do: "record" }
  /** An earlier create has an unknown outcome, and is looked for on the platform. */
  | { readonly do: "look for"; readonly record: Unresolved }
  /** Nothing is done before somebody settles that create. `why`: the program names an object that it did not make. */
  | { readonly do: "wait"; readonly record: Unresolved; readonly why?: string }
  /** The object leaves the state and stays live. */
  | { readonly do: "let go" }
  | { readonly do: "delete" };

/** An action as messages name it. */
export type ShownAction = Action["do"] | "perhaps replace";

export function shownAction(action: Action): ShownAction {
  return action.do === "replace" && action.perhaps ? "perhaps replace" : action.do;
}

export function decide(facts: Facts): Action {
  const { kind, held, unresolved, wanted, changed, can, deletes } = facts;
  if (wanted === undefined) {
    if (unresolved !== undefined) return { do: "wait", record: unresolved };
    return held !== undefined && deletes ? { do: "delete" } : { do: "let go" };
  }
  const { adopts, values } = wanted;
  if (adopts === UNKNOWN) {
    if (unresolved !== undefined) return { do: "adopt", id: undefined };
    return held === undefined ? { do: "create" } : { do: "replace", perhaps: true };
  }
  if (unresolved !== undefined) {
    if (adopts === undefined)
      return can.search(unresolved.field) ? { do: "look for", record: unresolved } : { do: "wait", record: unresolved };
    const why = whyNotSettled(kind, adopts, values, unresolved);
    return why === undefined ? { do: "adopt", id: adopts } : { do: "wait", record: unresolved, why };
  }
  if (adopts !== undefined && adopts !== held) return { do: "adopt", id: adopts };
  if (held === undefined) return { do: "create" };
  if (changed.names.length === 0) return { do: "keep" };
  if (canUpdate(facts)) return { do: "update", changed: changed.names };
  if (adopts !== undefined) return { do: changed.perhaps ? "keep" : "record" };
  return { do: "replace", perhaps: changed.perhaps };
}

/** In words, why the object that the program names is not what a create made: a fact of that contradicts it. @param values the object's. */
export function whyNotSettled(kind: Kind, adopts: string, values: Values, sent: Unresolved): string | undefined {
  const otherwise = sentOtherwise(kind, values, sent);
  const told = Object.entries(otherwise).map(([name, value]) => `${name} ${printable(JSON.stringify(value))}`);
  const isReplaced = adopts === sent.replaces;
  if (!isReplaced && told.length === 0) return undefined;
  const why = isReplaced ? `${adopts} is the object that it was to replace` : `it was sent with ${told.join(", ")}`;
  return `existingId: ${adopts} does not settle this create: ${why}. Nothing is adopted until you settle it.`;
}

/** Another owner means another object, and a change that has no name can't be told from one. */
function canUpdate({ kind, can, changed }: Facts): boolean {
  return can.update && !changed.names.some((name) => name === ANY || name in kind.refersTo);
}

/** An object that leaves the state. */
export interface Former {
  readonly id: string;
  /** Otherwise it stays live. */
  readonly isDeleted: boolean;
}

/** The object that leaves the state if an action is carried out. @returns none if the state keeps its object, or has none. */
export function formerOf({ held, deletes }: Pick<Facts, "held" | "deletes">, action: Action): Former | undefined {
  if (held === undefined) return undefined;
  const leaves = ["replace", "let go", "delete"].includes(action.do) || (action.do === "adopt" && action.id !== held);
  if (!leaves) return undefined;
  return { id: held, isDeleted: deletes };
}

/**
 * From when on it proves something not to find an object. An installation's reads and searches may lag behind its creates: until then a new object is
 * answered like one that is gone, and a create that was carried out like one that was not.
 * @param createdMs the latest moment of its create. @returns milliseconds since 1970.
 */
export function visibleFromMs(
  createdMs: number,
  { operations }: { readonly operations: Operations | undefined },
): number {
  return createdMs + (operations?.createdVisibleAfterSeconds ?? 0) * 1000;
}
