/**
 * Runs of Pulumi that are killed, with everything that they started or without.
 */
import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import type { TestStack } from "./stack.js";

/** `tree`: every process of the run at once, as when a machine dies. `engine`: Pulumi's own alone; its plugins are left behind. */
export type Victims = "tree" | "engine";

/**
 * Starts `pulumi up` and kills it without warning when `when` resolves.
 * @returns whether it was killed before it had ended by itself.
 */
export async function upAndKill(stack: TestStack, when: Promise<unknown>, victims: Victims): Promise<boolean> {
  const child = spawn("pulumi", ["up", "--yes", "--skip-preview", "--non-interactive"], {
    cwd: stack.programFolder,
    env: stack.environment,
    detached: true, // a session of its own, so that all that it starts can be found
    stdio: "ignore",
  });
  const ended = new Promise<boolean>((resolve) => child.once("close", () => resolve(true)));
  if (await Promise.race([ended, when.then(() => false)])) return false;
  const pid = child.pid ?? 0;
  for (const victim of victims === "engine" ? [pid] : [pid, ...sessionOf(pid)]) kill(victim);
  await ended;
  return true;
}

/** Every process of the session that `leader` leads (Linux). */
function sessionOf(leader: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        // After the name in parentheses: state, parent, group, session.
        const status = readFileSync(`/proc/${pid}/stat`, "utf8");
        return Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[3]) === leader;
      } catch {
        return false; // ended meanwhile
      }
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}
