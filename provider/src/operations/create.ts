/**
 * Sends one create, at most once over all runs. These promises hold whatever fails, and whenever the process is killed:
 * - C1. A create is sent only if the journal has no open or reported create of the resource (exceptions: M3 in
 *   `journal.ts`), and no open create of the same platform name and advertiser ({@link namesakeOf}); and only after the
 *   create's own record is on the disk.
 * - C2. An object that an earlier run made for the resource is taken over. An earlier create of unknown outcome is
 *   searched for by its mark, or stays unresolved; it is sent again only if a search proves that nothing was made.
 * - C3. A create that is sent again keeps its mark, so that a search finds the object of either sending.
 * - C4. Once a byte may have left, only a response that says so makes the create "not created". Otherwise it is
 *   unresolved, even if this package has a defect in reading the response.
 * - C5. The outcome is noted before the engine gets it. If the note fails, a message says so; the outcome stands.
 * - C6. If the engine asks again for a create of unknown outcome (error hooks), it gets the same answer; nothing is
 *   sent.
 * - C7. An id that another resource has or had proves nothing: the create is unresolved. So each object has one
 *   resource.
 */
import {
  AdvertisingError,
  ArgumentsError,
  BlockedCreateError,
  count,
  enumerate,
  hasValue,
  isoNow,
  isSameValue,
  OutcomeUnknownError,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import type { Journal, JournalEntry, OpenCreate } from "../journal/index.js";
import { bodyOf, fingerprintOfBody, type Kind, ownerIn } from "../kinds/index.js";
import {
  canSearch,
  contradictingArguments,
  holdsUnknown,
  visibleFromMs,
} from "../plan/index.js";
import { knownOperations } from "../settings/index.js";
import {
  type CreateRecord,
  identifyingIn,
  keyOf,
  MARK,
  markIn,
  markOf,
  markOfCreate,
  parseKey,
  type ResourceRef,
  resourceKeyIn,
  sendingId,
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
  sentAsOf,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";

/** An object that may have to be created. */
export type NewObject = Pick<ObjectTask, "kind" | "ref" | "values">;

/** @param assertMaySend throws once nothing more may be sent. @throws AdvertisingError if nothing was created. */
export async function createOnce(
  runtime: Runtime,
  task: ObjectTask,
  assertMaySend: () => void,
): Promise<Outcome> {
  const { ref, unresolved } = task;
  const { key, label } = ref;
  // Throws if the settings are incomplete, before anything begins.
  runtime.client();
  const journal = runtime.journal(ref);
  await journal.assertUsable();
  assertAccountOfOpen(runtime, journal);
  const asked = runtime.deployment.unresolved.get(key);
  if (asked) return { kind: "unresolved", record: asked };
  // Three cases follow: an earlier run made the object; a create of unknown outcome; a new object.
  const held = task.replaces ?? unresolved?.replaces;
  const entry = createToTakeOver(runtime, ref, held, task.mark);
  if (entry) journal.moveRecord(entry.key, key);
  if (entry?.id !== undefined) return takeOver(runtime, task, { ...entry, id: entry.id });
  const open = openIn(label, entry, unresolved);
  if (!open) {
    assertNotBlocked(runtime, task);
    return sendCreate(runtime, task, assertMaySend);
  }
  const finding = await searchIfPossible(runtime, task, open);
  if (finding.kind === "unresolved") return finding;
  if (finding.kind === "found") {
    const { id } = finding;
    const { what: _, searched: __, ...sent } = open;
    await journal.recordCreated(key, id, { ...sent, account: runtime.account });
    return takeOver(runtime, task, { ...open, id });
  }
  if (entry) await journal.recordNotCarriedOut(key);
  runtime.say(
    `${label} was sent at ${open.at}, but a search finds no object with its mark. This run sends it again.`,
  );
  return sendCreate(runtime, { ...task, mark: open.mark }, assertMaySend);
}

/**
 * The journal's create of this resource, by key or else by mark, if the run takes it over or searches for it instead of
 * sending another one. @param held the id of the object that the new create replaces.
 */
export function createToTakeOver(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  mark?: string,
): JournalEntry | undefined {
  const journal = runtime.journal(ref);
  return [journal.of(ref.key), journal.createWithMark(mark)].find((entry) => {
    if (!entry || entry.state === "confirmed") return false;
    const { state, id, account } = entry;
    // A reported create at another account says nothing about this one.
    if (state === "reported" && !runtime.isSameAccount(account)) return false;
    if (id === undefined) return true;
    // An object that is to be replaced, or was deleted, can't be the new one.
    return id !== held && !runtime.deleted.has(ref.kind, id);
  });
}

/** A resource's create of unknown outcome, from the journal or the state. If both have it, the later sending counts. */
export function openIn(
  label: string,
  entry?: JournalEntry,
  unresolved?: Unresolved,
): Unresolved | undefined {
  if (!entry || (unresolved && unresolved.at >= entry.at)) return unresolved;
  const { at, atLatest, mark, body, field, name, facts, replaces } = entry;
  const sent = { at, atLatest, mark, body, field, name, facts, replaces };
  return withoutUndefined({ ...sent, what: whatHappened(label, entry) });
}

/**
 * Why an id can't be this create's object, as a clause that follows "which"; undefined if no resource has or had it.
 */
function ownershipConflict(
  runtime: Runtime,
  { kind, ref, formerIds }: ObjectTask,
  id: string,
): string | undefined {
  if (formerIds.includes(id)) return "this resource had before";
  const holder =
    runtime.deployment.holderOf(kind, id) ?? runtime.journal(ref).holderOf(kind.name, id);
  if (holder !== undefined && holder !== ref.key)
    return `already belongs to ${parseKey(holder).label}`;
  return runtime.deleted.has(kind.name, id) ? "was deleted before" : undefined;
}

/**
 * Takes over an object that an earlier run made; whether it still exists, a refresh finds out.
 * @throws ArgumentsError if another resource has the object.
 */
function takeOver(
  runtime: Runtime,
  { kind, ref, values }: ObjectTask,
  made: CreateRecord & { id: string },
): Outcome {
  const { label, key } = ref;
  const { id } = made;
  const other = runtime.deployment.claim(kind, id, key);
  if (other !== undefined) {
    throw new ArgumentsError(
      `An earlier run created ${label} as ${id}, which already belongs to ${parseKey(other).label}. Nothing was sent. Remove ${parseKey(other).label}, or correct its existingId.`,
    );
  }
  const outcome = { kind: "created", id, sending: sendingId(made) } as const;
  if (!wasSentWithOtherArguments(kind, values, made)) return outcome;
  return { ...outcome, sentAs: sentAsOf(kind, made) };
}

/**
 * Whether the program's arguments have changed since the create was sent. If the fingerprint is unknown, only a known
 * name or argument that differs counts.
 */
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
  runtime: Runtime,
  task: ObjectTask,
  assertMaySend: () => void,
): Promise<Outcome> {
  const { kind, ref, values, secret, mark, replaces } = task;
  const { key, label } = ref;
  const { account, deployment, settings, say } = runtime;
  const { markField: field } = settings;
  const { deletes } = deployment.checked(resourceKeyIn(key));
  const record = {
    mark,
    body: fingerprintOfBody(kind, values),
    field,
    replaces,
    ...identifyingIn(kind, values, secret),
  };
  const fields = bodyOf(kind, values);
  const journal = runtime.journal(ref);
  let sentAt: string | undefined;
  let conflict: string | undefined;
  // After the create was sent, nothing may throw: a note that can't be written is only reported.
  const note = (writing: Promise<void>, before = "") =>
    writing.catch((error: Error) => say(`${before}${error.message}`));
  const noteCreated = (id: string) =>
    note(journal.recordCreated(key, id), `${label} was created as ${id}. `);
  const created = (id: string): Outcome => {
    deployment.claim(kind, id, key);
    return { kind: "created", id };
  };
  const creating = runtime.client().create({
    operation: kind.create,
    fields: field === undefined ? fields : { ...fields, [field]: mark },
    label,
    beforeSend: async (at) => {
      assertMaySend();
      const ours = { key, account, ...(deletes && { deletes }) };
      await journal.recordSending({ ...record, ...ours, at });
      sentAt = at;
    },
    onCreated: async (id) => {
      conflict = ownershipConflict(runtime, task, id);
      if (conflict === undefined) await noteCreated(id);
    },
  });
  const answer = await creating.catch((error: unknown) => ({ error }));
  let what: string | undefined;
  if ("error" in answer) {
    what = doubtFrom(answer.error, label, sentAt);
    if (what === undefined) {
      if (sentAt !== undefined) await note(journal.recordNotCarriedOut(key));
      throw answer.error;
    }
  } else {
    warnOfPlatform(runtime, label, answer.warnings);
    if (conflict === undefined) return created(answer.id);
    what = `${label} was sent at ${sentAt}. The response names ${answer.id}, which ${conflict}.`;
  }
  const at = sentAt ?? "";
  const open = withoutUndefined({ ...record, at, what: runtime.secrets.scrub(what) });
  const unresolved = (record: Unresolved): Outcome => {
    deployment.unresolved.set(key, record);
    return { kind: "unresolved", record };
  };
  if (conflict !== undefined) return unresolved(open);
  const finding = await searchIfPossible(runtime, task, open, true);
  if (finding.kind !== "found")
    return unresolved("record" in finding ? finding.record : open);
  const { id } = finding;
  await noteCreated(id);
  say(`${label} was created as ${id}: its response was lost, but a search found it.`);
  return created(id);
}

/**
 * Searches for an open create by its mark, if a search is known. An object that a resource has or had does not count.
 */
async function searchIfPossible(
  runtime: Runtime,
  task: ObjectTask,
  open: Unresolved,
  wasJustSent = false,
) {
  const { kind, ref, formerIds } = task;
  const unresolved = (record: Unresolved) => ({ kind: "unresolved", record }) as const;
  if (!canSearch(knownOperations(kind, runtime.settings), open)) return unresolved(open);
  const wanted = { kind, label: ref.label, sent: open, formerIds };
  const finding = await searchByMark(runtime, wanted, wasJustSent);
  if (finding.kind === "not-made") return finding;
  if (finding.kind === "open")
    return unresolved({ ...open, searched: runtime.secrets.scrub(finding.words) });
  const conflict = ownershipConflict(runtime, task, finding.id);
  if (conflict === undefined) return finding;
  const searched = `A search found object ${finding.id}, which ${conflict}.`;
  return unresolved({ ...open, searched });
}

/** A sentence about the unknown outcome of a create that failed; undefined if certainly nothing was created. */
function doubtFrom(error: unknown, label: string, sentAt?: string): string | undefined {
  if (error instanceof OutcomeUnknownError) return error.message;
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // A defect in reading the response: sending the create again could make a second object.
  return `${label} was sent at ${sentAt}, and its response could not be classified. ${describeDefect(error)}`;
}

/** @throws AccountMismatchError if an open create was sent to another account: it must be resolved there. */
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
 * under another name. An open create whose own resource this run has checked does not count: that resource resolves it.
 */
export function namesakeOf(
  runtime: Runtime,
  { kind, ref, values }: NewObject,
): Namesake | undefined {
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  const given = values[kind.nameProperty];
  const name = typeof given === "string" && !holdsUnknown(given) ? given : undefined;
  const blocks = (open: OpenCreate) => {
    const { key, id, elsewhere } = open;
    if (!runtime.isSameAccount(open.account)) return false;
    if (open.isInState === true) return !deployment.isDeclared(key);
    if (deployment.hasSeen(kind, open)) return false;
    if (id !== undefined && deployment.isClaimedOrAdopted(kind, id)) return false;
    if (id !== undefined && runtime.deleted.has(kind.name, id)) return false;
    if (elsewhere) return true;
    return journal.isStillOpen(key) && key !== ref.key && !deployment.isDeclared(key);
  };
  const found = runtime.openCreates(ref).find(kind.name, name);
  const owner = ownerIn(kind, values);
  const isOwnerKnown = !holdsUnknown(owner);
  const open = found.find((each) => {
    // An owner that is secret, or not known yet, may be any.
    const then = isOwnerKnown ? ownerIn(kind, each.facts ?? {}) : undefined;
    return (!hasValue(then) || isSameValue(then, owner)) && blocks(each);
  });
  return open && { ref, open, isPerhaps: name === undefined || !isOwnerKnown };
}

/** @throws BlockedCreateError if an open create may be this object, or another object was blocked before. */
function assertNotBlocked(runtime: Runtime, object: NewObject) {
  const { deployment } = runtime;
  const { ref } = object;
  const namesake = namesakeOf(runtime, object);
  if (namesake) {
    deployment.firstBlocked ??= ref.label;
    throw new BlockedCreateError(namesakesMessage([namesake]));
  }
  if (deployment.firstBlocked !== undefined)
    throw new BlockedCreateError(refusedBeforeMessage(ref, deployment.firstBlocked));
}

/** A create to search for. */
type Wanted = Pick<ObjectTask, "formerIds" | "kind"> & {
  label: string;
  sent: Pick<CreateRecord, "mark" | "at" | "field">;
};

type SearchContext = Pick<Runtime, "settings" | "clock" | "client">;

type SearchResult =
  | { kind: "found"; id: string }
  /** No object has the mark, and by now none will: the create was not carried out. */
  | { kind: "not-made" }
  /** Not known yet. `words` says what was searched for and found, and what follows. */
  | { kind: "open"; words: string };

/** The growing pauses before each search, because a new object may be found only later. */
const PAUSES_S = [0, 1, 2, 4, 8, 15];

/**
 * Searches the platform for a create's object by its mark. @param wasJustSent if true, the result is never `not-made`.
 */
export async function searchByMark(
  searchContext: SearchContext,
  { kind, label, sent, formerIds }: Wanted,
  wasJustSent = false,
): Promise<SearchResult> {
  const { search } = knownOperations(kind, searchContext.settings);
  if (!search || sent.field === undefined) throw new Error("no search");
  const { field, mark } = sent;
  const wanted = { kind, operation: search, field, mark, label };
  const dueMs = resendDueMs(sent.at, searchContext);
  const searched = `Searched for ${field} = ${mark}`;
  let answer = "";
  for (const pause of PAUSES_S) {
    try {
      if (pause > 0) await searchContext.clock.sleep(pause * 1000);
      // Determined before the search, which may miss an object that is created in the meantime.
      const isDue =
        !wasJustSent && dueMs !== undefined && searchContext.clock.wallMs() >= dueMs;
      const found = await searchContext.client().search(wanted);
      const ids = found.filter((id) => !formerIds.includes(id));
      const [id] = ids;
      if (ids.length > 1) {
        const words = `${searched}: found ${count(ids.length, "object")}: ${enumerate(ids)}. Keep one of them, and remove the others on the platform.`;
        return { kind: "open", words };
      }
      if (id !== undefined) return { kind: "found", id };
      if (isDue) return { kind: "not-made" };
      answer = "nothing found.";
    } catch (error) {
      // A failed search says nothing about the create.
      if (!(error instanceof AdvertisingError)) throw error;
      answer = error.message;
    }
  }
  const until = isoNow(searchContext.clock);
  let words = `${searched} until ${until}: ${answer} The next \`pulumi up\`, or \`pulumi-advertising pending --search\`, searches again.`;
  if (dueMs !== undefined)
    words += ` From ${new Date(dueMs).toISOString()} on, \`pulumi up\` sends the create again if it still finds nothing.`;
  return { kind: "open", words };
}

/**
 * When a create that no search finds begins to count as not made, in milliseconds since 1970; undefined if never.
 * @param at its last sending; if empty (unknown), now.
 */
function resendDueMs(at: string, { settings, clock }: SearchContext): number | undefined {
  const after = settings.operations?.resendAfterSeconds;
  if (after === undefined) return undefined;
  const lastMs = Date.parse(at) || clock.wallMs();
  return visibleFromMs(lastMs + (settings.requestTimeoutSeconds + after) * 1000, settings);
}

/**
 * The id of the object that a create replaces. Under `up --replace` the engine calls no `diff`, so only the journal
 * knows it. @param held the id by the state, if that is known.
 */
export function replacedBy(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
): string | undefined {
  const entry = runtime.journal(ref).of(ref.key);
  if (held !== undefined || entry?.state !== "confirmed") return held;
  return entry.id;
}

/**
 * The value of the input `__mark`, which Pulumi's pending operations then contain; undefined without `markField`.
 * @param olds the inputs in the state: their mark stays, so that a run without changes has no diff.
 */
export function markInput(
  runtime: Runtime,
  ref: ResourceRef,
  olds: Values,
): string | undefined {
  const { markField: field } = runtime.settings;
  if (field === undefined) return undefined;
  if (markIn(olds)?.field === field) return String(olds[MARK]);
  const held = runtime.deployment.checked(ref.key).planned?.object.id;
  return `${field} ${taskMark(runtime, ref, replacedBy(runtime, ref, held))}`;
}

/**
 * The mark of a resource's or member's create. @param inputs the resource's: their mark is used if there is one, since
 * another machine may have spelled the backend differently.
 */
export function taskMark(
  runtime: Runtime,
  ref: ResourceRef,
  replaces: string | undefined,
  inputs: Values = {},
): string {
  const given = markIn(inputs);
  const isOurs = given?.field === runtime.settings.markField;
  const { backend, stack } = runtime.journal(ref).place;
  const ofResource = markOf(backend, stack, keyOf(ref.resource, ref));
  return markOfCreate(isOurs ? given?.mark : undefined, ofResource, ref.member, replaces);
}
