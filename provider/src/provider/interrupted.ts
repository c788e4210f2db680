/**
 * What interrupted runs have left in the journal, told to people before anything is sent: in previews, and where no create
 * asks for it.
 */

import { JournalError, OutcomeUnknownError } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import {
  aboutWhom,
  type CreateRecord,
  describe,
  forgetCommand,
  renamedFrom,
  settleCommand,
  waysOut,
  whatHappened,
} from "../state/index.js";
import type { Journal } from "../store/index.js";
import type { Runtime } from "./runtime.js";
import { isSearchable } from "./search.js";
import { type KnownSubject, memberSubject } from "./subject.js";

/** The topic of what is told once a run. */
const UNCLAIMED = "unclaimed";

/** More are just counted. */
const MAX_UNCLAIMED = 20;

/**
 * Says in a preview what an `up` will make of a create that an interrupted run left.
 * @param adopts whether the user has named the object, which settles it.
 * @returns whether it was sent before.
 */
export async function announceLeftover(
  kind: Kind,
  runtime: Runtime,
  { identity, key, label }: KnownSubject,
  adopts: boolean,
): Promise<boolean> {
  const remembered = await journalled(runtime, (journal) => journal.leftover(key), identity);
  if (remembered === undefined) return false;
  if (adopts) return true;
  runtime.say(
    remembered.id === undefined
      ? `${whatHappened(label, remembered)} \`pulumi up\` will ${
          isSearchable(kind, runtime, remembered) ? "look for it by its mark" : "not send it, but save it as unresolved"
        }.`
      : `${label} was created as ${remembered.id} by a run that was interrupted: \`pulumi up\` will take it over, if its arguments are the same.`,
  );
  return true;
}

/** What an interrupted run has left of a set's members, by key: nothing is sent for them. */
export async function memberLeftovers(
  runtime: Runtime,
  set: KnownSubject,
  members: readonly string[],
): Promise<Map<string, CreateRecord>> {
  const found = new Map<string, CreateRecord>();
  for (const member of members) {
    const { key } = memberSubject(set, member);
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
export async function noteHeld(
  runtime: Runtime,
  { identity, key, urn, label }: KnownSubject,
  id: string,
  fingerprint: () => string,
): Promise<string[]> {
  const others = await journalled(runtime, (journal) => journal.reconcile(key, id, fingerprint), identity);
  return (others ?? []).flatMap(({ isForgotten, entry }) => {
    const what = `${whatHappened(label, entry)} The state holds ${id}`;
    if (isForgotten) {
      runtime.say(`${what}: should the account show one more of it, nothing manages that.`);
      return [];
    }
    const other =
      entry.id === undefined
        ? "whether there is one more, only the account shows"
        : `nothing manages ${entry.id}, unless its resource is declared again with the arguments of then`;
    return [`${what}; ${other}. To forget this: ${forgetCommand(urn)}`];
  });
}

/** The journal keys of these attempts: those of a set that was renamed since are the former name's. */
export async function attemptKeys(
  runtime: Runtime,
  { identity }: KnownSubject,
  attempts: readonly { readonly mark: string }[],
): Promise<string[]> {
  if (attempts.length === 0) return [];
  const marks = new Set(attempts.map(({ mark }) => mark));
  const leftovers = (await journalled(runtime, (journal) => journal.leftovers(), identity)) ?? [];
  return leftovers.filter(({ mark }) => marks.has(mark)).map(({ key }) => key);
}

/** Tells once a run what interrupted runs have left, and no run has asked for since. */
export async function announceUnclaimed(runtime: Runtime, identity: string): Promise<void> {
  if (!runtime.isFirst(UNCLAIMED)) return;
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
  { identity, key, label }: KnownSubject,
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
