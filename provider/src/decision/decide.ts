/**
 * Decides what becomes of one object, a single resource's or an event of a set. {@link decide} turns facts into an action.
 * {@link isDeleted} says whether an object is deleted when it leaves the state or its set (a set deletes last, and only if everything else
 * succeeded: `provider/set-run.ts`). {@link visibleFromMs} says from when on it proves something not to find an object. The engine's calls,
 * the words of a preview, the comment on a pull request and `pending` all ask here, so that what is said is what is done. Pure.
 */
import type { Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { knownOperations, type Operations } from "../settings/index.js";
import { type CreateRecord, type Removal, UNKNOWN } from "../state/index.js";
import { ANY, type Changes, matchesCreate, sentOtherwise } from "./changes.js";
import type { Adopted, Holders } from "./holders.js";

export interface Abilities {
  /** An object can be read, for refreshes, `.get` and adoptions. */
  readonly read: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /**
   * Whether a create can be looked for by its mark. @param field the request field that its mark was sent in: a search finds it only
   * if the settings still name the same field.
   */
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

/** The installation, Pulumi's options and other holders, as they are for all objects of a resource. */
export interface Circumstances {
  readonly can: Abilities;
  /** Pulumi's option `replaceOnChanges`: for a single resource the arguments' names, for a set paths such as `events`. */
  readonly replaceOnChanges: readonly string[];
  /** Whether this object is to be deleted when it leaves the state, as {@link deletesUnlessHeld} decides. */
  deletes(id: string, key: string): boolean;
  /**
   * Whether a resource whose `existingId` is not known yet may adopt such an object, so that it is only perhaps deleted, or left
   * unmanaged.
   */
  readonly mayBeAdopted?: boolean;
  /**
   * The arguments of an object's updates that were sent, and that the state does not have: it may have other values than the state.
   * @param fingerprint of the body that the state has. @default none
   */
  unsure?(id: string, fingerprint: () => string): readonly string[];
  /** Who adopts the object of an unresolved create whose key its set no longer declares, if that is known. @default none */
  adopted?(key: string, record: CreateRecord): Adopted | undefined;
}

/**
 * An object is to be deleted if that was asked for and no other resource has it.
 * @param isAsked `retainOnDelete` is off, and the objects are known to be this account's.
 * @param by turns its key in the set into the key under which `holders` knows the member that gives the object up.
 */
export function deletesUnlessHeld(
  kind: Kind,
  holders: Holders,
  isAsked: boolean,
  by: (key: string) => string,
): Circumstances["deletes"] {
  return (id, key) => isAsked && !holders.goesOn(kind.name, id, by(key));
}

/** Whether an object is deleted when it leaves the state. This is asked before anything is said, and again before it is done. @param key in its set. */
export function isDeleted(
  { can, deletes }: Pick<Circumstances, "can" | "deletes">,
  id: string | undefined,
  key = "",
): boolean {
  return id !== undefined && can.delete && deletes(id, key);
}

/** What becomes of an object that is no longer declared, as far as that is known before the run has seen all adoptions. */
export function removalOf(
  { mayBeAdopted, ...circumstances }: Pick<Circumstances, "can" | "deletes" | "mayBeAdopted">,
  id: string,
): Removal {
  const isPerhaps = mayBeAdopted === true;
  if (isDeleted(circumstances, id)) return isPerhaps ? "is perhaps deleted" : "is deleted";
  return isPerhaps ? "is perhaps left live" : "stays live";
}

export interface Situation {
  readonly kind: Kind;
  /** The platform's id in the state. */
  readonly held?: string | undefined;
  /** It was adopted, and not created for this resource. @default false */
  readonly wasAdopted?: boolean;
  /** A create of it that was sent, with an unknown outcome. */
  readonly unresolved?: CreateRecord | undefined;
  /**
   * Absent if the program no longer declares the object. `adopts`: the id that `existingId` names, or the engine's text for unknown
   * values if it is not known yet.
   */
  readonly wanted?: { readonly adopts?: string | undefined; readonly values: Values } | undefined;
  readonly changed: Changes;
  /** The arguments whose change asks for another object, by Pulumi's option `replaceOnChanges`; `*` for all of them. */
  readonly replaceOn: readonly string[];
  readonly deletes: boolean;
  /** As {@link Circumstances.mayBeAdopted}. */
  readonly mayBeAdopted?: boolean | undefined;
  /** As {@link Circumstances.adopted}, of `unresolved`. */
  readonly adopted?: Adopted | undefined;
  readonly can: Abilities;
}

export type Action =
  /** `record`: an earlier create of unknown outcome, whose object another resource of the program adopts. It is kept until that has it. */
  | { readonly do: "keep"; readonly record?: CreateRecord }
  | { readonly do: "create" }
  /** Another object is created. `perhaps`: only where values that are not known yet turn out to be others. */
  | { readonly do: "replace"; readonly perhaps: boolean }
  | { readonly do: "update"; readonly changed: readonly string[] }
  /**
   * Somebody has named the object: nothing is created. No id where it is not known yet. `unlike`: the arguments that the state has
   * otherwise, and that nothing can change: it is refused, unless somebody has changed the object itself by then.
   */
  | { readonly do: "adopt"; readonly id: string | undefined; readonly unlike?: readonly string[] }
  /** An earlier create has an unknown outcome, and is looked for on the platform. */
  | { readonly do: "look for"; readonly record: CreateRecord }
  /**
   * An earlier create has an unknown outcome: nothing is done before somebody settles that. `adopts`: the object that the program names,
   * which is not the one that this create made; `sent`: what it was sent with, by argument, as far as the program now has something else.
   */
  | { readonly do: "wait"; readonly record: CreateRecord; readonly adopts?: string; readonly sent?: Values }
  /** The object leaves the state and stays live. */
  | { readonly do: "let go" }
  /** As `let go`, and the object is deleted. */
  | { readonly do: "delete" };

/**
 * An action as messages name it, which may say more than the action: that it may not be needed, or will fail. "move": the object
 * leaves the state here, and another resource has it afterwards.
 */
export type ShownAction =
  | Action["do"]
  | "perhaps replace"
  | "perhaps delete"
  | "perhaps leave live"
  | "move"
  | "refuse";

/** @param former the object that it removes from the state. */
export function shownAction(action: Action, former?: Former): ShownAction {
  if (action.do === "replace" && action.perhaps) return "perhaps replace";
  const isPerhaps = former?.mayBeAdopted === true;
  if (isPerhaps && action.do === "delete") return "perhaps delete";
  if (isPerhaps && action.do === "let go") return "perhaps leave live";
  return action.do === "adopt" && action.unlike !== undefined ? "refuse" : action.do;
}

export function decide(facts: Situation): Action {
  const { held, unresolved, wanted, changed, can } = facts;
  if (wanted === undefined) {
    const { adopted } = facts;
    if (unresolved !== undefined && adopted === undefined) return { do: "wait", record: unresolved };
    if (unresolved !== undefined && adopted?.isHeld === false)
      return { do: "keep", record: { ...unresolved, adoptedAs: adopted.id } };
    return held !== undefined && facts.deletes ? { do: "delete" } : { do: "let go" };
  }
  const { adopts } = wanted;
  const isUnknown = adopts === UNKNOWN;
  if (adopts !== undefined && !isUnknown) return whereNamed(facts, adopts);
  if (unresolved !== undefined) {
    if (isUnknown) return { do: "adopt", id: undefined };
    return can.search(unresolved.field) ? { do: "look for", record: unresolved } : { do: "wait", record: unresolved };
  }
  if (held === undefined) return { do: "create" };
  if (changed.names.length === 0 && !isUnknown) return { do: "keep" };
  if (!isUnknown && canUpdate(facts)) return { do: "update", changed: changed.names };
  return { do: "replace", perhaps: changed.perhaps || changed.names.length === 0 };
}

function whereNamed(facts: Situation, adopts: string): Action {
  const { kind, held, unresolved, wanted, changed, can } = facts;
  if (unresolved !== undefined) {
    const values = wanted?.values ?? {};
    const isItsObject = matchesCreate(kind, adopts, values, { ...unresolved, kind: kind.name });
    if (isItsObject) return { do: "adopt", id: adopts };
    return { do: "wait", record: unresolved, adopts, sent: sentOtherwise(kind, values, unresolved) };
  }
  if (adopts !== held) return { do: "adopt", id: adopts };
  if (changed.names.length === 0) return { do: "keep" };
  if (canUpdate(facts)) return { do: "update", changed: changed.names };
  if (changed.perhaps) return { do: "keep" };
  // The same object with arguments that were changed by hand: if it can be read, it must have the program's arguments.
  const unlike = can.read ? changed.names.filter((name) => !can.update || name in kind.refersTo) : [];
  return { do: "adopt", id: adopts, ...(unlike.length === 0 ? {} : { unlike }) };
}

/** Whether an update can make it what is declared: another owner means another object, and an argument without a known name can't be set. */
function canUpdate({
  kind,
  can,
  changed,
  replaceOn,
}: Pick<Situation, "kind" | "can" | "changed" | "replaceOn">): boolean {
  const needsAnother = (name: string) => name === ANY || name in kind.refersTo || replaceOn.includes(name);
  return can.update && !replaceOn.includes(ANY) && !changed.names.some(needsAnother);
}

/** An object that leaves the state. */
export interface Former {
  readonly id: string;
  /** It is deleted; otherwise it stays live, with nothing to manage it. */
  readonly isDeleted: boolean;
  /** A resource whose `existingId` is not known yet may adopt it: then it is not deleted, and stays managed. */
  readonly mayBeAdopted?: boolean;
  /** It was adopted without a known read, so it may never have existed. */
  readonly isUnread?: boolean;
}

/**
 * The object that leaves the state when an action is carried out, for messages and `Holders`. `objectsToDelete` lists what a set deletes.
 * @returns none if the state keeps its object, or has none.
 */
export function formerOf(
  {
    held,
    wasAdopted = false,
    deletes,
    mayBeAdopted = false,
    can,
  }: Pick<Situation, "held" | "wasAdopted" | "deletes" | "mayBeAdopted" | "can">,
  action: Action,
): Former | undefined {
  if (held === undefined || !letsGo(action, held)) return undefined;
  const isUnread = wasAdopted && !can.read;
  const isDeleted = action.do !== "let go" && deletes;
  return {
    id: held,
    isDeleted,
    ...(mayBeAdopted ? { mayBeAdopted } : {}),
    ...(isUnread ? { isUnread } : {}),
  };
}

function letsGo(action: Action, held: string): boolean {
  switch (action.do) {
    case "replace":
    case "let go":
    case "delete":
      return true;
    case "adopt":
      return action.id !== held;
    default:
      return false;
  }
}

/** When an object was created, as far as the state knows. */
export interface Created {
  /** The latest possible moment, ISO 8601. */
  readonly at: string;
  /** True if `at` is when its create was sent; the answer came within a request's time limit. */
  readonly isSent?: boolean;
  /** True if `at` is that of its set's last create, perhaps of another object. */
  readonly isOfSet?: boolean;
}

/** An object whose absence proves nothing yet. */
export interface Unproven {
  readonly created: Created;
  /** ISO 8601. */
  readonly until: string;
}

/**
 * From when on it proves something not to find an object. An installation's reads and searches may lag behind its creates: until then a new
 * object is answered like one that is gone, and a create that was carried out like one that was not. This one rule holds for refreshes,
 * updates, deletes and searches.
 * @param createdMs the latest moment of its create. @returns milliseconds since 1970.
 */
export function visibleFromMs(
  createdMs: number,
  { operations }: { readonly operations: Operations | undefined },
): number {
  return createdMs + (operations?.createdVisibleAfterSeconds ?? 0) * 1000;
}
