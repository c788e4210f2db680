/** The end of the provider process by a signal. */
import type { Runtime } from "./runtime.js";

/**
 * Pulumi's engine ends its provider processes with SIGINT, after it has saved the state. A service manager may send
 * SIGINT or SIGTERM to all processes of a run in its middle: the outcome of what is in flight would be lost then, also
 * to the engine, which would take it for failed. So it ends, nothing new begins, and the engine ends this process once
 * it has the outcomes.
 */
export function endBySignals(runtime: () => Runtime | undefined) {
  let isEnding = false;
  const end = () => {
    const run = runtime();
    if (run?.work.isBusy) return run.work.cancel();
    if (isEnding) return;
    isEnding = true;
    void Promise.resolve(run?.close()).finally(() => process.exit(0));
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
}
