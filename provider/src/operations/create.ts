/**
 * One create, at most once over all runs. This is true of each, whatever fails and whenever the process is killed:
 * - C1. It is sent only after the journal has said that no earlier create of the resource is open or reported, that no
 *   open create has its platform name and advertiser ({@link namesakeOf}), and after its own record is on the disk.
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
  count,
  enumerate,
  hasValue,
  isSameValue,
  momentOf,
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
  sentAsOf,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";

/** An object that may have to be created. */
export type NewObject = Pick<ObjectTask, "kind" | "ref" | "values">;

/** @param assertMaySend throws once nothing more may be sent. @throws AdvertisingError nothing was created. */
export async function createOnce(
  runtime: Runtime,
  task: ObjectTask,
  assertMaySend: () => void,
): Promise<Outcome> {
  const { ref, unresolved } = task;
  const { key, label } = ref;
  // Checks the settings first: without them nothing may begin.
  runtime.client();
  const journal = runtime.journal(ref);
  await journal.assertUsable();
  assertAccountOfOpen(runtime, journal);
  const asked = runtime.deployment.unresolved.get(key);
  if (asked) return { kind: "unresolved", record: asked };
  // An earlier run made it; or one has sent it, and its outcome is unknown; or it is new.
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

/** The journal's create of this resource, by key or else by mark, which the run uses or searches for instead of sending. */
export function createToTakeOver(
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  mark?: string,
): JournalEntry | undefined {
  const journal = runtime.journal(ref);
  return [journal.of(ref.key), journal.openWithMark(mark)].find((entry) => {
    if (!entry || entry.state === "confirmed") return false;
    const { state, id, account } = entry;
    // Not what ended cleanly at another account.
    if (state === "reported" && !runtime.isSameAccount(account)) return false;
    if (id === undefined) return true;
    return id !== held && !runtime.deleted.has(ref.kind, id);
  });
}

/** A resource's create of unknown outcome, by the journal and the state: of two sendings the later moment counts. */
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

/** Why an id can't be this create's object, as a clause that begins with "which"; undefined if nothing has or had it. */
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

/** An earlier run made it. A refresh finds out if it still exists. @throws ArgumentsError another resource has it. */
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
      `An earlier run created ${label} as ${id}, which already belongs to ${parseKey(other).label}. Nothing was sent. Remove the latter, or correct its existingId.`,
    );
  }
  const outcome = { kind: "created", id, sending: sendingOf(made) } as const;
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
  // After the sending nothing may fail: a note that can't be written is only reported.
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

/** Looks for an open create by its mark, if there is a search. What another resource has or had is not it. */
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
  const searched = `A search found ${finding.id}, which ${conflict}.`;
  return unresolved({ ...open, searched });
}

/** What is not known after a create has failed; undefined if nothing was created. */
function doubtFrom(error: unknown, label: string, sentAt?: string): string | undefined {
  if (error instanceof OutcomeUnknownError) return error.message;
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // A defect of this package in reading an answer: to send the create again could make a second object.
  return `${label} was sent at ${sentAt}, and its response could not be classified. ${describeDefect(error)}`;
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
  runtime: Runtime,
  { kind, ref, values }: NewObject,
): Namesake | undefined {
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  const given = values[kind.nameProperty];
  const name = typeof given === "string" && !holdsUnknown(given) ? given : undefined;
  const isOther = (open: OpenCreate) => {
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
    // A secret owner, or one that is not known yet, may be any.
    const then = isOwnerKnown ? ownerIn(kind, each.facts ?? {}) : undefined;
    return (!hasValue(then) || isSameValue(then, owner)) && isOther(each);
  });
  return open && { ref, open, isPerhaps: name === undefined || !isOwnerKnown };
}

/** After one was blocked, nothing new is sent. @throws BlockedCreateError nothing may be sent for a new object. */
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
  /** There is none, and by now there won't be: it was not carried out. */
  | { kind: "not-made" }
  /** Not known yet. @param words what was asked and what came back, and what happens next. */
  | { kind: "open"; words: string };

/** The growing pauses before each search, because a new object may be found only later. */
const PAUSES_S = [0, 1, 2, 4, 8, 15];

/** Searches the platform for a create's object, by its mark. @param wasJustSent if so, never `not-made`. */
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
      // Determined before the search: an object that is created meanwhile must not count as not made.
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
  const until = momentOf(searchContext.clock);
  let words = `${searched} until ${until}: ${answer} The next \`pulumi up\`, or \`pulumi-advertising pending --search\`, searches again.`;
  if (dueMs !== undefined)
    words += ` From ${new Date(dueMs).toISOString()} on, \`pulumi up\` sends the create again if it still finds nothing.`;
  return { kind: "open", words };
}

/** From when a create that no search finds counts as not made; none if never. Its last sending, if unknown, is now. */
function resendDueMs(at: string, { settings, clock }: SearchContext): number | undefined {
  const after = settings.operations?.resendAfterSeconds;
  if (after === undefined) return undefined;
  const lastMs = Date.parse(at) || clock.wallMs();
  return visibleFromMs(lastMs + (settings.requestTimeoutSeconds + after) * 1000, settings);
}

/** The object whose place a create takes. Under `--replace` the engine calls no `diff`: the journal alone knows it. */
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
 * A resource's mark for its inputs, and so for the engine's record of an interrupted run; none without a field for it.
 * @param olds its inputs in the state: what it has stays, so that a run without changes changes nothing.
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
  return `${field} ${markFor(runtime, ref, replacedBy(runtime, ref, held))}`;
}

/** @param inputs of its resource, whose mark goes before: another machine may spell the backend in another way. */
export function markFor(
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
