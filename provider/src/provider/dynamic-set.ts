/**
 * The face that Pulumi's dynamic providers see of a set: one resource, which is updated member by member and never replaced. It turns each call
 * into facts, asks `decision/` and `carry-out.ts`, and turns what they answer into what the engine understands. The order of the calls
 * is in `run.ts`.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import { asRecord, own, withCode } from "../base/index.js";
import {
  abilitiesOf,
  type Circumstances,
  hasValue,
  holdsUnknown,
  isChange,
  type Member,
  membersOf,
} from "../decision/index.js";
import type { SetKind } from "../kinds/index.js";
import { exactId, validate } from "../rules/index.js";
import {
  ACCOUNT,
  type CreateRecord,
  DELETES,
  eventIn,
  IDENTITY,
  MARK,
  memberMark,
  memberOf,
  memberRef,
  PROVIDER,
  type Ref,
  readDeclaredSet,
  readStoredSet,
  SECRET_ARGUMENTS,
  type StoredSet,
  UNKNOWN,
  writeStoredSet,
} from "../state/index.js";
import { attemptKeys, besidesOf, noteMembers, tellBefore, tellUnclaimed } from "./before.js";
import { carryOutAll, deleteAll, deleteSet, isDue, type Managed } from "./carry-out.js";
import type { Severity } from "./engine.js";
import { checkResult, expectSameAccount, forDisplay, forEngine, guard, Incomplete, readingOf } from "./failure.js";
import { isAdopted, isHeldElsewhere, learnHolders, noteAdoptedSomewhere, noteAdopts, rivalOf } from "./holding.js";
import {
  argumentsIn,
  maskSecretMembers,
  type Properties,
  refIn,
  type SecretOf,
  secretArgumentsOf,
  secretOfMembers,
  toldIn,
  withoutUndefined,
} from "./inputs.js";
import { Progress } from "./messages.js";
import { createdInSet, refreshedSet } from "./optional.js";
import { heldBack, noLongerToDelete, type Outcome, resultOf, setAfter, stillToDelete, toDelete } from "./outcome.js";
import { markIn, markInputOfSet } from "./search.js";
import type { Runtime } from "./services.js";
import { adoptedTwice } from "./tell.js";
import { besidesInWords, deletedInWords, leftLiveInWords, takenOverInWords, troubleInWords } from "./tell-set.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createSetProvider(set: SetKind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const kind = set.member;
  const guarded = guard(runtime);

  const tell = (severity: Severity, { at }: Ref, text: string | undefined) => {
    if (text !== undefined) runtime().tellAt(severity, at, text);
  };

  /** Without what an adoption elsewhere in the program has settled. */
  const unsettledOf = ({ key: setKey }: Ref, stored: StoredSet): StoredSet => {
    const settled = new Set(runtime().run.told(setKey).settled);
    const left = [...stored.unresolved].filter(([key]) => !settled.has(memberOf(setKey, key)));
    return { ...stored, unresolved: new Map(left) };
  };

  /** What decides besides the state and the program. @param deletes whether the set's objects are to be deleted when it lets go of them. */
  const circumstancesOf = (subject: Ref, deletes: boolean): Circumstances => {
    const { run, reading } = runtime();
    const { adoptsUnknown, replaceOnChanges = [] } = run.told(subject.key);
    // What it lets go of may be what something else adopts, whose id is not known before it is its turn.
    const mayDelete = deletes && adoptsUnknown !== true;
    return {
      can: abilitiesOf(kind, reading.settings),
      replaceOnChanges,
      deletes: (id, key) => mayDelete && !isHeldElsewhere(kind, runtime(), id, memberRef(subject, key).key),
    };
  };

  /** The members that are due, as they are carried out. @param mark from which theirs follow. */
  const dueOf = (
    subject: Ref,
    stored: StoredSet,
    members: readonly Member[],
    secret: SecretOf,
    mark: string | undefined,
  ): Managed[] => {
    const { membersFormerly = {} } = runtime().run.told(subject.key);
    return members.filter(isDue).map(({ key, action, values, id, unresolved }) => {
      const member = memberRef(subject, key);
      return {
        key,
        subject: member,
        action,
        values,
        secret: secret(key),
        held: id,
        olds: eventIn(stored, stored.events.get(key) ?? {}),
        created: createdInSet(stored),
        mark: mark === undefined ? undefined : memberMark(mark, key),
        unresolved,
        formerly: membersFormerly[member.key],
      };
    });
  };

  /** @param isOfAccount whether the state says that its objects are this account's. */
  const apply = async (
    id: string,
    before: StoredSet,
    inputs: Properties,
    isOfAccount: boolean,
  ): Promise<Properties> => {
    const values = argumentsIn(inputs);
    const paths = secretArgumentsOf(inputs);
    maskSecretMembers(values, paths, runtime().secrets);
    const subject = refIn(set.name, inputs);
    const declared = readDeclaredSet(values);
    const stored = unsettledOf(subject, before);
    const deletes = inputs[DELETES] === true && isOfAccount;
    if (deletes) await learnHolders(runtime());
    const circumstances = circumstancesOf(subject, deletes);
    const members = membersOf(kind, stored, declared, circumstances);
    const objects = dueOf(subject, stored, members, secretOfMembers(kind, paths), markIn(inputs, runtime()));
    const toDo = members.filter((each) => isDue(each) || each.action.do === "delete").length;
    const due = toDo + stillToDelete(stored.left, circumstances).length;
    const progress = new Progress(due, runtime().clock, (text) => tell("info", subject, `${subject.label}: ${text}`));
    const outcomes = await carryOutAll(kind, runtime(), objects, openOf(members), progress);
    const wanted = toDelete(members, outcomes, stored.left, circumstances);
    const { isWell } = resultOf(members, outcomes);
    const isHeld = (object: string, key: string) =>
      isHeldElsewhere(kind, runtime(), object, memberRef(subject, key).key);
    const deletions = isWell
      ? await deleteAll(
          kind,
          runtime(),
          { label: subject.label, created: createdInSet(stored) },
          wanted,
          progress,
          isHeld,
        )
      : heldBack(wanted);
    const at = runtime().now();
    const after = setAfter(kind, { stored, members, outcomes, deletions, shared: declared, secret: paths, at });
    const outs = writeStoredSet(after, exactId, runtime().account);

    tell("warn", subject, takenOverInWords(outcomes, subject));
    const isSpared = (object: string) => isAdopted(kind, runtime(), object);
    tell("warn", subject, leftLiveInWords(kind, members, outcomes, isSpared, deletions));
    tell("info", subject, deletedInWords(kind, deletions));
    const result = resultOf(members, outcomes, deletions);
    handOver(subject, outcomes, !result.isWell);
    if (result.isWell) return outs;
    const isNothing = [before, after].every((each) => each.eventIds.size + each.unresolved.size === 0);
    const saved = { id, properties: { ...outs, [PROVIDER]: inputs[PROVIDER] } };
    // What has no member is not saved: the next run creates it.
    const { text, code } = troubleInWords(kind, subject, members, result, after.eventIds);
    throw new Incomplete(text, isNothing ? undefined : saved, code);
  };

  /** The engine is handed what was created, perhaps beside an error. */
  const handOver = (subject: Ref, outcomes: ReadonlyMap<string, Outcome>, isBesideError: boolean) => {
    const journal = runtime().journal(subject.identity);
    for (const outcome of outcomes.values()) {
      if (outcome.kind !== "created") continue;
      if (isBesideError) journal.handOverBesideError(outcome.mark);
      else journal.handOver(outcome.mark);
    }
  };

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const { run, reading } = runtime();
        const { declared: declaration, subject } = toldIn(set.name, given);
        const news = run.withKeptOwners(declaration, given);
        const isNew = Object.keys(olds).length === 0;
        run.hasChecked = true;
        const { settings } = reading;
        const { values, problems } = validate(news, set.rules(settings), readingOf(news));
        if (values.defaults !== UNKNOWN) {
          values.defaults = { ...set.defaultsIn(settings), ...(values.defaults as Properties | undefined) };
        }
        const declared = readDeclaredSet(values);
        const twice: string[] = [];
        const keys = [...(declared.events?.keys() ?? [])].map((key) => memberOf(subject.key, key));
        run.noteChecked(
          subject.key,
          { declared: declaration, wasSecret: new Set(), wasDeleting: own(olds, DELETES) === true },
          isNew,
          keys,
        );
        noteAdoptedSomewhere(kind, runtime(), declaration);
        const adopting = adoptingOf(subject, declared.events);
        for (const { member, id } of adopting) noteAdopts(kind, runtime(), member, id);
        await tellUnclaimed(runtime(), subject.identity);
        if (adopting.length > 0) await learnHolders(runtime());
        for (const { key, member, id } of adopting) {
          const rival = rivalOf(kind, runtime(), member, id);
          if (rival !== undefined) twice.push(`${memberOf("events", key)}.${adoptedTwice(id, rival)}`);
        }
        if (isNew && problems.length === 0) {
          const nothing = readStoredSet({});
          await tellBefore(kind, runtime(), subject, membersOf(kind, nothing, declared), nothing);
        }
        const hidden = {
          [IDENTITY]: declaration.identity,
          [SECRET_ARGUMENTS]: news[SECRET_ARGUMENTS],
          [DELETES]: declaration.deletes,
          [MARK]: markInputOfSet(kind, runtime(), olds, withoutUndefined(values)),
        };
        return checkResult(runtime(), { ...values, ...hidden }, problems, twice);
      }, forDisplay);
    },

    async diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const subject = refIn(set.name, news);
        expectSameAccount(olds[ACCOUNT], runtime().account, subject.label);
        const stored = unsettledOf(subject, readStoredSet(olds));
        const declared = readDeclaredSet(news);
        const deletes = news[DELETES] === true && typeof olds[ACCOUNT] === "string";
        const circumstances = circumstancesOf(subject, deletes);
        let members = membersOf(kind, stored, declared, circumstances);
        noteMembers(kind, runtime(), subject, stored, members, secretOfMembers(kind, secretArgumentsOf(news)));
        if (deletes) {
          // Who else has what would be deleted is asked once that is known.
          await learnHolders(runtime());
          members = membersOf(kind, stored, declared, circumstances);
        }
        // What waits is the set's until somebody settles it, declared or not.
        const waiting = await attemptKeys(runtime(), subject, [...stored.unresolved.values()]);
        for (const key of waiting) runtime().run.declared.add(key);
        tell("warn", subject, besidesInWords(await besidesOf(runtime(), subject, members)));
        await tellBefore(kind, runtime(), subject, members, stored, circumstances);
        // An `up` fails with it.
        const result = resultOf(members);
        if (!result.isWell && runtime().run.isUp !== true) {
          const { text, code } = troubleInWords(kind, subject, members, result, stored.eventIds);
          tell("warn", subject, withCode(text, code));
        }
        const isDeleting = stillToDelete(stored.left, circumstances).length > 0;
        const forgets = noLongerToDelete(stored.left, circumstances).length > 0;
        const changes = isChange(declared, members) || isDeleting || forgets;
        return { changes, replaces: [], deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const id = `set-${runtime().newMark()}`;
        return { id, outs: await apply(id, readStoredSet({}), inputs, false) };
      }, forEngine);
    },

    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => {
        const isOfAccount = typeof olds[ACCOUNT] === "string";
        return { outs: await apply(id, readStoredSet(olds), news, isOfAccount) };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        expectSameAccount(properties[ACCOUNT], runtime().account, `${set.name} ${id}`);
        const stored = readStoredSet(properties);
        const { read } = abilitiesOf(kind, runtime().reading.settings);
        const now = read ? await refreshedSet(kind, runtime(), stored) : stored;
        if (now === stored) return { id, props: properties };
        const { earlier: _, ...others } = properties; // written where there are any
        return { id, props: { ...others, ...writeStoredSet(now, exactId, String(properties[ACCOUNT] ?? "")) } };
      }, forDisplay);
    },

    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => deleteSet(set, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** Creates of unknown outcome that the state holds, by key. */
function openOf(members: readonly Member[]): ReadonlyMap<string, CreateRecord> {
  return new Map(members.flatMap(({ key, unresolved }) => (unresolved ? [[key, unresolved]] : [])));
}

/** The entries that name an object, as far as their ids are known. */
function adoptingOf(subject: Ref, events: ReadonlyMap<string, unknown> = new Map()) {
  return [...events].flatMap(([key, entry]) => {
    const { existingId } = asRecord(entry);
    if (!hasValue(existingId) || holdsUnknown(existingId)) return [];
    return [{ key, member: memberRef(subject, key), id: String(existingId) }];
  });
}
