/** Decides about a single resource and carries that out, for any front end. The order of the calls is in `run.ts`. */
import { ArgumentsError, own, type Values, withoutUndefined } from "../base/index.js";
import {
  type Action,
  ANY,
  abilitiesOf,
  adoptedBy,
  type Circumstances,
  changesInWords,
  hasValue,
  type Member,
  singleMember,
} from "../decision/index.js";
import { adoptedTwice, KINDS, type Kind, nameToTell, type ResourceName, SETS } from "../kinds/index.js";
import { exactId, isPlatformId } from "../rules/index.js";
import {
  ACCOUNT,
  aboutWhom,
  CREATED,
  EARLIER,
  earlierText,
  explain,
  howToKeep,
  isOfKnownAccount,
  keptForRead,
  type LeftLive,
  leftLiveIn,
  PROVIDER,
  type Ref,
  secretArgumentsIn,
  unresolvedIn,
  writeLeftLive,
} from "../state/index.js";
import { carryOutAll, hasWork, managedOf } from "./carry-out.js";
import { argumentsIn, type Managed, maskSecrets, type Properties } from "./inputs.js";
import { createdIn, deleteUnlessKept, momentToKeep } from "./operations.js";
import { expectSameAccount, Incomplete, idOrError, type Outcome } from "./outcome.js";
import type { Calls, Runtime } from "./runtime.js";
import { beforeTakeOver, besideHeld, nextOf, notTold, replaced, savedAsSent, takenOver } from "./tell.js";

/** Types, by an argument that only resources of that type have. */
const TYPES = [
  ...SETS.map(({ name }) => ({ name, argument: "events" })),
  ...KINDS.map(({ name, nameProperty }) => ({ name, argument: nameProperty })),
];

/** An alias may give a resource the state of one of another type, whose id is of another kind. @throws ArgumentsError */
export function expectSameType(name: ResourceName, olds: Values, id: string, label: string): void {
  const stored = TYPES.find(({ argument }) => hasValue(own(olds, argument)));
  if (stored === undefined || stored.name === name) return;
  throw new ArgumentsError(
    `${label}: the state has a resource of the type ${stored.name} here, with the id ${id}, and an alias can't change its type. ` +
      "Nothing was sent. Remove the alias; to go on with a live object, set existingId in its new place.",
  );
}

/** What is the same for all objects of a resource. @param isAsked whether `retainOnDelete` is off. @param olds its outputs in the state. */
export function circumstancesOf(kind: Kind, { run, reading }: Runtime, isAsked: boolean, olds: Values): Circumstances {
  return {
    can: abilitiesOf(kind, reading.settings),
    deletes: (id) => isAsked && isOfKnownAccount(olds) && !run.mayBeKept(kind, id),
  };
}

/** For each object in the state that a resource goes on with. @throws ArgumentsError something else has it. */
export function claimHeld(kind: Kind, { run }: Runtime, { key, label }: Ref, id: string): void {
  const other = run.claim(kind, id, key);
  if (other !== undefined) throw new ArgumentsError(`${label}: ${adoptedTwice(id, aboutWhom(other).label)}`);
}

/** Tells the memory that the state has an object; and warns of another one that an earlier run made for the resource. */
export function noteSeen(kind: Kind, runtime: Runtime, who: Ref, id: string, isKept: boolean): void {
  const memory = runtime.memory(who.identity);
  const noted = memory.of(who.key);
  const isBeside = noted !== undefined && noted.state !== "live" && noted.id !== id;
  const isUnsaid = noted?.id === undefined && noted?.replaces !== id; // settled by the state, which has something
  if (isBeside && (isKept || isUnsaid)) runtime.warnEach(besideHeld(kind, who, noted, id));
  if (runtime.run.isUp === true) memory.saw(who.key, id, runtime.isSameAccount);
}

/**
 * Decides what becomes of a resource in the state, notes that for `create`, and shows it in a preview.
 * @returns the arguments whose change replaces it, for the engine to show. @throws AdvertisingError, Incomplete if nothing may be done.
 */
export const planSingle: Calls<Kind>["plan"] = async (kind, runtime, who, { id, olds, news }) => {
  const { run } = runtime;
  const { key, label } = who;
  expectSameAccount(runtime, olds[ACCOUNT], `The state has ${label}`);
  expectSameType(kind.name, olds, id, label);
  const { wasDeleting, wasSecret } = run.checked(key);
  const member = singleMember(kind, id, olds, news, circumstancesOf(kind, runtime, wasDeleting, olds));
  const { action, id: held, former } = member;
  if (action.do === "wait") throw new Incomplete(explain(who, action.record, action.why));
  const secret = new Set([...secretArgumentsIn(news), ...wasSecret]);
  const left = leftIn(kind, member, olds, secret, runtime.now());
  run.held.set(key, { member, left });
  // A refresh asks too, with the former inputs, and so does a run for what a replacement or its targets take along: nothing else is noted or
  // said then. What is deleted before its replacement has no other `diff`.
  if (run.isChecked(key)) {
    if (held !== undefined) noteSeen(kind, runtime, who, held, action.do === "keep");
    if (held !== undefined && former === undefined) claimHeld(kind, runtime, who, held);
    if (former !== undefined && !wasDeleting) run.noteStaying(kind, former.id);
    if (run.isUp !== true && held !== undefined && action.do === "record")
      runtime.warnEach(notTold(who, held, changesInWords(member.changed, olds, news, secret)));
    if (run.isUp !== true && action.do === "look for")
      runtime.warnEach(beforeTakeOver(who, action.record, nextOf(action.record, undefined, true)));
    if (run.isUp !== true && former !== undefined && !run.isKept(kind, former.id)) {
      const isPerhaps = action.do === "replace" && action.perhaps;
      const then = isPerhaps ? "is replaced if values that are not known yet differ" : "is to be replaced";
      const notice = replaced(kind, who, former, then);
      runtime.warnEach({ ...notice, text: `${notice.text}\n${howToKeep(former.id)}` });
    }
  }
  return { changes: action.do !== "keep", replaces: replacesOf(kind, member, news) };
};

/** What a replacement would leave live: what it has left before, and its object. @param secret arguments that must not be shown. */
function leftIn(
  kind: Kind,
  { id }: Member,
  olds: Values,
  secret: ReadonlySet<string>,
  at: string,
): readonly LeftLive[] {
  const before = leftLiveIn(olds);
  return id === undefined ? before : [...before, withoutUndefined({ id, at, name: nameToTell(kind, olds, secret) })];
}

/** The arguments that the engine shows as the cause of a replacement; none if there is no replacement. */
function replacesOf(kind: Kind, { action, changed, id: held }: Member, news: Properties): string[] {
  if (action.do === "look for") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  // A change that has no name is shown at the argument that people know the object by.
  const names = changed.map((name) => (name === ANY ? kind.nameProperty : name));
  const adopts = adoptedBy(news);
  return adopts !== undefined && adopts !== held ? [...names, "existingId"] : names;
}

/** Creates or adopts an object. @throws AdvertisingError, Incomplete if there is none, or that is not known. */
export const createSingle: Calls<Kind>["create"] = async (kind, runtime, who, inputs) => {
  const { run, account, deleted } = runtime;
  const values = argumentsIn(inputs);
  const { member, left } = run.held.get(who.key) ?? { member: singleMember(kind, undefined, {}, values), left: [] };
  const adopts = adoptedBy(values);
  const action: Action = adopts === undefined ? { do: "create" } : { do: "adopt", id: adopts };
  const known = { secret: secretIn(runtime, inputs), olds: {}, created: undefined };
  const object = managedOf(runtime, who, { ...member, action, values }, inputs, left, known);
  const outcome = await carryOut(kind, runtime, object);
  /** @param id of the object that the resource has now. */
  const outsWith = (id?: string) => ({
    ...values,
    ...(account === "" ? {} : { [ACCOUNT]: account }),
    ...(abilitiesOf(kind, runtime.reading.settings).read && keptForRead(inputs)),
    ...writeLeftLive(left.filter((each) => each.id !== id && !deleted.has(kind.name, each.id))),
  });
  const reference = { [PROVIDER]: inputs[PROVIDER] };
  const id = idOrError(who, { ...outsWith(), ...reference }, outcome);
  const created = outcome.kind === "created" ? momentToKeep(kind, runtime) : undefined;
  const outs = withoutUndefined({ ...outsWith(id), [CREATED]: created, [kind.idProperty]: exactId(id) });
  tellReplaced(kind, runtime, who, object.replaces, id);
  if (outcome.kind !== "created") return { id, outs };
  runtime.memory(who.identity).given(who.key);
  const { earlier, isTakenOver } = outcome;
  if (earlier !== undefined) {
    const properties = { ...outs, [EARLIER]: earlierText(earlier), ...reference };
    throw new Incomplete(savedAsSent(who, id), { id, properties });
  }
  if (isTakenOver) runtime.say(takenOver(who, id));
  return { id, outs };
};

/** Says what a replacement has left, unless the engine has it deleted, or something else goes on with it. */
function tellReplaced(kind: Kind, runtime: Runtime, who: Ref, held: string | undefined, id: string): void {
  const { run, deleted } = runtime;
  if (held === undefined || held === id || run.isKept(kind, held) || deleted.has(kind.name, held)) return;
  if (run.checked(who.key).wasDeleting && !run.isStaying(kind, held)) return;
  run.noteStaying(kind, held); // the engine may still ask for its delete, by the option in the state
  runtime.warnEach(replaced(kind, who, { id: held, isDeleted: false }, `is ${id} now`));
}

/** Without a known update this is called only for what `existingId` names, and for a resource that was saved with an error. @returns its next properties. */
export const updateSingle: Calls<Kind>["update"] = async (kind, runtime, who, { id, olds, news }) => {
  const values = argumentsIn(news);
  const open = unresolvedIn(olds);
  if (open !== undefined) throw new Incomplete(explain(who, open));
  const { wasDeleting, wasSecret } = runtime.run.checked(who.key);
  const member = singleMember(kind, id, olds, news, circumstancesOf(kind, runtime, wasDeleting, olds));
  if (hasWork(member)) {
    expectSameAccount(runtime, olds[ACCOUNT], `The state has ${who.label}`);
    const secret = new Set([...secretIn(runtime, news), ...wasSecret]);
    const known = { secret, olds, created: createdIn(olds) };
    const object = managedOf(runtime, who, { ...member, values }, news, [], known);
    idOrError(who, {}, await carryOut(kind, runtime, object));
    if (member.action.do === "record")
      runtime.warnEach(notTold(who, id, changesInWords(member.changed, olds, values, secret)));
  }
  const { [ACCOUNT]: account, [CREATED]: created } = olds;
  const recorded = withoutUndefined({ [ACCOUNT]: account, [CREATED]: created });
  const kept = abilitiesOf(kind, runtime.reading.settings).read && keptForRead(news);
  return { ...values, ...recorded, ...kept, ...writeLeftLive(leftLiveIn(olds)), [kind.idProperty]: exactId(id) };
};

/** Called only if `retainOnDelete` was switched off, perhaps where this package can't see it (a transformation). */
export const deleteSingle: Calls<Kind>["delete"] = async (kind, runtime, id, properties) => {
  if (!isPlatformId(id)) return; // unresolved, so that the object to delete is not known
  // Without its name, because the engine does not say whether that is secret.
  const label = `${kind.name} ${id}`;
  expectSameAccount(runtime, properties[ACCOUNT], `The state has ${label}`, "delete");
  await deleteUnlessKept(kind, runtime, { id, label, created: createdIn(properties) }, properties);
};

async function carryOut(kind: Kind, runtime: Runtime, object: Managed): Promise<Outcome> {
  const [outcome] = (await carryOutAll(kind, runtime, [object])).values();
  return outcome as Outcome;
}

/** The names of the secret arguments, whose values are masked from now on. */
function secretIn({ secrets }: Runtime, inputs: Properties): ReadonlySet<string> {
  const names = secretArgumentsIn(inputs);
  maskSecrets(inputs, names, secrets);
  return names;
}
