/** The engine's `diff`: what becomes of a resource's objects, noted for the calls that follow, and said in a preview. */
import { ArgumentsError, hasValue, own, type Values } from "../base/index.js";
import { adoptedTwice, type Kind, type SetKind } from "../kinds/index.js";
import {
  ANY,
  abilitiesOf,
  adoptedBy,
  type Circumstances,
  changeMessages,
  type PlannedObject,
  plannedObjects,
  shownAction,
} from "../plan/index.js";
import {
  ACCOUNT,
  DELETES,
  type DeclaredSet,
  howToKeep,
  identifyingIn,
  isOfKnownAccount,
  kindOf,
  lacksForRead,
  memberRef,
  objectRef,
  parseKey,
  type ResourceRef,
  readDeclared,
  readStored,
  resourceKeyIn,
  SINGLE,
  type StoredSet,
  UNKNOWN,
  unresolvedMessage,
} from "../state/index.js";
import { previewErrors } from "./check.js";
import {
  adoption,
  exchangedNotice,
  planMessage,
  replacedNotice,
  secondObjectNotice,
  stateForRead,
  stateOnlyNotice,
  takeOverNotice,
} from "./messages.js";
import { assertSameAccount, ResourceFailure } from "./outcome.js";
import type { Change, Runtime } from "./runtime.js";
import { secretIn } from "./secrets.js";

/** @param asked whether its objects are deleted when they leave the state. @param olds its outputs in the state. */
function circumstancesOf(
  kind: Kind,
  { deployment, reading }: Runtime,
  asked: boolean,
  olds: Values,
): Circumstances {
  return {
    can: abilitiesOf(kind, reading.settings),
    deletes: (id) => asked && isOfKnownAccount(olds) && !deployment.mayBeClaimed(kind, id),
  };
}

/** What becomes of a resource's objects, and from what that follows. */
export interface Plan {
  readonly circumstances: Circumstances;
  /** The resource's outputs in the state. */
  readonly olds: Values;
  readonly stored: StoredSet;
  readonly declared: DeclaredSet;
  readonly objects: readonly PlannedObject[];
}

/** @throws ArgumentsError an alias gives it the state of another type. */
export function planObjects(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Plan {
  const { id, olds, news } = change;
  assertSameType(resource, change, ref.label);
  // The engine deletes a single resource's object by the option in the state; a set deletes by the option of now.
  const isSet = "member" in resource;
  const asked = isSet
    ? news[DELETES] === true
    : runtime.deployment.checked(ref.key).deletesInStateAndProgram;
  const circumstances = circumstancesOf(kindOf(resource), runtime, asked, olds);
  const stored = readStored(resource, id, olds);
  const declared = readDeclared(resource, news);
  const objects = plannedObjects(kindOf(resource), stored, declared, circumstances);
  return { circumstances, olds, stored, declared, objects };
}

/** An alias may give a resource the state of one of another type, whose id is of another kind. */
function assertSameType(resource: Kind | SetKind, { id, olds }: Change, label: string): void {
  // An argument that all resources of the type have, and no others.
  const argument = "member" in resource ? "events" : resource.nameProperty;
  if (Object.keys(olds).length === 0 || hasValue(own(olds, argument))) return;
  throw new ArgumentsError(
    `${label}: the state has a resource of another type here, with the id ${id}, and an alias can't change its type. ` +
      "Nothing was sent. Remove the alias; to go on with a live object, set existingId in its new place.",
  );
}

/** @throws ResourceFailure a single resource is to be resolved first. @throws AdvertisingError nothing may be done. */
export async function planResource(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  change: Change,
): Promise<{ changes: boolean; replaces: string[] }> {
  const { deployment } = runtime;
  const kind = kindOf(resource);
  const isSet = "member" in resource;
  assertSameAccount(runtime, change.olds[ACCOUNT], `The state has ${ref.label}`);
  const plan = planObjects(resource, runtime, ref, change);
  const { stored, declared, objects } = plan;
  const [single] = isSet ? [] : objects;
  // A refresh asks too, with the former inputs, and so does a run for what a replacement or its targets take along:
  // nothing is noted or said then.
  const isChecked = deployment.isChecked(ref.key);
  if (isChecked) noteCreates(resource, runtime, ref, plan);
  if (single !== undefined) {
    assertNotBlocked(runtime, ref, single);
    deployment.plannedSingles.set(ref.key, { stored, object: single });
  }
  if (isChecked) {
    const secret = secretIn(resource, runtime, ref.key, change.news);
    for (const object of objects)
      notePlanned(kind, runtime, { ref: objectRef(resource, ref, object.key), object, secret });
    if (single !== undefined) tellSingle(kind, runtime, ref, single);
    else tellSet(kind, runtime, ref, objects);
  }
  // Members that are not known yet are changes too.
  const hasChanges =
    declared.events === undefined || objects.some((object) => shownAction(object) !== "same");
  return {
    changes: hasChanges || preparesRead(kind, runtime, ref, change),
    replaces: single === undefined ? [] : replacesOf(kind, single, change.news),
  };
}

function assertNotBlocked(
  { deployment }: Runtime,
  ref: ResourceRef,
  { action }: PlannedObject,
): void {
  if (action.do !== "blocked") return;
  throw new ResourceFailure(
    unresolvedMessage(deployment.checked(ref.key).inState ?? ref, action.record, action.why),
  );
}

/** What the state says about creates: which of them were found, and which are still open. */
function noteCreates(
  resource: Kind | SetKind,
  runtime: Runtime,
  ref: ResourceRef,
  { stored, objects }: Plan,
): void {
  const { deployment } = runtime;
  const kind = kindOf(resource);
  const journal = runtime.journal(ref.identity);
  const found = stored.resolved;
  deployment.noteSeen(kind, undefined, found);
  const id = resource === kind ? stored.eventIds.get(SINGLE) : undefined;
  if (deployment.isUp && found.length > 0)
    journal.recordSeen({ key: ref.key, id, creates: found });
  for (const { key, id, unresolved, isDeclared } of objects) {
    if (unresolved === undefined) continue;
    const { mark } = unresolved;
    const own = objectRef(resource, ref, key);
    // The journal may have it too, perhaps under a former name: it is one create.
    deployment.noteSeen(kind, undefined, [mark]);
    // What is declared looks after its own create. The others may be a new event under another key.
    if (!isDeclared)
      runtime
        .openCreates(ref.identity)
        .add({ ...unresolved, key: own.key, state: "sent", isInState: true });
    else if (deployment.isUp && id === undefined)
      journal.recordSeen({ key: own.key, creates: [mark] });
  }
}

/**
 * What the plan for an object in the state means for others: nothing else may have it, and the journal learns that the
 * state has it. Warns of another one that an earlier run made for it, and of changes the platform is not told.
 * @throws ArgumentsError something else has it.
 */
function notePlanned(
  kind: Kind,
  runtime: Runtime,
  planned: {
    readonly ref: ResourceRef;
    readonly object: PlannedObject;
    readonly secret: ReadonlySet<string>;
  },
): void {
  const { ref, secret } = planned;
  const { action, changed, former, id, olds, values } = planned.object;
  if (id === undefined) return;
  const { deployment } = runtime;
  const journal = runtime.journal(ref.identity);
  const entry = journal.of(ref.key);
  // The journal has a create of this resource that isn't the state's object, nor known to the state. Warn, unless it was
  // to replace that object and its outcome is still unknown.
  const mayHaveMadeAnother =
    entry !== undefined &&
    entry.state !== "confirmed" &&
    entry.id !== id &&
    !deployment.hasSeen(kind, entry);
  const isUnknownAndNoReplacement = entry?.id === undefined && entry?.replaces !== id; // resolved by the state, which has something
  if (mayHaveMadeAnother && (action.do === "same" || isUnknownAndNoReplacement))
    runtime.warnEach(secondObjectNotice(kind, ref, entry, id));
  deployment.noteSeen(kind, id, []);
  const { deletes } = deployment.checked(resourceKeyIn(ref.key));
  if (deployment.isUp)
    journal.recordSeen({ key: ref.key, id, deletes, ...identifyingIn(kind, olds, secret) });
  const other = former === undefined ? deployment.claim(kind, id, ref.key) : undefined;
  if (other !== undefined)
    throw new ArgumentsError(`${ref.label}: ${adoptedTwice(id, parseKey(other).label)}`);
  if (action.do === "update state only")
    runtime.warnEach(
      stateOnlyNotice(ref, id, changeMessages(changed, olds, values, { secret })),
    );
}

/** The engine shows a single resource's own step; this adds what the step does not say. */
function tellSingle(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { action, former }: PlannedObject,
): void {
  const { deployment, reading } = runtime;
  // What is deleted before its replacement has no other `diff`.
  if (former !== undefined && !deployment.checked(ref.key).deletesInStateAndProgram)
    deployment.noteStaying(kind, former.id);
  if (action.do === "adopt")
    runtime.tellAdopted(
      adoption(ref, action.id ?? UNKNOWN, abilitiesOf(kind, reading.settings)),
    );
  if (deployment.isUp) return;
  if (action.do === "recover") runtime.warnEach(takeOverNotice(ref, action.record, "search"));
  if (former === undefined || deployment.isClaimedOrAdopted(kind, former.id)) return;
  if (action.do === "adopt" && !former.isDeleted) {
    runtime.warnEach(
      exchangedNotice(ref, former.id, `adopts ${action.id ?? "another object"} instead`),
    );
    return;
  }
  const isPerhaps = action.do === "replace" && action.perhaps;
  const then = isPerhaps
    ? "is replaced if values that are not known yet differ"
    : "is replaced";
  const notice = replacedNotice(kind, ref, former, then);
  runtime.warnEach({ ...notice, text: `${notice.text}\n${howToKeep(former.id)}` });
}

/** @throws ResourceFailure the `up` would end with these errors. */
function tellSet(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  members: readonly PlannedObject[],
): void {
  runtime.tellCollected();
  if (runtime.deployment.isUp) return;
  const fresh = members.filter(
    ({ action }) => action.do === "create" || (action.do === "replace" && !action.perhaps),
  );
  const open = members.flatMap(({ key, action }) => {
    return action.do === "blocked" ? { ref: memberRef(ref, key), ...action } : [];
  });
  const toCreate = fresh.map(({ key, values, id }) => ({
    ref: memberRef(ref, key),
    values,
    held: id,
  }));
  const errors = previewErrors(kind, runtime, toCreate, open);
  const [first] = errors;
  if (first !== undefined)
    throw new ResourceFailure(
      errors.map(({ message }) => message).join("\n"),
      undefined,
      first.code,
    );
  const abilities = abilitiesOf(kind, runtime.reading.settings);
  const plan = planMessage(kind, members, abilities, (id) =>
    runtime.deployment.isClaimedOrAdopted(kind, id),
  );
  runtime.tellAt("info", ref.resourceUrn, plan);
}

/** Once a read is known, the state takes what a refresh needs, in an update that sends nothing. */
function preparesRead(
  kind: Kind,
  runtime: Runtime,
  ref: ResourceRef,
  { olds, news }: Change,
): boolean {
  const { read } = abilitiesOf(kind, runtime.reading.settings);
  if (!read || !runtime.deployment.isChecked(ref.key) || !lacksForRead(olds, news))
    return false;
  runtime.say(stateForRead());
  return true;
}

/** The arguments that the engine shows as the cause of a replacement. */
function replacesOf(kind: Kind, { action, changed }: PlannedObject, news: Values): string[] {
  if (action.do === "recover") return [kind.nameProperty];
  if (action.do !== "replace" && action.do !== "adopt") return [];
  // A change that has no name is shown at the argument that people know the object by.
  const names = changed.map((name) => (name === ANY ? kind.nameProperty : name));
  return adoptedBy(news) === undefined ? names : [...names, "existingId"];
}
