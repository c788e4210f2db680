/**
 * The engine's `check` and `diff`: plan a resource's objects, note facts for the calls that follow, and show a
 * preview's messages. In an `up`, `check` also opens the journal. It returns all problems at once.
 */

import { isDeepStrictEqual } from "node:util";
import {
  ArgumentsError,
  BlockedCreateError,
  cut,
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
  type AnyKind,
  adoptionClash,
  asksToDelete,
  checkArguments,
  type Kind,
  ownerIn,
} from "../kinds/index.js";
import {
  addUnresolved,
  adoptedBy,
  type Circumstances,
  changeMessages,
  DISPLACED,
  decideObjects,
  type Fate,
  holdsUnknown,
  isMade,
  isPartlyKnown,
  OpenCreates,
  type PlannedObject,
  type ResourceChange,
  sentAsIfUpdated,
  shownAction,
} from "../plan/index.js";
import { isPlatformId, MAX_PROBLEMS, problemMessages } from "../rules/index.js";
import {
  describeSettingProblem,
  knownOperations,
  problemsBeside,
} from "../settings/index.js";
import {
  argumentsIn,
  hiddenEventsMessage,
  howToKeep,
  kindOf,
  MARKS,
  MAY_BE_ADOPTED,
  memberOf,
  objectKey,
  objectRef,
  type ProgramContext,
  parseKey,
  type ResourceRef,
  readDeclared,
  readStored,
  refOfInputs,
  resourceKeyIn,
  SECRET_ARGUMENTS,
  SENDER,
  SINGLE,
  type StoredSet,
  secretArgumentsIn,
  senderIn,
  senderText,
  UNKNOWN,
} from "../state/index.js";
import {
  assertAccountOfOpen,
  differsFromSent,
  ownCreates,
  planOfCreate,
} from "./create.js";
import type { Checked } from "./deployment.js";
import { awaitRecord } from "./end-of-run.js";
import { ObjectOperations } from "./execute.js";
import { ObjectFates } from "./fates.js";
import {
  adoptedTooLateMessage,
  adoptionNotice,
  formerNameMessage,
  interruptedNotice,
  type MadeObject,
  madeOtherwiseMessage,
  mistakeNotices,
  namesakesMessage,
  type OpenObject,
  planMessage,
  possibleNamesakeNotice,
  remediatedMessage,
  replacedNotice,
  stateOnlyNotice,
  takeOverNotice,
  unresolvedMessage,
} from "./messages.js";
import {
  assertSameAccount,
  describeError,
  type NamedObject,
  type Namesake,
} from "./outcome.js";
import type { Change, Notice, Runtime } from "./runtime.js";

/** The planned actions of a resource's objects, with the facts that they follow from. */
export interface Plan extends Circumstances, ResourceChange {
  runtime: Runtime;
  resource: AnyKind;
  ref: ResourceRef;
  checked: Partial<Checked>;
  /** The resource's id in the state; empty if it is new. */
  id: string;
  /** The resource's outputs in the state. */
  olds: Values;
  inputs: Values;
  fateOf(id: string): Fate;
  objects: readonly NamedObject[];
}

/**
 * Validates the arguments, notes which objects are declared, and returns all problems at once.
 * @param request `olds` are the inputs in the state, empty for a new resource.
 */
export async function check(
  resource: AnyKind,
  runtime: Runtime,
  ref: ResourceRef,
  request: { context: ProgramContext; olds: Values; news: Values },
) {
  const { context, olds, news } = request;
  const { deployment, messages, settings, account, runName: run } = runtime;
  runtime.begin(ref, true);
  const secret = secretArgumentsIn(news);
  const { values, problems } = checkArguments(resource, news, settings, {
    isUnknown: holdsUnknown,
    secret,
    // A plugin's program may be in another language than JavaScript, so it gets no hint about undefined outputs.
    isFromOutputs: context.run !== undefined,
  });
  for (const each of mistakeNotices(ref, values, secret)) messages.warnEach(each);
  const isSet = "member" in resource;
  // Also true in the second `check` of a replacement.
  const isNew = Object.keys(olds).length === 0;
  const { formerKeys } = context;
  const former = refOfInputs(ref.resource, olds);
  const inState = formerKeys?.includes(former?.key ?? "") ? former : undefined;
  const checked: Checked = {
    values,
    wasSecret: secretArgumentsIn(olds),
    deletes: asksToDelete(values),
    formerKeys,
    inState,
    stateName: isNew ? ref.resourceUrn : (inState ?? ref).key,
  };
  // Before anything is awaited: other resources' checks may need it.
  deployment.noteContext(context);
  deployment.noteChecked(ref.key, isNew, checked);
  const before = senderIn(olds);
  assertSameAccount(runtime, before.account, `The state has ${ref.label}`);
  // Planned like a new resource: only `diff` knows the state.
  const plan = planObjects(resource, runtime, ref, { id: "", olds: {}, news: values });
  const { kind, objects, inputs, can } = plan;
  // Only in the second `check` of a replacement.
  const { planned } = plan.checked;
  // The `diff` may have kept it: a replacement may also be the engine's decision.
  if (planned) deployment.unclaim(kind, planned.object.id ?? "", ref.key);
  if (!plan.declared.events) deployment.declared.add(ref.key);
  for (const each of objects.flatMap(({ keys }) => keys)) deployment.declared.add(each);
  const wrong = [...claimConflicts(plan), ...cut(problemMessages(problems), MAX_PROBLEMS)];
  if (planned && planned.remediated.length > 0)
    wrong.push(remediatedMessage(ref, planned.remediated));
  if (secret.has("existingId"))
    wrong.push(
      "existingId can't be secret: the state, the journal and reports show ids. Give a plain value, for example by pulumi.unsecret().",
    );
  const isChanged = Object.keys(values).some(
    (name) => !isDeepStrictEqual(values[name], olds[name]),
  );
  if (deployment.isUp && isChanged) await runtime.journal().openOnce();
  const failures = [
    ...wrong.map((text) => withPage(text, ArgumentsError.code)),
    ...problemsBeside(runtime.reading, context.run?.inherited).map((problem) => {
      return withPage(describeSettingProblem(problem), SettingsError.code);
    }),
  ];
  const fail = (error: unknown) => void failures.push(describeError(error));
  // For a resource in the state, `diff` shows these messages.
  if (isNew && wrong.length === 0) {
    // A set's plan lists the objects that it adopts.
    const adopts = adoptedBy(inputs);
    if (adopts !== undefined) messages.informEach(adoptionNotice(ref, adopts, can));
    if (deployment.isUp === false)
      await tellPreview(await withOpenCreates(plan), runtime.command?.hasPolicies).catch(
        fail,
      );
  }
  // In a plugin after each check, since it can't know which resource is the last.
  if (deployment.isWhole || !context.run) messages.tellCollected();
  await awaitRecord(runtime).catch(fail);
  if (failures.length > 0) deployment.hasFailed = true;
  // An incomplete set sends what is missing, also without a changed argument. For a single resource in the state, a
  // create comes with the second check of a replacement.
  const isSending = deployment.isUp !== false && (isChanged || isSet);
  const canUpdate = isSet && plan.can.update !== undefined;
  const now = { run, field: settings.markField, canUpdate, account };
  // Pulumi saves a resource that an alias or the stack's name gives another identity, though nothing else changes. What
  // that save drops from its record has to be known.
  if (!isNew && before.identity !== context.identity) await runtime.record.state();
  return {
    inputs: withoutUndefined({
      ...values,
      [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
      [SENDER]: senderText({ ...(isSending ? now : before), identity: context.identity }),
      [MARKS]: isSending && (isNew || isSet) ? await keptMarks(plan) : undefined,
    }),
    failures,
  };
}

/**
 * The marks of open creates. Until such a create is resolved, no other one is sent; if it is sent again, it keeps its
 * mark. So Pulumi's record of an interrupted run has one create, however often the run was repeated.
 */
async function keptMarks(plan: Plan) {
  const { runtime, objects } = plan;
  const open = await runtime.record.open();
  // Nearly always, and a set may have thousands of events.
  if (open.isEmpty) return undefined;
  const marks = new Map<string, string>();
  // Pulumi takes the interrupted update before this one out of its record.
  for (const { key, mark } of atRisk(plan, open))
    marks.set(parseKey(key).member ?? SINGLE, mark);
  for (const object of objects) {
    const earlier = ownCreates(runtime, object, open).find((create) => {
      return !create.isDoubtful && !runtime.record.hasSeen(create);
    });
    if (earlier) marks.set(object.key, earlier.mark);
  }
  if (marks.size > 0) return Object.fromEntries(marks);
}

/** The resource's creates that Pulumi's next save drops from its record. */
function atRisk(plan: Plan, open: OpenCreates) {
  const own = resourceKeys(plan);
  return open.own.filter((each) => {
    return plan.runtime.record.willForget(each) && own.includes(resourceKeyIn(each.key));
  });
}

/**
 * Claims the ids in `existingId`. @returns a problem for each id that another resource or member claimed before, or that
 * a set deletes in the middle of the `up`.
 */
function claimConflicts({ runtime: { deployment }, kind, objects }: Plan) {
  return objects.flatMap(({ ref, entry }) => {
    const id = adoptedBy(entry);
    if (id === undefined) return [];
    const deleter = deployment.deleterOf(kind, id);
    if (deleter !== undefined)
      return adoptedTooLateMessage(ref.label, id, parseKey(deleter).label);
    if (id === UNKNOWN) return [];
    const other = deployment.claim(kind, id, ref.key);
    if (other === undefined) return [];
    return `${ref.label}: existingId ${adoptionClash(id, parseKey(other).label)}`;
  });
}

/** Plans by the state and the program. @throws ArgumentsError if the state lacks arguments. */
export function planObjects(
  resource: AnyKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Plan {
  const { id, olds, news: inputs } = change;
  const kind = kindOf(resource);
  const fates = new ObjectFates(kind, runtime);
  const isSet = "member" in resource;
  // An alias may give the resource the state of another type, which then lacks this argument.
  const argument = isSet ? "events" : resource.nameProperty;
  if (Object.keys(olds).length > 0 && !hasValue(own(olds, argument)))
    throw new ArgumentsError(
      `${ref.label}: its state (id ${id}) has no ${argument}. Nothing was sent. If an alias gives it another type's state, remove the alias; else remove it from the state. To keep a live object, set existingId.`,
    );
  const checked = runtime.deployment.checked(ref.key);
  const { wasSecret = new Set() } = checked;
  const secret = secretArgumentsIn(inputs);
  for (const name of secret) registerSecrets(own(inputs, name), runtime.secrets);
  const plan = {
    runtime,
    resource,
    kind,
    ref,
    checked,
    id,
    olds,
    inputs,
    stored: readStored(resource, id, olds),
    declared: readDeclared(resource, inputs),
    secret: secretOfObjects(kind, secret.union(wasSecret)),
    can: knownOperations(kind, runtime.settings),
    fateOf: (object: string) => fates.fateOf({ id: object, ref }, olds),
  };
  const objects = namedObjects(plan);
  const displaced = objects.filter(({ leaving }) => leaving?.why === DISPLACED);
  const fateById = new Map(displaced.map(({ leaving }) => [leaving?.id, leaving]));
  return { ...plan, objects, fateOf: (each) => fateById.get(each) ?? plan.fateOf(each) };
}

/** The resource's own key, and those that it had by its aliases. */
function resourceKeys({
  ref,
  checked: { formerKeys = [] },
}: Pick<Plan, "ref" | "checked">) {
  return [ref.key, ...formerKeys];
}

/** Decides about the objects. Their keys: the own one, then those by the resource's aliases and the `formerKey`. */
function namedObjects(plan: Omit<Plan, "objects">) {
  const { kind, ref, stored, declared } = plan;
  const resources = resourceKeys(plan);
  return decideObjects(kind, stored, declared, plan).map((object) => {
    const { key } = object;
    const own = objectRef(ref, key);
    const isSet = own.key !== ref.key;
    const members = [key, declared.formerKeys.get(key) ?? key];
    const keys = resources.flatMap((each) =>
      isSet ? members.map((member) => memberOf(each, member)) : each,
    );
    return { ...object, ref: own, keys: [...new Set(keys)] };
  });
}

/**
 * A plan with the open creates of unknown outcome that the state doesn't list yet. They count only where the plan would
 * send something, or where the set no longer declares them.
 * @throws BlockedCreateError if an interrupted run sent events of the set that nobody can tell, since they are secret.
 */
export async function withOpenCreates(given: Plan) {
  const plan = await withInterrupted(given);
  const { runtime, resource, ref, stored, objects } = plan;
  const isSet = "member" in resource;
  const isUnchanged = objects.every(isQuiet);
  if (isUnchanged && !isSet) return plan;
  const open = await runtime.record.open();
  // An unchanged set saves the creates that Pulumi's next save would drop.
  if (isUnchanged && atRisk(plan, open).length === 0) return plan;
  // Pulumi's record has it, but perhaps can't be read.
  const { inState = ref } = plan.checked;
  for (const [key, record] of stored.unresolved)
    open.note({ ...record, key: objectRef(inState, key).key, run: "", isInState: true });
  const hidden = isSet ? open.of(resourceKeys(plan)) : [];
  for (const { mark } of hidden) runtime.deployment.named.add(mark);
  const [first] = hidden;
  if (first) throw new BlockedCreateError(hiddenEventsMessage(first.key));
  const whole = { ...plan, stored: withUnresolved(plan, open) };
  return { ...whole, objects: namedObjects(whole) };
}

/** A plan that sends all arguments of each object that an interrupted run may have updated. */
async function withInterrupted(plan: Plan) {
  const { runtime, kind, stored, can } = plan;
  if (!can.update && !can.delete) return plan;
  const { interrupted } = (await runtime.record.state()) ?? {};
  if (!interrupted?.size) return plan;
  for (const { ref, id = "", isDeclared } of plan.objects) {
    const sent = interrupted.get(objectKey(kind.name, id));
    if (sent && can[sent] && isDeclared)
      runtime.messages.warnEach(interruptedNotice(ref, id, sent));
  }
  if (!can.update) return plan;
  const sentAs = sentAsIfUpdated(plan, interrupted);
  if (!sentAs) return plan;
  const whole = { ...plan, stored: { ...stored, sentAs } };
  return { ...whole, objects: namedObjects(whole) };
}

function isQuiet({ action }: PlannedObject) {
  return action.do === "same";
}

/** The state, with all of the resource's creates of unknown outcome. */
function withUnresolved(plan: Plan, open: OpenCreates) {
  const { runtime, resource, kind, stored, objects } = plan;
  const unresolved = new Map(stored.unresolved);
  for (const [key, each] of unresolved)
    unresolved.set(key, runtime.record.asLastSent(each));
  const byKey = new Map(objects.flatMap((each) => each.keys.map((key) => [key, each])));
  // A set also has creates of events that it no longer declares.
  const isSet = "member" in resource;
  const own = resourceKeys(plan);
  const ended = endedMarks(kind, stored);
  for (const create of isSet ? open.own : open.of([...byKey.keys()])) {
    const object = byKey.get(create.key);
    const isOwn = object || own.includes(resourceKeyIn(create.key));
    if (!isOwn || isMade(create) || create.isInState) continue;
    if (!runtime.isSameAccount(create.account)) continue;
    // Pulumi's record says so too, but perhaps can't be read.
    if (ended.has(create.mark)) continue;
    if (object && isQuiet(object) && !runtime.record.willForget(create)) continue;
    // A run that knew the object of an earlier create has taken it over, and sent nothing.
    if (object && open.of(object.keys).some(isMade)) continue;
    // Perhaps the member's former key: commands use the names that `pending` has.
    let { member = SINGLE } = parseKey(create.key);
    if (object && unresolved.has(object.key)) member = object.key;
    addUnresolved(unresolved, member, create);
  }
  return { ...stored, unresolved };
}

/** The marks of the creates that have made no object, or one that the resource has, by its own state. */
function endedMarks({ name }: Kind, { resolved, eventIds }: StoredSet) {
  const known = new Set(Array.from(eventIds.values(), (id) => objectKey(name, id)));
  const ended = [...resolved].filter(([, made]) => made === "" || known.has(made));
  return new Set(ended.map(([mark]) => mark));
}

/** @throws AdvertisingError if nothing may be done, for example because a single resource's create is unresolved. */
export async function diffResource(
  resource: AnyKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
) {
  const { deployment, record } = runtime;
  const { id, olds, news } = change;
  const urns = [ref.urn, deployment.checked(ref.key).inState?.urn];
  record.notePassed((each) => urns.includes(each.urn) && each.id === id);
  // The engine also calls `diff` without a `check`: in a refresh (with the old inputs), and for dependents of a
  // replacement or a target. Then nothing is noted or shown, and no open create stops it.
  const isChecked = deployment.isChecked(ref.key);
  let plan = planObjects(resource, runtime, ref, change);
  const isPreview = isChecked && deployment.isUp === false;
  if (isPreview) noteDeletes(plan);
  if (isChecked) {
    assertFormerKeys(plan);
    plan = await withOpenCreates(plan);
    noteState(plan);
  }
  const { kind, checked, stored, declared, objects } = plan;
  const [single] = resource === kind ? objects : [];
  // Members that are not known yet are changes too.
  const changes =
    !declared.events ||
    objects.some((each) => shownAction(each) !== "same" || isPartlyKnown(each)) ||
    asksToDelete(olds) !== asksToDelete(news);
  if (!single) {
    if (isPreview) await tellPreview(plan);
    return { changes, replaces: [] };
  }
  const blocked = blockedIn(plan);
  if (blocked.length > 0) {
    noteReached(plan);
    throw new BlockedCreateError(unresolvedMessage(blocked));
  }
  const { values } = checked;
  const remediated = Object.keys({ ...values, ...argumentsIn(news) }).filter((name) => {
    return !isSameValue(values?.[name], news[name]);
  });
  checked.planned = { stored, object: single, fateOf: plan.fateOf, remediated };
  return { changes, replaces: causesIn(kind, single, news) };
}

/** @throws ArgumentsError if a `formerKey` is in vain, since the set has events of both keys. */
function assertFormerKeys({ ref, stored: { eventIds }, declared }: Plan) {
  const wrong = [...declared.formerKeys].flatMap(([key, formerKey]) => {
    const id = eventIds.get(formerKey);
    const isAdopter = adoptedBy(declared.events?.get(key)) !== undefined;
    if (id === undefined || !eventIds.has(key) || isAdopter) return [];
    return formerNameMessage(objectRef(ref, key), formerKey, id);
  });
  if (wrong.length > 0) throw new ArgumentsError(wrong.join("\n"));
}

export function noteReached({ runtime: { deployment }, objects }: Plan) {
  for (const { keys, action } of objects) {
    for (const key of keys) deployment.reached.add(key);
    if (action.do === "blocked") deployment.named.add(action.record.mark);
  }
}

/**
 * Notes what a set deletes before later resources can adopt it. The plugin may come to that before it hears of an adopter,
 * whatever their order is in this preview. @throws ArgumentsError if there is one
 */
function noteDeletes({ runtime, resource, kind, ref, objects }: Plan) {
  if (resource === kind) return;
  const { deployment, provider, record } = runtime;
  for (const object of objects) {
    const { id = "", isDeleted, why } = object.leaving ?? {};
    if (isDeleted && shownAction(object) !== "perhaps replace")
      deployment.noteToDelete(kind, id, ref.key);
    if (provider === undefined || why !== MAY_BE_ADOPTED) continue;
    if (object.action.do === "adopt") continue;
    const holders = record.arrived?.holdersOf(kind.name, id) ?? [];
    if (holders.every(({ resource: { urn } }) => urn === ref.resourceUrn))
      throw new ArgumentsError(adoptedTooLateMessage(ref.label, id, ref.label));
  }
}

/** The creates that stop the resource, with the names by which `pending` lists them, for commands. */
function blockedIn({ runtime: { record }, objects }: Plan): OpenObject[] {
  return objects.flatMap(({ ref, action }) => {
    if (action.do !== "blocked") return [];
    const { mark } = action.record;
    const [inState] = record.arrived?.unresolved.get(mark) ?? [];
    const listedKey = record.openKeys.get(mark) ?? inState?.key ?? ref.key;
    return [{ ...action, ref: parseKey(listedKey) }];
  });
}

/** The arguments that the engine shows as the cause of a replacement. */
function causesIn(kind: Kind, { action, changed }: PlannedObject, news: Values) {
  if (action.do === "recover") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  if (adoptedBy(news) === undefined) return [...changed];
  return [...changed, "existingId"];
}

/**
 * The object that a single resource's create replaces. Under `up --replace`, and where it was only read before (`.get`),
 * the engine calls no `diff`, and only the record knows the object.
 */
async function replacedObject({ runtime, kind, ref, checked: { planned } }: Plan) {
  const saved = await runtime.record.state();
  if (planned) {
    const { id } = planned.object;
    if (id === undefined) return undefined;
    return planned.fateOf(id);
  }
  const { id, outputs, external: isRead } = saved?.resourceAt(ref.resourceUrn) ?? {};
  if (!isPlatformId(id)) return undefined;
  return { ...new ObjectFates(kind, runtime).fateOf({ id, ref }, outputs), isRead };
}

/**
 * The plan of a create, with what it replaces: the engine gives a single resource's create no old state, so that comes
 * from `check`, `diff` and the record. A set has it already.
 */
export async function withReplaced(plan: Plan) {
  const { resource, kind, checked, stored } = plan;
  if (resource !== kind || stored.eventIds.size > 0) return plan;
  const { planned } = checked;
  const leaving = await replacedObject(plan);
  const objects = plan.objects.map((object) => {
    const unresolved = planned?.object.unresolved ?? object.unresolved;
    return { ...object, unresolved, leaving };
  });
  return { ...plan, objects, stored: planned?.stored ?? stored };
}

/**
 * Notes what the state has: creates that were not carried out, and each object.
 * @throws ArgumentsError if another resource has claimed an object.
 */
function noteState({ runtime, kind, stored, objects, secret }: Plan) {
  const { deployment, messages, record } = runtime;
  for (const mark of endedMarks(kind, stored)) record.seenInState.add(mark);
  for (const { ref, action, changed, leaving, id, olds, values } of objects) {
    if (id === undefined) continue;
    record.seenInState.add(objectKey(kind.name, id));
    const other = leaving ? undefined : deployment.claim(kind, id, ref.key);
    if (other !== undefined)
      throw new ArgumentsError(`${ref.label}: ${adoptionClash(id, parseKey(other).label)}`);
    if (action.do !== "update state only") continue;
    const changes = changeMessages(changed, olds, values, secret);
    messages.warnEach(stateOnlyNotice(ref, id, changes));
  }
}

/**
 * Shows a preview's messages, for a front end (the plugin) that learns only in `create` and `update` that it is in a
 * preview. @param change without an id and old state for a create. @throws AdvertisingError the error of the `up`.
 */
export async function previewResource(
  resource: AnyKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
) {
  const plan = await withOpenCreates(planObjects(resource, runtime, ref, change));
  noteDeletes(plan);
  await tellPreview(plan);
}

/**
 * Shows what an `up` would create, and all that it would do with a set. An `up` decides the same way right before it
 * sends. @param mayChange whether the arguments may still change. @throws AdvertisingError the error of the `up`.
 */
async function tellPreview(known: Plan, mayChange = false) {
  const plan = await withReplaced(known);
  // Objects that leave now are named before those of earlier runs.
  tellReplaced(plan);
  await tellCreates(plan, mayChange);
  const { runtime, kind, objects } = plan;
  for (const object of objects) {
    const { action, keys } = object;
    if (action.do !== "adopt" || action.id === undefined) continue;
    await new ObjectOperations(kind, runtime).assertNotLeftOut(object, action.id);
    await runtime.record.noteAdopted(keys, action.id);
  }
}

/** Shows what an `up` would do with a set. @param objects without those that are taken over. */
function tellSet(plan: Plan, objects: readonly PlannedObject[]) {
  const { runtime, resource, kind, ref } = plan;
  if (resource === kind) return;
  const fates = new ObjectFates(kind, runtime);
  const isKept = (id: string) => fates.isHeld({ id });
  // As for a single resource that is replaced.
  const isReplaced = objects.some(({ action }) => action.do === "replace");
  const severity = isReplaced ? "warn" : "info";
  const message = planMessage(plan, objects, isKept);
  runtime.messages.tellAt(severity, ref.resourceUrn, message);
}

/** Shows the object that a single resource's create replaces. */
function tellReplaced({ runtime, kind, ref, checked, objects }: Plan) {
  const leaving = objects.find(({ id }) => id === undefined)?.leaving;
  if (!leaving) return;
  if (new ObjectFates(kind, runtime).isHeld({ id: leaving.id, ref })) return;
  const { action } = checked.planned?.object ?? {};
  const isPerhaps = action?.do === "replace" && action.perhaps;
  let then = "is replaced";
  // The engine may have read the state before the package did.
  if (!checked.planned && !leaving.isRead)
    then += ` (unless a run that is still in progress has just created ${leaving.id})`;
  if (isPerhaps) then += " if a value that isn't known yet has changed";
  const notice = replacedNotice(kind, ref, leaving, then);
  const text = `${notice.text}\n${howToKeep(leaving.id, isPerhaps)}`;
  runtime.messages.warnEach({ ...notice, text });
}

/** Shows the creates and the set, by the decisions of an `up`. */
async function tellCreates(plan: Plan, mayChange: boolean) {
  const { runtime, kind, objects } = plan;
  const { journal, record } = runtime;
  noteReached(plan);
  const notices: Notice[] = [];
  const blocked = blockedIn(plan);
  const namesakes: Namesake[] = [];
  const otherwise: MadeObject[] = [];
  const shown = new Map<string, PlannedObject>(objects.map((each) => [each.key, each]));
  const sent = objects.filter((object) => {
    const isSent = ["create", "replace", "recover"].includes(shownAction(object));
    return isSent && adoptedBy(object.entry) === undefined;
  });
  // A set without changes doesn't wait for the record.
  let open = new OpenCreates();
  if (sent.length > 0) {
    open = await record.open();
    const { trouble } = journal();
    if (trouble) throw trouble;
    assertAccountOfOpen(
      runtime,
      open,
      sent.flatMap((object) => object.keys),
    );
  }
  for (const object of sent) {
    const { ref, id, key, values } = object;
    const decided = planOfCreate(runtime, { ...object, kind }, open);
    switch (decided.do) {
      // Under `up --replace`, a set keeps its events.
      case "keep":
      case "take over": {
        const { create } = decided;
        if (decided.do === "keep") shown.set(key, { ...object, action: { do: "same" } });
        else if (id === undefined) shown.delete(key);
        const differs = differsFromSent(runtime, { ...plan, values }, create);
        if (differs && !mayChange && !holdsUnknown(values))
          otherwise.push({ ref, id: create.id, isUnsure: differs === "perhaps" });
        else if (decided.do !== "keep")
          notices.push(takeOverNotice(ref, create, Boolean(differs)));
        break;
      }
      case "search":
        notices.push(takeOverNotice(ref, decided.record));
        break;
      case "blocked":
        blocked.push({ ref, record: decided.record });
        break;
      case "refused": {
        const namesake = { ref, open: decided.namesake };
        if (holdsUnknown(ownerIn(kind, values)))
          notices.push(possibleNamesakeNotice(namesake));
        else namesakes.push(namesake);
        break;
      }
      default:
    }
  }
  const errors = [];
  if (otherwise.length > 0) errors.push(madeOtherwiseMessage(otherwise));
  if (namesakes.length > 0) errors.push(namesakesMessage(namesakes));
  if (blocked.length > 0) errors.push(unresolvedMessage(blocked));
  if (errors.length === 0) tellSet(plan, [...shown.values()]);
  for (const each of notices) runtime.messages.warnEach(each);
  if (errors.length > 0) throw new BlockedCreateError(errors.join("\n"));
}

/** Shorter texts are not real secrets, and masking them would damage ordinary words. */
const MIN_SECRET_CHARACTERS = 4;

/** Registers every string and number in `value` for scrubbing. */
function registerSecrets(value: unknown, secrets: Secrets) {
  if (typeof value === "object")
    for (const part of Object.values(value ?? {})) registerSecrets(part, secrets);
  if (String(value).length < MIN_SECRET_CHARACTERS) return;
  if (typeof value === "string") secrets.add(value);
  if (typeof value === "number") secrets.addNumber(value);
}

/** With any secret in a set's `events` or `defaults`, no argument of its members is shown. */
export function secretOfObjects(kind: Kind, secret: ReadonlySet<string>) {
  if (!secret.has("events") && !secret.has("defaults")) return secret;
  // The owner is shown: without it, an object could not be updated but only replaced.
  return new Set([...secret, ...kind.outputs.filter((name) => name !== kind.owner)]);
}
