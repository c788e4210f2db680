/** One login for the runs that follow, and what is told of it. */
import { randomUUID } from "node:crypto";
import { LoginError, type Secrets, systemClock } from "../base/index.js";
import { logInAnew, type NewSession, transportFor } from "../client/index.js";
import { debugLog } from "../provider/index.js";
import type { SettingsReading } from "../settings/index.js";
import { placesFor } from "../store/index.js";

export { secretsIn } from "../client/index.js";

/**
 * @param folder the program's. @param origin where the settings come from, in words.
 * @returns what to tell. @throws LoginError
 */
export async function logIn(
  reading: SettingsReading,
  folder: string,
  secrets: Secrets,
  origin: string,
): Promise<string> {
  const { settings } = reading;
  if (settings.authMode === "basic") {
    return "No login is needed: with advertising:authMode basic, e-mail and password go with each request. They can't be checked without creating something.";
  }
  const { cookieFile } = placesFor(settings, folder);
  const transport = transportFor(reading);
  const say = (message: string) => console.error(secrets.scrub(message));
  const now = () => new Date(systemClock.wallMs()).toISOString();
  try {
    const session = await logInAnew(settings, {
      transport,
      clock: systemClock,
      random: Math.random,
      newId: randomUUID,
      cookieFile,
      secrets,
      say,
      onAttempt: debugLog(process.env.ADVERTISING_LOG, now, (text) => secrets.scrub(text), say),
    });
    const loggedIn = `Logged in as ${settings.email} at ${settings.baseUrl} (settings ${origin}).`;
    if (cookieFile === undefined) {
      return `${loggedIn}\nThe session is not kept, since advertising:cookieFile is none: each run logs in for itself.`;
    }
    if (!session.isKept) {
      throw new LoginError(
        `${loggedIn} But the session could not be kept in ${cookieFile}, so each run would log in for itself. Make that file and its ` +
          "folder writable for you alone, or name another place with advertising:cookieFile.",
      );
    }
    return [loggedIn, describe(session), `It is kept in ${cookieFile}`, adviceFor(settings.keepLoggedIn)].join("\n");
  } finally {
    await transport.close();
  }
}

function describe({ endsAtMs, isEndStated }: NewSession): string {
  const source = isEndStated
    ? "as the platform's answer says"
    : "the platform's default, since its answer does not say";
  return `The session is likely good until ${new Date(endsAtMs).toISOString()} (${source}).`;
}

function adviceFor(isLongLived: boolean): string {
  return isLongLived
    ? "Its cookies change with each request: use the file on one machine at a time, and copy it to no second one."
    : "Runs with the same address, e-mail and password use it. It may be copied to other machines, which just read it. Keep it secret.";
}
