/**
 * The face that Pulumi's dynamic providers see of a single resource: check, diff, create, read, update, delete. It hands each call to
 * `check.ts`, `single-run.ts` or `refresh.ts`, and turns what they answer into what the engine understands. The order of the calls is
 * in `run.ts`.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import { own } from "../base/index.js";
import { adoptedBy, knownAdoption } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { ACCOUNT, MARK } from "../state/index.js";
import { lookBefore } from "./before.js";
import { accountInInputs, beginCheck, checkResult, noteCheck } from "./check.js";
import { forDisplay, forEngine, guard } from "./failure.js";
import type { Properties } from "./inputs.js";
import { readSingle } from "./refresh.js";
import { newMarkInput } from "./search.js";
import type { Runtime } from "./services.js";
import { createSingle, deleteSingle, planSingle, updateSingle } from "./single-run.js";
import { beforeCreate, tellAll } from "./tell.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(kind: Kind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  const guarded = guard(runtime);

  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const check = beginCheck(kind, runtime(), olds, given);
        const { subject, briefing, isNew, values, problems } = check;
        const id = knownAdoption(values);
        const twice = await noteCheck(kind, runtime(), check, id === undefined ? [] : [{ subject, id, path: "" }]);
        if (isNew) {
          const { formerly } = briefing;
          const before = await lookBefore(kind, runtime(), subject, values, { fits: problems.length === 0, formerly });
          tellAll(runtime(), beforeCreate(kind, subject, before));
        }
        const mark = isNew && adoptedBy(values) === undefined ? newMarkInput(kind, runtime()) : undefined;
        return checkResult(runtime(), check, twice, {
          [ACCOUNT]: accountInInputs(olds, runtime().account, subject.label),
          [MARK]: own(olds, MARK) ?? mark,
        });
      }, forDisplay);
    },

    async diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        return { ...(await planSingle(kind, runtime(), id, olds, news)), deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(() => createSingle(kind, runtime(), inputs), forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        const props = await readSingle(kind, runtime(), id, properties);
        return props === undefined ? GONE : { id, props };
      }, forDisplay);
    },

    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => ({ outs: await updateSingle(kind, runtime(), id, olds, news) }), forEngine);
    },

    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => deleteSingle(kind, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** By which the engine knows that a resource does not exist any more. */
const GONE: dynamic.ReadResult = { id: "", props: {} };
