/** Decides about a single resource and carries that out, for any front end. The order of the calls is in `deployment.ts`. */
import { ArgumentsError, own, type Secrets, type Values, withoutUndefined } from "../base/index.js";
import { adoptedTwice, displayName, type Kind } from "../kinds/index.js";
import {
  type Action,
  ANY,
  abilitiesOf,
  adoptedBy,
  type Circumstances,
  changeMessages,
  hasValue,
  type PlannedObject,
  plannedSingle,
} from "../plan/index.js";
import { exactId, isPlatformId } from "../rules/index.js";
import {
  ACCOUNT,
  CREATED,
  howToKeep,
  identifyingIn,
  isOfKnownAccount,
  keptForRead,
  lacksForRead,
  leftLiveIn,
  PROVIDER,
  parseKey,
  type ResourceRef,
  resolvedIn,
  resourceKeyIn,
  SENT_AS,
  secretArgumentsIn,
  sentAsText,
  UNKNOWN,
  unresolvedIn,
  unresolvedMessage,
  writeLeftLive,
  writeResolved,
} from "../state/index.js";
import { deleteUnlessKept, executeAll, hasWork, momentToKeep, taskOf } from "./execute.js";
import {
  adoption,
  exchangedNotice,
  replacedNotice,
  savedAsSentMessage,
  secondObjectNotice,
  stateForRead,
  stateOnlyNotice,
  takenOverMessageOf,
  takeOverNotice,
} from "./messages.js";
import { expectSameAccount, Incomplete, idOrError, type ObjectTask, type Outcome } from "./outcome.js";
import type { ResourceOperations, Runtime } from "./runtime.js";

/**
 * An alias may give a resource the state of one of another type, whose id is of another kind.
 * @param argument one that all resources of its type have, and no others. @throws ArgumentsError
 */
export function expectSameType(argument: string, olds: Values, id: string, label: string): void {
  if (Object.keys(olds).length === 0 || hasValue(own(olds, argument))) return;
  throw new ArgumentsError(
    `${label}: the state has a resource of another type here, with the id ${id}, and an alias can't change its type. ` +
      "Nothing was sent. Remove the alias; to go on with a live object, set existingId in its new place.",
  );
}

export function argumentsIn(inputs: Values): Values {
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.startsWith("__")));
}

/** Shorter texts are not real secrets, and masking them would damage ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Masks every string and number in `value` if the platform echoes it. */
function mask(value: unknown, secrets: Secrets): void {
  if (typeof value === "string") {
    if (value.length >= MIN_SECRET_CHARACTERS) secrets.add(value);
  } else if (typeof value === "number") {
    if (String(Math.abs(value)).length >= MIN_SECRET_CHARACTERS) secrets.addNumber(value);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) mask(part, secrets);
  }
}

/** The names of arguments that are secret, or were in the state. Values of those that are get masked from now on. */
export function secretIn({ deployment, secrets }: Runtime, key: string, inputs: Values): ReadonlySet<string> {
  const names = secretArgumentsIn(inputs);
  for (const name of names) mask(own(inputs, name), secrets);
  return new Set([...names, ...deployment.checked(key).wasSecret]);
}

/** @param isAsked whether `retainOnDelete` is off. @param olds its outputs in the state. */
export function circumstancesOf(
  kind: Kind,
  { deployment, reading }: Runtime,
  isAsked: boolean,
  olds: Values,
): Circumstances {
  return {
    can: abilitiesOf(kind, reading.settings),
    deletes: (id) => isAsked && isOfKnownAccount(olds) && !deployment.mayBeKept(kind, id),
  };
}

/**
 * What the plan for an object in the state means for others: nothing else may have it, and the journal learns that the
 * state has it. Warns of another one that an earlier run made for it, and of changes the platform is not told.
 * @throws ArgumentsError something else has it.
 */
export function notePlanned(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { action, changed, former, id, olds, values }: PlannedObject,
  secret: ReadonlySet<string>,
): void {
  if (id === undefined) return;
  const { deployment } = runtime;
  const journal = runtime.journal(ref.identity);
  const entry = journal.of(ref.key);
  // A create that the state knows the outcome of has made what it has, or what that replaced.
  const isBeside =
    entry !== undefined && entry.state !== "confirmed" && entry.id !== id && !deployment.hasSeen(kind, entry);
  const isUnsaid = entry?.id === undefined && entry?.replaces !== id; // resolved by the state, which has something
  if (isBeside && (action.do === "same" || isUnsaid)) runtime.warnEach(secondObjectNotice(kind, ref, entry, id));
  deployment.noteSeen(kind, id, []);
  const { deletes } = deployment.checked(resourceKeyIn(ref.key));
  if (deployment.isUp) journal.saw({ key: ref.key, id, deletes, ...identifyingIn(kind, olds, secret) });
  const other = former === undefined ? deployment.claim(kind, id, ref.key) : undefined;
  if (other !== undefined) throw new ArgumentsError(`${ref.label}: ${adoptedTwice(id, parseKey(other).label)}`);
  if (action.do === "update state only")
    runtime.warnEach(stateOnlyNotice(ref, id, changeMessages(changed, olds, values, secret)));
}

/** Notes for `create` what becomes of a resource in the state; previews it. @throws Incomplete it is to be resolved. */
export const planSingle: ResourceOperations<Kind>["plan"] = async (kind, runtime, ref, { id, olds, news }) => {
  const { deployment } = runtime;
  const { key, label } = ref;
  expectSameAccount(runtime, olds[ACCOUNT], `The state has ${label}`);
  expectSameType(kind.nameProperty, olds, id, label);
  const { wasDeleting } = deployment.checked(key);
  const member = plannedSingle(kind, id, olds, news, circumstancesOf(kind, runtime, wasDeleting, olds));
  const { action, former } = member;
  if (deployment.isChecked(key)) noteCreates(kind, runtime, ref, olds, member.id);
  if (action.do === "blocked")
    throw new Incomplete(unresolvedMessage(deployment.checked(key).inState ?? ref, action.record, action.why));
  const secret = secretIn(runtime, key, news);
  deployment.held.set(key, member);
  // A refresh asks too, with the former inputs, and so does a run for what a replacement or its targets take along:
  // nothing else is noted or said then. What is deleted before its replacement has no other `diff`.
  if (deployment.isChecked(key)) {
    notePlanned(kind, runtime, ref, member, secret);
    if (former !== undefined && !wasDeleting) deployment.noteStaying(kind, former.id);
    if (!deployment.isUp && action.do === "recover") runtime.warnEach(takeOverNotice(ref, action.record, "search"));
    if (action.do === "adopt")
      runtime.tellAdopted(adoption(ref, action.id ?? UNKNOWN, abilitiesOf(kind, runtime.reading.settings)));
    if (!deployment.isUp && former !== undefined && !deployment.isKept(kind, former.id)) {
      const isPerhaps = action.do === "replace" && action.perhaps;
      const then = isPerhaps ? "is replaced if values that are not known yet differ" : "is to be replaced";
      const notice = replacedNotice(kind, ref, former, then);
      if (action.do === "adopt" && !former.isDeleted)
        runtime.warnEach(exchangedNotice(ref, former.id, `is to be ${action.id ?? "another object"}`));
      else runtime.warnEach({ ...notice, text: `${notice.text}\n${howToKeep(former.id)}` });
    }
  }
  const changes = action.do !== "same" || preparesRead(kind, runtime, ref, { olds, news });
  return { changes, replaces: replacesOf(kind, member, news) };
};

/** Once a read is known, the state takes what a refresh needs, in an update that sends nothing. */
export function preparesRead(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { olds, news }: { readonly olds: Values; readonly news: Values },
): boolean {
  const { read } = abilitiesOf(kind, runtime.reading.settings);
  if (!read || !runtime.deployment.isChecked(ref.key) || !lacksForRead(olds, news)) return false;
  runtime.say(stateForRead());
  return true;
}

/** What the state says about creates of a resource: its own, of unknown outcome, and those that were found. */
function noteCreates(kind: Kind, runtime: Runtime, ref: ResourceRef, olds: Values, id: string | undefined): void {
  const unresolved = unresolvedIn(olds);
  const creates = [...resolvedIn(olds), ...(unresolved === undefined ? [] : [unresolved.mark])];
  runtime.deployment.noteSeen(kind, undefined, creates);
  if (runtime.deployment.isUp && creates.length > 0) runtime.journal(ref.identity).saw({ key: ref.key, id, creates });
}

/** The arguments that the engine shows as the cause of a replacement. */
function replacesOf(kind: Kind, { action, changed }: PlannedObject, news: Values): string[] {
  if (action.do === "recover") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  // A change that has no name is shown at the argument that people know the object by.
  const names = changed.map((name) => (name === ANY ? kind.nameProperty : name));
  return adoptedBy(news) === undefined ? names : [...names, "existingId"];
}

/** @throws AdvertisingError, Incomplete there is no object, or that is not known. */
export const createSingle: ResourceOperations<Kind>["create"] = async (kind, runtime, ref, inputs) => {
  const { deployment, account, deleted } = runtime;
  const values = argumentsIn(inputs);
  const member = deployment.held.get(ref.key) ?? plannedSingle(kind, undefined, {}, values);
  const { id: held, olds, former } = member;
  const secret = secretIn(runtime, ref.key, inputs);
  const isLeft = held !== undefined && former?.isDeleted !== true;
  const leaves = isLeft ? [{ id: held, at: runtime.now(), name: displayName(kind, olds, secret) }] : [];
  const left = [...leftLiveIn(olds), ...leaves.map(withoutUndefined)];
  const adopts = adoptedBy(values);
  const action: Action = adopts === undefined ? { do: "create" } : { do: "adopt", id: adopts };
  const known = { secret, created: undefined };
  const object = taskOf(runtime, ref, { ...member, action, values }, inputs, left, known);
  const outcome = await carryOut(kind, runtime, object);
  const outsWith = (more: Values, id?: string) => {
    const resolved = writeResolved(olds, id === undefined ? [] : [member.unresolved ?? []].flat());
    const stillLeft = left.filter((each) => each.id !== id && !deleted.has(kind.name, each.id));
    return outsOf(kind, runtime, inputs, {
      [ACCOUNT]: account || undefined,
      ...writeLeftLive(stillLeft),
      ...resolved,
      ...more,
    });
  };
  const reference = { [PROVIDER]: inputs[PROVIDER] };
  const id = idOrError(ref, outsWith(reference), outcome);
  const created = outcome.kind === "created" ? momentToKeep(runtime) : undefined;
  const outs = outsWith({ [CREATED]: created, [kind.idProperty]: exactId(id) }, id);
  tellReplaced(kind, runtime, ref, object.replaces, id, outcome.kind === "managed");
  if (outcome.kind !== "created") return { id, outs };
  runtime.journal(ref.identity).given(ref.key);
  const { sentAs, isTakenOver } = outcome;
  if (sentAs !== undefined) {
    const properties = { ...outs, [SENT_AS]: sentAsText(sentAs), ...reference };
    throw new Incomplete(savedAsSentMessage([{ ref, id }]), { id, properties });
  }
  if (isTakenOver) runtime.say(takenOverMessageOf(ref, id));
  return { id, outs };
};

function outsOf(kind: Kind, { reading }: Runtime, inputs: Values, more: Values): Values {
  const kept = abilitiesOf(kind, reading.settings).read ? keptForRead(inputs) : {};
  return withoutUndefined({ ...argumentsIn(inputs), ...kept, ...more });
}

/** Says what a replacement has left, unless the engine has it deleted, or something else goes on with it. */
function tellReplaced(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  held: string | undefined,
  id: string,
  isAdopted: boolean,
): void {
  const { deployment, deleted } = runtime;
  if (held === undefined || held === id || deployment.isKept(kind, held) || deleted.has(kind.name, held)) return;
  if (deployment.checked(ref.key).wasDeleting && !deployment.isStaying(kind, held)) return;
  deployment.noteStaying(kind, held); // the engine may still ask for its delete, by the option in the state
  const now = `is ${id} now`;
  runtime.warnEach(
    isAdopted ? exchangedNotice(ref, held, now) : replacedNotice(kind, ref, { id: held, isDeleted: false }, now),
  );
}

/** Without a known update, only for an `existingId`, or if saved with an error. @returns its next properties. */
export const updateSingle: ResourceOperations<Kind>["update"] = async (kind, runtime, ref, { id, olds, news }) => {
  const values = argumentsIn(news);
  const open = unresolvedIn(olds);
  if (open !== undefined) throw new Incomplete(unresolvedMessage(ref, open));
  const { wasDeleting } = runtime.deployment.checked(ref.key);
  const member = plannedSingle(kind, id, olds, news, circumstancesOf(kind, runtime, wasDeleting, olds));
  if (hasWork(member)) {
    const known = { secret: secretIn(runtime, ref.key, news), created: olds[CREATED] };
    const object = taskOf(runtime, ref, { ...member, values }, news, [], known);
    idOrError(ref, {}, await carryOut(kind, runtime, object));
  }
  const kept = { ...writeLeftLive(leftLiveIn(olds)), ...writeResolved(olds, []) };
  const recorded = { [ACCOUNT]: olds[ACCOUNT], [CREATED]: olds[CREATED], ...kept };
  return outsOf(kind, runtime, news, { ...recorded, [kind.idProperty]: exactId(id) });
};

/** Called only if `retainOnDelete` was switched off, perhaps where this package can't see it (a transformation). */
export const deleteSingle: ResourceOperations<Kind>["delete"] = async (kind, runtime, id, properties) => {
  if (!isPlatformId(id)) return; // unresolved, so that the object to delete is not known
  // Without its name, because the engine does not say whether that is secret.
  const label = `${kind.name} ${id}`;
  expectSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`);
  await deleteUnlessKept(kind, runtime, { id, label, created: properties[CREATED] }, properties);
};

async function carryOut(kind: Kind, runtime: Runtime, object: ObjectTask): Promise<Outcome> {
  const [outcome] = (await executeAll(kind, runtime, [object])).values();
  return outcome as Outcome;
}
