/**
 * Executes the planned actions of a resource's objects, each with its own outcome; `create.ts` has the creates. After a
 * failed update, the state says so, and the next run sends it again. After a failed delete, the state keeps the object.
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
  adoptionClash,
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

/** With so many unknown outcomes, no further create begins, since a person must look for each object. */
const MAX_UNRESOLVED = 16;

/** Failures that say nothing about other members, such as `existingId` with the id of a wrong object. */
const MEMBER_ERRORS = [
  RefusedError,
  OutcomeUnknownError,
  BlockedCreateError,
  ArgumentsError,
];

export interface Target {
  id: string;
  label: string;
  /** The resource or member that has the object in the state, if that is known. */
  ref?: Pick<ResourceRef, "key" | "member" | "urn"> | undefined;
  /** When the object was created at the latest, as the state has it: ISO 8601, if that is known. */
  created?: unknown;
}

/** The operations on objects of a kind in this deployment. */
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
      // An earlier run's unresolved create says nothing about how the platform works now.
      if (outcome.kind === "unresolved" && runtime.deployment.unresolved.has(ref.key))
        unresolved++;
      if (unresolved >= MAX_UNRESOLVED)
        trouble ??= `the outcomes of ${unresolved} events before it are unknown`;
      if (outcome.kind !== "failed") return;
      if (!MEMBER_ERRORS.some((each) => outcome.error instanceof each))
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
        // If the state does not describe the object, all arguments are sent.
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

  /** @returns undefined if the object certainly doesn't exist. @throws AdvertisingError if that isn't known. */
  async read(target: Target): Promise<Values | undefined> {
    const { runtime } = this;
    return runtime.track(() => runtime.client().read(this.#request("read", target)));
  }

  /** Callers have checked that the operation is known. */
  #request(name: OptionalOperation, { id, label, ref }: Target) {
    const operation = this.can[name];
    if (!operation) throw new Error(`no ${name}`);
    // No Pulumi command can name a member, since it is not a resource.
    const urn = ref?.member === undefined ? ref?.urn : undefined;
    return { kind: this.kind, operation, id, label, urn };
  }

  /** @param changed the arguments that differ. @throws AdvertisingError; the update may be sent again. */
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

  /** Until when a missing object may only be too new to be found, ISO 8601; undefined if it is gone. */
  unprovenUntil(created: unknown): string | undefined {
    const { settings, clock } = this.runtime;
    const fromMs = visibleFromMs(Date.parse(String(created)), settings);
    return clock.wallMs() < fromMs ? new Date(fromMs).toISOString() : undefined;
  }

  /**
   * Adopts a live object. Arguments that differ are set if an update is known; otherwise they are an error. This
   * resolves the resource's open create. @throws AdvertisingError if the object is absent, differs, or could not be
   * read; nothing but an update may have changed it.
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
        `${label}: existingId ${adoptionClash(id, parseKey(other).label)}`,
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
      // The next `diff` notes it again.
      .catch((error: Error) => runtime.say(error.message));
    return { kind: "managed", id };
  }

  /**
   * @returns how the object differs. @throws ArgumentsError if it is absent, or differs where no update is possible.
   */
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
   * @param properties the resource's, in the state.
   * @throws AdvertisingError if the object was not deleted, or that is not known. The delete may be sent again.
   */
  async delete(target: Target, properties: Values): Promise<void> {
    const { kind, runtime } = this;
    const { id, label, created } = target;
    // Another resource manages the object.
    if (runtime.deployment.isClaimedOrAdopted(kind, id)) return;
    // With a plugin, the engine calls `delete` for a replaced object too. A message has said that it stays live.
    if (!this.can.delete && runtime.deployment.isStaying(kind, id)) return;
    const [blocker, ...cure] = this.#deleteBlocker(target, properties);
    if (blocker !== undefined) {
      let text = `${label} left the state but was not deleted, because ${blocker}.`;
      // With a cure, another resource may manage the object, so the text must not call it unmanaged.
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
   * Why an object must not be deleted, followed by lines about what to do; empty if it may be deleted. A wrong result
   * deletes an object that another resource manages.
   */
  #deleteBlocker({ id, ref }: Target, properties: Values) {
    const { kind, runtime } = this;
    const { deployment } = runtime;
    if (!this.can.delete) return ["advertising:operations has no delete"];
    if (!isOfKnownAccount(properties)) return ["the state doesn't name its account"];
    if (deployment.isStaying(kind, id))
      return ["this run can't see retainOnDelete: false in both the state and the program"];
    if (deployment.mayBeClaimed(kind, id)) return ["another resource may adopt it"];
    const others = runtime.otherKeys(kind, id, ref?.key);
    if (others.length === 0) return [];
    const names = others.map((key) => parseKey(key).short);
    return [
      `this machine's journal has it as the object of ${enumerate(names)}`,
      "If no resource has it any more:",
      `  ${pendingCommandLine("forget", names)}`,
    ];
  }
}

/**
 * The present moment, for the state as the time of a create. Undefined if no operation beside create is known: then no
 * call can come too early.
 */
export function createdAt({ settings, now }: Runtime): string | undefined {
  return settings.operations ? now() : undefined;
}

/** The changed fields by wire name; `null` for an argument that has neither a value nor a default any more. */
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
