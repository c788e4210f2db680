/** What the client needs from outside, apart from its settings. Each part of it gets the same. */
import { appendFileSync } from "node:fs";
import { type Clock, Secrets, systemClock } from "../base/index.js";
import type { SettingsReading } from "../settings/index.js";
import { createTransport, type Transport } from "./transport.js";

type Reading = Pick<SettingsReading, "settings" | "proxy">;

export interface Surroundings {
  readonly transport: Transport;
  readonly clock: Clock;
  /** Where the session is kept between runs; none to keep it in memory. Not used with Basic credentials, which have no session. */
  readonly cookieFile: string | undefined;
  /** Where e-mail and password come from, in words. */
  readonly credentials: string;
  /** The session's cookies are added to it. */
  readonly secrets: Secrets;
  /** Called with messages about the whole run, perhaps repeatedly. */
  readonly say: (message: string) => void;
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
}

/** One attempt to send a request, without anything that may be secret. */
export interface AttemptReport {
  readonly method: string;
  readonly path: string;
  readonly attempt: number;
  readonly durationMs: number;
  readonly status?: number;
  readonly failure?: string;
  readonly sent?: boolean;
}

export function transportFor({ settings, proxy }: Reading, clock: Clock = systemClock): Transport {
  const { requestTimeoutSeconds: timeoutSeconds, maxConcurrentRequests: connections } = settings;
  return createTransport({ timeoutSeconds, connections, clock, proxy });
}

/** Collects the secrets in the settings. */
export function secretsIn({ settings, proxy }: Reading): Secrets {
  const secrets = new Secrets();
  secrets.add(settings.password);
  for (const spelling of proxy?.secrets ?? []) secrets.add(spelling);
  return secrets;
}

/** The surroundings of a process with one client: real connections, which the caller closes. @param say is given scrubbed text. */
export function systemSurroundings(
  reading: Reading & Pick<SettingsReading, "credentials">,
  cookieFile: string | undefined,
  say: (message: string) => void,
  secrets = secretsIn(reading),
): Surroundings {
  return {
    transport: transportFor(reading),
    clock: systemClock,
    cookieFile,
    credentials: reading.credentials,
    secrets,
    say: (message) => say(secrets.scrub(message)),
  };
}

/**
 * The debug log: one line for each attempt of a request, never a body, a cookie or a credential. Off unless `ADVERTISING_LOG` is
 * `debug` (standard error) or `debug:<file>`.
 * @param setting the value of `ADVERTISING_LOG`.
 * @param scrub removes secrets: an installation's path may hold one.
 * @returns what to call with each attempt; nothing if the log is off.
 */
export function debugLog(
  setting: string | undefined,
  now: () => string,
  scrub: (text: string) => string,
  say: (message: string) => void,
): ((report: AttemptReport) => void) | undefined {
  if (setting === undefined || setting === "") return undefined;
  const file = /^debug:(.+)$/.exec(setting)?.[1];
  if (setting !== "debug" && file === undefined) {
    say(`ADVERTISING_LOG is not understood: it takes debug or debug:<file>.`);
    return undefined;
  }
  return (report) => {
    const line = `${now()} ${scrub(describe(report))}\n`;
    if (file === undefined) {
      process.stderr.write(line);
      return;
    }
    try {
      appendFileSync(file, line, { mode: 0o600 });
    } catch (error) {
      say(`The debug log ${file} can't be written: ${(error as Error).message}`); // printed once, as equal messages are
    }
  };
}

function describe({ method, path, attempt, durationMs, status, failure, sent }: AttemptReport): string {
  const outcome = status === undefined ? `${failure}, ${sent ? "sent" : "not sent"}` : `status ${status}`;
  return `${method} ${path} attempt ${attempt}: ${outcome} after ${Math.round(durationMs)} ms`;
}
