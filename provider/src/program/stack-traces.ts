/**
 * Pulumi notes a stack trace for each promise that it makes for a resource, four for each property, to name promises that
 * are never settled. Behind ts-node's source maps these cost more than all else that the program does for a resource
 * (`npm run bench`). The place in the user's program is found in another way, and stays.
 */

/** Switches stack traces off. Only for a stretch of synchronous code. */
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
  /** Gives an error that was thrown meanwhile the trace it would have had, up to the caller of `from`. */
  retrace(error: unknown, from: new (...args: never) => unknown): unknown;
}
