/**
 * Runs that are interrupted with creates in flight: by Ctrl-C, twice, by SIGTERM, or by the death of the provider's process.
 */
import { rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { type Target, upAndKillProvider, upAndSignal } from "../support/killing.js";
import { page } from "../support/pages.js";
import { expectEachOnce, recover, settlePending, shopOf } from "../support/recovery.js";
import { eventsProgram, newStack, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = 16;
/** Steps that the engine takes at once. */
const PARALLEL = 4;
/** By then so many are under way, and one was created before. */
const SOME = PARALLEL + 1;
/** Long beside the time that a signal takes to arrive: what is answered meanwhile makes room for a further create. */
const LATENCY_MS = 400;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

const received = (sandbox: Sandbox, creates: number) => until(() => sandbox.creates >= creates);

async function start({
  events = EVENTS,
  latencyMs = LATENCY_MS,
  config = {},
}: {
  events?: number;
  latencyMs?: number;
  config?: Record<string, string>;
} = {}) {
  const sandbox = await useSandbox({ latencyMs });
  const environment = { PULUMI_PARALLEL: String(PARALLEL) };
  const stack = await newStack(shopOf(events), { sandbox, environment, config });
  return { sandbox, stack };
}

const objectsOf = (sandbox: Sandbox) => [...sandbox.advertisers, ...sandbox.events];
const idsOf = (sandbox: Sandbox) =>
  objectsOf(sandbox)
    .map(({ id }) => String(id))
    .sort();
/** As the resources are called that declare them. */
const namesOf = (sandbox: Sandbox) =>
  objectsOf(sandbox).map((object) => String(object.advertiser_name ?? object.event_name).toLowerCase());

const nameIn = (urn: string) => urn.split("::").at(-1) ?? "";
const savedIds = async (stack: TestStack) => (await stack.resources()).map(({ id }) => id).sort();
const savedNames = async (stack: TestStack) => (await stack.resources()).map(({ urn }) => nameIn(urn));

/** What the engine has written down as begun, such as `creating e7`. */
async function pendingOperations(stack: TestStack): Promise<string[]> {
  const { pending_operations = [] } = await stack.deployment();
  return pending_operations.map(({ type, resource }) => `${type} ${nameIn(resource.urn)}`);
}

/** As a terminal sends SIGINT, and as the end of a container sends SIGTERM. */
const once: [NodeJS.Signals, Target][] = [
  ["SIGINT", "group"],
  ["SIGTERM", "process"],
];

describe("one signal", () => {
  it("row 70: what is in flight ends and is saved, whichever signal reaches whom", async () => {
    // More than one run after the other can begin before it ends.
    const events = (once.length + 1) * (SOME + PARALLEL);
    const { sandbox, stack } = await start({ events });
    for (const [signal, target] of once) {
      const run = `${signal} to the ${target}`;
      const before = sandbox.creates;
      let atSignal = 0;
      const when = received(sandbox, before + SOME).then(() => {
        atSignal = sandbox.creates;
      });
      const { code, output } = await upAndSignal(stack, [{ when, signal }], target);
      expect(code, `${run}: ${output}`).not.toBe(0);
      // None begins later: at most what the engine had handed to the provider, and that had not left it, is still to come.
      expect(atSignal, run).toBeGreaterThanOrEqual(before + SOME);
      expect(sandbox.creates, run).toBeLessThanOrEqual(atSignal + PARALLEL);
      expect(await savedIds(stack), run).toEqual(idsOf(sandbox));
      expect(objectsOf(sandbox), run).toHaveLength(sandbox.creates);
      expect(await pendingOperations(stack), run).toEqual([]);
    }
    expect(sandbox.creates).toBeLessThan(events + 1);

    expect((await stack.up()).code).toBe(0);
    await expectEachOnce(stack, sandbox, events, "after two signals");
    expect(sandbox.creates).toBe(events + 1);
  });

  it("SIGINT while a create gets no answer", async () => {
    const sandbox = await useSandbox();
    const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
    const config = { "advertising:requestTimeoutSeconds": "4" };
    const stack = await newStack(eventsProgram(1), { sandbox, config });
    const { code, output } = await upAndSignal(
      stack,
      [{ when: until(() => lost.hits === 1), signal: "SIGINT" }],
      "group",
    );
    expect(code, output).not.toBe(0);
    expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
    expect(await pendingOperations(stack)).toEqual([]);
    const [, event] = await stack.resources();
    expect(event?.id).toMatch(/^unresolved-/);
    expect(event?.outputs?.unresolved).toMatchObject({
      what: expect.stringContaining("no whole response came within 4 s (advertising:requestTimeoutSeconds)"),
    });

    const again = await stack.up();
    expect(again.code).not.toBe(0);
    expect(again.output).toContain('Look in the account for the ConversionEvent named "E0"');
    expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
  });

  it("SIGINT while the rate limit is waited out: those in flight go out then, once; where it never ends, the run does, in its time", async () => {
    const { sandbox, stack } = await start({ latencyMs: 50, config: { "advertising:maxWaitSeconds": "5" } });
    const limited = limit(sandbox, 1);
    const waited = await upAndSignal(stack, [{ when: until(() => limited.hits === 1), signal: "SIGINT" }], "process");
    expect(waited.code, waited.output).not.toBe(0);
    expect(waited.output).toContain("all requests wait for 2 s");
    expect(await savedIds(stack)).toEqual(idsOf(sandbox));
    expect(objectsOf(sandbox).length).toBeLessThanOrEqual(BEFORE_LIMIT + 1 + PARALLEL);
    expect(await pendingOperations(stack)).toEqual([]);

    const before = sandbox.events.length;
    const endless = limit(sandbox, 1000);
    const { code, output } = await upAndSignal(
      stack,
      [{ when: until(() => endless.hits >= 1), signal: "SIGINT" }],
      "process",
    );
    expect(code, output).not.toBe(0);
    expect(output).toContain("longer than advertising:maxWaitSeconds (5 s) allows. Nothing was created.");
    expect(sandbox.events).toHaveLength(before + BEFORE_LIMIT);
    expect(await savedIds(stack)).toEqual(idsOf(sandbox));
    // Each of those in flight, at the beginning and after each of two waits.
    expect(endless.hits).toBeLessThanOrEqual(3 * PARALLEL);
    expect(await pendingOperations(stack)).toEqual([]);

    endless.cancel();
    expect((await stack.up()).code).toBe(0);
    await expectEachOnce(stack, sandbox, EVENTS, "SIGINT");
    expect(sandbox.creates).toBe(EVENTS + 1 + limited.hits + endless.hits);
  });

  const BEFORE_LIMIT = 3;
  const limit = (sandbox: Sandbox, times: number) =>
    sandbox.fail({
      on: "event",
      after: BEFORE_LIMIT,
      times,
      with: { kind: "answer", status: 429, headers: { "retry-after": "2" }, body: { message: "slowly" } },
    });
});

describe("row 71", () => {
  /** @returns what the engine lists as begun. */
  async function signalTwice(stack: TestStack, sandbox: Sandbox, signal: NodeJS.Signals, target: Target) {
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
    return pendingOperations(stack);
  }

  /** What lives on the platform is saved or pending, so that nothing can be lost, and nothing is both. */
  async function expectAccountedFor(stack: TestStack, sandbox: Sandbox, pending: string[]) {
    const names = pending.map((operation) => operation.replace("creating ", ""));
    expect(pending).toEqual(names.map((name) => `creating ${name}`));
    const saved = await savedNames(stack);
    expect(new Set([...saved, ...names]).size).toBe(saved.length + names.length);
    expect([...saved, ...names]).toEqual(expect.arrayContaining(namesOf(sandbox)));
    expect(pending.length).toBeGreaterThan(0);
    expect(pending.length).toBeLessThanOrEqual(PARALLEL);
  }

  it("SIGINT twice: the engine lists what was in flight; cancel, up and its advice", async () => {
    const { sandbox, stack } = await start();
    const pending = await signalTwice(stack, sandbox, "SIGINT", "group");
    await expectAccountedFor(stack, sandbox, pending);
    const { first } = await recover(stack, sandbox);
    const [title = ""] = page("docs/interrupted-run.md").text.split("\n");
    expect(first, "docs/interrupted-run.md begins with what is on the screen").toContain(
      title.replace("# ", "").replace(" N ", ` ${pending.length} `),
    );
    await expectEachOnce(stack, sandbox, EVENTS, "SIGINT twice");
  });

  it("SIGTERM twice, and the disk is gone: `pending` settles just that", async () => {
    const { sandbox, stack } = await start();
    const pending = await signalTwice(stack, sandbox, "SIGTERM", "process");
    rmSync(stack.cache, { recursive: true, force: true });
    await expectAccountedFor(stack, sandbox, pending);
    expect(await settlePending(stack, sandbox)).toBe(pending.length);
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    await expectEachOnce(stack, sandbox, EVENTS, "SIGTERM twice");
  });

  it("the provider's process dies: the engine takes its creates for failed, the memory knows of them", async () => {
    const { sandbox, stack } = await start({ latencyMs: 0 });
    const unanswered = sandbox.fail({ on: "event", act: true, after: 3, times: PARALLEL, with: { kind: "no-answer" } });
    const { code } = await upAndKillProvider(
      stack,
      until(() => unanswered.hits === PARALLEL),
    );
    expect(code).not.toBe(0);
    expect(await pendingOperations(stack)).toEqual([]);
    const saved = await savedNames(stack);
    const open = namesOf(sandbox).filter((name) => !saved.includes(name));
    expect(open).toHaveLength(PARALLEL);
    await recover(stack, sandbox);
    await expectEachOnce(stack, sandbox, EVENTS, "the provider's process was killed");
  });
});
