/**
 * What this machine remembers of earlier runs, looked up before anything is sent: what interrupted ones have left in the journal, and
 * what was created before, perhaps under another name. And whether what the state holds is of the type that the program declares.
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
  removalOf,
  takeOverOf,
} from "../decision/index.js";
import { fingerprintOfBody, KINDS, type Kind, type ResourceName, SETS } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  forgetCommand,
  leftBehind,
  type Ref,
  type Removal,
  renamedFrom,
  unlessAdopted,
  waysOut,
  whatHappened,
  whatIsOpen,
} from "../state/index.js";
import type { Journal, Live } from "../store/index.js";
import { formerKeys, learnHolders } from "./holding.js";
import type { Runtime } from "./services.js";
import { type Before, beforeCreate, type Earlier, tellAll } from "./tell.js";

/** By the argument that only a resource of one type has. */
const TYPES = [
  ...SETS.map(({ name }) => ({ name, argument: "events" })),
  ...KINDS.map(({ name, nameProperty }) => ({ name, argument: nameProperty })),
];

/**
 * An alias may hand a resource what the state holds of one of another type. Its id is not of this kind, so nothing may be done with it.
 * @param olds what the state holds. @throws ArgumentsError
 */
export function expectSameType(name: ResourceName, olds: Values, id: string, label: string): void {
  const stored = TYPES.find(({ argument }) => hasValue(own(olds, argument)));
  if (stored === undefined || stored.name === name) return;
  throw new ArgumentsError(
    `${label}: the state has ${/^[AEIOU]/.test(stored.name) ? "an" : "a"} ${stored.name} here, with the id ${id}, and an alias can't change its type. ` +
      "Nothing was sent. Remove the alias; to go on with a live object, set existingId in its new place.",
  );
}

/** The topic of what is said once a run. */
const UNCLAIMED = "unclaimed";

interface WhatIsKnown {
  /** Nothing is wrong with its arguments: only then more is known of it. */
  readonly fits: boolean;
  /** What is no longer declared, and may be this under another name: by journal key. */
  readonly formerly: readonly string[] | undefined;
  /** The object that the state has of it, and whose place is taken. */
  readonly held?: string | undefined;
}

/**
 * Looks at what is known of an object that is to be created, or adopted, before anything is sent.
 * @throws OutcomeUnknownError its create may be one of unknown outcome.
 */
export async function lookBefore(
  kind: Kind,
  runtime: Runtime,
  subject: Ref,
  values: Values,
  { fits, formerly = [], held }: WhatIsKnown,
): Promise<Before> {
  if (!fits) return {};
  const { key } = subject;
  const adopts = knownAdoption(values);
  const can = abilitiesOf(kind, runtime.reading.settings);
  if (adopts !== undefined) {
    const other = await openBeside(kind, runtime, subject, adopts, values);
    if (other !== undefined) return { earlier: { record: other, isSearchable: false, takeOver: "undecided" } };
    const action = runtime.run.decided(key)?.member.action;
    return { adopts: { id: adopts, can, unlike: action?.do === "adopt" ? action.unlike : undefined } };
  }
  const earlier = await earlierOf(kind, runtime, subject, values);
  if (earlier !== undefined) return { earlier };
  const fingerprint = holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
  await expectNotUnresolvedElsewhere(runtime, subject, fingerprint, runtime.run.decided(key)?.member.unresolved);
  return {
    again: fingerprint === undefined ? undefined : await madeBefore(kind, runtime, subject, fingerprint, held),
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
  const { search, update } = abilitiesOf(kind, runtime.reading.settings);
  return { record, isSearchable: search(record.field), takeOver: takeOverOf(kind, values, record, update) };
}

/**
 * What an earlier run of this machine made with the same body, and neither the state nor anything else in the program has: another create
 * makes a second one. (A run that another one overtook sends nothing.) Under `up --replace` the engine shows nothing of the state, as for a
 * new resource, so this may be what the state has.
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

/** What becomes of an object if it leaves the state, by what this machine has noted of it. */
function removalOfNoted(kind: Kind, { run, reading }: Runtime, key: string, { id, deletes: isAsked }: Live): Removal {
  const can = abilitiesOf(kind, reading.settings);
  const deletes = deletesUnlessHeld(kind, run.holders, isAsked === true, () => key);
  return removalOf({ can, deletes, mayBeAdopted: run.mayAdoptMore(kind) }, id);
}

/**
 * R4, once the adopted object was read, and of what only the journal knows: what the state holds, `decide` asks by the same rule.
 * @param values of the object that is adopted: as the platform has them where it was read.
 * @param stored the create of unknown outcome that the state holds.
 * @returns a create of this resource that has an unknown outcome, and did not make the object with this id.
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
  const isOther = (sent: CreateRecord) =>
    sent.id === undefined && !matchesCreate(kind, id, values, { ...sent, kind: kind.name });
  const open = [...(stored ? [stored] : []), ...noted].find(isOther);
  return open && unlessAdopted({ what: whatHappened(label, open), ...open }, id);
}

/** @param values of what would be created; none for what the state has already: then it is no other one under a new name. */
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
    // `pulumi state rename` or another machine's run gave the object to what has it now.
    const { holders } = runtime.run;
    if (live === undefined || holders.isManaged(kind.name, live.id)) return [];
    const isSame = values !== undefined && isSameBody({ kind, fingerprint: live.fingerprint }, { kind, values });
    // What gives it up says so itself, but not that this is to be a second one of it.
    if (!isSame && holders.isAccountedFor(kind.name, live.id)) return [];
    return [{ key: former, live, isSame, removal: removalOfNoted(kind, runtime, former, live) }];
  });
}

/**
 * What the program's half took this resource or member for, which the state has already: that leaves the state, and nothing else
 * says so. (The notes of this machine alone can't tell that another machine has created this one.) Called for each resource once this run
 * knows what it goes on with, so that all is said with the last one: any of them may have the object, under a name of `pulumi state rename`.
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
 * Informs the journal that the state has an object, so that it forgets what an interrupted run noted of it, and says
 * what it forgets on a guess.
 * @param fingerprint of the body that it was created with.
 * @returns in words, what stays there: a replacement settles it, a run without a change does not.
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

/** What an interrupted run noted of an object that the state has all the same. */
function heldAnyway(label: string, record: Parameters<typeof whatHappened>[1], id: string): string {
  if (record.isReported === true && record.id === undefined)
    return `${label} was sent at ${record.at}, and its outcome was unknown. It has been settled since: the state has ${id}`;
  return `${whatHappened(label, record)} The state has ${id}`;
}

/** Those of a set's creates that the journal here has open; of a set that was renamed since, under the keys of its former name. */
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

/** Says once a run what interrupted runs have left, and no run has asked for since. */
export async function tellUnclaimed(runtime: Runtime, identity: string): Promise<void> {
  if (!runtime.run.beginOnce(UNCLAIMED)) return;
  const noted = (await journalled(runtime, (journal) => journal.notSettled(), identity)) ?? [];
  // A single resource's create of unknown outcome stops the run, at the resource, perhaps under its new name, or in the program: that
  // says the same.
  const isSaid = ({ key, id, isReported }: CreateRecord) =>
    id === undefined && isReported === true && aboutWhom(key).member === undefined;
  const unclaimed = noted.filter((entry) => entry.unclaimed && !isSaid(entry));
  if (unclaimed.length > 0) runtime.say(leftBehind(unclaimed, "no later run has claimed them"), UNCLAIMED);
}

/** For what only looks: a journal that can't be read stops the next create of an `up`; a preview says it. */
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
 * A create that nobody knows the outcome of may come again under another name: with the same body, or, if an alias gave the resource its
 * name and the state does not have that create, with any.
 * @param own the create of it that the state has. @throws OutcomeUnknownError it must be settled first.
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
  // What has a create of its own with this body is no other one under a new name.
  const hasOwn = own?.fingerprint === fingerprint || noted.some((entry) => entry.key === key);
  if (open === undefined || hasOwn) return;
  const old = aboutWhom(open.key);
  const renamed = renamedFrom(old, key);
  throw new OutcomeUnknownError(
    [
      `${label} is not sent: ${old.label} has the same arguments, was sent at ${open.at}, and its outcome is unknown.`,
      `${renamed === undefined ? "" : `If it is the same under a new name, add \`${renamed.option}\`${renamed.catalog === undefined ? "" : ` to ${renamed.catalog.now}`}. `}Settle it first:`,
      ...waysOut(old.urn),
    ].join("\n"),
    open.at,
  );
}
