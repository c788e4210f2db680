/**
 * Executes the planned actions of a resource's objects, each with its own outcome; `create.ts` has the creates. After a
 * failed update, the state says so, and the next run sends it again.
 */
import { isDeepStrictEqual } from "node:util";
import {
  ArgumentsError,
  asRecord,
  BlockedCreateError,
  isoNow,
  LoginError,
  NotSentError,
  OutcomeUnknownError,
  RefusedError,
  SettingsError,
  withoutUndefined,
} from "../base/index.js";
import {
  bodyOf,
  differencesIn,
  type Kind,
  type OptionalOperation,
} from "../kinds/index.js";
import { isToCreate, resolutionConflict, visibleFromMs } from "../plan/index.js";
import { isInRun, isPartial } from "../record/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import { memberOf, replacedKey } from "../state/index.js";
import { createOnce } from "./create.js";
import { type LeavingObject, ObjectFates } from "./fates.js";
import { adoptedDeletedMessage, removalCure, warnOfPlatform } from "./messages.js";
import {
  type NamedObject,
  type ObjectTask,
  type Outcome,
  type RunningTask,
  toAdvertisingError,
} from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { momentAfter } from "./search.js";

/** The number of unknown outcomes after which no further create begins: a person has to look for each object. */
const MAX_UNRESOLVED = 16;

/** Failures that say nothing about other members, such as `existingId` with the id of a wrong object. */
const MEMBER_ERRORS = [
  RefusedError,
  OutcomeUnknownError,
  BlockedCreateError,
  ArgumentsError,
];

export interface Target extends LeavingObject {
  label: string;
  /** The next step if the object doesn't exist, as a clause. Set only if a person gave its id. */
  ifAbsent?: string | undefined;
}

/** The operations on objects of a kind in this deployment. */
export class ObjectOperations {
  readonly can;
  readonly fates;

  constructor(
    readonly kind: Kind,
    readonly runtime: Runtime,
  ) {
    this.can = knownOperations(kind, runtime.settings);
    this.fates = new ObjectFates(kind, runtime);
  }

  /** @param tasks with work to do. @returns each outcome, by key. */
  async executeAll(tasks: readonly ObjectTask[]) {
    const { runtime } = this;
    const outcomes = new Map<string, Outcome>();
    let unresolved = 0;
    let trouble: string | undefined;
    const execute = async (task: ObjectTask) => {
      const { key, ref } = task;
      const assertMaySend = () => {
        if (trouble !== undefined)
          throw new NotSentError(`${ref.label} was not sent, because ${trouble}.`);
      };
      const outcome = await runtime.work
        .track(() => this.#execute({ ...task, assertMaySend }))
        .catch((thrown): Outcome => {
          const error = toAdvertisingError(thrown);
          const isNotSent = error instanceof LoginError || error instanceof SettingsError;
          const isUnsure = task.action.do === "update" && !isNotSent;
          return { kind: "failed", error, isUnsure };
        });
      outcomes.set(key, outcome);
      // An earlier run's unresolved create says nothing about how the platform works now.
      if (outcome.kind === "unresolved" && runtime.deployment.failed.has(ref.key))
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

  async #execute(task: RunningTask): Promise<Outcome> {
    const { action, changed, id = "", ref } = task;
    switch (action.do) {
      case "create":
      case "replace":
        return createOnce(this.runtime, task);
      case "recover": {
        const next = { ...task, action: action.else };
        // A single object's replacement has begun already.
        const isSent = ref.member === undefined || isToCreate(next);
        const ifNotMade = isSent ? undefined : () => this.#execute(next);
        return createOnce(this.runtime, next, ifNotMade);
      }
      case "same":
        return { kind: "managed", id };
      case "update":
        return this.#update({ id, label: ref.label, ref }, task, changed);
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
  async read(target: Target) {
    const { runtime } = this;
    return runtime.work.track(() => runtime.client().read(this.request("read", target)));
  }

  /** @throws ArgumentsError if the object, whose id a person gave, doesn't exist. */
  async readGiven(target: Target) {
    const { id, label } = target;
    const record = await this.read({ ...target, ifAbsent: CORRECT_ID });
    if (record) return record;
    throw new ArgumentsError(
      `${label}: there is no ${this.kind.noun} ${id} on the platform. Nothing was changed. If ${id} is new, run this again later; otherwise ${CORRECT_ID}`,
    );
  }

  /** Callers have checked that the operation is known. */
  request(name: OptionalOperation, { id, label, ref, ifAbsent }: Target) {
    const operation = this.can[name];
    if (!operation) throw new Error(`no ${name}`);
    const isDeclared = this.runtime.deployment.isDeclared(ref?.key ?? "");
    // A set's old object that could not be deleted has a key of its own.
    const isReplaced =
      name === "delete" && (isDeclared || ref?.member?.endsWith(replacedKey("", id)));
    const canRefresh = name !== "read" && this.can.read;
    const cure = ifAbsent ?? removalCure(ref ?? {}, isReplaced, canRefresh);
    return { kind: this.kind, operation, id, label, ifAbsent: cure };
  }

  /** @param changed the arguments that differ. @throws AdvertisingError; the update may be sent again. */
  async #update(
    target: Target,
    object: Sent,
    changed: readonly string[],
  ): Promise<Outcome> {
    const { runtime } = this;
    const fields = changedFields(this.kind, object, changed);
    if (Object.keys(fields).length > 0) {
      const request = this.request("update", target);
      const warnings = await runtime.client().update(request, fields);
      warnOfPlatform(runtime, target.label, warnings);
    }
    return { kind: "managed", id: target.id };
  }

  /** Until when a missing object may only be too new to be found, ISO 8601; undefined if it is gone. */
  unprovenUntil(created: unknown) {
    const { settings, clock, platformNow } = this.runtime;
    // Reads never lag behind creates then.
    if (settings.operations?.createdVisibleAfterSeconds === 0) return undefined;
    const fromMs = visibleFromMs(Date.parse(String(created)), settings);
    const isEarly = Date.parse(platformNow() ?? isoNow(clock)) < fromMs;
    if (isEarly) return new Date(fromMs).toISOString();
  }

  /**
   * Adopts a live object. Arguments that differ are set if an update is known; otherwise they are an error. This
   * resolves the resource's open create. @throws AdvertisingError if the object is absent, differs, or could not be
   * read; nothing but an update may have changed it.
   */
  async #adopt(task: ObjectTask, id: string): Promise<Outcome> {
    const { kind, runtime } = this;
    const { ref, values, unresolved, keys } = task;
    const { label } = ref;
    await this.assertNotLeftOut(task, id);
    if (runtime.deployment.deleted.has(kind, id))
      throw new ArgumentsError(adoptedDeletedMessage(ref, id));
    const differences = this.can.read ? await this.#compare(task, id) : {};
    const theirs = withoutUndefined({ ...values, ...differences });
    runtime.deployment.assertClaim(kind, id, ref);
    const why = unresolved && resolutionConflict(kind, id, theirs, unresolved);
    if (unresolved && why !== undefined)
      return { kind: "unresolved", record: unresolved, why };
    const changed = Object.keys(differences);
    const found = { olds: theirs, values, sentAs: undefined };
    await this.#update({ id, label, ifAbsent: CORRECT_ID }, found, changed);
    await runtime.record.noteAdopted(keys, id);
    return { kind: "managed", id };
  }

  /**
   * @throws ArgumentsError if another resource than the adopter has the object in the state, and keeps it because the
   * run's targets leave it out.
   */
  async assertNotLeftOut({ ref, keys }: NamedObject, id: string) {
    const { record, command } = this.runtime;
    if (!isPartial(command)) return;
    const saved = await record.state();
    for (const { ref: other, resource } of saved?.holdersOf(this.kind.name, id) ?? [])
      if (!keys.includes(other.key) && !isInRun(resource.urn, command))
        throw new ArgumentsError(
          `${ref.label}: existingId ${id} belongs to ${other.label}, which this run leaves out. Run it without --target and --exclude.`,
        );
  }

  /**
   * @returns how the object differs. @throws ArgumentsError if it is absent, or differs where no update is possible.
   */
  async #compare({ ref: { label }, values, secret }: ObjectTask, id: string) {
    const { kind } = this;
    const record = await this.readGiven({ id, label });
    const differences = differencesIn(kind, this.runtime.settings, values, record);
    const wrong = Object.entries(differences).filter(
      ([property]) => !this.can.update || property === kind.owner,
    );
    if (wrong.length === 0) return differences;
    const told = wrong.map(([property, theirs]) => {
      if (secret.has(property)) return property;
      return `${property} is ${show(theirs)} on the platform, and ${show(values[property])} here`;
    });
    throw new ArgumentsError(
      `${label}: existingId ${id} differs from the program: ${told.join("; ")}. Nothing was changed. Declare these values, or correct existingId.`,
    );
  }
}

const CORRECT_ID = "correct the id.";

const DAY_MS = 24 * 3600 * 1000;

/**
 * A moment after the creates so far, for the state. Without the platform's time it is a day later by this machine's
 * clock, because the clock that it is compared with may be ahead by hours. Undefined if no operation beside create is
 * known: then no call can come too early.
 */
export function createdAt({ settings, clock, platformNow }: Runtime) {
  if (!settings.operations) return undefined;
  return momentAfter(platformNow()) ?? new Date(clock.wallMs() + DAY_MS).toISOString();
}

type Sent = Pick<ObjectTask, "olds" | "values" | "sentAs">;

/**
 * The fields to send, by wire name; `null` for one that has neither a value nor a default any more. They are all that the
 * object may have from the program, if the state doesn't describe it.
 */
function changedFields(
  kind: Kind,
  { olds, values, sentAs }: Sent,
  changed: readonly string[],
) {
  const body = bodyOf(kind, values);
  const before = asRecord(olds.additionalFields);
  const after = asRecord(values.additionalFields);
  const more = Object.keys({ ...before, ...after }).filter(
    (field) => sentAs || !isDeepStrictEqual(before[field], after[field]),
  );
  let fields = [...changed.flatMap((property) => kind.wireNames[property] ?? []), ...more];
  if (sentAs?.fields) fields = [...Object.keys(body), ...sentAs.fields];
  const owner = kind.wireNames[kind.owner ?? ""];
  const sent = fields.filter((field) => field !== owner);
  return Object.fromEntries(sent.map((field) => [field, body[field] ?? null]));
}
