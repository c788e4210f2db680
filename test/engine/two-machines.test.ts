/** A stack that two machines apply: the lock between them, a kill on one, the recovery on the other. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { upAndKill } from "../support/killing.js";
import { expectEachOnce, settlePending, shopOf } from "../support/recovery.js";
import { newStack, type RunResult, useSandbox } from "../support/stack.js";

const EVENTS = 12;
/** Creates that are carried out, and whose answer the first machine waits for until it is killed. */
const IN_FLIGHT = 3;

it("the first one is killed with creates in flight, the second one, which has no memory, takes the stack over, and the first one goes on", async () => {
  const sandbox = await useSandbox();
  const first = await newStack(shopOf(EVENTS), { sandbox });
  const second = await first.onAnotherMachine();
  const unanswered = sandbox.fail({ on: "event", act: true, times: IN_FLIGHT, after: 5, with: { kind: "no-answer" } });
  let meanwhile: RunResult | undefined;
  const locked = async () => {
    while (sandbox.creates < EVENTS + 1) await sleep(10);
    meanwhile = await second.up();
    // What was answered is saved.
    while ((await second.resources()).length < EVENTS + 1 - IN_FLIGHT) await sleep(10);
  };
  expect(await upAndKill(first, locked(), "tree")).toBe(true);
  expect(meanwhile?.output, "the lock between the machines").toContain("the stack is currently locked by 1 lock(s)");
  expect(meanwhile?.code).not.toBe(0);
  expect(sandbox.creates, "sent by the first machine alone").toBe(EVENTS + 1);
  expect(unanswered.remaining).toBe(0);

  expect(await settlePending(second, sandbox), "from the engine's own record").toBe(IN_FLIGHT);
  const { code, output } = await second.up();
  expect(code, output).toBe(0);
  await expectEachOnce(second, sandbox, EVENTS, "the second machine");
  // It remembers its own creates, and finds them in the state.
  const again = await first.up();
  expect(again.output).toContain(`${EVENTS + 2} unchanged`);
  expect(again.code).toBe(0);
  expect(sandbox.creates).toBe(EVENTS + 1);
});
