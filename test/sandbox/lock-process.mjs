/**
 * One of several processes that take turns at one lock: the built package's lock with real time. lock.test.ts
 * starts it with its task as JSON in the argument, and says over IPC when to begin.
 *
 * All processes note their steps in one log, one write each: steps between `holds` and `leaves` happened under the
 * lock. `dies`: in its last turn it ends while it holds the lock, without a chance to clean up.
 */
import { appendFileSync, statSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

process.umask(0); // so that only the code itself makes files private

const { acquireLock } = await import(
  new URL("../../provider/dist/files/lock.js", import.meta.url).href
);
const { systemClock } = await import(
  new URL("../../provider/dist/base/clock.js", import.meta.url).href
);

const { lock, log, turns, pauses, dies } = JSON.parse(process.argv[2]);
const note = (step) => appendFileSync(log, `${process.pid} ${step}\n`);

process.once("message", async () => {
  for (let turn = 0; turn < turns; turn++) {
    note("wants");
    const held = await acquireLock(lock, { clock: systemClock, maxWaitMs: 120_000 });
    const { mode } = statSync(lock);
    note(`holds ${(mode & 0o777).toString(8)}`);
    await setTimeout(pauses[turn]);
    if (dies !== undefined && turn === turns - 1) {
      note("dies");
      if (dies === "exit") process.exit(0);
      process.kill(process.pid, "SIGKILL");
    }
    note("leaves");
    held.release();
    await setTimeout(pauses[turn]);
  }
  process.disconnect();
});
process.send("ready");
