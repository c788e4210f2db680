/**
 * What the client is made of, apart from its settings: whatever comes from outside is an argument. The provider and the commands make
 * it, and each part of the client is handed the same one.
 */
import { randomUUID } from "node:crypto";
import { type Clock, Secrets, systemClock } from "../base/index.js";
import type { Disk } from "../files/index.js";
import type { SettingsReading } from "../settings/index.js";
import { createTransport, type Transport } from "./transport.js";

type Reading = Pick<SettingsReading, "settings" | "proxy">;

export interface Surroundings {
  readonly transport: Transport;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Unique over all processes. */
  readonly newId: () => string;
  /** The session is kept there between runs; none for memory. Not used with Basic credentials, which have no session. */
  readonly cookieFile: string | undefined;
  /** Where the cookie file is. @default the machine's */
  readonly disk?: Disk | undefined;
  /** Where e-mail and password come from, in words. */
  readonly credentials: string;
  /** Gets to know the session's cookies too. */
  readonly secrets: Secrets;
  /** Called with what concerns the whole run, perhaps more than once. */
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
  return createTransport({
    timeoutSeconds: settings.requestTimeoutSeconds,
    connections: settings.maxConcurrentRequests,
    clock,
    proxy,
  });
}

/** Collects what the settings hold that must not be shown. */
export function secretsIn({ settings, proxy }: Reading): Secrets {
  const secrets = new Secrets();
  secrets.add(settings.password);
  for (const spelling of proxy?.secrets ?? []) secrets.add(spelling);
  return secrets;
}

/**
 * Makes the surroundings of a process that has one client: the system's clock and chance, and the real connections, which the caller
 * closes.
 * @param say is given scrubbed text.
 */
export function systemSurroundings(
  reading: Reading & Pick<SettingsReading, "credentials">,
  cookieFile: string | undefined,
  say: (message: string) => void,
  secrets = secretsIn(reading),
): Surroundings {
  return {
    transport: transportFor(reading),
    clock: systemClock,
    random: Math.random,
    newId: randomUUID,
    cookieFile,
    credentials: reading.credentials,
    secrets,
    say: (message) => say(secrets.scrub(message)),
  };
}
