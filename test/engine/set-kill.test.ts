/**
 * Real runs of a set of 200 events, killed at random moments and followed by ordinary ones: nothing twice, nothing lost.
 * SET_KILLS sets how many, without runs that end before their moment (`npm run kill-test` runs the long version), SEED repeats a
 * run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { upAndKill, type Victims } from "../support/killing.js";
import { seededRandom } from "../support/random.js";
import { expectEachOnceInSet, recoverSet, setShopOf } from "../support/set-killing.js";
import { newStack, useSandbox } from "../support/stack.js";

const EVENTS = 200;
const KILLS = Number(process.env.SET_KILLS ?? 1);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const LATENCY_MS = 60;

async function received(sandbox: Sandbox, creates: number, thenMs: number, signal: AbortSignal): Promise<void> {
  while (sandbox.eventPosts < creates && !signal.aborted) await sleep(2);
  await sleep(thenMs);
}

it(`${KILLS} kills of a set of ${EVENTS} events at random moments (SEED=${seed})`, {
  timeout: KILLS * 120_000,
}, async () => {
  const random = seededRandom(seed);
  let killed = 0;
  let unresolvedInAll = 0;
  let round = 0;
  for (; killed < KILLS; round++) {
    const sandbox = await useSandbox({
      latencyMs: LATENCY_MS,
      objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] },
    });
    const stack = await newStack(setShopOf(EVENTS), { sandbox });
    const victims: Victims = (seed + round) % 2 === 1 ? "engine" : "tree";
    const at = Math.floor(random() * (EVENTS + 2));
    const done = new AbortController();
    const wasKilled = await upAndKill(stack, received(sandbox, at, random() * LATENCY_MS, done.signal), victims);
    done.abort();
    if (wasKilled) killed++;
    const sent = sandbox.eventPosts;
    const unresolved = await recoverSet(stack, sandbox);
    unresolvedInAll += unresolved;
    await expectEachOnceInSet(stack, sandbox, EVENTS, `round ${round}, ${victims} killed after ${at} creates`);
    console.log(
      `round ${round}: ${wasKilled ? `${victims} killed` : "ended"} after ${at} creates (${sent} sent), ${unresolved} unresolved`,
    );
  }
  console.log(`killed ${killed} of ${round} runs (SEED=${seed}); ${unresolvedInAll} events were unresolved in all`);
});

it("renamed right after a kill: nothing new is sent, since an alias renames just what was saved, and the rename is undone first", async () => {
  const sandbox = await useSandbox({ latencyMs: 300, objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const renamed = setShopOf(40)
    .replace('"funnel"', '"flow"')
    .replace("events });", 'events }, { aliases: [{ name: "funnel" }] });');
  const stack = await newStack(setShopOf(40), { sandbox });
  const done = new AbortController();
  expect(await upAndKill(stack, received(sandbox, 20, 0, done.signal), "tree")).toBe(true);
  await stack.cancel();
  const sent = () => sandbox.eventPosts;
  stack.program(renamed);
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  expect(stopped.output).toContain("If you renamed or moved them: undo that");
  const before = sent();
  stack.program(setShopOf(40));
  await recoverSet(stack, sandbox);
  stack.program(renamed);
  expect((await stack.up()).code).toBe(0);
  await expectEachOnceInSet(stack, sandbox, 40, "renamed");
  expect(before).toBeLessThan(40);
  expect(sent()).toBe(40);
});
