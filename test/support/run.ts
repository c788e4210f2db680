/**
 * The provider as in one Pulumi process, with the real client and its files on the disk, called as by the engine.
 */
import { join } from "node:path";
import { expect } from "vitest";
import { createProvider } from "../../provider/src/dynamic/provider.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import {
  conversionEvent,
  conversionEventSet,
} from "../../provider/src/kinds/event-kind.js";
import type { Kind } from "../../provider/src/kinds/kind.js";
import {
  createRuntime,
  type Runtime,
  type Severity,
} from "../../provider/src/operations/runtime.js";
import { whenTestEnds } from "./when-test-ends.js";

export interface RunOptions {
  /** @default session.json in the folder */
  readonly cookieFile?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Replaces parts of the runtime. */
  readonly adapt?: (runtime: Runtime) => Runtime;
}

/** @param platform a sandbox, in this process or another. @param folder has the cookie file and the journal. */
export function newRun(
  platform: { readonly url: string; readonly email: string; readonly password: string },
  folder: string,
  {
    cookieFile = join(folder, "session.json"),
    settings,
    environment = {},
    adapt = (runtime) => runtime,
  }: RunOptions = {},
) {
  const { url: baseUrl, email, password } = platform;
  const config: Record<string, string> = {
    baseUrl,
    email,
    password,
    cookieFile,
    ...settings,
  };
  const told: {
    readonly severity: Severity;
    readonly urn: string;
    readonly message: string;
  }[] = [];
  const real = createRuntime(
    (key) => config[key],
    environment,
    async (severity, urn, message) => {
      told.push({ severity, urn, message });
    },
    { folder: join(folder, "stacks") },
  );
  const said: string[] = [];
  const runtime = adapt({
    ...real,
    say: (message) => void said.push(real.secrets.scrub(message)),
  });
  const release = whenTestEnds(() => real.closeNow());
  const providerOf = (kind: Kind) =>
    createProvider(
      kind,
      () => runtime,
      () => undefined,
    );
  return {
    runtime,
    /** Messages about the whole run, scrubbed, repetitions included. */
    said,
    /** Messages about single resources. */
    told,
    set: createProvider(
      conversionEventSet,
      () => runtime,
      () => undefined,
    ),
    advertiser: providerOf(advertiser),
    event: providerOf(conversionEvent),
    /** Ends the process as a kill does: the lock is released, and the journal's records stay. */
    kill: () => {
      release();
      return real.abandon();
    },
    /** The run ends cleanly. */
    closeNow: () => {
      release();
      real.closeNow();
    },
  };
}

/** The error that the engine gets for a failed create. */
export function failureOf(
  creating: Promise<unknown>,
): Promise<Error & { id?: string; properties?: unknown }> {
  return creating.then(
    () => expect.fail("it did not fail"),
    (error: Error) => error,
  );
}
