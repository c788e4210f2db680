/**
 * One create, at most once over all runs. What is true of each of them, whatever fails and whenever the process is killed:
 * - C1. It is sent only after the journal has said that no earlier create of the resource is unresolved, and after its own note is on the
 *   disk: `begin` and `sending` come before the first byte, and a create that they refuse is not sent.
 * - C2. Every earlier create of the resource that the journal or the state knows is settled first: its object is taken over, or it is
 *   looked for, or it stays unresolved. It is sent again only if a search finds no object that any of them made, or only what
 *   a read proves to be gone: then a message names that. If the id of its object was known and the object proves to be gone, this run
 *   sends nothing: the next preview shows that another one is created. (Of what this run has deleted, the journal has forgotten the create.)
 * - C3. A create that is sent again keeps its mark, so that a search finds the object of either sending.
 * - C4. Once a byte may have left, only an answer that says so makes it "not created"; everything else is unresolved, a defect in
 *   reading the answer included.
 * - C5. Its end is noted before the engine gets the answer. If that note fails, a message says so, and the outcome stays the same.
 * - C6. The engine may ask again for a failed create (error hooks): it gets the same answer, and nothing is sent.
 * - C7. What it made is handed to the engine, also if another resource has adopted that id before there was such an object: then beside an
 *   error. An object that another resource has is not taken over.
 */

import { AdvertisingError, ArgumentsError, OutcomeUnknownError, RefusedError, type Values } from "../base/index.js";
import { abilitiesOf, argumentNames, hasValue, takeOverOf } from "../decision/index.js";
import { bodyOf, fingerprintOf, type Kind } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { type CreateRecord, ifCreatedIsNotThere, tellingIn, whatHappened } from "../state/index.js";
import type { Ending, Made, Sending, Unsent } from "../store/index.js";
import { keeperOf, noteMade, ownerOf } from "./holding.js";
import type { WithArguments } from "./inputs.js";
import { createdBy, isProvenGone, updateLive } from "./known-operations.js";
import { describeDefect, type Outcome } from "./outcome.js";
import { isAnothers, lookFor, noneFound } from "./search.js";
import type { Runtime, Services } from "./services.js";
import { goneBeforeTakeOver, madeForTwo, platformWarning, takenByAnother, tellAll } from "./tell.js";

interface Create extends WithArguments {
  readonly replaces: string | undefined;
  /** Its former objects, from the state: a search does not confuse them with the object that this create made. */
  readonly formerIds?: readonly string[] | undefined;
  /** The mark that it is sent with; a new one by default. */
  readonly mark?: string | undefined;
  /** An earlier create that is unresolved in the state and is looked for. The journal may not have it. */
  readonly unsettled?: CreateRecord | undefined;
  readonly formerly: readonly string[];
}

/** @param expectMayBegin throws once nothing more may be sent. */
export async function createOnce(
  kind: Kind,
  runtime: Runtime,
  create: Create,
  expectMayBegin: () => void,
): Promise<Outcome> {
  let wasNotMade = false;
  try {
    const outcome = await attemptOnce(kind, runtime, create, expectMayBegin, () => {
      wasNotMade = true;
    });
    if (outcome.kind !== "created") return outcome;
    const other = noteMade(kind, runtime, create.subject, outcome.id);
    if (other === undefined) return outcome;
    return { ...outcome, shared: new ArgumentsError(madeForTwo(create.subject.label, outcome.id, other.urn)) };
  } catch (error) {
    if (error instanceof AdvertisingError) return { kind: "failed", error, wasNotMade };
    throw error;
  }
}

/** @param onNotMade called when a search proves that an earlier create was not carried out. */
async function attemptOnce(
  kind: Kind,
  runtime: Runtime,
  create: Create,
  expectMayBegin: () => void,
  onNotMade: () => void,
): Promise<Outcome> {
  const { secret, values } = create;
  const { identity, key } = create.subject;
  runtime.client(); // checks the settings first: without them nothing may begin
  const fields = bodyOf(kind, values);
  const { unsettled } = create;
  const record: Unsent = {
    key,
    // A create that is sent again has the same mark, so that with either record a search finds the object of either sending.
    mark: unsettled?.mark ?? create.mark ?? runtime.newMark(),
    fingerprint: fingerprintOf(fields),
    field: runtime.reading.settings.markField,
    ...tellingIn(kind, values, secret),
    replaces: idOf(create.replaces),
  };
  const begun = await runtime.journal(identity).begin(record);
  const noted = begun.kind === "send" ? undefined : begun.record.mark;
  // The state's create may be another machine's, not the journal's: it is looked for first, and the other one stays.
  if (unsettled !== undefined && unsettled.mark !== noted) {
    const outcome = await settled(kind, runtime, create, unsettled, async () => undefined, expectMayBegin);
    if (outcome !== undefined) return outcome;
    onNotMade();
  }
  switch (begun.kind) {
    case "send":
      return send(kind, runtime, create, record, fields, begun, expectMayBegin);
    case "taken over":
    case "earlier": {
      const { record: sent } = begun;
      // What is taken over as it was sent needs no note.
      const { wasReported, ended } =
        begun.kind === "earlier" ? begun : { wasReported: undefined, ended: async () => undefined };
      const what = whatHappened(create.subject.label, { ...sent, isReported: wasReported });
      const earlier = { ...sent, what };
      const outcome = await settled(kind, runtime, create, earlier, ended, expectMayBegin);
      if (outcome !== undefined) return outcome;
      onNotMade();
      return attemptOnce(
        kind,
        runtime,
        { ...create, mark: sent.mark, unsettled: undefined },
        expectMayBegin,
        onNotMade,
      );
    }
  }
}

/**
 * What becomes of an earlier create: its object is taken over if it can be found.
 * @returns none if it was certainly not carried out, and is forgotten.
 */
async function settled(
  kind: Kind,
  runtime: Runtime,
  create: Create,
  earlier: CreateRecord,
  ended: Sending["ended"],
  expectMayBegin: () => void,
): Promise<Outcome | undefined> {
  const { label } = create.subject;
  const { at, replaces = create.replaces } = earlier;
  let { id } = earlier;
  const searched: string[] = [];
  if (id === undefined && abilitiesOf(kind, runtime.reading.settings).search(earlier.field)) {
    expectMayBegin();
    const finding = await lookFor(kind, runtime, label, earlier, { wasJustSent: false, formerIds: create.formerIds });
    if (finding.kind === "not-made") {
      await ended({ kind: "not-created" });
      runtime.say(`${label} was sent at ${at}, and ${noneFound(finding.gone)}: it is sent again.`);
      return undefined;
    }
    if (finding.kind === "open") searched.push(finding.words);
    else {
      const owner = await ownerOf(kind, runtime, create.subject, finding.id, create.formerly);
      if (owner === undefined) id = finding.id;
      else searched.push(isAnothers(earlier, finding.id, owner));
    }
  }
  if (id !== undefined) {
    const taken = await takenOver(kind, runtime, create, { ...earlier, id }, ended, earlier.id === undefined);
    if (typeof taken !== "string") return taken;
    if (earlier.id === undefined) searched.push(`A search has found it as ${id}.`);
    searched.push(taken);
  }
  // Without the state, as after a `destroy`, the notes name the same object as the former one.
  const before = replaces === id ? undefined : replaces;
  const known = id ?? earlier.createdAs;
  const createdAs = known === undefined || runtime.run.isGone(kind, known) ? undefined : known;
  return unresolved(runtime, create, { ...earlier, createdAs, searched: searched.join(" "), replaces: before });
}

/**
 * An earlier create has made this object: it is taken over, and changed where it differs and that is known to be possible.
 * @param isFound a search has found it, and asked whether it is gone.
 * @returns in words why it is not taken over. @throws AdvertisingError it could not be changed, or it is gone.
 */
async function takenOver(
  kind: Kind,
  runtime: Runtime,
  { subject, values, unsettled }: Create,
  earlier: Made,
  ended: Sending["ended"],
  isFound: boolean,
): Promise<Outcome | string> {
  const { label, urn } = subject;
  const { id, mark, isHanded } = earlier;
  const other = keeperOf(kind, runtime.run, subject.key, id);
  if (other !== undefined) throw new ArgumentsError(takenByAnother(subject, id, other.urn));
  const given = argumentNames(kind).filter((name) => !(name in kind.refersTo) && hasValue(values[name]));
  const becomes = takeOverOf(kind, values, earlier, abilitiesOf(kind, runtime.reading.settings).update);
  const isUpdated = becomes === "updated";
  const ifNotThere = ifCreatedIsNotThere(urn, id, unsettled !== undefined);
  const named = { id, label, created: createdBy(earlier, runtime), ifNotThere };
  // Before it is updated: a later run whose arguments are the first ones again must not take it over as it was sent.
  await ended({ kind: "created", id, isChanged: isUpdated });
  const isThere = isUpdated
    ? await updateLive(kind, runtime, named, {}, values, given)
    : isFound || !(await isProvenGone(kind, runtime, named));
  if (isThere && becomes === "refused") return "It was sent with other arguments than the program has now.";
  if (isThere) return { kind: "created", id, mark, isHanded, isTakenOver: true, isUpdated };
  runtime.run.noteGone(kind, id);
  // The journal forgets it at the end of the run. What the state has stays unresolved: a later search, or a person, settles that.
  if (unsettled === undefined) throw new RefusedError(goneBeforeTakeOver(label, id));
  return `${id} is no longer on the platform.`;
}

async function send(
  kind: Kind,
  runtime: Services,
  create: Create,
  record: Unsent,
  fields: Values,
  attempt: Sending,
  expectMayBegin: () => void,
): Promise<Outcome> {
  const { label } = create.subject;
  const { mark, field } = record;
  let sentAt: string | undefined;
  // After the sending nothing may fail: a note that can't be written is only reported.
  const finish = (ending: Ending, before = "") =>
    attempt.ended(ending).catch((error: Error) => runtime.say(`${before}${error.message}`));
  try {
    const { id, warnings } = await runtime.client().create({
      operation: kind.create,
      fields: field === undefined ? fields : { ...fields, [field]: mark },
      label,
      beforeSend: async (at) => {
        expectMayBegin();
        await attempt.sending(at);
        sentAt = at;
      },
      onCreated: (id) => finish({ kind: "created", id }, `${label} was created as ${id}. `),
    });
    tellAll(
      runtime,
      warnings.map((warning) => platformWarning(label, warning)),
    );
    return { kind: "created", id, mark, isTakenOver: false };
  } catch (error) {
    const doubt = doubtIn(error, sentAt, label);
    await finish({ kind: doubt === undefined ? "not-created" : "unresolved" });
    if (doubt === undefined) throw error;
    const sent: CreateRecord = { ...record, at: doubt.sentAt };
    let searched: string | undefined;
    if (abilitiesOf(kind, runtime.reading.settings).search(sent.field)) {
      const finding = await lookFor(kind, runtime, label, sent, { wasJustSent: true, formerIds: create.formerIds });
      if (finding.kind === "found") {
        await finish({ kind: "created", id: finding.id }, `${label} was created as ${finding.id}. `);
        runtime.say(`${label} was created as ${finding.id}: its response was lost, and a search has found it.`);
        return { kind: "created", id: finding.id, mark, isTakenOver: false };
      }
      if (finding.kind === "open") searched = finding.words;
    }
    return unresolved(runtime, create, { ...sent, what: doubt.what, searched });
  }
}

/** What is unknown after a failure; nothing if nothing was created. */
function doubtIn(error: unknown, sentAt: string | undefined, label: string) {
  if (error instanceof OutcomeUnknownError) return { sentAt: error.sentAt, what: error.message };
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // A defect of this package in reading an answer: to send the create again could make a second object.
  return {
    sentAt,
    what: `${label} was sent at ${sentAt}, and its response could not be judged. ${describeDefect(error)}`,
  };
}

/** An unknown outcome. @param record what was sent, and what happened. */
function unresolved({ secrets }: Services, { subject, secret }: Create, record: CreateRecord): Outcome {
  const { what = "", searched = "", replaces } = record;
  return {
    kind: "unresolved",
    record: {
      ...record,
      what: secrets.scrub(what),
      searched: searched === "" ? undefined : secrets.scrub(searched),
      urn: subject.urn,
      replaces: idOf(replaces),
      secret: [...secret],
    },
  };
}

/** The platform's id; an unresolved resource has none. */
function idOf(id: string | undefined): string | undefined {
  return isPlatformId(id) ? id : undefined;
}
