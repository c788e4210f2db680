/**
 * Settles creates of unknown outcome: makes the stack as it is to be by the answers. Taking answers back is `reopen` in `pending-answers.ts`;
 * what either makes is imported by `changeStack` in `change-stack.ts`. Pure: an exported stack in, an exported stack out.
 */
import { enumerate, type Values } from "../base/index.js";
import { fingerprintOfBody, kindNamed, kindOfType, setOfType } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  type CreateRecord,
  describe,
  isUnresolved,
  lastMomentSent,
  leftLiveIn,
  MARK,
  objectKey,
  PROVIDER,
  readMark,
  readSetParts,
  readStoredSet,
  secretArgumentsIn,
  splitMember,
  storedFingerprint,
  UNRESOLVED,
  unresolvedId,
  writeLeftLive,
  writeMemberRecord,
  writeRecord,
} from "../state/index.js";
import { objectsIn } from "./contents.js";
import type { Verdict } from "./pending-answers.js";
import { type Creating, type Pending, type PendingCreate, recordsOf } from "./pending-facts.js";
import {
  accountIn,
  currentByUrn,
  type ExportedStack,
  inOrder,
  isOurs,
  type Resource,
  stateIn,
  visible,
  withCreates,
  withoutCreates,
  withParts,
  withResources,
} from "./stack-export.js";

export interface Surroundings {
  /** ISO 8601. */
  readonly now: string;
  readonly newMark: () => string;
  /** The account that the creates were sent to, if no resource says it. @throws Error in words, if nobody knows. */
  readonly account: () => string;
}

type Answers = ReadonlyMap<string, Verdict>;

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
  surroundings: Surroundings,
): ExportedStack {
  const { resources: all } = stateIn(stack);
  const answers: Answers = new Map(verdicts.map((verdict) => [verdict.urn, verdict]));
  const openByUrn = new Map(pending.open.map((create) => [create.urn, create]));
  const account = { [ACCOUNT]: accountIn(all) ?? surroundings.account() };
  const dropped = new Set<string>();
  const saved = all.flatMap((resource) => {
    const { urn } = resource;
    if (!isUnresolved(resource.outputs)) return [resource];
    const [verdict, create] = [answers.get(urn), openByUrn.get(urn)];
    if (verdict === undefined) {
      // Pulumi's own record has further creates of it, and drops them.
      const hasMore = resource.delete !== true && pending.inFlight.has(urn);
      return [hasMore && create !== undefined ? withRecord(resource, pending, create, surroundings) : resource];
    }
    if (resource.delete === true) return []; // `--replace` of an unresolved one leaves it there twice
    const { createdAs, mark } = verdict;
    if (createdAs !== undefined && create !== undefined) {
      const sent = asSent(pending, create, madeBy(pending, create, createdAs, mark), resource);
      return [adopted(resource, createdAs, account, surroundings.now, sent)];
    }
    dropped.add(urn);
    return [resource];
  });
  const fresh = fromEngineRecord(stack, pending, answers, account, surroundings);
  const current = currentByUrn(all);
  const members = Map.groupBy(
    pending.open.filter(({ entry }) => entry !== undefined),
    ({ urn }) => splitMember(urn).of,
  );
  const sets = new Map(
    [...members].flatMap(([urn, creates]) => {
      const fresh = pending.newSets.get(urn);
      const set = current.get(urn) ?? (fresh && { ...fresh, outputs: { ...fresh.outputs, ...account } });
      return set === undefined ? [] : [[urn, settleMembers(set, creates, pending, answers, surroundings)] as const];
    }),
  );
  const kept = saved.map((resource) => (resource.delete === true ? resource : (sets.get(resource.urn) ?? resource)));
  const held = objectsIn(kept.filter((resource) => resource.delete !== true));
  const taken = new Set(held.map(({ kind, id = "" }) => objectKey(kind.name, id)));
  const newSets = [...sets.values()].filter(({ urn }) => !current.has(urn));
  const resources = inOrder([
    ...withCreates(withoutCreates(kept, dropped, taken), fresh, surroundings.now),
    ...newSets,
  ]);
  const others = (stack.deployment.pending_operations ?? []).filter(({ type, resource }) => {
    return !isOurs(resource) || (type !== "creating" && setOfType(resource.type) === undefined);
  });
  const settled = withResources(stack, resources);
  return { ...settled, deployment: { ...settled.deployment, pending_operations: others } };
}

/**
 * The single resources that only the engine's record of an interrupted run holds, as they are saved: those whose object a journal of this
 * machine knows, and those that were answered or stay unresolved.
 */
function fromEngineRecord(
  stack: ExportedStack,
  pending: Pending,
  answers: Answers,
  account: Record<string, unknown>,
  { now, newMark }: Surroundings,
): Resource[] {
  const { created, open } = pending;
  // The state has room for one: beside that, what was created stays in the journal.
  const isNotCreated = (urn: string) => answers.has(urn) && answers.get(urn)?.createdAs === undefined;
  const isTaken = new Set(open.flatMap(({ urn, known }) => (known === "journal" || isNotCreated(urn) ? [] : urn)));
  const known = created.flatMap(({ urn, creating, record: { id } }): Resource[] => {
    if (creating === undefined || id === undefined || isTaken.has(urn)) return [];
    isTaken.add(urn);
    return [adopted(creating.resource, id, account, now)];
  });
  const decided = open.flatMap((create): Resource[] => {
    const { urn, record, creating } = create;
    if (create.known !== "engine" || creating === undefined) return [];
    const verdict = answers.get(urn);
    if (verdict === undefined) {
      const kept = toKeep(pending, create, newMark);
      // People look for it by when the engine noted it; a search counts from when it was sent at the latest.
      const when = kept.field === undefined ? { at: stateIn(stack).time } : latestOf(record, now);
      return [asUnresolved(creating, { ...when, ...kept }, account)];
    }
    const { createdAs, mark } = verdict;
    if (createdAs === undefined) return [];
    const sent = asSent(pending, create, madeBy(pending, create, createdAs, mark), creating.resource);
    return [adopted(creating.resource, createdAs, account, now, sent)];
  });
  return [...known, ...decided];
}

/** When it was sent at the latest. @param now ISO 8601. */
function latestOf(record: CreateRecord, now: string): Pick<CreateRecord, "at" | "isLatest"> {
  return lastMomentSent(record, Date.parse(now)) === Date.parse(now) ? { at: now, isLatest: true } : { at: record.at };
}

/**
 * How a create that nobody decided on is looked for later. The state has room for one: where several runs sent the resource and were killed,
 * it is saved as one that no search is made for, since not to find one of them says nothing of the others. What it says names those.
 */
function toKeep(
  { created }: Pending,
  { urn, kind, record, also = [] }: PendingCreate,
  newMark: () => string,
): Pick<CreateRecord, "mark" | "field" | "what"> {
  const { field, what = "It was in flight when a run was killed." } = record;
  const mark = record.mark === "" ? newMark() : record.mark;
  const known = created.filter((each) => each.urn === urn).map((each) => each.record);
  if (also.length + known.length === 0) return { mark, field, what };
  const told = [
    ...also.map((each) => describe(kind, each)),
    ...known.map((each) => `${each.id}, ${describe(kind, each)}`),
  ];
  const others = new Set(told.filter((other) => !what.includes(other)));
  const more =
    others.size === 0 ? "" : ` More than one create of it was sent. Look also for ${enumerate([...others])}.`;
  return { mark, field: undefined, what: `${what}${more}` };
}

/** The resource as the engine would have saved it after the create. @param sent the arguments that its object was made with. */
function adopted(
  { initErrors: _, ...resource }: Resource,
  id: string,
  account: Record<string, unknown>,
  now: string,
  sent: Record<string, unknown> = visible(resource),
): Resource {
  const kind = kindOfType(resource.type);
  const outputs = {
    ...sent,
    ...account,
    [CREATED]: now,
    ...writeLeftLive(leftLiveIn(resource.outputs ?? {})),
    ...(kind === undefined ? {} : { [kind.idProperty]: exactId(id) }),
  };
  return { ...resource, id, outputs };
}

/**
 * Which create of a resource has made an object: the one that a search has found, or that a journal knows by its id; any, if all sent the
 * same. @returns none if interrupted runs sent different arguments, and nothing shows which of them made it.
 */
function madeBy(
  { inFlight }: Pending,
  create: PendingCreate,
  id: string,
  mark: string | undefined,
): CreateRecord | undefined {
  const all = recordsOf(create);
  const found = all.find((each) => each.mark === mark) ?? all.findLast((each) => each.id === id);
  if (found !== undefined || all.length === 1) return found ?? create.record;
  const recorded = (inFlight.get(create.urn) ?? []).map(({ kind, resource }) =>
    fingerprintOfBody(kind, resource.inputs ?? {}),
  );
  const noted = all.map(({ fingerprint }) => fingerprint).filter((fingerprint) => fingerprint !== "");
  return new Set([...recorded, ...noted]).size === 1 ? create.record : undefined;
}

/**
 * What the state says of an object is what was sent, if the program's arguments have changed since: so that the next run sees the change.
 * Its record has the arguments that people look for it by; if none of those has changed, what differs is not known, and the others are left
 * out. If it may be any of several creates, only those arguments are known on which they agree.
 */
function asSent(
  { inFlight }: Pending,
  create: PendingCreate,
  made: CreateRecord | undefined,
  resource: Resource,
): Record<string, unknown> {
  const now = visible(resource);
  const { record, known, kind: name } = create;
  const kind = kindNamed(name);
  const lookedForBy = [kind.nameProperty, ...kind.tellingProperties];
  const sentIn = ({ name: named, facts }: CreateRecord): Record<string, unknown> => ({
    ...(named === undefined ? {} : { [kind.nameProperty]: named }),
    ...facts,
  });
  // Without its provider, the engine could neither read nor delete it.
  const only = (properties: readonly string[]) =>
    Object.fromEntries(Object.entries(now).filter(([name]) => name === PROVIDER || properties.includes(name)));
  if (made === undefined) {
    const agreed = lookedForBy.filter((property) =>
      recordsOf(create).every((each) => sentIn(each)[property] === now[property]),
    );
    return only(agreed);
  }
  const isMade = ({ resource: { inputs } }: Creating) => readMark(inputs?.[MARK])?.mark === made.mark;
  const creating = inFlight.get(create.urn)?.find(isMade);
  if (creating !== undefined) return visible(creating.resource);
  const isOfNow =
    made === record
      ? known === "engine" || made.fingerprint !== ""
      : made.fingerprint === fingerprintOfBody(kind, resource.inputs ?? {});
  if (isOfNow) return now;
  const sent = sentIn(made);
  return Object.entries(sent).some(([property, value]) => now[property] !== value)
    ? { ...now, ...sent }
    : only(lookedForBy);
}

/** The same unresolved resource, with what is known of its create by now. */
function withRecord(resource: Resource, pending: Pending, create: PendingCreate, { newMark }: Surroundings): Resource {
  const { outputs = {} } = resource;
  const record = { ...create.record, ...toKeep(pending, create, newMark) };
  return { ...resource, outputs: { ...outputs, ...writeRecord(kindNamed(create.kind), record, outputs) } };
}

/** The resource as the provider would have had it saved after an unknown outcome. */
function asUnresolved(
  { kind, resource }: Creating,
  sent: Pick<CreateRecord, "mark" | "at" | "isLatest" | "field" | "what">,
  account: Record<string, unknown>,
): Resource {
  const { urn, inputs = {} } = resource;
  const record: CreateRecord = {
    ...sent,
    key: "",
    fingerprint: fingerprintOfBody(kind, inputs),
    urn,
    secret: [...secretArgumentsIn(inputs)],
  };
  const outputs = { ...visible(resource), ...account, ...writeRecord(kind, record, inputs) };
  return { ...resource, id: unresolvedId(record.mark), outputs, initErrors: [sent.what ?? ""] };
}

function settleMembers(
  resource: Resource,
  open: readonly PendingCreate[],
  pending: Pending,
  answers: Answers,
  { now, newMark }: Surroundings,
): Resource {
  const parts = readSetParts(resource.outputs ?? {});
  const { eventIds, earlier, events, [UNRESOLVED]: unresolved } = parts;
  const left = [...leftLiveIn(resource.outputs ?? {})];
  let created = {};
  const sent: [string, string][] = [];
  for (const create of open) {
    const { urn, entry, record, held } = create;
    const { key = "" } = splitMember(urn);
    const verdict = answers.get(urn);
    if (verdict === undefined) {
      unresolved[key] = writeMemberRecord({ ...record, ...latestOf(record, now), ...toKeep(pending, create, newMark) });
      continue;
    }
    delete unresolved[key];
    const { createdAs: id, mark } = verdict;
    if (id === undefined) continue;
    created = { [CREATED]: now };
    const replaced = eventIds[key];
    if (replaced !== undefined) {
      const due = held?.isDeleted === true ? { toDelete: true } : {};
      left.push({ id: String(replaced), at: record.at, why: "replaced", by: id, key, ...due });
    }
    eventIds[key] = exactId(id);
    events[key] ??= entry; // for reports, where it held nothing before
    const made = madeBy(pending, create, id, mark);
    if (made !== record || made.fingerprint !== "") sent.push([key, made?.fingerprint ?? ""]);
  }
  const isOfNow = bodiesOf(resource, events);
  for (const [key, fingerprint] of sent) if (!isOfNow(key, fingerprint)) earlier[key] = fingerprint;
  const { id = `set-${newMark()}`, outputs } = resource;
  return withParts({ ...resource, id, outputs: { ...outputs, ...created } }, parts, left);
}

/** Whether the entry of an event makes this body. */
function bodiesOf({ type, outputs }: Resource, events: Values): (key: string, fingerprint: string) => boolean {
  const kind = setOfType(type)?.member;
  const set = readStoredSet({ ...outputs, events, earlier: {} });
  return (key, fingerprint) => kind !== undefined && storedFingerprint(kind, set, key) === fingerprint;
}
