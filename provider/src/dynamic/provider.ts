/**
 * Pulumi's dynamic providers: each passes the engine's calls to `operations/`, and returns results in the engine's
 * form. They decide nothing, and scrub outgoing errors.
 */

import type * as dynamic from "@pulumi/pulumi/dynamic";
import { ArgumentsError, type Values } from "../base/index.js";
import type { AnyKind } from "../kinds/index.js";
import {
  applyResource,
  check,
  deleteResource,
  describeError,
  diffResource,
  ResourceFailure,
  type Runtime,
  readResource,
} from "../operations/index.js";
import { programContextIn, refOf, SENDER, takenAwayMessage } from "../state/index.js";

/** @param runtime the process's runtime, once the engine has configured the provider. */
export function createProvider(
  resource: AnyKind,
  runtime: () => Runtime,
  configure: (config: dynamic.Config) => void,
) {
  /** Wraps a call of the engine: an error is noted for the end of the run, and scrubbed. */
  const guarded = <Given extends unknown[], T>(
    work: (...given: Given) => T | Promise<T>,
  ) => {
    return async (...given: Given) => {
      try {
        return await work(...given);
      } catch (error) {
        runtime().deployment.hasFailed = true;
        throw shownError(error, runtime());
      }
    };
  };

  /** @throws ArgumentsError if the resource was not declared with this package's classes. */
  const refIn = (inputs: Values) => {
    const context = programContextIn(inputs);
    if (context) return { ref: refOf(resource.name, context.identity), context };
    throw new ArgumentsError(takenAwayMessage(`This ${resource.name}`, SENDER));
  };

  return {
    // Synchronous on purpose: the engine awaits it only for the first of several concurrent calls.
    async configure(request: dynamic.ConfigureRequest) {
      configure(request.config);
    },

    check: guarded(async (olds: Values, news: Values) => {
      const { ref, context } = refIn(news);
      const { inputs, failures } = await check(runtime(), ref, {
        context,
        olds,
        news,
      });
      // No property is named, since the engine prints the value of a named property, even a secret one.
      return { inputs, failures: failures.map((reason) => ({ property: "", reason })) };
    }),

    diff: guarded((id, olds: Values, news: Values) => {
      return diffResource(runtime(), refIn(news).ref, { id, olds, news });
    }),

    create: guarded((inputs: Values) => {
      return applyResource(runtime(), refIn(inputs).ref, {
        id: "",
        olds: {},
        news: inputs,
      });
    }),

    read: guarded(async (id, properties: Values = {}) => {
      const found = await readResource(resource, runtime(), id, properties);
      // An empty id tells the engine that the object no longer exists.
      return found ?? { id: "", props: {} };
    }),

    update: guarded(async (id, olds: Values, news: Values) => {
      const { ref } = refIn(news);
      return applyResource(runtime(), ref, { id, olds, news });
    }),

    delete: guarded((id, properties: Values) => {
      return deleteResource(resource, runtime(), { id, properties });
    }),
  } satisfies dynamic.ResourceProvider;
}

/**
 * A scrubbed copy of an error, without stack, cause and properties, which may have secrets in them. For most calls,
 * Pulumi prints `<error>: <stack>`, which {@link silenceShown} drops. The engine shows the message at the resource.
 */
function shownError(error: unknown, { secrets }: Runtime) {
  const message = secrets.scrub(describeError(error));
  const shown = new Error(message);
  shown.stack = SHOWN_AT_RESOURCE;
  shown.toString = () => SHOWN_AT_RESOURCE;
  if (!(error instanceof ResourceFailure) || !error.saved) return shown;
  const { id, properties } = error.saved;
  return Object.assign(shown, { id, properties, reasons: [message] });
}

/** Stands for an error and its stack on standard error. Nothing else prints this text. */
const SHOWN_AT_RESOURCE = "[Pulumi shows this error at the resource]";

/** Drops the line that Pulumi's provider process prints for {@link shownError}: the engine shows the error itself. */
export function silenceShown() {
  const print = console.error;
  console.error = (...values: unknown[]) => {
    if (values[0] !== `${SHOWN_AT_RESOURCE}: ${SHOWN_AT_RESOURCE}`) print(...values);
  };
}
