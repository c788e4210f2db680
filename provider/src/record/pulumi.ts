/** Runs the Pulumi CLI. What it prints on standard output may hold secrets: no error contains it, and no file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { joined, printable } from "../base/index.js";

export interface PulumiOptions {
  executable?: string | undefined;
  cwd?: string | undefined;
  /** More environment variables. */
  environment?: NodeJS.ProcessEnv;
  /** @default 30 seconds; 0: no limit */
  timeoutMs?: number;
  /** Whether the command prints its errors on standard output, so that an error shows that too. */
  isOutputShown?: boolean;
}

/**
 * @returns what Pulumi printed on standard output. @throws Error that names the reason; with a `cause` if Pulumi has not
 * run to its end.
 */
export async function runPulumi(args: readonly string[], options: PulumiOptions = {}) {
  const { executable = "pulumi", cwd, environment, timeoutMs = 30_000 } = options;
  const folder = cwd === undefined ? [] : ["--cwd", cwd];
  const what = `\`pulumi ${args.slice(0, 2).join(" ")}\``;
  const child = spawn(executable, [...args, ...folder, "--non-interactive"], {
    env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // In a process group of its own: at the end of a run the engine interrupts the group of this process.
    detached: process.platform !== "win32",
    windowsHide: true,
    // Not `timeout`: its timer would keep a process alive whose `pulumi` could not be started.
    signal: timeoutMs > 0 ? AbortSignal.timeout(timeoutMs) : undefined,
    killSignal: "SIGKILL",
  });
  const printing = [text(child.stdout), text(child.stderr)] as const;
  const closing = once(child, "close").catch(({ code }: NodeJS.ErrnoException) => {
    if (code === "ABORT_ERR")
      throw new Error(`${what} did not end within ${timeoutMs / 1000} s`, { cause: code });
    throw new Error(
      `the command \`${executable}\` can't be run (${code}): Pulumi must be installed, and on the PATH: https://www.pulumi.com/docs/install/`,
      { cause: code },
    );
  });
  const [[code, signal], output, errors] = await Promise.all([closing, ...printing]);
  if (code === 0) return output;
  const shown = options.isOutputShown ? `${errors}\n${output}` : errors;
  const lines = joined("\n", ...shown.split("\n").map(printable));
  throw new Error(`${what} failed: ${lines || `it ended with ${code ?? signal}`}`);
}
