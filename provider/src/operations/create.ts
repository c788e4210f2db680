/**
 * One create, at most once over all runs. This is true of each, whatever fails and whenever the process is killed:
 * - C1. It is sent only after the journal has said that no earlier create of the resource is open or reported, that no
 *   open create has its platform name and advertiser ({@link createBlocker}), and after its own record is on the disk.
 * - C2. What an earlier run made for the resource is taken over. What it sent with an unknown outcome is looked for by
 *   its mark, or it stays unresolved; it is sent again only if a search proves that nothing was made.
 * - C3. A create that is sent again keeps its mark, so that a search finds the object of either sending.
 * - C4. Once a byte may have left, only an answer that says so makes it "not created"; everything else is unresolved,
 *   a defect in reading the answer included.
 * - C5. Its end is noted before the engine gets the answer. If that note fails, a message says so; the outcome stands.
 * - C6. The engine may ask again for one of unknown outcome (error hooks): it gets the same answer; nothing is sent.
 * - C7. An id another resource has or had proves nothing: the create is unresolved. So each object has one resource.
 */
import {
  AdvertisingError,
  ArgumentsError,
  hasValue,
  isSameValue,
  OutcomeUnknownError,
  type Values,
} from "../base/index.js";
import { isPast, type Journal, type JournalEntry, type OpenCreate } from "../journal/index.js";
import { bodyOf, fingerprintOfBody, type Kind, ownerIn } from "../kinds/index.js";
import { abilitiesOf, holdsUnknown, sentOtherwise } from "../plan/index.js";
import {
  identifyingIn,
  parseKey,
  type ResourceRef,
  resourceKeyIn,
  type Unresolved,
  whatHappened,
} from "../state/index.js";
import { namesakesMessage, refusedBeforeMessage, warnOfPlatform } from "./messages.js";
import {
  describeDefect,
  expectSameAccount,
  type Namesake,
  type ObjectTask,
  type Outcome,
  recordOf,
  sentAsOf,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { lookFor } from "./search.js";

/** @param expectMayBegin throws once nothing more may be sent. @throws AdvertisingError nothing was created. */
export async function createOnce(
  kind: Kind,
  runtime: Runtime,
  create: ObjectTask,
  expectMayBegin: () => void,
): Promise<Outcome> {
  const { ref, values, secret, unresolved } = create;
  const { key, label, identity } = ref;
  runtime.client(); // checks the settings first: without them nothing may begin
  const journal = runtime.journal(identity);
  await journal.expectUsable();
  expectAccountOfOpen(runtime, journal);
  const fields = bodyOf(kind, values);
  // An earlier run made it; or one has sent it, and its outcome is unknown; or it is new.
  const entry = takeableOf(runtime, ref, create.replaces ?? unresolved?.replaces, create.mark);
  if (entry !== undefined) journal.renamed(entry.key, key);
  if (entry?.id !== undefined) return takeOver(kind, runtime, create, { ...entry, id: entry.id });
  const open = openIn(label, entry, runtime.deployment.unresolved.get(key) ?? unresolved);
  let { mark } = create;
  if (open !== undefined) {
    const finding = await search(
      kind,
      runtime,
      create,
      open,
      runtime.deployment.unresolved.has(key),
    );
    if (finding.kind === "unresolved") return finding;
    if (finding.kind === "found") {
      const { what: _, searched: __, ...sent } = open;
      await journal.created(key, finding.id, { ...sent, account: runtime.account });
      return takeOver(kind, runtime, create, { ...open, id: finding.id });
    }
    if (entry !== undefined) await journal.back(key);
    runtime.say(
      `${label} was sent at ${open.at}, and a search finds no object with its mark: it is sent again.`,
    );
    mark = open.mark;
  } else {
    const blocker = createBlocker(kind, runtime, ref, values);
    if (blocker !== undefined) throw blocker;
  }
  const { account, reading } = runtime;
  const sent = {
    key,
    mark,
    body: fingerprintOfBody(kind, values),
    field: reading.settings.markField,
    account,
    replaces: create.replaces,
  };
  const { deletes } = runtime.deployment.checked(resourceKeyIn(key));
  const record = { ...sent, ...identifyingIn(kind, values, secret), ...(deletes && { deletes }) };
  return send(kind, runtime, create, { record, fields, expectMayBegin });
}

interface Sending {
  readonly record: Omit<JournalEntry, "state" | "at" | "id">;
  readonly fields: Values;
  expectMayBegin(this: void): void;
}

/** What the journal has of a resource that may not be in the state, under its key or its mark. */
export function takeableOf(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  mark?: string,
): JournalEntry | undefined {
  const journal = runtime.journal(ref.identity);
  const byKey = journal.of(ref.key);
  if (byKey !== undefined && isTakeable(runtime, ref, held, byKey)) return byKey;
  const byMark = mark === undefined ? undefined : journal.openWithMark(mark);
  const isOpen = byMark !== undefined && journal.isStillOpen(byMark.key);
  return isOpen && isTakeable(runtime, ref, held, byMark) ? byMark : undefined;
}

/** Not what ended cleanly at another account. */
function isTakeable(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  entry: JournalEntry,
): boolean {
  const { state, id, account } = entry;
  if (state === "confirmed") return false;
  if (state === "reported" && !runtime.isSameAccount(account)) return false;
  if (id === undefined) return true;
  if (isPast(entry, held)) return false;
  return id !== held && !runtime.deleted.has(ref.kind, id);
}

/** A resource's create of unknown outcome, by the journal and the state: of two sendings the later moment counts. */
function openIn(
  label: string,
  entry: JournalEntry | undefined,
  unresolved: Unresolved | undefined,
) {
  if (entry === undefined || (unresolved !== undefined && unresolved.at >= entry.at))
    return unresolved;
  return recordOf({ ...entry, what: whatHappened(label, entry) });
}

/** What has or had an object, as "which …" goes on; none if it is new. */
function holderOf(kind: Kind, runtime: Runtime, { ref, formerIds }: ObjectTask, id: string) {
  const other = runtime.deployment.holderOf(kind, id);
  if (other !== undefined && other !== ref.key)
    return `already belongs to ${parseKey(other).label}`;
  if (formerIds.includes(id)) return "this resource had before";
  const had = runtime.journal(ref.identity).holderOf(kind.name, id);
  if (had !== undefined && had !== ref.key) return `already belongs to ${parseKey(had).label}`;
  return runtime.deleted.has(kind.name, id) ? "was deleted before" : undefined;
}

/** An earlier run made it. A refresh finds out if it still exists. @throws ArgumentsError another resource has it. */
function takeOver(
  kind: Kind,
  runtime: Runtime,
  { ref, values }: ObjectTask,
  made: Pick<JournalEntry, "body" | "name" | "facts"> & { readonly id: string },
): Outcome {
  const { label, key } = ref;
  const { id } = made;
  const other = runtime.deployment.claim(kind, id, key);
  if (other !== undefined) {
    throw new ArgumentsError(
      `${label} was created as ${id}, which already belongs to ${parseKey(other).label}. Nothing was sent. Correct existingId there, or remove that resource.`,
    );
  }
  if (!isMadeOtherwise(kind, values, made)) return { kind: "created", id, isTakenOver: true };
  return { kind: "created", id, isTakenOver: true, sentAs: sentAsOf(kind, made) };
}

/** A body that nobody knows is taken for the program's, unless something that is known contradicts it. */
export function isMadeOtherwise(
  kind: Kind,
  values: Values,
  made: Pick<JournalEntry, "body" | "name" | "facts">,
) {
  if (made.body === "") return Object.keys(sentOtherwise(kind, values, made)).length > 0;
  return made.body !== fingerprintOfBody(kind, values);
}

async function send(
  kind: Kind,
  runtime: Runtime,
  create: ObjectTask,
  { record, fields, expectMayBegin }: Sending,
): Promise<Outcome> {
  const { key, label, identity } = create.ref;
  const { mark, field } = record;
  const journal = runtime.journal(identity);
  let sentAt: string | undefined;
  let owner: string | undefined;
  // After the sending nothing may fail: a note that can't be written is only reported.
  const note = (writing: Promise<void>, before = "") =>
    writing.catch((error: Error) => runtime.say(`${before}${error.message}`));
  const noteCreated = (id: string) =>
    note(journal.created(key, id), `${label} was created as ${id}. `);
  try {
    const { id, warnings } = await runtime.client().create({
      operation: kind.create,
      fields: field === undefined ? fields : { ...fields, [field]: mark },
      label,
      beforeSend: async (at) => {
        expectMayBegin();
        await journal.sending({ ...record, at });
        sentAt = at;
      },
      onCreated: async (id) => {
        owner = holderOf(kind, runtime, create, id);
        if (owner === undefined) await noteCreated(id);
      },
    });
    warnOfPlatform(runtime, label, warnings);
    if (owner !== undefined) {
      const what = `${label} was sent at ${sentAt}, and was answered with ${id}, which ${owner}.`;
      throw new OutcomeUnknownError(what, sentAt ?? "");
    }
    runtime.deployment.claim(kind, id, key);
    return { kind: "created", id, isTakenOver: false };
  } catch (error) {
    const doubt = doubtIn(error, sentAt, label);
    if (doubt === undefined) {
      if (sentAt !== undefined) await note(journal.back(key));
      throw error;
    }
    const what = runtime.secrets.scrub(doubt.what);
    const sent = recordOf({ ...record, at: doubt.sentAt, what });
    runtime.deployment.unresolved.set(key, sent);
    if (owner !== undefined) return { kind: "unresolved", record: sent };
    const finding = await search(kind, runtime, create, sent, true);
    if (finding.kind !== "found") return { record: sent, ...finding, kind: "unresolved" };
    const { id } = finding;
    await noteCreated(id);
    runtime.deployment.claim(kind, id, key);
    runtime.say(`${label} was created as ${id}: its response was lost, and a search has found it.`);
    return { kind: "created", id, isTakenOver: false };
  }
}

/** Looks for an open create by its mark, if there is a search. What another resource has or had is not it. */
async function search(
  kind: Kind,
  runtime: Runtime,
  create: ObjectTask,
  open: Unresolved,
  wasJustSent: boolean,
) {
  const { reading, secrets } = runtime;
  if (!abilitiesOf(kind, reading.settings).search(open.field))
    return { kind: "unresolved", record: open } as const;
  const { ref, formerIds } = create;
  const finding = await lookFor(kind, runtime, ref.label, open, wasJustSent, formerIds);
  if (finding.kind === "not-made") return finding;
  const owner = finding.kind === "found" ? holderOf(kind, runtime, create, finding.id) : undefined;
  if (finding.kind === "found" && owner === undefined) return finding;
  const words =
    finding.kind === "found" ? `A search found ${finding.id}, which ${owner}.` : finding.words;
  return { kind: "unresolved", record: { ...open, searched: secrets.scrub(words) } } as const;
}

/** What is unknown after a failure; nothing if nothing was created. */
function doubtIn(error: unknown, sentAt: string | undefined, label: string) {
  if (error instanceof OutcomeUnknownError) return { sentAt: error.sentAt, what: error.message };
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // A defect of this package in reading an answer: to send the create again could make a second object.
  const what = `${label} was sent at ${sentAt}, and its response could not be classified. ${describeDefect(error)}`;
  return { sentAt, what };
}

/** @throws AccountMismatchError what an interrupted run sent to another account is to be resolved there. */
export function expectAccountOfOpen(runtime: Runtime, journal: Journal): void {
  for (const [account, key] of journal.accountsOfOpen)
    expectSameAccount(
      runtime,
      account,
      `An interrupted run sent ${parseKey(key).label}, which no state has yet,`,
    );
}

/**
 * The guard before every new POST: an open create of the same kind, platform name and advertiser may be this object
 * under another name. What its own resource looks after, in this run, stops nothing else.
 */
export function namesakeOf(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  values: Values,
): Namesake | undefined {
  const { deployment } = runtime;
  const journal = runtime.journal(ref.identity);
  const given = values[kind.nameProperty];
  const name = typeof given === "string" && !holdsUnknown(given) ? given : undefined;
  const isOther = (open: OpenCreate) => {
    if (!runtime.isSameAccount(open.account)) return false;
    if (open.isInState === true) return !deployment.isDeclared(open.key);
    if (deployment.hasSeen(kind, open)) return false;
    if (
      open.id !== undefined &&
      (deployment.isKept(kind, open.id) || runtime.deleted.has(kind.name, open.id))
    )
      return false;
    if (open.elsewhere !== undefined) return true;
    return (
      journal.isStillOpen(open.key) && open.key !== ref.key && !deployment.isDeclared(open.key)
    );
  };
  const found = runtime.openCreates(ref.identity).find(kind.name, name);
  const candidates = found.filter((open) => hasSameOwner(kind, open, values) && isOther(open));
  const isPerhaps = name === undefined || holdsUnknown(ownerIn(kind, values));
  const [open] = candidates;
  return open && { ref, open, isPerhaps };
}

/** A secret owner, or one that is not known yet, may be any. */
function hasSameOwner(kind: Kind, { facts = {} }: OpenCreate, values: Values): boolean {
  const then = ownerIn(kind, facts);
  const now = ownerIn(kind, values);
  return !hasValue(then) || holdsUnknown(now) || isSameValue(then, now);
}

/** Why nothing is sent for a new object; undefined if it may be. After one was refused, nothing new is sent. */
export function createBlocker(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  values: Values,
): AdvertisingError | undefined {
  const { deployment } = runtime;
  const namesake = namesakeOf(kind, runtime, ref, values);
  if (namesake !== undefined) {
    deployment.refused ??= ref.label;
    return new OutcomeUnknownError(namesakesMessage([namesake]), "");
  }
  if (deployment.refused === undefined) return undefined;
  return new OutcomeUnknownError(refusedBeforeMessage(ref, deployment.refused), "");
}
