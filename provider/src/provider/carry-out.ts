/**
 * Carries out what was decided: all creates, updates and adoptions (deletes are in `operations.ts`), many at once, each with its own outcome. A
 * single resource is a list of one.
 */
import {
  type AdvertisingError,
  ArgumentsError,
  NotSentError,
  OutcomeUnknownError,
  RefusedError,
  type Values,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { type LeftLive, memberOf, type Ref } from "../state/index.js";
import { createOnce } from "./create.js";
import { adopt, updateLive } from "./operations.js";
import { asOurs, type Managed, type Outcome } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { markFor, replacedBy } from "./search.js";

/** @param inputs of its resource. @param left what the resource has left live. */
export function managedOf(
  runtime: Runtime,
  subject: Ref,
  member: Pick<Managed, "action" | "id" | "olds" | "values" | "unresolved">,
  inputs: Values,
  left: readonly LeftLive[],
  known: Pick<Managed, "secret" | "created">,
): Managed {
  const replaces = replacedBy(runtime, subject, member.id);
  const formerIds = [...left.map(({ id }) => id), ...(replaces === undefined ? [] : [replaces])];
  const mark = markFor(runtime, subject, replaces, inputs);
  return { ...member, ...known, subject, replaces, formerIds, mark };
}

/** @param expectMayBegin throws once nothing more may be sent. */
async function done(kind: Kind, runtime: Runtime, object: Managed, expectMayBegin: () => void): Promise<Outcome> {
  const { action, values, id = "", olds, created, subject } = object;
  switch (action.do) {
    case "create":
    case "replace":
    case "look for":
      return runtime.track(() => createOnce(kind, runtime, object, expectMayBegin));
    case "update": {
      const { existingId: _, ...news } = values;
      await updateLive(kind, runtime, { id, label: subject.label, created }, olds, news, action.changed);
      return { kind: "managed", id };
    }
    case "adopt":
      return adopt(kind, runtime, object, action.id ?? "");
    case "record":
      return adopt(kind, runtime, object, id);
    case "wait":
      return { kind: "unresolved", record: action.record, why: action.why };
    default:
      throw new Error(`nothing to carry out for ${action.do}`);
  }
}

/** A person has to look for each unknown outcome: from so many on, and more than successful creates, no further create begins. */
const MAX_UNRESOLVED = 16;

/** Failures that say nothing about other members. An adoption that names a wrong object is an error in the arguments. */
const ABOUT_ITSELF = [RefusedError, OutcomeUnknownError, ArgumentsError];

/** Whether an object gets an outcome here. (A set deletes last: `set.ts`.) */
export function hasWork({ action }: Pick<Managed, "action">): boolean {
  return !["keep", "let go", "delete"].includes(action.do);
}

/** @param objects those with work to do. @param whyNotNew why nothing new is created. @returns the outcome of each, by key. */
export async function carryOutAll(
  kind: Kind,
  runtime: Runtime,
  objects: readonly Managed[],
  isDone?: () => void,
  whyNotNew?: AdvertisingError,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const tally = { created: 0, unresolved: 0 };
  let trouble: string | undefined;

  const note = ({ subject }: Managed, outcome: Outcome) => {
    const key = subject.member ?? ""; // empty for a single resource
    outcomes.set(key, outcome);
    isDone?.();
    if (outcome.kind === "created") tally.created++;
    // What an earlier run left unresolved says nothing about the platform's state now.
    if (outcome.kind === "unresolved" && runtime.run.unresolved.has(subject.key)) tally.unresolved++;
    if (tally.unresolved >= MAX_UNRESOLVED && tally.unresolved > tally.created) {
      trouble ??= `the outcomes of ${tally.unresolved} events before it are unknown`;
    }
    if (outcome.kind === "failed" && !ABOUT_ITSELF.some((each) => outcome.error instanceof each)) {
      trouble ??= `${memberOf("events", key)} failed`;
    }
  };

  const outcomeOf = async (object: Managed): Promise<Outcome> => {
    const { subject, action } = object;
    if (whyNotNew !== undefined && action.do === "create") return { kind: "failed", error: whyNotNew };
    try {
      return await done(kind, runtime, object, () => {
        runtime.expectEngine();
        if (trouble !== undefined) throw new NotSentError(`${subject.label} was not sent, because ${trouble}.`);
      });
    } catch (error) {
      return { kind: "failed", error: asOurs(error) };
    }
  };
  await Promise.all(objects.map(async (object) => note(object, await outcomeOf(object))));
  return outcomes;
}
