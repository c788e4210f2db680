/**
 * The client, put together: from the session's file to the connection. Whatever comes from outside is an argument.
 */
import { randomUUID } from "node:crypto";
import { type Clock, Secrets, systemClock } from "../base/index.js";
import type { Settings, SettingsReading } from "../settings/index.js";
import { Client } from "./client.js";
import { type NewSession, renewSession } from "./login.js";
import { type AttemptReport, PatientSender } from "./patient.js";
import { Session } from "./session.js";
import { memoryStore, type SessionStore, SharedStore } from "./session-store.js";
import { createTransport, type Transport } from "./transport.js";

type Reading = Pick<SettingsReading, "settings" | "proxy">;

/** All that the client is made of, except for the settings. */
export interface Surroundings {
  readonly transport: Transport;
  readonly clock: Clock;
  /** From 0 up to 1. */
  readonly random: () => number;
  /** Unique over all processes. */
  readonly newId: () => string;
  /** The session is kept there between runs; none for memory. Not used with Basic credentials, which have no session. */
  readonly cookieFile: string | undefined;
  /** Gets to know the session's cookies too. */
  readonly secrets: Secrets;
  /** Told what concerns the whole run, perhaps more than once. */
  readonly say: (message: string) => void;
  /** Told each attempt of a request. */
  readonly onAttempt?: ((report: AttemptReport) => void) | undefined;
}

/** The real connections that the settings ask for. */
export function transportFor({ settings, proxy }: Reading): Transport {
  return createTransport({
    timeoutSeconds: settings.requestTimeoutSeconds,
    connections: settings.maxConcurrentRequests,
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
  reading: Reading,
  cookieFile: string | undefined,
  say: (message: string) => void,
): Surroundings {
  const secrets = secretsIn(reading);
  return {
    transport: transportFor(reading),
    clock: systemClock,
    random: Math.random,
    newId: randomUUID,
    cookieFile,
    secrets,
    say: (message) => say(secrets.scrub(message)),
  };
}

export function connect(settings: Settings, surroundings: Surroundings): Client {
  const { clock, secrets } = surroundings;
  const sender = senderFor(settings, surroundings);
  const session = new Session({ settings, sender, secrets, clock, store: storeFor(settings, surroundings) });
  return new Client({ settings, session, clean: (text) => secrets.scrub(text) });
}

/** Logs in once, whatever session is stored, and keeps the new one. @throws LoginError */
export function logInAnew(settings: Settings, surroundings: Surroundings): Promise<NewSession> {
  const { clock, secrets } = surroundings;
  return renewSession({
    settings,
    sender: senderFor(settings, surroundings),
    // All operations that are documented are below it: a cookie that is good for one of them is good there.
    usedAt: new URL(`${settings.baseUrl}/rest/`),
    clean: (text) => secrets.scrub(text),
    clock,
    store: storeFor(settings, surroundings),
    stored: storeFor(settings, surroundings),
  });
}

function senderFor(settings: Settings, { transport, clock, random, say, onAttempt }: Surroundings): PatientSender {
  return new PatientSender({
    transport,
    clock,
    random,
    maxWaitSeconds: settings.maxWaitSeconds,
    maxConcurrentRequests: settings.maxConcurrentRequests,
    onWait: (seconds, reason) => say(`The platform limits the rate (${reason}): all requests wait for ${seconds} s.`),
    onRetry: (seconds, reason) =>
      say(`No connection to the platform yet (${reason}): trying for up to ${seconds} s more.`),
    ...(onAttempt === undefined ? {} : { onAttempt }),
  });
}

function storeFor(settings: Settings, { cookieFile, clock, newId, say }: Surroundings): SessionStore {
  if (cookieFile === undefined || settings.authMode === "basic") return memoryStore(newId);
  return new SharedStore({
    path: cookieFile,
    account: settings,
    password: settings.password ?? "",
    keepLoggedIn: settings.keepLoggedIn,
    clock,
    newId,
    // Another process's login may have to wait for the rate limit, as long as this one would.
    maxLockWaitMs: (settings.maxWaitSeconds + settings.requestTimeoutSeconds) * 1000,
    say,
  });
}
