/**
 * The face that Pulumi's dynamic providers see of a set: one resource, which is updated member by member and never replaced. It turns each call
 * into facts, asks `decision/` and `set-run.ts`, and turns what they answer into what the engine understands. The order of the calls
 * is in `run.ts`.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import { asRecord, own, withCode } from "../base/index.js";
import { abilitiesOf, hasValue, holdsUnknown, isChange, membersOf } from "../decision/index.js";
import type { SetKind } from "../kinds/index.js";
import { exactId, validate } from "../rules/index.js";
import {
  ACCOUNT,
  DELETES,
  IDENTITY,
  MARK,
  memberOf,
  memberRef,
  type Ref,
  readDeclaredSet,
  readStoredSet,
  SECRET_ARGUMENTS,
  UNKNOWN,
  writeStoredSet,
} from "../state/index.js";
import { attemptKeys, besidesOf, noteMembers, tellBefore, tellUnclaimed } from "./before.js";
import type { Severity } from "./engine.js";
import { checkResult, expectSameAccount, forDisplay, forEngine, guard, readingOf } from "./failure.js";
import { learnHolders, noteAdoptedSomewhere, noteAdopts, rivalOf } from "./holding.js";
import { type Properties, refIn, secretArgumentsOf, secretOfMembers, toldIn, withoutUndefined } from "./inputs.js";
import { refreshedSet } from "./optional.js";
import { noLongerToDelete, resultOf, stillToDelete } from "./outcome.js";
import { markInputOfSet } from "./search.js";
import type { Runtime } from "./services.js";
import { applySet, circumstancesOf, deleteSet, unsettledOf } from "./set-run.js";
import { adoptedTwice } from "./tell.js";
import { besidesInWords, troubleInWords } from "./tell-set.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createSetProvider(set: SetKind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const kind = set.member;
  const guarded = guard(runtime);

  const tell = (severity: Severity, { at }: Ref, text: string | undefined) => {
    if (text !== undefined) runtime().tellAt(severity, at, text);
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
        const stored = unsettledOf(runtime(), subject, readStoredSet(olds));
        const declared = readDeclaredSet(news);
        const deletes = news[DELETES] === true && typeof olds[ACCOUNT] === "string";
        const circumstances = circumstancesOf(kind, runtime(), subject, deletes);
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
        return { id, outs: await applySet(set, runtime(), id, readStoredSet({}), inputs, false) };
      }, forEngine);
    },

    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => {
        const isOfAccount = typeof olds[ACCOUNT] === "string";
        return { outs: await applySet(set, runtime(), id, readStoredSet(olds), news, isOfAccount) };
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

/** The entries that name an object, as far as their ids are known. */
function adoptingOf(subject: Ref, events: ReadonlyMap<string, unknown> = new Map()) {
  return [...events].flatMap(([key, entry]) => {
    const { existingId } = asRecord(entry);
    if (!hasValue(existingId) || holdsUnknown(existingId)) return [];
    return [{ key, member: memberRef(subject, key), id: String(existingId) }];
  });
}
