/** Runs interrupted with creates in flight: by SIGTERM once and twice, by Ctrl-C, or by the provider process's end. */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { upAndKillProvider, upAndSignal } from "../support/killing.js";
import { throughPlugin } from "../support/plugin.js";
import { answer, objectsOf, pendingCommand, recover, shopOf } from "../support/recovery.js";
import { newStack, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = 36;
/** Steps that the engine takes at once. */
const PARALLEL = 4;
/** By then so many are under way, and one was created before. */
const SOME = PARALLEL + 1;
/** Long beside the time that a signal takes to arrive: what is answered meanwhile makes room for a further create. */
const LATENCY_MS = 400;

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await sleep(2);
}

async function start(latencyMs: number, programOf: typeof shopOf = shopOf) {
  const sandbox = await useSandbox({ latencyMs });
  const environment = {
    PULUMI_PARALLEL: String(PARALLEL),
    ADVERTISING_REQUEST_TIMEOUT_SECONDS: "4",
  };
  return { sandbox, stack: await newStack(programOf(EVENTS), { sandbox, environment }) };
}

const namesOf = (sandbox: Sandbox) =>
  objectsOf(sandbox).map((object) =>
    String(object.advertiser_name ?? object.event_name).toLowerCase(),
  );

/** What the engine has written down as begun, such as `creating e7`. */
async function pendingOperations(stack: TestStack): Promise<string[]> {
  const { pending_operations = [] } = await stack.deployment();
  return pending_operations.map(
    ({ type, resource }) => `${type} ${resource.urn.split("::").at(-1)}`,
  );
}

it("one SIGTERM: what is in flight ends and is saved; twice, and the disk lost: `pending` resolves just that; one Ctrl-C: as one SIGTERM", async () => {
  const { sandbox, stack } = await start(LATENCY_MS);
  const more = () => {
    const some = sandbox.creates + SOME;
    return until(() => sandbox.creates >= some);
  };
  /** Each is saved, once. @param before what a run left as begun: Pulumi keeps it, and it may not be taken over yet. */
  const expectSaved = async (before: readonly string[]) => {
    expect((await pendingOperations(stack)).sort()).toEqual(before.toSorted());
    const others = (names: string[]) =>
      names.filter((name) => !before.includes(`creating ${name}`)).sort();
    expect(others(Object.keys(await stack.ids()))).toEqual(others(namesOf(sandbox)));
    expect(new Set(namesOf(sandbox)).size).toBe(sandbox.creates);
  };

  const ended = await upAndSignal(stack, [{ when: more(), signal: "SIGTERM" }], "process");
  expect(ended.code, ended.output).not.toBe(0);
  await expectSaved([]);
  expect(Object.values(await stack.ids())).not.toContain("?");

  const later = more();
  const twice = [later, later.then(() => sleep(50))].map((when) => ({
    when,
    signal: "SIGTERM" as const,
  }));
  expect((await upAndSignal(stack, twice, "process")).code).not.toBe(0);
  await stack.loseDisk();
  const pending = await pendingOperations(stack);
  expect(pending.length).toBeGreaterThan(0);
  // What lives is saved or pending, and nothing is both.
  const names = [
    ...Object.keys(await stack.ids()),
    ...pending.map((each) => each.replace("creating ", "")),
  ];
  expect(new Set(names).size).toBe(names.length);
  expect(names).toEqual(expect.arrayContaining(namesOf(sandbox)));
  await stack.cancel();
  await until(() => namesOf(sandbox).length === sandbox.creates); // what was in flight is carried out, and nobody looks before
  expect(await answer(stack, sandbox, (await pendingCommand(stack)).output)).toBe(
    pending.length,
  );

  // One of those in flight is never answered; not the first, which the others wait for.
  const lost = sandbox.fail({
    on: "event",
    act: true,
    after: 2,
    with: { kind: "no-answer" },
  });
  let atSignal = 0;
  const when = Promise.all([more(), until(() => lost.hits === 1)]).then(() => {
    atSignal = sandbox.creates;
  });
  const { code, output } = await upAndSignal(stack, [{ when, signal: "SIGINT" }], "group");
  expect(code, output).not.toBe(0);
  // None begins later: at most what the engine had handed to the provider, and that had not left it, is still to come.
  expect(sandbox.creates, output).toBeLessThanOrEqual(atSignal + PARALLEL);
  expect(sandbox.creates).toBeLessThan(EVENTS);
  await expectSaved(pending);
  expect(Object.values(await stack.ids()).filter((id) => id === "?")).toHaveLength(1);
  const unresolved = (await stack.resources()).find(({ id }) =>
    id?.startsWith("unresolved-"),
  );
  expect(unresolved?.outputs?.unresolved).toMatchObject({
    what: expect.stringContaining(
      "no complete response within 4 s (advertising:requestTimeoutSeconds)",
    ),
  });
});

it.each([
  ["SIGTERM", "classes", shopOf],
  ["SIGINT", "plugin", (events: number) => throughPlugin(shopOf(events))],
] as const)(
  "%s to every process of a run of the %s: what is in flight ends and is saved",
  async (signal, _, programOf) => {
    const { sandbox, stack } = await start(LATENCY_MS, programOf);
    const when = until(() => sandbox.creates >= SOME);
    const { code, output } = await upAndSignal(stack, [{ when, signal }], "tree");
    expect(code, output).not.toBe(0);
    expect(sandbox.creates).toBeLessThan(EVENTS);
    expect(await pendingOperations(stack)).toEqual([]);
    expect(Object.keys(await stack.ids()).toSorted()).toEqual(namesOf(sandbox).toSorted());
  },
);

it("the provider process dies: the engine takes its creates for failed, the journal knows of them", async () => {
  const { sandbox, stack } = await start(0);
  const noResponseError = sandbox.fail({
    on: "event",
    act: true,
    after: 3,
    times: PARALLEL,
    with: { kind: "no-answer" },
  });
  const died = await upAndKillProvider(
    stack,
    until(() => noResponseError.hits === PARALLEL),
  );
  expect(died.code).not.toBe(0);
  expect(await pendingOperations(stack)).toEqual([]);
  const saved = Object.keys(await stack.ids());
  expect(namesOf(sandbox).filter((name) => !saved.includes(name))).toHaveLength(PARALLEL);
  expect(await recover(stack, sandbox)).toBe(PARALLEL);
});
