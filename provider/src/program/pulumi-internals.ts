/**
 * The places where this room relies on how Pulumi's Node.js SDK works inside (3.259): whose process the program runs in, what
 * stack traces cost, and how a resource that failed is printed.
 */
import * as state from "@pulumi/pulumi/runtime/state.js";
import { NAMESPACE } from "../settings/index.js";

/** Pulumi's runtime exports these, but its types do not name them. */
const { getStore, getLocalStore } = state as unknown as {
  getStore(): { settings: { options: { monitorAddr?: string }; monitor?: object } };
  getLocalStore(): unknown;
};

/** The address that Pulumi's mocks set in place of the engine's. */
const MOCK_MONITOR = "mock";

/**
 * Tells a program that shares its process, as an inline program of the automation API and a user's unit test do, from one that
 * has a process of its own, as under the CLI.
 */
export function isEmbedded(): boolean {
  return getLocalStore() !== undefined || mocksOfNow() !== undefined;
}

/** Pulumi's mocks, which stand for the engine in a user's unit test. Each `setMocks` makes other ones. */
export function mocksOfNow(): object | undefined {
  const { options, monitor } = getStore().settings;
  return options.monitorAddr === MOCK_MONITOR ? monitor : undefined;
}

/**
 * The resource classes call this around Pulumi's own constructor. Pulumi takes a stack trace for each promise that it makes for
 * a resource, four for each property, to name promises that are never settled. Behind ts-node's source maps these cost more than
 * all else that the program does for a resource (`npm run bench`). Pulumi finds the line of the user's program in another way,
 * so the state goes on naming it. No promise may be awaited before `resume`.
 */
export function pauseStackTraces(): PausedTraces {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  return {
    resume() {
      Error.stackTraceLimit = limit;
    },
    retrace(error, from) {
      Error.stackTraceLimit = limit;
      if (error instanceof Error) Error.captureStackTrace(error, from);
      return error;
    },
  };
}

interface PausedTraces {
  resume(): void;
  /** Gives an error that was thrown meanwhile the trace that it would have had, up to the caller of `from`. */
  retrace(error: unknown, from: new (...args: never) => unknown): unknown;
}

/** The same promise. Pulumi listens to it only later: until then Node.js would warn of a rejection that nobody handles. */
export function heardLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Pulumi's words for a resource that failed to register, perhaps behind the names of the properties that wait for it. */
const FAILED = new RegExp(`resource .+ \\[pulumi-nodejs:dynamic/${NAMESPACE}:\\w+\\] failed to register$`, "s");

/**
 * With `--continue-on-error` Pulumi's Node.js side prints an error of its own for each resource that failed to register, with a
 * stack trace of places in Pulumi alone; the reason stands at the resource itself. This leaves such an error just its message.
 * Other errors, and those of other packages' resources, stay as they are. The program calls it once, when it begins.
 */
export function hideStackTracesOfFailures(): void {
  // In a process of somebody else's, a listener would keep Node.js from ending at a rejection that nobody handles.
  if (isEmbedded()) return;
  // This must come before Pulumi's own listener, which prints the stack trace if there is one.
  process.prependListener("unhandledRejection", (reason) => {
    if (reason instanceof Error && FAILED.test(reason.message)) reason.stack = "";
  });
}
