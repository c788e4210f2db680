/**
 * What people are told of the members of a set that are to be created, before anything is sent.
 */
import { count, OutcomeUnknownError, own } from "../base/index.js";
import type { Member } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { type DeclaredSet, memberOf, type StoredSet, splitMember } from "../state/index.js";
import { adoptedTwice, announceCreate } from "./announce.js";
import { hasValue, holdsUnknown } from "./inputs.js";
import { memberLeftovers } from "./interrupted.js";
import type { Runtime } from "./runtime.js";
import { leftoversInWords, renamesInWords } from "./set-words.js";
import { type KnownSubject, memberSubject, type Subject } from "./subject.js";

/** @returns the keys of those that will not be sent. */
export async function announceNewMembers(
  kind: Kind,
  runtime: Runtime,
  subject: KnownSubject,
  members: readonly Member[],
  stored: StoredSet,
): Promise<ReadonlySet<string>> {
  const toCreate = members.filter(
    ({ action }) => action.do === "create" || (action.do === "replace" && !action.perhaps),
  );
  const left = await memberLeftovers(
    runtime,
    subject,
    toCreate.map(({ key }) => key),
  );
  const unsent = new Set(left.keys());
  tellPlan(runtime, subject, leftoversInWords(subject, left));
  const renames = renamesInWords(kind, subject, members, left);
  if (renames !== undefined) runtime.tellAt("warn", subject.at, renames);
  // What the state still holds of this set is let go by this run, and told by the words about renames.
  const isStored = (journalKey: string) => {
    const { of, key } = splitMember(journalKey);
    return of === subject.key && key !== undefined && stored.eventIds.has(key);
  };
  for (const { key, action, values } of toCreate) {
    if (action.do !== "create" || left.has(key)) continue;
    const member = memberSubject(subject, key) as KnownSubject;
    try {
      await announceCreate(kind, runtime, member, {
        values,
        fits: true,
        formerly: runtime.learned.of(member.key).formerly?.filter((former) => !isStored(former)),
      });
    } catch (error) {
      // It stops just this member, in the `up`.
      if (!(error instanceof OutcomeUnknownError)) throw error;
      unsent.add(key);
      runtime.warnEach(
        "elsewhere",
        subject.at,
        error.message,
        member.label,
        (amount) =>
          `${count(amount, "more event")} that will not be sent, since others of unknown outcome have the same arguments`,
      );
    }
  }
  runtime.tellCollected();
  return unsent;
}

/** As {@link adoptedTwice}, of each entry. Two keys may swap their objects. */
export function membersAdoptedTwice(
  kind: Kind,
  runtime: Runtime,
  set: KnownSubject,
  { events = new Map() }: DeclaredSet,
): string[] {
  const adopted = new Map<string, string>();
  for (const [key, entry] of events) {
    const existingId = own(entry, "existingId");
    if (hasValue(existingId) && !holdsUnknown(existingId)) adopted.set(memberOf(set.key, key), String(existingId));
  }
  return [...events.keys()].flatMap((key) => {
    const member = memberSubject(set, key) as KnownSubject;
    const id = adopted.get(member.key);
    if (id === undefined) return [];
    const found = adoptedTwice(kind, runtime, member, id, (holder) => (adopted.get(holder) ?? id) !== id);
    return found === undefined ? [] : [`${memberOf("events", key)}.${found}`];
  });
}

/** In an `up` what was done is told afterwards, with the new ids. */
export function tellPlan(runtime: Runtime, { at }: Subject, plan: string | undefined): void {
  if (plan === undefined || runtime.run.isUp === true) return;
  runtime.tellAt("info", at, plan);
}
