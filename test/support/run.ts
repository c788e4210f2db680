/**
 * The provider as one process of Pulumi has it, with the real client and its files on the disk, called as the engine does.
 */
import { join } from "node:path";
import { expect } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent, conversionEventSet } from "../../provider/src/kinds/event-kind.js";
import type { Kind } from "../../provider/src/kinds/kind.js";
import { createProvider, createSetProvider } from "../../provider/src/provider/dynamic.js";
import type { Severity } from "../../provider/src/provider/engine.js";
import { createRuntime, type Runtime } from "../../provider/src/provider/services.js";
import { untilTestEnds } from "./until-test-ends.js";

export interface RunOptions {
  /** @default session.json in the folder; the journal stands beside it. */
  readonly cookieFile?: string;
  readonly settings?: Readonly<Record<string, string>>;
  readonly environment?: Readonly<Record<string, string>>;
  /** Takes something of the process's for something else. */
  readonly adapt?: (runtime: Runtime) => Runtime;
}

/** @param platform a sandbox, in this process or in another one. */
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
  const config: Record<string, string> = { baseUrl, email, password, cookieFile, ...settings };
  const told: { readonly severity: Severity; readonly urn: string; readonly message: string }[] = [];
  const real = createRuntime(
    (key) => config[key],
    environment,
    async (severity, urn, message) => {
      told.push({ severity, urn, message });
    },
  );
  const said: string[] = [];
  const runtime = adapt({ ...real, say: (message) => void said.push(real.secrets.scrub(message)) });
  const release = untilTestEnds(() => real.closeNow());
  const providerOf = (kind: Kind) =>
    createProvider(
      kind,
      () => runtime,
      () => undefined,
    );
  return {
    runtime,
    /** Messages of the whole run, scrubbed, as often as they were said. */
    said,
    /** Messages at resources. */
    told,
    set: createSetProvider(
      conversionEventSet,
      () => runtime,
      () => undefined,
    ),
    advertiser: providerOf(advertiser),
    event: providerOf(conversionEvent),
    /** The process is gone as after a kill: its lock is free, its notes are there. */
    kill: () => {
      release();
      return real.abandon();
    },
    /** The program has ended well, and so does the run. */
    closeNow: () => {
      release();
      const { run } = real;
      if (run.isUp === true && run.identity !== undefined) {
        run.program ??= "program";
        real.inventory(run.identity).noteEnded(run.program);
      }
      real.closeNow();
    },
  };
}

/** What the engine is told of a create that fails. */
export function failureOf(creating: Promise<unknown>): Promise<Error & { id?: string; properties?: unknown }> {
  return creating.then(
    () => expect.fail("it did not fail"),
    (error: Error) => error,
  );
}
