/**
 * One create, at most once over all runs: what the journal remembers decides first, then one POST.
 */
import { requestFields } from "../api/request.js";
import { AdvertisingError, OutcomeUnknownError } from "../errors.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import type { Attempt, Ending } from "../journal/journal.js";
import type { Kind } from "../kinds/kind.js";
import { factsIn, type UnresolvedMark } from "../state/unresolved.js";
import { describeDefect } from "./failure.js";
import { whatHappened } from "./leftovers.js";
import type { Outcome } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { isKnown, type Subject } from "./subject.js";

type Properties = Readonly<Record<string, unknown>>;

export interface Create {
  /** The checked arguments. */
  readonly values: Properties;
  readonly subject: Subject;
  /** Arguments whose values must not be told. */
  readonly secret: ReadonlySet<string>;
  /** The id of the object that it is to replace. */
  readonly replaces: string | undefined;
}

/** Takes on the object that the user named; nothing is sent. */
export async function adoptExisting(
  runtime: Runtime,
  { values, subject: { identity, key, label } }: Create,
): Promise<Outcome> {
  const id = String(values.existingId);
  if (identity === undefined) return { kind: "adopted", id };
  try {
    // Whatever was left open about it is answered by this id; it may have been noted under the resource's former name.
    const journal = runtime.journal(identity);
    const noted = await journal.settle(key, id, runtime.settling.get(key));
    for (const former of runtime.formerly.get(key) ?? []) noted.push(...(await journal.settle(former, id)));
    for (const other of noted.filter((known) => known !== id)) {
      runtime.say(
        `${label}: an interrupted run had created it as ${other}; that object stays live, and nothing manages it.`,
      );
    }
  } catch (error) {
    runtime.say(`${label} was taken over as ${id}. ${(error as Error).message}`);
  }
  return { kind: "adopted", id };
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
  const { identity, key, label } = create.subject;
  runtime.client(); // the settings come first: without them nothing is begun
  const fields = requestFields(kind, values);
  if (identity === undefined) {
    return send(kind, runtime, create, fields, unrecorded(runtime.newMark()), mayBegin);
  }
  const begun = await runtime.journal(identity).begin({
    key,
    fingerprint: fingerprintOf(fields),
    name: secret.has(kind.nameProperty) ? undefined : String(values[kind.nameProperty]),
    facts: factsIn(kind, values, secret),
    replaces: idOf(create.replaces),
  });
  switch (begun.kind) {
    case "attempt":
      return send(kind, runtime, create, fields, begun.attempt, mayBegin);
    case "taken-over":
      return { kind: "created", id: begun.id, mark: begun.mark, isTakenOver: true };
    case "unresolved": {
      const { entry } = begun;
      const otherwise = entry.id === undefined ? "" : " Its arguments were others than now.";
      const { mark, at, name, facts, replaces = create.replaces } = entry;
      return unresolved(runtime, create, {
        mark,
        fingerprint: entry.fingerprint,
        since: at,
        what: `${whatHappened(label, entry)}${otherwise}`,
        replaces,
        // What was sent then, which the arguments of now need not be.
        sent: { ...(name === undefined ? {} : { name }), ...(facts === undefined ? {} : { facts }) },
      });
    }
  }
}

/** For a resource that the journal has no key for. */
function unrecorded(mark: string): Attempt {
  return { mark, sending: async () => undefined, finish: async () => undefined };
}

async function send(
  kind: Kind,
  runtime: Runtime,
  create: Create,
  fields: Properties,
  attempt: Attempt,
  mayBegin: () => void,
): Promise<Outcome> {
  const { label } = create.subject;
  const { mark } = attempt;
  const { traceField } = runtime.reading.settings;
  let sentAt: string | undefined;
  // Once it was sent, nothing may fail: what can't be noted is said.
  const finish = (ending: Ending, before = "") =>
    attempt.finish(ending).catch((error: Error) => runtime.say(`${before}${error.message}`));
  try {
    const { id, warnings } = await runtime.client().create({
      operation: kind.create,
      fields: traceField === undefined ? fields : { ...fields, [traceField]: mark },
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
    return unresolved(runtime, create, {
      mark,
      fingerprint: fingerprintOf(fields),
      since: doubt.sentAt,
      what: doubt.what,
      replaces: create.replaces,
    });
  }
}

/** What is not known after a failure; nothing where nothing was created. */
function doubtIn(error: unknown, sentAt: string | undefined, label: string) {
  if (error instanceof OutcomeUnknownError) return { sentAt: error.sentAt, what: error.message };
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // Of ours, in reading the answer, whatever it was: to send it again could make two.
  return {
    sentAt,
    what: `${label} was sent at ${sentAt}, and its answer could not be judged. ${describeDefect(error)}`,
  };
}

/** A create that was sent, and of which nobody knows what became. */
interface Doubtful {
  readonly mark: string;
  readonly fingerprint: string;
  readonly since: string;
  readonly what: string;
  readonly replaces: string | undefined;
  readonly sent?: Pick<UnresolvedMark, "name" | "facts">;
}

function unresolved(
  { reading, secrets }: Runtime,
  { subject, secret }: Create,
  { mark, fingerprint, since, what, replaces, sent }: Doubtful,
): Outcome {
  const { traceField } = reading.settings;
  return {
    kind: "unresolved",
    mark,
    fingerprint,
    unresolved: {
      since,
      what: secrets.scrub(what),
      ...(isKnown(subject) ? { urn: subject.urn } : {}),
      ...(traceField === undefined ? {} : { trace: { field: traceField, value: mark } }),
      ...(replaces === undefined || idOf(replaces) === undefined ? {} : { replaces }),
      ...sent,
      ...(secret.size === 0 ? {} : { secret: [...secret] }),
    },
  };
}

/** Of the platform; an unresolved resource has none. */
function idOf(id: string | undefined): string | undefined {
  return id !== undefined && /^\d+$/.test(id) ? id : undefined;
}
