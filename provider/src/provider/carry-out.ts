/**
 * Carries out what was decided: one switch has all actions that send something or adopt, and many objects run at once, within the client's
 * limits, each with its own outcome. A single resource is a list of one.
 */

import {
  AdvertisingError,
  ArgumentsError,
  InternalError,
  NotSentError,
  OutcomeUnknownError,
  RefusedError,
  type Values,
} from "../base/index.js";
import { type Action, abilitiesOf, type Created, type ToDelete } from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { type CreateRecord, memberLabel, memberOf } from "../state/index.js";
import { expectNotUnresolvedElsewhere } from "./before.js";
import { createOnce } from "./create.js";
import type { Progress } from "./engine.js";
import { noteLive } from "./holding.js";
import type { WithArguments } from "./inputs.js";
import { adoptExisting, deleteObject, updateLive } from "./known-operations.js";
import { type Deletions, describeDefect, idAfter, type Outcome } from "./outcome.js";
import type { Runtime } from "./services.js";
import { goneInUpdate } from "./tell.js";

/** One object of a run: a single resource, or a member of a set. */
export interface Managed extends WithArguments {
  /** In its set; empty for a single resource. */
  readonly key: string;
  readonly action: Action;
  readonly held: string | undefined;
  /** Its former objects, from the state. */
  readonly formerIds?: readonly string[] | undefined;
  readonly olds: Values;
  readonly created?: Created | undefined;
  /** The mark that it is sent with; a new one by default. */
  readonly mark?: string | undefined;
  readonly unresolved?: CreateRecord | undefined;
  /** Journal keys of resources that it may have been before. */
  readonly formerly?: readonly string[] | undefined;
}

/** A failure in the form of an outcome. An unexpected one must not prevent the report of the others' outcomes. */
function asOurs(error: unknown): AdvertisingError {
  return error instanceof AdvertisingError ? error : new InternalError(describeDefect(error));
}

/** @param expectMayBegin throws once nothing more may be sent. */
async function done(kind: Kind, runtime: Runtime, object: Managed, expectMayBegin: () => void): Promise<Outcome> {
  const { action, values, held, olds, unresolved, created, formerly = [] } = object;
  const { label } = object.subject;
  switch (action.do) {
    case "create":
    case "replace":
    case "look for": {
      const unsettled = action.do === "look for" ? action.record : undefined;
      return runtime.track((expectEngineThere) =>
        createOnce(kind, runtime, { ...object, replaces: held, unsettled, formerly }, () => {
          expectEngineThere();
          expectMayBegin();
        }),
      );
    }
    case "update": {
      const id = held ?? "";
      const { existingId, ...news } = values;
      const isThere = await updateLive(kind, runtime, { id, label, created }, olds, news, action.changed);
      if (!isThere) {
        const { read } = abilitiesOf(kind, runtime.reading.settings);
        throw new RefusedError(goneInUpdate(object.subject, id, existingId !== undefined, read));
      }
      return { kind: "updated", id };
    }
    case "adopt":
      return adoptExisting(kind, runtime, { ...object, id: action.id ?? "", settles: unresolved, formerly });
    default:
      throw new Error(`nothing to carry out for ${action.do}`);
  }
}

/**
 * A person has to look in the account for each unknown outcome. From so many on, if they are more than the successful creates, the platform
 * is in trouble, and no further create begins.
 */
const MAX_UNRESOLVED = 16;

/** Failures that say nothing about other members. An adoption that names a wrong object is an error in the arguments. */
const ABOUT_ITSELF = [RefusedError, OutcomeUnknownError, ArgumentsError];

/** Whether there is something to carry out for an object. (What is deleted comes last: {@link deleteAll}.) */
export function hasWork({ action }: Pick<Managed, "action">): boolean {
  return ["create", "replace", "adopt", "update", "look for"].includes(action.do);
}

/**
 * @param objects those with work to do. @param open the unresolved creates that the state has, by key: their bodies are not sent
 *   under another key.
 * @returns the outcome of each, by key.
 */
export async function carryOutAll(
  kind: Kind,
  runtime: Runtime,
  objects: readonly Managed[],
  open: ReadonlyMap<string, CreateRecord> = new Map(),
  progress?: Progress,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const openBodies = new Map([...open].map(([key, { fingerprint }]) => [fingerprint, key]));
  const tally = { created: 0, unresolved: 0 };
  /** Keys that this run began: creates that an earlier run left unresolved say nothing about the platform's state now. */
  const begun = new Set<string>();
  let trouble: string | undefined;

  const note = (key: string, outcome: Outcome) => {
    outcomes.set(key, outcome);
    progress?.done();
    if (outcome.kind === "created") tally.created++;
    if (outcome.kind === "unresolved" && begun.has(key)) tally.unresolved++;
    if (tally.unresolved >= MAX_UNRESOLVED && tally.unresolved > tally.created) {
      trouble ??= `the outcomes of ${tally.unresolved} events before it are unknown`;
    }
    if (outcome.kind === "failed" && !ABOUT_ITSELF.some((each) => outcome.error instanceof each)) {
      trouble ??= `${memberOf("events", key)} failed`;
    }
  };

  /** @throws OutcomeUnknownError if a create of unknown outcome has this body under another key. */
  const expectNotOpen = async ({ key, subject, action, values, unresolved }: Managed) => {
    if (key === "" || action.do === "update" || action.do === "adopt") return; // a single resource's `check` has asked
    const fingerprint = fingerprintOfBody(kind, values);
    const other = openBodies.get(fingerprint);
    // A member with its own create of this body is not another one under a new name.
    if (other !== undefined && other !== key && unresolved?.fingerprint !== fingerprint) {
      throw new OutcomeUnknownError(
        `${subject.label} is not sent: ${memberOf("events", other)} was sent with the same arguments, and its outcome is unknown. ` +
          "Settle that first.",
        "",
      );
    }
    await expectNotUnresolvedElsewhere(runtime, subject, fingerprint, unresolved);
  };

  const outcomeOf = async (object: Managed): Promise<Outcome> => {
    const { key, subject } = object;
    try {
      await expectNotOpen(object);
      const outcome = await done(kind, runtime, object, () => {
        if (trouble !== undefined) throw new NotSentError(`${subject.label} was not sent, because ${trouble}.`);
        begun.add(key);
      });
      const id = idAfter(outcome);
      const createdAt = outcome.kind === "created" ? runtime.now() : undefined;
      if (id !== undefined) noteLive(kind, runtime, subject, id, object, createdAt);
      return outcome;
    } catch (error) {
      return { kind: "failed", error: asOurs(error) };
    }
  };
  await Promise.all(objects.map(async (object) => note(object.key, await outcomeOf(object))));
  return outcomes;
}

/**
 * Deletes the objects of a set, last of all. A refused delete does not stop the others; after any other failure no further one begins.
 * @param set its label, and when it created the last of them.
 * @param isStillToGo false if another resource has taken an object meanwhile, which is then not deleted.
 */
export async function deleteAll(
  kind: Kind,
  runtime: Runtime,
  { label, created }: { readonly label: string; readonly created: Created | undefined },
  wanted: readonly ToDelete[],
  progress: Progress,
  isStillToGo: (id: string, key: string) => boolean = () => true,
): Promise<Deletions> {
  const deleted = new Set<string>();
  const failed = new Map<string, AdvertisingError>();
  let isTrouble = false;
  const deleteOne = async ({ id, key }: ToDelete) => {
    if (!isStillToGo(id, key)) return;
    try {
      await deleteObject(kind, runtime, { id, label: `${memberLabel(label, key)} (${id})`, created });
      deleted.add(id);
    } catch (error) {
      const failure = asOurs(error);
      isTrouble ||= !(failure instanceof RefusedError);
      failed.set(id, failure);
    }
    progress.done();
  };
  const next = wanted.values();
  const worker = async () => {
    for (const each of next) {
      if (isTrouble) return;
      await deleteOne(each);
    }
  };
  await Promise.all(Array.from({ length: runtime.reading.settings.maxConcurrentRequests }, worker));
  return { wanted, deleted, failed };
}
