/**
 * Real runs that are killed at random moments, on an installation that can be searched: nothing twice, nothing lost, and nobody
 * has to look. EVENTS sets how many there are, KILLS and SET_KILLS how many kills (the short version runs here; `npm run kill-test` runs the long one), SEED repeats a run.
 */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { struck, upAndKill, type Victims } from "../support/killing.js";
import { seededRandom } from "../support/random.js";
import { expectEachOnce, pendingCommand, shopOf } from "../support/recovery.js";
import { expectEachOnceInSet, setShopOf } from "../support/set-killing.js";
import { newStack, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = Number(process.env.EVENTS ?? 24);
const SET_EVENTS = 200;
const KILLS = Number(process.env.KILLS ?? 1);
const SET_KILLS = Number(process.env.SET_KILLS ?? 1);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const LATENCY_MS = 60;

const environment = {
  ADVERTISING_MARK_FIELD: "alternative_id",
  ADVERTISING_REQUEST_TIMEOUT_SECONDS: "2",
  ADVERTISING_MAX_WAIT_SECONDS: "1",
  // The sandbox carries out what it has received at once, so that nothing comes later than its sender gives up.
  ADVERTISING_OPERATIONS: JSON.stringify({
    event: { search: "GET rest/event?alternative_id={mark}" },
    advertiser: { search: "GET rest/advertiser?alternative_id={mark}" },
    resendAfterSeconds: 1,
    createdVisibleAfterSeconds: 0,
  }),
};

/** Kills one run after a random number of its creates. */
async function killOne(
  random: () => number,
  stack: TestStack,
  sandbox: Sandbox,
  victims: Victims,
  creates: number,
): Promise<number> {
  const at = Math.floor(random() * (creates + 1));
  const thenMs = random() * LATENCY_MS;
  const done = new AbortController();
  const reached = async () => {
    while (sandbox.creates < at && !done.signal.aborted) await sleep(2);
    await sleep(thenMs);
  };
  await upAndKill(stack, reached(), victims);
  done.abort();
  await stack.cancel();
  return at;
}

/** Kills a run while it waits for the answer to this request, and takes its machine's disk away. */
async function killWhileWaiting(stack: TestStack, lost: { readonly hits: number }): Promise<void> {
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  rmSync(stack.cache, { recursive: true, force: true });
}

/** As on a new machine: whatever the engine's record lists is looked for before the next `up`. */
async function loseDisk(stack: TestStack): Promise<void> {
  rmSync(stack.cache, { recursive: true, force: true });
  const pending = () => pendingCommand(stack, "--search");
  let { code, output } = await pending();
  // What has not come yet may still come: it is asked once more.
  for (let more = 0; code === 1 && more < 2; more++) {
    await sleep(3100);
    ({ code, output } = await pending());
  }
  expect(code, output).toBe(0);
}

/** Runs it again, and does nothing else. @returns how many runs it took. */
async function runUntilWell(stack: TestStack): Promise<number> {
  for (let runs = 1; ; runs++) {
    const { code, output } = await stack.up("--continue-on-error");
    if (code === 0) return runs;
    if (runs === 4) throw new Error(output);
    await sleep(3100); // the time limit, and what comes after it
  }
}

it(`${KILLS} kills of ${EVENTS} events, with a search (SEED=${seed})`, { timeout: KILLS * 120_000 }, async () => {
  const random = seededRandom(seed);
  for (let round = 0; round < KILLS; round++) {
    const sandbox = await useSandbox({ latencyMs: LATENCY_MS, operations: true });
    const stack = await newStack(shopOf(EVENTS), { sandbox, environment });
    const victims: Victims = round % 4 === 3 ? "engine" : "tree";
    const losesDisk = round % 3 === 2;
    const at = await killOne(random, stack, sandbox, victims, EVENTS + 1);
    if (losesDisk) await loseDisk(stack);
    const inFlight = sandbox.creates - (await stack.resources()).length;
    const runs = await runUntilWell(stack);
    await expectEachOnce(stack, sandbox, EVENTS, `round ${round}, ${victims} killed after ${at} creates`);
    const how = losesDisk ? ", and the disk lost" : "";
    console.log(`round ${round}: ${victims} killed after ${at} creates${how}, ${inFlight} not saved, ${runs} runs`);
  }
  console.log(`${KILLS} kills (SEED=${seed}): nothing twice, nothing unmanaged, nobody had to look`);
});

it("what `pending --search` has not found yet is saved: the next up looks for it instead of sending it", async () => {
  const sandbox = await useSandbox({ operations: true, searchLagSeconds: 600 });
  const lost = sandbox.fail({ on: "advertiser", act: true, with: { kind: "no-answer" } });
  const patient = JSON.parse(environment.ADVERTISING_OPERATIONS);
  const stack = await newStack(shopOf(0), {
    sandbox,
    environment: { ...environment, ADVERTISING_OPERATIONS: JSON.stringify({ ...patient, resendAfterSeconds: 600 }) },
  });
  await killWhileWaiting(stack, lost);
  const { code, output } = await pendingCommand(stack, "--search");
  expect(code, output).toBe(1);
  expect(output).toContain("The next `pulumi up` looks again, and from 20");
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.output).toContain("Searched for alternative_id = ");
  expect(sandbox).toMatchObject({ advertiserPosts: 1 });
});

it("R7: killed twice, the disk lost each time: both marks are looked for, and it is one resource", async () => {
  const sandbox = await useSandbox({ operations: true });
  const stack = await newStack(shopOf(0), { sandbox, environment });
  // The first create is carried out, and the second is not.
  for (const act of [true, false]) {
    await killWhileWaiting(stack, sandbox.fail({ on: "advertiser", act, with: { kind: "no-answer" } }));
  }
  const { code, output } = await pendingCommand(stack, "--search");
  expect(code, output).toBe(0);
  expect(output).toContain("Settled as created with id 1");
  expect((await stack.up()).code).toBe(0);
  expect((await stack.resources()).map(({ id }) => id)).toEqual(["1"]);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, advertisers: [{ id: 1 }] });
});

it("R7: a set that is killed twice, and then the disk lost: the marks of both runs are looked for, and only what neither sent is sent", async () => {
  const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
  const sandbox = await useSandbox({ operations: true, objects });
  const stack = await newStack(setShopOf(6), { sandbox, environment });
  const journal = () => {
    const names = readdirSync(stack.cache, { recursive: true, encoding: "utf8" });
    return names
      .flatMap((name) => (name.endsWith(".jsonl") ? readFileSync(join(stack.cache, name), "utf8") : []))
      .join();
  };
  const killAfter = async (created: number, when: () => boolean) => {
    const lost = sandbox.fail({ on: "event", after: created, act: false, times: 9, with: { kind: "no-answer" } });
    const moment = struck(lost).then(() => expect.poll(when, { timeout: 60_000 }).toBe(true));
    expect(await upAndKill(stack, moment, "tree")).toBe(true);
    lost.cancel();
    await stack.cancel();
  };
  const first = () => sandbox.events[0]?.id;
  await killAfter(1, () => journal().includes(`"id":"${first()}"`));
  // This machine's journal knows whose it is.
  const wrong = await pendingCommand(stack, "--created", `funnel["e1"]=${first()}`);
  expect(wrong.output).toContain('is not the id of "funnel["e1"]": a journal on this machine has it as');
  expect(wrong.code).toBe(2);

  // At most two were in flight: of these four, the second run begins two or more, with its own mark.
  await killAfter(4, () => true);
  expect(sandbox.events).toHaveLength(5);
  await loseDisk(stack);
  const sent = sandbox.eventPosts;
  await runUntilWell(stack);
  await expectEachOnceInSet(stack, sandbox, 6, "killed twice");
  expect(sandbox.eventPosts - sent).toBe(1);
});

it(`${SET_KILLS} kills of a set of ${SET_EVENTS}, with a search (SEED=${seed})`, {
  timeout: SET_KILLS * 120_000,
}, async () => {
  const random = seededRandom(seed + 1);
  for (let round = 0; round < SET_KILLS; round++) {
    const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
    const sandbox = await useSandbox({ latencyMs: LATENCY_MS, operations: true, objects });
    const stack = await newStack(setShopOf(SET_EVENTS), { sandbox, environment });
    const victims: Victims = round % 4 === 3 ? "engine" : "tree";
    const at = await killOne(random, stack, sandbox, victims, SET_EVENTS);
    const sent = sandbox.eventPosts;
    const losesDisk = round % 2 === 0;
    if (losesDisk) await loseDisk(stack);
    const runs = await runUntilWell(stack);
    await expectEachOnceInSet(stack, sandbox, SET_EVENTS, `round ${round}, ${victims} killed after ${at} creates`);
    expect(sandbox).toMatchObject({ updates: 0, deletes: 0 });
    const how = losesDisk ? ", and the disk lost" : "";
    console.log(`round ${round}: ${victims} killed after ${at} creates${how} (${sent} sent), ${runs} runs`);
  }
  console.log(`${SET_KILLS} kills of a set (SEED=${seed}): nothing twice, nothing unmanaged, nobody had to look`);
});
