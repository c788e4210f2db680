/** What Pulumi's SDK (3.259) knows about a program and its resources, and does not export. */
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import { asRecord, joined } from "../base/index.js";

/** As Pulumi prints it with `--fully-qualify-stack-names`. */
export function stackOfProgram(): string {
  const stack = `${pulumi.getProject()}/${pulumi.getStack()}`;
  try {
    return `${pulumi.getOrganization()}/${stack}`;
  } catch {
    // Pulumi throws if there is none, as in users' tests.
    return `organization/${stack}`;
  }
}

/** As a URN has them; `undefined` for the stack, every resource's parent. */
export function typesOf(parent: unknown): string | undefined {
  // These names are Pulumi's own, and the same in every copy of it.
  const { __pulumiType: type, __parentResource: above } = asRecord(parent);
  if (type === undefined || type === "pulumi:pulumi:Stack") return undefined;
  return joined("$", typesOf(above), String(type));
}

/** Pulumi's runtime exports these, but its types do not name them. */
const pulumiState = state as unknown as {
  getStore(): { settings: { options: { monitorAddr?: string }; monitor?: object } };
  getLocalStore(): unknown;
};

/** Whether the program shares its process, as an inline program of the automation API and a user's unit test do. */
export function isEmbedded(): boolean {
  return pulumiState.getLocalStore() !== undefined || currentMocks() !== undefined;
}

/** Pulumi's mocks, which stand for the engine in a user's unit test. Each `setMocks` makes other ones. */
export function currentMocks(): object | undefined {
  const { options, monitor } = pulumiState.getStore().settings;
  if (options.monitorAddr === "mock") return monitor;
  return undefined;
}

/**
 * The resource classes call this around Pulumi's own constructor, which takes a stack trace for each of its promises.
 * Behind ts-node's source maps these cost more than all else that the program does for a resource (`npm run bench`).
 * Pulumi finds the line of the user's program in another way. No promise may be awaited before `resume`.
 */
export function pauseStackTraces(from: new (...args: never) => unknown) {
  const limit = Error.stackTraceLimit;
  Error.stackTraceLimit = 0;
  /** Gives an error that was thrown meanwhile the trace that it would have had, up to the caller of `from`. */
  return function resume<T>(error?: T): T | undefined {
    Error.stackTraceLimit = limit;
    if (error instanceof Error) Error.captureStackTrace(error, from);
    return error;
  };
}

/** Pulumi listens to this promise only later: until then Node.js would warn of a rejection that nobody handles. */
export function heardLater<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return promise;
}

/** Calls `then` once the program has ended, waits included, and nothing failed. For the engine it has not ended yet. */
export function onceEndedWell(then: () => void): void {
  if (isEmbedded()) {
    pulumi.runtime.getStackResource()?.outputs.apply(() => setImmediate(then));
    return;
  }
  let hasFailed = false;
  process.once("uncaughtExceptionMonitor", () => {
    hasFailed = true;
  });
  // This must come before Pulumi's own listener, which prints the stack trace if there is one: with
  // `--continue-on-error`, one with places in Pulumi alone for each failed registration.
  process.prependListener("unhandledRejection", (reason) => {
    hasFailed = true;
    if (!(reason instanceof Error)) return;
    const isOurs = /\[pulumi-nodejs:dynamic\/advertising:.*failed to register$/s;
    if (isOurs.test(reason.message)) reason.stack = "";
  });
  process.once("beforeExit", (code) => {
    if (!hasFailed && code === 0) then();
  });
}
