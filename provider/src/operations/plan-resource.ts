/**
 * The engine's `check` and `diff`: plan a resource's objects, note facts for the calls that follow, and show a
 * preview's messages. In an `up`, `check` also opens the journal. It returns all problems at once.
 */

import { isDeepStrictEqual } from "node:util";
import {
  type AdvertisingError,
  ArgumentsError,
  asRecord,
  BlockedCreateError,
  hasValue,
  isSameValue,
  own,
  type Secrets,
  SettingsError,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import {
  adoptionClash,
  checkArguments,
  type Kind,
  ownerIn,
  type SetKind,
} from "../kinds/index.js";
import {
  adoptedBy,
  type Circumstances,
  canSearch,
  changeMessages,
  decideObjects,
  holdsUnknown,
  type PlannedObject,
  shownAction,
} from "../plan/index.js";
import { problemMessages } from "../rules/index.js";
import { describeSettingProblem, knownOperations } from "../settings/index.js";
import {
  ACCOUNT,
  DELETES,
  type DeclaredSet,
  howToKeep,
  IDENTITY,
  identifyingIn,
  isOfKnownAccount,
  kindOf,
  lacksForRead,
  MARK,
  memberOf,
  memberRef,
  objectKey,
  objectRef,
  type ProgramContext,
  parseKey,
  type ResourceRef,
  RUN,
  readDeclared,
  readStored,
  refOfInputs,
  SECRET_ARGUMENTS,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
  sendingId,
  UNKNOWN,
} from "../state/index.js";
import {
  assertAccountOfOpen,
  createToTakeOver,
  markInput,
  type NewObject,
  namesakeOf,
  openIn,
  wasSentWithOtherArguments,
} from "./create.js";
import type { Checked, Deployment } from "./deployment.js";
import {
  adoptionNotice,
  formerObjectNotice,
  type MadeObject,
  madeOtherwiseMessage,
  namesakesMessage,
  type OpenObject,
  planMessage,
  possibleNamesakeNotice,
  replacedNotice,
  resentUpdateNotice,
  secondObjectNotice,
  stateForRead,
  stateOnlyNotice,
  takeOverNotice,
  unresolvedMessage,
} from "./messages.js";
import { assertSameAccount, type Namesake } from "./outcome.js";
import type { Change, Runtime } from "./runtime.js";

/** The planned actions of a resource's objects, with the facts that they follow from. */
export interface Plan extends Circumstances {
  runtime: Runtime;
  resource: Kind | SetKind;
  /** The kind of the resource's objects. */
  kind: Kind;
  ref: ResourceRef;
  /** The resource's outputs in the state. */
  olds: Values;
  inputs: Values;
  stored: StoredSet;
  declared: DeclaredSet;
  objects: readonly PlannedObject[];
  /** The arguments of the objects that are secret, or were secret in the state. */
  secret: ReadonlySet<string>;
}

/**
 * Validates the arguments, notes which objects are declared, and returns all problems at once.
 * @param request `olds` are the inputs in the state, empty for a new resource.
 */
export async function check(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  request: { context: ProgramContext; olds: Values; news: Values },
): Promise<{ inputs: Values; failures: string[] }> {
  const { context, olds, news } = request;
  const { deployment, settings } = runtime;
  const { values, problems } = checkArguments(resource, news, settings, {
    isUnknown: holdsUnknown,
    secret: secretArgumentsIn(news),
    // A plugin's program may be in another language than JavaScript, so it gets no hint about undefined outputs.
    isFromOutputs: context.run !== undefined,
  });
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = {
      ...resource.defaultsIn(settings),
      ...asRecord(values.defaults),
    };
  // Planned like a new resource: only `diff` knows the state.
  const plan = planObjects(resource, runtime, ref, { id: "", olds: {}, news: values });
  // Also true in the second `check` of a replacement.
  const isNew = Object.keys(olds).length === 0;
  deployment.noteContext(context);
  deployment.noteChecked(ref.key, isNew, checkedOf(runtime, ref, context, olds));
  // Before anything is awaited: other resources' checks may need it.
  noteDeclared(deployment, plan);
  const wrong = [...claimConflicts(plan), ...problemMessages(problems)];
  if (deployment.isUp) await runtime.journal(ref).openOnce();
  noteFormerKeys(plan);
  const failures = [
    ...wrong.map((text) => withPage(text, ArgumentsError.code)),
    ...runtime.reading.problems.map((problem) => {
      return withPage(describeSettingProblem(problem), SettingsError.code);
    }),
  ];
  // For a resource in the state, `diff` shows these messages.
  if (isNew && wrong.length === 0) {
    // A set's plan lists the objects that it adopts.
    const adopts = "member" in resource ? undefined : adoptedBy(values);
    if (adopts !== undefined) runtime.informEach(adoptionNotice(ref, adopts, plan.can));
    const error = deployment.isUp === false ? tellPreview(plan) : undefined;
    if (error) failures.push(withPage(error.message, error.code));
  }
  // In a plugin after each check, since it can't know which resource is the last.
  if (deployment.isWhole || !context.run) runtime.tellCollected();
  if (failures.length > 0) deployment.hasFailed = true;
  // Without a changed argument this run sends nothing, so the former run's name stays.
  const isChanged = Object.keys(values).some(
    (name) => !isDeepStrictEqual(values[name], olds[name]),
  );
  const inputs = withoutUndefined({
    ...values,
    [IDENTITY]: context.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: context.deletes,
    [MARK]: markInput(runtime, ref, olds),
    [RUN]: deployment.isUp !== false && isChanged ? runtime.runName : olds[RUN],
  });
  return { inputs, failures };
}

function checkedOf(
  { provider }: Runtime,
  ref: ResourceRef,
  { formerKeys, deletes = false }: ProgramContext,
  olds: Values,
): Checked {
  const former = refOfInputs(ref.resource, olds);
  return {
    wasSecret: secretArgumentsIn(olds),
    // The engine deletes by the option in its state. For a plugin's resource, only the engine knows that option.
    deletesInStateAndProgram:
      deletes && (provider !== undefined || own(olds, DELETES) === true),
    deletes,
    formerKeys,
    inState: formerKeys?.includes(former?.key ?? "") ? former : undefined,
  };
}

function noteDeclared(
  { declared }: Deployment,
  { ref, objects, declared: { events, formerKeys } }: Plan,
): void {
  if (!events) declared.add(ref.key);
  for (const { key } of objects) declared.add(objectRef(ref, key).key);
  for (const key of formerKeys.values()) declared.add(memberRef(ref, key).key);
}

/** Claims the ids in `existingId`. @returns a problem for each id that another resource or member claimed before. */
function claimConflicts({ runtime, resource, kind, ref, objects }: Plan) {
  return objects.flatMap(({ key, entry }) => {
    const id = adoptedBy(entry);
    if (id === undefined || id === UNKNOWN) return [];
    const other = runtime.deployment.claim(kind, id, objectRef(ref, key).key);
    if (other === undefined) return [];
    const path = resource === kind ? "" : `${memberOf("events", key)}.`;
    return `${path}existingId ${adoptionClash(id, parseKey(other).label)}`;
  });
}

/** Moves journal records from former keys, which aliases and a set's `formerKey`s name, to the keys of now. */
function noteFormerKeys({ runtime, resource, kind, ref, objects, declared }: Plan) {
  const journal = runtime.journal(ref);
  const { formerKeys = [] } = runtime.deployment.checked(ref.key);
  for (const former of formerKeys)
    for (const { key } of objects)
      journal.moveRecord(
        resource === kind ? former : memberOf(former, key),
        objectRef(ref, key).key,
      );
  for (const [key, former] of declared.formerKeys)
    journal.moveRecord(memberRef(ref, former).key, memberRef(ref, key).key);
}

/** @throws ArgumentsError if an alias gives the resource the state of another type. */
export function planObjects(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Plan {
  const { id, olds, news } = change;
  const { deployment, settings } = runtime;
  const kind = kindOf(resource);
  // An alias may give the resource the state of another type, which then lacks this argument.
  const argument = "member" in resource ? "events" : resource.nameProperty;
  if (Object.keys(olds).length > 0 && !hasValue(own(olds, argument)))
    throw new ArgumentsError(
      `${ref.label}: an alias gives it the state of another type's resource (id ${id}). Nothing was sent. Remove the alias, and set existingId to keep a live object.`,
    );
  // The engine deletes a single resource's object by the option in the state; a set deletes by the current option.
  const asked =
    resource === kind
      ? deployment.checked(ref.key).deletesInStateAndProgram === true
      : news[DELETES] === true;
  const circumstances: Circumstances = {
    can: knownOperations(kind, settings),
    deletes: (object) =>
      asked && isOfKnownAccount(olds) && !deployment.mayBeClaimed(kind, object),
  };
  const stored = readStored(resource, id, olds);
  const declared = readDeclared(resource, news);
  const secret = secretArgumentsIn(news);
  for (const name of secret) registerSecrets(own(news, name), runtime.secrets);
  const { wasSecret = new Set() } = deployment.checked(ref.key);
  return {
    ...circumstances,
    runtime,
    resource,
    kind,
    ref,
    olds,
    inputs: news,
    stored,
    declared,
    objects: decideObjects(kind, stored, declared, circumstances),
    secret: secretOfObjects(kind, secret.union(wasSecret)),
  };
}

/** @throws AdvertisingError if nothing may be done, for example because a single resource's create is unresolved. */
export async function diffResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<{ changes: boolean; replaces: string[] }> {
  const { deployment } = runtime;
  const { olds, news } = change;
  assertSameAccount(runtime, olds[ACCOUNT], `The state has ${ref.label}`);
  const plan = planObjects(resource, runtime, ref, change);
  const { kind, stored, declared, objects, can } = plan;
  const [single] = resource === kind ? objects : [];
  // The engine also calls `diff` without a `check`: in a refresh (with the old inputs), and for dependents of a
  // replacement or a target. Then nothing is noted or shown.
  const isChecked = deployment.isChecked(ref.key);
  if (isChecked) noteState(plan);
  if (single) {
    if (single.action.do === "blocked") {
      const named = deployment.checked(ref.key).inState ?? ref;
      throw new BlockedCreateError(unresolvedMessage([{ ref: named, ...single.action }]));
    }
    deployment.checked(ref.key).planned = { stored, object: single };
    if (isChecked) tellSingle(plan, single);
  } else if (isChecked && deployment.isUp === false) {
    const error = tellPreview(plan);
    if (error) throw error;
  }
  // Once a read is known, an update that sends nothing adds to the state what a refresh needs.
  const preparesRead = Boolean(can.read) && isChecked && lacksForRead(olds, news);
  // Members that are not known yet are changes too.
  const hasChanges =
    declared.events === undefined ||
    objects.some((object) => shownAction(object) !== "same");
  if (preparesRead && !hasChanges) runtime.say(stateForRead());
  // The arguments that the engine shows as the cause of a replacement.
  const replaces: string[] = [];
  const action = single?.action.do;
  if (action === "recover") replaces.push(kind.nameProperty);
  if (action === "replace" || action === "adopt") {
    replaces.push(...(single?.changed ?? []));
    if (adoptedBy(news) !== undefined) replaces.push("existingId");
  }
  return { changes: hasChanges || preparesRead, replaces };
}

/** Tells deployment and journal what the state has: resolved creates, unresolved creates, and each object. */
function noteState(plan: Plan) {
  const { runtime, ref, stored, objects } = plan;
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  // Unlike the plan of `check`, this one has the members that leave: their records move too.
  noteFormerKeys(plan);
  const creates = stored.resolved;
  for (const create of creates) deployment.noteSeen(create);
  journal.recordSeen({ key: ref.key, id: stored.eventIds.get(SINGLE), creates });
  for (const { key, id, unresolved, isDeclared } of objects) {
    if (!unresolved) continue;
    const { mark } = unresolved;
    const own = objectRef(ref, key);
    // The journal may have the same create, perhaps under a former name.
    deployment.noteSeen(mark);
    // A declared member resolves its own create. An undeclared one's create may be a new event's, under another key.
    if (!isDeclared)
      runtime
        .openCreates(ref)
        .add({ ...unresolved, key: own.key, state: "sent", isInState: true });
    else if (id === undefined) journal.recordSeen({ key: own.key, creates: [mark] });
  }
  for (const object of objects) recordObject(plan, object);
}

/**
 * Claims an object that the state has, and notes it in the journal. Warns of a second object that an earlier run made
 * for the same resource, and of changes that are not sent. @throws ArgumentsError if another resource has claimed it.
 */
function recordObject(
  { runtime, kind, secret, stored, ref: ofResource }: Plan,
  { key, action, changed, former, id, olds, values }: PlannedObject,
) {
  if (id === undefined) return;
  const ref = objectRef(ofResource, key);
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  const entry = journal.of(ref.key);
  const isOther = entry && entry.state !== "confirmed" && entry.id !== id;
  // Another machine has replaced the object that this machine's journal has as created.
  const isLeft = isOther && stored.left.some((each) => each.id === entry.id);
  // The create came from Pulumi's pending operations: that run was still going on, and has saved its object since.
  const isSaved = entry?.id === undefined && entry?.atLatest === true;
  // The journal has a create of this resource that the state neither has as its object nor accounts for.
  if (isOther && !isLeft && !isSaved && !deployment.hasSeen(kind, entry)) {
    // A create that was sent to replace this object makes no second one: the run takes it over or searches for it.
    const isSecond = entry.id === undefined && entry.replaces !== id;
    const { short } = parseKey(journal.keyOnDisk(ref.key));
    if (isSecond || action.do === "same")
      runtime.warnEach(secondObjectNotice(kind, { ...ref, short }, entry, id));
  }
  deployment.noteSeen(objectKey(kind.name, id));
  const { deletes } = deployment.checked(ofResource.key);
  journal.recordSeen({
    key: ref.key,
    id,
    creates: isLeft ? [sendingId(entry)] : [],
    deletes,
    ...identifyingIn(kind, olds, secret),
  });
  const other = former ? undefined : deployment.claim(kind, id, ref.key);
  if (other !== undefined)
    throw new ArgumentsError(`${ref.label}: ${adoptionClash(id, parseKey(other).label)}`);
  if (action.do === "update state only")
    runtime.warnEach(
      stateOnlyNotice(ref, id, changeMessages(changed, olds, values, secret)),
    );
}

/** Adds to the engine's display of a single resource's step what the step does not show. */
function tellSingle(plan: Plan, object: PlannedObject) {
  const { runtime, kind, ref, can } = plan;
  const { deployment } = runtime;
  const { action, former } = object;
  // Noted here, since with `deleteBeforeReplace` the engine calls `delete` before `create`.
  if (former && !deployment.checked(ref.key).deletesInStateAndProgram)
    deployment.noteStaying(kind, former.id);
  if (action.do === "adopt") {
    const { id = UNKNOWN } = action;
    runtime.informEach(adoptionNotice(ref, id, can));
  }
  if (action.do === "update" && object.sentAs?.isUnsure)
    runtime.informEach(resentUpdateNotice(ref));
  if (deployment.isUp === false) tellReplacement(plan, object);
}

/** Shows a preview's messages about a replacement: an earlier create that is used, and the old object. */
function tellReplacement({ runtime, kind, ref }: Plan, { action, former }: PlannedObject) {
  if (action.do === "recover") runtime.warnEach(takeOverNotice(ref, action.record));
  if (!former || runtime.deployment.isClaimedOrAdopted(kind, former.id)) return;
  let then = "is replaced";
  if (action.do === "replace" && action.perhaps)
    then = "is replaced if a value that isn't known yet has changed";
  const notice = replacedNotice(kind, ref, former, then);
  runtime.warnEach({ ...notice, text: `${notice.text}\n${howToKeep(former.id)}` });
}

/**
 * Shows a preview's messages, for a front end (the plugin) that learns only in `create` and `update` that it is in a
 * preview. @param change without an id and old state for a create. @throws AdvertisingError the error of the `up`.
 */
export function previewResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): void {
  const plan = planObjects(resource, runtime, ref, change);
  const { planned } = runtime.deployment.checked(ref.key);
  if (planned) tellReplacement(plan, planned.object);
  const error = tellPreview(plan);
  runtime.tellCollected();
  if (error) throw error;
}

/**
 * Shows what an `up` would create, and all that it would do with a set. An `up` decides the same way right before it
 * sends. @returns the error with which the `up` would end, if any.
 */
function tellPreview({
  runtime,
  resource,
  kind,
  ref,
  can,
  objects,
}: Plan): AdvertisingError | undefined {
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  const namesakes: Namesake[] = [];
  const open: OpenObject[] = [];
  const madeOtherwise: MadeObject[] = [];
  const takenOver = new Set<PlannedObject>();
  for (const object of objects) {
    const { key, formerKey = key, action, entry, values, id } = object;
    const own = objectRef(ref, key);
    // Commands use the names that state and journal have.
    if (action.do === "blocked") open.push({ ref: objectRef(ref, formerKey), ...action });
    const isNew = ["create", "replace"].includes(shownAction(object));
    if (!isNew || adoptedBy(entry) !== undefined) continue;
    if (journal.trouble) return journal.trouble;
    assertAccountOfOpen(runtime, journal);
    const held = id ?? deployment.checked(ref.key).planned?.object.id;
    const sent = createToTakeOver(runtime, own, held);
    if (!sent) {
      const created = { kind, ref: own, values };
      const namesake = namesakeOf(runtime, created);
      if (namesake) namesakes.push(namesake);
      else if (held === undefined) tellFormerObject(runtime, created);
      continue;
    }
    if (id === undefined) takenOver.add(object);
    const record = openIn(own.label, sent);
    if (sent.id === undefined && record && !canSearch(can, sent))
      open.push({ ref: parseKey(journal.keyOnDisk(own.key)), record });
    else if (
      sent.id !== undefined &&
      !holdsUnknown(values) &&
      wasSentWithOtherArguments(kind, values, sent)
    )
      madeOtherwise.push({ ref: own, id: sent.id });
    else runtime.warnEach(takeOverNotice(own, sent));
  }
  if (resource !== kind) runtime.tellCollected();
  const sure = namesakes.filter(({ isPerhaps }) => !isPerhaps);
  if (sure.length === 0)
    for (const each of namesakes) runtime.warnEach(possibleNamesakeNotice(each));
  const errors: string[] = [];
  if (madeOtherwise.length > 0) errors.push(madeOtherwiseMessage(madeOtherwise));
  if (sure.length > 0) errors.push(namesakesMessage(sure));
  if (open.length > 0) errors.push(unresolvedMessage(open));
  if (errors.length > 0) return new BlockedCreateError(errors.join("\n"));
  if (resource === kind) return undefined;
  const others = objects.filter((object) => !takenOver.has(object));
  const plan = planMessage(kind, others, can, (id) =>
    deployment.isClaimedOrAdopted(kind, id),
  );
  runtime.tellAt("info", ref.resourceUrn, plan);
  return undefined;
}

/**
 * Warns if a new object is probably not new: its resource had an object in an earlier run, or the program declared a
 * single resource of that platform name under another name. (Sets compare their own keys.)
 */
function tellFormerObject(runtime: Runtime, { kind, ref, values }: NewObject) {
  const { deployment, deleted } = runtime;
  const journal = runtime.journal(ref);
  const owner = ownerIn(kind, values);
  const named = journal.confirmedNamed(kind.name, values[kind.nameProperty]);
  const renamed = named.filter(({ key, facts = {} }) => {
    const isOther = ref.member === undefined && !deployment.isDeclared(key);
    return isOther && isSameValue(ownerIn(kind, facts), owner);
  });
  // The journal's record of this key may be about an object that has left the state.
  const all = [journal.records.get(ref.key) ?? [], renamed].flat();
  const former = all.find(({ id }) => {
    if (id === undefined || deleted.has(kind.name, id)) return false;
    return !deployment.isClaimedOrAdopted(kind, id);
  });
  if (former) runtime.warnEach(formerObjectNotice(ref, former));
}

/** Shorter texts are not real secrets, and masking them would damage ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Registers every string and number in `value` for scrubbing. */
function registerSecrets(value: unknown, secrets: Secrets) {
  if (typeof value === "object")
    for (const part of Object.values(value ?? {})) registerSecrets(part, secrets);
  if (typeof value === "string" && value.length >= MIN_SECRET_CHARACTERS)
    secrets.add(value);
  if (typeof value === "number" && String(Math.abs(value)).length >= MIN_SECRET_CHARACTERS)
    secrets.addNumber(value);
}

/** With any secret in a set's `events` or `defaults`, no argument of its members is shown. */
export function secretOfObjects(
  kind: Kind,
  secret: ReadonlySet<string>,
): ReadonlySet<string> {
  if (!secret.has("events") && !secret.has("defaults")) return secret;
  // The owner is shown: without it, an object could not be updated but only replaced.
  return new Set([...secret, ...kind.outputs.filter((name) => name !== kind.owner)]);
}
