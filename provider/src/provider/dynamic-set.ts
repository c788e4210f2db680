/**
 * The face that Pulumi's dynamic providers see of a set: one resource, which is updated member by member and never replaced. It hands each
 * call to `check.ts`, `set-plan.ts`, `set-run.ts` or `refresh.ts`, and turns what they answer into what the engine understands. The order
 * of the calls is in `run.ts`.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import { asRecord } from "../base/index.js";
import { knownAdoption, membersOf } from "../decision/index.js";
import type { SetKind } from "../kinds/index.js";
import { MARK, memberOf, memberRef, type Ref, readDeclaredSet, readStoredSet, UNKNOWN } from "../state/index.js";
import { beginCheck, checkResult, noteCheck } from "./check.js";
import { forDisplay, forEngine, guard } from "./failure.js";
import { type Properties, withoutUndefined } from "./inputs.js";
import { readSet } from "./refresh.js";
import { markInputOfSet } from "./search.js";
import type { Runtime } from "./services.js";
import { planSet, tellBefore } from "./set-plan.js";
import { applySet, deleteSet } from "./set-run.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createSetProvider(set: SetKind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const kind = set.member;
  const guarded = guard(runtime);

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const check = beginCheck(set, runtime(), olds, given);
        const { subject, isNew, values, problems } = check;
        if (values.defaults !== UNKNOWN) {
          values.defaults = { ...set.defaultsIn(runtime().reading.settings), ...asRecord(values.defaults) };
        }
        const declared = readDeclaredSet(values);
        const keys = [...(declared.events?.keys() ?? [])].map((key) => memberOf(subject.key, key));
        const twice = await noteCheck(kind, runtime(), check, adoptingIn(subject, declared.events), keys);
        if (isNew && problems.length === 0) {
          const nothing = readStoredSet({});
          await tellBefore(kind, runtime(), subject, membersOf(kind, nothing, declared), nothing);
        }
        const mark = markInputOfSet(kind, runtime(), olds, withoutUndefined(values));
        return checkResult(runtime(), check, twice, { [MARK]: mark });
      }, forDisplay);
    },

    async diff(_id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        return { changes: await planSet(set, runtime(), olds, news), replaces: [], deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(async () => {
        const id = `set-${runtime().newMark()}`;
        return { id, outs: await applySet(set, runtime(), id, {}, inputs) };
      }, forEngine);
    },

    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => {
        return { outs: await applySet(set, runtime(), id, olds, news) };
      }, forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        return { id, props: await readSet(kind, runtime(), `${set.name} ${id}`, properties) };
      }, forDisplay);
    },

    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => deleteSet(set, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** The entries that name an object, as far as their ids are known. */
function adoptingIn(set: Ref, events: ReadonlyMap<string, unknown> = new Map()) {
  return [...events].flatMap(([key, entry]) => {
    const id = knownAdoption(entry);
    return id === undefined ? [] : [{ subject: memberRef(set, key), id, path: `${memberOf("events", key)}.` }];
  });
}
