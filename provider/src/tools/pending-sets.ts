/**
 * Members of sets whose create has an unknown outcome: as the state holds them, as the engine's record of a killed run implies
 * them, and as they are settled. Pure.
 */

import { asRecord, type Values } from "../base/index.js";
import { conversionEvent, fingerprintOfBody, type Kind, setOfType } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  DELETES,
  eventIn,
  factsIn,
  leftLiveIn,
  MARK,
  memberMark,
  memberOf,
  readDeclaredSet,
  readStoredSet,
  readTrace,
  SECRET_SIGNATURE,
  splitMember,
  storedFingerprint,
  type Trace,
  UNRESOLVED,
  type UnresolvedMember,
  writeLeftLive,
} from "../state/index.js";
import type { Remembered } from "../store/index.js";
import { accountIn, currentByUrn, type Deployment, type Resource, visible } from "./stack-export.js";

/** One member, with what is known of its create. */
export interface OpenMember {
  readonly key: string;
  readonly urn: string;
  /** As it was sent. */
  readonly entry: Values;
  readonly unresolved: UnresolvedMember;
  /** Whether the state holds it as unresolved; otherwise a run that was killed may have sent it. */
  readonly isSaved: boolean;
  /** The id of the object that it was to replace, which the set holds. */
  readonly heldAs: string | undefined;
  /** Whether only the engine's record knows of it: a set that is large is sent for a long time after that was written. */
  readonly isSinceUnknown?: boolean;
  /** Whether the object whose place it takes is to be deleted. */
  readonly deletesFormer: boolean;
}

/** What the state holds as unresolved. */
function unresolvedMembers(resource: Resource): OpenMember[] {
  const { eventIds, unresolved } = readStoredSet(resource.outputs ?? {});
  return [...unresolved].map(([key, mark]) => ({
    key,
    urn: memberOf(resource.urn, key),
    entry: sentAs(asRecord(resource.inputs?.events)[key]),
    unresolved: mark,
    isSaved: true,
    heldAs: eventIds.get(key),
    deletesFormer: resource.inputs?.[DELETES] === true,
  }));
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
  notes: ReadonlyMap<string, Remembered>,
  since: string,
): OpenMember[] {
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
    const unresolved = markFor(kind, values, urn, since, note, traceOf(pending, key, note));
    const deletesFormer = pending.inputs?.[DELETES] === true;
    const isSinceUnknown = note === undefined;
    return [{ key, urn, entry: sentAs(entry), unresolved, isSaved: false, heldAs: id, isSinceUnknown, deletesFormer }];
  });
}

function sentAs(entry: unknown): Values {
  const { existingId: _, ...sent } = asRecord(entry);
  return sent;
}

/** By what it can be searched for: as a journal has it, or as it follows from the engine's record of the set. */
function traceOf({ inputs }: Resource, key: string, note: Remembered | undefined): Trace | undefined {
  if (note !== undefined) return note.trace === undefined ? undefined : { field: note.trace, value: note.mark };
  const ofSet = readTrace(inputs?.[MARK]);
  return ofSet && { field: ofSet.field, value: memberMark(ofSet.value, key) };
}

/** By which it is found in the account. @param note what the journal knows of it. */
function markFor(
  kind: Kind,
  values: Values,
  urn: string,
  since: string,
  note: Remembered | undefined,
  trace: Trace | undefined,
): UnresolvedMember {
  const name = note?.name ?? values[kind.nameProperty];
  const hidden = new Set(Object.keys(values).filter((property) => holdsSecret(values[property])));
  return {
    mark: note?.mark ?? trace?.value ?? "",
    ...(trace === undefined ? {} : { trace }),
    ...(hidden.size === 0 ? { fingerprint: fingerprintOfBody(kind, values) } : {}),
    since: note?.at ?? since,
    what: "It was in flight when a run was killed.",
    urn,
    ...(typeof name === "string" ? { name } : {}),
    facts: note?.facts ?? factsIn(kind, values, hidden),
    ...(note?.replaces === undefined ? {} : { replaces: note.replaces }),
  };
}

/**
 * The set with these members settled.
 * @param verdicts by key: the platform's id, or none where it was not created. @param now ISO 8601.
 */
export function settleMembers(
  resource: Resource,
  open: readonly OpenMember[],
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
  for (const { key, entry, unresolved: mark, isSinceUnknown = false, deletesFormer } of open) {
    if (!verdicts.has(key)) {
      const since = isSinceUnknown ? now : mark.since;
      unresolved[key] ??= { ...mark, since, mark: mark.mark === "" ? newMark() : mark.mark };
      continue;
    }
    delete unresolved[key];
    const id = verdicts.get(key);
    if (id === undefined) continue;
    const replaced = eventIds[key];
    if (replaced !== undefined) {
      const due = deletesFormer ? { toDelete: true } : {};
      left.push({ id: String(replaced), at: mark.since, why: "replaced", by: id, key, ...due });
    }
    eventIds[key] = exactId(id);
    events[key] ??= entry; // for reports, where it held nothing before
    if (mark.fingerprint !== undefined) earlier[key] = mark.fingerprint;
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
export function openSets(deployment: Deployment, noted: ReadonlyMap<string, Remembered>) {
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
