/** Shows in a preview what the `up` would do, by the same decisions. */
import { ArgumentsError, BlockedCreateError, joined } from "../base/index.js";
import { ownerIn } from "../kinds/index.js";
import {
  adoptedBy,
  holdsUnknown,
  OpenCreates,
  type PlannedObject,
  shownAction,
} from "../plan/index.js";
import { howToKeep, MAY_BE_ADOPTED, objectKey, type ResourceRef } from "../state/index.js";
import { assertAccountOfOpen, differsFromSent, planOfCreate } from "./decide-create.js";
import {
  adoptedTooLateMessage,
  type MadeObject,
  madeOtherwiseMessage,
  namesakesMessage,
  planMessage,
  possibleNamesakeNotice,
  replacedNotice,
  takeOverNotice,
  unresolvedMessage,
} from "./messages.js";
import type { Namesake } from "./outcome.js";
import {
  blockedIn,
  noteReached,
  type Plan,
  planObjects,
  withOpenCreates,
  withReplaced,
} from "./plan-resource.js";
import type { Change, Notice, Runtime } from "./runtime.js";

/**
 * Shows a preview's messages, for a front end (the plugin) that learns only in `create` and `update` that it is in a
 * preview. @param change without an id and old state for a create. @throws AdvertisingError the error of the `up`.
 */
export async function previewResource(runtime: Runtime, ref: ResourceRef, change: Change) {
  const plan = await withOpenCreates(planObjects(runtime, ref, change));
  noteDeletes(plan);
  await tellPreview(plan);
}

/**
 * Notes what a set deletes before later resources can adopt it. The plugin may come to that before it hears of an adopter,
 * whatever their order is in this preview. @throws ArgumentsError if there is one
 */
export function noteDeletes({ runtime, resource, kind, ref, objects }: Plan) {
  if (resource === kind) return;
  const { deployment, provider, record } = runtime;
  for (const object of objects) {
    const { id = "", isDeleted, why } = object.leaving ?? {};
    if (isDeleted && shownAction(object) !== "perhaps replace")
      deployment.toDelete.set(objectKey(kind.name, id), ref.key);
    if (provider === undefined || why !== MAY_BE_ADOPTED) continue;
    if (object.action.do === "adopt") continue;
    const holders = record.arrived?.holdersOf(kind.name, id) ?? [];
    if (holders.every(({ resource: { urn } }) => urn === ref.resourceUrn))
      throw new ArgumentsError(adoptedTooLateMessage(ref.label, id, ref.label));
  }
}

/**
 * Shows what an `up` would create, and all that it would do with a set. An `up` decides the same way right before it
 * sends. @param mayChange whether the arguments may still change. @throws AdvertisingError the error of the `up`.
 */
export async function tellPreview(known: Plan, mayChange = false) {
  const plan = await withReplaced(known);
  // Objects that leave now are named before those of earlier runs.
  tellReplaced(plan);
  await tellCreates(plan, mayChange);
  const { runtime, operations, objects } = plan;
  for (const object of objects) {
    const { action, keys } = object;
    if (action.do !== "adopt" || action.id === undefined) continue;
    await operations.assertNotLeftOut(object, action.id);
    await runtime.record.noteAdopted(keys, action.id);
  }
}

/** Shows the object that a single resource's create replaces. */
function tellReplaced({ runtime, kind, ref, checked, objects, fates }: Plan) {
  const leaving = objects.find(({ id }) => id === undefined)?.leaving;
  if (!leaving) return;
  if (fates.isHeld({ id: leaving.id, ref })) return;
  const { action } = checked.planned?.object ?? {};
  const isPerhaps = action?.do === "replace" && action.perhaps;
  let then = "is replaced";
  // Somebody asks the engine (`--replace`), or it has read the state before the package did.
  const isForced = !checked.planned && !leaving.isRead;
  if (isForced)
    then += ` (unless a run that is still in progress has just created ${leaving.id})`;
  if (isPerhaps) then += " if a value that isn't known yet has changed";
  const notice = replacedNotice(kind, ref, leaving, then);
  const adopts = action?.do === "adopt";
  const cure = isForced ? undefined : howToKeep(leaving.id, isPerhaps, adopts);
  const sort = isPerhaps ? `perhaps ${notice.sort}` : notice.sort;
  runtime.messages.tellEach({ ...notice, sort, text: joined("\n", notice.text, cure) });
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
        // A set's plan lists them.
        if (plan.resource === kind) notices.push(takeOverNotice(ref, decided.record));
        break;
      case "blocked":
        blocked.push({ ...decided, ref: record.listedRef(decided.record, ref) });
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
  for (const each of notices) runtime.messages.tellEach(each);
  if (errors.length > 0) throw new BlockedCreateError(errors.join("\n"));
}

/** Shows what an `up` would do with a set. @param objects without those that are taken over. */
function tellSet(plan: Plan, objects: readonly PlannedObject[]) {
  const { runtime, resource, kind, ref, fates } = plan;
  if (resource === kind) return;
  // As for a single resource that is replaced.
  const isReplaced = objects.some(({ action }) => action.do === "replace");
  const severity = isReplaced ? "warn" : "info";
  const message = planMessage(plan, objects, (id) => fates.isHeld({ id }));
  runtime.messages.tellAt(severity, ref.resourceUrn, message);
}
