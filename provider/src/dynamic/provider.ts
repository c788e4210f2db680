/**
 * For Pulumi's dynamic providers: passes each engine call to its operation, and returns the result in the engine's form.
 * Decides nothing; scrubs outgoing errors.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import {
  AdvertisingError,
  ArgumentsError,
  InternalError,
  own,
  type Secrets,
  type Values,
  withPage,
} from "../base/index.js";
import type { Kind, ResourceName, SetKind } from "../kinds/index.js";
import {
  check,
  createResource,
  deleteResource,
  describeDefect,
  planResource,
  ResourceFailure,
  type Runtime,
  readResource,
  updateResource,
} from "../operations/index.js";
import {
  IDENTITY,
  type ProgramContext,
  type ResourceRef,
  readProgramContext,
  refOf,
} from "../state/index.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(
  resource: Kind | SetKind,
  runtime: () => Runtime,
  configure: (config: dynamic.Config) => void,
) {
  const guarded = guard(runtime);
  const refFor = (inputs: Values) => refIn(resource.name, inputs).ref;
  return {
    // Synchronous on purpose: the engine awaits it only for the first of several concurrent calls.
    async configure(request: dynamic.ConfigureRequest): Promise<void> {
      configure(request.config);
    },

    async check(olds: Values, given: Values): Promise<dynamic.CheckResult> {
      return guarded(async () => {
        const { ref, context } = refIn(resource.name, given);
        const { inputs, failures } = await check(resource, runtime(), ref, {
          context,
          olds,
          news: given,
        });
        // The engine prints each reason after "resource '<name>' has a problem: ", and before it the value of the
        // property that is named, even a secret one: so none is named.
        return { inputs, failures: failures.map((reason) => ({ property: "", reason })) };
      }, forDisplay);
    },

    async diff(id: string, olds: Values, news: Values): Promise<dynamic.DiffResult> {
      return guarded(async () => {
        const plan = await planResource(resource, runtime(), refFor(news), { id, olds, news });
        return { ...plan, deleteBeforeReplace: false };
      }, forDisplay);
    },

    async create(inputs: Values): Promise<dynamic.CreateResult> {
      return guarded(
        () => createResource(resource, runtime(), refFor(inputs), inputs),
        forEngine,
      );
    },

    async read(id: string, properties: Values = {}): Promise<dynamic.ReadResult> {
      return guarded(
        async () => (await readResource(resource, runtime(), id, properties)) ?? GONE,
        forDisplay,
      );
    },

    async update(id: string, olds: Values, news: Values): Promise<dynamic.UpdateResult> {
      const updated = () =>
        updateResource(resource, runtime(), refFor(news), { id, olds, news });
      return guarded(async () => ({ outs: await updated() }), forEngine);
    },

    async delete(id: string, properties: Values): Promise<void> {
      return guarded(() => deleteResource(resource, runtime(), id, properties), forDisplay);
    },
  } satisfies dynamic.ResourceProvider;
}

/** The resource that inputs are about. @throws ArgumentsError it was not declared with this package's classes. */
function refIn(
  resource: ResourceName,
  inputs: Values,
): { readonly ref: ResourceRef; readonly context: ProgramContext } {
  const context = readProgramContext(own(inputs, IDENTITY));
  if (context !== undefined) return { ref: refOf(resource, context.identity), context };
  throw new ArgumentsError(
    `This ${resource} was not declared with a class of pulumi-advertising: nothing is sent for it.`,
  );
}

/** With this the engine learns that a resource no longer exists. */
const GONE: dynamic.ReadResult = { id: "", props: {} };

/** For `create`, `update`: the engine prints only the message. A new object: causes and properties may hold secrets. */
function forEngine(error: unknown, secrets: Secrets): Error {
  const message = secrets.scrub(messageOf(error));
  const shown = Object.assign(new Error(message), { stack: "" });
  if (!(error instanceof ResourceFailure) || error.saved === undefined) return shown;
  return Object.assign(shown, { ...error.saved, reasons: [message] });
}

/** Other calls: Pulumi prints `<error>: <stack>` ({@link silenceShown} drops it), then the message at the resource. */
function forDisplay(error: unknown, secrets: Secrets): Error {
  const shown = new Error(secrets.scrub(messageOf(error)));
  shown.stack = SHOWN_AT_RESOURCE;
  shown.toString = () => SHOWN_AT_RESOURCE;
  return shown;
}

/** A text that nothing else prints. */
const SHOWN_AT_RESOURCE = "[the engine shows this error at its resource]";

/** Drops the line that Pulumi's provider process prints for {@link forDisplay}: the engine shows the error itself. */
export function silenceShown(): void {
  const print = console.error;
  console.error = (...values: unknown[]) => {
    if (values[0] !== `${SHOWN_AT_RESOURCE}: ${SHOWN_AT_RESOURCE}`) print(...values);
  };
}

function messageOf(error: unknown): string {
  if (error instanceof AdvertisingError) return withPage(error.message, error.code);
  if (error instanceof ResourceFailure) return withPage(error.message, error.code);
  return withPage(describeDefect(error), InternalError.code);
}

/** Runs a call of the engine. Any failure leaves scrubbed and without a stack. */
function guard(runtime: () => Runtime) {
  return async <T>(
    work: () => T | Promise<T>,
    asError: (error: unknown, secrets: Secrets) => Error,
  ): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      runtime().deployment.hasFailed = true;
      throw asError(error, runtime().secrets);
    }
  };
}
