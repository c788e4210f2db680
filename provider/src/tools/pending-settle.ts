/**
 * Settles creates of unknown outcome. Pure: an exported stack in, an exported stack out.
 */

import { asRecord } from "../base/index.js";
import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  type CreateRecord,
  isUnresolved,
  leftLiveIn,
  SECRET_ARGUMENTS,
  splitMember,
  UNRESOLVED,
  unresolvedId,
  writeLeftLive,
  writeMemberRecord,
  writeRecord,
} from "../state/index.js";
import { isOurCreate, type Pending, type PendingCreate } from "./pending-facts.js";
import type { Verdict } from "./pending-verdicts.js";
import { accountIn, type ExportedStack, inOrder, type Resource, visible } from "./stack-export.js";

/** What a settlement takes from the machine. */
export interface Surroundings {
  /** ISO 8601. */
  readonly now: string;
  /** When a create that only the engine's record knows was sent at the latest, where that is known. ISO 8601. */
  readonly sentUntil?: string | undefined;
  /** Makes a text that no other create has. */
  readonly newMark: () => string;
}

/**
 * The stack with these creates settled: in the state with their ids, or dropped as not created. Pulumi drops every
 * pending operation when a stack is imported, so those that nobody decided on are saved: as created where a journal knows
 * the id, otherwise as unresolved, and each later run stops at them.
 * @param pending what is known of the stack's creates.
 */
export function settle(
  stack: ExportedStack,
  pending: Pending,
  verdicts: readonly Verdict[],
  { now, sentUntil, newMark }: Surroundings,
): ExportedStack {
  const { deployment } = stack;
  const verdictOn = (urn: string) => verdicts.find((verdict) => verdict.urn === urn);
  const account = accountIn(deployment);
  const dropped = new Set<string>();
  const saved = (deployment.resources ?? []).flatMap((resource) => {
    const verdict = isUnresolved(resource.outputs) ? verdictOn(resource.urn) : undefined;
    if (verdict === undefined) return [resource];
    if (resource.delete === true) return []; // `--replace` of an unresolved one leaves it there twice
    if (verdict.createdAs !== undefined) return [adopted(resource, verdict.createdAs, account)];
    dropped.add(resource.urn);
    return [];
  });
  const fresh = fromEngineRecord(stack, pending, verdictOn, account, { now, sentUntil, newMark });
  const others = (deployment.pending_operations ?? []).filter(
    (operation) => !isOurCreate(operation) && setOfType(operation.resource.type) === undefined,
  );
  const sets = pending.sets.map(({ resource, members }) => {
    const answered = members.filter(({ urn }) => verdictOn(urn) !== undefined);
    const byKey = new Map(answered.map(({ urn }) => [splitMember(urn).key ?? "", verdictOn(urn)?.createdAs]));
    return settleMembers({ ...resource, id: resource.id ?? `set-${newMark()}` }, members, byKey, newMark, now);
  });
  const settledSets = new Map(sets.map((each) => [each.urn, each]));
  const kept = saved.map((resource) =>
    resource.delete === true ? resource : (settledSets.get(resource.urn) ?? resource),
  );
  const isKept = new Set(kept.map(({ urn }) => urn));
  const created = [...fresh, ...sets.filter(({ urn }) => !isKept.has(urn))];
  const resources = inOrder([...replaced(restored(kept, dropped), fresh), ...created]);
  return { ...stack, deployment: { ...deployment, resources, pending_operations: others } };
}

/**
 * The single resources that only the engine's record of a killed run holds, as they are saved: those whose object a journal of this
 * machine knows, and those that were answered or stay unresolved.
 */
function fromEngineRecord(
  { deployment }: ExportedStack,
  pending: Pending,
  verdictOn: (urn: string) => Verdict | undefined,
  account: Record<string, unknown>,
  { now, sentUntil, newMark }: Surroundings,
): Resource[] {
  const since = deployment.manifest?.time ?? "";
  const known = pending.created.flatMap(({ urn, record }): Resource[] => {
    const resource = pending.inFlight.get(urn);
    return resource === undefined || record.id === undefined ? [] : [adopted(resource, record.id, account)];
  });
  const open = pending.open.flatMap((create): Resource[] => {
    const resource = pending.inFlight.get(create.urn);
    const kind = resource === undefined ? undefined : kindOfType(resource.type);
    if (create.known !== "engine" || resource === undefined || kind === undefined) return [];
    const verdict = verdictOn(create.urn);
    if (verdict === undefined) {
      const kept = markToKeep(create, newMark);
      // A search counts from when it was sent at the latest.
      const at = kept.field === undefined ? since : (sentUntil ?? now);
      return [asUnresolved(kind, resource, { at, ...kept }, account)];
    }
    return verdict.createdAs === undefined ? [] : [adopted(resource, verdict.createdAs, account)];
  });
  return [...known, ...open];
}

/**
 * By what a create that nobody decided on is looked for later. The state has room for one mark: where several runs sent the resource
 * and were killed, it is saved as one that can't be looked for, since not to find one of them says nothing of the others.
 */
function markToKeep({ record, also = [] }: PendingCreate, newMark: () => string): Pick<CreateRecord, "mark" | "field"> {
  const mark = record.mark === "" ? newMark() : record.mark;
  return { mark, field: also.length === 0 ? record.field : undefined };
}

/** Where a replacement was dropped, what it should have replaced is the current one again: the latest, which is the first. */
function restored(resources: readonly Resource[], dropped: ReadonlySet<string>): Resource[] {
  const left = new Set(dropped);
  return resources.map((resource) => {
    if (!left.delete(resource.urn)) return resource;
    const { delete: _, ...current } = resource;
    return current;
  });
}

/** What the new ones take the place of is marked, as by the engine: the next run takes it out of the state. */
function replaced(resources: readonly Resource[], by: readonly Resource[]): Resource[] {
  const urns = new Set(by.map(({ urn }) => urn));
  return resources.map((resource) => (urns.has(resource.urn) ? { ...resource, delete: true } : resource));
}

/** The resource as the engine would have saved it after the create. */
function adopted({ initErrors: _, ...resource }: Resource, id: string, account: Record<string, unknown>): Resource {
  const kind = kindOfType(resource.type);
  const outputs = {
    ...visible(resource),
    ...account,
    ...writeLeftLive(leftLiveIn(resource.outputs ?? {})),
    ...(kind === undefined ? {} : { [kind.idProperty]: exactId(id) }),
  };
  return { ...resource, id, outputs };
}

/** The resource as the provider would have had it saved after an unknown outcome. */
function asUnresolved(
  kind: Kind,
  resource: Resource,
  sent: Pick<CreateRecord, "mark" | "at" | "field">,
  account: Record<string, unknown>,
): Resource {
  const { urn, inputs = {} } = resource;
  const what = `${urn.split("::").at(-1)} was in flight when a run was killed.`;
  const secret = inputs[SECRET_ARGUMENTS];
  const record: CreateRecord = {
    ...sent,
    key: "",
    fingerprint: fingerprintOfBody(kind, inputs),
    what,
    urn,
    secret: Array.isArray(secret) ? (secret as string[]) : undefined,
  };
  const outputs = { ...visible(resource), ...account, ...writeRecord(kind, record, inputs) };
  return { ...resource, id: unresolvedId(record.mark), outputs, initErrors: [what] };
}

/**
 * The set with these members settled.
 * @param verdicts by key: the platform's id, or none where it was not created. @param now ISO 8601.
 */
function settleMembers(
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
  for (const create of open) {
    const { urn, entry, record, held } = create;
    const { key = "" } = splitMember(urn);
    if (!verdicts.has(key)) {
      const at = record.isEarliest === true ? now : record.at;
      unresolved[key] = writeMemberRecord({ ...record, at, ...markToKeep(create, newMark) });
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
