/** `pulumi-advertising login`: one login, before any run and for all of them. */
import { parseArgs } from "node:util";
import { AdvertisingError, SettingsError, withCode } from "../base/index.js";
import { describeSettingProblems } from "../settings/index.js";
import type { StackOptions } from "./pulumi.js";
import { readingOf } from "./reading.js";
import { refuseUnknownOptions } from "./unknown.js";

export const LOGIN_HELP = `Usage: pulumi-advertising login [options]

Logs in once, with the settings of the selected stack, or of the environment where no stack is selected, and keeps the
session in the cookie file for the runs that follow. Checks the credentials before a run, and lets one job log in for many:
the file of a short session may be copied to other machines, which just read it. That of a long-lived session
(keepLoggedIn) may not: its cookies change with each request, so one machine at a time can use it.

  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder

Exit codes: 0 logged in, or no login is needed; 1 there is no session for later runs, with the reason; 2 called wrongly, or
the stack's settings could not be read.`;

interface Options {
  /** For `pulumi`. */
  readonly passed: StackOptions;
  /** The program's folder. */
  readonly folder: string;
}

/** @returns the exit code. @throws Error in words, for exit code 2. */
export async function loginCommand(args: readonly string[]): Promise<number> {
  const options = readOptions(args);
  if (options === undefined) {
    console.log(LOGIN_HELP);
    return 0;
  }
  const { reading, origin } = await readingOf(options);
  // Loaded here: no other command needs the HTTP library.
  const { logIn, secretsIn } = await import("./log-in.js");
  const secrets = secretsIn(reading);
  const interrupt = () => {
    console.error("Interrupted: no session was stored.");
    process.exit(130);
  };
  process.once("SIGINT", interrupt);
  try {
    for (const warning of reading.warnings) console.error(`Warning: ${secrets.scrub(warning)}`);
    if (reading.problems.length > 0) {
      throw new SettingsError(`Nothing was sent (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
    }
    console.log(secrets.scrub(await logIn(reading, options.folder, secrets, origin)));
    return 0;
  } catch (error) {
    if (!(error instanceof AdvertisingError)) throw error;
    console.error(withCode(secrets.scrub(error.message), error.code));
    return 1;
  } finally {
    process.off("SIGINT", interrupt);
  }
}

function readOptions(args: readonly string[]): Options | undefined {
  const one = { type: "string" } as const;
  const options = { stack: one, cwd: one, help: { type: "boolean", short: "h" } } as const;
  refuseUnknownOptions(args, options);
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return undefined;
  const passed = (["stack", "cwd"] as const).flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  );
  return { passed, folder: values.cwd ?? process.cwd() };
}
