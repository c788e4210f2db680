/** Answers about creates of unknown outcome, as `pending` passes them to a refresh, which saves them in the state. */
import { ArgumentsError, isoNow, type Values, withoutUndefined } from "../base/index.js";
import type { RefreshAnswers } from "../journal/index.js";
import {
  argumentsFrom,
  asksToDelete,
  fingerprintOfBody,
  type Kind,
  kindsByName,
} from "../kinds/index.js";
import {
  addUnresolved,
  contradictingArguments,
  isMade,
  objectOf,
  sentAsOf,
  tellingAmong,
} from "../plan/index.js";
import {
  idOfObject,
  objectRef,
  parseKey,
  type ResourceRef,
  replacedKey,
  SINGLE,
  type StoredSet,
  type Unresolved,
} from "../state/index.js";
import { createdAt, ObjectOperations } from "./execute.js";
import {
  answeredOtherwiseMessage,
  replacedNotice,
  unknownSendingNotice,
} from "./messages.js";
import type { Runtime } from "./runtime.js";

/**
 * Compares the objects that were answered with what was sent, if a read is known: a wrong one would be managed from then
 * on. One that isn't found may be new. @throws ArgumentsError for all that have another name or advertiser
 */
export async function compareAnswers(runtime: Runtime) {
  const { outcomes } = runtime.answers as Partial<RefreshAnswers>;
  if (!outcomes) return;
  const { record, settings } = runtime;
  const { all } = await record.open();
  const byMark = new Map(all.map((each) => [each.mark, each]));
  const comparing = Object.entries(outcomes).map(async ([mark, object]) => {
    const [inState] = record.arrived?.unresolved.get(mark) ?? [];
    const open = byMark.get(mark);
    const id = idOfObject(object);
    if (!open || id === undefined) return [];
    const sent = inState ? record.asLastSent(inState) : open;
    const { kind: name, label } = parseKey(open.key);
    const kind = kindsByName[name];
    const operations = new ObjectOperations(kind, runtime);
    if (!operations.can.read) return [];
    const theirs = await operations.read({ id, label }).catch(() => undefined);
    const values = theirs ? argumentsFrom(kind, settings, theirs) : {};
    const others = tellingAmong(kind, contradictingArguments(kind, values, sent));
    return others.length > 0 ? answeredOtherwiseMessage(label, id, others) : [];
  });
  const wrong = (await Promise.all(comparing)).flat();
  if (wrong.length > 0) throw new ArgumentsError(wrong.join("\n"));
}

/**
 * Saves as unresolved what an interrupted update of a set has sent: Pulumi's next save drops the update from its record.
 * @returns by mark, the objects that this machine's journal has; undefined if nothing was sent.
 */
export async function keepUpdate({ record }: Runtime, stored: StoredSet, urn: string) {
  const { all } = await record.open();
  const sent = all.filter((each) => {
    const { stateUrn } = record.arrived?.listed(each.mark) ?? {};
    return stateUrn === urn && record.willForget(each);
  });
  if (sent.length === 0) return undefined;
  for (const create of sent) {
    const { member = SINGLE } = parseKey(create.key);
    addUnresolved(stored.unresolved, member, create);
  }
  const made = sent.filter(isMade).filter(({ id, key }) => {
    return record.arrived?.holdersOf(parseKey(key).kind, id).length === 0;
  });
  return Object.fromEntries(made.map((each) => [each.mark, objectOf(each)]));
}

/** Applies the answers about unresolved creates to the state. @returns whether there was any. */
export function applyAnswers(
  { kind, runtime }: ObjectOperations,
  {
    id,
    ref,
    properties,
  }: { id: string; ref?: ResourceRef | undefined; properties: Values },
  stored: StoredSet,
  noted: RefreshAnswers["outcomes"] = {},
) {
  const { carrier, ...answers } = runtime.answers as Partial<RefreshAnswers>;
  const outcomes = { ...noted, ...answers.outcomes };
  let isAnswered = false;
  for (const [key, record] of stored.unresolved) {
    const { mark } = record;
    const object = outcomes[mark];
    if (object === undefined) continue;
    isAnswered = true;
    stored.unresolved.delete(key);
    const own = ref && objectRef(ref, key);
    // A journal may have it too.
    stored.resolved.set(mark, object);
    const made = idOfObject(object);
    if (made === undefined) continue;
    // The object may be so new that a read does not find it yet.
    stored.created = createdAt(runtime) ?? stored.created;
    const former = stored.eventIds.get(key);
    const isReplaced = former !== undefined && former !== made;
    const isKept = isReplaced && asksToDelete(properties);
    if (isKept) keepReplaced(stored, key, former);
    stored.eventIds.set(key, made);
    const sent = runtime.record.asLastSent(record);
    describeMade(kind, stored, key, sent);
    if (own && sent.body === "") runtime.messages.tellEach(unknownSendingNotice(own, made));
    if (!isReplaced || isKept) continue;
    const left = { id: former, key, at: isoNow(runtime.clock) };
    stored.left = [...stored.left, left];
    if (!own) continue;
    const old = { id: former, isDeleted: false };
    runtime.messages.tellEach(replacedNotice(kind, own, old, `is ${made} now`));
  }
  if (carrier === id)
    for (const outcome of Object.entries(outcomes)) stored.resolved.set(...outcome);
  return isAnswered || carrier === id;
}

/** Keeps a set's replaced object in the state, for the next run to delete. */
function keepReplaced({ events, eventIds, sentAs }: StoredSet, key: string, id: string) {
  const old = replacedKey(key, id);
  eventIds.set(old, id);
  events.set(old, events.get(key) ?? {});
  const sending = sentAs.get(key);
  if (sending) sentAs.set(old, sending);
}

/** Describes in the state the object of a create that was unresolved. */
function describeMade(kind: Kind, stored: StoredSet, key: string, record: Unresolved) {
  // A single resource in the state has the arguments of the run that saved it, which may not be the one that sent it.
  const { body, name, args = {} } = record;
  // A member's advertiser is the set's.
  const { advertiserId: _, ...ofMember } = args;
  const before = key === SINGLE ? { ...stored.events.get(key), ...args } : ofMember;
  const named = withoutUndefined({ [kind.nameProperty]: name });
  const entry = { ...before, ...named };
  stored.events.set(key, entry);
  if (key === SINGLE && (body === "" || body === fingerprintOfBody(kind, entry))) return;
  // The next run compares the fingerprint of what was sent with the program's arguments.
  stored.sentAs.set(key, sentAsOf(kind, { ...record, body: body || undefined }));
}
