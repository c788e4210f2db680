/**
 * Real runs that are killed at random moments and followed by ordinary ones: nothing twice, nothing lost. EVENTS sets how many there are;
 * KILLS, CHECKPOINTS_OFF_KILLS and LOSSES how many kills, without runs that end before their moment (the short version runs here; `npm run
 * kill-test` runs the long one), SEED repeats a run.
 */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { upAndKill, type Victims } from "../support/killing.js";
import { seededRandom } from "../support/random.js";
import { expectEachOnce, expectListed, recover, settlePending, shopOf } from "../support/recovery.js";
import { newStack, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = Number(process.env.EVENTS ?? 24);
const KILLS = Number(process.env.KILLS ?? 1);
/** Kills of runs that save the state at their end only: the memory alone knows what they created. */
const CHECKPOINTS_OFF_KILLS = Number(process.env.CHECKPOINTS_OFF_KILLS ?? 1);
/** Kills that take the disk along. */
const LOSSES = Number(process.env.LOSSES ?? 1);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const LATENCY_MS = 60;
const CHECKPOINTS_OFF = "the state saved at the end";

/** Resolves when the sandbox has received so many creates, and a moment later. */
async function received(sandbox: Sandbox, creates: number, thenMs: number, signal: AbortSignal): Promise<void> {
  while (sandbox.creates < creates && !signal.aborted) await sleep(2);
  await sleep(thenMs);
}

/** Kills one run after a random number of creates. */
async function killOne(random: () => number, stack: TestStack, sandbox: Sandbox, victims: Victims) {
  const at = Math.floor(random() * (EVENTS + 2));
  const done = new AbortController();
  const wasKilled = await upAndKill(stack, received(sandbox, at, random() * LATENCY_MS, done.signal), victims);
  done.abort();
  return { at, wasKilled };
}

it.each([
  { mode: "the state saved after each step", kills: KILLS, environment: {} },
  { mode: CHECKPOINTS_OFF, kills: CHECKPOINTS_OFF_KILLS, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } },
])(
  `$kills kills of ${EVENTS} events at random moments, $mode (SEED=${seed})`,
  {
    timeout: Math.max(KILLS, CHECKPOINTS_OFF_KILLS) * 120_000,
  },
  async ({ mode, kills, environment }) => {
    const random = seededRandom(seed);
    let killed = 0;
    let unresolvedInAll = 0;
    let round = 0;
    for (; killed < kills; round++) {
      const sandbox = await useSandbox({ latencyMs: LATENCY_MS });
      const stack = await newStack(shopOf(EVENTS), { sandbox, environment });
      const victims: Victims = (seed + round) % 4 === 0 ? "engine" : "tree";
      const { at, wasKilled } = await killOne(random, stack, sandbox, victims);
      if (wasKilled) killed++;
      if (mode === CHECKPOINTS_OFF) await expectListed(stack, sandbox, `round ${round}`);
      const inFlight = sandbox.creates - (await stack.resources()).length;
      // As a pipeline does, or as somebody who runs it again.
      const asksFirst = mode === CHECKPOINTS_OFF && (seed + round) % 2 === 1;
      const settled = asksFirst ? await settlePending(stack, sandbox) : 0;
      const { unresolved } = await recover(stack, sandbox);
      unresolvedInAll += unresolved + settled;
      await expectEachOnce(stack, sandbox, EVENTS, `round ${round}, ${victims} killed after ${at} creates`);
      console.log(
        `round ${round}: ${wasKilled ? `${victims} killed` : "ended"} after ${at} creates, ${inFlight} not saved, ${unresolved} unresolved, ${settled} pending`,
      );
    }
    console.log(
      `killed ${killed} of ${round} runs, ${mode} (SEED=${seed}); ${unresolvedInAll} resources were unresolved in all`,
    );
  },
);

it(`${LOSSES} kills that take the memory with them, \`pending\` before each up (SEED=${seed})`, {
  timeout: LOSSES * 120_000,
}, async () => {
  const random = seededRandom(seed + 1);
  let killed = 0;
  let pendingInAll = 0;
  let round = 0;
  for (; killed < LOSSES; round++) {
    const sandbox = await useSandbox({ latencyMs: LATENCY_MS });
    const stack = await newStack(shopOf(EVENTS), { sandbox });
    const { at, wasKilled } = await killOne(random, stack, sandbox, "tree");
    if (wasKilled) killed++;
    rmSync(stack.cache, { recursive: true, force: true });
    const pending = await settlePending(stack, sandbox);
    pendingInAll += pending;
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    await expectEachOnce(stack, sandbox, EVENTS, `round ${round}, killed after ${at} creates`);
    console.log(`round ${round}: ${wasKilled ? "killed" : "ended"} after ${at} creates, ${pending} pending`);
  }
  console.log(
    `killed ${killed} of ${round} runs, without a memory (SEED=${seed}); ${pendingInAll} creates were pending in all`,
  );
});
