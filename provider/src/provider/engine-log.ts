/**
 * What this process says to others than through Pulumi's answers: messages in the engine's own list, each at its resource, and the
 * debug log. Pulumi shows what a provider prints only at the stack; so messages go to the engine directly, at the address that it
 * passes to the dynamic-provider process.
 */
import { appendFileSync } from "node:fs";
import * as pulumi from "@pulumi/pulumi";
import * as state from "@pulumi/pulumi/runtime/state.js";
import type { AttemptReport } from "../client/index.js";

/** Exported by Pulumi's runtime, but not in its types. */
const { getStore } = state as unknown as { getStore(): { settings: { options: { engineAddr?: string } } } };

export type Severity = "info" | "warn";

/** Tells something about the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

/** @param address the engine's, `host:port`; without it (tests without an engine) messages go to standard error. */
export function engineLog(address: string | undefined): TellAt {
  if (address !== undefined) getStore().settings.options.engineAddr ??= address;
  return async (severity, urn, message) => {
    // All that Pulumi's log asks of a resource.
    const resource = { urn: { promise: async () => urn } } as unknown as pulumi.Resource;
    await pulumi.log[severity](message, resource);
  };
}

/**
 * The debug log: one line for each attempt of a request, never a body, a cookie or a credential. Off unless `ADVERTISING_LOG` is
 * `debug` (standard error) or `debug:<file>`.
 * @param setting the value of `ADVERTISING_LOG`.
 * @param scrub removes secrets: an installation's path may hold one.
 * @returns what is told of each attempt; nothing where the log is off.
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
      say(`The debug log ${file} can't be written: ${(error as Error).message}`); // once: equal messages are said once
    }
  };
}

function describe({ method, path, attempt, durationMs, status, failure, sent }: AttemptReport): string {
  const outcome = status === undefined ? `${failure}, ${sent ? "sent" : "not sent"}` : `status ${status}`;
  return `${method} ${path} attempt ${attempt}: ${outcome} after ${Math.round(durationMs)} ms`;
}
