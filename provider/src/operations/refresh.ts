/**
 * The engine's `read`: a refresh compares objects with the state, `.get` reads an object by its id alone. Without a
 * known read the state stays as it is. It also resolves unresolved creates: `pending` hands it people's answers.
 */
import {
  ArgumentsError,
  commandsTake,
  own,
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
  type ResourceName,
  type SetKind,
  withDifferences,
} from "../kinds/index.js";
import { abilitiesOf, changeMessages } from "../plan/index.js";
import { exactId, isPlatformId, READABLE_ID } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  describe,
  eventIn,
  hiddenInputsIn,
  IDENTITY,
  inputsFrom,
  memberOf,
  memberRef,
  type ResourceRef,
  readStoredSet,
  refOf,
  SENT_AS,
  type StoredSet,
  secretArgumentsIn,
  sentAsText,
  stackOf,
  stackOption,
  UNRESOLVED,
  type Unresolved,
  unresolvedIn,
  unresolvedMessage,
  withResolved,
  writeStoredSet,
} from "../state/index.js";
import { momentToKeep, readLive, type Target, unprovenUntil } from "./execute.js";
import { driftNotice, goneNotice, nothingComparedMessage, tooEarlyNotice } from "./messages.js";
import { expectSameAccount, Incomplete, sentAsOf } from "./outcome.js";
import type { ResourceOperations, Runtime } from "./runtime.js";
import { memberSecrets } from "./set.js";
import { argumentsIn } from "./single.js";

/** An object that is compared, as messages show it. */
interface Subject extends Target {
  /** At the stack: a resource that an alias has renamed keeps its former name here, until something else changes. */
  readonly resourceUrn: "";
  /** The arguments whose values must not be shown; undefined if nobody knows which these are. */
  readonly secret: ReadonlySet<string> | undefined;
}

/** The engine does not say whose object it is. The state does, if it was saved while a read was known. */
function refIn(resource: ResourceName, properties: Values): ResourceRef | undefined {
  const identity = own(hiddenInputsIn(properties), IDENTITY);
  return typeof identity === "string" ? refOf(resource, identity) : undefined;
}

function subjectOf(kind: Kind, target: Omit<Target, "label">, properties: Values): Subject {
  const ref = refIn(kind.name, properties);
  if (ref === undefined) return { ...target, label: `${kind.name} ${target.id}`, resourceUrn: "", secret: undefined };
  const secret = secretArgumentsIn(hiddenInputsIn(properties) ?? {});
  return { ...target, label: `${ref.label} (${target.id})`, resourceUrn: "", secret };
}

/** @param properties the set's. */
function memberSubject(
  { name, member: kind }: SetKind,
  key: string,
  target: Omit<Target, "label">,
  properties: Values,
): Subject {
  const set = refIn(name, properties);
  const unnamed = `${kind.name} ${target.id} (${memberOf("events", key)})`;
  if (set === undefined) return { ...target, label: unnamed, resourceUrn: "", secret: undefined };
  const secret = memberSecrets(kind, secretArgumentsIn(hiddenInputsIn(properties) ?? {}));
  return { ...target, label: `${memberRef(set, key).label} (${target.id})`, resourceUrn: "", secret };
}

const NOT_BY_REFRESH = "A refresh does not find out what became of this create.";

/** Without a known read, the engine does not say whose create it is. */
function unnamedCreate(kind: Kind, open: Unresolved): string {
  return [
    NOT_BY_REFRESH,
    `Look in the account for ${describe(kind.name, open)}. Its outcome is unknown, so it is not sent again.`,
    "To see its name and the commands for an answer:",
    "  npx pulumi-advertising pending",
  ].join("\n");
}

/** @param properties those in the state; for `.get` hardly any. @returns none if the object is gone. */
export const readSingle: ResourceOperations<Kind>["read"] = async (kind, runtime, id, properties) => {
  const { settings } = runtime.reading;
  const subject = subjectOf(kind, { id, created: properties[CREATED] }, properties);
  expectSameAccount(runtime, properties[ACCOUNT], `The state has ${subject.label}`);
  const open = unresolvedIn(properties);
  if (open !== undefined) {
    const answer = runtime.answers[open.mark];
    if (answer === undefined) {
      const ref = refIn(kind.name, properties);
      if (ref === undefined) throw new Incomplete(unnamedCreate(kind, open));
      commandsTake([stackOption(stackOf(ref.identity))]);
      throw new Incomplete(unresolvedMessage(ref, open, NOT_BY_REFRESH));
    }
    if (answer === null) return undefined;
    const { [UNRESOLVED]: _, ...resolved } = properties;
    // It may be too new for a read to find it. The program may have changed since it was sent: the next run compares.
    const isAsSent = open.body === "" || open.body === fingerprintOfBody(kind, resolved);
    const more = {
      ...withResolved(properties, open),
      [CREATED]: momentToKeep(runtime),
      [SENT_AS]: isAsSent ? undefined : sentAsText(sentAsOf(kind, open)),
    };
    return { id: answer, props: { ...resolved, ...withoutUndefined(more), [kind.idProperty]: exactId(answer) } };
  }
  if (!isPlatformId(id)) {
    throw new UnsupportedError(`${kind.name}.get expected ${READABLE_ID}; got ${printable(id)}. Nothing was sent.`);
  }
  const isRefresh = properties[kind.nameProperty] !== undefined;
  const { read } = abilitiesOf(kind, settings);
  if (read && isRefresh) {
    const props = await refreshed(kind, runtime, subject, properties);
    const { [kind.idProperty]: _, ...args } = argumentsIn(props ?? {});
    return props && { id, props, inputs: props === properties ? undefined : inputsFrom(props, args) };
  }
  // Without a password `.get` still works in a preview.
  if (read && settings.password !== undefined)
    return { id, props: { ...properties, ...(await argumentsOfLive(kind, runtime, id)) } };
  if (isRefresh) runtime.say(nothingComparedMessage(kind.create.noun));
  return { id, props: { ...properties, [kind.idProperty]: exactId(id) } };
};

export const readSet: ResourceOperations<SetKind>["read"] = async (resource, runtime, id, properties) => {
  const { name, member: kind } = resource;
  const label = refIn(name, properties)?.label ?? `${name} ${id}`;
  expectSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  const set = readStoredSet(properties);
  const found = resolve(kind, runtime, set);
  const isResolved = found !== undefined;
  const { read } = abilitiesOf(kind, runtime.reading.settings);
  const isChanged = read && (await refreshMembers(resource, runtime, set, properties));
  if (!isResolved && !isChanged) return { id, props: properties };
  const { earlier: _, [UNRESOLVED]: __, ...others } = properties; // written again if there are any
  const resolved = (found ?? []).reduce<Values>((all, record) => withResolved(all, record), others);
  const props: Values = { ...others, ...resolved, ...writeStoredSet(set, exactId, String(properties[ACCOUNT] ?? "")) };
  const { advertiserId, defaults, events } = props;
  return { id, props, inputs: isChanged ? inputsFrom(properties, { advertiserId, defaults, events }) : undefined };
};

/** What people have answered for unresolved creates becomes the set's. @returns those that were created, if any was answered. */
function resolve(kind: Kind, runtime: Runtime, set: StoredSet): Unresolved[] | undefined {
  const { answers } = runtime;
  const found: Unresolved[] = [];
  const answered = [...set.unresolved].filter(([, { mark }]) => answers[mark] !== undefined);
  for (const [key, record] of answered) {
    const { mark, body, name, facts = {} } = record;
    const id = answers[mark];
    set.unresolved.delete(key);
    if (typeof id !== "string") continue;
    found.push(record);
    // It may be so new that a read does not find it yet.
    set.created = momentToKeep(runtime) ?? set.created;
    const former = set.eventIds.get(key);
    if (former !== undefined && former !== id) set.left = [...set.left, { id: former, key, at: runtime.now() }];
    set.eventIds.set(key, id);
    // What was sent is known by its fingerprint, which the next run compares with the program's.
    const { advertiserId: _, ...told } = facts;
    set.events.set(key, withoutUndefined({ ...told, [kind.nameProperty]: name }));
    set.sentAs.set(key, sentAsOf(kind, { body, facts }));
  }
  return answered.length === 0 ? undefined : found;
}

/** A live object's arguments, for a program that refers to it by id. @throws ArgumentsError if it does not exist. */
async function argumentsOfLive(kind: Kind, runtime: Runtime, id: string): Promise<Values> {
  const label = `${kind.name} ${id}`;
  const record = await readLive(kind, runtime, { id, label });
  if (record === undefined)
    throw new ArgumentsError(
      `${label}: there is no ${kind.create.noun} ${id} on the platform. Give \`get\` the id of one that is there.`,
    );
  return { ...argumentsFrom(kind, runtime.reading.settings, record), [kind.idProperty]: exactId(id) };
}

/** @returns the next properties: the same object if nothing differs; none if it is gone. */
async function refreshed(
  kind: Kind,
  runtime: Runtime,
  subject: Subject,
  properties: Values,
): Promise<Values | undefined> {
  const { settings } = runtime.reading;
  const { id, created, secret } = subject;
  const record = await readLive(kind, runtime, subject);
  const isKnown = record !== undefined || runtime.deleted.has(kind.name, id);
  const until = isKnown ? undefined : unprovenUntil(runtime, created);
  if (until !== undefined) {
    runtime.warnEach(tooEarlyNotice(subject, id, until));
    return properties;
  }
  if (record === undefined) {
    runtime.deleted.add(kind.name, id);
    runtime.warnEach(goneNotice(subject));
    return undefined;
  }
  const differences = differencesIn(kind, settings, properties, record);
  if (differences.size === 0) return properties;
  const names = [...differences.keys()];
  const now = withDifferences(properties, differences);
  const changes = secret === undefined ? names : changeMessages(names, properties, now, secret);
  runtime.warnEach(driftNotice(subject, changes));
  return now;
}

/** What the platform has of members becomes the set's. @returns whether anything differed. @throws AdvertisingError */
async function refreshMembers(
  resource: SetKind,
  runtime: Runtime,
  set: StoredSet,
  properties: Values,
): Promise<boolean> {
  const kind = resource.member;
  let isChanged = false;
  await Promise.all(
    [...set.eventIds].map(async ([key, id]) => {
      const entry = set.events.get(key) ?? {};
      const values = eventIn(set, entry);
      // What the entry does not describe is known by its fingerprint alone: only whether it is there is asked.
      const isDescribed = !set.sentAs.has(key);
      const subject = memberSubject(resource, key, { id, created: set.created }, properties);
      const now = await refreshed(kind, runtime, subject, isDescribed ? values : {});
      if (now === undefined) for (const map of [set.events, set.eventIds, set.sentAs]) map.delete(key);
      else if (isDescribed && now !== values) {
        set.events.set(key, { ...entry, ...changedIn(values, now) });
        // Its owner is the set's, so a different one can only be noted.
        if (now.advertiserId !== values.advertiserId) set.sentAs.set(key, { body: fingerprintOfBody(kind, now) });
      } else return;
      isChanged = true;
    }),
  );
  return isChanged;
}

/** The changed arguments; `null` for one that no longer has a value. */
function changedIn({ advertiserId: _, ...values }: Values, now: Values): Values {
  return Object.fromEntries(
    Object.keys(values).flatMap((property) =>
      now[property] === values[property] ? [] : [[property, now[property] ?? null]],
    ),
  );
}
