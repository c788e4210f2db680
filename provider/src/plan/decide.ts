/**
 * Decides, from facts alone, the action for each object of a resource: one for a single resource, many for a set. The
 * engine's calls, a preview's messages, the comment on a pull request and `pending` all use these decisions, so that
 * they never differ. The functions at the end compare two descriptions of one object. Pure.
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
import {
  fingerprintOfBody,
  type Kind,
  type KnownOperations,
  type OptionalOperation,
  ownerIn,
  WINDOWS,
} from "../kinds/index.js";
import { withUnit } from "../rules/index.js";
import type { Settings } from "../settings/index.js";
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

/** The operations beside create that are known for a kind: like `KnownOperations`, but their names are enough. */
export type Abilities = Partial<Record<OptionalOperation, unknown>> &
  Pick<KnownOperations, "markField">;

/** Whether a create can be searched for by its mark. */
export function canSearch({ search, markField }: Abilities, { field }: CreateRecord) {
  return Boolean(search) && field !== undefined && field === markField;
}

type Action =
  | { do: "same" }
  | { do: "create" }
  /** Another object is created. `perhaps`: only if values that are not known yet turn out to differ. */
  | { do: "replace"; perhaps: boolean }
  | { do: "update" }
  /** The program names the object, so nothing is created. `id`: undefined if it is not known yet. */
  | { do: "adopt"; id: string | undefined }
  /** The program names the state's object, which can't be updated: only the state gets the new arguments. */
  | { do: "update state only" }
  /** An earlier create has an unknown outcome, and is searched for on the platform. `else`: if it wasn't carried out. */
  | { do: "recover"; else: Action }
  /** Nothing is done before somebody resolves the create. `why`: the program's `existingId` contradicts the create. */
  | { do: "blocked"; record: Unresolved; why?: string }
  /** The object leaves the state and stays live. */
  | { do: "retain" }
  | { do: "delete" };

/** `rename`: the object stays as it is, under another key of its set. */
export type ShownAction = Action["do"] | "perhaps replace" | "rename";

export function shownAction({ action, formerKey }: PlannedObject) {
  if (action.do === "same" && formerKey !== undefined) return "rename";
  if (action.do === "replace" && action.perhaps) return "perhaps replace";
  return action.do;
}

/** Whether the action sends a create, without a search before it. */
export function isToCreate({ action }: PlannedObject) {
  return action.do === "create" || action.do === "replace";
}

/** Whether the state lacks arguments of the object: an update that sends nothing adds the program's. */
export function isPartlyKnown({ sentAs }: Pick<PlannedObject, "sentAs">) {
  return sentAs !== undefined && sentAs.body === undefined;
}

export interface Circumstances {
  can: Abilities;
  /** By default, what leaves the state stays live. */
  fateOf?(id: string): Fate;
  /** Replaces the decided action by the one in the engine's plan. */
  override?(action: Action): Action;
}

/** Whether an object that leaves its resource is deleted or stays live, and why. */
export interface Fate {
  id: string;
  isDeleted: boolean;
  /** The state only reads it (`.get`): perhaps it's the object of an open create. */
  isRead?: boolean | undefined;
  /** Why it stays live, as a clause; only where somebody may expect a delete. */
  why?: string | undefined;
}

export interface PlannedObject {
  /** The key in the set; empty for a single resource. */
  key: string;
  /** The key under which the state has the object, if the program now gives it another one. */
  formerKey?: string | undefined;
  action: Action;
  changed: readonly string[];
  id: string | undefined;
  isDeclared: boolean;
  olds: Values;
  /** Set if `olds` does not describe the object. */
  sentAs: SentAs | undefined;
  /** The entry as declared; empty if the object is not declared. `values` also has the set's shared arguments. */
  entry: Values;
  values: Values;
  /** The object's create of unknown outcome in the state. */
  unresolved: Unresolved | undefined;
  /** The object that leaves the state; it stays live unless it is deleted. */
  leaving: Fate | undefined;
}

/**
 * @param before the resource in the state. @param declared the resource in the program.
 * @param circumstances by default, no operation but create is known.
 */
export function decideObjects(
  kind: Kind,
  before: StoredSet,
  declared: DeclaredSet,
  { can, fateOf = (id) => ({ id, isDeleted: false }), override }: Circumstances = {
    can: {},
  },
) {
  const { set: stored, moved } = withFormerKeysApplied(before, declared);
  const entries = declared.events ?? stored.events;
  const isKnown = declared.events !== undefined && declared.defaults !== UNKNOWN;
  const keys = [entries, stored.eventIds, stored.unresolved].flatMap((map) => [
    ...map.keys(),
  ]);
  return [...new Set(keys)].map((key) => {
    const id = stored.eventIds.get(key);
    const isDeclared = entries.has(key);
    const entry = asRecord(entries.get(key));
    const sentAs = stored.sentAs.get(key);
    const then = stored.events.get(key) ?? {};
    const object = {
      key,
      formerKey: moved.get(key),
      id,
      isDeclared,
      // Of a create whose body nobody knows, only what is known of it.
      olds: isPartlyKnown({ sentAs }) ? then : completeArguments(stored, then),
      sentAs,
      entry,
      values: isDeclared ? completeArguments(declared, entry) : {},
      unresolved: stored.unresolved.get(key),
    };
    let changes = NO_CHANGES;
    if (id !== undefined && isDeclared) {
      const isEntryKnown = isKnown && entries.get(key) !== UNKNOWN;
      changes = changesOf(kind, object, isEntryKnown, can);
    }
    const fate = id === undefined ? undefined : fateOf(id);
    let decided = decide(kind, can, object, changes);
    if (decided.do === "retain" && fate?.isDeleted) decided = { do: "delete" };
    const action = override?.(decided) ?? decided;
    const leaves =
      ["replace", "retain", "delete"].includes(action.do) ||
      (action.do === "adopt" && action.id !== id);
    let leaving = leaves ? fate : undefined;
    if (leaving?.isDeleted && adoptedBy(entry) !== undefined)
      leaving = { id: leaving.id, isDeleted: false, why: DISPLACED };
    return { ...object, action, changed: changes.names, leaving };
  });
}

/** Why an object stays live: it may be there by a wrong answer, which `existingId` corrects. */
export const DISPLACED = "existingId now names another object";

type UndecidedObject = Omit<PlannedObject, "action" | "changed" | "leaving">;

/**
 * The arguments that differ. After a failed update (`isUnsure`), and with a known one, all arguments may differ.
 * @param isKnown whether the program's arguments are known.
 */
function changesOf(
  kind: Kind,
  { olds, sentAs, values }: UndecidedObject,
  isKnown: boolean,
  can: Abilities,
) {
  if (!sentAs && isKnown) return changesIn(kind, olds, values);
  const perhaps = !isKnown || holdsUnknown(values);
  const isResent = can.update && sentAs?.isUnsure;
  const isAsSent = sentAs !== undefined && wasSentAs(kind, values, sentAs, olds);
  if (isAsSent && !perhaps && !isResent) return NO_CHANGES;
  // The arguments can't be compared one by one, so all may differ; only the owner is known.
  const owner = sentAs ? sentAs.owner : ownerIn(kind, olds);
  const hasOtherOwner = differ(owner, ownerIn(kind, values));
  const names = argumentNames(kind).filter((name) => name !== kind.owner || hasOtherOwner);
  return { names, perhaps };
}

/** Without a fingerprint, only a known argument that differs counts. */
function wasSentAs(kind: Kind, values: Values, { body, owner }: SentAs, args: Values) {
  if (body !== undefined) return body === fingerprintOfBody(kind, values);
  if (owner !== undefined && !isSameValue(owner, ownerIn(kind, values))) return false;
  return changesIn(kind, { ...values, ...args }, values).names.length === 0;
}

/** The action for an object. Never "delete": the caller turns a "retain" into a "delete" if the option says so. */
function decide(
  kind: Kind,
  can: Abilities,
  object: UndecidedObject,
  changed: Changes,
): Action {
  const { id: idInState, unresolved: record, isDeclared, entry, olds, values } = object;
  const adopts = adoptedBy(entry);
  const isNamed = adopts !== undefined && adopts !== UNKNOWN;
  // Nothing new is created before an open create is resolved.
  if (record) {
    const why = isNamed ? resolutionConflict(kind, adopts, values, record) : undefined;
    if (why !== undefined) return { do: "blocked", record, why };
    if (adopts !== undefined) return { do: "adopt", id: isNamed ? adopts : undefined };
    if (!isDeclared || !canSearch(can, record)) return { do: "blocked", record };
    const without = { ...object, unresolved: undefined };
    return { do: "recover", else: decide(kind, can, without, changed) };
  }
  if (!isDeclared) return { do: "retain" };
  if (isNamed && adopts !== idInState) return { do: "adopt", id: adopts };
  if (idInState === undefined)
    return adopts === UNKNOWN ? { do: "adopt", id: undefined } : { do: "create" };
  if (adopts === UNKNOWN) return { do: "replace", perhaps: true };
  if (changed.names.length === 0) return { do: "same" };
  // Another owner means another object.
  const isOther = kind.owner !== undefined && changed.names.includes(kind.owner);
  if (can.update && !isOther) return { do: "update" };
  if (adopts !== undefined) return { do: "update state only" };
  // Of the same owner it's only updated.
  const isOwnerOpen = holdsUnknown([ownerIn(kind, olds), ownerIn(kind, values)]);
  const mayUpdate = can.update && isOwnerOpen;
  return { do: "replace", perhaps: changed.perhaps || Boolean(mayUpdate) };
}

/**
 * Why `existingId` does not resolve a create: a fact about the named object contradicts the create; undefined if none
 * does. @param adopts the id in `existingId`. @param values the object's.
 */
export function resolutionConflict(
  kind: Kind,
  adopts: string,
  values: Values,
  sent: Unresolved,
) {
  const args = Object.entries(contradictingArguments(kind, values, sent)).map(
    ([name, value]) => `${name} ${printable(JSON.stringify(value))}`,
  );
  let purpose = `with ${args.join(", ")}`;
  if (adopts === sent.replaces) purpose = `to replace ${adopts}`;
  else if (args.length === 0) return undefined;
  return `existingId: ${adopts} can't be this create's object: the create was sent ${purpose}. Nothing is adopted until you resolve it.`;
}

/**
 * The moment from which an object's absence proves something. Reads and searches may lag behind creates: until then,
 * the platform may answer "not found" for an object that exists.
 * @param createdMs the latest moment of its create. @returns milliseconds since 1970.
 */
export function visibleFromMs(
  createdMs: number,
  { operations }: Pick<Settings, "operations">,
) {
  return createdMs + (operations?.createdVisibleAfterSeconds ?? 0) * 1000;
}

interface Changes {
  /** The names of the arguments that differ, or may. */
  names: readonly string[];
  /** True if each of them differs only because its value is not known yet. */
  perhaps: boolean;
}

const NO_CHANGES: Changes = { names: [], perhaps: false };

function argumentNames(kind: Kind) {
  return [...Object.keys(kind.wireNames), "additionalFields"];
}

/**
 * @param olds may be of another version, or old inputs (`refresh --run-program`).
 * @param news an unknown value counts as a change.
 */
export function changesIn(kind: Kind, olds: unknown, news: unknown) {
  const names = argumentNames(kind).filter((name) => {
    // No additional fields may also be an empty object.
    const none = name === "additionalFields" ? {} : undefined;
    return differ(own(olds, name) ?? none, own(news, name) ?? none);
  });
  const isUnknown = (name: string) => holdsUnknown([own(olds, name), own(news, name)]);
  return { names, perhaps: names.length > 0 && names.every(isUnknown) };
}

/** In a printed preview, a secret of the state and the program's are both unknown, and may differ. */
function differ(before: unknown, now: unknown) {
  return !isSameValue(before, now) || holdsUnknown(now);
}

const MAX_SHOWN = 60;

/**
 * How arguments change: `value 98 → 26`, `segmentId none → 4`. An argument that may differ only in what was sent is left
 * out. @param names the arguments that differ, or may. @param secret the arguments to show without values.
 */
export function changeMessages(
  names: readonly string[],
  olds: Values,
  news: Values,
  secret: ReadonlySet<string> = new Set(),
) {
  const shown = (name: string, value: unknown) => {
    if (value === UNKNOWN) return "not known yet";
    if (WINDOWS.includes(name) && typeof value === "number") return withUnit(value);
    if (!hasValue(value)) return "none";
    return excerpt(printable(JSON.stringify(value)), MAX_SHOWN);
  };
  const differing = names.filter((name) => differ(olds[name], news[name]));
  if (differing.length === 0 && names.length > 0) return ["not as it was sent"];
  return differing.map((name) => {
    if (secret.has(name)) return `${name} (secret)`;
    // A state has only known values: in a printed preview, this one is a hidden secret.
    const before = olds[name] === UNKNOWN ? "secret" : shown(name, olds[name]);
    return `${name} ${before} → ${shown(name, news[name])}`;
  });
}

/** Whether `value` is or contains the engine's text for a value that is not known yet. */
export function holdsUnknown(value: unknown) {
  if (typeof value === "object") return Object.values(value ?? {}).some(holdsUnknown);
  return value === UNKNOWN;
}

/** The arguments that a create was sent with and that `values` contradict. Only plain values are compared. */
export function contradictingArguments(
  kind: Kind,
  values: Values,
  sent: Pick<CreateRecord, "name" | "args">,
) {
  const then = Object.entries({ [kind.nameProperty]: sent.name, ...sent.args });
  const differing = then.filter(([property, value]) => {
    const now = values[property];
    return isPlain(now) && now !== UNKNOWN && isPlain(value) && !isSameValue(now, value);
  });
  return Object.fromEntries(differing);
}

/** The name and the advertiser, if they are among these arguments: with another one it's another object. */
export function tellingAmong({ nameProperty, owner = "" }: Kind, args: Values) {
  return [nameProperty, owner].filter((name) => name in args);
}

/** The id that `existingId` names, or the engine's text for unknown values if it is not known yet. */
export function adoptedBy(values: unknown) {
  const existingId = own(values, "existingId");
  if (!hasValue(existingId)) return undefined;
  return String(existingId);
}
