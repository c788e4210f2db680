/**
 * Creates of unknown outcome, as the engine's own record, the state and the journals of this machine know them. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  DELETES,
  IDENTITY,
  isUnresolved,
  journalKeyOf,
  MARK,
  memberOf,
  readDeclared,
  readMark,
  readStoredSet,
  recordIn,
  SECRET_SIGNATURE,
  splitMember,
  storedFingerprint,
  tellingIn,
  UNRESOLVED,
} from "../state/index.js";
import type { Live } from "../store/index.js";
import { openSets, type PendingCreate } from "./pending-sets.js";
import {
  currentByUrn,
  type Deployment,
  type ExportedStack,
  type PendingOperation,
  type Resource,
} from "./stack-export.js";

export interface Pending {
  /** Those that nobody knows the outcome of, and those that were created with other arguments than are wanted now. */
  readonly open: readonly PendingCreate[];
  /** Those that the next `pulumi up` takes over where they are declared as they were, since a journal knows their ids. */
  readonly created: readonly PendingCreate[];
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
export function pendingIn({ deployment }: ExportedStack, notes: readonly CreateRecord[]): Pending {
  const current = currentByUrn(deployment.resources ?? []);
  const noted = byUrn(notes);
  const open = new Map<string, PendingCreate>();
  const created: PendingCreate[] = [];
  for (const resource of pendingCreates(deployment).open) {
    const kind = kindOfType(resource.type);
    if (kind === undefined) continue;
    const { urn } = resource;
    const note = noted.get(urn);
    const former = current.get(urn);
    if (note?.id !== undefined && isOfThisBody(note, kind, resource)) {
      created.push({ urn, kind: kind.name, record: note, known: "journal" });
      continue;
    }
    const isDeleted = former?.inputs?.[DELETES] === true;
    const held = former?.id === undefined ? undefined : { id: former.id, isDeleted };
    open.set(urn, { urn, kind: kind.name, record: sentIn(kind, resource, note), known: "engine", held });
  }
  for (const resource of deployment.resources ?? []) {
    const kind = kindOfType(resource.type);
    const record = kind === undefined ? undefined : savedIn(kind, resource);
    if (kind === undefined || record === undefined) continue;
    const { urn } = resource;
    open.set(urn, { urn, kind: kind.name, record: { ...record, id: noted.get(urn)?.id }, known: "state" });
  }
  for (const { members } of openSets(deployment, noted)) {
    for (const member of members) {
      open.set(member.urn, { ...member, record: { ...member.record, id: noted.get(member.urn)?.id } });
    }
  }
  // A resource that was renamed since has it under its new name.
  const marks = new Set([...open.values()].map(({ record }) => record.mark));
  const isCreated = new Set(created.map(({ urn }) => urn));
  for (const [urn, record] of noted) {
    if (open.has(urn) || isCreated.has(urn) || marks.has(record.mark)) continue;
    const object = objectAt(current, urn);
    const isHeld = record.id === undefined ? record.fingerprint === object?.fingerprint() : record.id === object?.id;
    if (isHeld) continue; // the next run's diff finds this out too
    const held = object?.id === undefined ? undefined : { id: object.id, isDeleted: false };
    const found: PendingCreate = { urn, kind: aboutWhom(record.key).kind, record, known: "journal", held };
    if (record.id !== undefined) created.push(found);
    else open.set(urn, found);
  }
  return { open: [...open.values()], created };
}

export function byUrn(notes: readonly CreateRecord[]): Map<string, CreateRecord> {
  return new Map(notes.map((note) => [aboutWhom(note.key).urn, note]));
}

/** What the state holds as unresolved. The arguments are taken from the inputs, where secret ones are encrypted. */
function savedIn(kind: Kind, { id, inputs, outputs }: Resource): CreateRecord | undefined {
  return recordIn(kind, { ...readable(inputs), [UNRESOLVED]: outputs?.[UNRESOLVED] }, id);
}

/** What the engine's record of a killed run tells of a create, with what a journal knows of it. */
function sentIn(kind: Kind, { inputs }: Resource, note: CreateRecord | undefined): CreateRecord {
  const { field = note?.field, mark = note?.mark ?? "" } = readMark(inputs?.[MARK]) ?? {};
  const { key = "", at = "", fingerprint = "", id } = note ?? {};
  return { ...tellingIn(kind, readable(inputs), new Set()), mark, key, at, fingerprint, field, id };
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

export function isOfThisBody({ fingerprint }: CreateRecord, kind: Kind, { inputs }: Resource): boolean {
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
    return isUnresolved(held.outputs) || isDeepStrictEqual(compared(held.inputs), compared(inputs));
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
