/**
 * The messages at the end of a run: when the engine ends the process, all resources have been checked, and messages are
 * still shown (measured with engine 3.259.0, previews included). So this is the first moment at which a provider knows
 * what the program doesn't declare.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ArgumentsError, BlockedCreateError } from "../base/index.js";
import { asksToDelete, kindsByName, resourceOfType } from "../kinds/index.js";
import {
  adoptedBy,
  asUnresolved,
  isMade,
  type OpenCreate,
  type OpenCreates,
} from "../plan/index.js";
import {
  allResources,
  type EngineRun,
  type ExportedObject,
  isInRun,
  isOfProgram,
  isPartial,
  keepingOption,
  objectsIn,
  providerIn,
  type Resource,
  refIn,
  type SavedState,
} from "../record/index.js";
import { knownOperations } from "../settings/index.js";
import {
  KEPT_BEFORE,
  keyOfUrn,
  kindOf,
  leftLiveIn,
  objectKey,
  parseKey,
  REPLACED_BEFORE,
  refOfUrn,
  resourceKeyIn,
} from "../state/index.js";
import { assertAccountOfState } from "./decide-create.js";
import { LEFT_OUT, ObjectFates, withFate } from "./fates.js";
import {
  alsoBelongsTo,
  FORMER_SETTINGS,
  formerNameMessage,
  hiddenIdsNotice,
  interruptedNotice,
  LATE_RECORD,
  leavingNotice,
  leftOutMessage,
  notDeletedNotice,
  READ_NOW,
  removalCure,
  secondObjectNotice,
  UNLESS_MOVED,
  unclaimedMessage,
  undeclaredMessage,
} from "./messages.js";
import type { Runtime } from "./runtime.js";

/** The longest wait for the record at the end of a run. The engine kills the process after 5 s. */
const MAX_WAIT_MS = 4000;

/**
 * Waits for the record before the last resource is done: after that, Pulumi takes out of the state what is to be named,
 * and forgets what an interrupted update of a set has sent.
 * @throws BlockedCreateError if this run leaves out what an interrupted one may have sent, or the program hasn't declared
 * it. A program that goes on after an `await` may still declare it; but only its end would tell, and Pulumi saves before
 * that.
 */
export async function awaitRecord(runtime: Runtime) {
  const { deployment, record, command, provider } = runtime;
  // With --target nobody knows which resource is the last.
  const partial = isPartial(command) ? command : undefined;
  if (!partial && !deployment.isWhole) return;
  const { all } = await record.open();
  const atRisk = all.filter((each) => record.willForget(each) && !record.hasSeen(each));
  if (partial) return assertNoneLeftOut(runtime, partial, atRisk);
  assertAccountOfState(runtime);
  assertAliases(runtime);
  const forgotten = all.filter((each) => {
    if (each.provider !== provider || isMade(each)) return false;
    // An unresolved resource would leave the state.
    if (each.isInState) return !deployment.hasLister(each);
    return atRisk.includes(each) && !deployment.isInProgram(each.key);
  });
  if (forgotten.length === 0) return;
  for (const { mark } of forgotten) deployment.named.add(mark);
  const objects = forgotten.map((each) => {
    return { ref: parseKey(each.key), record: asUnresolved(each) };
  });
  throw new BlockedCreateError(undeclaredMessage(objects));
}

/**
 * @param atRisk the open creates that Pulumi's next save drops from its record.
 * @throws BlockedCreateError if a run with targets leaves out what an interrupted update or delete is about.
 */
function assertNoneLeftOut(
  { deployment, record, settings }: Runtime,
  partial: EngineRun,
  atRisk: readonly OpenCreate[],
) {
  const { arrived } = record;
  const isLeftOut = (urn = "") => !isInRun(urn, partial);
  const creates = atRisk.filter(({ mark }) => isLeftOut(arrived?.listed(mark)?.urn));
  for (const { mark } of creates) deployment.named.add(mark);
  const refs = creates.map(({ key }) => parseKey(key));
  // Nearly always there are none, and each check comes here.
  const { objects = [], interrupted } = arrived ?? {};
  for (const { kind, ref, id = "", resource } of interrupted?.size ? objects : []) {
    const { sent } = interrupted?.get(objectKey(kind.name, id)) ?? {};
    const isKnown = sent && knownOperations(kind, settings)[sent];
    if (isKnown && isLeftOut(resource.urn)) refs.push(ref);
  }
  if (refs.length > 0) throw new BlockedCreateError(leftOutMessage(refs));
}

/** @throws ArgumentsError if an alias is in vain, since the state has both resources, and one of them would leave it. */
function assertAliases({ deployment, record }: Runtime) {
  const wrong = deployment.unchangedNames.flatMap(([key, { formerKeys = [], values }]) => {
    const ref = record.arrived?.byKey.get(key)?.ref;
    if (!ref || adoptedBy(values) !== undefined) return [];
    return formerKeys.flatMap((each) => {
      const { id, ref: former } = record.arrived?.byKey.get(each) ?? {};
      if (id === undefined || !former || deployment.isInProgram(each)) return [];
      return formerNameMessage(ref, former.shownName, id);
    });
  });
  if (wrong.length > 0) throw new ArgumentsError(wrong.join("\n"));
}

export async function tellEnd(runtime: Runtime) {
  const { record, command, messages } = runtime;
  if (!record.hasBegun) return;
  const late = sleep(MAX_WAIT_MS, undefined, { ref: false });
  const saved = await Promise.race([record.state(), late]);
  const isProgram = isOfProgram(command);
  // A plugin has been passed nothing if all of its resources have left the program.
  for (const { type, urn } of isProgram && saved ? allResources(saved) : []) {
    const of = resourceOfType(type);
    if (!of) continue;
    runtime.begin(refOfUrn(of.name, urn));
    break;
  }
  // Also in a refresh and a destroy: they close the journals, which this reads.
  const open = await Promise.race([record.open(), late]);
  if (!isProgram) return;
  if (!open && !saved) messages.say(LATE_RECORD);
  if (!open || !saved) return;
  // Without the command line, what a program doesn't declare may not be meant.
  if (command) await tellLeaving(runtime, command, saved, late);
  await tellUnclaimed(runtime, open, saved);
}

/** Names the objects whose resources leave the state because the program doesn't declare them. */
async function tellLeaving(
  runtime: Runtime,
  command: EngineRun,
  saved: SavedState,
  late: Promise<undefined>,
) {
  const { deployment, messages, record } = runtime;
  /** Another provider has a process of its own. */
  const isInOwnRun = (resource: Resource) =>
    providerIn(resource) === runtime.provider && isInRun(resource.urn, command);
  const checked = saved.all.filter(({ ref, resource }) => {
    return isInOwnRun(resource) && deployment.isInProgram(ref.key);
  });
  tellKept(runtime, checked);
  // After a failure Pulumi removes nothing; and a resource that wasn't checked may still be declared.
  const isComplete = deployment.isWhole || runtime.provider !== undefined;
  if (deployment.hasFailed || command.hasDependents) return;
  if (!isComplete && !isPartial(command)) return;
  const leaving = saved.resources.filter((resource) => {
    const of = resourceOfType(resource.type);
    // Without this option the engine calls `delete`, which says what it does.
    const isCalled = !keepingOption(resource);
    if (!of || !isInOwnRun(resource) || resource.protect) return false;
    // It doesn't for what the program reads under the same name.
    const isRead = deployment.onlyRead.has(kindOf(of), resource.id ?? "");
    if (isCalled && deployment.isUp && !isRead) return false;
    const isDeclared = deployment.isInProgram(keyOfUrn(of.name, resource.urn));
    // An earlier run has not come to its end, of which Pulumi's JSON doesn't show a step.
    if (resource.delete) return !("member" in of && isDeclared);
    return !isDeclared;
  });
  let now: SavedState | undefined;
  // A plugin that nothing has called doesn't know whether this is an `up` or its preview.
  const mayBeUp = deployment.isUp !== false && command.command === "up";
  if (mayBeUp && leaving.length > 0) now = await Promise.race([record.stateNow(), late]);
  const isFormer = deployment.mayBeFormer && deployment.hasRead && !deployment.hasChecked;
  const isGone = (resource: Resource) =>
    now?.withId(resource.id ?? "").every(({ urn }) => urn !== resource.urn);
  const known = isFormer ? leaving.filter(isGone) : leaving;
  if (known.length < leaving.length) messages.say(FORMER_SETTINGS);
  const objects = objectsIn(known);
  for (const each of objects) {
    const { kind, ref, id, resource } = each;
    if (id === undefined || deployment.deleted.has(kind, id)) continue;
    if (deployment.staying.has(kind, id)) continue;
    const fates = new ObjectFates(kind, runtime);
    // Another provider may have adopted it, in this run too, or the resource has another provider now.
    const [elsewhere] = fates.othersIn(now ?? saved, { id, ref });
    // Pulumi shows a delete. In the `up`, the delete itself says why it isn't one.
    const isShown =
      asksToDelete(resource.outputs) && !keepingOption(resource) && !deployment.isUp;
    // A catalog's alias, for example, gives the same resource another name.
    const holder = deployment.isAdopted(kind, id)
      ? deployment.holderOf(kind, id)
      : elsewhere?.ref.key;
    if (isShown && holder !== undefined)
      messages.tellEach(notDeletedNotice(`${ref.label} (${id})`, alsoBelongsTo([holder])));
    // In a preview, that one may leave too.
    const isHeld = elsewhere !== undefined && (isShown || deployment.isUp);
    if (isHeld || deployment.isClaimedOrAdopted(kind, id)) continue;
    // The backend may save late.
    const hasLeft = now?.holdersOf(kind.name, id).length === 0;
    const fate = fates.fateOf({ id, ref }, resource.outputs);
    let what = hasLeft ? undefined : UNLESS_MOVED;
    if (deployment.onlyRead.has(kind, id)) what = READ_NOW;
    const isBegun = saved.interrupted.get(objectKey(kind.name, id))?.sent === "delete";
    if (isBegun && fate.isDeleted) {
      const cure = removalCure(ref, false, knownOperations(kind, runtime.settings).read);
      messages.tellEach(interruptedNotice(ref, id, "delete", cure));
    }
    if (!resource.delete) messages.tellEach(leavingNotice(each, fate, what), "info");
    else if (fate.isDeleted) messages.tellEach(leavingNotice(each, fate, REPLACED_BEFORE));
    else if (fate.why !== LEFT_OUT && saved.holdersOf(kind.name, id).length === 0)
      messages.tellEach(leavingNotice(each, fate, KEPT_BEFORE));
  }
  tellKept(runtime, objects);
  for (const resource of known) {
    const { type, urn, outputs = {} } = resource;
    const of = resourceOfType(type);
    if (!of) continue;
    const ref = refIn(of, urn, undefined);
    if (saved.hiding.includes(resource)) messages.tellEach(hiddenIdsNotice(ref));
    new ObjectFates(kindOf(of), runtime).tellFormerlyLeft(ref, leftLiveIn(outputs));
  }
}

const SET_REPLACED = "its set is replaced, which deletes nothing";

/** Names the objects of which only the end of a run shows that they stay live. */
function tellKept(runtime: Runtime, objects: readonly ExportedObject[]) {
  const { deployment, record, messages } = runtime;
  for (const { kind, ref, id = "", resource } of objects) {
    const { key, label, member } = ref;
    if (id === "" || deployment.deleted.has(kind, id)) continue;
    const holder = deployment.holderOf(kind, id);
    if (holder !== undefined) {
      const isOther = deployment.checked(holder) !== deployment.checked(key);
      const isReplaced = isOther && deployment.isInProgram(key) && member === undefined;
      // Pulumi shows a delete, and its plan was made before the check of an adopter that is declared later.
      const isShown = !deployment.isUp && !keepingOption(resource);
      if (isReplaced && isShown && !deployment.hasFailed)
        messages.tellEach(notDeletedNotice(`${label} (${id})`, alsoBelongsTo([holder])));
      continue;
    }
    let why = new ObjectFates(kind, runtime).whyKept({ id, ref }, resource.outputs);
    if (deployment.isInProgram(key) && !record.hasSeen({ key, id, mark: "" })) {
      // The engine calls no `diff` for a set that its own options replace, and whose create takes over what it declares.
      const isLeft = resource.delete || !deployment.isDeclared(key);
      const isSure = !deployment.hasFailed || deployment.staying.has(kind, id);
      if (member === undefined || !isLeft || !isSure) continue;
      why = SET_REPLACED;
    }
    // Otherwise it was named with the reason.
    const isOpen = resource.delete || deployment.isClaimedOrAdopted(kind, id);
    if (why === SET_REPLACED || (why === LEFT_OUT && isOpen))
      messages.tellEach(notDeletedNotice(`${label} (${id})`, withFate(kind, id, why)));
  }
}

/** Warns about open creates that nothing has declared, and keeps those that Pulumi's next save drops. */
async function tellUnclaimed(runtime: Runtime, open: OpenCreates, saved: SavedState) {
  const { deployment, record, journal, messages, command, provider } = runtime;
  /** Whether the state keeps an unresolved create of its own: its resource was checked, or isn't this run's. */
  const isKept = (key: string) => {
    const { urn } = saved.byKey.get(key)?.resource ?? {};
    const isMeant = urn !== undefined && (!command || isInRun(urn, command));
    return !isMeant || deployment.isChecked(resourceKeyIn(key));
  };
  const kindAt = (key: string) => kindsByName[parseKey(key).kind];
  /** Whether the program is as it was before an interrupted replacement. */
  const isUndone = ({ key, replaces = "" }: OpenCreate) =>
    deployment.holderOf(kindAt(key), replaces) === key;
  const isKnown = ({ key, id = "" }: OpenCreate) =>
    deployment.isClaimedOrAdopted(kindAt(key), id);
  const unclaimed = open.all.filter((create) => {
    const { key, isInState } = create;
    // Another provider has a process of its own.
    if (create.provider !== provider) return false;
    if (isInState && isKept(key)) return false;
    if (record.hasSeen(create)) return false;
    if (!deployment.hasFailed && isUndone(create)) return true;
    if (deployment.isDeclared(key)) return !deployment.reached.has(key);
    return !isKnown(create);
  });
  const atRisk = unclaimed.filter(({ isOfUpdate }) => isOfUpdate);
  // A plugin whose first check fails doesn't know an `up`.
  const mayBeUp = deployment.isUp !== false && command?.command !== "preview";
  // A provider whose stack isn't known has no journal, and nothing at risk.
  if (atRisk.length > 0 && mayBeUp) await journal().keep(atRisk);
  const isSecond = (create: OpenCreate) => create.id !== undefined && isUndone(create);
  const others = unclaimed.filter((create) => {
    return !isSecond(create) && !deployment.named.has(create.mark);
  });
  if (others.length > 0) messages.say(unclaimedMessage(others));
  for (const create of [...record.superseded, ...unclaimed.filter(isSecond)]) {
    const { key, id, isDoubtful } = create;
    if (id !== undefined && !isKnown(create))
      messages.tellEach(secondObjectNotice(parseKey(key), kindAt(key), id, isDoubtful));
  }
}
