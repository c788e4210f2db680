/** The client's dependencies: settings, transport, clock, and more. All parts of a client share them. */
import { type Clock, isoNow, Secrets, systemClock } from "../base/index.js";
import { appendPrivate } from "../files/index.js";
import {
  environmentNameOf,
  NAMESPACE,
  SETTING_NAMES,
  type Settings,
  type SettingsReading,
} from "../settings/index.js";
import { type ClientSettings, createTransport, type Transport } from "./transport.js";

export interface ClientDependencies {
  settings: Settings;
  transport: Transport;
  clock: Clock;
  /**
   * Where the session is kept between runs; `undefined`: in memory. Not used with Basic credentials: they have no
   * session.
   */
  cookieFile: string | undefined;
  /** Where e-mail and password come from, for messages. */
  credentialsSource: string;
  /** The session's cookies are added to it. */
  secrets: Secrets;
  /** Prints a message about the whole run, scrubbed of secrets. It may get a message twice, and prints it once. */
  say: (message: string) => void;
  /** Throws a `NotSentError` once no request may be sent any more. */
  assertGoesOn?: () => void;
  /** Called for each attempt to send a request, with a line that has no body and no header. */
  onAttempt?: ((line: string) => void) | undefined;
}

export function secretsIn({ settings, proxy }: ClientSettings) {
  const names = SETTING_NAMES.flatMap((name) => [
    `${NAMESPACE}:${name}`,
    environmentNameOf(name),
  ]);
  const secrets = new Secrets(names);
  for (const secret of [settings.password, ...(proxy?.secrets ?? [])]) secrets.add(secret);
  return secrets;
}

/**
 * The dependencies of a process with one client: real connections, which the caller closes.
 * @param tell is given scrubbed text.
 */
export function systemDependencies(
  reading: SettingsReading,
  cookieFile: string | undefined,
  secrets: Secrets,
  tell: (message: string) => void,
) {
  const { settings, credentialsSource } = reading;
  const say = (message: string) => tell(secrets.scrub(message));
  return {
    settings,
    transport: createTransport(reading),
    clock: systemClock,
    cookieFile,
    credentialsSource,
    secrets,
    say,
    onAttempt: debugLog(secrets, say),
  };
}

/**
 * The debug log: one line for each attempt of a request, never a body, a cookie or a credential. Off unless
 * `ADVERTISING_LOG` is set; `debug:<file>` writes to the file, `debug` to standard error.
 * @returns what to call with each attempt.
 */
function debugLog(secrets: Secrets, say: ClientDependencies["say"]) {
  const { ADVERTISING_LOG: setting = "" } = process.env;
  if (setting === "") return undefined;
  const [known, file] = /^debug(?::(.+))?$/.exec(setting) ?? [];
  if (known === undefined) {
    say("ADVERTISING_LOG has no effect: it is neither debug nor debug:<file>.");
    return undefined;
  }
  return (words: string) => {
    // An installation's path may hold a secret.
    const line = `${isoNow(systemClock)} ${secrets.scrub(words)}\n`;
    try {
      if (file === undefined) process.stderr.write(line);
      else appendPrivate(file, line);
    } catch (error) {
      // Printed once, as equal messages are.
      say(`The debug log ${file} can't be written: ${(error as Error).message}`);
    }
  };
}
