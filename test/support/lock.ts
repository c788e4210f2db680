/** Lock files as other processes and other machines leave them. */
import { spawnSync } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { processIdentity } from "../../provider/src/files/lock.js";

/** The content of a lock that the process `pid` of this machine holds, with `more` changed. */
export function lockText(
  pid: number,
  more: Partial<ReturnType<typeof processIdentity>> = {},
): string {
  return JSON.stringify({ ...processIdentity(pid), ...more, unique: "other" });
}

/** The number of a process that has ended. */
export const deadPid = () => spawnSync(process.execPath, ["-e", ""]).pid;

/** The content of a lock that a process of another machine holds. */
export const foreignLock = JSON.stringify({
  host: "elsewhere",
  machine: "elsewhere",
  pid: 1,
  unique: "foreign",
});

/** Another machine's process takes over the lock, as it may after a long time without a heartbeat. */
export function takeOver(lock: string): void {
  rmSync(lock);
  writeFileSync(lock, foreignLock, { mode: 0o600 });
}
