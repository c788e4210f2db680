/**
 * The real client over the real transport, with time that passes at once, for tests against a local server.
 */
import { inspect } from "node:util";
import { AdvertisingError } from "../../provider/src/base/errors.js";
import type { Secrets } from "../../provider/src/base/secrets.js";
import { Client } from "../../provider/src/client/client.js";
import { secretsIn } from "../../provider/src/client/client-dependencies.js";
import { createTransport } from "../../provider/src/client/transport.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type { Kind } from "../../provider/src/kinds/kind.js";
import { readProxy } from "../../provider/src/settings/proxy.js";
import type { Settings } from "../../provider/src/settings/settings.js";
import { FakeClock } from "./clock.js";
import { settingsOf } from "./settings.js";
import { whenTestEnds } from "./when-test-ends.js";

export interface TestClientOptions {
  /** Settings that differ from the defaults below. */
  readonly settings?: Partial<Settings>;
  /** The file that keeps the session; undefined: memory. */
  readonly cookieFile?: string;
  readonly clock?: FakeClock;
  /** Proxy variables of the environment; undefined: direct connections. */
  readonly proxyVariables?: Readonly<Record<string, string>>;
}

/** How one create ended. */
export type Ending =
  | ({ readonly kind: "created" } & Awaited<ReturnType<Client["create"]>>)
  | {
      readonly kind: string;
      /** The error's message, scrubbed as it would leave the process. */
      readonly message: string;
      readonly error: Error;
    };

export class TestClient {
  readonly settings: Settings;
  readonly clock: FakeClock;
  readonly secrets: Secrets;
  /** All messages of the run, scrubbed, repetitions included. */
  readonly said: string[] = [];
  /** The debug log's line for each attempt. */
  readonly attempts: string[] = [];
  /** How often the client announced that a create was about to be sent. */
  announced = 0;
  /** Called while a create is noted. */
  whileNoting: () => void = () => undefined;
  /** Called with each id as soon as it is known. */
  onCreated: (id: string) => void = () => undefined;
  /** Closes the client before the test's end. */
  readonly close: () => Promise<void>;
  readonly #client: Client;

  constructor(
    baseUrl: string,
    { settings, cookieFile, clock, proxyVariables = {} }: TestClientOptions = {},
  ) {
    this.settings = settingsOf({ baseUrl, cookieFile, ...settings });
    this.clock = clock ?? new FakeClock();
    const reading = {
      settings: this.settings,
      proxy: readProxy(proxyVariables, baseUrl, []),
    };
    this.secrets = secretsIn(reading);
    const transport = createTransport(reading, this.clock);
    const release = whenTestEnds(() => transport.close());
    this.close = async () => {
      release();
      await transport.close();
    };
    this.#client = new Client({
      settings: this.settings,
      transport: {
        send: (request) => this.clock.during(() => transport.send(request)),
        close: () => transport.close(),
      },
      clock: this.clock,
      cookieFile,
      credentialsSource: "advertising:email and advertising:password",
      secrets: this.secrets,
      say: (message) => void this.said.push(this.secrets.scrub(message)),
      onAttempt: (words) => void this.attempts.push(words),
    });
  }

  /** Creates an advertiser. */
  create(name = "A", more: Readonly<Record<string, unknown>> = {}): Promise<Ending> {
    return this.send(
      advertiser,
      { advertiser_name: name, ...more },
      `Advertiser "${name}"`,
    );
  }

  /** Creates `count` advertisers at once: `A0`, `A1`, … */
  createMany(count: number): Promise<Ending[]> {
    return Promise.all(
      Array.from({ length: count }, (_, index) => this.create(`A${index}`)),
    );
  }

  /** Creates an event. */
  createEvent(name: string, advertiserId: number): Promise<Ending> {
    return this.send(
      conversionEvent,
      { event_name: name, advertiser_id: advertiserId, value: 1 },
      `ConversionEvent "${name}"`,
    );
  }

  async send(
    kind: Kind,
    fields: Readonly<Record<string, unknown>>,
    label: string,
  ): Promise<Ending> {
    const beforeSend = async () => {
      this.announced++;
      this.whileNoting();
    };
    try {
      return {
        kind: "created",
        ...(await this.#client.create({
          kind,
          operation: kind.create,
          fields,
          label,
          beforeSend,
          onCreated: async (id) => this.onCreated(id),
        })),
      };
    } catch (error) {
      if (!(error instanceof AdvertisingError)) throw error; // a defect, because the client throws no other errors
      return { kind: error.name, message: this.secrets.scrub(error.message), error };
    }
  }
}

/** The error's message, or an empty text if the create succeeded. */
export function messageOf(ending: Ending | undefined): string {
  return ending !== undefined && "message" in ending ? ending.message : "";
}

/** `value` as a text with everything that it refers to, hidden or not, such as an error's causes. */
export function everythingIn(value: unknown): string {
  return inspect(value, {
    depth: 20,
    showHidden: true,
    getters: true,
    maxArrayLength: 1000,
    maxStringLength: 100_000,
  });
}
