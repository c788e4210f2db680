/**
 * What `diff` does for a set: `decision/` decides about each member, then the plan and the members that wait for a person are reported, and the
 * objects that the set keeps are noted. Nothing is sent.
 */
import { count, OutcomeUnknownError, type Values, withPage } from "../base/index.js";
import { abilitiesOf, isChange, knownAdoption, type Member, membersOf, stillToDelete } from "../decision/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import {
  ACCOUNT,
  eventIn,
  isDeleteOwed,
  type LeftLive,
  memberRef,
  type Ref,
  type StoredSet,
  secretArgumentsIn,
  splitMember,
  unresolvedId,
} from "../state/index.js";
import {
  earlierOf,
  expectSameType,
  expectToSettle,
  lookBefore,
  reconcileHeld,
  settleFormerName,
  tellGone,
} from "./before.js";
import { learnHolders, noteHeld } from "./holding.js";
import { type Properties, refIn, secretOfMembers } from "./inputs.js";
import { createdInSet, expectNotDeleted, tellSentAgain } from "./known-operations.js";
import { expectSameAccount, resultOf } from "./outcome.js";
import type { Calls, Runtime } from "./services.js";
import { adoptedElsewhere, setFacts } from "./set-run.js";
import { adoptionInWords, beforeCreate, type Earlier, tellAll } from "./tell.js";
import { notesInWords, notSettledInWords, planInWords, renamesInWords, troubleInWords } from "./tell-set.js";

/**
 * Decides what becomes of the members of a set in the state, and shows that in a preview.
 * @returns whether anything changes; a set is never replaced. @throws AdvertisingError if nothing may be done.
 */
export const planSet: Calls<SetKind>["plan"] = async ({ name, member: kind }, runtime, id, olds, news) => {
  const { run } = runtime;
  const subject = refIn(name, news);
  expectSameAccount(olds[ACCOUNT], runtime.account, subject.label);
  expectSameType(name, olds, id, subject.label);
  const { stored, declared, isDeleting, circumstances } = setFacts(kind, runtime, subject, olds, news);
  let members = membersOf(kind, stored, declared, circumstances);
  noteHeld(kind, runtime, membersHeld(kind, subject, stored, members, news));
  const { open, adopted } = await adoptedElsewhere(kind, runtime, subject, stored.unresolved.values());
  // Other holders of objects to delete are asked for once they are known.
  if (isDeleting) await learnHolders(runtime);
  if (isDeleting || stored.unresolved.size > 0) {
    members = membersOf(kind, stored, declared, { ...circumstances, adopted });
    for (const { key, action } of members)
      if (action.do === "keep" && action.record !== undefined) run.kept.set(memberRef(subject, key).key, action.record);
    // The object of a create that is settled by now leaves the state too.
    const leaving = members.filter(({ former }) => former !== undefined);
    noteHeld(kind, runtime, membersHeld(kind, subject, stored, leaving, news));
  }
  expectNotDeleted(kind, runtime, subject, members, createdInSet(stored));
  // A refresh asks too, with the former inputs, and changes nothing.
  const isPlanned = run.declared.has(subject.key);
  if (isPlanned) tellSentAgain(kind, runtime, subject, members);
  // An unresolved member belongs to the set until it is settled, declared or not.
  for (const { key } of open) run.declared.add(key);
  const notes = notesInWords(await notesOf(runtime, subject, members));
  if (notes !== undefined) runtime.tellAt("warn", subject.resourceUrn, notes);
  const { membersFormerly = {} } = run.briefingOf(subject.key);
  for (const { key, action, id, entry, values } of members) {
    const member = memberRef(subject, key);
    const names = knownAdoption(entry);
    if (names === id && names !== undefined)
      await expectToSettle(kind, runtime, member, names, values, membersFormerly[member.key], true);
    // What is created says so itself.
    const isNew = id === undefined && isToCreate({ action });
    await tellGone(kind, runtime, member, isNew ? [] : membersFormerly[member.key]);
  }
  await tellGone(kind, runtime, subject);
  const isSupposed = run.isSupposed(subject.key, news);
  if (isPlanned) {
    await tellBefore(kind, runtime, subject, members, stored, stillToDelete(stored.leftLive, circumstances));
  }
  // In an `up` this is the error.
  const result = resultOf(members);
  if (!result.isWell && run.isUp !== true && !isSupposed) {
    const { text, code } = troubleInWords(kind, subject, members, result, stored.eventIds);
    runtime.tellAt("warn", subject.resourceUrn, withPage(text, code));
  }
  // Also if the state is only to drop a planned delete, because a later run knows less about the object's holders.
  return { changes: isChange(declared, members) || stored.leftLive.some(isDeleteOwed), replaces: [] };
};

function membersHeld(kind: Kind, set: Ref, stored: StoredSet, members: readonly Member[], news: Properties) {
  const [is, was] = [secretArgumentsIn(news), stored.secret].map((paths) => secretOfMembers(kind, paths));
  return members.flatMap(({ key, id, former }) => {
    if (id === undefined) return [];
    const values = eventIn(stored, stored.events.get(key) ?? {});
    const secret = new Set([...(is?.(key) ?? []), ...(was?.(key) ?? [])]);
    return [{ subject: memberRef(set, key), id, former, values, secret }];
  });
}

/** Compares the journal with the state. @returns in words, its remaining notes about members that stay unchanged or are removed. */
async function notesOf(runtime: Runtime, set: Ref, members: readonly Member[]): Promise<string[]> {
  const notes: string[] = [];
  for (const { key, action, id, fingerprint, unresolved } of members) {
    const member = memberRef(set, key);
    const sent = unresolved === undefined ? [] : [unresolvedId(unresolved.mark)];
    await settleFormerName(runtime, member, [...(id === undefined ? [] : [id]), ...sent]);
    if (id === undefined) continue;
    const words = await reconcileHeld(runtime, member, id, () => fingerprint ?? "");
    // A create or an adoption reads its notes itself, and an unresolved create has its own message.
    if (action.do === "keep" || action.do === "let go" || action.do === "delete") notes.push(...words);
  }
  return notes;
}

/**
 * Shows the plan in a preview; an `up` shows afterwards what was done, with the new ids.
 * @param still the objects that earlier runs could not delete, and this one is to.
 */
export async function tellBefore(
  kind: Kind,
  runtime: Runtime,
  set: Ref,
  members: readonly Member[],
  stored: StoredSet,
  still: readonly LeftLive[] = [],
): Promise<void> {
  const unsent = await tellNewMembers(kind, runtime, set, members, stored);
  const isManaged = (id: string) => runtime.run.holders.isManaged(kind.name, id);
  const adoption = adoptionInWords(abilitiesOf(kind, runtime.reading.settings));
  const plan = planInWords(kind, members, unsent, isManaged, still, adoption);
  if (plan !== undefined && runtime.run.isUp === false) runtime.tellAt("info", set.resourceUrn, plan);
}

/** @returns the keys of those that will not be sent. */
async function tellNewMembers(
  kind: Kind,
  runtime: Runtime,
  set: Ref,
  members: readonly Member[],
  stored: StoredSet,
): Promise<ReadonlySet<string>> {
  const unsettled = await earlierOfMembers(kind, runtime, set, members.filter(isToCreate));
  const unsent = new Set(unsettled.keys());
  const words = notSettledInWords(kind, set, unsettled);
  if (words !== undefined && runtime.run.isUp !== true) runtime.tellAt(words.severity, set.resourceUrn, words.text);
  const renames = renamesInWords(kind, set, members, unsettled);
  if (renames !== undefined) runtime.tellAt("warn", set.resourceUrn, renames);
  // Members that the state still has leave it in this run, which the words about renames say.
  const isStored = (journalKey: string) => {
    const { of, key } = splitMember(journalKey);
    return of === set.key && key !== undefined && stored.eventIds.has(key);
  };
  const { membersFormerly = {} } = runtime.run.briefingOf(set.key);
  const leftBy = Map.groupBy(stored.leftLive, (each) => each.key);
  for (const { key, action, values, id: held } of members) {
    const adopts = action.do === "adopt" ? action.id : undefined;
    if (adopts === undefined && (!isToCreate({ action }) || unsettled.has(key))) continue;
    const member = memberRef(set, key);
    const formerly = membersFormerly[member.key]?.filter((former) => !isStored(former));
    const wanted = adopts === undefined ? values : { ...values, existingId: adopts };
    const left = held === undefined ? leftBy.get(key) : undefined;
    if (!(await tellNewMember(kind, runtime, member, wanted, { fits: true, formerly, held, left }))) unsent.add(key);
  }
  runtime.tellCollected();
  return unsent;
}

function isToCreate({ action }: Pick<Member, "action">): boolean {
  return action.do === "create" || (action.do === "replace" && !action.perhaps);
}

/** Reports what is known about a member that gets an object. @returns false if a create of unknown outcome will stop it in the `up`. */
async function tellNewMember(
  kind: Kind,
  runtime: Runtime,
  member: Ref,
  values: Values,
  more: Parameters<typeof lookBefore>[4],
): Promise<boolean> {
  try {
    const before = await lookBefore(kind, runtime, member, values, more);
    const isStopped = before.earlier !== undefined;
    // The set's plan lists adoptions, and an `up` reports what it did.
    const isToldElsewhere = before.adopts !== undefined || (isStopped && runtime.run.isUp === true);
    if (!isToldElsewhere) tellAll(runtime, beforeCreate(kind, member, before));
    return !isStopped;
  } catch (error) {
    if (!(error instanceof OutcomeUnknownError)) throw error;
    runtime.warnEach(
      "elsewhere",
      member.resourceUrn,
      error.message,
      member.label,
      (amount) =>
        `${count(amount, "more event")} will not be sent, because others of unknown outcome have the same arguments`,
    );
    return false;
  }
}

/** Unresolved creates of an interrupted run, by the keys of a set's members, which are not sent. */
async function earlierOfMembers(
  kind: Kind,
  runtime: Runtime,
  set: Ref,
  members: readonly Member[],
): Promise<Map<string, Earlier>> {
  const found = new Map<string, Earlier>();
  for (const { key, values } of members) {
    const earlier = await earlierOf(kind, runtime, memberRef(set, key), values);
    if (earlier !== undefined) found.set(key, earlier);
  }
  return found;
}
