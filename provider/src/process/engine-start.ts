/**
 * When Pulumi's engine was started, whose view of the stack is no older than that: found out from the processes that this
 * one descends from.
 */
import { readFileSync, readlinkSync } from "node:fs";

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
    // Another container's /proc may stand in the place of ours.
    if (readlinkSync("/proc/self") !== String(process.pid)) return undefined;
    let pid = process.ppid;
    for (let generation = 0; generation < MAX_GENERATIONS && pid > 1; generation++) {
      const status = read(`/proc/${pid}/stat`);
      const name = status.slice(status.indexOf("(") + 1, status.lastIndexOf(")"));
      // After the name: state, parent, …; the 22nd of all is the start, since the system was started.
      const fields = status.slice(status.lastIndexOf(")") + 2).split(" ");
      if (name === "pulumi") {
        if (read(`/proc/${pid}/cmdline`).split("\0").includes("watch")) return undefined;
        const upMs = Number(read("/proc/uptime").split(" ")[0]) * 1000;
        const startedMs = (Number(fields[19]) / TICKS_PER_SECOND) * 1000;
        const ageMs = upMs - startedMs;
        return Number.isFinite(ageMs) && ageMs >= 0 ? nowMs - ageMs : undefined;
      }
      pid = Number(fields[1]);
    }
  } catch {
    // No /proc, or a process that has ended meanwhile.
  }
  return undefined;
}
