/** A sandbox with clients that share a cookie file. */

import fs, { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { expect } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { replaceIn } from "./builtin.js";
import { TestClient, type TestClientOptions } from "./client.js";
import { FakeClock } from "./clock.js";
import { newFolder } from "./folder.js";
import { type InstallationOptions, resetCounts, useSandbox } from "./installation.js";
import { newRun } from "./run.js";
import { senderOf } from "./stored.js";

export const modeOf = (path: string) => statSync(path).mode & 0o777;

/** A sandbox, a path for a cookie file, and clients that share both, each like a separate process. */
export async function start(options: InstallationOptions = {}) {
  const sandbox = await useSandbox(options);
  const folder = newFolder();
  const file = join(folder, "session.json");
  // Files have real times, so the clock starts at the real time too.
  const client = (more: TestClientOptions = {}) =>
    new TestClient(sandbox.url, {
      cookieFile: file,
      clock: new FakeClock(Date.now()),
      ...more,
    });
  return { sandbox, folder, file, client };
}

/** The same, with a session in the file. */
export async function startWithSession(
  options: InstallationOptions = {},
  more: TestClientOptions = {},
) {
  const started = await start(options);
  expect(await started.client(more).create("earlier")).toMatchObject({ kind: "created" });
  resetCounts(started.sandbox);
  return started;
}

/** A run, and the messages that its user sees. Its journal is not beside the cookie file. */
export function userRun(sandbox: Sandbox, cookieFile: string) {
  const run = newRun(sandbox, newFolder(), { cookieFile });
  return {
    create: (advertiserName: string) =>
      run.advertiser.declare({
        advertiserName,
        __sender: senderOf(`tiny/dev::${advertiserName}`),
      }),
    seen: () => run.told.map(({ message }) => message),
  };
}

/** The other files in the cookie file's folder. */
export const beside = (file: string) =>
  readdirSync(dirname(file)).filter((name) => name !== basename(file));

/**
 * Until the test ends, makes calls of `step` fail with `code` if the file's path contains `part`, and matches `made` if
 * that is given. @returns a function that returns the number of failed calls.
 */
export function failing(
  step: "openSync" | "writeFileSync" | "fsyncSync" | "renameSync",
  part: string,
  code: string,
  made?: RegExp,
) {
  const { openSync, [step]: original } = fs;
  const opened = new Map<unknown, string>();
  let hits = 0;
  const changed = (...args: unknown[]) => {
    const path = String(opened.get(args[0]) ?? args[0]);
    if (!path.includes(part) || made?.test(path) === false)
      return (original as (...args: unknown[]) => unknown)(...args);
    hits++;
    throw Object.assign(new Error(`${code}: injected, ${step}`), { code, syscall: step });
  };
  const noting = (path: string, ...rest: [string, number]) => {
    const file = openSync(path, ...rest);
    opened.set(file, path);
    return file;
  };
  replaceIn(fs, { openSync: noting, [step]: changed });
  return () => hits;
}
