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
  joined,
  own,
  type Secrets,
  SettingsError,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import { adoptionClash, checkArguments, type Kind, type SetKind } from "../kinds/index.js";
import {
  adoptedBy,
  asUnresolved,
  type Circumstances,
  changeMessages,
  decideObjects,
  holdsUnknown,
  isMade,
  type OpenCreate,
  type OpenCreates,
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
  isOfKnownAccount,
  kindOf,
  MARKS,
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
  resourceKeyIn,
  SECRET_ARGUMENTS,
  type StoredSet,
  secretArgumentsIn,
  UNKNOWN,
  type Unresolved,
} from "../state/index.js";
import {
  assertAccountOfOpen,
  namesakeFor,
  planOfCreate,
  wasSentWithOtherArguments,
} from "./create.js";
import type { Checked, Deployment } from "./deployment.js";
import { awaitRecord } from "./end-of-run.js";
import {
  adoptionNotice,
  hiddenEventsMessage,
  type MadeObject,
  madeOtherwiseMessage,
  namesakesMessage,
  type OpenObject,
  planMessage,
  possibleNamesakeNotice,
  replacedNotice,
  resentUpdateNotice,
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
  runtime.begin(ref);
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
  const change = { id: "", olds: {}, news: values };
  const plan = planObjects(resource, runtime, ref, change);
  // Also true in the second `check` of a replacement.
  const isNew = Object.keys(olds).length === 0;
  deployment.noteContext(context);
  deployment.noteChecked(ref.key, isNew, checkedOf(runtime, ref, context, olds));
  // Before anything is awaited: other resources' checks may need it.
  noteDeclared(deployment, plan);
  const wrong = [...claimConflicts(plan), ...problemMessages(problems)];
  const isChanged = Object.keys(values).some(
    (name) => !isDeepStrictEqual(values[name], olds[name]),
  );
  if (deployment.isUp && isChanged) await runtime.journal().openOnce();
  const failures = [
    ...wrong.map((text) => withPage(text, ArgumentsError.code)),
    ...runtime.reading.problems.map((problem) => {
      return withPage(describeSettingProblem(problem), SettingsError.code);
    }),
  ];
  // For a resource in the state, `diff` shows these messages.
  if (isNew && wrong.length === 0) failures.push(...(await tellNew(plan, change)));
  // In a plugin after each check, since it can't know which resource is the last.
  if (deployment.isWhole || !context.run) runtime.messages.tellCollected();
  await awaitRecord(runtime);
  if (failures.length > 0) deployment.hasFailed = true;
  // An incomplete set sends what is missing, also without a changed argument. For a single resource in the state, a
  // create comes with the second check of a replacement.
  const isSet = "member" in resource;
  const isSending = deployment.isUp !== false && (isChanged || isSet);
  const mayCreate = isSending && (isNew || (isSet && isChanged));
  const inputs = withoutUndefined({
    ...values,
    [IDENTITY]: context.identity,
    [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
    [DELETES]: context.deletes,
    [RUN]: isSending ? runInput(runtime) : olds[RUN],
    [MARKS]: mayCreate ? await keptMarks(plan) : undefined,
  });
  return { inputs, failures };
}

/** The value of the input `__run`. */
function runInput({ runName, settings: { markField } }: Runtime) {
  return joined(" ", runName, markField);
}

/**
 * The marks of open creates. Until such a create is resolved, no other one is sent; if it is sent again, it keeps its
 * mark. So Pulumi's record of an interrupted run has one create, however often the run was repeated.
 */
async function keptMarks(plan: Plan): Promise<Values | undefined> {
  const { runtime, objects } = plan;
  const { record, deployment } = runtime;
  const open = await record.open(deployment.isUp === true);
  const marks = objects.flatMap(({ key }) => {
    const keys = keysOf(plan, key);
    const inState = keys.map((each) => record.arrived?.byKey.get(each)?.record);
    const [earlier] = [...inState, ...open.of(keys)].filter((each) => {
      return each && !("isDoubtful" in each && each.isDoubtful);
    });
    return earlier ? [[key, earlier.mark] as const] : [];
  });
  return marks.length === 0 ? undefined : Object.fromEntries(marks);
}

/** In a preview: shows what an `up` makes of a new resource. @returns the errors of the `up`. */
async function tellNew(plan: Plan, change: Change): Promise<string[]> {
  const { resource, runtime, ref, inputs, can } = plan;
  // A set's plan lists the objects that it adopts.
  const adopts = "member" in resource ? undefined : adoptedBy(inputs);
  if (adopts !== undefined) runtime.messages.informEach(adoptionNotice(ref, adopts, can));
  const { planned } = runtime.deployment.checked(ref.key);
  if (runtime.deployment.isUp !== false) return [];
  const former = planned ? undefined : await replacedObject(runtime, ref);
  if (former)
    runtime.messages.warnEach(replacedNotice(plan.kind, ref, former, "is replaced"));
  const error = await tellPreview(
    await planWithOpenCreates(resource, runtime, ref, change),
  );
  return error ? [withPage(error.message, error.code)] : [];
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

function noteDeclared({ declared }: Deployment, plan: Plan): void {
  const { ref, objects } = plan;
  if (!plan.declared.events) declared.add(ref.key);
  for (const { key } of objects) for (const each of keysOf(plan, key)) declared.add(each);
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

/** The keys of one of a resource's objects: its own, then those by the resource's aliases and the set's `formerKey`s. */
export function keysOf({ runtime, ref, declared }: KeysContext, key: string): string[] {
  const { formerKeys = [], inState } = runtime.deployment.checked(ref.key);
  const resources = [ref.key, ...formerKeys, inState?.key ?? ref.key];
  const formerKey = declared.formerKeys.get(key);
  const members = formerKey === undefined ? [key] : [key, formerKey];
  const isSet = ref.key !== objectRef(ref, key).key;
  const all = resources.flatMap((resource) =>
    members.map((member) => (isSet ? memberOf(resource, member) : resource)),
  );
  return [...new Set(all)];
}

type KeysContext = Pick<Plan, "runtime" | "ref" | "declared">;

/** @throws ArgumentsError if an alias gives the resource the state of another type. */
function planObjects(
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

/**
 * Like {@link planObjects}, with the open creates of unknown outcome that the state doesn't list yet. They count only
 * where the plan would send something, or where the set no longer declares them.
 * @throws BlockedCreateError if an interrupted run sent events of the set that nobody can tell, since they are secret.
 */
export async function planWithOpenCreates(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<Plan> {
  const plan = planObjects(resource, runtime, ref, change);
  const { kind, stored, declared, objects } = plan;
  if (objects.every(isQuiet)) return plan;
  const open = await runtime.record.open(runtime.deployment.isUp === true);
  if (open.all.length + stored.unresolved.size === 0) return plan;
  if ("member" in resource && open.of([ref.key]).length > 0)
    throw new BlockedCreateError(hiddenEventsMessage(ref));
  const whole = { ...stored, unresolved: unresolvedWith(plan, open) };
  return { ...plan, stored: whole, objects: decideObjects(kind, whole, declared, plan) };
}

function isQuiet({ action }: PlannedObject) {
  return action.do === "same";
}

/** The resource's creates of unknown outcome, in the state and elsewhere. */
function unresolvedWith(plan: Plan, open: OpenCreates): Map<string, Unresolved> {
  const { runtime, resource, ref, stored, objects } = plan;
  const unresolved = new Map(stored.unresolved);
  // A killed run has sent it again: its moment may be about an earlier sending.
  for (const [key, each] of unresolved)
    if (runtime.record.arrived?.sentAgain.has(each.mark))
      unresolved.set(key, withoutUndefined({ ...each, latest: undefined }));
  // What the state lists is in `stored` already.
  const isUnknown = (create: OpenCreate) =>
    !isMade(create) && !create.isInState && runtime.isSameAccount(create.account);
  const known = new Set<string>();
  for (const object of objects) {
    const keys = keysOf(plan, object.key);
    for (const each of keys) known.add(each);
    const all = open.of(keys);
    // A run that knew the object of an earlier create has taken it over, and sent nothing.
    if (isQuiet(object) || unresolved.has(object.key) || all.some(isMade)) continue;
    const create = all.find(isUnknown);
    if (!create) continue;
    // Perhaps the member's former key: commands use the names that `pending` has.
    const { member = object.key } = parseKey(create.key);
    if (!unresolved.has(member))
      unresolved.set(member, asUnresolved(objectRef(ref, member), create));
  }
  // Those that the set does not declare any more.
  for (const create of "member" in resource ? open.all.filter(isUnknown) : []) {
    const { member, key } = parseKey(create.key);
    if (member === undefined || resourceKeyIn(key) !== ref.key || known.has(key)) continue;
    unresolved.set(member, asUnresolved(memberRef(ref, member), create));
  }
  return unresolved;
}

/** @throws AdvertisingError if nothing may be done, for example because a single resource's create is unresolved. */
export async function diffResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<{ changes: boolean; replaces: string[] }> {
  const { deployment, record } = runtime;
  const { id, olds, news } = change;
  runtime.begin(ref);
  assertSameAccount(runtime, olds[ACCOUNT], `The state has ${ref.label}`);
  const urns = [ref.urn, deployment.checked(ref.key).inState?.urn];
  record.notePassed((each) => urns.includes(each.urn) && each.id === id);
  // The engine also calls `diff` without a `check`: in a refresh (with the old inputs), and for dependents of a
  // replacement or a target. Then nothing is noted or shown, and no open create stops it.
  const isChecked = deployment.isChecked(ref.key);
  const planned = isChecked ? planWithOpenCreates : planObjects;
  const plan = await planned(resource, runtime, ref, change);
  const { stored, objects } = plan;
  const [single] = resource === plan.kind ? objects : [];
  if (isChecked) await noteState(plan);
  if (single) {
    if (single.action.do === "blocked") {
      const named = deployment.checked(ref.key).inState ?? ref;
      throw new BlockedCreateError(unresolvedMessage([{ ref: named, ...single.action }]));
    }
    deployment.checked(ref.key).planned = { stored, object: single };
    if (isChecked) await tellSingle(plan, single);
  } else if (isChecked && deployment.isUp === false) {
    const error = await tellPreview(plan);
    if (error) throw error;
  }
  return {
    changes: hasChanges(plan),
    replaces: single ? causesIn(plan, single, news) : [],
  };
}

function hasChanges({ declared, objects }: Plan) {
  // Members that are not known yet are changes too.
  if (declared.events === undefined) return true;
  return objects.some((object) => shownAction(object) !== "same");
}

/** The arguments that the engine shows as the cause of a replacement. */
function causesIn({ kind }: Plan, { action, changed }: PlannedObject, news: Values) {
  if (action.do === "recover") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  if (adoptedBy(news) === undefined) return [...changed];
  return [...changed, "existingId"];
}

/**
 * The object that a single resource's create replaces. Under `up --replace` the engine calls no `diff`, and only the
 * record knows the object.
 */
export async function replacedObject(
  { deployment, record, provider }: Runtime,
  ref: ResourceRef,
): Promise<PlannedObject["former"]> {
  const {
    planned,
    deletes,
    deletesInStateAndProgram = false,
  } = deployment.checked(ref.key);
  if (planned) {
    const { id, former } = planned.object;
    const isDeleted = former?.isDeleted ?? deletesInStateAndProgram;
    if (id === undefined) return undefined;
    return { id, isDeleted };
  }
  const { id, resource } = (await record.state())?.byKey.get(ref.key) ?? {};
  if (id === undefined || resource?.urn !== ref.urn) return undefined;
  const isAsked = provider !== undefined || own(resource.inputs, DELETES) === true;
  return { id, isDeleted: deletes === true && isAsked && resource.retainOnDelete !== true };
}

/** Notes what the state has: resolved creates, unresolved creates, and each object. */
async function noteState(plan: Plan): Promise<void> {
  const { runtime, ref, stored, objects } = plan;
  const { deployment, record } = runtime;
  for (const [mark, id] of stored.resolved) if (id === "") record.noteSeen(mark);
  for (const object of objects) {
    const { key, unresolved, isDeclared } = object;
    // A declared member resolves its own create. An undeclared one's create may be a new event's, under another key.
    if (unresolved && !isDeclared) {
      const open = await record.open(deployment.isUp === true);
      open.add({ ...unresolved, key: objectRef(ref, key).key, run: "", isInState: true });
    }
    claimHeld(plan, object);
  }
}

/** Claims an object that the state has. @throws ArgumentsError if another resource has claimed it. */
function claimHeld(
  { runtime, kind, secret, ref: ofResource }: Plan,
  { key, action, changed, former, id, olds, values }: PlannedObject,
) {
  if (id === undefined) return;
  const ref = objectRef(ofResource, key);
  runtime.record.noteSeen(objectKey(kind.name, id));
  const other = former ? undefined : runtime.deployment.claim(kind, id, ref.key);
  if (other !== undefined)
    throw new ArgumentsError(`${ref.label}: ${adoptionClash(id, parseKey(other).label)}`);
  if (action.do === "update state only")
    runtime.messages.warnEach(
      stateOnlyNotice(ref, id, changeMessages(changed, olds, values, secret)),
    );
}

/** Adds to the engine's display of a single resource's step what the step does not show. */
async function tellSingle(plan: Plan, object: PlannedObject) {
  const { runtime, kind, ref, can } = plan;
  const { deployment, messages } = runtime;
  const { action, former } = object;
  // Noted here, since with `deleteBeforeReplace` the engine calls `delete` before `create`.
  if (former && !deployment.checked(ref.key).deletesInStateAndProgram)
    deployment.noteStaying(kind, former.id);
  if (action.do === "adopt") {
    const { id = UNKNOWN } = action;
    messages.informEach(adoptionNotice(ref, id, can));
  }
  if (action.do === "update" && object.sentAs?.isUnsure)
    messages.informEach(resentUpdateNotice(ref));
  if (deployment.isUp === false) tellReplacement(plan, object);
}

/** Shows a preview's messages about a replacement: an earlier create that is used, and the old object. */
function tellReplacement({ runtime, kind, ref }: Plan, { action, former }: PlannedObject) {
  const { messages, deployment } = runtime;
  if (action.do === "recover") messages.warnEach(takeOverNotice(ref, action.record));
  if (!former || deployment.isClaimedOrAdopted(kind, former.id)) return;
  let then = "is replaced";
  if (action.do === "replace" && action.perhaps)
    then = "is replaced if a value that isn't known yet has changed";
  const notice = replacedNotice(kind, ref, former, then);
  messages.warnEach({ ...notice, text: `${notice.text}\n${howToKeep(former.id)}` });
}

/**
 * Shows a preview's messages, for a front end (the plugin) that learns only in `create` and `update` that it is in a
 * preview. @param change without an id and old state for a create. @throws AdvertisingError the error of the `up`.
 */
export async function previewResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<void> {
  const plan = await planWithOpenCreates(resource, runtime, ref, change);
  const { planned } = runtime.deployment.checked(ref.key);
  if (planned) tellReplacement(plan, planned.object);
  const error = await tellPreview(plan);
  runtime.messages.tellCollected();
  if (error) throw error;
}

/**
 * Shows what an `up` would create, and all that it would do with a set. An `up` decides the same way right before it
 * sends. @returns the error with which the `up` would end, if any.
 */
async function tellPreview(plan: Plan): Promise<AdvertisingError | undefined> {
  const { runtime, resource, kind, ref, can, objects } = plan;
  const { deployment, messages } = runtime;
  const blocked = objects.flatMap((object): OpenObject[] => {
    const { key, formerKey = key, action } = object;
    // Commands use the names that the state has.
    return action.do === "blocked" ? [{ ref: objectRef(ref, formerKey), ...action }] : [];
  });
  // The plan that a set's preview shows has its searches.
  const isSent = (action: string) =>
    ["create", "replace"].includes(action) || (resource === kind && action === "recover");
  const sending = objects.filter((object) => {
    return isSent(shownAction(object)) && adoptedBy(object.entry) === undefined;
  });
  const outcomes = new PreviewedCreates(plan, blocked);
  if (sending.length > 0) {
    const journal = runtime.journal();
    const open = await runtime.record.open(deployment.isUp === true);
    if (journal.trouble) return journal.trouble;
    const keys = sending.flatMap((object) => keysOf(plan, object.key));
    assertAccountOfOpen(runtime, open, keys);
    for (const object of sending) outcomes.add(object, open);
  }
  if (resource !== kind) messages.tellCollected();
  const error = outcomes.error;
  if (error || resource === kind) return error;
  const others = objects.filter((object) => !outcomes.takenOver.has(object));
  const isKept = (id: string) => deployment.isClaimedOrAdopted(kind, id);
  messages.tellAt("info", ref.resourceUrn, planMessage(kind, others, can, isKept));
  return undefined;
}

/** The creates of one resource in a preview, by the decisions of an `up`. */
class PreviewedCreates {
  readonly takenOver = new Set<PlannedObject>();
  readonly #namesakes: Namesake[] = [];
  readonly #madeOtherwise: MadeObject[] = [];

  constructor(
    private readonly plan: Plan,
    private readonly blocked: OpenObject[],
  ) {}

  add(object: PlannedObject, open: OpenCreates): void {
    const { runtime, kind, ref } = this.plan;
    const { key, values, id, unresolved } = object;
    const own = objectRef(ref, key);
    const held = id ?? runtime.deployment.checked(ref.key).planned?.object.id;
    const created = { kind, ref: own, keys: keysOf(this.plan, key), values };
    const decided = planOfCreate(runtime, { ...created, unresolved, replaces: held }, open);
    switch (decided.do) {
      case "take over":
        this.#addTakenOver(object, decided.create);
        break;
      case "search":
        runtime.messages.warnEach(takeOverNotice(own, decided.record));
        break;
      case "blocked":
        this.blocked.push({ ref: own, record: decided.record });
        break;
      case "refused":
        this.#namesakes.push(namesakeFor(created, decided.namesake));
        break;
      default:
    }
  }

  #addTakenOver(object: PlannedObject, create: OpenCreate & { id: string }) {
    const { runtime, kind, ref } = this.plan;
    const own = objectRef(ref, object.key);
    const { values } = object;
    if (object.id === undefined) this.takenOver.add(object);
    if (!holdsUnknown(values) && wasSentWithOtherArguments(kind, values, create))
      this.#madeOtherwise.push({ ref: own, id: create.id });
    else runtime.messages.warnEach(takeOverNotice(own, create));
  }

  /** The error of the `up`. */
  get error(): AdvertisingError | undefined {
    const { runtime } = this.plan;
    const sure = this.#namesakes.filter(({ isPerhaps }) => !isPerhaps);
    if (sure.length === 0)
      for (const each of this.#namesakes)
        runtime.messages.warnEach(possibleNamesakeNotice(each));
    const errors: string[] = [];
    if (this.#madeOtherwise.length > 0)
      errors.push(madeOtherwiseMessage(this.#madeOtherwise));
    if (sure.length > 0) errors.push(namesakesMessage(runtime, sure));
    if (this.blocked.length > 0) errors.push(unresolvedMessage(this.blocked));
    return errors.length > 0 ? new BlockedCreateError(errors.join("\n")) : undefined;
  }
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
