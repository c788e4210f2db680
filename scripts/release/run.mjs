import { Problem, run } from "../lib/base.mjs";

/** Runs a program quietly. @throws Problem with what it printed, if it fails. */
export async function succeed(program, args, options = {}) {
  const { exitCode, output } = await run(program, args, { capture: true, ...options });
  if (exitCode !== 0)
    throw new Problem(`${output}\n\`${[program, ...args].join(" ")}\` failed.`, exitCode);
  return output;
}
