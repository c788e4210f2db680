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
  BlockedCreateError,
  hasValue,
  isSameValue,
  OutcomeUnknownError,
  type Values,
} from "../base/index.js";
import {
  isSuperseded,
  type Journal,
  type JournalEntry,
  type OpenCreate,
} from "../journal/index.js";
import { bodyOf, fingerprintOfBody, type Kind, ownerIn } from "../kinds/index.js";
import { abilitiesOf, contradictingArguments, holdsUnknown } from "../plan/index.js";
import {
  type CreateRecord,
  identifyingIn,
  parseKey,
  type ResourceRef,
  resourceKeyIn,
  sendingOf,
  type Unresolved,
  whatHappened,
} from "../state/index.js";
import { namesakesMessage, refusedBeforeMessage, warnOfPlatform } from "./messages.js";
import {
  assertSameAccount,
  describeDefect,
  type Namesake,
  type ObjectTask,
  type Outcome,
  recordOf,
  sentAsOf,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { searchByMark } from "./search.js";

/** @param assertMaySend throws once nothing more may be sent. @throws AdvertisingError nothing was created. */
export async function createOnce(
  kind: Kind,
  runtime: Runtime,
  create: ObjectTask,
  assertMaySend: () => void,
): Promise<Outcome> {
  const { ref, values, secret, unresolved } = create;
  const { key, label, identity } = ref;
  runtime.client(); // checks the settings first: without them nothing may begin
  const journal = runtime.journal(identity);
  await journal.assertUsable();
  assertAccountOfOpen(runtime, journal);
  const fields = bodyOf(kind, values);
  // An earlier run made it; or one has sent it, and its outcome is unknown; or it is new.
  const entry = createToTakeOver(
    runtime,
    ref,
    create.replaces ?? unresolved?.replaces,
    create.mark,
  );
  if (entry !== undefined) journal.moveRecord(entry.key, key);
  if (entry?.id !== undefined)
    return takeOver(kind, runtime, create, { ...entry, id: entry.id });
  const open = openIn(label, entry, runtime.deployment.unresolved.get(key) ?? unresolved);
  let { mark } = create;
  if (open !== undefined) {
    const wasJustSent = runtime.deployment.unresolved.has(key);
    const finding = await searchIfPossible(kind, runtime, create, { open, wasJustSent });
    if (finding.kind === "unresolved") return finding;
    if (finding.kind === "found") {
      const { what: _, searched: __, ...sent } = open;
      await journal.recordCreated(key, finding.id, { ...sent, account: runtime.account });
      return takeOver(kind, runtime, create, { ...open, id: finding.id });
    }
    if (entry !== undefined) await journal.recordNotCarriedOut(key);
    runtime.say(
      `${label} was sent at ${open.at}, but a search finds no object with its mark. This run sends it again.`,
    );
    mark = open.mark;
  } else {
    const blocker = createBlocker(kind, runtime, ref, values);
    if (blocker !== undefined) {
      runtime.deployment.stopNewCreates(label);
      throw blocker;
    }
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
  const record = {
    ...sent,
    ...identifyingIn(kind, values, secret),
    ...(deletes && { deletes }),
  };
  return sendCreate(kind, runtime, create, { record, fields, assertMaySend });
}

interface Sending {
  readonly record: Omit<JournalEntry, "state" | "at" | "id">;
  readonly fields: Values;
  assertMaySend(this: void): void;
}

/** The journal's create of this resource, by key or else by mark, which the run uses or searches for instead of sending. */
export function createToTakeOver(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  mark?: string,
): JournalEntry | undefined {
  const journal = runtime.journal(ref.identity);
  const byKey = journal.of(ref.key);
  if (byKey !== undefined && canBeTakenOver(runtime, ref, held, byKey)) return byKey;
  const byMark = journal.openWithMark(mark);
  if (byMark === undefined || !journal.isStillOpen(byMark.key)) return undefined;
  if (!canBeTakenOver(runtime, ref, held, byMark)) return undefined;
  return byMark;
}

/** Not what ended cleanly at another account. */
function canBeTakenOver(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  entry: JournalEntry,
): boolean {
  const { state, id, account } = entry;
  if (state === "confirmed") return false;
  if (state === "reported" && !runtime.isSameAccount(account)) return false;
  if (id === undefined) return true;
  if (isSuperseded(entry, held)) return false;
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

/** Why an id can't be this create's object, as a clause that begins with "which"; undefined if nothing has or had it. */
function ownershipConflict(
  kind: Kind,
  runtime: Runtime,
  { ref, formerIds }: Pick<ObjectTask, "ref" | "formerIds">,
  id: string,
) {
  const other = runtime.deployment.holderOf(kind, id);
  if (other !== undefined && other !== ref.key)
    return `already belongs to ${parseKey(other).label}`;
  if (formerIds.includes(id)) return "this resource had before";
  const had = runtime.journal(ref.identity).holderOf(kind.name, id);
  if (had !== undefined && had !== ref.key) return `already belongs to ${parseKey(had).label}`;
  if (runtime.deleted.has(kind.name, id)) return "was deleted before";
  return undefined;
}

/** An earlier run made it. A refresh finds out if it still exists. @throws ArgumentsError another resource has it. */
function takeOver(
  kind: Kind,
  runtime: Runtime,
  { ref, values }: ObjectTask,
  made: CreateRecord & { readonly id: string },
): Outcome {
  const { label, key } = ref;
  const { id } = made;
  const other = runtime.deployment.claim(kind, id, key);
  if (other !== undefined) {
    throw new ArgumentsError(
      `An earlier run created ${label} as ${id}, which already belongs to ${parseKey(other).label}. Nothing was sent. Remove the latter, or correct its existingId.`,
    );
  }
  const outcome = { kind: "created", id, isTakenOver: true, sending: sendingOf(made) } as const;
  if (!wasSentWithOtherArguments(kind, values, made)) return outcome;
  return { ...outcome, sentAs: sentAsOf(kind, made) };
}

/** A body that nobody knows is taken for the program's, unless something that is known contradicts it. */
export function wasSentWithOtherArguments(
  kind: Kind,
  values: Values,
  made: Pick<JournalEntry, "body" | "name" | "facts">,
) {
  if (made.body === "")
    return Object.keys(contradictingArguments(kind, values, made)).length > 0;
  return made.body !== fingerprintOfBody(kind, values);
}

async function sendCreate(
  kind: Kind,
  runtime: Runtime,
  create: ObjectTask,
  { record, fields, assertMaySend }: Sending,
): Promise<Outcome> {
  const { key, label, identity } = create.ref;
  const { mark, field } = record;
  const journal = runtime.journal(identity);
  let sentAt: string | undefined;
  let conflict: string | undefined;
  // After the sending nothing may fail: a note that can't be written is only reported.
  const note = (writing: Promise<void>, before = "") =>
    writing.catch((error: Error) => runtime.say(`${before}${error.message}`));
  const noteCreated = (id: string) =>
    note(journal.recordCreated(key, id), `${label} was created as ${id}. `);
  const created = (id: string): Outcome => {
    runtime.deployment.claim(kind, id, key);
    return { kind: "created", id, isTakenOver: false };
  };
  const creating = runtime.client().create({
    operation: kind.create,
    fields: field === undefined ? fields : { ...fields, [field]: mark },
    label,
    beforeSend: async (at) => {
      assertMaySend();
      await journal.recordSending({ ...record, at });
      sentAt = at;
    },
    onCreated: async (id) => {
      conflict = ownershipConflict(kind, runtime, create, id);
      if (conflict === undefined) await noteCreated(id);
    },
  });
  const answer = await creating.catch((error: unknown) => ({ error }));
  if (!("error" in answer)) {
    warnOfPlatform(runtime, label, answer.warnings);
    if (conflict === undefined) return created(answer.id);
  }
  const doubt = unknownOutcomeFrom(answer, { label, sentAt, conflict });
  if (doubt === undefined) {
    if (sentAt !== undefined) await note(journal.recordNotCarriedOut(key));
    throw (answer as { error: unknown }).error;
  }
  const sent = recordOf({
    ...record,
    at: doubt.sentAt,
    what: runtime.secrets.scrub(doubt.what),
  });
  runtime.deployment.unresolved.set(key, sent);
  if (conflict !== undefined) return { kind: "unresolved", record: sent };
  const finding = await searchIfPossible(kind, runtime, create, {
    open: sent,
    wasJustSent: true,
  });
  if (finding.kind === "unresolved") return finding;
  if (finding.kind === "not-made") return { kind: "unresolved", record: sent };
  await noteCreated(finding.id);
  runtime.say(
    `${label} was created as ${finding.id}: its response was lost, and a search has found it.`,
  );
  return created(finding.id);
}

/** Looks for an open create by its mark, if there is a search. What another resource has or had is not it. */
async function searchIfPossible(
  kind: Kind,
  runtime: Runtime,
  { ref, formerIds }: ObjectTask,
  { open, wasJustSent }: { readonly open: Unresolved; readonly wasJustSent: boolean },
) {
  const { reading, secrets } = runtime;
  const unresolved = (record: Unresolved) => ({ kind: "unresolved", record }) as const;
  if (!abilitiesOf(kind, reading.settings).search(open.field)) return unresolved(open);
  const wanted = { kind, label: ref.label, sent: open, formerIds };
  const finding = await searchByMark(runtime, wanted, wasJustSent);
  if (finding.kind === "not-made") return finding;
  if (finding.kind === "open")
    return unresolved({ ...open, searched: secrets.scrub(finding.words) });
  const conflict = ownershipConflict(kind, runtime, { ref, formerIds }, finding.id);
  if (conflict === undefined) return finding;
  return unresolved({ ...open, searched: `A search found ${finding.id}, which ${conflict}.` });
}

/** What is unknown after a response or a failure; undefined if nothing was created. */
function unknownOutcomeFrom(
  answer: { readonly id: string } | { readonly error: unknown },
  sending: {
    readonly label: string;
    readonly sentAt: string | undefined;
    /** Why the response's id can't be this create's object. */
    readonly conflict: string | undefined;
  },
) {
  const { label, sentAt, conflict } = sending;
  if (!("error" in answer)) {
    const what = `${label} was sent at ${sentAt}. The response names ${answer.id}, which ${conflict}.`;
    return { sentAt: sentAt ?? "", what };
  }
  const { error } = answer;
  if (error instanceof OutcomeUnknownError)
    return { sentAt: error.sentAt, what: error.message };
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // A defect of this package in reading an answer: to send the create again could make a second object.
  const what = `${label} was sent at ${sentAt}, and its response could not be classified. ${describeDefect(error)}`;
  return { sentAt, what };
}

/** @throws AccountMismatchError what an interrupted run sent to another account is to be resolved there. */
export function assertAccountOfOpen(runtime: Runtime, journal: Journal): void {
  for (const [account, key] of journal.accountsOfOpen)
    assertSameAccount(
      runtime,
      account,
      `An interrupted run sent ${parseKey(key).label} (in no state yet)`,
    );
}

/**
 * The guard before every new POST: an open create of the same kind, platform name and advertiser may be this object
 * under another name. If the open create's own resource was checked in this run, that resource resolves it, and it
 * blocks nothing else.
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
    const { key, id, elsewhere } = open;
    if (!runtime.isSameAccount(open.account)) return false;
    if (open.isInState === true) return !deployment.isDeclared(key);
    if (deployment.hasSeen(kind, open)) return false;
    if (id !== undefined && deployment.isClaimedOrAdopted(kind, id)) return false;
    if (id !== undefined && runtime.deleted.has(kind.name, id)) return false;
    if (elsewhere !== undefined) return true;
    return journal.isStillOpen(key) && key !== ref.key && !deployment.isDeclared(key);
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

/** Why nothing is sent for a new object; undefined if it may be sent. After one was blocked, nothing new is sent. */
export function createBlocker(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  values: Values,
): BlockedCreateError | undefined {
  const namesake = namesakeOf(kind, runtime, ref, values);
  if (namesake !== undefined) return new BlockedCreateError(namesakesMessage([namesake]));
  const { firstBlocked } = runtime.deployment;
  if (firstBlocked === undefined) return undefined;
  return new BlockedCreateError(refusedBeforeMessage(ref, firstBlocked));
}
