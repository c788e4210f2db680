/**
 * Carries out a set, for any front end: creates, updates and adoptions; then deletes, last and only if everything else succeeded; and the
 * state afterwards. `carry-out.ts` does each; `outcome.ts` says how it ended.
 */
import { agree, count, idRanges } from "../base/index.js";
import {
  abilitiesOf,
  type Circumstances,
  isDeleted,
  type Member,
  membersOf,
  objectsToDelete,
  stillToDelete,
  type ToDelete,
} from "../decision/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  DELETES,
  type DeclaredSet,
  eventIn,
  formerIdsIn,
  isDeleteOwed,
  isOfKnownAccount,
  labelOf,
  memberMark,
  memberOf,
  memberRef,
  PROVIDER,
  type Ref,
  readDeclaredSet,
  readStoredSet,
  type StoredSet,
  secretArgumentsIn,
  staysLive,
  writeStoredSet,
} from "../state/index.js";
import { expectSameType, openHere } from "./before.js";
import { carryOutAll, deleteAll, hasWork, type Managed } from "./carry-out.js";
import { Progress, type Severity } from "./engine.js";
import { circumstancesOf, learnHolders, notedBefore, whenRemoved } from "./holding.js";
import { argumentsIn, maskSecretMembers, type Properties, refIn, type SecretOf, secretOfMembers } from "./inputs.js";
import { createdInSet, momentToKeep } from "./known-operations.js";
import { expectSameAccount, heldBack, Incomplete, idAfter, type Outcome, resultOf, setAfter } from "./outcome.js";
import { markIn } from "./search.js";
import type { Calls, Runtime } from "./services.js";
import { notDeleted, spared, tellAll } from "./tell.js";
import { deletedInWords, leftLiveInWords, takenOverInWords, troubleInWords } from "./tell-set.js";

interface SetFacts {
  readonly stored: StoredSet;
  readonly declared: DeclaredSet;
  /** `retainOnDelete` is off. */
  readonly isDeleting: boolean;
  readonly circumstances: Circumstances;
}

/**
 * The facts that are known at once, without those of {@link adoptedElsewhere}.
 * @param olds the set's properties in the state. @param inputs the checked ones.
 */
export function setFacts(kind: Kind, runtime: Runtime, subject: Ref, olds: Properties, inputs: Properties): SetFacts {
  const { adoptsUnknown } = runtime.run.briefingOf(subject.key);
  const stored = readStoredSet(olds);
  // Another resource whose `existingId` is not known yet may adopt an object that the set gives up, so nothing is deleted, now or later.
  const isDeleting = inputs[DELETES] === true && adoptsUnknown !== true;
  const circumstances = circumstancesOf(kind, runtime, subject, olds, isDeleting);
  return { stored, declared: readDeclaredSet(inputs), isDeleting, circumstances };
}

/**
 * The objects that other resources adopt for unresolved creates, by this program or by that of an earlier run. For creates that are unresolved
 * in this machine's journal, only the present program counts.
 * @returns also the creates that are unresolved in this machine's journal.
 */
export async function adoptedElsewhere(kind: Kind, runtime: Runtime, set: Ref, creates: Iterable<CreateRecord>) {
  const { run, seen } = runtime;
  const open = await openHere(runtime, set, [...creates]);
  const isOpen = new Set(open.map(({ mark }) => mark));
  const adopted: NonNullable<Circumstances["adopted"]> = (member, record) => {
    const key = memberOf(set.key, member);
    const isOpenHere = isOpen.has(record.mark);
    const adoptedAs = run.briefingOf(set.key).adoptedAs?.[key] ?? (isOpenHere ? undefined : record.adoptedAs);
    if (adoptedAs !== undefined && !isOpenHere && seen.isSettled(record)) return { id: adoptedAs, isHeld: true };
    const found = run.holders.adoptedFor(kind, { ...record, adoptedAs }, key, run.hasMore);
    return found && { ...found, isHeld: found.isHeld && !isOpenHere };
  };
  return { open, adopted };
}

/** The keys of creates that were kept until another resource has their objects, and one does by now. */
async function settledSince(kind: Kind, runtime: Runtime, set: Ref, members: readonly Member[]): Promise<Set<string>> {
  const kept = members.flatMap(({ key, id, action }) =>
    action.do === "keep" && action.record !== undefined && id === undefined ? [[key, action.record] as const] : [],
  );
  const { adopted } = await adoptedElsewhere(kind, runtime, set, new Map(kept).values());
  return new Set(kept.flatMap(([key, record]) => (adopted(key, record)?.isHeld === true ? [key] : [])));
}

/** Creates a set like {@link updateSet}. Its id means nothing to the platform. */
export const createSet: Calls<SetKind>["create"] = async (set, runtime, inputs) => {
  const id = `set-${runtime.newMark()}`;
  return { id, outs: await updateSet(set, runtime, id, {}, inputs) };
};

/**
 * Makes the members of a set what is declared, and then deletes, but only if everything else succeeded.
 * @param olds its properties in the state; none for a new set.
 * @returns its next properties. @throws Incomplete if something failed, with the next properties too.
 */
export const updateSet: Calls<SetKind>["update"] = async ({ name, member: kind }, runtime, id, olds, inputs) => {
  const tell = (severity: Severity, text: string | undefined) => {
    if (text !== undefined) runtime.tellAt(severity, subject.resourceUrn, text);
  };
  const values = argumentsIn(inputs);
  const paths = secretArgumentsIn(inputs);
  maskSecretMembers(values, paths, runtime.secrets);
  const subject = refIn(name, inputs);
  expectSameType(name, olds, id, subject.label);
  const { stored, declared, isDeleting, ...facts } = setFacts(kind, runtime, subject, olds, inputs);
  const { adopted } = await adoptedElsewhere(kind, runtime, subject, stored.unresolved.values());
  const circumstances = { ...facts.circumstances, adopted };
  if (isDeleting) await learnHolders(runtime);
  const members = membersOf(kind, stored, declared, circumstances);
  const objects = objectsOf(
    kind,
    runtime,
    subject,
    stored,
    members,
    secretOfMembers(kind, paths),
    markIn(inputs, runtime),
  );
  const toDo = members.filter((each) => hasWork(each) || each.action.do === "delete").length;
  const total = toDo + stillToDelete(stored.leftLive, circumstances).length;
  const progress = new Progress(total, runtime.clock, (text) => tell("info", `${subject.label}: ${text}`));
  const open = new Map(members.flatMap(({ key, unresolved }) => (unresolved ? [[key, unresolved] as const] : [])));
  const outcomes = await carryOutAll(kind, runtime, objects, open, progress);
  const idNow = (key: string) => idAfter(outcomes.get(key));
  const wanted = objectsToDelete(members, idNow, stored.leftLive, circumstances);
  const { isWell } = resultOf(members, outcomes);
  const isStillToGo = (object: string, key: string) => isDeleted(circumstances, object, key);
  const set = { label: subject.label, created: createdInSet(stored) };
  const deletions = isWell ? await deleteAll(kind, runtime, set, wanted, progress, isStillToGo) : heldBack(wanted);
  const at = runtime.now();
  // Of what only notes of this machine say that another resource has it, which may be out of date, the next run asks again: not if that
  // resource is protected, since such a note is forgotten before the resource leaves the state.
  const mayDelete = isDeleting && circumstances.can.delete && isOfKnownAccount(olds);
  const isProtected = (object: string) =>
    runtime.rememberedOf(kind.name, object).some(({ protects }) => protects === true);
  const isPostponed = (object: string) =>
    mayDelete && !runtime.run.holders.isManaged(kind.name, object) && !isProtected(object);
  const after = setAfter(kind, {
    stored,
    isPostponed,
    members,
    outcomes,
    settled: await settledSince(kind, runtime, subject, members),
    deletions,
    shared: declared,
    secret: paths,
    at,
    created: momentToKeep(kind, runtime),
  });
  const outs = writeStoredSet(after, exactId, runtime.account);

  tell("info", takenOverInWords(outcomes, subject));
  if (members.some(({ former }) => former !== undefined)) await learnHolders(runtime);
  // Mere notes count too: what else has the object is declared, or its own removal is reported.
  const isElsewhere = (object: string) => runtime.run.holders.of(kind.name, object).length > 0;
  tell("warn", leftLiveInWords(kind, members, outcomes, isElsewhere, deletions, runtime.run.mayAdoptMore(kind)));
  tell("info", deletedInWords(kind, deletions));
  const result = resultOf(members, outcomes, deletions);
  handOver(runtime, subject, outcomes, !result.isWell);
  if (result.isWell) return outs;
  const isNothing = [readStoredSet(olds), after].every((each) => each.eventIds.size + each.unresolved.size === 0);
  const saved = { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } };
  // Without a member, nothing is saved: the next run creates the set.
  const { text, code } = troubleInWords(kind, subject, members, result, after.eventIds);
  throw new Incomplete(text, isNothing ? undefined : saved, code);
};

/** The members with something to carry out. @param mark from which theirs are derived. */
function objectsOf(
  kind: Kind,
  runtime: Runtime,
  subject: Ref,
  stored: StoredSet,
  members: readonly Member[],
  secret: SecretOf,
  mark: string | undefined,
): Managed[] {
  const { membersFormerly = {} } = runtime.run.briefingOf(subject.key);
  return members.filter(hasWork).map(({ key, action, values, id, unresolved }) => {
    const member = memberRef(subject, key);
    return {
      key,
      subject: member,
      action,
      values,
      secret: secret(key),
      // If the engine was asked to replace the set, only this machine's notes know its objects.
      held: id ?? (action.do === "create" ? notedBefore(kind, runtime, member) : undefined),
      formerIds: formerIdsIn(stored, key),
      olds: eventIn(stored, stored.events.get(key) ?? {}),
      created: createdInSet(stored),
      mark: mark === undefined ? undefined : memberMark(mark, key),
      unresolved,
      formerly: membersFormerly[member.key],
    };
  });
}

/** Notes in the journal that the engine gets what was created, perhaps beside an error. */
function handOver(
  runtime: Runtime,
  subject: Ref,
  outcomes: ReadonlyMap<string, Outcome>,
  isBesideError: boolean,
): void {
  const journal = runtime.journal(subject.identity);
  for (const outcome of outcomes.values()) {
    if (outcome.kind !== "created") continue;
    if (isBesideError) journal.handOverBesideError(outcome.mark);
    else journal.handOver(outcome.mark);
  }
}

/**
 * Deletes every object of a removed set. Called only if `retainOnDelete` was switched off.
 * @throws Incomplete if some were not deleted: all deletes may be repeated, because a missing object counts as deleted.
 */
export const deleteSet: Calls<SetKind>["delete"] = async ({ name, member: kind }, runtime, id, properties) => {
  const stored = readStoredSet(properties);
  const label = `${name} ${id}`;
  expectSameAccount(properties[ACCOUNT], runtime.account, label, "delete");
  const held = [...stored.eventIds].map(([key, object]): ToDelete => ({ key, id: object }));
  const owed = stored.leftLive.filter(isDeleteOwed).map(({ key = "", id: object }): ToDelete => ({ key, id: object }));
  const become = { deleted: [] as ToDelete[], spared: [] as ToDelete[], "left live": [] as ToDelete[] };
  for (const each of [...held, ...owed]) {
    const { key, id: object } = each;
    become[await whenRemoved(kind, runtime, object, properties, stored.events.get(key) ?? {}, key)].push(each);
  }
  const { deleted: wanted, spared: others, "left live": left } = become;
  if (others.length > 0) tellAll(runtime, [spared(`${idRanges(others.map((each) => each.id))} of ${label}`)]);
  if (left.length > 0) {
    const can = abilitiesOf(kind, runtime.reading.settings);
    const ids = idRanges(left.map((each) => each.id));
    const those = `${count(left.length, "event")} of ${label} (${ids}) left the state, and ${agree(left.length, "it", "each")}`;
    tellAll(runtime, [notDeleted(can.delete, isOfKnownAccount(properties), `${staysLive(kind, those)}.`)]);
  }
  if (wanted.length === 0) return;
  const progress = new Progress(wanted.length, runtime.clock, (text) =>
    runtime.tellAt("info", "", `${label}: deleting: ${text}`),
  );
  const { deleted, failed } = await deleteAll(
    kind,
    runtime,
    { label: labelOf(name, id), created: createdInSet(stored) },
    wanted,
    progress,
  );
  const [first] = failed.values();
  if (first === undefined) return;
  const remaining = idRanges(wanted.flatMap((each) => (deleted.has(each.id) ? [] : [each.id])));
  const done = `${deleted.size} of ${count(wanted.length, "event")} ${agree(deleted.size, "was", "were")} deleted. Not deleted: ${remaining}.`;
  throw new Incomplete(`${label}: ${done} ${first.message}`, undefined, first.code);
};
