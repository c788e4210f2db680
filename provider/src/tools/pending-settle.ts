/**
 * Settles creates of unknown outcome. Pure: an exported stack in, an exported stack out.
 */

import { fingerprintOfBody, type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  type CreateRecord,
  isUnresolved,
  leftLiveIn,
  MARK,
  readMark,
  SECRET_ARGUMENTS,
  splitMember,
  unresolvedId,
  writeLeftLive,
  writeRecord,
} from "../state/index.js";
import { byUrn, isOfThisBody, isOurCreate, pendingCreates, type Verdict } from "./pending.js";
import { openSets, settleMembers } from "./pending-sets.js";
import { accountIn, type ExportedStack, inOrder, type Resource, visible } from "./stack-export.js";

/** ISO 8601. */
export interface Times {
  readonly now: string;
  /** When a create that only the engine's record knows was sent at the latest, where that is known. */
  readonly sentUntil?: string | undefined;
}

/**
 * The stack with these creates settled: in the state with their ids, or dropped as not created. Pulumi drops every
 * pending operation when a stack is imported, so those that nobody decided on are saved: as created where a journal knows
 * the id, otherwise as unresolved, and each later run stops at them.
 * @param newMark makes a text that no other create has. @param notes what the journals of this machine remember of the stack.
 */
export function settle(
  stack: ExportedStack,
  verdicts: readonly Verdict[],
  newMark: () => string,
  times: Times,
  notes: readonly CreateRecord[] = [],
): ExportedStack {
  const noted = byUrn(notes);
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
  const since = deployment.manifest?.time ?? "";
  const pending = pendingCreates(deployment).open.flatMap((resource) => {
    const verdict = verdictOn(resource.urn);
    const note = noted.get(resource.urn);
    const kind = kindOfType(resource.type);
    if (verdict === undefined && note?.id !== undefined && kind !== undefined && isOfThisBody(note, kind, resource)) {
      return [adopted(resource, note.id, account)];
    }
    if (verdict === undefined && kind !== undefined) {
      const sent = readMark(resource.inputs?.[MARK]);
      // A search counts from when it was sent at the latest.
      const at = sent === undefined ? since : (times.sentUntil ?? times.now);
      return [asUnresolved(kind, resource, { at, field: sent?.field, mark: sent?.mark ?? newMark() }, account)];
    }
    if (verdict === undefined) return [];
    return verdict.createdAs === undefined ? [] : [adopted(resource, verdict.createdAs, account)];
  });
  const others = (deployment.pending_operations ?? []).filter(
    (operation) => !isOurCreate(operation) && setOfType(operation.resource.type) === undefined,
  );
  const sets = openSets(deployment, noted)
    .filter(({ members }) => members.length > 0)
    .map(({ resource, members }) => {
      const decided = members.filter(({ urn }) => verdictOn(urn) !== undefined);
      const byKey = new Map(decided.map(({ urn }) => [splitMember(urn).key ?? "", verdictOn(urn)?.createdAs]));
      return settleMembers({ ...resource, id: resource.id ?? `set-${newMark()}` }, members, byKey, newMark, times.now);
    });
  const settledSets = new Map(sets.map((each) => [each.urn, each]));
  const kept = saved.map((resource) =>
    resource.delete === true ? resource : (settledSets.get(resource.urn) ?? resource),
  );
  const isKept = new Set(kept.map(({ urn }) => urn));
  const created = [...pending, ...sets.filter(({ urn }) => !isKept.has(urn))];
  const resources = inOrder([...replaced(restored(kept, dropped), pending), ...created]);
  return { ...stack, deployment: { ...deployment, resources, pending_operations: others } };
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
