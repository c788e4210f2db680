/** Real runs and the memory of an interrupted one: where it is found, and what it keeps from being created twice. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { fingerprintOf } from "../../provider/src/kinds/kind.js";
import { memoryPath } from "../../provider/src/store/index.js";
import { struck, upAndKill } from "../support/killing.js";
import { commandsIn, saidTwice } from "../support/printed-commands.js";
import { pendingCommand } from "../support/recovery.js";
import { eventsProgram, newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const STATE = "organization/tiny/dev";

/** The memories in a stack's cache folder. */
function memoriesOf(stack: TestStack): string[] {
  return readdirSync(stack.cache, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".jsonl"))
    .map((name) => join(stack.cache, name));
}

/** A stack that was killed while its one event's create was under way; `act`: the platform had carried it out. */
async function killedStack(act: boolean) {
  const sandbox = await useSandbox();
  const fault = sandbox.fail({ on: "event", act, with: { kind: "no-answer" } });
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect(await upAndKill(stack, struck(fault), "tree")).toBe(true);
  await stack.cancel();
  return { sandbox, stack };
}

const adopting = (id: number | undefined) => eventsProgram(1).replace("value: 1", `value: 1, existingId: ${id}`);

it("killed before the answer, which was carried out: other stacks go on, a damaged memory stops, changed inputs are not sent, and existingId adopts it", async () => {
  const { sandbox, stack } = await killedStack(true);
  const [memory = ""] = memoriesOf(stack);
  expect((await stack.preview()).output).toContain("`pulumi up` does not send it");
  expect(readFileSync(memory, "utf8")).toMatch(/"ConversionEvent::e0".*"state":"sent"/);

  // Two equal events of two stacks are two events.
  const other = await newStack(eventsProgram(1), { sandbox, cache: stack.cache, project: "other" });
  expect((await other.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, eventPosts: 2 });

  // A damaged memory stops the run before anything is sent, and names itself and the way out.
  const original = readFileSync(memory, "utf8");
  const damaged = original.replace('"version":1', '"version":2');
  writeFileSync(memory, damaged);
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  for (const words of [memory, "later version", "[ADVERTISING_JOURNAL]"]) expect(stopped.output).toContain(words);
  expect(saidTwice(stopped.output), stopped.output).toEqual([]);
  expect(readFileSync(memory, "utf8")).toBe(damaged);
  writeFileSync(memory, original);
  expect(sandbox.eventPosts).toBe(2);

  stack.program(eventsProgram(1, 99));
  const changed = await stack.up();
  expect(changed.code).not.toBe(0);
  expect(changed.output).toContain("outcome is unknown");
  expect(sandbox.eventPosts).toBe(2);

  const [event] = sandbox.events;
  stack.program(adopting(event?.id));
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect((await stack.resources()).at(-1)?.id).toBe(String(event?.id));
  expect((await pendingCommand(stack)).code).toBe(0);
});

it("killed before it was carried out: up sends nothing and saves it as unresolved, and it is settled as not created", async () => {
  const { sandbox, stack } = await killedStack(false);
  const up = await stack.up();
  expect(up.code).not.toBe(0);
  expect(up.output).toContain("an earlier run sent it at");
  expect(sandbox.eventPosts).toBe(1);
  expect(commandsIn(up.output).some((line) => line.endsWith("pending --not-created 'e0'"))).toBe(true);
  const settled = await pendingCommand(stack, "--not-created", "e0");
  expect(settled.code, settled.output).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 2, events: [{}] });
  expect((await stack.resources()).at(-1)?.id).toBe(String(sandbox.events[0]?.id));
});

it("is found under another spelling of the address or the e-mail, with another cookie file, and from another checkout", async () => {
  const { sandbox, stack } = await killedStack(true);
  const original = { ...stack.environment };
  const checkout = mkdtempSync(join(dirname(stack.programFolder), "checkout-"));
  cpSync(stack.programFolder, checkout, { recursive: true });
  stack.setEnvironment({ ADVERTISING_BASE_URL: sandbox.url.replace("127.0.0.1", "localhost") });
  expect((await stack.up()).output).toContain("[ADVERTISING_ACCOUNT_MISMATCH]");
  for (const other of [
    { ADVERTISING_BASE_URL: `${sandbox.url}/` },
    { ADVERTISING_EMAIL: sandbox.email.toUpperCase() },
    { ADVERTISING_COOKIE_FILE: "session.json" },
  ]) {
    stack.setEnvironment({ ...original, ADVERTISING_COOKIE_FILE: undefined, ...other });
    expect((await stack.preview()).output).toContain("`pulumi up` does not send it");
  }
  stack.programFolder = checkout;
  await stack.select();
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("an earlier run sent it at");
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
});

it("what an interrupted run had noted with its id is announced, and taken over without a request", async () => {
  const sandbox = await useSandbox({
    objects: {
      advertisers: [{ id: 1, advertiser_name: "A", active: true }],
      events: [{ id: 77, event_name: "E0", advertiser_id: 1, value: 1 }],
    },
  });
  const stack = await newStack(
    program(`new advertising.ConversionEvent("e0", { eventName: "E0", advertiserId: 1, value: 1 });`),
    { sandbox },
  );
  const backend = `file://${join(stack.folder, "backend")}`;
  const path = memoryPath({ backend, stack: STATE }, join(stack.cache, "pulumi-advertising", "stacks"));
  const body = {
    event_name: "E0",
    advertiser_id: 1,
    value: 1,
    count_unique: false,
    click_window: 2592000,
    view_window: 2592000,
    attribution: "ALL",
  };
  const lines = [
    { memory: "pulumi-advertising", version: 1, stack: STATE, backend },
    { key: "ConversionEvent::e0", state: "sent", at: "2026-11-21T09:28:31.735Z", mark: "m", body: fingerprintOf(body) },
    { key: "ConversionEvent::e0", state: "made", id: "77" },
  ];
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""), { mode: 0o600 });

  expect((await stack.preview()).output).toContain(
    'ConversionEvent "e0": an interrupted run created it as 77. `pulumi up` takes it over.',
  );
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(up.output).toContain("created as 77 by an earlier run; it is taken over, and nothing is sent");
  expect(sandbox.requests).toEqual([]);
  expect(await stack.resources()).toMatchObject([{ id: "77", outputs: { eventId: 77 } }]);
});

it("existingId names an id that the platform then gives to another create: that one is unresolved, and nothing has two resources", async () => {
  const sandbox = await useSandbox({ objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const stack = await newStack(
    program(`
const q = new advertising.ConversionEvent("q", { eventName: "Q", advertiserId: 1, value: 1, existingId: 2 });
new advertising.ConversionEvent("p", { eventName: "P", advertiserId: 1, value: 1 }, { dependsOn: q });`),
    { sandbox },
  );
  for (const run of [stack.up, stack.up]) {
    const { code, output } = await run();
    expect(code, output).not.toBe(0);
    expect(output).toContain('2, which already belongs to ConversionEvent "q"');
    expect((await stack.resources()).map(({ id }) => id)).toEqual([expect.stringMatching(/^unresolved-/), "2"]);
  }
  expect(sandbox.eventPosts).toBe(1);

  stack.program(program(`new advertising.ConversionEvent("p", { eventName: "P", advertiserId: 1, value: 1 });`));
  expect((await pendingCommand(stack, "--created", "p=2")).code, "the state has it elsewhere").toBe(2);
  expect(sandbox.eventPosts).toBe(1);
});
