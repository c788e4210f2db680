/**
 * Members of sets whose create has an unknown outcome: as the state holds them, as the engine's record of a killed run implies
 * them, and as they are settled. Pure.
 */

import { asRecord, type Values } from "../base/index.js";
import { conversionEvent, fingerprintOfBody, type Kind, setOfType } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  type CreateRecord,
  DELETES,
  eventIn,
  leftLiveIn,
  MARK,
  memberMark,
  memberOf,
  readDeclaredSet,
  readMark,
  readStoredSet,
  SECRET_SIGNATURE,
  splitMember,
  storedFingerprint,
  tellingIn,
  UNRESOLVED,
  writeLeftLive,
  writeMemberRecord,
} from "../state/index.js";
import { accountIn, currentByUrn, type Deployment, type Resource, visible } from "./stack-export.js";

/** One of our creates that is not settled, as the best of the records that know it has it. */
export interface PendingCreate {
  /** Of a set's member, with its key behind it. */
  readonly urn: string;
  /** Of the object. */
  readonly kind: Kind["name"];
  readonly record: CreateRecord;
  /**
   * The state holds it as unresolved; or the engine's own record of a killed run implies it, and holds what is needed to take it
   * into the state; or only a journal of this machine has it.
   */
  readonly known: "state" | "engine" | "journal";
  /** The object that the state holds under this URN, whose place this one takes. */
  readonly held?: { readonly id: string; readonly isDeleted: boolean } | undefined;
  /** Of a set's member: its entry as it was sent. */
  readonly entry?: Values;
}

/** What the state holds as unresolved. */
function unresolvedMembers({ urn: setUrn, inputs, outputs }: Resource): PendingCreate[] {
  const { eventIds, unresolved } = readStoredSet(outputs ?? {});
  return [...unresolved].map(([key, record]) => ({
    urn: memberOf(setUrn, key),
    kind: conversionEvent.name,
    record,
    known: "state",
    held: heldIn(eventIds.get(key), inputs),
    entry: sentAs(asRecord(inputs?.events)[key]),
  }));
}

/** The object whose place a member's takes. */
function heldIn(id: string | undefined, inputs: Resource["inputs"]): PendingCreate["held"] {
  return id === undefined ? undefined : { id, isDeleted: inputs?.[DELETES] === true };
}

/**
 * What a run that was killed may have sent. Where a journal of this machine has notes about the set, it has one about each
 * create that was sent; where it has none, each may have been.
 * @param pending as the run would have saved it. @param current as the state holds it, where it does.
 * @param notes by the member's URN.
 */
export function membersInFlight(
  kind: Kind,
  pending: Resource,
  current: Resource | undefined,
  notes: ReadonlyMap<string, CreateRecord>,
  since: string,
): PendingCreate[] {
  const declared = readDeclaredSet(pending.inputs ?? {});
  const stored = readStoredSet(current?.outputs ?? {});
  const isNoted = [...notes.keys()].some((urn) => splitMember(urn).of === pending.urn && urn !== pending.urn);
  return [...(declared.events ?? [])].flatMap(([key, given]) => {
    const entry = asRecord(given);
    const urn = memberOf(pending.urn, key);
    const note = notes.get(urn);
    const id = stored.eventIds.get(key);
    if (entry.existingId !== undefined || stored.unresolved.has(key)) return [];
    const values = eventIn(declared, entry);
    const fingerprint = fingerprintOfBody(kind, values);
    if (id !== undefined && fingerprint === storedFingerprint(kind, stored, key)) return [];
    if (note === undefined ? isNoted : note.id !== undefined) return [];
    const record = note ?? sentIn(kind, values, key, pending, since);
    const held = heldIn(id, pending.inputs);
    return [
      {
        urn,
        kind: kind.name,
        record: { ...record, what: IN_FLIGHT, urn },
        known: "engine",
        held,
        entry: sentAs(entry),
      },
    ];
  });
}

function sentAs(entry: unknown): Values {
  const { existingId: _, ...sent } = asRecord(entry);
  return sent;
}

const IN_FLIGHT = "It was in flight when a run was killed.";

/**
 * A member as the engine's record of its set implies it. A large set is sent for a long time after that was written.
 * @param values its whole arguments.
 */
function sentIn(kind: Kind, values: Values, key: string, { inputs }: Resource, since: string): CreateRecord {
  const ofSet = readMark(inputs?.[MARK]);
  const hidden = new Set(Object.keys(values).filter((property) => holdsSecret(values[property])));
  return {
    key: "",
    mark: ofSet === undefined ? "" : memberMark(ofSet.mark, key),
    field: ofSet?.field,
    fingerprint: hidden.size === 0 ? fingerprintOfBody(kind, values) : "",
    at: since,
    isEarliest: true,
    ...tellingIn(kind, values, hidden),
  };
}

/**
 * The set with these members settled.
 * @param verdicts by key: the platform's id, or none where it was not created. @param now ISO 8601.
 */
export function settleMembers(
  resource: Resource,
  open: readonly PendingCreate[],
  verdicts: ReadonlyMap<string, string | undefined>,
  newMark: () => string,
  now: string,
): Resource {
  const outputs = resource.outputs ?? {};
  const eventIds: Record<string, unknown> = { ...asRecord(outputs.eventIds) };
  const earlier: Record<string, unknown> = { ...asRecord(outputs.earlier) };
  const events: Record<string, unknown> = { ...asRecord(outputs.events) };
  const unresolved: Record<string, unknown> = { ...asRecord(outputs[UNRESOLVED]) };
  const left = [...leftLiveIn(outputs)];
  for (const { urn, entry, record, held } of open) {
    const { key = "" } = splitMember(urn);
    if (!verdicts.has(key)) {
      const at = record.isEarliest === true ? now : record.at;
      unresolved[key] ??= writeMemberRecord({ ...record, at, mark: record.mark === "" ? newMark() : record.mark });
      continue;
    }
    delete unresolved[key];
    const id = verdicts.get(key);
    if (id === undefined) continue;
    const replaced = eventIds[key];
    if (replaced !== undefined) {
      const due = held?.isDeleted === true ? { toDelete: true } : {};
      left.push({ id: String(replaced), at: record.at, why: "replaced", by: id, key, ...due });
    }
    eventIds[key] = exactId(id);
    events[key] ??= entry; // for reports, where it held nothing before
    if (record.fingerprint !== "") earlier[key] = record.fingerprint;
  }
  const { earlier: _e, [UNRESOLVED]: _u, ...rest } = outputs;
  const { initErrors, ...whole } = resource;
  const isOpen = Object.keys(unresolved).length > 0;
  return {
    ...whole,
    ...(isOpen ? { initErrors: initErrors ?? ["Creates of some events have an unknown outcome."] } : {}),
    outputs: {
      ...rest,
      events,
      eventIds,
      ...writeLeftLive(left),
      ...(Object.keys(earlier).length === 0 ? {} : { earlier }),
      ...(isOpen ? { [UNRESOLVED]: unresolved } : {}),
    },
  };
}

function holdsSecret(value: unknown): boolean {
  return JSON.stringify(value ?? null).includes(SECRET_SIGNATURE);
}

/** Sets with members of unknown outcome. `resource` is the set as it is to be saved with them. */
export function openSets(deployment: Deployment, noted: ReadonlyMap<string, CreateRecord>) {
  const current = currentByUrn(deployment.resources ?? []);
  const since = deployment.manifest?.time ?? "";
  const inFlight = (deployment.pending_operations ?? []).flatMap((operation) => {
    const { resource, type } = operation;
    const held = current.get(resource.urn);
    const isOpen =
      setOfType(resource.type) !== undefined && (type === "updating" || (type === "creating" && held === undefined));
    if (!isOpen) return [];
    return [
      {
        resource: held ?? withoutMembers(resource, deployment),
        members: membersInFlight(conversionEvent, resource, held, noted, since),
      },
    ];
  });
  const saved = [...current.values()]
    .filter(({ type }) => setOfType(type) !== undefined)
    .map((resource) => ({ resource, members: unresolvedMembers(resource) }));
  return [...Map.groupBy([...saved, ...inFlight], ({ resource }) => resource.urn).values()].map((those) => ({
    resource: (those[0] as (typeof those)[number]).resource,
    members: those.flatMap(({ members }) => members),
  }));
}

/** A set that was being created, as it is saved with nothing created yet. */
function withoutMembers(resource: Resource, deployment: Deployment): Resource {
  return { ...resource, outputs: { ...visible(resource), ...accountIn(deployment), eventIds: {} } };
}
