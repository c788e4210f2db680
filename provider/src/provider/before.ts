/**
 * Looks up what this machine remembers of earlier runs before anything is sent: what interrupted runs left in the journal, and what was
 * created before, perhaps under another name. And checks whether the object in the state has the type that the program declares.
 */
import { ArgumentsError, JournalError, OutcomeUnknownError, own, type Values } from "../base/index.js";
import {
  abilitiesOf,
  deletesUnlessHeld,
  hasValue,
  holdsUnknown,
  isSameBody,
  knownAdoption,
  matchesCreate,
  mayBeFoundGone,
  removalOf,
  sentOtherwise,
  takeOverOf,
} from "../decision/index.js";
import { fingerprintOfBody, KINDS, type Kind, type ResourceName, SETS } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  explain,
  forgetCommand,
  isDeleteOwed,
  journalKeyOf,
  type LeftLive,
  leftBehind,
  memberOf,
  type Ref,
  type Removal,
  renamedFrom,
  resourceKeyIn,
  tellingOfLeft,
  unlessAdopted,
  unresolvedId,
  waysOut,
  whatHappened,
  whatIsOpen,
} from "../state/index.js";
import type { Journal, Live } from "../store/index.js";
import { formerKeys, learnHolders } from "./holding.js";
import type { Runtime } from "./services.js";
import { type Before, beforeCreate, type Earlier, tellAll } from "./tell.js";

/** Types, by an argument that only resources of that type have. */
const TYPES = [
  ...SETS.map(({ name }) => ({ name, argument: "events" })),
  ...KINDS.map(({ name, nameProperty }) => ({ name, argument: nameProperty })),
];

/**
 * An alias may give a resource the state of one with another type. That id is not of this kind, so nothing may be done with it.
 * @param olds the properties in the state. @throws ArgumentsError
 */
export function expectSameType(name: ResourceName, olds: Values, id: string, label: string): void {
  const stored = TYPES.find(({ argument }) => hasValue(own(olds, argument)));
  if (stored === undefined || stored.name === name) return;
  throw new ArgumentsError(
    `${label}: the state has ${/^[AEIOU]/.test(stored.name) ? "an" : "a"} ${stored.name} here, with the id ${id}, and an alias can't change its type. ` +
      "Nothing was sent. Remove the alias; to go on with a live object, set existingId in its new place.",
  );
}

/** The topic of a message that comes once a run. */
const UNCLAIMED = "unclaimed";

interface WhatIsKnown {
  /** Whether its arguments are valid; only then more is looked up. */
  readonly fits: boolean;
  /** Journal keys of resources that are no longer declared, and may be this one under another name. */
  readonly formerly: readonly string[] | undefined;
  /** Its object in the state, which is to be replaced. */
  readonly held?: string | undefined;
  /** If it has none: what its set has left live under its key, by the state. */
  readonly left?: readonly LeftLive[] | undefined;
}

/**
 * Looks up what is known about an object that is to be created or adopted, before anything is sent.
 * @throws OutcomeUnknownError if a create of unknown outcome may have made it.
 */
export async function lookBefore(
  kind: Kind,
  runtime: Runtime,
  subject: Ref,
  values: Values,
  { fits, formerly = [], held, left = [] }: WhatIsKnown,
): Promise<Before> {
  if (!fits) return {};
  const { key } = subject;
  const adopts = knownAdoption(values);
  const can = abilitiesOf(kind, runtime.reading.settings);
  if (adopts !== undefined) {
    await expectToSettle(kind, runtime, subject, adopts, values, formerly);
    const other = await openBeside(kind, runtime, subject, adopts, values);
    if (other !== undefined)
      return { earlier: { record: other, isSearchable: false, takeOver: "refused", mayBeGone: false } };
    const action = runtime.run.decided(key)?.member.action;
    return { adopts: { id: adopts, can, unlike: action?.do === "adopt" ? action.unlike : undefined } };
  }
  const earlier = await earlierOf(kind, runtime, subject, values);
  if (earlier !== undefined) return { earlier };
  const fingerprint = holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
  await expectNotUnresolvedElsewhere(runtime, subject, fingerprint, runtime.run.decided(key)?.member.unresolved);
  return {
    again:
      leftBefore(kind, runtime, values, left) ??
      (fingerprint === undefined ? undefined : await madeBefore(kind, runtime, subject, fingerprint, held)),
    former: await formerOnes(kind, runtime, subject, formerly, values),
  };
}

/** A create of a resource, or a member, that an interrupted run sent and nothing has settled: nothing new is sent for it. */
export async function earlierOf(
  kind: Kind,
  runtime: Runtime,
  { identity, key }: Ref,
  values: Values,
): Promise<Earlier | undefined> {
  const [record] = (await journalled(runtime, (journal) => journal.notSettledOf(key), identity)) ?? [];
  if (record === undefined) return undefined;
  const { search, read, update } = abilitiesOf(kind, runtime.reading.settings);
  const takeOver = takeOverOf(kind, values, record, update);
  const mayBeGone = record.id !== undefined && mayBeFoundGone(takeOver, read);
  return { record, isSearchable: search(record.field), takeOver, mayBeGone };
}

/** The last object of the same name and advertiser that the state lists as left live, unless another resource has it. */
function leftBefore(kind: Kind, { run }: Runtime, values: Values, left: readonly LeftLive[]) {
  const { name, advertiserId } = tellingOfLeft(kind, values, new Set());
  const isSame = (each: LeftLive) => each.name === name && (each.advertiserId ?? advertiserId) === advertiserId;
  const isFree = ({ id }: LeftLive) => !run.isGone(kind, id) && !run.holders.isManaged(kind.name, id);
  const last = left.findLast((each) => each.done === undefined && !isDeleteOwed(each) && isSame(each) && isFree(each));
  return last === undefined ? undefined : { id: last.id };
}

/**
 * An object that an earlier run on this machine created with the same body, and that neither the state nor another resource has: another
 * create makes a second one. (A run that another one overtook sends nothing.) With `up --replace` the engine shows no state, as for a new
 * resource, so this may be the object in the state.
 */
async function madeBefore(kind: Kind, runtime: Runtime, subject: Ref, body: string, held?: string) {
  const { run, inventory, journal } = runtime;
  const { identity, key } = subject;
  const before = inventory(identity).asItBegan.get(key);
  if (before?.fingerprint !== body || before.id === held || journal(identity).isOvertaken) return undefined;
  const isElsewhere = run.isGone(kind, before.id) || run.holders.isManaged(kind.name, before.id);
  if (isElsewhere) return undefined;
  if (before.deletes === true) await learnHolders(runtime);
  return { id: before.id, removal: removalOfNoted(kind, runtime, key, before) };
}

/** What becomes of an object if it leaves the state, by this machine's notes about it. */
function removalOfNoted(kind: Kind, { run, reading }: Runtime, key: string, { id, deletes: isAsked }: Live): Removal {
  const can = abilitiesOf(kind, reading.settings);
  const deletes = deletesUnlessHeld(kind, run.holders, isAsked === true, () => key);
  return removalOf({ can, deletes, mayBeAdopted: run.mayAdoptMore(kind) }, id);
}

/**
 * R4, once the adopted object was read, and of what only the journal knows: what the state holds, `decide` asks by the same rule.
 * @param values the adopted object's arguments: the platform's if it was read.
 * @param stored the create of unknown outcome in the state.
 * @returns a create of this resource with an unknown outcome that did not make the object with this id.
 */
export async function openBeside(
  kind: Kind,
  runtime: Runtime,
  { identity, key, label }: Ref,
  id: string,
  values: Values,
  stored?: CreateRecord,
): Promise<CreateRecord | undefined> {
  const noted = (await journalled(runtime, (journal) => journal.notSettledOf(key), identity)) ?? [];
  const open = [...(stored ? [stored] : []), ...noted].find((sent) => hasMadeAnother(kind, id, values, sent));
  return open && unlessAdopted({ what: whatHappened(label, open), ...open }, id, sentOtherwise(kind, values, open));
}

/** Whether nobody knows what a create has made, except that it is not the object with this id. */
function hasMadeAnother(kind: Kind, id: string, values: Values, sent: CreateRecord): boolean {
  return sent.id === undefined && !matchesCreate(kind, id, values, { ...sent, kind: kind.name });
}

/**
 * R4, of creates that nothing declares any longer. The program's half took this adoption for theirs, without knowing the values of Outputs.
 * @param formerly their journal keys. @param isHeld whether the state has the adoption, of another machine's run: then an `up` settles them.
 * @throws OutcomeUnknownError if it is another object, and nothing else adopts theirs.
 */
export async function expectToSettle(
  kind: Kind,
  runtime: Runtime,
  { identity, key }: Ref,
  id: string,
  values: Values,
  formerly: readonly string[] = [],
  isHeld = false,
): Promise<void> {
  for (const former of formerly) {
    const noted = (await journalled(runtime, (journal) => journal.notSettledOf(former), identity)) ?? [];
    const open = noted.find((sent) => hasMadeAnother(kind, id, values, sent));
    if (open === undefined && isHeld && runtime.run.isUp === true) {
      const fits = (sent: CreateRecord) => matchesCreate(kind, id, values, { ...sent, kind: kind.name });
      const isIts = (sent: CreateRecord) => sent.key === former && (sent.id ?? id) === id && fits(sent);
      await journalled(runtime, (journal) => journal.settle(isIts), identity);
    }
    if (open === undefined || !runtime.run.noteOtherAdopted(former, key)) continue;
    const { label, urn } = aboutWhom(former);
    const what = `${label} is no longer declared. ${whatHappened(label, open)}`;
    const record = unlessAdopted({ ...open, what, urn }, id, sentOtherwise(kind, values, open));
    throw new OutcomeUnknownError(explain(kind.name, record), open.at);
  }
}

/** @param values of the object to create; none if the state already has it, so that it is not another one under a new name. */
async function formerOnes(
  kind: Kind,
  runtime: Runtime,
  { identity }: Ref,
  formerly: readonly string[],
  values: Values | undefined,
) {
  if (formerly.length > 0) await learnHolders(runtime);
  const known = runtime.inventory(identity).asItBegan;
  return formerly.flatMap((former) => {
    const live = known.get(former);
    // `pulumi state rename` or another machine's run gave the object to the resource that has it now.
    const { holders } = runtime.run;
    if (live === undefined || holders.isManaged(kind.name, live.id)) return [];
    const isSame = values !== undefined && isSameBody({ kind, fingerprint: live.fingerprint }, { kind, values });
    // The resource that gives it up reports that, but not that this create makes a second one.
    if (!isSame && holders.isAccountedFor(kind.name, live.id)) return [];
    return [{ key: former, live, isSame, removal: removalOfNoted(kind, runtime, former, live) }];
  });
}

/**
 * Reports the former resources that the program's half suspected behind this one, if the state already has this one: they leave the state,
 * and no other message says so. (This machine's notes can't show that another machine has created this one.) Called for each resource once
 * its object is known; all is reported with the last one, because any of them may have the object after a `pulumi state rename`.
 */
export async function tellGone(
  kind: Kind,
  runtime: Runtime,
  subject: Ref,
  formerly: readonly string[] = [],
): Promise<void> {
  const { run } = runtime;
  for (const former of formerly) if (run.beginOnce(`gone ${former}`)) run.taken.push({ kind, subject, former });
  if (run.hasMore) return;
  for (const each of run.taken.splice(0)) {
    const former = await formerOnes(each.kind, runtime, each.subject, [each.former], undefined);
    tellAll(runtime, beforeCreate(each.kind, each.subject, { former }));
  }
}

/**
 * Notes in the journal that the state has an object, so that it drops what an interrupted run noted about it, and reports what it drops on a
 * guess.
 * @param fingerprint of the body with which it was created.
 * @returns in words, what stays in the journal: a replacement settles that, a run without a change does not.
 */
export async function reconcileHeld(
  runtime: Runtime,
  { identity, key, member, label }: Ref,
  id: string,
  fingerprint: () => string,
): Promise<string[]> {
  const keys = [key, ...formerKeys(runtime, key, member)];
  const reconcile = (journal: Journal) => Promise.all(keys.map((each) => journal.reconcile(each, id, fingerprint)));
  const others = (await journalled(runtime, reconcile, identity)) ?? [];
  return others.flat().flatMap(({ isForgotten, record }) => {
    if (isForgotten) {
      runtime.say(`${heldAnyway(label, record, id)}. If the account shows a second one, nothing manages it.`);
      return [];
    }
    const other =
      record.id === undefined
        ? "Check the account for a second one"
        : `Nothing manages ${record.id}, unless you declare it again with the same arguments`;
    return [
      `${whatHappened(label, record)} The state has ${id}. ${other}. To drop this note:\n  ${forgetCommand(aboutWhom(record.key).urn)}`,
    ];
  });
}

/**
 * After `pulumi stack rename`, this machine still has notes of what the state has under the stack's former name. An `up` settles them before
 * the engine saves the new name: otherwise a new stack of the former name would take the objects over.
 * @param ids of its object in the state, and of its unresolved create, whose note goes on under the new name.
 */
export async function settleFormerName(runtime: Runtime, ref: Ref, ids: readonly string[]): Promise<void> {
  const { identity, resource, key, member } = ref;
  const { formerIdentity } = runtime.run.checked(resourceKeyIn(key));
  if (formerIdentity === undefined || runtime.run.isUp !== true) return;
  const former = runtime.formerly(formerIdentity);
  const ofResource = journalKeyOf(resource, formerIdentity);
  const formerKey = member === undefined ? ofResource : memberOf(ofResource, member);
  if (ids.includes(former.inventory.asItBegan.get(formerKey)?.id ?? "")) former.inventory.noteGone(formerKey);
  try {
    for (const record of await former.journal.notSettledOf(formerKey)) {
      const isUnresolved = ids.includes(unresolvedId(record.mark));
      if (!isUnresolved && !ids.includes(record.id ?? "")) continue;
      await former.journal.expectNewest();
      if (isUnresolved) await runtime.journal(identity).takeIn({ ...record, key });
      await former.journal.ended(record.mark, { kind: "not-created" });
    }
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    runtime.say(error.message); // only a new stack of the former name needs it
  }
}

/** The message about an interrupted run's note of an object that the state has by now. */
function heldAnyway(label: string, record: Parameters<typeof whatHappened>[1], id: string): string {
  if (record.isReported === true && record.id === undefined)
    return `${label} was sent at ${record.at}, and its outcome was unknown. It has been settled since: the state has ${id}`;
  return `${whatHappened(label, record)} The state has ${id}`;
}

/** A set's creates that are unresolved in this machine's journal, also under the keys of a former name. */
export async function openHere(
  runtime: Runtime,
  { identity }: Ref,
  records: readonly Pick<CreateRecord, "mark">[],
): Promise<CreateRecord[]> {
  if (records.length === 0) return [];
  const marks = new Set(records.map(({ mark }) => mark));
  const noted = (await journalled(runtime, (journal) => journal.notSettled(), identity)) ?? [];
  return noted.filter(({ mark }) => marks.has(mark));
}

/** Lists once a run what interrupted runs left behind and no later run asked for. */
export async function tellUnclaimed(runtime: Runtime, identity: string): Promise<void> {
  if (!runtime.run.beginOnce(UNCLAIMED)) return;
  const noted = (await journalled(runtime, (journal) => journal.notSettled(), identity)) ?? [];
  // A single resource's create of unknown outcome stops the run, at the resource, perhaps under its new name, or in the program: that error
  // says the same.
  const isSaid = ({ key, id, isReported }: CreateRecord) =>
    id === undefined && isReported === true && aboutWhom(key).member === undefined;
  const unclaimed = noted.filter((entry) => entry.unclaimed && !isSaid(entry));
  if (unclaimed.length > 0) runtime.say(leftBehind(unclaimed, "no later run has claimed them"), UNCLAIMED);
}

/** For callers that only look: a preview reports that the journal can't be read, and in an `up` the next create fails. */
async function journalled<T>(
  runtime: Runtime,
  look: (journal: Journal) => Promise<T>,
  identity: string,
): Promise<T | undefined> {
  try {
    return await look(runtime.journal(identity));
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    if (runtime.run.isUp !== true) runtime.say(error.message);
    return undefined;
  }
}

/**
 * A create of unknown outcome may be repeated under another name: with the same body, or with any body if an alias gave the resource its
 * name and the state does not have that create.
 * @param own its own create in the state. @throws OutcomeUnknownError if the other create must be settled first.
 */
export async function expectNotUnresolvedElsewhere(
  runtime: Runtime,
  { identity, key, member, label }: Ref,
  fingerprint: string | undefined,
  own: CreateRecord | undefined,
): Promise<void> {
  const isOthers = (entry: CreateRecord) => entry.key !== key && entry.mark !== own?.mark;
  const ofBefore = (journal: Journal) =>
    Promise.all(formerKeys(runtime, key, member).map((former) => journal.notSettledOf(former)));
  const before = (await journalled(runtime, ofBefore, identity))?.flat().find(isOthers);
  if (before !== undefined) {
    const { kind, label: formerLabel, urn } = aboutWhom(before.key);
    const what = `${label} is not sent: ${whatHappened(formerLabel, before)}`;
    throw new OutcomeUnknownError([what, ...whatIsOpen(kind, before, urn, [])].join("\n"), before.at);
  }
  if (fingerprint === undefined) return;
  const noted = (await journalled(runtime, (journal) => journal.notSettledLike(fingerprint), identity)) ?? [];
  const open = noted.find((entry) => entry.id === undefined && isOthers(entry));
  // A resource with its own create of this body is not another one under a new name.
  const hasOwn = own?.fingerprint === fingerprint || noted.some((entry) => entry.key === key);
  if (open === undefined || hasOwn) return;
  const old = aboutWhom(open.key);
  const renamed = renamedFrom(old, key);
  throw new OutcomeUnknownError(
    [
      `${label} is not sent: ${old.label} has the same arguments, was sent at ${open.at}, and its outcome is unknown.`,
      `${renamed === undefined ? "" : `If it is the same under a new name, add \`${renamed.option}\`${renamed.catalog === undefined ? "" : ` to ${renamed.catalog.now}`}. `}Settle it first:`,
      ...waysOut([{ urn: old.urn }], "not declared"),
    ].join("\n"),
    open.at,
  );
}
