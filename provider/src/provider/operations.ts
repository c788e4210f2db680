/**
 * Reads, changes, deletes and adopts live objects, if the installation has an operation for that. Nothing is remembered of an update or a delete of
 * unknown outcome: the state keeps what it has, so that the next run sends it again. Here too is the one place that sends a delete ({@link
 * deleteUnlessKept}).
 */
import { isDeepStrictEqual } from "node:util";
import { ArgumentsError, asRecord, RefusedError, type Values, withoutUndefined } from "../base/index.js";
import type { WireRecord } from "../client/index.js";
import { abilitiesOf, hasValue, visibleFromMs, whyNotSettled } from "../decision/index.js";
import {
  adoptedTwice,
  bodyOf,
  type Differences,
  differencesIn,
  type Kind,
  type OptionalOperation,
  withDifferences,
} from "../kinds/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { aboutWhom, isOfKnownAccount, staysLive, type Unresolved, whatHappened } from "../state/index.js";
import type { Managed, Outcome } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { notDeleted, tellWarnings, tooEarly } from "./tell.js";

export interface Target {
  readonly id: string;
  readonly label: string;
  /** When it was created at the latest, as the state has it: ISO 8601, if that is known. */
  readonly created?: unknown;
}

/** When an object was created at the latest, for the state. Where only creates are known nothing could be asked too early: then none. */
export function momentToKeep({ reading, now }: Runtime): string | undefined {
  return reading.settings.operations === undefined ? undefined : now();
}

/** Until when the absence of an object proves nothing, because it is so new; none if it proves that it is gone. ISO 8601. */
export function unprovenUntil({ reading, clock }: Runtime, created: unknown): string | undefined {
  const fromMs = visibleFromMs(Date.parse(String(created)), reading.settings);
  return clock.wallMs() < fromMs ? new Date(fromMs).toISOString() : undefined;
}

/** @throws RefusedError if the object is so new that its absence proves nothing. */
function expectProven(runtime: Runtime, { id, label, created }: Target): void {
  const until = unprovenUntil(runtime, created);
  if (until !== undefined) throw new RefusedError(tooEarly(label, id, until));
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

/** Sets changed arguments of a live object. @throws AdvertisingError after which it may be sent again; RefusedError if it is gone. */
export async function updateLive(
  kind: Kind,
  runtime: Runtime,
  target: Target,
  olds: Values,
  news: Values,
  changed: readonly string[],
): Promise<void> {
  const { id, label } = target;
  const fields = changedFields(kind, olds, news, changed);
  if (Object.keys(fields).length === 0) return;
  const request = requestOf(kind, runtime, "update", target);
  const warnings = await runtime.track(() => runtime.client().update(request, fields));
  if (warnings === undefined) {
    expectProven(runtime, target);
    const next =
      "`pulumi refresh`, with a known read, takes what is gone out of the state; `pulumi up --replace` creates another one.";
    throw new RefusedError(`${label} was not changed: the platform does not find ${id}. ${next}`);
  }
  tellWarnings(runtime, label, warnings);
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
 * Adopts an object without a create. With a known update, arguments that differ are set; otherwise they must not differ. What was open of this
 * resource is settled, in the memory too.
 * @throws AdvertisingError if it does not exist, differs, or could not be read. Nothing has changed, except perhaps by an update.
 */
export async function adopt(kind: Kind, runtime: Runtime, object: Managed, id: string): Promise<Outcome> {
  const { subject, values, unresolved } = object;
  const { label, key, identity } = subject;
  const { read } = abilitiesOf(kind, runtime.reading.settings);
  const differences: Differences = read ? await lookAt(kind, runtime, object, id) : new Map();
  const theirs = withDifferences({ ...values }, differences);
  const other = runtime.run.claim(kind, id, key);
  if (other !== undefined) throw new ArgumentsError(`${label}: existingId ${adoptedTwice(id, aboutWhom(other).label)}`);
  const memory = runtime.memory(identity);
  const noted = memory.of(key);
  const sent = noted?.state === "sent" ? { ...noted, what: whatHappened(label, noted.at, undefined) } : undefined;
  for (const record of [unresolved, sent]) {
    const why = record && whyNotSettled(kind, id, theirs, record);
    if (record !== undefined && why !== undefined) return { kind: "unresolved", record: recordOf(record), why };
  }
  if (differences.size > 0) await updateLive(kind, runtime, { id, label }, theirs, values, [...differences.keys()]);
  if (noted !== undefined && noted.id !== undefined && noted.id !== id && noted.state !== "live")
    runtime.say(
      `${label}: an earlier run created ${noted.id} too, which nothing manages. ${staysLive(kind, noted.id)}.`,
    );
  await memory.adopted(key, id, runtime.isSameAccount).catch((error: Error) => runtime.say(error.message)); // the next `diff` says it again
  return { kind: "managed", id };
}

/** As the state keeps it. */
export function recordOf({ at, mark, body, field, name, facts, replaces, what, searched }: Unresolved): Unresolved {
  return withoutUndefined({ at, mark, body, field, name, facts, replaces, what, searched });
}

/** @throws ArgumentsError if the object does not exist, or differs in an argument that can't be updated. @returns the platform's values. */
async function lookAt(
  kind: Kind,
  runtime: Runtime,
  { subject: { label }, values, secret }: Managed,
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
 * @param properties what the state has of its resource.
 * @returns whether it is gone from the platform. @throws AdvertisingError if it was not deleted, or that is not known: it may be sent again.
 */
export async function deleteUnlessKept(
  kind: Kind,
  runtime: Runtime,
  target: Target,
  properties: Values,
): Promise<boolean> {
  const { id, label } = target;
  const { run, reading } = runtime;
  if (run.isKept(kind, id)) return false; // something else manages it
  const why = !abilitiesOf(kind, reading.settings).delete
    ? "the platform has no known way to delete"
    : !isOfKnownAccount(properties)
      ? "the state does not say which account it belongs to"
      : run.isStaying(kind, id)
        ? "retainOnDelete: false was not given to the resource itself"
        : run.mayBeKept(kind, id) || runtime.isShared(kind, id)
          ? "another resource has it, or may adopt it"
          : undefined;
  if (why !== undefined) {
    runtime.say(notDeleted(kind, label, id, why));
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
