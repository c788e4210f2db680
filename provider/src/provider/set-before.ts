/**
 * What is told of a set before anything is sent: in a preview its plan, and in every run what interrupted runs have left of its
 * members, which keys look renamed, and what the journal says of objects that stay as they are.
 */
import { count, OutcomeUnknownError, type Values } from "../base/index.js";
import type { Circumstances, Member } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { eventIn, type StoredSet, splitMember } from "../state/index.js";
import { expectNotAdopted, isAdopted, noteHolds } from "./holding.js";
import { type SecretOf, secretOfMembers } from "./inputs.js";
import { knownBefore, memberLeftovers, noteHeld } from "./interrupted.js";
import type { Runtime } from "./services.js";
import { isKnown, type KnownSubject, memberSubject, type Subject } from "./subject.js";
import { beforeCreate, tellAll } from "./tell.js";
import { leftoversInWords, planInWords, renamesInWords } from "./tell-set.js";

/**
 * Called once the state was looked at, before anything is awaited: what the set goes on with, and what it lets go of, for whatever
 * else is asked in this run. @throws ArgumentsError something else adopts what the set goes on with.
 */
export function noteMembers(
  kind: Kind,
  runtime: Runtime,
  set: Subject,
  stored: StoredSet,
  members: readonly Member[],
  secret: SecretOf,
): void {
  const wasSecret = secretOfMembers(kind, stored.secret);
  for (const { key, id, former } of members) {
    if (id === undefined) continue;
    const member = memberSubject(set, key);
    if (former !== undefined) runtime.run.holders.release(kind.name, id, member.key);
    else {
      const values = eventIn(stored, stored.events.get(key) ?? {});
      noteHolds(kind, runtime, member, id, { values, secret: new Set([...secret(key), ...wasSecret(key)]) });
    }
  }
  for (const { key, id, former } of members) {
    const member = memberSubject(set, key);
    if (id !== undefined && former === undefined && isKnown(member)) expectNotAdopted(kind, runtime, member, id);
  }
}

/** Tells the journal what the state holds. @returns in words, what the journal says besides of what stays as it is. */
export async function besidesOf(runtime: Runtime, set: Subject, members: readonly Member[]): Promise<string[]> {
  const besides: string[] = [];
  for (const { key, action, id, fingerprint } of members) {
    const member = memberSubject(set, key);
    if (id === undefined || !isKnown(member)) continue;
    const words = await noteHeld(runtime, member, id, () => fingerprint ?? "");
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
  set: Subject,
  members: readonly Member[],
  stored: StoredSet,
  circumstances?: Circumstances,
): Promise<void> {
  const unsent = isKnown(set) ? await tellNewMembers(kind, runtime, set, members, stored) : undefined;
  const plan = planInWords(kind, members, unsent, (id) => isAdopted(kind, runtime, id), circumstances, stored.left);
  if (plan !== undefined && runtime.run.isUp !== true) runtime.tellAt("info", set.at, plan);
}

/** @returns the keys of those that will not be sent. */
async function tellNewMembers(
  kind: Kind,
  runtime: Runtime,
  set: KnownSubject,
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
    const member = memberSubject(set, key) as KnownSubject;
    const formerly = membersFormerly[member.key]?.filter((former) => !isStored(former));
    if (!(await isSendable(kind, runtime, member, values, formerly))) unsent.add(key);
  }
  runtime.tellCollected();
  return unsent;
}

/** Tells what is known of a new member. @returns false where another create of unknown outcome stops it, in the `up`. */
async function isSendable(
  kind: Kind,
  runtime: Runtime,
  member: KnownSubject,
  values: Values,
  formerly: readonly string[] | undefined,
): Promise<boolean> {
  try {
    const before = await knownBefore(kind, runtime, member, values, { fits: true, formerly });
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
