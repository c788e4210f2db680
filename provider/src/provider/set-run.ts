/**
 * A set as it is carried out, whatever front end the engine sees of it: what is due, then what is to be deleted, last and only if all else
 * went well, and what the state holds then. `carry-out.ts` does each; `outcome.ts` says what came of it.
 */
import { count, idRanges } from "../base/index.js";
import {
  abilitiesOf,
  type Circumstances,
  isDeleted,
  type Member,
  membersOf,
  stillToDelete,
} from "../decision/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  DELETES,
  eventIn,
  isOfKnownAccount,
  isToBeDeleted,
  labelOf,
  memberMark,
  memberOf,
  memberRef,
  PROVIDER,
  type Ref,
  readDeclaredSet,
  readStoredSet,
  type StoredSet,
  writeStoredSet,
} from "../state/index.js";
import { carryOutAll, deleteAll, isDue, type Managed } from "./carry-out.js";
import type { Severity } from "./engine.js";
import { expectSameAccount, Incomplete } from "./failure.js";
import { circumstancesOf, isSpared, learnHolders } from "./holding.js";
import {
  argumentsIn,
  maskSecretMembers,
  type Properties,
  refIn,
  type SecretOf,
  secretArgumentsOf,
  secretOfMembers,
} from "./inputs.js";
import { Progress } from "./messages.js";
import { createdInSet, momentToKeep } from "./optional.js";
import { heldBack, type Outcome, objectsToDelete, resultOf, setAfter } from "./outcome.js";
import { markIn } from "./search.js";
import type { Runtime } from "./services.js";
import { notDeleted, spared, tellAll } from "./tell.js";
import { deletedInWords, leftLiveInWords, takenOverInWords, troubleInWords } from "./tell-set.js";

/**
 * Creates or updates a set: what is due first, then the deletions, and these only if all else went well.
 * @param before what the state holds. @param isOfAccount whether the state says that its objects are this account's.
 * @returns what the state is to hold. @throws Incomplete something is wrong; it carries what the state is to hold all the same.
 */
export async function applySet(
  { name, member: kind }: SetKind,
  runtime: Runtime,
  id: string,
  before: StoredSet,
  inputs: Properties,
  isOfAccount: boolean,
): Promise<Properties> {
  const tell = (severity: Severity, text: string | undefined) => {
    if (text !== undefined) runtime.tellAt(severity, subject.at, text);
  };
  const values = argumentsIn(inputs);
  const paths = secretArgumentsOf(inputs);
  maskSecretMembers(values, paths, runtime.secrets);
  const subject = refIn(name, inputs);
  const declared = readDeclaredSet(values);
  const stored = unsettledOf(runtime, subject, before);
  const deletes = inputs[DELETES] === true && isOfAccount;
  if (deletes) await learnHolders(runtime);
  const circumstances = setCircumstances(kind, runtime, subject, deletes);
  const members = membersOf(kind, stored, declared, circumstances);
  const objects = dueOf(runtime, subject, stored, members, secretOfMembers(kind, paths), markIn(inputs, runtime));
  const toDo = members.filter((each) => isDue(each) || each.action.do === "delete").length;
  const due = toDo + stillToDelete(stored.left, circumstances).length;
  const progress = new Progress(due, runtime.clock, (text) => tell("info", `${subject.label}: ${text}`));
  const outcomes = await carryOutAll(kind, runtime, objects, openOf(members), progress);
  const wanted = objectsToDelete(members, outcomes, stored.left, circumstances);
  const { isWell } = resultOf(members, outcomes);
  const isSpared = (object: string, key: string) => !isDeleted(circumstances, object, key);
  const deletions = isWell
    ? await deleteAll(
        kind,
        runtime,
        { label: subject.label, created: createdInSet(stored) },
        wanted,
        progress,
        isSpared,
      )
    : heldBack(wanted);
  const at = runtime.now();
  const after = setAfter(kind, {
    stored,
    members,
    outcomes,
    deletions,
    shared: declared,
    secret: paths,
    at,
    created: momentToKeep(kind, runtime),
  });
  const outs = writeStoredSet(after, exactId, runtime.account);

  tell("warn", takenOverInWords(outcomes, subject));
  const isAdopted = (object: string) => runtime.run.holders.isAdopted(kind.name, object);
  tell("warn", leftLiveInWords(kind, members, outcomes, isAdopted, deletions));
  tell("info", deletedInWords(kind, deletions));
  const result = resultOf(members, outcomes, deletions);
  handOver(runtime, subject, outcomes, !result.isWell);
  if (result.isWell) return outs;
  const isNothing = [before, after].every((each) => each.eventIds.size + each.unresolved.size === 0);
  const saved = { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } };
  // What has no member is not saved: the next run creates it.
  const { text, code } = troubleInWords(kind, subject, members, result, after.eventIds);
  throw new Incomplete(text, isNothing ? undefined : saved, code);
}

/** Without what an adoption elsewhere in the program has settled. */
export function unsettledOf({ run }: Runtime, { key: setKey }: Ref, stored: StoredSet): StoredSet {
  const settled = new Set(run.briefingOf(setKey).settled);
  const left = [...stored.unresolved].filter(([key]) => !settled.has(memberOf(setKey, key)));
  return { ...stored, unresolved: new Map(left) };
}

/** @param deletes whether the set's objects are to be deleted when it lets go of them. */
export function setCircumstances(kind: Kind, runtime: Runtime, subject: Ref, deletes: boolean): Circumstances {
  // What it lets go of may be what something else adopts, whose id is not known before it is its turn.
  const { adoptsUnknown } = runtime.run.briefingOf(subject.key);
  return circumstancesOf(kind, runtime, subject, deletes && adoptsUnknown !== true);
}

/** The members that are due, as they are carried out. @param mark from which theirs follow. */
function dueOf(
  runtime: Runtime,
  subject: Ref,
  stored: StoredSet,
  members: readonly Member[],
  secret: SecretOf,
  mark: string | undefined,
): Managed[] {
  const { membersFormerly = {} } = runtime.run.briefingOf(subject.key);
  return members.filter(isDue).map(({ key, action, values, id, unresolved }) => {
    const member = memberRef(subject, key);
    return {
      key,
      subject: member,
      action,
      values,
      secret: secret(key),
      held: id,
      olds: eventIn(stored, stored.events.get(key) ?? {}),
      created: createdInSet(stored),
      mark: mark === undefined ? undefined : memberMark(mark, key),
      unresolved,
      formerly: membersFormerly[member.key],
    };
  });
}

/** Creates of unknown outcome that the state holds, by key. */
function openOf(members: readonly Member[]): ReadonlyMap<string, CreateRecord> {
  return new Map(members.flatMap(({ key, unresolved }) => (unresolved ? [[key, unresolved]] : [])));
}

/** The engine is handed what was created, perhaps beside an error. */
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
 * Deletes every object of a set that is removed as a whole. Reached only where `retainOnDelete` was turned off.
 * @throws Incomplete some were not deleted: all may be asked again, since what is not there counts as deleted.
 */
export async function deleteSet(
  { name, member: kind }: SetKind,
  runtime: Runtime,
  id: string,
  properties: Properties,
): Promise<void> {
  const stored = readStoredSet(properties);
  const label = `${name} ${id}`;
  expectSameAccount(properties[ACCOUNT], runtime.account, label);
  const can = abilitiesOf(kind, runtime.reading.settings);
  const due = stored.left.filter(isToBeDeleted);
  const all = [...stored.eventIds, ...due.map((each) => [each.key ?? "", each.id] as const)];
  const ours: (typeof all)[number][] = [];
  const others: string[] = [];
  for (const each of all) {
    if (await isSpared(kind, runtime, each[1])) others.push(each[1]);
    else ours.push(each);
  }
  if (others.length > 0) tellAll(runtime, [spared(`${idRanges(others)} of ${label}`)]);
  if (ours.length === 0) return;
  if (!can.delete || !isOfKnownAccount(properties)) {
    const ids = idRanges(ours.map(([, object]) => object));
    const those = `${count(ours.length, "event")} of ${label} left the state`;
    const sentence = `${those}, and each ${kind.afterlife}; deactivate them there by hand: ${ids}`;
    tellAll(runtime, [notDeleted(can.delete, sentence)]);
    return;
  }
  const progress = new Progress(ours.length, runtime.clock, (text) =>
    runtime.tellAt("info", "", `${label}: deleting: ${text}`),
  );
  const wanted = ours.map(([key, object]) => ({ id: object, key }));
  const { deleted, failed } = await deleteAll(
    kind,
    runtime,
    { label: labelOf(name, id), created: createdInSet(stored) },
    wanted,
    progress,
  );
  const [first] = failed.values();
  if (first === undefined) return;
  const left = idRanges(wanted.flatMap((each) => (deleted.has(each.id) ? [] : [each.id])));
  const done = `${deleted.size} of ${count(wanted.length, "event")} are deleted, and these are not: ${left}.`;
  throw new Incomplete(`${label}: ${done} ${first.message}`, undefined, first.code);
}
