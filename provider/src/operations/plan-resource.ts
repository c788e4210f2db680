/**
 * The engine's `check` and `diff`: what becomes of a resource's objects, noted for the calls that follow, and said in a
 * preview. A `check` also takes the journal in an `up`, and returns all problems at once.
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
  adoptedTwice,
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
  holdsUnknown,
  type PlannedObject,
  plannedObjects,
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
  sendingOf,
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

/** What becomes of a resource's objects, and from what that follows. */
export interface Plan extends Circumstances {
  runtime: Runtime;
  resource: Kind | SetKind;
  /** Of its objects. */
  kind: Kind;
  ref: ResourceRef;
  /** Its outputs in the state. */
  olds: Values;
  inputs: Values;
  stored: StoredSet;
  declared: DeclaredSet;
  objects: readonly PlannedObject[];
  /** Arguments of its objects that are secret, or were in the state. */
  secret: ReadonlySet<string>;
}

/**
 * Validates the arguments, notes what is declared, and returns everything that is wrong at once.
 * @param request with the inputs in the state; there are none for a new resource.
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
    // A plugin's program may be in any language.
    isFromOutputs: context.run !== undefined,
  });
  if ("member" in resource && values.defaults !== UNKNOWN)
    values.defaults = {
      ...resource.defaultsIn(settings),
      ...asRecord(values.defaults),
    };
  // As for a new resource.
  const plan = planObjects(resource, runtime, ref, { id: "", olds: {}, news: values });
  // Or the second `check` of a replacement.
  const isNew = Object.keys(olds).length === 0;
  deployment.noteContext(context);
  deployment.noteChecked(ref.key, isNew, checkedOf(runtime, ref, context, olds));
  // Before anything is awaited, since other resources may need to know it.
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
  // For a resource in the state, `diff` says this.
  if (isNew && wrong.length === 0) {
    // A set lists what it adopts in its plan.
    const adopts = "member" in resource ? undefined : adoptedBy(values);
    if (adopts !== undefined) runtime.informEach(adoptionNotice(ref, adopts, plan.can));
    const error = deployment.isUp === false ? tellPreview(plan) : undefined;
    if (error) failures.push(withPage(error.message, error.code));
  }
  // A plugin can't know which resource is the last.
  if (deployment.isWhole || !context.run) runtime.tellCollected();
  if (failures.length > 0) deployment.hasFailed = true;
  // A run without a changed argument sends nothing new.
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
    // The engine goes by the state; of a plugin's resource it alone knows the option.
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

/** What an object adopts is its own from now on, unless something else has it. */
function claimConflicts({ runtime, resource, kind, ref, objects }: Plan) {
  return objects.flatMap(({ key, entry }) => {
    const id = adoptedBy(entry);
    if (id === undefined || id === UNKNOWN) return [];
    const other = runtime.deployment.claim(kind, id, objectRef(ref, key).key);
    if (other === undefined) return [];
    const path = resource === kind ? "" : `${memberOf("events", key)}.`;
    return `${path}existingId ${adoptedTwice(id, parseKey(other).label)}`;
  });
}

/** The program says which keys its objects had: a resource's by its aliases, and those of a set's members. */
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

/** @throws ArgumentsError an alias gives it the state of another type. */
export function planObjects(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Plan {
  const { id, olds, news } = change;
  const { deployment, settings } = runtime;
  const kind = kindOf(resource);
  // An alias may give it the state of another type. This argument all resources of its type have, and no others.
  const argument = "member" in resource ? "events" : resource.nameProperty;
  if (Object.keys(olds).length > 0 && !hasValue(own(olds, argument)))
    throw new ArgumentsError(
      `${ref.label}: the state has another type's resource here, with the id ${id}. Nothing was sent. An alias can't change the type: remove it, and set existingId to keep a live object.`,
    );
  // The engine deletes a single resource's object by the option in the state; a set deletes by the option of now.
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
    objects: plannedObjects(kind, stored, declared, circumstances),
    secret: secretOfObjects(kind, secret.union(wasSecret)),
  };
}

/** @throws AdvertisingError nothing may be done, such as before a single resource is resolved. */
export async function planResource(
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
  // The engine also calls `diff` without a `check` before it: in a refresh, with the former inputs, and for what a
  // replacement or a target takes along. Then nothing is noted or said.
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
  // Once a read is known, the state takes what a refresh needs, in an update that sends nothing.
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

/** Tells deployment and journal what the state has: creates that were found, creates that are open, and each object. */
function noteState(plan: Plan) {
  const { runtime, ref, stored, objects } = plan;
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  // This plan also has the members that leave: their records move too.
  noteFormerKeys(plan);
  const creates = stored.resolved;
  for (const create of creates) deployment.noteSeen(create);
  journal.recordSeen({ key: ref.key, id: stored.eventIds.get(SINGLE), creates });
  for (const { key, id, unresolved, isDeclared } of objects) {
    if (!unresolved) continue;
    const { mark } = unresolved;
    const own = objectRef(ref, key);
    // The journal may have it too, perhaps under a former name: it is one create.
    deployment.noteSeen(mark);
    // What is declared looks after its own create. The others may be a new event under another key.
    if (!isDeclared)
      runtime
        .openCreates(ref)
        .add({ ...unresolved, key: own.key, state: "sent", isInState: true });
    else if (id === undefined) journal.recordSeen({ key: own.key, creates: [mark] });
  }
  for (const object of objects) noteObject(plan, object);
}

/**
 * What the plan for an object in the state means for others: nothing else may have it, and the journal learns that the
 * state has it. Warns of another one that an earlier run made for it, and of changes the platform is not told.
 * @throws ArgumentsError something else has it.
 */
function noteObject(
  { runtime, kind, secret, stored, ref: ofResource }: Plan,
  { key, action, changed, former, id, olds, values }: PlannedObject,
) {
  if (id === undefined) return;
  const ref = objectRef(ofResource, key);
  const { deployment } = runtime;
  const journal = runtime.journal(ref);
  const entry = journal.of(ref.key);
  const isOther = entry && entry.state !== "confirmed" && entry.id !== id;
  // Another machine has replaced what this one's journal has as created.
  const isLeft = isOther && stored.left.some((each) => each.id === entry.id);
  // Only Pulumi's record had it: that run was under way, and has saved what it created.
  const isSaved = entry?.id === undefined && entry?.atLatest === true;
  // The journal has a create of this resource that isn't the state's object, nor known to the state.
  if (isOther && !isLeft && !isSaved && !deployment.hasSeen(kind, entry)) {
    // Not if it was sent to replace that object: then it is taken over or looked for.
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
    creates: isLeft ? [sendingOf(entry)] : [],
    deletes,
    ...identifyingIn(kind, olds, secret),
  });
  const other = former ? undefined : deployment.claim(kind, id, ref.key);
  if (other !== undefined)
    throw new ArgumentsError(`${ref.label}: ${adoptedTwice(id, parseKey(other).label)}`);
  if (action.do === "update state only")
    runtime.warnEach(
      stateOnlyNotice(ref, id, changeMessages(changed, olds, values, secret)),
    );
}

/** The engine shows a single resource's own step; this adds what the step does not say. */
function tellSingle(plan: Plan, object: PlannedObject) {
  const { runtime, kind, ref, can } = plan;
  const { deployment } = runtime;
  const { action, former } = object;
  // What is deleted before its replacement has no other `diff`.
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

/** In a preview. */
function tellReplacement({ runtime, kind, ref }: Plan, { action, former }: PlannedObject) {
  if (action.do === "recover") runtime.warnEach(takeOverNotice(ref, action.record));
  if (!former || runtime.deployment.isClaimedOrAdopted(kind, former.id)) return;
  let then = "is replaced";
  if (action.do === "replace" && action.perhaps)
    then = "is replaced if values that are not known yet differ";
  const notice = replacedNotice(kind, ref, former, then);
  runtime.warnEach({ ...notice, text: `${notice.text}\n${howToKeep(former.id)}` });
}

/**
 * What a preview says of a resource that an `up` would create or update, if only the engine's `create` and `update` are
 * told that it is one. @param change without an id and an old state for a create. @throws AdvertisingError as the `up`.
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
 * What an `up` would create, and all that it would do with a set; an `up` asks the same right before it sends.
 * @returns why the `up` would end with an error, in the same words.
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
    // Commands go by the names that state and journal have.
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
 * A new object may be what its resource had in an earlier run, or (of a single resource: a set compares its own keys)
 * what the program declared under another name.
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
  // The journal's record of this key may be of what has left the state.
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
