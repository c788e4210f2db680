/**
 * The face that Pulumi's dynamic providers see: each call of the engine is handed to the function that does it, of a single resource or of
 * a set, and what that answers becomes what the engine understands. Nothing is decided here, so another front end does the same beside it:
 * it calls the functions that {@link SINGLE} and {@link SET} name. What else it needs, `index.ts` says. The order of the calls is in
 * `run.ts`.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import type { Kind, SetKind } from "../kinds/index.js";
import { type CheckAnswer, checkSet, checkSingle } from "./check.js";
import { forDisplay, forEngine, guard } from "./failure.js";
import type { Properties } from "./inputs.js";
import { readSet, readSingle } from "./refresh.js";
import type { Runtime } from "./services.js";
import { planSet } from "./set-plan.js";
import { createSet, deleteSet, updateSet } from "./set-run.js";
import { createSingle, deleteSingle, planSingle, updateSingle } from "./single-run.js";

/** What the engine asks of a resource. `Properties` are inputs, or what the state holds; `outs` is what it is to hold. */
interface Calls<Resource> {
  check(resource: Resource, runtime: Runtime, olds: Properties, given: Properties): Promise<CheckAnswer>;
  /** @returns whether anything changes, and the arguments whose change replaces the resource. */
  plan(
    resource: Resource,
    runtime: Runtime,
    id: string,
    olds: Properties,
    news: Properties,
  ): Promise<{ readonly changes: boolean; readonly replaces: string[] }>;
  create(
    resource: Resource,
    runtime: Runtime,
    inputs: Properties,
  ): Promise<{ readonly id: string; readonly outs: Properties }>;
  update(resource: Resource, runtime: Runtime, id: string, olds: Properties, news: Properties): Promise<Properties>;
  /** @returns none where the object does not exist any more. */
  read(resource: Resource, runtime: Runtime, id: string, properties: Properties): Promise<Properties | undefined>;
  delete(resource: Resource, runtime: Runtime, id: string, properties: Properties): Promise<void>;
}

const SINGLE: Calls<Kind> = {
  check: checkSingle,
  plan: planSingle,
  create: createSingle,
  update: updateSingle,
  read: readSingle,
  delete: deleteSingle,
};

/** A set is updated member by member, and never replaced. */
const SET: Calls<SetKind> = {
  check: checkSet,
  plan: planSet,
  create: createSet,
  update: updateSet,
  read: readSet,
  delete: deleteSet,
};

/** @param runtime the process's runtime, once the engine has configured the provider. */
function providerOf<Resource>(
  resource: Resource,
  calls: Calls<Resource>,
  runtime: () => Runtime,
  configure: (config: dynamic.Config) => void,
) {
  const guarded = guard(runtime);
  return {
    // Synchronous on purpose: the engine awaits it for the first of several concurrent calls only.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Properties, given: Properties): Promise<dynamic.CheckResult> {
      return guarded(() => calls.check(resource, runtime(), olds, given), forDisplay);
    },

    async diff(id: string, olds: Properties, news: Properties): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        return { ...(await calls.plan(resource, runtime(), id, olds, news)), deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Properties): Promise<dynamic.CreateResult> {
      return guarded(() => calls.create(resource, runtime(), inputs), forEngine);
    },

    async read(id: string, properties: Properties = {}): Promise<dynamic.ReadResult> {
      return guarded(async () => {
        const props = await calls.read(resource, runtime(), id, properties);
        return props === undefined ? GONE : { id, props };
      }, forDisplay);
    },

    async update(id: string, olds: Properties, news: Properties): Promise<dynamic.UpdateResult> {
      return guarded(async () => ({ outs: await calls.update(resource, runtime(), id, olds, news) }), forEngine);
    },

    async delete(id: string, properties: Properties): Promise<void> {
      return guarded(() => calls.delete(resource, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** By which the engine knows that a resource does not exist any more. */
const GONE: dynamic.ReadResult = { id: "", props: {} };

export function createProvider(kind: Kind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  return providerOf(kind, SINGLE, runtime, configure);
}

export function createSetProvider(set: SetKind, runtime: () => Runtime, configure: (config: dynamic.Config) => void) {
  return providerOf(set, SET, runtime, configure);
}
