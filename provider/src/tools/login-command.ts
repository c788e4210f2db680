/** `pulumi-advertising login`: one login, before any run and for all of them. */
import { AdvertisingError, LoginError, momentOf, type Secrets, SettingsError, withPage } from "../base/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";
import { cookieFileFor } from "../store/index.js";
import { command, say } from "./harness.js";
import { programFolder, readingOf, STACK_HELP, STACK_OPTIONS } from "./pulumi.js";

const HELP = `Usage: pulumi-advertising login [options]

Logs in with the settings of the selected stack, or of the environment if no stack is selected, and keeps the session in
the cookie file. Checks the credentials before a run, or logs in for many machines (without keepLoggedIn).

${STACK_HELP}

Exit codes: 0 logged in, or no login is needed; 1 no session for later runs, or wrong settings; 2 the stack could not be read.`;

/** This loads the HTTP library, which no other command needs. */
const http = () => import("../client/index.js");

export const loginCommand = command({
  help: HELP,
  options: STACK_OPTIONS,
  run: async (choice) => {
    const { reading, origin } = await readingOf(choice);
    const { secretsIn } = await http();
    const secrets = secretsIn(reading);
    try {
      for (const warning of reading.warnings) console.error(`Warning: ${secrets.scrub(warning)}`);
      if (reading.problems.length > 0)
        throw new SettingsError(`Nothing was sent (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
      return say(secrets.scrub(await logIn(reading, programFolder(choice), secrets, origin)));
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error;
      console.error(withPage(secrets.scrub(error.message), error.code));
      return 1;
    }
  },
});

/**
 * @param folder the program's. @param origin where the settings come from, in words.
 * @returns what to tell. @throws LoginError
 */
async function logIn(reading: SettingsReading, folder: string, secrets: Secrets, origin: string): Promise<string> {
  const { debugLog, logInAnew, systemSurroundings } = await http();
  const { settings, credentials } = reading;
  if (settings.authMode === "basic")
    return "No login is needed: with advertising:authMode basic, e-mail and password go with each request. They can't be checked without creating something.";
  const cookieFile = cookieFileFor(settings, folder);
  const surroundings = systemSurroundings(reading, cookieFile, (message) => console.error(message), secrets);
  const { clock, say: tell, transport } = surroundings;
  const scrub = (text: string) => secrets.scrub(text);
  const onAttempt = debugLog(process.env.ADVERTISING_LOG, () => momentOf(clock), scrub, tell);
  try {
    const { cure, endsAtMs } = await logInAnew(settings, { ...surroundings, onAttempt });
    const loggedIn = `Logged in as ${settings.email} at ${settings.baseUrl} (settings ${origin}), with ${credentials}.`;
    if (cookieFile === undefined)
      return `${loggedIn}\nThe session is not kept, since advertising:cookieFile is none: each run logs in for itself.`;
    if (cure !== undefined)
      throw new LoginError(
        `${loggedIn} But the session could not be kept in ${cookieFile}. ${cure}, or name another place with ` +
          "advertising:cookieFile.",
      );
    const advice = settings.keepLoggedIn
      ? "Its cookies change with each request: use the file on one machine at a time."
      : "Other machines may have a copy, which they only read. Keep it secret.";
    const end = `The session is likely good until ${new Date(endsAtMs).toISOString()}.`;
    return [loggedIn, end, `It is kept in ${cookieFile}`, advice].join("\n");
  } finally {
    await transport.close();
  }
}
