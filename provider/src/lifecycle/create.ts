/**
 * One create, at most once over all runs: what the journal remembers decides first, then one POST.
 */
import type { Client } from "../api/client.js";
import { requestFields } from "../api/request.js";
import { AdvertisingError, OutcomeUnknownError } from "../errors.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import { journalKeyOf, urnOf } from "../schema/identity.js";
import { typeTokenOf } from "../schema/resource.js";
import type { Declaration } from "./declaration.js";
import { describeDefect, Unresolved } from "./failure.js";
import { whatHappened } from "./leftovers.js";
import type { Runtime } from "./runtime.js";

type Properties = Readonly<Record<string, unknown>>;

export interface Create {
  /** The checked arguments. */
  readonly values: Properties;
  /** What the state keeps where the outcome is unknown. */
  readonly properties: Properties;
  /** Which resource of which stack; none where the program's half did not say. */
  readonly identity: string | undefined;
  /** For messages. */
  readonly label: string;
  /** Arguments whose values must not be told. */
  readonly secret: ReadonlySet<string>;
  /** The id of the object that it is to replace. */
  readonly replaces: string | undefined;
}

/** @returns the id of the object that the user named; nothing is sent. */
export async function adoptExisting(
  { schema }: Declaration,
  runtime: Runtime,
  { values, identity, label }: Create,
): Promise<string> {
  const id = String(values.existingId);
  if (identity !== undefined) {
    const key = journalKeyOf(schema.kind, identity);
    // Whatever was left open about it is answered by this id; it may have been noted under the resource's former name.
    await runtime
      .journal(identity)
      .settleAll(key, id, runtime.settling.get(key))
      .then((noted) => {
        for (const other of noted.filter((known) => known !== id)) {
          runtime.say(
            `${label}: an interrupted run had created it as ${other}; that object stays live, and nothing manages it.`,
          );
        }
      })
      .catch((error: Error) => runtime.say(`${label} was taken over as ${id}. ${error.message}`));
  }
  return id;
}

/**
 * @param mayBegin throws where nothing must be sent any more.
 * @returns the platform's id. @throws Unresolved where the outcome is unknown; AdvertisingError where nothing was created.
 */
export async function createOnce(
  declaration: Declaration,
  runtime: Runtime,
  create: Create,
  mayBegin: () => void,
): Promise<string> {
  const { schema } = declaration;
  const { identity, label } = create;
  const client = runtime.client();
  const fields = requestFields(schema, create.values);
  const mark = runtime.newMark();
  if (identity === undefined) {
    const nothing = async () => undefined;
    return send(declaration, runtime, client, create, fields, mark, async () => mayBegin(), nothing);
  }

  const key = journalKeyOf(schema.kind, identity);
  const fingerprint = fingerprintOf(fields);
  const name = create.secret.has(schema.nameProperty) ? undefined : String(create.values[schema.nameProperty]);
  const journal = runtime.journal(identity);
  const recollection = await journal.recall(key, fingerprint);
  if (recollection.kind === "created") {
    journal.handedOver(recollection.remembered.mark);
    runtime.say(
      `${label} was created as ${recollection.id} by a run that was interrupted; it is taken over, and nothing is sent.`,
    );
    return recollection.id;
  }
  if (recollection.kind === "unsettled") {
    const { remembered } = recollection;
    await journal.reported(remembered.mark);
    const otherwise = remembered.id === undefined ? "" : " Its arguments were others than now.";
    const what = `${whatHappened(label, remembered)}${otherwise}`;
    throw unresolved(declaration, runtime, create, remembered.mark, remembered.at, what);
  }

  let noted: Promise<void> | undefined;
  const beforeSend = async () => {
    mayBegin();
    noted ??= journal.sending({ mark, key, fingerprint, at: runtime.now(), name });
    await noted;
    journal.confirm(); // the note may be older than a long wait
  };
  // It is created: from here on nothing may fail.
  const onCreated = (id: string) =>
    journal.created(mark, id).catch((error: Error) => runtime.say(`${label} was created as ${id}. ${error.message}`));
  try {
    return await send(declaration, runtime, client, create, fields, mark, beforeSend, onCreated);
  } catch (error) {
    await (error instanceof Unresolved ? journal.reported(mark) : journal.settled(mark)).catch((failure: Error) =>
      runtime.say(failure.message),
    );
    throw error;
  }
}

async function send(
  declaration: Declaration,
  runtime: Runtime,
  client: Client,
  create: Create,
  fields: Properties,
  mark: string,
  beforeSend: () => Promise<void>,
  onCreated: (id: string) => Promise<void>,
): Promise<string> {
  const { traceField } = runtime.reading.settings;
  const traced = traceField === undefined ? fields : { ...fields, [traceField]: mark };
  const { label } = create;
  let sentAt: string | undefined;
  try {
    const { id, warnings } = await client.create({
      operation: declaration.operation,
      fields: traced,
      label,
      beforeSend: async () => {
        await beforeSend();
        sentAt = runtime.now();
      },
      onCreated,
    });
    for (const warning of warnings) runtime.say(`The platform, first of ${label}: ${warning}`, warning);
    return id;
  } catch (error) {
    if (error instanceof OutcomeUnknownError) {
      throw unresolved(declaration, runtime, create, mark, error.sentAt, error.message);
    }
    if (error instanceof AdvertisingError || sentAt === undefined) throw error;
    // Of ours, in reading the answer, whatever it was: to send it again could make two.
    const what = `${label} was sent at ${sentAt}, and its answer could not be judged. ${describeDefect(error)}`;
    throw unresolved(declaration, runtime, create, mark, sentAt, what);
  }
}

function unresolved(
  { schema }: Declaration,
  runtime: Runtime,
  { properties, identity, secret, replaces }: Create,
  mark: string,
  since: string,
  what: string,
): Unresolved {
  const { traceField } = runtime.reading.settings;
  return Unresolved.saving(schema, properties, mark, {
    since,
    what: runtime.secrets.scrub(what),
    ...(identity === undefined ? {} : { urn: urnOf(identity, typeTokenOf(schema.kind)) }),
    ...(traceField === undefined ? {} : { trace: { field: traceField, value: mark } }),
    ...(replaces === undefined || !/^\d+$/.test(replaces) ? {} : { replaces }),
    ...(secret.size === 0 ? {} : { secret: [...secret] }),
  });
}
