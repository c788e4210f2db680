/**
 * How each action on an object ended, as data, which `tell.ts` and `tell-set.ts` put into words; and the errors with which a call of the
 * engine fails: nothing created (a plain error), or unresolved ({@link Incomplete}). Also what is in the state after a run: the members of a
 * set, and the objects that were left live, so that people can find these even without the runner. Pure.
 */
import { isDeepStrictEqual } from "node:util";
import {
  AccountMismatchError,
  type AdvertisingError,
  OutcomeUnknownError,
  own,
  shellWord,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import { type Action, knownAdoption, type Member, type ToDelete } from "../decision/index.js";
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import {
  type CreateRecord,
  type EarlierBody,
  eventIn,
  explain,
  type LeftLive,
  leftLiveIn,
  type Shared,
  type StoredSet,
  tellingOfLeft,
  tellingOfMember,
  unlessAdopted,
  unresolvedId,
  writeRecord,
} from "../state/index.js";
import { secretOfMembers } from "./inputs.js";

export type Outcome =
  /** The program named the live object; no create was sent. */
  | { readonly kind: "adopted"; readonly id: string }
  /** The object has the arguments of now. */
  | { readonly kind: "updated"; readonly id: string }
  | {
      readonly kind: "created";
      readonly id: string;
      readonly mark: string;
      /** True if an earlier run created it, and no create was sent. */
      readonly isTakenOver: boolean;
      /** For a take-over, {@link CreateRecord.isHanded}. */
      readonly isHanded?: true | undefined;
      /** True if it was taken over and updated. */
      readonly isUpdated?: boolean;
      /** Another resource had adopted its id. The state has the object all the same, so that it is not lost. */
      readonly shared?: AdvertisingError | undefined;
    }
  /** Nothing was done: refused, not sent, rate limited, or the login failed. The error's class and words say which. */
  | {
      readonly kind: "failed";
      readonly error: AdvertisingError;
      /** True if a search had proved that its earlier create of unknown outcome was not carried out. @default false */
      readonly wasNotMade?: boolean;
    }
  /** A create was sent, and nobody knows what became of it. */
  | { readonly kind: "unresolved"; readonly record: CreateRecord };

/** The platform's id in the state after an outcome; none if the state keeps its object. */
export function idAfter(outcome: Outcome | undefined): string | undefined {
  return outcome?.kind === "created" || outcome?.kind === "adopted" || outcome?.kind === "updated"
    ? outcome.id
    : undefined;
}

export interface Deletions {
  readonly wanted: readonly ToDelete[];
  readonly deleted: ReadonlySet<string>;
  /** By id. Objects in neither were not begun. */
  readonly failed: ReadonlyMap<string, AdvertisingError>;
}

export function heldBack(wanted: readonly ToDelete[]): Deletions {
  return { wanted, deleted: new Set(), failed: new Map() };
}

/** The problems after a run of a set, or those that it would have. */
export interface Result {
  readonly failed: readonly { readonly key: string; readonly error: AdvertisingError }[];
  readonly kept: readonly { readonly key: string; readonly error: AdvertisingError }[];
  /** Creates of unknown outcome: those of this run, and those that a person has to settle. */
  readonly open: readonly { readonly key: string; readonly record: CreateRecord }[];
  /** How many objects are still to be deleted. */
  readonly waiting: number;
  /** True without any problem. Only then objects are deleted, as the engine does with single resources. */
  readonly isWell: boolean;
}

/** @param outcomes none in a preview. @param deletions of this run. */
export function resultOf(
  members: readonly Member[],
  outcomes: ReadonlyMap<string, Outcome> = new Map(),
  deletions: Deletions = heldBack([]),
): Result {
  const failed = members.flatMap(({ key }) => {
    const outcome = outcomes.get(key);
    if (outcome?.kind === "created" && outcome.shared !== undefined) return [{ key, error: outcome.shared }];
    return outcome?.kind === "failed" ? [{ key, error: outcome.error }] : [];
  });
  const open = members.flatMap(({ key, action }) => {
    const outcome = outcomes.get(key);
    if (outcome?.kind === "unresolved") return [{ key, record: outcome.record }];
    return action.do === "wait" ? [{ key, record: waitingFor(action) }] : [];
  });
  const { wanted, deleted } = deletions;
  const kept = wanted.flatMap(({ key, id }) => {
    const error = deletions.failed.get(id);
    return error === undefined ? [] : [{ key, error }];
  });
  const isWell = failed.length + kept.length + open.length === 0;
  return { failed, kept, open, waiting: wanted.length - deleted.size, isWell };
}

interface SetRun {
  readonly stored: StoredSet;
  readonly members: readonly Member[];
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** The keys of unresolved creates that another resource settled in this run. @default none */
  readonly settled?: ReadonlySet<string>;
  readonly deletions: Deletions;
  /** Whether an object that was to be deleted, and that this run does not delete, may be deleted by a later one. */
  isPostponed?(id: string): boolean;
  readonly shared: Shared;
  /** Paths of the arguments that are secret now. */
  readonly secret: ReadonlySet<string>;
  /** ISO 8601. */
  readonly at: string;
  /** The moment of this run's creates, as the state is to keep it. */
  readonly created?: string | undefined;
}

export function setAfter(kind: Kind, run: SetRun): StoredSet {
  const { stored, members, outcomes, settled = new Set<string>(), deletions, secret } = run;
  const { advertiserId, defaults } = run.shared;
  const shared = { advertiserId, defaults };
  const asItWas = entriesAsTheyWere(kind, run);
  const hasCreated = [...outcomes.values()].some((outcome) => outcome.kind === "created");
  const after = {
    ...shared,
    secret,
    created: hasCreated ? (run.created ?? stored.created) : stored.created,
    leftLive: leftBySet(kind, run),
    events: new Map<string, Values>(),
    eventIds: new Map<string, string>(),
    earlier: new Map<string, EarlierBody>(),
    unresolved: new Map<string, CreateRecord>(),
  };
  for (const member of members) {
    const { key, action, id, isDeclared, entry, fingerprint } = member;
    if (action.do === "let go" || (action.do === "delete" && deletions.deleted.has(id ?? ""))) continue;
    const outcome = outcomes.get(key);
    const isNow = idAfter(outcome);
    const open = settled.has(key) ? undefined : openAfter(member, outcome);
    if (open !== undefined) after.unresolved.set(key, open);
    const held = isNow ?? id;
    if (held === undefined) continue;
    after.eventIds.set(key, held);
    if (isNow !== undefined || (action.do === "keep" && isDeclared)) {
      after.events.set(key, entry);
      continue;
    }
    // Its replacement was not created, or it was not updated.
    const then = asItWas(key);
    after.events.set(key, then);
    if (fingerprint !== undefined && fingerprint !== fingerprintOfBody(kind, eventIn(shared, then))) {
      const advertiserId = String(stored.advertiserId);
      const isTold = !stored.secret.has("advertiserId") && !secret.has("advertiserId");
      after.earlier.set(key, stored.earlier.get(key) ?? { fingerprint, ...(isTold && { advertiserId }) });
    }
  }
  return after;
}

/** The unresolved create that stays in the state. One that waits for a person is settled by nothing else. */
function openAfter({ action, unresolved }: Member, outcome: Outcome | undefined): CreateRecord | undefined {
  if (outcome?.kind === "unresolved") return { ...outcome.record, adoptedAs: undefined };
  if (action.do === "keep") return action.record;
  const isOver = idAfter(outcome) !== undefined || (outcome?.kind === "failed" && outcome.wasNotMade === true);
  return unresolved === undefined || isOver ? undefined : { ...unresolved, adoptedAs: undefined };
}

/**
 * The entries of objects that have not become what the set declares now. Each names what the set's defaults of then gave, so that the next
 * run knows what differs, and can update it. What was secret and no present input keeps secret is `null`, as something that is not known.
 */
function entriesAsTheyWere(kind: Kind, { stored, shared, secret }: SetRun): (key: string) => Values {
  const secretIn = (paths: ReadonlySet<string>, isAsked: (path: string) => boolean) =>
    secretOfMembers(kind, new Set([...paths].filter(isAsked)));
  const isOfEvents = (path: string) => /^events(\[|$)/.test(path);
  const [wasSecret, isSecret] = [secretIn(stored.secret, isOfEvents), secretIn(secret, isOfEvents)];
  const ofDefaults = secretIn(stored.secret, (path) => !isOfEvents(path));
  return (key) => {
    const entry = stored.events.get(key) ?? {};
    // Of an earlier one the set's defaults say nothing.
    const [then, now] = stored.earlier.has(key) ? [{}, {}] : [eventIn(stored, entry), eventIn(shared, entry)];
    const { advertiserId: _, ...all } = { ...now, ...then };
    const given = Object.keys(all).filter((name) => !isDeepStrictEqual(own(then, name), own(now, name)));
    const named = Object.fromEntries(given.map((name) => [name, own(then, name) ?? null]));
    const [was, wasGiven, is] = [wasSecret(key), ofDefaults(key), isSecret(key)];
    const isKept = (name: string) => is.has(name) || !(was.has(name) || (name in named && wasGiven.has(name)));
    return Object.fromEntries(
      Object.entries({ ...entry, ...named }).map(([name, value]) => [name, isKept(name) ? value : null]),
    );
  };
}

function leftBySet(
  kind: Kind,
  { stored, secret, members, outcomes, deletions, isPostponed, at }: SetRun,
): readonly LeftLive[] {
  const { wanted, deleted } = deletions;
  const isWanted = new Set(wanted.map(({ id }) => id));
  const stillTo = (id: string, mayWait: boolean) =>
    isWanted.has(id) || (mayWait && isPostponed?.(id) === true) ? { toDelete: true } : {};
  const [was, is] = [secretOfMembers(kind, stored.secret), secretOfMembers(kind, secret)];
  const left = members.flatMap(({ key, action, id }): LeftLive[] => {
    if (id === undefined) return [];
    const by = idAfter(outcomes.get(key));
    const isDeleted = deleted.has(id);
    const isRemoved = action.do === "let go" || (isDeleted && by === undefined);
    // What it had adopted may be on the list of the resource that had it before.
    if (isDeleted ? knownAdoption(stored.events.get(key)) !== id : !isRemoved && (by === undefined || by === id))
      return [];
    const telling = tellingOfMember(kind, stored, key, new Set([...was(key), ...is(key)]));
    const object = { id, ...telling, key, at, ...(isDeleted ? { done: at } : stillTo(id, true)) };
    return [isRemoved ? { ...object, why: "removed" } : { ...object, why: "replaced", ...(by && { by }) }];
  });
  const before = stored.leftLive
    .filter(({ id }) => !deleted.has(id))
    .map(({ toDelete, ...each }) => ({ ...each, ...stillTo(each.id, toDelete === true) }));
  return [...before, ...left];
}

/** What a replacement leaves live: the replaced object, if there is one, and those that it had left itself. */
export interface Leaving {
  readonly before: readonly LeftLive[];
  readonly object: Omit<LeftLive, "at" | "why"> | undefined;
}

/** @param secret names of arguments that must not be shown. */
export function leavingIn(kind: Kind, id: string, olds: Values, secret: ReadonlySet<string>): Leaving {
  return {
    before: leftLiveIn(olds),
    object: isPlatformId(id) ? { id, ...tellingOfLeft(kind, olds, secret) } : undefined,
  };
}

/** What the new resource's state keeps of that. @param by its id; none if it has none of the platform's. */
export function leftAfter(leaving: Leaving | undefined, by: string | undefined, at: string): readonly LeftLive[] {
  if (leaving === undefined) return [];
  const { before, object } = leaving;
  if (object === undefined || object.id === by) return before;
  return [...before, withoutUndefined({ ...object, at, why: "replaced" as const, by })];
}

/** A failure after which the state has the resource nevertheless, because something may have been created. */
export class Incomplete extends Error {
  /** @param saved what the engine saves, with the message as its reason; absent if the state already has the resource. */
  constructor(
    message: string,
    readonly saved?: { readonly id: string; readonly properties: Values },
    readonly code: string = OutcomeUnknownError.code,
  ) {
    super(message);
  }
}

/** The create that a resource or member waits for, with the text for people. */
export function waitingFor({ record, adopts, sent }: Extract<Action, { do: "wait" }>): CreateRecord {
  return adopts === undefined ? record : unlessAdopted(record, adopts, sent);
}

/**
 * @param urn of the resource now, if it is known: the record has the one with which the create was sent.
 * @throws Incomplete if a create of the resource has an unknown outcome: nothing is done before a person settles that.
 */
export function expectSettled(kind: Kind, record: CreateRecord | undefined, urn = record?.urn): void {
  if (record !== undefined) throw new Incomplete(explain(kind.name, { ...record, urn }));
}

/** What the engine gets for a single resource: the id, or an error. @param properties what the state keeps of an unresolved one. */
export function idOrError(kind: Kind, properties: Values, outcome: Outcome): string {
  switch (outcome.kind) {
    case "failed":
      throw outcome.error;
    case "unresolved": {
      const { record } = outcome;
      throw new Incomplete(explain(kind.name, record), {
        id: unresolvedId(record.mark),
        properties: { ...properties, ...writeRecord(kind, record, properties) },
      });
    }
    default:
      return outcome.id;
  }
}

/** Describes an unexpected error. Its stack is needed for a report, and contains no values. */
export function describeDefect(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return `A defect in pulumi-advertising; please report it with this text: ${stack}`;
}

/**
 * Compares a resource's installation and account in the state with the current ones.
 * @param recorded the state's; nothing for resources of earlier versions, and for those that were only read.
 * @param label of the resource. @param call the engine's. A refresh or `destroy` that does not run the program has the settings of the last `up`.
 * @throws AccountMismatchError if they differ: this run would create objects at the wrong account, and refer to objects that do not exist
 *   there.
 */
export function expectSameAccount(recorded: unknown, current: string, label: string, call?: "read" | "delete"): void {
  if (typeof recorded !== "string" || recorded === "" || current === "" || recorded === current) return;
  throw new AccountMismatchError(
    [
      `The state has ${label} at ${shown(recorded)}, and the settings of this run name ${shown(current)}. Nothing was sent.`,
      ...(call === undefined
        ? []
        : [
            "  If you have changed the settings: a plain refresh or destroy uses those of the last `pulumi up`. Run that, or add --run-program.",
          ]),
      "  To go on with the first: set advertising:baseUrl and advertising:email back.",
      "  To use the other one: a stack of its own (`pulumi stack init`), since ids of one account mean nothing in another.",
      "  If it is the same platform and account under a new address:",
      `    npx pulumi-advertising relocate ${shellWord(recorded)}`,
    ].join("\n"),
  );
}

function shown(account: string): string {
  const [place = "", email = ""] = account.split(" ");
  return `${place} as ${email}`;
}
