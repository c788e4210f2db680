/**
 * Executes the planned actions of a resource's objects, each with its own outcome; `create.ts` has the creates. After a
 * failed update, the state says so, and the next run sends it again. After a failed delete, the state keeps the object.
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
  type Values,
  withoutUndefined,
} from "../base/index.js";
import {
  adoptionClash,
  asksToDelete,
  bodyOf,
  differencesIn,
  type Kind,
  type OptionalOperation,
} from "../kinds/index.js";
import {
  DISPLACED,
  type Fate,
  isToCreate,
  resolutionConflict,
  visibleFromMs,
} from "../plan/index.js";
import {
  accountIn,
  isInRun,
  isOfProgram,
  isPartial,
  keepingOption,
  providerIn,
  type SavedState,
} from "../record/index.js";
import { show } from "../rules/index.js";
import { knownOperations } from "../settings/index.js";
import {
  CREATED,
  type LeftLive,
  MAY_BE_ADOPTED,
  memberOf,
  type ObjectRef,
  objectKey,
  otherFormUrn,
  parseKey,
  replacedKey,
  resourceKeyIn,
  staysLive,
} from "../state/index.js";
import { createOnce } from "./create.js";
import {
  ASKED,
  adoptedDeletedMessage,
  alsoBelongsTo,
  clearFirst,
  formerlyLeftNotice,
  notDeletedNotice,
  removalCure,
  tooEarlyNotice,
  warnOfPlatform,
} from "./messages.js";
import {
  type NamedObject,
  type ObjectTask,
  type Outcome,
  type Outcomes,
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

export interface Target {
  id: string;
  label: string;
  /** The resource or member that has the object in the state, if that is known. */
  ref?: ObjectRef | undefined;
  /** The id of the set that still has the object in the state, perhaps under its former name. */
  setId?: string;
  /** The next step if the object doesn't exist, as a clause. Set only if a person gave its id. */
  ifAbsent?: string;
}

/** The operations on objects of a kind in this deployment. */
export class ObjectOperations {
  readonly can;

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
    const { action, changed, values, id = "", olds, ref, sentAs } = task;
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
        // If the state does not describe the object, all arguments are sent.
        return this.#update(
          { id, label: ref.label, ref },
          sentAs ? {} : olds,
          values,
          changed,
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
  async read(target: Target) {
    const { runtime } = this;
    return runtime.work.track(() => runtime.client().read(this.#request("read", target)));
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
  #request(name: OptionalOperation, { id, label, ref, ifAbsent }: Target) {
    const operation = this.can[name];
    if (!operation) throw new Error(`no ${name}`);
    const isDeclared = this.runtime.deployment.isDeclared(ref?.key ?? "");
    // A set's old object that could not be deleted has a key of its own.
    const isReplaced =
      name === "delete" && (isDeclared || ref?.member?.endsWith(replacedKey("", id)));
    const cure = ifAbsent ?? removalCure(ref ?? {}, isReplaced);
    return { kind: this.kind, operation, id, label, ifAbsent: cure };
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
      const request = this.#request("update", target);
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
    const { label, key } = ref;
    await this.assertNotLeftOut(task, id);
    if (runtime.deployment.deleted.has(kind, id))
      throw new ArgumentsError(adoptedDeletedMessage(ref, id));
    const differences = this.can.read ? await this.#compare(task, id) : {};
    const theirs = withoutUndefined({ ...values, ...differences });
    const other = runtime.deployment.claim(kind, id, key);
    if (other !== undefined)
      throw new ArgumentsError(
        `${label}: existingId ${adoptionClash(id, parseKey(other).label)}`,
      );
    const why = unresolved && resolutionConflict(kind, id, theirs, unresolved);
    if (unresolved && why !== undefined)
      return { kind: "unresolved", record: unresolved, why };
    const changed = Object.keys(differences);
    await this.#update({ id, label, ifAbsent: CORRECT_ID }, theirs, values, changed);
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

  /**
   * The only place that sends a delete. In doubt the object stays live, and a message names its id.
   * @param properties the resource's, in the state.
   * @throws AdvertisingError if the object was not deleted, or that is not known. The delete may be sent again.
   */
  async delete(target: Target, properties: Values) {
    const { kind, runtime } = this;
    const { deployment } = runtime;
    const { id } = target;
    // The engine calls `delete` by the option in its state. A message says that the object stays live.
    if (deployment.staying.has(kind, id)) return;
    const blocker = await this.#deleteBlocker(target, properties);
    // In a cancelled run, a blocker may only mean that the record wasn't read.
    runtime.work.assertGoesOn();
    if (blocker) {
      deployment.staying.add(kind, id);
      runtime.messages.warnEach(notDeletedNotice(target.label, blocker));
      return;
    }
    const object = objectKey(kind.name, id);
    const { deleting } = deployment;
    const sending =
      deleting.get(object) ??
      this.#sendDelete(target, properties).finally(() => deleting.delete(object));
    deleting.set(object, sending);
    await sending;
  }

  async #sendDelete(target: Target, properties: Values) {
    const { kind, runtime } = this;
    const { id } = target;
    const { deleted } = runtime.deployment;
    if (deleted.has(kind, id)) return;
    const wasThere = await runtime.work.track(() =>
      runtime.client().delete(this.#request("delete", target)),
    );
    const until = wasThere ? undefined : this.unprovenUntil(properties[CREATED]);
    if (until !== undefined) throw new RefusedError(tooEarlyNotice(target, until).text);
    deleted.add(kind, id);
  }

  /**
   * Why an object must not be deleted; undefined if it may be deleted. A wrong `undefined` deletes an object that
   * another resource manages.
   */
  async #deleteBlocker(target: Target, properties: Values) {
    const { kind, runtime } = this;
    const { id, ref, setId } = target;
    const { command, deployment, provider } = runtime;
    const saved = await runtime.record.stateNow();
    const claimer = deployment.holderOf(kind, id);
    const holders = saved ? this.othersIn(saved, { id, ref }) : [];
    const inState = holders.filter(({ resource }) => resource.id !== setId);
    const others = new Set(inState.map((each) => each.ref.key));
    // An interrupted run may have left a delete of what this resource has again.
    if (claimer !== undefined) others.add(claimer);
    if (others.size > 0) return alsoBelongsTo([...others]);
    let why = saved ? this.whyKept(target, properties, saved) : UNREADABLE;
    // Only after a check does a preview of the classes have a process, which could tell.
    const isShown = provider !== undefined || deployment.hasChecked;
    if (command?.command === "up" && !isShown)
      why ??=
        "the program has no more resources of this package's classes, so no preview shows it";
    return why && withFate(kind, id, why);
  }

  /** The objects that a resource has, or had when the run began, say themselves what becomes of them. */
  tellFormerlyLeft(ref: ObjectRef, left: readonly LeftLive[]) {
    const { kind } = this;
    const { deployment, record, messages } = this.runtime;
    const others = left.filter(({ id }) => {
      const holders = record.arrived?.holdersOf(kind.name, id) ?? [];
      return holders.length === 0 && !deployment.isClaimedOrAdopted(kind, id);
    });
    if (others.length > 0) messages.warnEach(formerlyLeftNotice(ref, others));
  }

  /**
   * The other resources of the account that have an object. One of the other face may have the same key, and one that
   * moves to another provider the same URN.
   */
  othersIn(saved: SavedState, { id, ref }: Pick<Target, "id" | "ref">) {
    const { provider, isSameAccount } = this.runtime;
    return saved.holdersOf(this.kind.name, id).filter(({ ref: { urn }, resource }) => {
      const isOther = urn !== ref?.urn || providerIn(resource) !== provider;
      return isOther && isSameAccount(accountIn(resource));
    });
  }

  /**
   * The resource of another provider that had the object when the run began: it may leave in this run, which only its own
   * process knows, and no preview.
   */
  #holderElsewhere(target: Pick<Target, "id" | "ref">) {
    const { record, provider } = this.runtime;
    const others = record.arrived ? this.othersIn(record.arrived, target) : [];
    return others.find(({ ref: { urn }, resource }) => {
      return urn !== target.ref?.urn && providerIn(resource) !== provider;
    });
  }

  /** Whether another resource has an object that leaves this one, or may have it. */
  isHeld(target: Pick<Target, "id" | "ref">) {
    const isClaimed = this.runtime.deployment.isClaimedOrAdopted(this.kind, target.id);
    return isClaimed || this.#holderElsewhere(target) !== undefined;
  }

  /** The fate of an object that leaves its resource, for plans and messages. */
  fateOf(target: Pick<Target, "id" | "ref">, properties?: Values): Fate {
    const { id } = target;
    if (this.#unaskedReason(target, properties) === NOT_ASKED)
      return { id, isDeleted: false };
    const why = this.whyKept(target, properties);
    return { id, isDeleted: why === undefined, why };
  }

  /**
   * Why an object that leaves its resource stays live; undefined if nothing keeps it. Plans ask, and the delete itself,
   * with what Pulumi has `saved` by then: also the options with which this run saves the resource.
   */
  whyKept(
    { id, ref }: Pick<Target, "id" | "ref">,
    properties: Values = {},
    saved = this.runtime.record.arrived,
  ) {
    const { kind, can, runtime } = this;
    const { deployment, record, command, provider, isSameAccount } = runtime;
    const isLeftOut = isPartial(command);
    const isProgram = isOfProgram(command);
    if (isLeftOut && deployment.isClaimedOrAdopted(kind, id)) return LEFT_OUT;
    if (!can.delete) return "advertising:operations has no delete";
    if (record.isUnreadable) return UNREADABLE;
    const states = saved ? record.statesOf(kind, id, ref, saved) : [];
    // An id may be another account's.
    const own = saved?.allWith(kind.name, id).filter(({ resource }) => {
      return providerIn(resource) === provider && accountIn(resource);
    });
    const isSingle = isProgram && ref?.resource === kind.name;
    const sameName = isSingle ? saved?.resourceAt(ref.resourceUrn) : undefined;
    if (sameName && providerIn(sameName) !== provider) return MOVES;
    if (own?.length === 0) return "the state doesn't name its account";
    const unasked = this.#unaskedReason({ ref }, properties);
    if (unasked !== undefined) return unasked;
    const elsewhere = this.#holderElsewhere({ id, ref });
    if (elsewhere) return alsoBelongsTo([elsewhere.ref.key]);
    const { object } = deployment.checked(ref?.key ?? "").planned ?? {};
    if (object?.action.do === "adopt" && object.id === id) return DISPLACED;
    if (deployment.onlyRead.has(kind, id)) return ONLY_READ;
    const answered = saved?.answeredBy.get(objectKey(kind.name, id)) ?? [];
    // Another resource's answer would outlive the object, and the next one of this name would take it over.
    if (answered.some(({ urn }) => urn !== ref?.resourceUrn)) return clearFirst();
    // Pulumi has the former object deleted by the front end that the program no longer uses for it.
    if (isSingle && saved?.resourceAt(otherFormUrn(ref))) return MOVES;
    const option = states.map(keepingOption).find(Boolean);
    if (option) return `the resource has the option ${option}`;
    if (isLeftOut) return LEFT_OUT;
    // The state at the start has the owner on the platform, if only the state gets another one. What another provider
    // keeps, only its own process knows.
    const owned = record.arrived?.ownedBy(kind.name, id).find((each) => {
      const isOther = isProgram && providerIn(each.resource) !== provider;
      return isOther || deployment.isClaimedOrAdopted(each.kind, each.id ?? "");
    });
    if (owned) return `${owned.ref.label} belongs to it`;
    // A set deletes before the run ends.
    const isOfSet = ref && ref.resource !== kind.name && deployment.isInProgram(ref.key);
    if (isOfSet && saved?.hasOtherProvider(provider, isSameAccount)) return OTHER_MAY_ADOPT;
    if (deployment.mayBeClaimed(kind, id)) return MAY_BE_ADOPTED;
  }

  /** Both the state and, where it still declares the resource, the program must ask for the delete. */
  #unaskedReason({ ref }: Pick<Target, "ref">, properties: Values | undefined) {
    const inState = asksToDelete(properties);
    const inProgram = ref && this.runtime.deployment.asksToDelete(resourceKeyIn(ref.key));
    if (inState && inProgram !== false) return undefined;
    if (inState) return `the program no longer asks for it (${ASKED})`;
    return inProgram ? `the state doesn't ask for it yet (${ASKED})` : NOT_ASKED;
  }
}

/** A reason why an object stays live, and what follows. */
export function withFate(kind: Kind, id: string, why: string) {
  return `${why}. ${staysLive(kind, `Object ${id}`)}`;
}

const UNREADABLE =
  "Pulumi's record doesn't show whether it also belongs to another resource";
const NOT_ASKED = 'its deletionPolicy isn\'t "delete"';
/** The comment knows it by its beginning. */
export const OTHER_MAY_ADOPT = `${MAY_BE_ADOPTED}, of another provider`;
export const ONLY_READ = "the program still reads it (`.get`)";
export const MOVES = "its resource is moving to another provider";
export const LEFT_OUT = "this run leaves out resources that may adopt it";

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

/** The changed fields by wire name; `null` for an argument that has neither a value nor a default any more. */
function changedFields(kind: Kind, olds: Values, news: Values, changed: readonly string[]) {
  const body = bodyOf(kind, news);
  const fields: Record<string, unknown> = {};
  for (const [property, field] of Object.entries(kind.wireNames))
    if (changed.includes(property)) fields[field] = body[field] ?? null;
  const before = asRecord(olds.additionalFields);
  const after = asRecord(news.additionalFields);
  for (const field of Object.keys({ ...before, ...after }))
    if (!isDeepStrictEqual(before[field], after[field]))
      fields[field] = after[field] ?? null;
  return fields;
}
