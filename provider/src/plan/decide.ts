/**
 * The objects of a resource, one of a single resource or many of a set, each with what becomes of it, decided from
 * facts. The engine's calls, the words of a preview, the comment on a pull request and `pending` all ask here, so that
 * what is said is what is done. At the end, what differs between two descriptions of one object of any shape. Pure.
 */
import {
  asRecord,
  excerpt,
  hasValue,
  isPlain,
  isSameValue,
  own,
  printable,
  type Values,
} from "../base/index.js";
import { fingerprintOfBody, type Kind, ownerIn, WINDOWS } from "../kinds/index.js";
import { withUnit } from "../rules/index.js";
import { knownOperations, type Settings } from "../settings/index.js";
import {
  type CreateRecord,
  completeArguments,
  type DeclaredSet,
  type SentAs,
  type StoredSet,
  UNKNOWN,
  type Unresolved,
  withFormerKeysApplied,
} from "../state/index.js";

/** Which operations an installation is known to have for a kind, beside create. */
export interface Abilities {
  readonly read: boolean;
  readonly update: boolean;
  readonly delete: boolean;
  /** Whether a create can be looked for by its mark. @param field the request field that its mark was sent in. */
  search(field: string | undefined): boolean;
}

/** Only the documented operations: nothing but creating. */
export const NO_ABILITIES: Abilities = {
  read: false,
  update: false,
  delete: false,
  search: () => false,
};

export function abilitiesOf(
  kind: Kind,
  settings: Pick<Settings, "operations" | "markField">,
): Abilities {
  const known = knownOperations(kind, settings);
  return {
    read: known.read !== undefined,
    update: known.update !== undefined,
    delete: known.delete !== undefined,
    search: (field) =>
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

export function shownAction({
  action,
  formerKey,
}: Pick<PlannedObject, "action" | "formerKey">): ShownAction {
  if (action.do === "same" && formerKey !== undefined) return "rename";
  if (action.do === "replace" && action.perhaps) return "perhaps replace";
  return action.do;
}

export interface Circumstances {
  readonly can: Abilities;
  /** Whether an object is deleted when it leaves the state. */
  deletes(id: string): boolean;
  /** Replaces the decided action by the one in the engine's plan. */
  override?(action: Action, changed: readonly string[]): Action;
}

const NO_CIRCUMSTANCES: Circumstances = { can: NO_ABILITIES, deletes: () => false };

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

type StoredObject = Pick<
  PlannedObject,
  "key" | "formerKey" | "id" | "olds" | "values" | "unresolved"
>;

/** @param before what the state has of a resource. @param declared what the program says of it now. */
export function plannedObjects(
  kind: Kind,
  before: StoredSet,
  declared: DeclaredSet,
  circumstances: Circumstances = NO_CIRCUMSTANCES,
): PlannedObject[] {
  const { set: stored, moved } = withFormerKeysApplied(before, declared);
  const entries = declared.events ?? stored.events;
  const keys = new Set([
    ...entries.keys(),
    ...stored.eventIds.keys(),
    ...stored.unresolved.keys(),
  ]);
  return [...keys].map((key) => {
    const isDeclared = entries.has(key);
    const given = entries.get(key);
    const entry = asRecord(given);
    const object: StoredObject = {
      key,
      formerKey: moved.get(key),
      id: stored.eventIds.get(key),
      olds: completeArguments(stored, stored.events.get(key) ?? {}),
      values: completeArguments(declared, entry),
      unresolved: stored.unresolved.get(key),
    };
    if (!isDeclared) return plannedRemoval({ ...object, values: {} }, circumstances);
    const isKnown =
      given !== UNKNOWN && declared.events !== undefined && declared.defaults !== UNKNOWN;
    const changes = () => changesOf(kind, object, stored.sentAs.get(key), isKnown);
    return plannedDeclared(kind, circumstances, { ...object, entry }, changes);
  });
}

function plannedRemoval(
  object: StoredObject,
  { can, deletes, override = asDecided }: Circumstances,
): PlannedObject {
  const { id, unresolved } = object;
  const isDeleted = id !== undefined && can.delete && deletes(id);
  const decided = removal(unresolved, isDeleted);
  const action = override(decided, []);
  const plan = { ...object, action, changed: [], isDeclared: false, entry: {} };
  const leaves = action.do === "retain" || action.do === "delete";
  if (id === undefined || !leaves) return { ...plan, former: undefined };
  return { ...plan, former: { id, isDeleted } };
}

function removal(unresolved: Unresolved | undefined, isDeleted: boolean): Action {
  if (unresolved !== undefined) return { do: "blocked", record: unresolved };
  return { do: isDeleted ? "delete" : "retain" };
}

/** @param object with its entry as declared. @param changes not called without an object in the state. */
function plannedDeclared(
  kind: Kind,
  { can, deletes, override = asDecided }: Circumstances,
  object: StoredObject & Pick<PlannedObject, "entry">,
  changes: () => Changes,
): PlannedObject {
  const { id, entry } = object;
  const changed = id === undefined ? NO_CHANGES : changes();
  const decided = decide(kind, can, { ...object, adopts: adoptedBy(entry) }, changed);
  const action = override(decided, changed.names);
  const plan = { ...object, action, changed: changed.names, isDeclared: true };
  const leaves = action.do === "replace" || (action.do === "adopt" && action.id !== id);
  if (id === undefined || !leaves) return { ...plan, former: undefined };
  return { ...plan, former: { id, isDeleted: can.delete && deletes(id) } };
}

const asDecided = (action: Action): Action => action;

/** @param isKnown whether the program's values are known by now. */
function changesOf(
  kind: Kind,
  { olds, values }: StoredObject,
  sentAs: SentAs | undefined,
  isKnown: boolean,
): Changes {
  if (sentAs !== undefined) return changesSince(kind, sentAs, values);
  if (isKnown) return changesIn(kind, olds, values);
  const hasSameOwner = isSameValue(ownerIn(kind, olds), ownerIn(kind, values));
  return {
    names: argumentNames(kind).filter((name) => name !== kind.owner || !hasSameOwner),
    perhaps: true,
  };
}

/** If the state's arguments do not describe an object, only its body and perhaps owner are known: all may differ. */
function changesSince(kind: Kind, sentAs: SentAs, values: Values): Changes {
  const perhaps = holdsUnknown(values);
  if (!perhaps && fingerprintOfBody(kind, values) === sentAs.body) return NO_CHANGES;
  const isSameOwner =
    kind.owner === undefined || String(ownerIn(kind, values)) === sentAs.owner;
  if (!isSameOwner || perhaps) return { names: [ANY], perhaps };
  return { names: argumentNames(kind).filter((name) => name !== kind.owner), perhaps };
}

/** @param object `adopts`: what `existingId` names, perhaps the text for unknown values. */
function decide(
  kind: Kind,
  can: Abilities,
  {
    id: held,
    unresolved,
    values,
    adopts,
  }: StoredObject & { readonly adopts: string | undefined },
  changed: Changes,
): Action {
  if (unresolved !== undefined)
    return decideUnresolved(kind, can, { values, adopts }, unresolved);
  if (adopts === UNKNOWN) {
    if (held === undefined) return { do: "create" };
    return { do: "replace", perhaps: true };
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

/** An earlier create is open: nothing new is created before it is resolved. */
function decideUnresolved(
  kind: Kind,
  can: Abilities,
  { values, adopts }: { readonly values: Values; readonly adopts: string | undefined },
  record: Unresolved,
): Action {
  if (adopts === UNKNOWN) return { do: "adopt", id: undefined };
  if (adopts === undefined) {
    if (can.search(record.field)) return { do: "recover", record };
    return { do: "blocked", record };
  }
  const why = resolutionConflict(kind, adopts, values, record);
  if (why !== undefined) return { do: "blocked", record, why };
  return { do: "adopt", id: adopts };
}

/** Why the object named in the program is not what a create made: a fact contradicts it. @param values the object's. */
export function resolutionConflict(
  kind: Kind,
  adopts: string,
  values: Values,
  sent: Unresolved,
): string | undefined {
  const otherwise = contradictingArguments(kind, values, sent);
  const told = Object.entries(otherwise).map(
    ([name, value]) => `${name} ${printable(JSON.stringify(value))}`,
  );
  const message = (why: string) =>
    `existingId: ${adopts} does not resolve this create: ${why}. Nothing is adopted until you resolve it.`;
  if (adopts === sent.replaces)
    return message(`${adopts} is the object that it was to replace`);
  if (told.length > 0) return message(`it was sent with ${told.join(", ")}`);
  return undefined;
}

/**
 * From when on not finding an object proves something. An installation's reads and searches may lag behind its creates:
 * until then a new object is answered like one that is gone, and a create that was carried out as if it were not.
 * @param createdMs the latest moment of its create. @returns milliseconds since 1970.
 */
export function visibleFromMs(
  createdMs: number,
  { operations }: Pick<Settings, "operations">,
): number {
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
  const names = argumentNames(kind).filter(
    (name) => !isSameArgument(name, own(olds, name), own(news, name)),
  );
  return {
    names,
    perhaps: names.length > 0 && names.every((name) => holdsUnknown(own(news, name))),
  };
}

const MAX_SHOWN = 60;

/**
 * How arguments change: `value 98 → 26`, `segmentId none → 4`.
 * @param names that differ. @param secret whose values are hidden.
 */
export function changeMessages(
  names: readonly string[],
  olds: Values,
  news: Values,
  { secret }: { readonly secret: ReadonlySet<string> } = { secret: new Set() },
): string[] {
  const shown = (name: string, value: unknown) => {
    if (value === UNKNOWN) return "not known yet";
    if (WINDOWS.includes(name) && typeof value === "number") return withUnit(value);
    if (!hasValue(value)) return "none";
    return excerpt(printable(JSON.stringify(value)), MAX_SHOWN);
  };
  return names.map((name) => {
    if (name === ANY) return "it was created with other arguments";
    if (secret.has(name)) return `${name} (secret)`;
    return `${name} ${shown(name, olds[name])} → ${shown(name, news[name])}`;
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
export function contradictingArguments(
  kind: Kind,
  values: Values,
  sent: Pick<CreateRecord, "name" | "facts">,
): Values {
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
  if (!hasValue(existingId)) return undefined;
  return String(existingId);
}
