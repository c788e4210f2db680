/**
 * Carries out what was decided for many objects (or one), each with its own outcome; creates are elsewhere. Updates and
 * deletes of unknown outcome are not noted: the state keeps what it has, so the next run sends them again.
 */
import { isDeepStrictEqual } from "node:util";
import {
  ArgumentsError,
  asRecord,
  NotSentError,
  OutcomeUnknownError,
  RefusedError,
  type Values,
} from "../base/index.js";
import type { WireRecord } from "../client/index.js";
import {
  adoptedTwice,
  bodyOf,
  type Differences,
  differencesIn,
  type Kind,
  type OptionalOperation,
  withDifferences,
} from "../kinds/index.js";
import { abilitiesOf, hasValue, resolutionConflict, visibleFromMs } from "../plan/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import {
  isOfKnownAccount,
  type LeftLive,
  memberOf,
  parseKey,
  type ResourceRef,
  staysLive,
  whatHappened,
} from "../state/index.js";
import { createOnce } from "./create.js";
import { notDeletedMessage, tooEarlyMessage, warnOfPlatform } from "./messages.js";
import { asOurs, type ObjectTask, type Outcome, recordOf } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { markFor, replacedBy } from "./search.js";

/** @param inputs of its resource. @param left what the resource has left live. */
export function taskOf(
  runtime: Runtime,
  ref: ResourceRef,
  member: Pick<ObjectTask, "action" | "id" | "olds" | "values" | "unresolved">,
  inputs: Values,
  left: readonly LeftLive[],
  known: Pick<ObjectTask, "secret" | "created">,
): ObjectTask {
  const replaces = replacedBy(runtime, ref, member.id);
  const formerIds = [...left.map(({ id }) => id), ...(replaces === undefined ? [] : [replaces])];
  const mark = markFor(runtime, ref, replaces, inputs);
  return { ...member, ...known, ref, replaces, formerIds, mark };
}

/** @param expectMayBegin throws once nothing more may be sent. */
async function execute(kind: Kind, runtime: Runtime, object: ObjectTask, expectMayBegin: () => void): Promise<Outcome> {
  const { action, values, id = "", olds, created, ref } = object;
  switch (action.do) {
    case "create":
    case "replace":
    case "recover":
      return runtime.track(() => createOnce(kind, runtime, object, expectMayBegin));
    case "update": {
      const { existingId: _, ...news } = values;
      await updateLive(kind, runtime, { id, label: ref.label, created }, olds, news, action.changed);
      return { kind: "managed", id };
    }
    case "adopt":
      return adopt(kind, runtime, object, action.id ?? "");
    case "update state only":
      return adopt(kind, runtime, object, id);
    case "blocked":
      return { kind: "unresolved", record: action.record, why: action.why };
    default:
      throw new Error(`nothing to carry out for ${action.do}`);
  }
}

/** A person must look for each unknown outcome: from so many on, if fewer were created, no further create begins. */
const MAX_UNRESOLVED = 16;

/** Failures that say nothing about other members. Adopting a wrong object is an error in the arguments. */
const ABOUT_ITSELF = [RefusedError, OutcomeUnknownError, ArgumentsError];

/** Whether an object gets an outcome. (A set deletes last.) */
export function hasWork({ action }: Pick<ObjectTask, "action">): boolean {
  return !["same", "retain", "delete"].includes(action.do);
}

/** @param objects with work to do. @returns each outcome, by key. */
export async function executeAll(
  kind: Kind,
  runtime: Runtime,
  objects: readonly ObjectTask[],
  isDone?: () => void,
): Promise<Map<string, Outcome>> {
  const outcomes = new Map<string, Outcome>();
  const tally = { created: 0, unresolved: 0 };
  let trouble: string | undefined;

  const note = ({ ref }: ObjectTask, outcome: Outcome) => {
    const key = ref.member ?? ""; // empty for a single resource
    outcomes.set(key, outcome);
    isDone?.();
    if (outcome.kind === "created") tally.created++;
    // What an earlier run left unresolved says nothing about the platform's state now.
    if (outcome.kind === "unresolved" && runtime.deployment.unresolved.has(ref.key)) tally.unresolved++;
    if (tally.unresolved >= MAX_UNRESOLVED && tally.unresolved > tally.created) {
      trouble ??= `the outcomes of ${tally.unresolved} events before it are unknown`;
    }
    if (outcome.kind === "failed" && !ABOUT_ITSELF.some((each) => outcome.error instanceof each)) {
      trouble ??= `${memberOf("events", key)} failed`;
    }
  };

  const outcomeOf = async (object: ObjectTask): Promise<Outcome> => {
    const { ref } = object;
    try {
      return await execute(kind, runtime, object, () => {
        runtime.expectEngine();
        if (trouble !== undefined) throw new NotSentError(`${ref.label} was not sent, because ${trouble}.`);
      });
    } catch (error) {
      return { kind: "failed", error: asOurs(error) };
    }
  };
  await Promise.all(objects.map(async (object) => note(object, await outcomeOf(object))));
  return outcomes;
}

export interface Target {
  readonly id: string;
  readonly label: string;
  /** When it was created at the latest, as the state has it: ISO 8601, if that is known. */
  readonly created?: unknown;
}

/** When an object was created at the latest, for the state. None if only creates are known: no call is too early. */
export function momentToKeep({ reading, now }: Runtime): string | undefined {
  return reading.settings.operations === undefined ? undefined : now();
}

/** Until when an object is too new for its absence to prove anything; none if it proves that it is gone. ISO 8601. */
export function unprovenUntil({ reading, clock }: Runtime, created: unknown): string | undefined {
  const fromMs = visibleFromMs(Date.parse(String(created)), reading.settings);
  return clock.wallMs() < fromMs ? new Date(fromMs).toISOString() : undefined;
}

/** @throws RefusedError if the object is so new that its absence proves nothing. */
function expectProven(runtime: Runtime, { id, label, created }: Target): void {
  const until = unprovenUntil(runtime, created);
  if (until !== undefined) throw new RefusedError(tooEarlyMessage(label, id, until));
}

/** For the client. Callers have checked with `abilitiesOf` that there is such an operation. */
function requestOf(kind: Kind, { reading }: Runtime, name: OptionalOperation, { id, label }: Target) {
  const operation = knownOperations(kind, reading.settings)[name];
  if (operation === undefined) throw new Error(`${name} without the operation`);
  return { kind, operation, id, label };
}

/** @returns none if it certainly does not exist. @throws AdvertisingError if nothing is known about it. */
export async function readLive(kind: Kind, runtime: Runtime, target: Target): Promise<WireRecord | undefined> {
  const request = requestOf(kind, runtime, "read", target);
  return runtime.track(() => runtime.client().read(request));
}

/** Sets changed arguments. @throws AdvertisingError: it may be sent again. */
async function updateLive(
  kind: Kind,
  runtime: Runtime,
  target: Target,
  olds: Values,
  news: Values,
  changed: readonly string[],
): Promise<void> {
  const fields = changedFields(kind, olds, news, changed);
  if (Object.keys(fields).length === 0) return;
  const request = requestOf(kind, runtime, "update", target);
  const warnings = await runtime.track(() => runtime.client().update(request, fields));
  warnOfPlatform(runtime, target.label, warnings);
}

/** Fields by wire names; `null` for an argument that no longer has a value, or a default. */
function changedFields(kind: Kind, olds: Values, news: Values, changed: readonly string[]): Record<string, unknown> {
  const given = Object.fromEntries(
    changed.filter((name) => name !== "additionalFields").map((name) => [name, news[name]]),
  );
  const fields = bodyOf(kind, given);
  for (const [property, field] of Object.entries(kind.wireNames)) {
    if (changed.includes(property) && !hasValue(news[property])) fields[field] = null;
  }
  if (!changed.includes("additionalFields")) return fields;
  const [before, after] = [asRecord(olds.additionalFields), asRecord(news.additionalFields)];
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (!isDeepStrictEqual(before[field], after[field])) fields[field] = after[field] ?? null;
  }
  return fields;
}

/**
 * Without a create. What differs is set if an update is known, else an error; what was open of its resource is resolved.
 * @throws AdvertisingError it is absent, differs, or could not be read. Nothing changed, except perhaps by an update.
 */
async function adopt(kind: Kind, runtime: Runtime, object: ObjectTask, id: string): Promise<Outcome> {
  const { ref, values, unresolved } = object;
  const { label, key, identity } = ref;
  const { read } = abilitiesOf(kind, runtime.reading.settings);
  const differences: Differences = read ? await lookAt(kind, runtime, object, id) : new Map();
  const theirs = withDifferences({ ...values }, differences);
  const other = runtime.deployment.claim(kind, id, key);
  if (other !== undefined) throw new ArgumentsError(`${label}: existingId ${adoptedTwice(id, parseKey(other).label)}`);
  const journal = runtime.journal(identity);
  const entry = journal.of(key);
  const sent = entry?.state === "sent" ? { ...entry, what: whatHappened(label, entry) } : undefined;
  for (const record of [unresolved, sent]) {
    const why = record && resolutionConflict(kind, id, theirs, record);
    if (record !== undefined && why !== undefined) return { kind: "unresolved", record: recordOf(record), why };
  }
  if (differences.size > 0) await updateLive(kind, runtime, { id, label }, theirs, values, [...differences.keys()]);
  if (entry !== undefined && entry.id !== undefined && entry.id !== id && entry.state !== "confirmed")
    runtime.say(
      `${label}: an earlier run created ${entry.id} too, which nothing manages. ${staysLive(kind, entry.id)}.`,
    );
  await journal.adopted(key, id).catch((error: Error) => runtime.say(error.message)); // the next `diff` says it again
  return { kind: "managed", id };
}

/** @throws ArgumentsError no such object, or it differs where no update is possible. @returns the platform's values. */
async function lookAt(
  kind: Kind,
  runtime: Runtime,
  { ref: { label }, values, secret }: ObjectTask,
  id: string,
): Promise<Differences> {
  const { settings } = runtime.reading;
  const record = await readLive(kind, runtime, { id, label });
  if (record === undefined) {
    throw new ArgumentsError(
      `${label}: existingId ${id}: there is no ${kind.create.noun} ${id} on the platform. Nothing was changed. Correct existingId, or leave it out. ` +
        `If ${id} was created a short time ago, run this again later.`,
    );
  }
  const differences = differencesIn(kind, settings, values, record);
  const { update } = abilitiesOf(kind, settings);
  const wrong = [...differences].filter(([property]) => !update || property in kind.refersTo);
  if (wrong.length === 0) return differences;
  const told = wrong.map(([property, theirs]) =>
    secret.has(property) ? property : `${property} is ${show(theirs)} there, and ${show(values[property])} here`,
  );
  throw new ArgumentsError(
    `${label}: existingId ${id} differs: ${told.join("; ")}. Nothing was changed. Declare what is there, or correct existingId.`,
  );
}

/**
 * The only place that sends a delete. In doubt the object stays live, and a message names its id.
 * @param properties what the state has of its resource. @returns whether it is gone from the platform.
 * @throws AdvertisingError if it was not deleted, or that is not known: it may be sent again.
 */
export async function deleteUnlessKept(
  kind: Kind,
  runtime: Runtime,
  target: Target,
  properties: Values,
): Promise<boolean> {
  const { id, label } = target;
  if (runtime.deployment.isKept(kind, id)) return false; // something else manages it
  const blocker = deleteBlocker(kind, runtime, id, properties);
  if (blocker !== undefined) {
    runtime.say(notDeletedMessage(kind, label, id, blocker));
    return false;
  }
  if (!runtime.deleted.has(kind.name, id)) {
    const request = requestOf(kind, runtime, "delete", target);
    const wasThere = await runtime.track(() => runtime.client().delete(request));
    if (!wasThere) expectProven(runtime, target);
  }
  runtime.deleted.add(kind.name, id);
  return true;
}

/** Why an object must not be deleted; undefined if it may be. A wrong `undefined` deletes what somebody else manages. */
function deleteBlocker(kind: Kind, runtime: Runtime, id: string, properties: Values): string | undefined {
  const { deployment, reading } = runtime;
  if (!abilitiesOf(kind, reading.settings).delete) return "the platform has no known way to delete";
  if (!isOfKnownAccount(properties)) return "the state does not say which account it belongs to";
  if (deployment.isStaying(kind, id))
    return "this run did not see retainOnDelete: false at the resource itself, before and now (`--replace` hides it)";
  if (deployment.mayBeKept(kind, id) || runtime.isShared(kind, id)) return "another resource has it, or may adopt it";
  return undefined;
}
