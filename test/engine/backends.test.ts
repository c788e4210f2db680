/**
 * A stack in a real shared backend, applied by two machines: the lock between them, a kill, the recovery on the other machine.
 */
import { statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { startPostgres, whyNoPostgres } from "../../scripts/lib/postgres.mjs";
import { startS3, whyNoS3 } from "../../scripts/lib/s3-server.mjs";
import { upAndKill } from "../support/killing.js";
import { expectEachOnce, settlePending, shopOf } from "../support/recovery.js";
import { newStack, type RunResult, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = 12;
/** Creates that are carried out, and whose answer the first machine waits for until it is killed. */
const IN_FLIGHT = 3;

interface Backend {
  readonly backendUrl: string;
  readonly env: Readonly<Record<string, string>>;
  readonly close: () => Promise<void>;
}

const titleOf = (name: string, whyNot: string | undefined) => (whyNot === undefined ? name : `${name}: ${whyNot}`);

async function twoMachines({ backendUrl, env, close }: Backend, environment: Readonly<Record<string, string>> = {}) {
  onTestFinished(close);
  const sandbox = await useSandbox();
  const first = await newStack(shopOf(EVENTS), {
    sandbox,
    environment: { ...environment, ...env, PULUMI_BACKEND_URL: backendUrl },
  });
  return { sandbox, first, second: await first.onAnotherMachine() };
}

/** The first machine is killed with creates in flight, and the second one, which has no journal, takes the stack over. */
async function killAndTakeOver(first: TestStack, second: TestStack, sandbox: Sandbox): Promise<void> {
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
}

describe.skipIf(whyNoPostgres !== undefined)(titleOf("PostgreSQL", whyNoPostgres), () => {
  it("two machines: lock, kill, recovery, nothing left to do", async () => {
    const { first, second, sandbox } = await twoMachines(await startPostgres());
    await killAndTakeOver(first, second, sandbox);
  });
});

describe.skipIf(whyNoS3 !== undefined)(titleOf("an S3-compatible object store", whyNoS3), () => {
  it("two machines, compressed state: lock, kill, recovery, nothing left to do", async () => {
    const backend = await startS3();
    const { first, second, sandbox } = await twoMachines(backend, { PULUMI_DIY_BACKEND_GZIP: "true" });
    await killAndTakeOver(first, second, sandbox);
    const { size } = statSync(backend.stored(".pulumi/stacks/tiny/dev.json.gz"));
    expect(size).toBeLessThan(Buffer.byteLength(await first.exported()) / 5);
  });
});
