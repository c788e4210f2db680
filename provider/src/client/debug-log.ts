/** The debug log of requests, to see what was sent: `ADVERTISING_LOG`. */
import { appendFileSync } from "node:fs";
import type { AttemptReport } from "./surroundings.js";

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
