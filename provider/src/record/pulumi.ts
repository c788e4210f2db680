/** Runs the Pulumi CLI. What it prints on standard output may hold secrets: no error contains it, and no file. */
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { type Environment, joined, printable } from "../base/index.js";

export interface PulumiOptions {
  executable?: string | undefined;
  cwd?: string | undefined;
  /** More environment variables. */
  environment?: Environment;
  /** @default 30 seconds; 0: no limit */
  timeoutMs?: number;
  /** Whether the command prints its errors on standard output, so that an error shows that too. */
  isOutputShown?: boolean;
}

export type RunPulumi = typeof runPulumi;

/** @returns what Pulumi printed on standard output. @throws Error that names the reason. */
export async function runPulumi(
  args: readonly string[],
  options: PulumiOptions = {},
): Promise<string> {
  const { executable = "pulumi", cwd, environment, timeoutMs = 30_000 } = options;
  const folder = cwd === undefined ? [] : ["--cwd", cwd];
  const child = spawn(executable, [...args, ...folder, "--non-interactive"], {
    env: { ...process.env, PULUMI_SKIP_UPDATE_CHECK: "true", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
    // In a process group of its own: at the end of a run the engine interrupts the group of this process.
    detached: process.platform !== "win32",
    windowsHide: true,
  });
  let isLate = false;
  const late = () => {
    isLate = true;
    child.kill("SIGKILL");
  };
  const timer = timeoutMs > 0 ? setTimeout(late, timeoutMs) : undefined;
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? signal ?? ""));
  });
  try {
    const printing = [text(child.stdout), text(child.stderr)] as const;
    const [how, output, errors] = await Promise.all([ended, ...printing]);
    if (how === 0) return output;
    const what = `\`pulumi ${args.slice(0, 2).join(" ")}\``;
    if (isLate) throw new Error(`${what} did not end within ${timeoutMs / 1000} s`);
    const shown = options.isOutputShown ? `${errors}\n${output}` : errors;
    const lines = joined("\n", ...shown.split("\n").map(printable));
    throw new Error(`${what} failed: ${lines || `it ended with ${how}`}`);
  } catch (error) {
    throw startError(executable, error as NodeJS.ErrnoException);
  } finally {
    clearTimeout(timer);
  }
}

function startError(executable: string, error: NodeJS.ErrnoException): Error {
  if (error.code === "ENOENT" && executable === "pulumi")
    return new Error(
      "the `pulumi` command is not on the PATH; to install it: https://www.pulumi.com/docs/install/",
    );
  if (error.code === "ENOENT") return new Error(`${executable} does not exist`);
  if (error.code === "EACCES")
    return new Error(`\`${executable}\` may not be run (EACCES)`);
  return error;
}
