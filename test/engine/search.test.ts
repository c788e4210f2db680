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
const OBJECTS = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };

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

it.each([
  [KILLS, `${EVENTS} events`, shopOf(EVENTS), EVENTS + 1, 3],
  [SET_KILLS, `a set of ${SET_EVENTS}`, setShopOf(SET_EVENTS), SET_EVENTS, 2],
] as const)(
  `%i kills of %s, with a search (SEED=${seed})`,
  { timeout: Math.max(KILLS, SET_KILLS) * 120_000 },
  async (kills, what, shop, creates, every) => {
    const random = seededRandom(seed + every);
    for (let round = 0; round < kills; round++) {
      const isSet = shop !== shopOf(EVENTS);
      const sandbox = await useSandbox({ latencyMs: LATENCY_MS, operations: true, ...(isSet && { objects: OBJECTS }) });
      const stack = await newStack(shop, { sandbox, environment });
      const victims: Victims = round % 4 === 3 ? "engine" : "tree";
      const at = await killOne(random, stack, sandbox, victims, creates);
      const sent = sandbox.creates;
      const losesDisk = round % every === every - 2;
      if (losesDisk) await loseDisk(stack);
      const runs = await runUntilWell(stack);
      const how = `round ${round}: ${victims} killed after ${at} creates${losesDisk ? ", and the disk lost" : ""}`;
      if (isSet) await expectEachOnceInSet(stack, sandbox, SET_EVENTS, how);
      else await expectEachOnce(stack, sandbox, EVENTS, how);
      expect(sandbox).toMatchObject({ updates: 0, deletes: 0 });
      console.log(`${how} (${sent} sent), ${runs} runs`);
    }
    console.log(`${kills} kills of ${what} (SEED=${seed}): nothing twice, nothing unmanaged, nobody had to look`);
  },
);

it("a set that is killed twice, and then the disk lost: both runs sent the same marks, and only what neither sent is sent", async () => {
  const sandbox = await useSandbox({ operations: true, objects: OBJECTS });
  const stack = await newStack(setShopOf(6), { sandbox, environment });
  const memory = () =>
    readdirSync(stack.cache, { recursive: true, encoding: "utf8" })
      .flatMap((name) => (name.endsWith(".jsonl") ? readFileSync(join(stack.cache, name), "utf8") : []))
      .join();
  const killAfter = async (created: number, when: () => boolean) => {
    const lost = sandbox.fail({ on: "event", after: created, act: false, times: 9, with: { kind: "no-answer" } });
    const moment = struck(lost).then(() => expect.poll(when, { timeout: 60_000 }).toBe(true));
    expect(await upAndKill(stack, moment, "tree")).toBe(true);
    lost.cancel();
    await stack.cancel();
  };
  const first = () => sandbox.events[0]?.id;
  await killAfter(1, () => memory().includes(`"id":"${first()}"`));
  // This machine's memory knows whose it is.
  const wrong = await pendingCommand(stack, "--created", `funnel["e1"]=${first()}`);
  expect(wrong.output).toContain('is not the id of "funnel/e1": the memory of this machine has it as');
  expect(wrong.code).toBe(2);

  // At most two were in flight: of these four, the second run begins two or more.
  await killAfter(4, () => true);
  expect(sandbox.events).toHaveLength(5);
  await loseDisk(stack);
  const sent = sandbox.eventPosts;
  await runUntilWell(stack);
  await expectEachOnceInSet(stack, sandbox, 6, "killed twice");
  expect(sandbox.eventPosts - sent).toBe(1);
});
