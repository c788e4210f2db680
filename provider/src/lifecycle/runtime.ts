/**
 * The provider process's one client, put together from the settings. All resources of a deployment share it: one login,
 * one pool of connections, one wait where the platform asks for quiet.
 */
import { randomUUID } from "node:crypto";
import { Client } from "../api/client.js";
import { systemClock } from "../clock.js";
import { describeSettingProblems, readSettings, type SettingsReading } from "../config/settings.js";
import { SettingsError } from "../errors.js";
import { PatientSender } from "../http/patient.js";
import { createTransport } from "../http/transport.js";
import { Secrets } from "../secrets.js";
import { Session } from "../session/session.js";

export interface Runtime {
  readonly reading: SettingsReading;
  readonly secrets: Secrets;
  /** @throws SettingsError where the settings do not suffice to send anything. */
  client(): Client;
  /** A message of the whole run; Pulumi shows it while the run goes on. */
  readonly say: (message: string) => void;
  readonly newMark: () => string;
}

export function createRuntime(
  config: (key: string) => string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Runtime {
  // Without a password a preview goes on; a create asks for it below.
  const reading = readSettings({ config, environment, mayLackPassword: true });
  const secrets = new Secrets();
  secrets.add(reading.settings.password);
  const said = new Set<string>();
  const say = (message: string) => {
    const clean = secrets.scrub(message);
    if (said.has(clean)) return;
    said.add(clean);
    console.warn(clean);
  };

  let client: Client | undefined;
  return {
    reading,
    secrets,
    say,
    newMark: randomUUID,
    client() {
      if (client === undefined) {
        const { problems } = readSettings({ config, environment, mayLackPassword: false });
        if (problems.length > 0) throw new SettingsError(`Nothing was sent:\n${describeSettingProblems(problems)}`);
        client = connect(reading, secrets, say);
      }
      return client;
    },
  };
}

function connect({ settings }: SettingsReading, secrets: Secrets, say: (message: string) => void): Client {
  const transport = createTransport({
    timeoutSeconds: settings.requestTimeoutSeconds,
    connections: settings.maxConcurrentRequests,
  });
  const sender = new PatientSender({
    transport,
    clock: systemClock,
    random: Math.random,
    maxWaitSeconds: settings.maxWaitSeconds,
    maxConcurrentRequests: settings.maxConcurrentRequests,
    onWait: (seconds, reason) => say(`The platform limits the rate (${reason}): all requests wait for ${seconds} s.`),
    onRetry: (seconds, reason) => say(`No connection to the platform yet (${reason}): trying for up to ${seconds} s more.`),
  });
  const session = new Session({ settings, sender, secrets, clock: systemClock });
  return new Client({ settings, session, clock: systemClock });
}
