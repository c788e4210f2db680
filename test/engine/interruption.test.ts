/**
 * Runs that are interrupted with creates in flight: by Ctrl-C, twice, by SIGTERM, or by the death of the provider's process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Target, upAndKillProvider, upAndSignal } from "../support/killing.js";
import { expectEachOnce, recover, shopOf } from "../support/recovery.js";
import { newStack, useSandbox } from "../support/stack.js";

const EVENTS = 24;
/** By then several are under way at once. */
const SOME = 10;

async function received(sandbox: Sandbox, creates: number): Promise<void> {
  while (sandbox.creates < creates) await sleep(2);
}

async function start() {
  const sandbox = await useSandbox({ latencyMs: 200 });
  const stack = await newStack(shopOf(EVENTS), { sandbox });
  return { sandbox, stack };
}

const once: [NodeJS.Signals, Target][] = [
  ["SIGINT", "process"],
  ["SIGINT", "group"],
  ["SIGTERM", "process"],
  ["SIGTERM", "group"],
];
const twice: [NodeJS.Signals, Target][] = [
  ["SIGINT", "group"],
  ["SIGTERM", "process"],
];

describe("signals", () => {
  it.each(once)("row 70: %s to the %s: what is in flight ends and is saved", async (signal, target) => {
    const { sandbox, stack } = await start();
    const { code, output } = await upAndSignal(stack, [{ when: received(sandbox, SOME), signal }], target);
    expect(code, output).not.toBe(0);
    const saved = (await stack.resources()).map(({ id }) => id).sort();
    expect(saved).toEqual([...sandbox.advertisers, ...sandbox.events].map(({ id }) => String(id)).sort());
    expect(saved).toHaveLength(sandbox.creates);
    expect(saved.length).toBeGreaterThanOrEqual(SOME);
    expect(saved.length).toBeLessThan(EVENTS + 1);
    expect(JSON.parse(await stack.exported()).deployment.pending_operations ?? []).toEqual([]);

    expect((await stack.up()).code).toBe(0);
    await expectEachOnce(stack, sandbox, EVENTS, signal);
    expect(sandbox.creates).toBe(EVENTS + 1);
  });

  it.each(twice)("row 71: %s to the %s, twice: nothing twice, nothing lost", async (signal, target) => {
    const { sandbox, stack } = await start();
    const when = received(sandbox, SOME);
    const { code } = await upAndSignal(
      stack,
      [
        { when, signal },
        { when: when.then(() => sleep(50)), signal },
      ],
      target,
    );
    expect(code).not.toBe(0);
    await recover(stack, sandbox);
    await expectEachOnce(stack, sandbox, EVENTS, signal);
  });
});

it("row 71: the provider's process dies with creates in flight: nothing twice, nothing lost", async () => {
  const { sandbox, stack } = await start();
  const { code } = await upAndKillProvider(stack, received(sandbox, SOME));
  expect(code).not.toBe(0);
  await recover(stack, sandbox);
  await expectEachOnce(stack, sandbox, EVENTS, "the provider's process was killed");
});
