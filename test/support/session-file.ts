/** A sandbox with clients that share a cookie file. */
import { readdirSync, statSync } from "node:fs";
import fsp from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { expect, onTestFinished, vi } from "vitest";
import type { Sandbox, SandboxOptions } from "../../provider/src/sandbox/index.js";
import { replaceIn } from "./builtin.js";
import { TestClient, type TestClientOptions } from "./client.js";
import { FakeClock } from "./clock.js";
import { newFolder } from "./folder.js";
import { newRun } from "./run.js";
import { useSandbox } from "./stack.js";

/** Settings with which a lock is waited for as long as its holder may take. */
export const waitingAMinute = { maxWaitSeconds: 40, requestTimeoutSeconds: 20 };
export const counts = ({ logins, creates }: Sandbox) => ({ logins, creates });
export const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A sandbox, a path for a cookie file, and clients that share both, each like a separate process. */
export async function start(options: SandboxOptions = {}) {
  const sandbox = await useSandbox(options);
  const folder = newFolder();
  const file = join(folder, "session.json");
  // Files have real times, so the clock starts at the real time too.
  const client = (more: TestClientOptions = {}) =>
    new TestClient(sandbox.url, { cookieFile: file, clock: new FakeClock(Date.now()), ...more });
  return { sandbox, folder, file, client };
}

/** The same, with a session in the file. */
export async function startWithSession(options: SandboxOptions = {}, more: TestClientOptions = {}) {
  const started = await start(options);
  expect(await started.client(more).create("earlier")).toMatchObject({ kind: "created" });
  started.sandbox.resetCounts();
  return started;
}

/** A run, and the messages that its user sees. Its memory is not beside the cookie file. */
export function userRun(sandbox: Sandbox, cookieFile: string) {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => undefined);
  onTestFinished(() => warn.mockRestore());
  const run = newRun(sandbox, newFolder(), { cookieFile });
  return {
    create: (advertiserName: string) =>
      run.advertiser.create({ advertiserName, __identity: `tiny/dev::${advertiserName}` }),
    seen: () => warn.mock.calls.map(([message]) => message as string),
  };
}

/** The other files in the cookie file's folder. */
export const beside = (file: string) => readdirSync(dirname(file)).filter((name) => name !== basename(file));

/** Replaces functions of node:fs/promises until the test's end. A replaced `open` can also change the handles that it returns. */
export const replaceInFs = (replacements: Partial<Record<keyof typeof fsp, unknown>>) => replaceIn(fsp, replacements);

export function systemError(code: string, syscall: string): Error {
  return Object.assign(new Error(`${code}: injected, ${syscall}`), { code, syscall });
}
