/**
 * Thousands of creates in one process, with sessions that end and cookies that rotate. The sandbox runs in a separate
 * process, so that the journal measured here is the client's.
 */

import { fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it, onTestFinished } from "vitest";
import { TestClient } from "../support/client.js";
import { newFolder } from "../support/folder.js";
import { newRun } from "../support/run.js";
import { journalLines } from "../support/set-engine.js";
import { senderOf } from "../support/stored.js";

const CREATES = 3000;
const AT_ONCE = 16;
/** Anything that the client kept for each create would be far more than this. */
const MAX_GROWTH_BYTES_PER_CREATE = 500;
/** A run's journal has one record for each, and so does what the run knows of its resources. */
const MAX_GROWTH_WITH_MEMORY_BYTES = 2500;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

interface Counts {
  readonly logins: number;
  readonly creates: number;
  readonly maxOpenConnections: number;
  readonly objects: number;
}

async function sandboxProcess(options: object) {
  const child = fork(resolve(import.meta.dirname, "../support/sandbox-process.mjs"), [
    JSON.stringify(options),
  ]);
  onTestFinished(() => void child.disconnect());
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const counts = async () => {
    child.send("counts");
    const [answer] = (await once(child, "message")) as [Counts];
    return answer;
  };
  return { url, counts };
}

async function heapBytes(): Promise<number> {
  // Objects with finalizers are freed only in a later collection.
  for (let round = 0; round < 5; round++) {
    collectGarbage();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return process.memoryUsage().heapUsed;
}

/** Creates all, a hundred at once, and checks the costs. */
async function soak(
  sandbox: Awaited<ReturnType<typeof sandboxProcess>>,
  create: (name: string) => Promise<void>,
  maxLogins: number,
  maxGrowthBytes = MAX_GROWTH_BYTES_PER_CREATE,
): Promise<void> {
  let heapAtFirst = 0;
  for (let done = 0; done < CREATES; done += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, n) => create(`A${done + n}`)));
    if (done === 1000) heapAtFirst = await heapBytes();
  }
  const growth = ((await heapBytes()) - heapAtFirst) / (CREATES - 1100);
  const counts = await sandbox.counts();
  console.log(
    `${counts.creates} POSTs, ${counts.logins} logins, ${counts.maxOpenConnections} sockets, ${growth.toFixed(0)} bytes a create`,
  );
  expect(counts.objects).toBe(CREATES);
  expect(counts.logins).toBeLessThanOrEqual(maxLogins);
  expect(counts.maxOpenConnections).toBeLessThanOrEqual(AT_ONCE + counts.logins);
  expect(growth).toBeLessThan(maxGrowthBytes);
}

const loginsPerMinute = 1000;
// Each login serves 100 requests, and refused ones do not count.
const ending = { sessionRequests: 100, loginsPerMinute };
const MAX_LOGINS = CREATES / 100 + 1;
const title = `${CREATES} creates: journal flat, sockets bounded, few logins`;

describe.each<[string, object, boolean, number]>([
  ["sessions that end every 100 requests", ending, false, MAX_LOGINS],
  ["a long-lived session with rotating cookies", { loginsPerMinute }, true, 1],
])("%s", (_, options, keepLoggedIn, maxLogins) => {
  it(title, { timeout: 120_000 }, async () => {
    const sandbox = await sandboxProcess(options);
    const client = new TestClient(sandbox.url, {
      settings: { keepLoggedIn, maxConcurrentRequests: AT_ONCE },
    });
    const create = async (name: string) => {
      expect(await client.create(name)).toMatchObject({ kind: "created" });
      client.attempts.length = 0;
      client.clock.sleeps.length = 0;
    };
    await soak(sandbox, create, maxLogins);
  });
});

describe("as the engine calls it, with the journal and the cookie file on the disk", () => {
  it(title, { timeout: 120_000 }, async () => {
    const sandbox = await sandboxProcess(ending);
    const folder = newFolder();
    const platform = {
      url: sandbox.url,
      email: "ops@example.com",
      password: "sandbox-password",
    };
    const run = newRun(platform, folder, {
      settings: { maxConcurrentRequests: String(AT_ONCE) },
    });
    const create = async (name: string) => {
      const __sender = senderOf(`tiny/dev::${name}`);
      await run.advertiser.declare({ advertiserName: name, __sender });
    };
    await soak(sandbox, create, MAX_LOGINS, MAX_GROWTH_WITH_MEMORY_BYTES);
    expect(journalLines(folder).filter((each) => / created \d+$/.test(each))).toHaveLength(
      CREATES,
    );
    await run.close();
    const left = readdirSync(folder, { recursive: true }).filter((name) =>
      /jsonl|lock|tmp/.test(String(name)),
    );
    expect(left).toEqual([]);
  });
});
