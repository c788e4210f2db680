/**
 * The objects of a resource, one of a single resource or many of a set, each with what becomes of it, decided from
 * facts. The engine's calls, the words of a preview, the comment on a pull request and `pending` all ask here, so that
 * what is said is what is done. At the end, what differs between two descriptions of one object of any shape. Pure.
 */
import { asRecord, excerpt, hasValue, isPlain, isSameValue, own, printable, type Values } from "../base/index.js";
import { fingerprintOfBody, type Kind, ownerIn, WINDOWS } from "../kinds/index.js";
import { isPlatformId, withUnit } from "../rules/index.js";
import { knownOperations, type Settings } from "../settings/index.js";
import {
  type CreateRecord,
  type DeclaredSet,
  eventIn,
  SENT_AS,
  type SentAs,
  type StoredSet,
  sentAsIn,
  UNKNOWN,
  type Unresolved,
  unresolvedIn,
  withNewKeys,
} from "../state/index.js";

export type Abilities = ReturnType<typeof abilitiesOf>;

/** Only the documented operations: nothing but creating. */
export const NO_ABILITIES: Abilities = { read: false, update: false, delete: false, search: () => false };

export function abilitiesOf(kind: Kind, settings: Pick<Settings, "operations" | "markField">) {
  const known = knownOperations(kind, settings);
  return {
    read: known.read !== undefined,
    update: known.update !== undefined,
    delete: known.delete !== undefined,
    /** Whether a create can be looked for by its mark. @param field the request field that its mark was sent in. */
    search: (field: string | undefined) =>
      known.search !== undefined && field !== undefined && field === settings.markField,
  };
}

export type Action =
  | { readonly do: "same" }
  | { readonly do: "create" }
  /** Another object is created. `perhaps`: only where values that are not known yet turn out to be others. */
  | { readonly do: "replace"; readonly perhaps: boolean }
  | { readonly do: "update"; readonly changed: readonly string[] }
  /** The program names the object: nothing is created. No id where it is not known yet. */
  | { readonly do: "adopt"; readonly id: string | undefined }
  /** The program names the state's object, and it can't be updated: the state alone takes the new arguments. */
  | { readonly do: "update state only" }
  /** An earlier create has an unknown outcome, and is looked for on the platform. */
  | { readonly do: "recover"; readonly record: Unresolved }
  /** Nothing is done before somebody resolves that create. `why`: the program names an object that it did not make. */
  | { readonly do: "blocked"; readonly record: Unresolved; readonly why?: string }
  /** The object leaves the state and stays live. */
  | { readonly do: "retain" }
  | { readonly do: "delete" };

/** `rename`: the object stays as it is, under another key of its set. */
export type ShownAction = Action["do"] | "perhaps replace" | "rename";

export function shownAction({ action, formerKey }: Pick<PlannedObject, "action" | "formerKey">): ShownAction {
  if (action.do === "same" && formerKey !== undefined) return "rename";
  return action.do === "replace" && action.perhaps ? "perhaps replace" : action.do;
}

export interface Circumstances {
  readonly can: Abilities;
  /** Whether an object is deleted when it leaves the state. */
  deletes(id: string): boolean;
  /** What a preview's step says that happens, in place of what is decided here. */
  instead?(action: Action, changed: readonly string[]): Action;
}

const PLAIN: Circumstances = { can: NO_ABILITIES, deletes: () => false };

export interface PlannedObject {
  /** In its set; empty for a single resource. */
  readonly key: string;
  /** The key under which the state has it, if the program gives it another one now. */
  readonly formerKey?: string | undefined;
  readonly action: Action;
  readonly changed: readonly string[];
  readonly id: string | undefined;
  readonly isDeclared: boolean;
  readonly olds: Values;
  /** As declared, and with what its set shares; empty if it is not declared. */
  readonly entry: Values;
  readonly values: Values;
  /** A create of it in the state, with an unknown outcome. */
  readonly unresolved: Unresolved | undefined;
  /** The object that leaves the state, and stays live unless it is deleted. */
  readonly former: { readonly id: string; readonly isDeleted: boolean } | undefined;
}

type StoredObject = Pick<PlannedObject, "key" | "formerKey" | "id" | "olds" | "values" | "unresolved">;

/** @param id none for a new resource. @param olds its outputs in the state. @param news none if no longer declared. */
export function plannedSingle(
  kind: Kind,
  id: string | undefined,
  olds: Values,
  news: Values | undefined,
  circumstances: Circumstances = PLAIN,
): PlannedObject {
  const values = news ?? {};
  const object = { key: "", id: isPlatformId(id) ? id : undefined, olds, values, unresolved: unresolvedIn(olds) };
  return plannedObject(kind, circumstances, object, news, () =>
    changesSince(kind, sentAsIn(olds[SENT_AS]), () => changesIn(kind, olds, values), values),
  );
}

export function plannedMembers(
  kind: Kind,
  before: StoredSet,
  declared: DeclaredSet,
  circumstances: Circumstances = PLAIN,
): PlannedObject[] {
  const { set: stored, moved } = withNewKeys(before, declared);
  const changesOf = (olds: Values, values: Values, given: unknown): Changes => {
    const isKnown = given !== UNKNOWN && declared.events !== undefined && declared.defaults !== UNKNOWN;
    if (isKnown) return changesIn(kind, olds, values);
    const hasSameOwner = isSameValue(ownerIn(kind, olds), ownerIn(kind, values));
    const names = argumentNames(kind).filter((name) => name !== kind.owner || !hasSameOwner);
    return { names, perhaps: true };
  };
  const memberAt = (key: string, given: unknown, isDeclared: boolean): PlannedObject => {
    const entry = isDeclared ? asRecord(given) : undefined;
    const values = entry === undefined ? {} : eventIn(declared, entry);
    const olds = eventIn(stored, stored.events.get(key) ?? {});
    const formerKey = moved.get(key);
    const id = stored.eventIds.get(key);
    const object = { key, formerKey, id, olds, values, unresolved: stored.unresolved.get(key) };
    return plannedObject(kind, circumstances, object, entry, () =>
      changesSince(kind, stored.sentAs.get(key), () => changesOf(olds, values, given), values),
    );
  };
  const entries = declared.events ?? stored.events;
  const others = new Set([...stored.eventIds.keys(), ...stored.unresolved.keys()].filter((key) => !entries.has(key)));
  return [
    ...[...entries].map(([key, given]) => memberAt(key, given, true)),
    ...[...others].map((key) => memberAt(key, undefined, false)),
  ];
}

/** @param entry none if it is not declared. @param changes not called without an object in the state. */
function plannedObject(
  kind: Kind,
  { can, deletes, instead = (action) => action }: Circumstances,
  object: StoredObject,
  entry: Values | undefined,
  changes: () => Changes,
): PlannedObject {
  const { id: held } = object;
  const isDeclared = entry !== undefined;
  const isToDelete = held !== undefined && can.delete && deletes(held);
  const changed = held === undefined || !isDeclared ? NO_CHANGES : changes();
  const decided = isDeclared ? decide(kind, can, object, adoptedBy(entry), changed) : whenRemoved(object, isToDelete);
  const action = instead(decided, changed.names);
  const leaves = ["replace", "retain", "delete"].includes(action.do) || (action.do === "adopt" && action.id !== held);
  const former = held !== undefined && leaves ? { id: held, isDeleted: isToDelete } : undefined;
  return { ...object, action, changed: changed.names, isDeclared, entry: entry ?? {}, former };
}

/** If the state's arguments do not describe an object, only its body and perhaps owner are known: all may differ. */
function changesSince(kind: Kind, sentAs: SentAs | undefined, described: () => Changes, values: Values): Changes {
  if (sentAs === undefined) return described();
  const perhaps = holdsUnknown(values);
  if (!perhaps && fingerprintOfBody(kind, values) === sentAs.body) return NO_CHANGES;
  const isSameOwner = kind.owner === undefined || String(ownerIn(kind, values)) === sentAs.owner;
  if (perhaps || !isSameOwner) return { names: [ANY], perhaps };
  return { names: argumentNames(kind).filter((name) => name !== kind.owner), perhaps };
}

function whenRemoved({ unresolved }: StoredObject, isToDelete: boolean): Action {
  if (unresolved !== undefined) return { do: "blocked", record: unresolved };
  return { do: isToDelete ? "delete" : "retain" };
}

/** What becomes of a declared object. @param adopts what `existingId` names, perhaps the text for unknown values. */
function decide(
  kind: Kind,
  can: Abilities,
  { id: held, unresolved, values }: StoredObject,
  adopts: string | undefined,
  changed: Changes,
): Action {
  if (adopts === UNKNOWN) {
    if (unresolved !== undefined) return { do: "adopt", id: undefined };
    return held === undefined ? { do: "create" } : { do: "replace", perhaps: true };
  }
  if (unresolved !== undefined) {
    if (adopts === undefined)
      return can.search(unresolved.field)
        ? { do: "recover", record: unresolved }
        : { do: "blocked", record: unresolved };
    const why = resolutionConflict(kind, adopts, values, unresolved);
    return why === undefined ? { do: "adopt", id: adopts } : { do: "blocked", record: unresolved, why };
  }
  if (adopts !== undefined && adopts !== held) return { do: "adopt", id: adopts };
  if (held === undefined) return { do: "create" };
  if (changed.names.length === 0) return { do: "same" };
  // Another owner means another object, and a change that has no name can't be told from one.
  const isOther = changed.names.some((name) => name === ANY || name === kind.owner);
  if (can.update && !isOther) return { do: "update", changed: changed.names };
  if (adopts !== undefined) return { do: "update state only" };
  return { do: "replace", perhaps: changed.perhaps };
}

/** Why the object named in the program is not what a create made: a fact contradicts it. @param values the object's. */
export function resolutionConflict(kind: Kind, adopts: string, values: Values, sent: Unresolved): string | undefined {
  const otherwise = sentOtherwise(kind, values, sent);
  const told = Object.entries(otherwise).map(([name, value]) => `${name} ${printable(JSON.stringify(value))}`);
  const isReplaced = adopts === sent.replaces;
  if (!isReplaced && told.length === 0) return undefined;
  const why = isReplaced ? `${adopts} is the object that it was to replace` : `it was sent with ${told.join(", ")}`;
  return `existingId: ${adopts} does not resolve this create: ${why}. Nothing is adopted until you resolve it.`;
}

/**
 * From when on not finding an object proves something. An installation's reads and searches may lag behind its creates:
 * until then a new object is answered like one that is gone, and a create that was carried out as if it were not.
 * @param createdMs the latest moment of its create. @returns milliseconds since 1970.
 */
export function visibleFromMs(createdMs: number, { operations }: Pick<Settings, "operations">): number {
  return createdMs + (operations?.createdVisibleAfterSeconds ?? 0) * 1000;
}

export interface Changes {
  /** The names of the arguments that differ; {@link ANY} if only the fingerprint of the earlier body is known. */
  readonly names: readonly string[];
  /** True if each of them differs only because its value is not known yet. */
  readonly perhaps: boolean;
}

/** Used instead of a name if it is not known which argument differs. */
export const ANY = "*";

const NO_CHANGES: Changes = { names: [], perhaps: false };

function argumentNames(kind: Kind): string[] {
  return [...Object.keys(kind.wireNames), "additionalFields"];
}

/** @param olds may be of another version, or old inputs (`refresh --run-program`). @param news unknown is a change. */
export function changesIn(kind: Kind, olds: unknown, news: unknown): Changes {
  const names = argumentNames(kind).filter((name) => !isSameArgument(name, own(olds, name), own(news, name)));
  return { names, perhaps: names.length > 0 && names.every((name) => holdsUnknown(own(news, name))) };
}

const MAX_SHOWN = 60;

/**
 * How arguments change: `value 98 → 26`, `segmentId none → 4`. @param names that differ. @param secret not to be shown.
 */
export function changeMessages(
  names: readonly string[],
  olds: Values,
  news: Values,
  secret: ReadonlySet<string>,
  hidden = "(secret)",
): string[] {
  const shown = (name: string, value: unknown) => {
    if (value === UNKNOWN) return "not known yet";
    if (WINDOWS.includes(name) && typeof value === "number") return withUnit(value);
    return hasValue(value) ? excerpt(printable(JSON.stringify(value)), MAX_SHOWN) : "none";
  };
  return names.map((name) => {
    if (name === ANY) return "it was created with other arguments";
    return `${name} ${secret.has(name) ? hidden : `${shown(name, olds[name])} → ${shown(name, news[name])}`}`;
  });
}

function isSameArgument(name: string, old: unknown, now: unknown): boolean {
  // Without any additional field there may be an empty object.
  const none = name === "additionalFields" ? {} : undefined;
  return isSameValue(old ?? none, now ?? none);
}

/** Whether `value` is or contains the engine's text for a value that is not known yet. */
export function holdsUnknown(value: unknown): boolean {
  if (value === UNKNOWN) return true;
  return typeof value === "object" && value !== null && Object.values(value).some(holdsUnknown);
}

/** What a create was sent with, by argument, where these values contradict it. What is not plain is not known yet. */
export function sentOtherwise(kind: Kind, values: Values, sent: Pick<CreateRecord, "name" | "facts">): Values {
  const differs = (property: string, then: unknown) => {
    const now = values[property];
    return isPlain(now) && now !== UNKNOWN && isPlain(then) && !isSameValue(now, then);
  };
  const all = Object.entries({ [kind.nameProperty]: sent.name, ...sent.facts });
  return Object.fromEntries(all.filter(([property, then]) => differs(property, then)));
}

/** The id that `existingId` names, or the engine's text for unknown values if it is not known yet. */
export function adoptedBy(values: unknown): string | undefined {
  const existingId = own(values, "existingId");
  return hasValue(existingId) ? String(existingId) : undefined;
}
