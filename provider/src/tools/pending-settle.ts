/**
 * Settles creates of unknown outcome: makes the stack as it is to be by the answers. Taking answers back is `reopen` in `pending-answers.ts`;
 * what either makes is imported by `changeStack` in `change-stack.ts`. Pure: an exported stack in, an exported stack out.
 */
import { asRecord, enumerate, type Values, withoutUndefined } from "../base/index.js";
import { fingerprintOfBody, type Kind, kindNamed, kindOfType, setOfType } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  type CreateRecord,
  describe,
  eventIn,
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
  tellingOfMember,
  UNRESOLVED,
  unresolvedId,
  writeEarlier,
  writeLeftLive,
  writeMemberRecord,
  writeRecord,
} from "../state/index.js";
import { holdsSecret, objectsIn } from "./contents.js";
import type { Verdict } from "./pending-answers.js";
import { bodyOf, type Creating, idOf, type Pending, type PendingCreate, recordsOf } from "./pending-facts.js";
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

/** What each step of a settlement goes by. */
interface Settling extends Surroundings {
  readonly pending: Pending;
  /** By URN. */
  readonly answers: ReadonlyMap<string, Verdict>;
  /** The account of all that is saved, as the state has it. */
  readonly at: Readonly<Record<string, unknown>>;
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
  surroundings: Surroundings,
): ExportedStack {
  const { resources: all } = stateIn(stack);
  const { now } = surroundings;
  const answers = new Map(verdicts.map((verdict) => [verdict.urn, verdict]));
  const at = { [ACCOUNT]: accountIn(all) ?? surroundings.account() };
  const settling: Settling = { ...surroundings, pending, answers, at };
  const openByUrn = new Map(pending.open.map((create) => [create.urn, create]));
  const dropped = new Set<string>();
  const saved = all.flatMap((resource): Resource[] => {
    const { urn } = resource;
    const [verdict, create] = [answers.get(urn), openByUrn.get(urn)];
    if (!isUnresolved(resource.outputs) || create === undefined) return [resource];
    if (verdict === undefined) {
      // Pulumi's own record has further creates of it, and drops them.
      if (resource.delete === true || !pending.inFlight.has(urn)) return [resource];
      const { outputs = {} } = resource;
      const record = { ...create.record, ...latestOf(create.record, now), ...toKeep(settling, create) };
      return [{ ...resource, outputs: { ...outputs, ...writeRecord(kindNamed(create.kind), record, outputs) } }];
    }
    if (resource.delete === true) return []; // `--replace` of an unresolved one leaves it there twice
    if (verdict.createdAs === undefined) dropped.add(urn);
    return [verdict.createdAs === undefined ? resource : made(settling, resource, verdict.createdAs, create)];
  });
  const current = currentByUrn(all);
  const members = Map.groupBy(
    pending.open.filter(({ entry }) => entry !== undefined),
    ({ urn }) => splitMember(urn).of,
  );
  const sets = new Map(
    [...members].flatMap(([urn, creates]) => {
      const fresh = pending.newSets.get(urn);
      const set = current.get(urn) ?? (fresh && { ...fresh, outputs: { ...fresh.outputs, ...at } });
      return set === undefined ? [] : [[urn, settleMembers(settling, set, creates)] as const];
    }),
  );
  const kept = saved.map((resource) => (resource.delete === true ? resource : (sets.get(resource.urn) ?? resource)));
  const held = objectsIn(kept.filter((resource) => resource.delete !== true));
  const taken = new Set(held.map(({ kind, id = "" }) => objectKey(kind.name, id)));
  const singles = withCreates(withoutCreates(kept, dropped, taken), fromEngineRecord(settling), now);
  const newSets = [...sets.values()].filter(({ urn }) => !current.has(urn));
  const others = (stack.deployment.pending_operations ?? []).filter(({ type, resource }) => {
    return !isOurs(resource) || (type !== "creating" && setOfType(resource.type) === undefined);
  });
  const settled = withResources(stack, inOrder([...singles, ...newSets]));
  return { ...settled, deployment: { ...settled.deployment, pending_operations: others } };
}

/**
 * The single resources that only the engine's record of an interrupted run has, as they are saved: those whose object a journal of this
 * machine knows, and those that were answered or stay unresolved.
 */
function fromEngineRecord(settling: Settling): Resource[] {
  const { pending, answers, now } = settling;
  const decided = pending.open.flatMap((create): Resource[] => {
    const { urn, known, record, creating } = create;
    if (known !== "engine" || creating === undefined) return [];
    const verdict = answers.get(urn);
    if (verdict !== undefined)
      return verdict.createdAs === undefined ? [] : [made(settling, creating.resource, verdict.createdAs, create)];
    const kept = toKeep(settling, create);
    return [asUnresolved(settling, creating, { ...latestOf(record, now), ...kept })];
  });
  // The state has room for one: beside that, what was created stays in the journal.
  const isNotCreated = (urn: string) => answers.has(urn) && answers.get(urn)?.createdAs === undefined;
  const isTaken = new Set(
    pending.open.flatMap(({ urn, known }) => (known === "journal" || isNotCreated(urn) ? [] : urn)),
  );
  const created = pending.created.flatMap(({ urn, creating, record: { id } }): Resource[] => {
    if (creating === undefined || id === undefined || isTaken.has(urn)) return [];
    isTaken.add(urn);
    return [made(settling, creating.resource, id)];
  });
  return [...created, ...decided];
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
  { pending, newMark }: Settling,
  { urn, kind, record, also = [] }: PendingCreate,
): Pick<CreateRecord, "mark" | "field" | "what"> {
  const { field, what = "It was in flight when a run was killed." } = record;
  const mark = record.mark === "" ? newMark() : record.mark;
  const known = pending.created.filter((each) => each.urn === urn).map((each) => each.record);
  if (also.length + known.length === 0) return { mark, field, what };
  const told = [...also, ...known].map(
    (each) => `${each.id === undefined ? "" : `${each.id}, `}${describe(kind, each)}`,
  );
  const others = new Set(told.filter((other) => !what.includes(other)));
  const more =
    others.size === 0 ? "" : ` More than one create of it was sent. Look also for ${enumerate([...others])}.`;
  return { mark, field: undefined, what: `${what}${more}` };
}

/** The resource as the engine would have saved it after the create. @param create if it may have been sent with other arguments. */
function made(
  settling: Settling,
  { initErrors: _, ...resource }: Resource,
  id: string,
  create?: PendingCreate,
): Resource {
  const kind = kindOfType(resource.type);
  const outputs = {
    ...(create === undefined ? visible(resource) : asSent(settling, create, id, resource)),
    ...settling.at,
    [CREATED]: settling.now,
    ...writeLeftLive(leftLiveIn(resource.outputs ?? {})),
    ...(kind === undefined ? {} : { [kind.idProperty]: exactId(id) }),
  };
  return { ...resource, id, outputs };
}

/**
 * Which create of a resource has made an object: the one that a search has found, or that a journal knows by its id; any, if all sent the
 * same. @returns none if interrupted runs sent different arguments, and nothing shows which of them made it.
 */
function madeBy({ pending, answers }: Settling, create: PendingCreate, id: string): CreateRecord | undefined {
  const all = recordsOf(create);
  const mark = answers.get(create.urn)?.mark;
  const found = all.find((each) => each.mark === mark) ?? all.findLast((each) => idOf(each) === id);
  if (found !== undefined || all.length === 1) return found ?? create.record;
  const recorded = (pending.inFlight.get(create.urn) ?? []).map(bodyOf);
  const noted = all.map(({ fingerprint }) => fingerprint).filter((fingerprint) => fingerprint !== "");
  return new Set([...recorded, ...noted]).size === 1 ? create.record : undefined;
}

/**
 * What the state says of an object is what was sent, if the program's arguments have changed since: so that the next run sees the change.
 * Its record has the arguments that people look for it by; if none of those has changed, what differs is not known, and the others are left
 * out. If it may be any of several creates, only those arguments are known on which they agree.
 */
function asSent(settling: Settling, create: PendingCreate, id: string, resource: Resource): Record<string, unknown> {
  const sender = madeBy(settling, create, id);
  const now = visible(resource);
  const { record, known, kind: name } = create;
  const kind = kindNamed(name);
  const lookedForBy = [kind.nameProperty, ...kind.tellingProperties];
  const sentIn = ({ name, facts }: CreateRecord): Record<string, unknown> =>
    withoutUndefined({ [kind.nameProperty]: name, ...facts });
  // Without its provider, the engine could neither read nor delete it.
  const only = (properties: readonly string[]) =>
    Object.fromEntries(Object.entries(now).filter(([name]) => name === PROVIDER || properties.includes(name)));
  if (sender === undefined) {
    const agreed = lookedForBy.filter((property) =>
      recordsOf(create).every((each) => sentIn(each)[property] === now[property]),
    );
    return only(agreed);
  }
  const { fingerprint } = sender;
  // Of secret arguments, and of what the engine's record alone implies, no body is known.
  const mayMake = (each: Creating) =>
    fingerprint === "" || holdsSecret(each.resource.inputs) || fingerprint === bodyOf(each);
  const isSender = (each: Creating) => readMark(each.resource.inputs?.[MARK])?.mark === sender.mark && mayMake(each);
  const creating = settling.pending.inFlight.get(create.urn)?.find(isSender);
  if (creating !== undefined) return visible(creating.resource);
  const isAsRecorded = known === "state" ? fingerprint !== "" : mayMake({ kind, resource });
  if (sender === record ? isAsRecorded : fingerprint === bodyOf({ kind, resource })) return now;
  const sent = sentIn(sender);
  return Object.entries(sent).some(([property, value]) => now[property] !== value)
    ? { ...now, ...sent }
    : only(lookedForBy);
}

/** The resource as the provider would have had it saved after an unknown outcome. */
function asUnresolved(
  { at }: Settling,
  { kind, resource }: Creating,
  sent: Pick<CreateRecord, "mark" | "at" | "isLatest" | "field" | "what">,
): Resource {
  const { urn, inputs = {} } = resource;
  const record: CreateRecord = {
    ...sent,
    key: "",
    fingerprint: fingerprintOfBody(kind, inputs),
    urn,
    secret: [...secretArgumentsIn(inputs)],
  };
  const outputs = { ...visible(resource), ...at, ...writeRecord(kind, record, inputs) };
  return { ...resource, id: unresolvedId(record.mark), outputs, initErrors: [sent.what ?? ""] };
}

/**
 * As {@link asSent}, of a member of the set with these outputs: the entry that describes its object.
 * @param entry that the state or the engine's record has. @param sender none if nobody knows which create made it.
 * @returns also what is stored as `earlier` if no entry that is known describes the whole of it.
 */
function memberAsSent(
  kind: Kind,
  { advertiserId: owner, defaults = {} }: Values,
  entry: Values,
  sender: CreateRecord | undefined,
): { readonly entry: Values; readonly unlike?: string } {
  const { fingerprint = "", name, facts: { advertiserId, ...facts } = {} } = sender ?? {};
  const told = withoutUndefined({ [kind.nameProperty]: name, ...facts });
  const isWhole = (each: Values) =>
    fingerprintOfBody(kind, eventIn({ advertiserId: owner, defaults }, each)) === fingerprint;
  const whole = [entry, { ...entry, ...told }].find(isWhole);
  if (whole !== undefined) return { entry: whole };
  if (advertiserId === undefined) return { entry, unlike: fingerprint };
  const names = Object.keys(kind.wireNames).filter((property) => !(property in kind.refersTo));
  const unknown = Object.fromEntries(names.map((property) => [property, null]));
  return {
    entry: { ...unknown, ...told },
    unlike: writeEarlier({ fingerprint, advertiserId: String(advertiserId) }),
  };
}

function settleMembers(settling: Settling, resource: Resource, open: readonly PendingCreate[]): Resource {
  const { answers, now, newMark } = settling;
  const kind = setOfType(resource.type)?.member as Kind;
  const before = readStoredSet(resource.outputs ?? {}); // what is secret is no text there
  const parts = readSetParts(resource.outputs ?? {});
  const { eventIds, earlier, events, [UNRESOLVED]: unresolved } = parts;
  const left = [...leftLiveIn(resource.outputs ?? {})];
  let created = {};
  const sent: [string, CreateRecord | undefined][] = [];
  for (const create of open) {
    const { urn, entry, record, held } = create;
    const { key = "" } = splitMember(urn);
    const verdict = answers.get(urn);
    if (verdict === undefined) {
      unresolved[key] = writeMemberRecord({ ...record, ...latestOf(record, now), ...toKeep(settling, create) });
      continue;
    }
    delete unresolved[key];
    const { createdAs: id } = verdict;
    if (id === undefined) continue;
    created = { [CREATED]: now };
    const replaced = eventIds[key];
    if (replaced !== undefined) {
      const due = held?.isDeleted === true ? { toDelete: true } : {};
      const told = tellingOfMember(kind, before, key, new Set());
      left.push({ id: String(replaced), ...told, at: record.at, why: "replaced", by: id, key, ...due });
    }
    eventIds[key] = exactId(id);
    delete earlier[key]; // of the object that was there before
    events[key] ??= entry; // for reports, where it held nothing before
    const made = madeBy(settling, create, id);
    if (made !== record || made.fingerprint !== "") sent.push([key, made]);
  }
  const { id = `set-${newMark()}`, outputs } = resource;
  for (const [key, made] of sent) {
    const { entry, unlike } = memberAsSent(kind, outputs ?? {}, asRecord(events[key]), made);
    events[key] = entry;
    if (unlike !== undefined) earlier[key] = unlike;
  }
  return withParts({ ...resource, id, outputs: { ...outputs, ...created } }, parts, left);
}
