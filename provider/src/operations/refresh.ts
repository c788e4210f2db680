/**
 * The engine's `read`: a refresh compares objects with the state, and `.get` reads an object by its id. Without a known
 * read, the state stays as it is. A refresh also resolves creates by the answers that `pending` passes to it.
 */
import {
  asRecord,
  hasValue,
  NotSentError,
  pick,
  printable,
  UnsupportedError,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import {
  type AnyKind,
  argumentsFrom,
  differencesIn,
  fingerprintOfBody,
  hasAll,
  type Kind,
} from "../kinds/index.js";
import { changeMessages, isMade, isPartlyKnown, sentAsIfUpdated } from "../plan/index.js";
import { accountIn, holdsSecret, isSecret } from "../record/index.js";
import { exactId, isPlatformId } from "../rules/index.js";
import {
  completeArguments,
  kindOf,
  objectKey,
  objectRef,
  pendingLine,
  type ResourceRef,
  readStored,
  refOfInputs,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
  writeStored,
} from "../state/index.js";
import { applyAnswers, compareAnswers, keepUpdate } from "./answers.js";
import { resourcesLike } from "./deletes.js";
import { ObjectOperations } from "./execute.js";
import {
  driftNotice,
  goneNotice,
  interruptedNotice,
  NO_READ,
  stillListedMessage,
  tooEarlyNotice,
} from "./messages.js";
import { assertSameAccount } from "./outcome.js";
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
  resource: AnyKind,
  runtime: Runtime,
  id: string,
  properties: Values,
): Promise<ReadResult | undefined> {
  const kind = kindOf(resource);
  const isSet = "member" in resource;
  if (!isSet && properties[kind.nameProperty] === undefined)
    return get(kind, runtime, id, properties);
  runtime.deployment.hasRead = true;
  const operations = new ObjectOperations(kind, runtime);
  const { read, update, delete: canDelete } = operations.can;
  const alike = await resourcesLike(resource, runtime, id, properties);
  // Otherwise the record doesn't show which resource it is.
  const found = alike.length === 1 ? alike[0] : undefined;
  // The hidden ones.
  const inputs = found && pick(found.inputs ?? {}, (name) => name.startsWith("__"));
  const named = refOfInputs(resource.name, inputs);
  // A printed command needs the URN that the state has: the other front end may have written the inputs.
  const ref = named && found && { ...named, urn: found.urn, resourceUrn: found.urn };
  if (ref) runtime.begin(ref);
  const label = ref?.label ?? `${resource.name} ${id}`;
  for (const each of alike) assertSameAccount(runtime, accountIn(each), label);
  const stored = readStored(resource, id, properties);
  const secrets = alike.flatMap((each) => [...secretArgumentsIn(each.inputs ?? {})]);
  const secret = secretOfObjects(kind, new Set(secrets));
  const { interrupted } = runtime.record.arrived ?? {};
  const unsure = update && sentAsIfUpdated({ kind, secret, stored }, interrupted);
  if (unsure) stored.sentAs = unsure;
  // A read finds out, and Pulumi forgets an interrupted delete.
  if (!read && canDelete && ref)
    for (const [key, object] of stored.eventIds)
      if (interrupted?.get(objectKey(kind.name, object))?.sent === "delete")
        runtime.messages.tellEach(interruptedNotice(objectRef(ref, key), object, "delete"));
  runtime.deployment.comparing ??= compareAnswers(runtime);
  await runtime.deployment.comparing;
  const isUpdatable = isSet && ref && found;
  const noted = isUpdatable ? await keepUpdate(runtime, stored, found.urn) : undefined;
  const isAnswered = applyAnswers(operations, { id, ref, properties }, stored, noted);
  if (!isAnswered) {
    const { own } = await runtime.record.open();
    if (stored.unresolved.size > 0 || !own.every(isMade))
      runtime.messages.say(
        `A refresh leaves unresolved creates as they are. Don't let it clear pending creates: the next \`pulumi up\` would send them again. To list them:\n  ${pendingLine()}`,
      );
    if (!read)
      runtime.messages.say(
        `A refresh does not compare any ${kind.noun}: ${NO_READ}. (--run-program uses the current settings.)`,
      );
    else if (alike.length === 0)
      runtime.messages.say(
        `A refresh does not compare any ${kind.noun} whose account Pulumi's record doesn't show.`,
      );
    // An object that was just answered may be too new for a read to find it.
    const isChanged =
      read && alike.length > 0 && (await refreshObjects(operations, ref, stored, secret));
    if (!isChanged && !noted && !unsure) return { id, props: properties };
  }
  if (!isSet && stored.eventIds.size === 0) return undefined;
  const written = writeStored(resource, stored);
  const props = withoutUndefined({ ...properties, ...written });
  const { idProperty, outputs } = resource;
  const args = pick(props, (name) => name !== idProperty && outputs.includes(name));
  const events = { ...asRecord(args.events), ...declaredOnly(found?.inputs, stored) };
  return {
    id: stored.eventIds.get(SINGLE) ?? id,
    props,
    // Also after answers: the next run then sees a change, and sends under its own name.
    inputs: inputs && { ...inputs, ...args, ...(isSet && { events }) },
  };
}

/**
 * The events whose arguments only the inputs have: of events that lack an object, or that the state doesn't describe.
 * With `ignoreChanges` the next run gets them from there. The record has secret ones encrypted.
 */
function declaredOnly({ events }: Values = {}, { eventIds, sentAs }: StoredSet) {
  return pick(asRecord(events), (key, entry) => {
    const isDescribed = eventIds.has(key) && !sentAs.has(key);
    return !isDescribed && !isSecret(events) && !holdsSecret(entry);
  });
}

/**
 * `.get`, with which a program refers to a live object by its id. @throws ArgumentsError if there is no such object.
 */
async function get(kind: Kind, runtime: Runtime, id: string, properties: Values) {
  if (!isPlatformId(id))
    throw new UnsupportedError(
      `${kind.name} is read by an id of the platform, an integer from 0; got ${printable(id)}. Nothing was sent.`,
    );
  const props = { ...properties, [kind.idProperty]: exactId(id) };
  const { settings, command, provider, deployment, record } = runtime;
  // In a refresh the state has it, whatever the program does.
  if (properties[kind.idProperty] === undefined) {
    deployment.onlyRead.add(kind, id);
    // Pulumi then saves it as only read, and the end of the run names what the state has until now.
    await record.state();
  }
  // Without the command line, the plugin can't tell an import, whose arguments are saved.
  const isPreview = command ? command.command === "preview" : provider === undefined;
  // Without a password nothing is read, so that a preview works.
  const lacksPassword = isPreview && settings.password === undefined;
  const operations = new ObjectOperations(kind, runtime);
  if (!operations.can.read || lacksPassword) return { id, props };
  const found = await operations.readGiven({ id, label: `${kind.name} ${id}` });
  return { id, props: { ...props, ...argumentsFrom(kind, settings, found) } };
}

/** Copies the platform's values into the state. @returns whether anything differed. @throws AdvertisingError */
async function refreshObjects(
  operations: ObjectOperations,
  ref: ResourceRef | undefined,
  stored: StoredSet,
  secret: ReadonlySet<string>,
) {
  const { kind, runtime } = operations;
  const { events, eventIds, sentAs, created, resolved } = stored;
  const refreshOne = async (key: string, id: string) => {
    const own = ref && objectRef(ref, key);
    const label = own ? `${own.label} (${id})` : `${kind.name} ${id}`;
    const target = { id, label, ref: own };
    const record = await operations.read(target);
    if (!record) {
      const until = operations.unprovenUntil(created);
      if (until !== undefined) {
        runtime.messages.tellEach(tooEarlyNotice(target, until));
        return false;
      }
      // Without its outcome in the state, a journal elsewhere would take it over.
      if (runtime.record.arrived?.answeredBy.has(objectKey(kind.name, id))) {
        if (runtime.answers.outcomes) return false;
        throw new NotSentError(
          stillListedMessage(target.label, "is no longer on the platform, but"),
        );
      }
      runtime.deployment.deleted.add(kind, id);
      runtime.messages.tellEach(goneNotice(target));
      for (const map of [events, eventIds, sentAs]) map.delete(key);
      // Its create has nothing to be taken over any more.
      for (const [mark, made] of resolved)
        if (made === objectKey(kind.name, id)) resolved.set(mark, "");
      return true;
    }
    const entry = events.get(key) ?? {};
    const values = completeArguments(stored, entry);
    const sending = sentAs.get(key);
    // Of an object that is known only by its fingerprint, the read has shown that it exists.
    const isHidden = !hasValue(values[kind.nameProperty]);
    if (sending && (isHidden || isPartlyKnown({ sentAs: sending }))) return false;
    const differences = differencesIn(kind, runtime.settings, values, record);
    const names = Object.keys(differences);
    const now = withoutUndefined({ ...values, ...differences });
    const body = fingerprintOfBody(kind, now, secret);
    // The state says so already.
    if (names.length > 0 && sending?.body === body) return false;
    // What a failed update has added, a read of the state's arguments doesn't show.
    const wasOther =
      !sending?.isUnsure && hasAll(kind, values, record) && sentAs.delete(key);
    if (names.length === 0) return wasOther;
    if (sending?.isUnsure) sentAs.set(key, { ...sending, body });
    const changes = changeMessages(names, values, now, secret);
    runtime.messages.tellEach(driftNotice(target, changes));
    const next = { ...entry };
    for (const name of names) {
      if (key === SINGLE || name !== kind.owner) next[name] = now[name] ?? null;
      // A member's owner is the set's, so a different one can only be noted.
      else sentAs.set(key, { body });
    }
    events.set(key, next);
    return true;
  };
  const changes = await Promise.all([...eventIds].map((object) => refreshOne(...object)));
  return changes.includes(true);
}
