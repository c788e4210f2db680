/**
 * Decides about a set and carries that out, for any front end: its members by the same rules and functions as single
 * resources; then deletes, last and only if everything else went well; and the state afterwards.
 */
import { randomUUID } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { type AdvertisingError, count, idRanges, RefusedError, type Values, withoutUndefined } from "../base/index.js";
import { displayName, fingerprintOfBody, type Kind, type SetKind } from "../kinds/index.js";
import { abilitiesOf, type PlannedObject, plannedMembers, shownAction } from "../plan/index.js";
import { exactId } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  DELETES,
  type DeclaredSet,
  eventIn,
  keptForRead,
  type LeftLive,
  memberLabel,
  memberRef,
  PROVIDER,
  type ResourceRef,
  readDeclaredSet,
  readStoredSet,
  resolvedIn,
  type SentAs,
  type StoredSet,
  type Unresolved,
  withNewKeys,
  writeResolved,
  writeStoredSet,
} from "../state/index.js";
import { tellBefore } from "./check.js";
import { createBlocker, takeableOf } from "./create.js";
import { deleteUnlessKept, executeAll, hasWork, momentToKeep, taskOf } from "./execute.js";
import { adoptedMessage, leftMessage, planMessage, setFailureMessage, takenOverMessage } from "./messages.js";
import { progressOf, type Severity } from "./notices.js";
import {
  asOurs,
  expectSameAccount,
  Incomplete,
  idAfter,
  isTrouble,
  type Kept,
  type ObjectTask,
  type Outcome,
  type Outcomes,
} from "./outcome.js";
import type { ResourceOperations, Runtime } from "./runtime.js";
import { circumstancesOf, expectSameType, notePlanned, preparesRead, secretIn } from "./single.js";

function factsOf(kind: Kind, runtime: Runtime, olds: Values, inputs: Values) {
  const circumstances = circumstancesOf(kind, runtime, inputs[DELETES] === true, olds);
  const before = readStoredSet(olds);
  const declared = readDeclaredSet(inputs);
  const { set: stored } = withNewKeys(before, declared);
  return { circumstances, stored, declared, members: plannedMembers(kind, before, declared, circumstances) };
}

/** Previews what becomes of the members. A set is never replaced. @throws AdvertisingError if nothing may be done. */
export const planSet: ResourceOperations<SetKind>["plan"] = async (set, runtime, ref, { id, olds, news }) => {
  const { deployment } = runtime;
  const kind = set.member;
  expectSameAccount(runtime, olds[ACCOUNT], `The state has ${ref.label}`);
  expectSameType("events", olds, id, ref.label);
  const { declared, members } = factsOf(kind, runtime, olds, news);
  // A refresh asks too, with old inputs, and a run for what its targets might replace: nothing is noted or said then.
  if (deployment.isChecked(ref.key)) {
    const secret = secretOfMembers(set, runtime, ref, news);
    noteCreates(kind, runtime, ref, olds, members);
    for (const member of members) notePlanned(kind, runtime, memberRef(ref, member.key), member, secret);
    runtime.tellCollected();
    if (!deployment.isUp) tellPlan(kind, runtime, ref, members);
  }
  // Members that are not known yet are changes too.
  const isChanged = members.some((member) => shownAction(member) !== "same");
  const hasChanges = declared.events === undefined || isChanged;
  return { changes: hasChanges || preparesRead(kind, runtime, ref, { olds, news }), replaces: [] };
};

/** What the state says about creates: which of them were found, and which are still open. */
function noteCreates(
  kind: Kind,
  runtime: Runtime,
  resourceRef: ResourceRef,
  olds: Values,
  members: readonly PlannedObject[],
): void {
  const { deployment } = runtime;
  const journal = runtime.journal(resourceRef.identity);
  const resolved = resolvedIn(olds);
  deployment.noteSeen(kind, undefined, resolved);
  if (deployment.isUp) journal.saw({ key: resourceRef.key, creates: resolved });
  for (const { key, id, unresolved, isDeclared } of members) {
    if (unresolved === undefined) continue;
    const ref = memberRef(resourceRef, key);
    const { mark } = unresolved;
    // The journal may have it too, perhaps under a former name: it is one create.
    deployment.noteSeen(kind, undefined, [mark]);
    // What is declared looks after its own create. The others may be a new event under another key.
    if (!isDeclared)
      runtime.openCreates(resourceRef.identity).add({ ...unresolved, key: ref.key, state: "sent", isInState: true });
    else if (deployment.isUp && id === undefined) journal.saw({ key: ref.key, creates: [mark] });
  }
}

function secretOfMembers(
  { member }: SetKind,
  runtime: Runtime,
  { key }: ResourceRef,
  inputs: Values,
): ReadonlySet<string> {
  return memberSecrets(member, secretIn(runtime, key, inputs));
}

/** The names of the members' arguments that must not be shown: with any secret in `events` or `defaults`, none is. */
export function memberSecrets(member: Kind, secret: ReadonlySet<string>): ReadonlySet<string> {
  // The owner is none of them: without it, an object could not be updated but only replaced.
  const theirs = member.outputs.filter((name) => !(name in member.refersTo));
  return secret.has("events") || secret.has("defaults") ? new Set([...secret, ...theirs]) : secret;
}

/** @throws Incomplete the `up` would end with these errors. */
function tellPlan(kind: Kind, runtime: Runtime, ref: ResourceRef, members: readonly PlannedObject[]): void {
  const fresh = members.filter(({ action }) => action.do === "create" || (action.do === "replace" && !action.perhaps));
  const open = members.flatMap(({ key, action }) =>
    action.do === "blocked" ? { ref: memberRef(ref, key), ...action } : [],
  );
  const toCreate = fresh.map(({ key, values, id }) => ({ ref: memberRef(ref, key), values, held: id }));
  const stops = tellBefore(kind, runtime, toCreate, open);
  const [first] = stops;
  if (first !== undefined) throw new Incomplete(stops.map(({ message }) => message).join("\n"), undefined, first.code);
  const abilities = abilitiesOf(kind, runtime.reading.settings);
  const plan = planMessage(kind, members, abilities, (id) => runtime.deployment.isKept(kind, id));
  runtime.tellAt("info", ref.resourceUrn, plan);
}

/** The id means nothing to the platform. */
export const createSet: ResourceOperations<SetKind>["create"] = async (set, runtime, ref, inputs) => {
  const id = `set-${randomUUID()}`;
  return { id, outs: await updateSet(set, runtime, ref, { id, olds: {}, news: inputs }) };
};

/** Makes members what is declared, then deletes. @throws Incomplete if something failed; has the next properties. */
export const updateSet: ResourceOperations<SetKind>["update"] = async (set, runtime, ref, { id, olds, news }) => {
  const kind = set.member;
  const tell = (severity: Severity, text: string | undefined) => runtime.tellAt(severity, ref.resourceUrn, text);
  const secret = secretOfMembers(set, runtime, ref, news);
  expectSameType("events", olds, id, ref.label);
  const { circumstances, stored, declared, members } = factsOf(kind, runtime, olds, news);
  const work = members.filter(hasWork);
  const progress = progressOf(work.length, runtime.clock, (text) => tell("info", `${ref.label}: ${text}`));
  const objects = work.map((member) => {
    const left = stored.left.filter((each) => each.key === member.key);
    return taskOf(runtime, memberRef(ref, member.key), member, news, left, { secret, created: stored.created });
  });
  noteRefusals(kind, runtime, objects);
  const outcomes = await executeAll(kind, runtime, objects, progress);
  const isWell = ![...outcomes.values()].some(isTrouble);
  const at = runtime.now();
  const leaving = members.flatMap((member): LeftLive[] => {
    const { key, id } = member;
    if (id === undefined || (!isRemoved(member) && (idAfter(outcomes.get(key)) ?? id) === id)) return [];
    return [withoutUndefined({ id, at, name: displayName(kind, stored.events.get(key) ?? {}, secret), key })];
  });
  const isDeleted = ({ id }: LeftLive) => isWell && circumstances.can.delete && circumstances.deletes(id);
  const { gone, kept } = await deleteAll(kind, runtime, ref.label, leaving.filter(isDeleted), olds);
  // What was removed, and could not be deleted, stays in the state, so that the next run tries again.
  const isStill = ({ id, action }: PlannedObject) =>
    action.do === "delete" && (!isWell || kept.some((each) => each.id === id));
  const remaining = members.filter((member) => !isRemoved(member) || isStill(member));
  const after = setAfter(kind, { stored, declared, members: remaining, outcomes, secret });
  const held = new Set(after.eventIds.values());
  const isLeft = ({ id }: LeftLive) => !gone.has(id) && !held.has(id);
  const left = [...stored.left, ...leaving].filter(isLeft);
  const hasCreated = [...outcomes.values()].some((outcome) => outcome.kind === "created");
  const created = (hasCreated ? momentToKeep(runtime) : undefined) ?? stored.created;
  const forRead = circumstances.can.read && keptForRead(news);
  const resolved = members.flatMap(({ key, unresolved }) => (after.unresolved.has(key) ? [] : (unresolved ?? [])));
  const hidden = { ...forRead, ...writeResolved(olds, resolved) };
  const outs = { ...writeStoredSet({ ...after, left, created }, exactId, runtime.account), ...hidden };

  tell("info", takenOverMessage(outcomes, ref));
  tell("info", adoptedMessage(members, outcomes));
  const unmanaged = leaving.filter((each) => isLeft(each) && !runtime.deployment.isKept(kind, each.id));
  tell("warn", leftMessage(kind, unmanaged, after.eventIds));
  if (gone.size > 0) tell("info", `Deleted on the platform, as retainOnDelete: false says: ${idRanges([...gone])}.`);
  const journal = runtime.journal(ref.identity);
  for (const [key, outcome] of outcomes) if (outcome.kind === "created") journal.given(memberRef(ref, key).key);
  if (isWell && kept.length === 0) return outs;
  const { text, code } = setFailureMessage(kind, ref, members, outcomes, kept, after.eventIds);
  // Without a member, nothing is saved: the next run creates the set.
  const isNothing = [stored, after].every((each) => each.eventIds.size + each.unresolved.size === 0);
  throw new Incomplete(text, isNothing ? undefined : { id, properties: { ...outs, [PROVIDER]: news[PROVIDER] } }, code);
};

/** All are asked about before any is sent: of a renamed set, no event goes out beside those that are refused. */
function noteRefusals(kind: Kind, runtime: Runtime, objects: readonly ObjectTask[]): void {
  for (const { action, ref, values, replaces, mark } of objects) {
    const isNew = action.do === "create" || action.do === "replace";
    if (isNew && takeableOf(runtime, ref, replaces, mark) === undefined) createBlocker(kind, runtime, ref, values);
  }
}

function isRemoved({ action }: PlannedObject): boolean {
  return action.do === "retain" || action.do === "delete";
}

interface SetRun {
  readonly stored: StoredSet;
  readonly declared: DeclaredSet;
  /** Those that stay in the state. */
  readonly members: readonly PlannedObject[];
  readonly outcomes: Outcomes;
  /** Arguments of members that must not be shown, nor kept where no input keeps them secret. */
  readonly secret: ReadonlySet<string>;
}

/** The set's state afterwards, but for what it has left live. */
function setAfter(kind: Kind, run: SetRun) {
  const { advertiserId, defaults } = run.declared;
  const eventIds = new Map<string, string>();
  const events = new Map<string, Values>();
  const sentAs = new Map<string, SentAs>();
  const unresolved = new Map<string, Unresolved>();
  for (const member of run.members) {
    const { key } = member;
    const outcome = run.outcomes.get(key);
    const now = idAfter(outcome);
    const before = now === undefined ? member.unresolved : undefined;
    const open = outcome?.kind === "unresolved" ? outcome.record : before;
    if (open !== undefined) unresolved.set(key, open);
    const held = now ?? member.id;
    if (held === undefined) continue;
    eventIds.set(key, held);
    const shown = entryAfter(kind, run, member, outcome);
    events.set(key, shown.entry);
    if (shown.sentAs !== undefined) sentAs.set(key, shown.sentAs);
  }
  return { advertiserId, defaults, events, eventIds, sentAs, unresolved };
}

/** What the state has of a member's object, and what that does not describe. */
function entryAfter(
  kind: Kind,
  { stored, declared, secret }: SetRun,
  { key, action, isDeclared, entry, olds }: PlannedObject,
  outcome: Outcome | undefined,
): { readonly entry: Values; readonly sentAs?: SentAs | undefined } {
  if (outcome?.kind === "created") return { entry, sentAs: outcome.sentAs };
  if (idAfter(outcome) !== undefined || (action.do === "same" && isDeclared)) return { entry };
  // Its replacement was not created, or it was not updated: it is what it was.
  const then = stored.events.get(key) ?? {};
  const sentAs = stored.sentAs.get(key) ?? {
    body: fingerprintOfBody(kind, olds),
    owner: secret.has("advertiserId") ? undefined : String(stored.advertiserId),
  };
  // An old value may have been secret, and no input of now keeps it so.
  if (secret.size > 0) return { entry: {}, sentAs };
  const isDescribed = !stored.sentAs.has(key) && isDeepStrictEqual(olds, eventIn(declared, then));
  return { entry: then, sentAs: isDescribed ? undefined : sentAs };
}

/** A refused delete does not stop the others; after any other failure no further one begins. */
async function deleteAll(
  kind: Kind,
  runtime: Runtime,
  setLabel: string,
  wanted: readonly Pick<LeftLive, "id" | "key">[],
  properties: Values,
) {
  const gone = new Set<string>();
  const kept: Kept[] = [];
  const created = properties[CREATED];
  let trouble: AdvertisingError | undefined;
  const next = wanted.values();
  const worker = async () => {
    for (const { id, key = "" } of next) {
      const label = `${memberLabel(setLabel, key)} (${id})`;
      try {
        if (trouble !== undefined) throw trouble;
        if (await deleteUnlessKept(kind, runtime, { id, label, created }, properties)) gone.add(id);
      } catch (error) {
        const failure = asOurs(error);
        if (!(failure instanceof RefusedError)) trouble ??= failure;
        kept.push({ id, key, error: failure });
      }
    }
  };
  await Promise.all(Array.from({ length: runtime.reading.settings.maxConcurrentRequests }, worker));
  return { gone, kept };
}

/** Only if `retainOnDelete` was off. @throws Incomplete some remain. Repeatable: what is missing counts as deleted. */
export const deleteSet: ResourceOperations<SetKind>["delete"] = async (
  { name, member: kind },
  runtime,
  id,
  properties,
) => {
  const label = `${name} ${id}`;
  expectSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  const wanted = [...readStoredSet(properties).eventIds].map(([key, object]) => ({ key, id: object }));
  const { gone, kept } = await deleteAll(kind, runtime, label, wanted, properties);
  const [first] = kept;
  if (first === undefined) return;
  const done = `${gone.size} of ${count(wanted.length, "event")} deleted. Not deleted: ${idRanges(kept.map((each) => each.id))}.`;
  throw new Incomplete(`${label}: ${done} ${first.error.message}`, undefined, first.error.code);
};
