/**
 * One create, at most once over all runs: what the journal remembers decides first, then one POST.
 */

import { AdvertisingError, type Values } from "../base/index.js";
import { bodyOf, fingerprintOf, type Kind } from "../kinds/index.js";
import { type CreateRecord, tellingIn, whatHappened } from "../state/index.js";
import type { Attempt, Ending, Unsent } from "../store/index.js";
import { doubtIn, idOf, unresolved } from "./doubt.js";
import type { Outcome } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { isSearchable, lookFor } from "./search.js";
import type { Subject } from "./subject.js";
import { canUpdate, wasUpdated } from "./update.js";

export interface Create {
  /** The checked arguments. */
  readonly values: Values;
  readonly subject: Subject;
  /** Arguments whose values must not be told. */
  readonly secret: ReadonlySet<string>;
  /** The id of the object that it is to replace. */
  readonly replaces: string | undefined;
  /** What it is sent with; a new one by default. */
  readonly mark?: string | undefined;
}

/** @param mayBegin throws where nothing must be sent any more. */
export async function createOnce(kind: Kind, runtime: Runtime, create: Create, mayBegin: () => void): Promise<Outcome> {
  try {
    return await attemptOnce(kind, runtime, create, mayBegin);
  } catch (error) {
    if (error instanceof AdvertisingError) return { kind: "not-created", error };
    throw error;
  }
}

async function attemptOnce(kind: Kind, runtime: Runtime, create: Create, mayBegin: () => void): Promise<Outcome> {
  const { secret, values } = create;
  const { identity, key } = create.subject;
  runtime.client(); // the settings come first: without them nothing is begun
  const fields = bodyOf(kind, values);
  // The state may know of a create that this machine's journal does not.
  const learned = runtime.learned.of(key);
  const unsettled = identity === undefined ? undefined : learned.unsettled;
  const record: Unsent = {
    key,
    // What is sent again has the same mark: whichever record of it is left, a search finds what either of them made.
    mark: unsettled?.mark ?? create.mark ?? runtime.newMark(),
    fingerprint: fingerprintOf(fields),
    field: runtime.reading.settings.traceField,
    ...tellingIn(kind, values, secret),
    replaces: idOf(create.replaces),
  };
  if (identity === undefined) return send(kind, runtime, create, record, fields, UNRECORDED, mayBegin);
  const begun = await runtime.journal(identity).begin(record);
  learned.unsettled = undefined;
  switch (begun.kind) {
    case "attempt": {
      const outcome = unsettled && (await settled(kind, runtime, create, unsettled, async () => undefined, mayBegin));
      return outcome ?? send(kind, runtime, create, record, fields, begun.attempt, mayBegin);
    }
    case "taken-over":
      return { kind: "created", id: begun.id, mark: begun.mark, isTakenOver: true };
    case "unresolved": {
      const { entry, finish } = begun;
      const earlier = { ...entry, what: whatHappened(create.subject.label, entry) };
      const outcome = await settled(kind, runtime, create, earlier, finish, mayBegin);
      return outcome ?? attemptOnce(kind, runtime, { ...create, mark: entry.mark }, mayBegin);
    }
  }
}

/**
 * What becomes of an earlier create: its object is taken over where it can be found, and changed where that is known to be
 * possible.
 * @returns none where it was certainly not carried out, and is forgotten.
 */
async function settled(
  kind: Kind,
  runtime: Runtime,
  create: Create,
  earlier: CreateRecord,
  finish: Attempt["finish"],
  mayBegin: () => void,
): Promise<Outcome | undefined> {
  const { label } = create.subject;
  const { mark, at, replaces = create.replaces } = earlier;
  let { id, what } = earlier;
  if (id === undefined && isSearchable(kind, runtime, earlier)) {
    mayBegin();
    const finding = await lookFor(kind, runtime, label, earlier, { wasJustSent: false });
    if (finding.kind === "not-made") {
      await finish({ kind: "not-created" });
      runtime.say(`${label} was sent at ${at}, and a search finds nothing that it made: it is sent again.`);
      return undefined;
    }
    if (finding.kind === "found") id = finding.id;
    else what = `${what} ${finding.words}`;
  }
  if (id !== undefined) {
    const fields = bodyOf(kind, create.values);
    const isSame = fingerprintOf(fields) === earlier.fingerprint;
    // Before it is updated: a later run whose arguments are the first ones again must not take it over as it was sent.
    await finish({ kind: "created", id, isChanged: !isSame && canUpdate(kind, runtime) });
    if (isSame || (await wasUpdated(kind, runtime, { id, label }, fields)))
      return { kind: "created", id, mark, isTakenOver: true, isUpdated: !isSame };
    what = earlier.id === undefined ? `${what} A search has found it as ${id}.` : what;
  }
  const otherwise = id === undefined ? "" : " Its arguments were others than now.";
  return unresolved(runtime, create, { ...earlier, what: `${what}${otherwise}`, replaces });
}

/** For a resource that the journal has no key for. */
const UNRECORDED: Pick<Attempt, "sending" | "finish"> = {
  sending: async () => undefined,
  finish: async () => undefined,
};

async function send(
  kind: Kind,
  runtime: Runtime,
  create: Create,
  record: Unsent,
  fields: Values,
  attempt: Pick<Attempt, "sending" | "finish">,
  mayBegin: () => void,
): Promise<Outcome> {
  const { label } = create.subject;
  const { mark, field } = record;
  let sentAt: string | undefined;
  // Once it was sent, nothing may fail: what can't be noted is said.
  const finish = (ending: Ending, before = "") =>
    attempt.finish(ending).catch((error: Error) => runtime.say(`${before}${error.message}`));
  try {
    const { id, warnings } = await runtime.client().create({
      operation: kind.create,
      fields: field === undefined ? fields : { ...fields, [field]: mark },
      label,
      beforeSend: async (at) => {
        mayBegin();
        await attempt.sending(at);
        sentAt = at;
      },
      onCreated: (id) => finish({ kind: "created", id }, `${label} was created as ${id}. `),
    });
    for (const warning of warnings) runtime.say(`The platform, first of ${label}: ${warning}`, warning);
    return { kind: "created", id, mark, isTakenOver: false };
  } catch (error) {
    const doubt = doubtIn(error, sentAt, label);
    await finish({ kind: doubt === undefined ? "not-created" : "unresolved" });
    if (doubt === undefined) throw error;
    const sent: CreateRecord = { ...record, at: doubt.sentAt };
    let searched = "";
    if (isSearchable(kind, runtime, sent)) {
      const finding = await lookFor(kind, runtime, label, sent, { wasJustSent: true });
      if (finding.kind === "found") {
        await finish({ kind: "created", id: finding.id }, `${label} was created as ${finding.id}. `);
        runtime.say(`${label} was created as ${finding.id}: its answer was lost, and a search has found it.`);
        return { kind: "created", id: finding.id, mark, isTakenOver: false };
      }
      if (finding.kind === "open") searched = ` ${finding.words}`;
    }
    return unresolved(runtime, create, { ...sent, what: `${doubt.what}${searched}` });
  }
}
