/** The end of the provider process by a signal. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Runtime } from "./runtime.js";

/** So long after a call's result is known, the engine has it. */
const RESPONSE_MS = 100;

/** The engine kills a process that takes longer. Without an engine, it ends all the same. */
const MAX_END_MS = 6000;

/**
 * Pulumi's engine ends its provider processes with SIGINT, after it has saved the state. A service manager may send
 * SIGINT or SIGTERM to all processes of a run in its middle: if this one ended then, the engine would take what is in
 * flight for failed, and nothing would know the objects. So nothing new begins, what is in flight ends, and the engine ends
 * this process once it has the outcomes. @param hasEngine whether an engine does: none has started a plugin that is
 * debugged.
 */
export function endBySignals(runtime: () => Runtime | undefined, hasEngine = true) {
  let isEnding = false;
  const end = async () => {
    const run = runtime();
    run?.work.cancel();
    if (isEnding || (hasEngine && run?.work.isBusy)) return;
    isEnding = true;
    await run?.work.end();
    await sleep(Math.max(0, RESPONSE_MS - (run?.work.idleMs ?? RESPONSE_MS)));
    setTimeout(() => process.exit(1), MAX_END_MS);
    await run?.close().catch(() => undefined);
    process.exit(0);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => void end());
}
