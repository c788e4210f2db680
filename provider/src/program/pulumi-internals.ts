/**
 * Facts about a program and its resources that Pulumi's SDK (3.259) does not export, or not in its types. Where they
 * aren't found, an error says so: a guess could give two resources one key.
 */
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import { asRecord, hasValue, joined, listIn, own } from "../base/index.js";
import { typesIn } from "../state/index.js";

/** `<organization>/<project>/<stack>`, as Pulumi prints it with `--fully-qualify-stack-names`. */
export function stackOfProgram() {
  const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
  try {
    return `${pulumi.getOrganization()}/${stack}`;
  } catch {
    // Pulumi throws if there is no organization, as in users' unit tests.
    return `organization/${stack}`;
  }
}

function unknownPulumi(what: string) {
  const { version } = require("@pulumi/pulumi/package.json");
  return new pulumi.RunError(
    `pulumi-advertising doesn't know @pulumi/pulumi ${version}: ${what}. Nothing was sent. Update pulumi-advertising, or install @pulumi/pulumi 3.259.0.`,
  );
}

const STACK_TYPE = "pulumi:pulumi:Stack";

/**
 * The types of a resource and its parents, as in a URN; undefined for the stack.
 * @param parent a resource or its URN. @throws pulumi.RunError
 */
export function typesOf(parent: unknown): string | undefined {
  if (!hasValue(parent)) return undefined;
  if (typeof parent === "string") {
    const types = typesIn(parent);
    return types === STACK_TYPE ? undefined : types;
  }
  // Pulumi's constructor refuses it.
  if (!pulumi.Resource.isInstance(parent)) return undefined;
  // These properties are Pulumi's own, and the same in every copy of its SDK.
  const { __pulumiType: type, __parentResource: above } = asRecord(parent);
  if (typeof type !== "string") throw unknownPulumi("the parent of a resource has no type");
  if (type === STACK_TYPE) return undefined;
  return joined("$", typesOf(above), type);
}

/** A transformation that transforms its resource after all others, which otherwise a parent's or the stack's would. */
export function transformLast(transform: pulumi.ResourceTransformation) {
  let ours: pulumi.Resource | undefined;
  const last: typeof transform = (args) =>
    args.resource === ours ? transform(args) : undefined;
  return ({ resource }: pulumi.ResourceTransformationArgs) => {
    // A child inherits its parent's transformations.
    if (!ours) listIn(asRecord(resource).__transformations).push(last);
    ours ??= resource;
    return undefined;
  };
}

/** In a preview: ends the program with an error if the engine gets a new resource without one of its inputs. */
export function expectKept(
  resource: pulumi.Resource,
  inputs: readonly string[],
  errorOf: (input: string) => Error,
) {
  setImmediate(async () => {
    const { urn: _, id, ...outputs } = asRecord(resource);
    const isKnown = (value: unknown) => own(value, "isKnown");
    // Rejected if the registration fails.
    const [isOld, ...known] = await Promise.all(
      [id, ...Object.values(outputs)].map(isKnown),
    ).catch(() => []);
    if (isOld || !known.includes(true)) return;
    for (const input of inputs) if (!(await isKnown(outputs[input]))) throw errorOf(input);
  });
}

/** The connection to the engine. */
interface Monitor {
  signalAndWaitForShutdown?(request: object, done: (error: object) => void): void;
}

/** Exported by Pulumi's runtime, but not in its types. */
const pulumiState = state as {
  getStore?(): { settings?: { options?: { monitorAddr?: string }; monitor?: Monitor } };
  getLocalStore(): unknown;
};

/** Whether the program shares its process, as an inline program of the automation API and a user's unit test do. */
export function isEmbedded() {
  return pulumiState.getLocalStore() !== undefined || currentMocks() !== undefined;
}

/**
 * Pulumi's mocks, which replace the engine in a user's unit test; undefined otherwise. Each `setMocks` makes new ones.
 * @throws pulumi.RunError
 */
export function currentMocks() {
  const { options, monitor } = pulumiState.getStore?.()?.settings ?? {};
  if (!options || !pulumiState.getLocalStore)
    throw unknownPulumi("its runtime keeps its settings elsewhere");
  if (options.monitorAddr === "mock") return monitor;
}

/**
 * Switches off stack traces around Pulumi's own constructor, which takes one for each of its promises. With ts-node's
 * source maps, these cost more than everything else that the program does for a resource (`npm run bench`). Pulumi
 * doesn't need them to find the line of the user's program. Nothing may be awaited before `resume`.
 */
export function pauseStackTraces(from: new (...args: never) => unknown) {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  /** Gives an error that was thrown in between the stack trace that it would have had, up to the caller of `from`. */
  return function resume<T>(error?: T) {
    Error.stackTraceLimit = limit;
    if (error instanceof Error) Error.captureStackTrace(error, from);
    return error;
  };
}

/** gRPC's status UNAVAILABLE: for Pulumi's SDK, the engine has ended before. The SDK then reports the program's errors. */
const ALREADY_ENDED = { code: 14 };

/**
 * Keeps an inline program of the automation API that has errors from ending as if it had none: the engine would delete
 * what the program has not declared. For programs of the CLI, Pulumi's SDK does the same.
 */
export function endOnlyWithoutErrors() {
  const { monitor } = pulumiState.getStore?.()?.settings ?? {};
  const signal = monitor?.signalAndWaitForShutdown;
  if (!monitor || !signal) return;
  monitor.signalAndWaitForShutdown = (request, done) => {
    if (pulumi.log.hasErrors()) done(ALREADY_ENDED);
    else signal.call(monitor, request, done);
  };
}

/** Keeps Node.js from reporting an unhandled rejection before Pulumi listens to the promise. */
export function awaitLater<T>(promise: Promise<T>) {
  promise.catch(() => undefined);
  return promise;
}

/**
 * Silences the stack trace that Pulumi prints for each failed registration with `--continue-on-error`, and which names
 * only places in Pulumi.
 */
export function silenceFailedRegistrations() {
  if (isEmbedded()) return;
  // Runs before Pulumi's own listener, which prints the trace.
  process.prependListener("unhandledRejection", (reason) => {
    if (!(reason instanceof Error)) return;
    const isOurs = /\[pulumi-nodejs:dynamic\/advertising:.*failed to register$/s;
    if (isOurs.test(reason.message)) reason.stack = "";
  });
}
