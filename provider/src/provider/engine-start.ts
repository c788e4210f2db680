/**
 * When Pulumi's engine was started, whose view of the stack is no older than that: found out from the processes that this
 * one descends from.
 */
import { readFileSync } from "node:fs";
import { readStatus } from "../files/index.js";

/** The unit of start times in /proc, on every architecture that Node.js runs on (proc_pid_stat(5), USER_HZ). */
const TICKS_PER_SECOND = 100;
/** A shell and the language host stand in between, perhaps a wrapper. */
const MAX_GENERATIONS = 8;

/**
 * @param nowMs the wall clock.
 * @returns milliseconds since 1970; none where it can't be told: elsewhere than on Linux, and under `pulumi watch`, whose
 *   one process runs the engine again and again.
 */
export function engineStartedMs(nowMs: number): number | undefined {
  const read = (path: string) => readFileSync(path, "utf8");
  try {
    let pid = process.ppid;
    for (let generation = 0; generation < MAX_GENERATIONS && pid > 1; generation++) {
      const status = readStatus(pid);
      if (status === undefined) return undefined;
      if (status.name === "pulumi") {
        if (read(`/proc/${pid}/cmdline`).split("\0").includes("watch")) return undefined;
        const upMs = Number(read("/proc/uptime").split(" ")[0]) * 1000;
        const startedMs = (Number(status.started) / TICKS_PER_SECOND) * 1000;
        const ageMs = upMs - startedMs;
        return Number.isFinite(ageMs) && ageMs >= 0 ? nowMs - ageMs : undefined;
      }
      pid = status.parent;
    }
  } catch {
    // A process that has ended meanwhile.
  }
  return undefined;
}
