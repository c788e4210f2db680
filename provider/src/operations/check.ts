/**
 * The engine's `check` and `diff`: note facts for the calls that follow, and show a preview's messages. In an `up`, `check`
 * also opens the journal. It returns all problems at once.
 */
import { isDeepStrictEqual } from "node:util";
import {
  ArgumentsError,
  BlockedCreateError,
  cut,
  isSameValue,
  type Values,
  withoutUndefined,
  withPage,
} from "../base/index.js";
import {
  adoptionClash,
  asksToDelete,
  checkArguments,
  type Kind,
  ownerIn,
  resourcesByName,
} from "../kinds/index.js";
import {
  adoptedBy,
  changeMessages,
  holdsUnknown,
  isPartlyKnown,
  type PlannedObject,
  shownAction,
} from "../plan/index.js";
import { MAX_PROBLEMS, problemMessages } from "../rules/index.js";
import { problemsBeside, settingFailures } from "../settings/index.js";
import {
  argumentsIn,
  MARKS,
  NO_DELETE,
  noteNames,
  objectKey,
  objectRef,
  type ProgramContext,
  parseKey,
  type ResourceRef,
  refOfInputs,
  SECRET_ARGUMENTS,
  SENDER,
  SINGLE,
  secretArgumentsIn,
  senderIn,
  senderText,
  UNKNOWN,
} from "../state/index.js";
import { ownCreates } from "./decide-create.js";
import type { Checked } from "./deployment.js";
import { awaitRecord } from "./end-of-run.js";
import {
  adoptedTooLateMessage,
  adoptionNotice,
  formerNameMessage,
  mistakeNotices,
  remediatedMessage,
  stateOnlyNotice,
  unresolvedMessage,
} from "./messages.js";
import { assertSameAccount, describeError } from "./outcome.js";
import {
  atRisk,
  blockedIn,
  endedMarks,
  noteReached,
  type Plan,
  planObjects,
  withOpenCreates,
} from "./plan-resource.js";
import { noteDeletes, tellPreview } from "./preview.js";
import type { Change, Runtime } from "./runtime.js";

/**
 * Validates the arguments, notes which objects are declared, and returns all problems at once.
 * @param request `olds` are the inputs in the state, empty for a new resource.
 */
export async function check(
  runtime: Runtime,
  ref: ResourceRef,
  request: { context: ProgramContext; olds: Values; news: Values },
) {
  const { context, olds, news } = request;
  const { deployment, messages, settings, account, runName: run } = runtime;
  runtime.begin(ref, true);
  const resource = resourcesByName[ref.resource];
  const secret = secretArgumentsIn(news);
  const { values, problems } = checkArguments(resource, news, settings, {
    isUnknown: holdsUnknown,
    secret,
    // A plugin's program may be in another language than JavaScript, so it gets no hint about undefined outputs.
    isFromOutputs: context.run !== undefined,
  });
  for (const each of mistakeNotices(ref, values, secret, settings.maxWindowSeconds))
    messages.tellEach(each);
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
  assertSameAccount(runtime, before.account, ref.label);
  // Planned like a new resource: only `diff` knows the state.
  const plan = planObjects(runtime, ref, { id: "", olds: {}, news: values });
  const { kind, objects, inputs, can } = plan;
  // The classes' program has said so.
  if (runtime.provider !== undefined && checked.deletes && !can.delete)
    messages.say(`deletionPolicy ${NO_DELETE}`);
  // Only in the second `check` of a replacement.
  const { planned } = plan.checked;
  // The `diff` may have kept it: a replacement may also be the engine's decision.
  if (planned) deployment.unclaim(kind, planned.object.id ?? "", ref.key);
  if (!plan.declared.events) deployment.declared.add(ref.key);
  for (const { keys, values: args, ref: own } of objects) {
    noteNames(own);
    for (const each of keys) deployment.declared.add(each);
    if (kind.ownerKind)
      deployment.owners.set(
        objectKey(kind.ownerKind.name, String(ownerIn(kind, args))),
        own.label,
      );
  }
  const wrong = [...claimConflicts(plan), ...cut(problemMessages(problems), MAX_PROBLEMS)];
  if (planned && planned.remediated.length > 0)
    wrong.push(remediatedMessage(ref, planned.remediated));
  for (const name of ["existingId", "deletionPolicy"])
    if (secret.has(name))
      wrong.push(
        `${name} can't be secret: previews and reports show it. Give a plain value.`,
      );
  const isChanged = Object.keys(values).some(
    (name) => !isDeepStrictEqual(values[name], olds[name]),
  );
  if (deployment.isUp && isChanged) await runtime.journal().openOnce();
  const failures = [
    ...wrong.map((text) => withPage(text, ArgumentsError)),
    ...settingFailures(problemsBeside(runtime.reading, context.run?.inherited)),
  ];
  const fail = (error: unknown) => void failures.push(describeError(error));
  // For a resource in the state, `diff` shows these messages.
  if (isNew && wrong.length === 0) {
    // A set's plan lists the objects that it adopts.
    const adopts = adoptedBy(inputs);
    if (adopts !== undefined) messages.tellEach(adoptionNotice(ref, adopts, can), "info");
    if (deployment.isUp === false)
      await tellPreview(await withOpenCreates(plan), runtime.command?.hasPolicies).catch(
        fail,
      );
  }
  // In a plugin after each check, since it can't know which resource is the last.
  if (deployment.isWhole || !context.run) messages.tellCollected();
  await awaitRecord(runtime).catch(fail);
  if (failures.length > 0) {
    deployment.hasFailed = true;
    deployment.isIncomplete = true;
  }
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

/** @throws AdvertisingError if nothing may be done, for example because a single resource's create is unresolved. */
export async function diffResource(runtime: Runtime, ref: ResourceRef, change: Change) {
  const { deployment, record } = runtime;
  const { id, olds, news } = change;
  const urns = [ref.urn, deployment.checked(ref.key).inState?.urn];
  record.notePassed((each) => urns.includes(each.urn) && each.id === id);
  // The engine also calls `diff` without a `check`: in a refresh (with the old inputs), and for dependents of a
  // replacement or a target. Then nothing is noted or shown, and no open create stops it.
  const isChecked = deployment.isChecked(ref.key);
  // A policy may have changed it since.
  if (isChecked) deployment.checked(ref.key).deletes = asksToDelete(news);
  let plan = planObjects(runtime, ref, change);
  const isPreview = isChecked && deployment.isUp === false;
  if (isPreview) noteDeletes(plan);
  if (isChecked) {
    assertFormerKeys(plan);
    plan = await withOpenCreates(plan);
    noteState(plan);
  }
  const { resource, kind, checked, stored, declared, objects } = plan;
  const [single] = resource === kind ? objects : [];
  // Members that are not known yet are changes too.
  const changes =
    !declared.events ||
    objects.some((each) => shownAction(each) !== "same" || isPartlyKnown(each)) ||
    asksToDelete(olds) !== asksToDelete(news);
  if (!single) {
    // In the `up`, the engine comes to it only if something changes.
    if (isPreview && changes) await tellPreview(plan);
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

/** The arguments that the engine shows as the cause of a replacement. */
function causesIn(kind: Kind, { action, changed }: PlannedObject, news: Values) {
  if (action.do === "recover") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  if (adoptedBy(news) === undefined) return [...changed];
  return [...changed, "existingId"];
}

/**
 * Notes what the state has: creates that were not carried out, and each object.
 * @throws ArgumentsError if another resource has claimed an object.
 */
function noteState({ runtime, kind, stored, objects, secret, can }: Plan) {
  const { deployment, messages, record } = runtime;
  for (const mark of endedMarks(kind, stored)) record.seenInState.add(mark);
  for (const { ref, action, changed, leaving, id, olds, values } of objects) {
    if (id === undefined) continue;
    record.seenInState.add(objectKey(kind.name, id));
    if (!leaving) deployment.assertClaim(kind, id, ref);
    if (action.do !== "update state only") continue;
    const changes = changeMessages(changed, olds, values, secret);
    messages.tellEach(stateOnlyNotice(ref, id, changes, can));
  }
}
