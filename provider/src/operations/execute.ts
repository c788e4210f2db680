/**
 * Carries out what was decided for many objects (or one), each with its own outcome; creates are elsewhere. A failed
 * update is marked in the state, so that the next run sends it again; for a delete the state keeps what it has.
 */
import { isDeepStrictEqual } from "node:util";
import {
  ArgumentsError,
  asRecord,
  BlockedCreateError,
  enumerate,
  NotSentError,
  OutcomeUnknownError,
  RefusedError,
  type Values,
} from "../base/index.js";
import {
  adoptedTwice,
  bodyOf,
  type Differences,
  differencesIn,
  type Kind,
  type KnownOperations,
  type OptionalOperation,
  withDifferences,
} from "../kinds/index.js";
import { resolutionConflict, visibleFromMs } from "../plan/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import {
  isOfKnownAccount,
  memberOf,
  parseKey,
  pendingCommandLine,
  type ResourceRef,
  staysLive,
} from "../state/index.js";
import { createOnce, openIn } from "./create.js";
import { tooEarlyNotice, warnOfPlatform } from "./messages.js";
import {
  type ObjectTask,
  type Outcome,
  type Outcomes,
  toAdvertisingError,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";

/** A person must look for each unknown outcome: from so many on, no further create begins. */
const MAX_UNRESOLVED = 16;

/** Failures that say nothing about other members. Adopting a wrong object is an error in the arguments. */
const ABOUT_ITSELF = [
  RefusedError,
  OutcomeUnknownError,
  BlockedCreateError,
  ArgumentsError,
];

export interface Target {
  id: string;
  label: string;
  /** The resource or member that has it in the state, if that is known. */
  ref?: Pick<ResourceRef, "key" | "member" | "urn"> | undefined;
  /** When it was created at the latest, as the state has it: ISO 8601, if that is known. */
  created?: unknown;
}

/** What can be done with objects of a kind in this deployment. */
export class ObjectOperations {
  readonly can: KnownOperations;

  constructor(
    readonly kind: Kind,
    readonly runtime: Runtime,
  ) {
    this.can = knownOperations(kind, runtime.settings);
  }

  /** @param tasks with work to do. @returns each outcome, by key. */
  async executeAll(tasks: readonly ObjectTask[]): Promise<Outcomes> {
    const { runtime } = this;
    const outcomes = new Map<string, Outcome>();
    let unresolved = 0;
    let trouble: string | undefined;
    const execute = async (task: ObjectTask) => {
      const { key, ref } = task;
      const assertMaySend = () => {
        runtime.assertEngine();
        if (trouble !== undefined)
          throw new NotSentError(`${ref.label} was not sent, because ${trouble}.`);
      };
      const outcome = await runtime
        .track(() => this.#execute(task, assertMaySend))
        .catch((error): Outcome => ({ kind: "failed", error: toAdvertisingError(error) }));
      outcomes.set(key, outcome);
      // What an earlier run left unresolved says nothing about the platform's state now.
      if (outcome.kind === "unresolved" && runtime.deployment.unresolved.has(ref.key))
        unresolved++;
      if (unresolved >= MAX_UNRESOLVED)
        trouble ??= `the outcomes of ${unresolved} events before it are unknown`;
      if (outcome.kind !== "failed") return;
      if (!ABOUT_ITSELF.some((each) => outcome.error instanceof each))
        trouble ??= `${memberOf("events", key)} failed`;
    };
    await Promise.all(tasks.map(execute));
    return outcomes;
  }

  /** @param assertMaySend throws once nothing more may be sent. */
  async #execute(task: ObjectTask, assertMaySend: () => void): Promise<Outcome> {
    const { action, values, id = "", olds, ref, sentAs } = task;
    switch (action.do) {
      case "create":
      case "replace":
      case "recover":
        return createOnce(this.runtime, task, assertMaySend);
      case "update":
        // If nobody knows what it has, all of it is sent.
        return this.#update(
          { id, label: ref.label, ref },
          sentAs ? {} : olds,
          values,
          action.changed,
        );
      case "adopt":
        return this.#adopt(task, action.id ?? "");
      case "update state only":
        return this.#adopt(task, id);
      case "blocked":
        return { kind: "unresolved", record: action.record, why: action.why };
      default:
        throw new Error(`unexpected ${action.do}`);
    }
  }

  /** @returns undefined if it certainly does not exist. @throws AdvertisingError if nothing is known about it. */
  async read(target: Target): Promise<Values | undefined> {
    const { runtime } = this;
    return runtime.track(() => runtime.client().read(this.#request("read", target)));
  }

  /** Callers have checked that there is such an operation. */
  #request(name: OptionalOperation, { id, label, ref }: Target) {
    const operation = this.can[name];
    if (!operation) throw new Error(`no ${name}`);
    // A member is no resource of its own, so no command names it.
    const urn = ref?.member === undefined ? ref?.urn : undefined;
    return { kind: this.kind, operation, id, label, urn };
  }

  /** @param changed the arguments that differ. @throws AdvertisingError: it may be sent again. */
  async #update(
    target: Target,
    olds: Values,
    news: Values,
    changed: readonly string[],
  ): Promise<Outcome> {
    const { runtime } = this;
    const fields = changedFields(this.kind, olds, news, changed);
    if (Object.keys(fields).length > 0) {
      const client = runtime.client();
      const warnings = await client.update(this.#request("update", target), fields);
      warnOfPlatform(runtime, target.label, warnings);
    }
    return { kind: "managed", id: target.id };
  }

  /** Until when an object is too new for its absence to prove anything, ISO 8601; undefined if it is gone. */
  unprovenUntil(created: unknown): string | undefined {
    const { settings, clock } = this.runtime;
    const fromMs = visibleFromMs(Date.parse(String(created)), settings);
    return clock.wallMs() < fromMs ? new Date(fromMs).toISOString() : undefined;
  }

  /**
   * Without a create. What differs is set if an update is known, else an error; what was open of its resource is
   * resolved. @throws AdvertisingError it is absent, differs, or could not be read; only an update may have changed it.
   */
  async #adopt(task: ObjectTask, id: string): Promise<Outcome> {
    const { kind, runtime } = this;
    const { ref, values, unresolved } = task;
    const { label, key } = ref;
    const differences: Differences = this.can.read
      ? await this.#compare(task, id)
      : new Map();
    const theirs = withDifferences({ ...values }, differences);
    const other = runtime.deployment.claim(kind, id, key);
    if (other !== undefined)
      throw new ArgumentsError(
        `${label}: existingId ${adoptedTwice(id, parseKey(other).label)}`,
      );
    const journal = runtime.journal(ref);
    const entry = journal.of(key);
    const sent = entry?.state === "sent" ? entry : undefined;
    const record = openIn(label, sent, unresolved);
    const why = record && resolutionConflict(kind, id, theirs, record);
    if (record && why !== undefined) return { kind: "unresolved", record, why };
    await this.#update({ id, label }, theirs, values, [...differences.keys()]);
    if (entry?.id !== undefined && entry.id !== id && entry.state !== "confirmed")
      runtime.say(
        `${label}: an earlier run also created ${entry.id}. ${staysLive(kind, `Object ${entry.id}`)}.`,
      );
    await journal
      .recordAdopted(key, id)
      // The next `diff` says it again.
      .catch((error: Error) => runtime.say(error.message));
    return { kind: "managed", id };
  }

  /** @throws ArgumentsError no such object, or it differs where no update is possible. @returns how it differs. */
  async #compare(
    { ref: { label }, values, secret }: ObjectTask,
    id: string,
  ): Promise<Differences> {
    const { kind } = this;
    const record = await this.read({ id, label });
    if (!record)
      throw new ArgumentsError(
        `${label}: existingId ${id}: there is no ${kind.create.noun} ${id} on the platform. Nothing was changed. ` +
          `Correct existingId, or leave it out; if ${id} is new, run this again later.`,
      );
    const differences = differencesIn(kind, this.runtime.settings, values, record);
    const wrong = [...differences].filter(
      ([property]) => !this.can.update || property === kind.owner,
    );
    if (wrong.length === 0) return differences;
    const told = wrong.map(([property, theirs]) => {
      if (secret.has(property)) return property;
      return `${property} is ${show(theirs)} on the platform, and ${show(values[property])} here`;
    });
    throw new ArgumentsError(
      `${label}: existingId ${id} differs from the program: ${told.join("; ")}. Nothing was changed. Declare the platform's values, or correct existingId.`,
    );
  }

  /**
   * The only place that sends a delete. In doubt the object stays live, and a message names its id.
   * @param properties what the state has of its resource.
   * @throws AdvertisingError if it was not deleted, or that is not known: it may be sent again.
   */
  async delete(target: Target, properties: Values): Promise<void> {
    const { kind, runtime } = this;
    const { id, label, created } = target;
    // Something else manages it.
    if (runtime.deployment.isClaimedOrAdopted(kind, id)) return;
    // A plugin's engine calls `delete` for a replaced object too; the replacement has already said that it stays live.
    if (!this.can.delete && runtime.deployment.isStaying(kind, id)) return;
    const [blocker, ...cure] = this.#deleteBlocker(target, properties);
    if (blocker !== undefined) {
      let text = `${label} left the state but was not deleted, because ${blocker}.`;
      // Something else manages it if there is something to do about that.
      if (cure.length === 0) text += ` ${staysLive(kind, `Object ${id}`)}.`;
      runtime.say([text, ...cure].join("\n"));
      return;
    }
    if (!runtime.deleted.has(kind.name, id)) {
      const wasThere = await runtime.track(() =>
        runtime.client().delete(this.#request("delete", target)),
      );
      const until = wasThere ? undefined : this.unprovenUntil(created);
      if (until !== undefined) throw new RefusedError(tooEarlyNotice(target, until).text);
    }
    runtime.deleted.add(kind.name, id);
  }

  /**
   * Why an object must not be deleted, and what to do about it; empty if it may be. A wrong answer deletes what somebody
   * else manages.
   */
  #deleteBlocker({ id, ref }: Target, properties: Values) {
    const { kind, runtime } = this;
    const { deployment } = runtime;
    if (!this.can.delete) return ["advertising:operations has no delete"];
    if (!isOfKnownAccount(properties)) return ["the state doesn't name its account"];
    if (deployment.isStaying(kind, id))
      return [
        "this run can't see retainOnDelete: false both in the state and in the program (`--replace` hides it)",
      ];
    if (deployment.mayBeClaimed(kind, id)) return ["another resource may adopt it"];
    const others = runtime.othersWith(kind, id, ref?.key);
    if (others.length === 0) return [];
    const names = others.map((key) => parseKey(key).short);
    return [
      `this machine's journal has it as ${enumerate(names)}`,
      "If no resource has it any more:",
      `  ${pendingCommandLine("forget", names)}`,
    ];
  }
}

/**
 * When an object was created at the latest, for the state; undefined if only creates are known: no call is too early.
 */
export function momentToKeep({ settings, now }: Runtime): string | undefined {
  return settings.operations ? now() : undefined;
}

/** Fields by wire names; `null` for an argument that no longer has a value, or a default. */
function changedFields(
  kind: Kind,
  olds: Values,
  news: Values,
  changed: readonly string[],
): Record<string, unknown> {
  const body = bodyOf(kind, news);
  const fields: Record<string, unknown> = {};
  for (const [property, field] of Object.entries(kind.wireNames))
    if (changed.includes(property)) fields[field] = body[field] ?? null;
  if (!changed.includes("additionalFields")) return fields;
  const before = asRecord(olds.additionalFields);
  const after = asRecord(news.additionalFields);
  for (const field of Object.keys({ ...before, ...after }))
    if (!isDeepStrictEqual(before[field], after[field]))
      fields[field] = after[field] ?? null;
  return fields;
}
