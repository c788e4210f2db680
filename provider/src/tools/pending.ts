/**
 * Creates of unknown outcome, as the engine's own record, the state and the journals of this machine know them. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { conversionEvent, fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  DELETES,
  IDENTITY,
  journalKeyOf,
  MARK,
  memberOf,
  nameInUrn,
  readDeclared,
  readStoredSet,
  readTrace,
  SECRET_SIGNATURE,
  type Sought,
  soughtIn,
  splitMember,
  storedFingerprint,
  type Trace,
  type UnresolvedCreate,
  unresolvedIn,
} from "../state/index.js";
import type { Live, Remembered } from "../store/index.js";
import { type OpenMember, openSets } from "./pending-sets.js";
import {
  currentByUrn,
  type Deployment,
  type ExportedStack,
  type PendingOperation,
  type Resource,
} from "./stack-export.js";

/** One of our creates that nobody knows the outcome of. */
export interface OpenCreate {
  readonly urn: string;
  /** The name in the program. */
  readonly name: string;
  readonly sought: Sought;
  /** The object that the state holds under this URN, with other arguments than the create's, or with secret ones. */
  readonly heldAs: string | undefined;
  /** The id that a journal of this machine knows, of an object that was created with other arguments than are wanted now. */
  readonly notedAs?: string | undefined;
  /** Of the attempt, as the state and the journal know it. */
  readonly mark?: string | undefined;
  /** Whether the object that the state holds under this URN is deleted when this one takes its place. */
  readonly deletesFormer?: boolean | undefined;
  /** Whether it may have been sent at any time until now. */
  readonly isSinceUnknown?: boolean | undefined;
  /** Whether the state holds it as unresolved. */
  readonly isSaved: boolean;
  /** Whether the state or the engine's record holds what is needed to take it into the state. */
  readonly isInState: boolean;
}

/** One that the next `pulumi up` takes over where it is declared as it was, since a journal of this machine knows its id. */
export interface KnownCreate {
  readonly urn: string;
  readonly id: string;
  /** Another object that the state holds under this URN: nothing takes its place where the program went back to that. */
  readonly heldAs?: string | undefined;
}

export interface Pending {
  readonly open: readonly OpenCreate[];
  readonly known: readonly KnownCreate[];
}

/**
 * When what only the engine's record knows was sent at the latest: it notes a create before it asks for it, so that is after the last wait.
 * @returns ISO 8601.
 */
export function sentUntil({ deployment }: ExportedStack, maxWaitSeconds: number, nowMs: number): string {
  const latestMs = Date.parse(deployment.manifest?.time ?? "") + maxWaitSeconds * 1000;
  return new Date(Number.isNaN(latestMs) ? nowMs : Math.min(latestMs, nowMs)).toISOString();
}

/** What the user found out about one of them: the platform's id, or that there is none. */
export interface Verdict {
  readonly urn: string;
  readonly createdAs: string | undefined;
}

/**
 * @param notes what the journals of this machine remember of the stack.
 * @returns each create once, however many records know it.
 */
export function pendingIn({ deployment }: ExportedStack, notes: readonly Remembered[]): Pending {
  const current = currentByUrn(deployment.resources ?? []);
  const noted = byUrn(notes);
  const open = new Map<string, OpenCreate>();
  const known: KnownCreate[] = [];
  const add = (resource: Resource, unresolved: UnresolvedCreate | undefined) => {
    const kind = kindOfType(resource.type);
    if (kind === undefined) return;
    const { urn } = resource;
    const note = noted.get(urn);
    if (unresolved === undefined && note?.id !== undefined && isOfThisBody(note, kind, resource)) {
      known.push({ urn, id: note.id });
      return;
    }
    open.set(urn, {
      urn,
      name: nameInUrn(urn),
      sought: soughtIn(
        kind,
        readable(resource.inputs),
        unresolved ?? { since: note?.at ?? "", what: "", ...traceIn(resource, note) },
      ),
      heldAs: unresolved === undefined ? current.get(urn)?.id : undefined,
      deletesFormer: current.get(urn)?.inputs?.[DELETES] === true,
      notedAs: note?.id,
      isSaved: unresolved !== undefined,
      isInState: true,
    });
  };
  for (const resource of pendingCreates(deployment).open) add(resource, undefined);
  for (const resource of deployment.resources ?? []) {
    const unresolved = setOfType(resource.type) === undefined ? unresolvedIn(resource.outputs) : undefined;
    if (unresolved !== undefined) add(resource, unresolved);
  }
  for (const { members } of openSets(deployment, noted)) {
    for (const member of members) open.set(member.urn, { ...fromMember(member), notedAs: noted.get(member.urn)?.id });
  }
  // A set that was renamed since has it under its new name.
  const marks = new Set([...open.values()].map(({ mark }) => mark));
  const isKnown = new Set(known.map(({ urn }) => urn));
  for (const [urn, note] of noted) {
    if (open.has(urn) || isKnown.has(urn) || marks.has(note.mark)) continue;
    const held = objectAt(current, urn);
    // The next run's diff finds this out too.
    if (
      held !== undefined &&
      (note.id === held.id || (note.id === undefined && note.fingerprint === held.fingerprint()))
    ) {
      continue;
    }
    if (note.id !== undefined) known.push({ urn, id: note.id, heldAs: held?.id });
    else open.set(urn, fromNote(urn, note, held?.id));
  }
  return { open: [...open.values()], known };
}

export function byUrn(notes: readonly Remembered[]): Map<string, Remembered> {
  return new Map(notes.map((note) => [aboutWhom(note.key).urn, note]));
}

function fromNote(
  urn: string,
  { key, name, at, facts = {}, replaces, ...note }: Remembered,
  heldAs: string | undefined,
): OpenCreate {
  return {
    urn,
    name: nameInUrn(urn),
    sought: { kind: aboutWhom(key).kind, name, facts, sentAt: at, replaces, ...traceOf(note) },
    heldAs,
    isSaved: false,
    isInState: false,
  };
}

/** By what it can be searched for, as the engine's record of it says, or a journal. */
function traceIn({ inputs }: Resource, note: Remembered | undefined): { readonly trace?: Trace } {
  const trace = readTrace(inputs?.[MARK]);
  return trace === undefined ? traceOf(note) : { trace };
}

function traceOf(note: Pick<Remembered, "mark" | "trace"> | undefined): { readonly trace?: Trace } {
  return note?.trace === undefined ? {} : { trace: { field: note.trace, value: note.mark } };
}

function fromMember({ urn, unresolved, isSaved, heldAs, isSinceUnknown, deletesFormer }: OpenMember): OpenCreate {
  return {
    urn,
    name: nameInUrn(urn),
    sought: soughtIn(conversionEvent, {}, unresolved),
    heldAs,
    isSaved,
    isInState: true,
    isSinceUnknown,
    deletesFormer,
    mark: unresolved.mark,
  };
}

/** What the state holds under this URN, of a resource or of a member of a set. */
function objectAt(current: ReadonlyMap<string, Resource>, urn: string) {
  const resource = current.get(urn);
  const kind = resource === undefined ? undefined : kindOfType(resource.type);
  if (resource !== undefined && kind !== undefined) {
    return {
      resource,
      key: (identity: string) => journalKeyOf(kind.name, identity),
      id: resource.id,
      name: resource.inputs?.[kind.nameProperty],
      fingerprint: () => fingerprintOfBody(kind, resource.inputs ?? {}),
    };
  }
  const { of, key } = splitMember(urn);
  const holder = current.get(of);
  const set = holder === undefined ? undefined : setOfType(holder.type);
  if (holder === undefined || set === undefined || key === undefined) return undefined;
  const stored = readStoredSet(holder.outputs ?? {});
  const id = stored.eventIds.get(key);
  if (id === undefined) return undefined;
  return {
    resource: holder,
    key: (identity: string) => memberOf(journalKeyOf(set.name, identity), key),
    id,
    name: stored.events.get(key)?.[set.member.nameProperty],
    fingerprint: () => storedFingerprint(set.member, stored, key),
  };
}

export function isOfThisBody({ fingerprint }: Remembered, kind: Kind, { inputs }: Resource): boolean {
  return fingerprint === fingerprintOfBody(kind, inputs ?? {});
}

/** Without secret values. */
function readable(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(inputs ?? {}).filter(([, value]) => typeof value !== "object"));
}

/** What a settled create is known by afterwards: its key in the journal, and what an inventory holds. */
export function liveIn(
  { deployment }: ExportedStack,
  urn: string,
): { readonly key: string; readonly live: Live } | undefined {
  const current = currentByUrn(deployment.resources ?? []);
  const object = objectAt(current, urn);
  const declared = readDeclared(object?.resource.inputs?.[IDENTITY]);
  if (object?.id === undefined || declared === undefined) return undefined;
  const { key, id, name, fingerprint } = object;
  return {
    key: key(declared.identity),
    live: { id, fingerprint: fingerprint(), ...(typeof name === "string" ? { name } : {}) },
  };
}

/** How many of the engine's pending creates are history: the engine keeps them until it is told to clear them. */
export function countHistory({ deployment }: ExportedStack): number {
  return pendingCreates(deployment).history.length;
}

/**
 * History is what a later run has settled: the state holds the resource with the create's arguments, or as unresolved.
 * (With other arguments the create may have been a replacement of it; with the same one only where `--replace` asked for it.)
 */
export function pendingCreates(deployment: Deployment): { readonly open: Resource[]; readonly history: Resource[] } {
  const current = currentByUrn(deployment.resources ?? []);
  const isHistory = ({ urn, inputs }: Resource) => {
    const held = current.get(urn);
    if (held === undefined) return false;
    return unresolvedIn(held.outputs) !== undefined || isDeepStrictEqual(compared(held.inputs), compared(inputs));
  };
  const open: Resource[] = [];
  const history: Resource[] = [];
  for (const operation of deployment.pending_operations ?? []) {
    if (isOurCreate(operation)) (isHistory(operation.resource) ? history : open).push(operation.resource);
  }
  return { open, history };
}

/** The arguments that make the object. Two secret ones never compare as equal: each encryption differs. */
function compared(inputs: Resource["inputs"]): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(inputs ?? {})
      .filter(([name]) => !name.startsWith("__") && name !== "existingId")
      .map(([name, value]) => [name, JSON.stringify(value).includes(SECRET_SIGNATURE) ? Symbol(name) : value]),
  );
}

export function isOurCreate({ resource, type }: PendingOperation): boolean {
  return type === "creating" && kindOfType(resource.type) !== undefined;
}
