/**
 * One create, at most once over all runs: what the journal remembers decides first, then one POST.
 */
import type { Client } from "../api/client.js";
import { OutcomeUnknownError } from "../errors.js";
import { fingerprintOf } from "../journal/journal.js";
import type { Remembered } from "../journal/notes.js";
import { urnOf } from "../schema/identity.js";
import { type ResourceSchema, typeTokenOf } from "../schema/resource.js";
import { exactInteger } from "../wire/exact-json.js";
import type { Declaration } from "./declaration.js";
import { Unresolved } from "./failure.js";
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
  /** Whether the name on the platform must not be told. */
  readonly nameIsSecret: boolean;
}

/** Under which the journal knows a resource. */
function journalKeyOf(schema: ResourceSchema, identity: string): string {
  return `${schema.kind}::${identity}`;
}

/** Tells the journal that the state holds a resource, so that it forgets what an interrupted run noted of it. */
export function noteHeld(
  schema: ResourceSchema,
  runtime: Runtime,
  identity: string,
  id: string,
  properties: Properties,
): void {
  runtime
    .journal(identity)
    .heldByState(journalKeyOf(schema, identity), id, () => fingerprintOf(requestFields(schema, properties)));
}

/** @returns the id of the object that the user named; nothing is sent. */
export async function adoptExisting(
  { schema }: Declaration,
  runtime: Runtime,
  { values, identity, label }: Create,
): Promise<string> {
  const id = String(values.existingId);
  if (identity !== undefined) {
    // Whatever an interrupted run left open about it is answered by this id.
    await runtime
      .journal(identity)
      .settleAll(journalKeyOf(schema, identity))
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

  const key = journalKeyOf(schema, identity);
  const fingerprint = fingerprintOf(fields);
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
    throw unresolved(declaration, runtime, create, remembered.mark, remembered.at, whatWasLeft(label, remembered));
  }

  let noted: Promise<void> | undefined;
  const beforeSend = async () => {
    mayBegin();
    noted ??= journal.sending({ mark, key, fingerprint, at: runtime.now() });
    await noted;
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
  try {
    const { id, warnings } = await client.create({
      operation: declaration.operation,
      fields: traced,
      label,
      beforeSend,
      onCreated,
    });
    for (const warning of warnings) runtime.say(`The platform, first of ${label}: ${warning}`, warning);
    return id;
  } catch (error) {
    if (!(error instanceof OutcomeUnknownError)) throw error;
    throw unresolved(declaration, runtime, create, mark, error.sentAt, error.message);
  }
}

function unresolved(
  { schema }: Declaration,
  runtime: Runtime,
  { properties, identity, nameIsSecret }: Create,
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
    ...(nameIsSecret ? { nameIsSecret } : {}),
  });
}

/** Says in a preview what an `up` will make of a create that an interrupted run left. Reads, and writes nothing. */
export async function announceLeftover(
  { schema }: Declaration,
  runtime: Runtime,
  identity: string,
  label: string,
): Promise<void> {
  const remembered = await runtime.journal(identity).glimpse(journalKeyOf(schema, identity));
  if (remembered === undefined) return;
  runtime.say(
    remembered.id === undefined
      ? `${whatWasLeft(label, remembered)} \`pulumi up\` will not send it, but save it as unresolved.`
      : `${label} was created as ${remembered.id} by a run that was interrupted: \`pulumi up\` will take it over, if its arguments are the same.`,
  );
}

function whatWasLeft(label: string, { at, id }: Remembered): string {
  return id === undefined
    ? `${label}: a run that was interrupted sent it at ${at}, and its answer was not noted.`
    : `${label}: a run that was interrupted created it at ${at} as ${id}, with other arguments than now.`;
}

/** The request's fields in wire names; optional ones only where given or defaulted. */
function requestFields(schema: ResourceSchema, values: Properties): Record<string, unknown> {
  const fields: Record<string, unknown> = { ...(values.additionalFields as Properties | undefined) };
  for (const [property, wireName] of Object.entries(schema.wireNames)) {
    const value = values[property];
    // Digits beyond a number's precision go out as a JSON number all the same.
    const isDigits = typeof value === "string" && schema.exactIds.has(property);
    if (value !== undefined) fields[wireName] = isDigits ? exactInteger(value) : value;
  }
  return fields;
}
