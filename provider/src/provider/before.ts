/**
 * What is looked up and told before anything is sent: what interrupted runs have left in the journal, which names look like renames,
 * and of a set its plan.
 */

import { count, JournalError, OutcomeUnknownError, type Values } from "../base/index.js";
import { abilitiesOf, type Circumstances, hasValue, holdsUnknown, isSameBody, type Member } from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  describe,
  eventIn,
  forgetCommand,
  memberRef,
  type Ref,
  renamedFrom,
  type StoredSet,
  settleCommand,
  splitMember,
  UNKNOWN,
  waysOut,
  whatHappened,
} from "../state/index.js";
import type { Journal } from "../store/index.js";
import { expectNotAdopted, isAdopted, noteHolds } from "./holding.js";
import { type SecretOf, secretOfMembers } from "./inputs.js";
import type { Runtime } from "./services.js";
import { type Before, beforeCreate, tellAll } from "./tell.js";
import { leftoversInWords, planInWords, renamesInWords } from "./tell-set.js";

/** The topic of what is told once a run. */
const UNCLAIMED = "unclaimed";

/** More are just counted. */
const MAX_UNCLAIMED = 20;

/**
 * Looks at what is known of an object that is to be created, or adopted, before anything is sent.
 * @param fits whether its arguments fit the rules: only then more is known of it.
 * @param formerly what is no longer declared, and may be this under another name: by journal key.
 * @throws OutcomeUnknownError its create may be one of unknown outcome.
 */
export async function lookBefore(
  kind: Kind,
  runtime: Runtime,
  subject: Ref,
  values: Values,
  { fits, formerly = [] }: { readonly fits: boolean; readonly formerly?: readonly string[] | undefined },
): Promise<Before> {
  const { identity, key } = subject;
  const { existingId } = values;
  if (hasValue(existingId) && existingId !== UNKNOWN) return { adopts: String(existingId) };
  const can = abilitiesOf(kind, runtime.reading.settings);
  const left = await journalled(runtime, (journal) => journal.leftover(key), identity);
  // Taken over, or unresolved: nothing is sent.
  if (left !== undefined) return { left, isSearchable: can.search(left.field) };
  if (!fits) return {};
  const fingerprint = holdsUnknown(values) ? undefined : fingerprintOfBody(kind, values);
  if (fingerprint !== undefined) await expectNotUnresolvedElsewhere(runtime, subject, fingerprint);
  const inventory = runtime.inventory(identity);
  const known = inventory.asItBegan;
  const before = known.get(key);
  const isGone = before !== undefined && runtime.run.isGone(kind, before.id);
  if (isGone) inventory.noteGone(key);
  // A run that another one overtook sends nothing.
  const isNone = isGone || runtime.run.decided(key)?.former !== undefined || runtime.journal(identity).isOvertaken;
  return {
    again: !isNone && before !== undefined && before.fingerprint === fingerprint ? before : undefined,
    former: formerly.flatMap((former) => {
      const live = known.get(former);
      if (live === undefined) return [];
      const isSame = isSameBody({ kind, fingerprint: live.fingerprint }, { kind, values });
      return [{ key: former, live, isSame, isDeleted: live.deletes === true && can.delete }];
    }),
  };
}

/** What an interrupted run has left of a set's members, by key: nothing is sent for them. */
async function memberLeftovers(
  runtime: Runtime,
  set: Ref,
  members: readonly string[],
): Promise<Map<string, CreateRecord>> {
  const found = new Map<string, CreateRecord>();
  for (const member of members) {
    const { key } = memberRef(set, member);
    const remembered = await journalled(runtime, (journal) => journal.leftover(key), set.identity);
    if (remembered !== undefined) found.set(member, remembered);
  }
  return found;
}

/**
 * Tells the journal that the state holds an object, so that it forgets what an interrupted run noted of it, and says
 * what it forgets on a guess.
 * @param fingerprint of the body that it was created with.
 * @returns in words, what stays there: a replacement settles it, a run without a change does not.
 */
export async function reconcileHeld(
  runtime: Runtime,
  { identity, key, urn, label }: Ref,
  id: string,
  fingerprint: () => string,
): Promise<string[]> {
  const others = await journalled(runtime, (journal) => journal.reconcile(key, id, fingerprint), identity);
  return (others ?? []).flatMap(({ isForgotten, record }) => {
    const what = `${whatHappened(label, record)} The state holds ${id}`;
    if (isForgotten) {
      runtime.say(`${what}: should the account show one more of it, nothing manages that.`);
      return [];
    }
    const other =
      record.id === undefined
        ? "whether there is one more, only the account shows"
        : `nothing manages ${record.id}, unless its resource is declared again with the arguments of then`;
    return [`${what}; ${other}. To forget this: ${forgetCommand(urn)}`];
  });
}

/** The journal keys of these attempts: those of a set that was renamed since are the former name's. */
export async function attemptKeys(
  runtime: Runtime,
  { identity }: Ref,
  attempts: readonly { readonly mark: string }[],
): Promise<string[]> {
  if (attempts.length === 0) return [];
  const marks = new Set(attempts.map(({ mark }) => mark));
  const leftovers = (await journalled(runtime, (journal) => journal.leftovers(), identity)) ?? [];
  return leftovers.filter(({ mark }) => marks.has(mark)).map(({ key }) => key);
}

/** Tells once a run what interrupted runs have left, and no run has asked for since. */
export async function tellUnclaimed(runtime: Runtime, identity: string): Promise<void> {
  if (!runtime.run.beginOnce(UNCLAIMED)) return;
  const leftovers = (await journalled(runtime, (journal) => journal.leftovers(), identity)) ?? [];
  const unclaimed = leftovers.filter((entry) => entry.unclaimed);
  const lines = unclaimed.slice(0, MAX_UNCLAIMED).map((entry) => {
    const { kind, label, urn } = aboutWhom(entry.key);
    // What nobody knows is settled, never just forgotten.
    const next = entry.id === undefined && entry.told === true ? settleCommand(urn) : forgetCommand(urn);
    // When it was sent stands in the sentence before.
    const sought = entry.id === undefined ? ` It is ${describe(kind, { ...entry, at: "", field: undefined })}.` : "";
    return `  ${whatHappened(label, entry)}${sought} ${next}`;
  });
  if (lines.length === 0) return;
  const more = unclaimed.length > lines.length ? [`  and ${unclaimed.length - lines.length} more`] : [];
  runtime.say(
    [
      "No run has asked since for what an interrupted one has left:",
      ...lines,
      ...more,
      "A `pulumi up` of the whole program takes over what it declares. What is told after that as well, nothing manages: " +
        "adopt it with existingId, or forget it with the command at its end.",
    ].join("\n"),
    UNCLAIMED,
  );
}

/** For what only looks: a journal that can't be read is said, and stops the next create. */
async function journalled<T>(
  runtime: Runtime,
  look: (journal: Journal) => Promise<T>,
  identity: string,
): Promise<T | undefined> {
  try {
    return await look(runtime.journal(identity));
  } catch (error) {
    if (!(error instanceof JournalError)) throw error;
    runtime.say(error.message);
    return undefined;
  }
}

/**
 * A create that nobody knows the outcome of may come again under another name, whose body is the same.
 * @throws OutcomeUnknownError it must be settled first.
 */
export async function expectNotUnresolvedElsewhere(
  runtime: Runtime,
  { identity, key, label }: Ref,
  fingerprint: string,
): Promise<void> {
  const leftovers = (await journalled(runtime, (journal) => journal.leftoversLike(fingerprint), identity)) ?? [];
  const open = leftovers.find((entry) => entry.id === undefined && entry.key !== key);
  if (open === undefined) return;
  const old = aboutWhom(open.key);
  const renamed = renamedFrom(old, key);
  throw new OutcomeUnknownError(
    [
      `${label} is not sent: ${old.label} has the same arguments, was sent at ${open.at}, and its outcome is unknown.`,
      `${renamed === undefined ? "" : `If it is the same under a new name, add \`${renamed}\`. `}Settle it first:`,
      ...waysOut(old.urn),
    ].join("\n"),
    open.at,
  );
}

/**
 * Called once the state was looked at, before anything is awaited: what the set goes on with, and what it lets go of, for whatever
 * else is asked in this run. @throws ArgumentsError something else adopts what the set goes on with.
 */
export function noteMembers(
  kind: Kind,
  runtime: Runtime,
  set: Ref,
  stored: StoredSet,
  members: readonly Member[],
  secret: SecretOf,
): void {
  const wasSecret = secretOfMembers(kind, stored.secret);
  for (const { key, id, former } of members) {
    if (id === undefined) continue;
    const member = memberRef(set, key);
    if (former !== undefined) runtime.run.holders.release(kind.name, id, member.key);
    else {
      const values = eventIn(stored, stored.events.get(key) ?? {});
      noteHolds(kind, runtime, member, id, { values, secret: new Set([...secret(key), ...wasSecret(key)]) });
    }
  }
  for (const { key, id, former } of members) {
    const member = memberRef(set, key);
    if (id !== undefined && former === undefined) expectNotAdopted(kind, runtime, member, id);
  }
}

/** Tells the journal what the state holds. @returns in words, what the journal says besides of what stays as it is. */
export async function besidesOf(runtime: Runtime, set: Ref, members: readonly Member[]): Promise<string[]> {
  const besides: string[] = [];
  for (const { key, action, id, fingerprint } of members) {
    if (id === undefined) continue;
    const words = await reconcileHeld(runtime, memberRef(set, key), id, () => fingerprint ?? "");
    // What is created or adopted asks for it, and what is unresolved is told by itself.
    if (action.do === "keep" || action.do === "let go" || action.do === "delete") besides.push(...words);
  }
  return besides;
}

/**
 * @param circumstances what is deleted.
 * @returns nothing: in an `up` what was done is told afterwards, with the new ids.
 */
export async function tellBefore(
  kind: Kind,
  runtime: Runtime,
  set: Ref,
  members: readonly Member[],
  stored: StoredSet,
  circumstances?: Circumstances,
): Promise<void> {
  const unsent = await tellNewMembers(kind, runtime, set, members, stored);
  const plan = planInWords(kind, members, unsent, (id) => isAdopted(kind, runtime, id), circumstances, stored.left);
  if (plan !== undefined && runtime.run.isUp !== true) runtime.tellAt("info", set.at, plan);
}

/** @returns the keys of those that will not be sent. */
async function tellNewMembers(
  kind: Kind,
  runtime: Runtime,
  set: Ref,
  members: readonly Member[],
  stored: StoredSet,
): Promise<ReadonlySet<string>> {
  const toCreate = members.filter(
    ({ action }) => action.do === "create" || (action.do === "replace" && !action.perhaps),
  );
  const keys = toCreate.map(({ key }) => key);
  const left = await memberLeftovers(runtime, set, keys);
  const unsent = new Set(left.keys());
  const leftovers = leftoversInWords(set, left);
  if (leftovers !== undefined && runtime.run.isUp !== true) runtime.tellAt("info", set.at, leftovers);
  const renames = renamesInWords(kind, set, members, left);
  if (renames !== undefined) runtime.tellAt("warn", set.at, renames);
  // What the state still holds of this set is let go by this run, and told by the words about renames.
  const isStored = (journalKey: string) => {
    const { of, key } = splitMember(journalKey);
    return of === set.key && key !== undefined && stored.eventIds.has(key);
  };
  const { membersFormerly = {} } = runtime.run.told(set.key);
  for (const { key, action, values } of toCreate) {
    if (action.do !== "create" || left.has(key)) continue;
    const member = memberRef(set, key);
    const formerly = membersFormerly[member.key]?.filter((former) => !isStored(former));
    if (!(await tellNewMember(kind, runtime, member, values, formerly))) unsent.add(key);
  }
  runtime.tellCollected();
  return unsent;
}

/** Tells what is known of a new member. @returns false where another create of unknown outcome stops it, in the `up`. */
async function tellNewMember(
  kind: Kind,
  runtime: Runtime,
  member: Ref,
  values: Values,
  formerly: readonly string[] | undefined,
): Promise<boolean> {
  try {
    const before = await lookBefore(kind, runtime, member, values, { fits: true, formerly });
    tellAll(runtime, beforeCreate(kind, member, before));
    return true;
  } catch (error) {
    if (!(error instanceof OutcomeUnknownError)) throw error;
    runtime.warnEach(
      "elsewhere",
      member.at,
      error.message,
      member.label,
      (amount) =>
        `${count(amount, "more event")} that will not be sent, since others of unknown outcome have the same arguments`,
    );
    return false;
  }
}
