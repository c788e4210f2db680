/**
 * The real client over the real transport, with time that passes at once, for tests against a local server.
 */
import { randomUUID } from "node:crypto";
import { inspect } from "node:util";
import { AdvertisingError } from "../../provider/src/base/errors.js";
import type { Secrets } from "../../provider/src/base/secrets.js";
import { Client, type Created } from "../../provider/src/client/client.js";
import { type AttemptReport, secretsIn, transportFor } from "../../provider/src/client/surroundings.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type { Operation } from "../../provider/src/kinds/kind.js";
import { readProxy, type Settings } from "../../provider/src/settings/settings.js";
import { FakeClock } from "./clock.js";
import { seededRandom } from "./random.js";
import { settingsOf } from "./settings.js";
import { untilTestEnds } from "./until-test-ends.js";

export interface TestClientOptions {
  /** Anything but the defaults below. */
  readonly settings?: Partial<Settings>;
  /** Where the session is kept; absent for memory. */
  readonly cookieFile?: string;
  readonly clock?: FakeClock;
  readonly seed?: number;
  /** Read as the settings read them; absent for direct connections. */
  readonly proxyVariables?: Readonly<Record<string, string>>;
}

/** How one create ended. */
export type Ending =
  | ({ readonly kind: "created" } & Created)
  | {
      readonly kind: string;
      /** As it would leave the process: scrubbed. */
      readonly message: string;
      readonly error: Error;
    };

export class TestClient {
  readonly settings: Settings;
  readonly clock: FakeClock;
  readonly secrets: Secrets;
  /** Messages of the whole run, scrubbed, as often as they were said. */
  readonly said: string[] = [];
  readonly attempts: AttemptReport[] = [];
  /** How often a create was about to be sent. */
  announced = 0;
  /** Done while a create is noted. */
  whileNoting: () => void = () => undefined;
  /** Before the test's end. */
  readonly close: () => Promise<void>;
  readonly #client: Client;

  constructor(baseUrl: string, { settings, cookieFile, clock, seed, proxyVariables = {} }: TestClientOptions = {}) {
    this.settings = settingsOf({ baseUrl, cookieFile, ...settings });
    this.clock = clock ?? new FakeClock();
    const reading = { settings: this.settings, proxy: readProxy(proxyVariables, baseUrl).proxy };
    this.secrets = secretsIn(reading);
    const transport = transportFor(reading, this.clock);
    const release = untilTestEnds(() => transport.close());
    this.close = async () => {
      release();
      await transport.close();
    };
    this.#client = new Client(this.settings, {
      transport: {
        send: (request) => this.clock.during(() => transport.send(request)),
        close: () => transport.close(),
      },
      clock: this.clock,
      random: seededRandom(seed ?? 1),
      newId: randomUUID,
      cookieFile,
      credentials: "advertising:email and advertising:password",
      secrets: this.secrets,
      say: (message) => void this.said.push(this.secrets.scrub(message)),
      onAttempt: (report) => void this.attempts.push(report),
    });
  }

  /** Creates an advertiser. */
  create(name = "A", more: Readonly<Record<string, unknown>> = {}): Promise<Ending> {
    return this.send(advertiser.create, { advertiser_name: name, ...more }, `Advertiser "${name}"`);
  }

  /** Creates `count` advertisers at once: `A0`, `A1`, … */
  createMany(count: number): Promise<Ending[]> {
    return Promise.all(Array.from({ length: count }, (_, index) => this.create(`A${index}`)));
  }

  /** Creates an event. */
  createEvent(name: string, advertiserId: number): Promise<Ending> {
    return this.send(
      conversionEvent.create,
      { event_name: name, advertiser_id: advertiserId, value: 1 },
      `ConversionEvent "${name}"`,
    );
  }

  async send(operation: Operation, fields: Readonly<Record<string, unknown>>, label: string): Promise<Ending> {
    const beforeSend = async () => {
      this.announced++;
      this.whileNoting();
    };
    try {
      return {
        kind: "created",
        ...(await this.#client.create({ operation, fields, label, beforeSend, onCreated: async () => undefined })),
      };
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error; // a defect: the client promises nothing else
      return { kind: error.name, message: this.secrets.scrub(error.message), error };
    }
  }
}

/** The error's message, or an empty text where the create went well. */
export function messageOf(ending: Ending | undefined): string {
  return ending !== undefined && "message" in ending ? ending.message : "";
}

/** `value` with all that hangs on it, hidden or not: an error, its causes and theirs. */
export function everythingIn(value: unknown): string {
  return inspect(value, { depth: 20, showHidden: true, getters: true, maxArrayLength: 1000, maxStringLength: 100_000 });
}
