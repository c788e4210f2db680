/**
 * The engine's `read`: a refresh compares objects with the state, and `.get` reads an object by its id. Without a known
 * read, the state stays as it is. A refresh also resolves creates by the answers that `pending` passes to it.
 */
import {
  ArgumentsError,
  BlockedCreateError,
  inStack,
  printable,
  UnsupportedError,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import {
  argumentsFrom,
  differencesIn,
  fingerprintOfBody,
  type Kind,
  type SetKind,
  withDifferences,
} from "../kinds/index.js";
import { changeMessages } from "../plan/index.js";
import { exactId, isPlatformId } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import {
  ACCOUNT,
  argumentsIn,
  completeArguments,
  describe,
  hiddenInputsIn,
  inputsFrom,
  kindOf,
  objectRef,
  type ResourceRef,
  readStored,
  refOfInputs,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
  sendingId,
  UNRESOLVED,
  writeStored,
} from "../state/index.js";
import { createdAt, ObjectOperations } from "./execute.js";
import { driftNotice, goneNotice, tooEarlyNotice } from "./messages.js";
import { assertSameAccount, sentAsOf } from "./outcome.js";
import { secretOfObjects } from "./plan-resource.js";
import type { Runtime } from "./runtime.js";

export interface ReadResult {
  id: string;
  props: Values;
  /** Set if they differ from the state's. */
  inputs?: Values | undefined;
}

/** @param properties the state's; for `.get` hardly any. @returns undefined if the object is gone. */
export async function readResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  id: string,
  properties: Values,
): Promise<ReadResult | undefined> {
  const kind = kindOf(resource);
  const isSet = "member" in resource;
  // The engine doesn't name the resource. The state does, if it was saved while a read was known.
  const ref = refOfInputs(resource.name, hiddenInputsIn(properties));
  const label = ref?.label ?? `${resource.name} ${id}`;
  assertSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  if (!isSet && properties[kind.nameProperty] === undefined)
    return get(kind, runtime, id, properties);
  const stored = readStored(resource, id, properties);
  const isAnswered = resolve(kind, runtime, stored);
  const open = stored.unresolved.get(SINGLE);
  if (!isSet && open)
    throw new BlockedCreateError(
      [
        "A refresh doesn't resolve this create.",
        `Look in the account for ${describe(kind.name, open)}.`,
        "To list it with the commands that resolve it:",
        `  ${inStack("npx pulumi-advertising pending")}`,
      ].join("\n"),
    );
  const operations = new ObjectOperations(kind, runtime);
  const { read } = operations.can;
  if (!read && !isSet && !isAnswered)
    runtime.say(
      `A refresh does not compare any ${kind.create.noun}: the last \`pulumi up\` had no read in advertising:operations. (With --run-program, a refresh uses the current settings.)`,
    );
  // A single object that was just answered may be too new for a read to find it.
  const isChanged =
    read &&
    (isSet || !isAnswered) &&
    (await refreshObjects(operations, ref, stored, properties));
  if (!isSet && stored.eventIds.size === 0) return undefined;
  if (!isAnswered && !isChanged) return { id, props: properties };
  const written = writeStored(resource, stored, exactId, String(properties[ACCOUNT] ?? ""));
  const props = withoutUndefined({ ...properties, ...written });
  const outputs = ["eventIds", kind.idProperty, "sentAs", UNRESOLVED];
  const args = Object.entries(argumentsIn(props)).filter(
    ([name]) => !outputs.includes(name),
  );
  return {
    id: stored.eventIds.get(SINGLE) ?? id,
    props,
    inputs: isChanged ? inputsFrom(properties, Object.fromEntries(args)) : undefined,
  };
}

/**
 * `.get`, with which a program refers to a live object by its id. @throws ArgumentsError if there is no such object.
 */
async function get(
  kind: Kind,
  runtime: Runtime,
  id: string,
  properties: Values,
): Promise<ReadResult> {
  if (!isPlatformId(id))
    throw new UnsupportedError(
      `${kind.name}.get expected an id of the platform, an integer from 0; got ${printable(id)}. Nothing was sent.`,
    );
  const props = { ...properties, [kind.idProperty]: exactId(id) };
  const { settings } = runtime;
  // Without a password nothing is read, so that a preview works.
  if (!knownOperations(kind, settings).read || settings.password === undefined)
    return { id, props };
  const label = `${kind.name} ${id}`;
  const record = await new ObjectOperations(kind, runtime).read({ id, label });
  if (!record)
    throw new ArgumentsError(
      `${label}: there is no ${kind.create.noun} ${id} on the platform. Give \`get\` the id of an existing one.`,
    );
  return { id, props: { ...props, ...argumentsFrom(kind, settings, record) } };
}

/** Applies the answers about unresolved creates to the state. @returns whether there was any. */
function resolve(kind: Kind, runtime: Runtime, stored: StoredSet) {
  const { answers } = runtime;
  let isAnswered = false;
  for (const [key, record] of stored.unresolved) {
    const id = answers[record.mark];
    if (id === undefined) continue;
    isAnswered = true;
    stored.unresolved.delete(key);
    if (id === null) continue;
    stored.resolved = [...stored.resolved, sendingId(record)];
    // The object may be so new that a read does not find it yet.
    stored.created = createdAt(runtime) ?? stored.created;
    const former = stored.eventIds.get(key);
    if (former !== undefined && former !== id)
      stored.left = [...stored.left, { id: former, key, at: runtime.now() }];
    stored.eventIds.set(key, id);
    // The next run compares the fingerprint of what was sent with the program's arguments.
    const { body, name, facts = {} } = record;
    if (key !== SINGLE) {
      const { advertiserId: _, ...told } = facts;
      stored.events.set(key, withoutUndefined({ ...told, [kind.nameProperty]: name }));
    }
    // A single resource in the state has the arguments of the run that saved it, which may not be the one that sent it.
    else if (body === "" || body === fingerprintOfBody(kind, stored.events.get(key) ?? {}))
      continue;
    stored.sentAs.set(key, sentAsOf(kind, record));
  }
  return isAnswered;
}

/** Copies the platform's values into the state. @returns whether anything differed. @throws AdvertisingError */
async function refreshObjects(
  operations: ObjectOperations,
  ref: ResourceRef | undefined,
  stored: StoredSet,
  properties: Values,
): Promise<boolean> {
  const { kind, runtime } = operations;
  const { events, eventIds, sentAs, created } = stored;
  // Undefined if the state does not say which values are secret.
  const secret =
    ref && secretOfObjects(kind, secretArgumentsIn(hiddenInputsIn(properties) ?? {}));
  const refreshOne = async (key: string, id: string): Promise<boolean> => {
    const own = ref && objectRef(ref, key);
    const label = own ? `${own.label} (${id})` : `${kind.name} ${id}`;
    const target = { id, created, label, ref: own };
    const record = await operations.read(target);
    if (!record) {
      const isDeleted = runtime.deleted.has(kind.name, id);
      const until = isDeleted ? undefined : operations.unprovenUntil(created);
      if (until !== undefined) {
        runtime.warnEach(tooEarlyNotice(target, until));
        return false;
      }
      runtime.deleted.add(kind.name, id);
      runtime.warnEach(goneNotice(target));
      for (const map of [events, eventIds, sentAs]) map.delete(key);
      return true;
    }
    // An object that is known only by its fingerprint can't be compared. The read has shown that it exists.
    if (sentAs.has(key)) return false;
    const entry = events.get(key) ?? {};
    const values = completeArguments(stored, entry);
    const differences = differencesIn(kind, runtime.settings, values, record);
    if (differences.size === 0) return false;
    const names = [...differences.keys()];
    const now = withDifferences(values, differences);
    const changes = secret ? changeMessages(names, values, now, secret) : names;
    runtime.warnEach(driftNotice(target, changes));
    const next = { ...entry };
    for (const name of names) {
      if (key === SINGLE || name !== kind.owner) next[name] = now[name] ?? null;
      // A member's owner is the set's, so a different one can only be noted.
      else sentAs.set(key, { body: fingerprintOfBody(kind, now) });
    }
    events.set(key, next);
    return true;
  };
  const changes = await Promise.all([...eventIds].map((object) => refreshOne(...object)));
  return changes.includes(true);
}
