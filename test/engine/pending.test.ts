import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { eventsProgram, newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");
const CLEARS_LIST = "--clear-pending-creates";

/** Clearing Pulumi's list settles nothing, so it is offered only once nothing is pending. */
async function pendingCommand(stack: TestStack, ...args: string[]) {
  const printed = await runProcess("node", [command, "pending", ...args], stack.programFolder, stack.environment);
  if (printed.code !== 0) expect(printed.output).not.toContain(CLEARS_LIST);
  return printed;
}

/** Kills the stack's run when all of these faults' requests are on their way, on a runner whose disk is gone then. */
async function killInFlight(stack: TestStack, faults: readonly { readonly hits: number }[]): Promise<void> {
  expect(await upAndKill(stack, struck(...faults), "tree")).toBe(true);
  rmSync(stack.cache, { recursive: true, force: true });
  await stack.cancel();
}

/** Two advertisers before two events: when they have been let through, two creates may be under way at once. */
const twoAtOnce = program(`
const [a, b] = ["A", "B"].map((name) => new advertising.Advertiser(name.toLowerCase(), { advertiserName: name }));
for (const name of ["E0", "E1"]) {
  const advertiserId = pulumi.all([a.advertiserId, b.advertiserId]).apply(([first]) => first);
  new advertising.ConversionEvent(name.toLowerCase(), { eventName: name, advertiserId, value: 1 });
}`);

/** A stack whose two events' answers never came. */
async function killedStack() {
  const sandbox = await useSandbox({ authMode: "basic" });
  // One is created and its answer lost; the other was never carried out.
  const created = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  const lost = sandbox.fail({ on: "event", act: false, with: { kind: "no-answer" } });
  const stack = await newStack(twoAtOnce, { sandbox, config: { "advertising:authMode": "basic" } });
  await killInFlight(stack, [created, lost]);
  return { sandbox, stack };
}

/** The ids in the state, by name in the program; more than one for a URN that stands there several times. */
async function idsByName(stack: TestStack): Promise<Record<string, string[]>> {
  const ids: Record<string, string[]> = {};
  for (const { urn, id = "" } of await stack.resources()) {
    const name = urn.split("::")[3] ?? "";
    ids[name] = [...(ids[name] ?? []), id];
  }
  return ids;
}

it("lists what was in flight, stops the pipeline, and settles both ways; no stack, no such command: exit 2 with the reason", async () => {
  const { sandbox, stack } = await killedStack();
  const listed = await pendingCommand(stack);
  expect(listed.code).toBe(1);
  expect(listed.output).toContain("2 creates may or may not");
  expect(listed.output).toContain('ConversionEvent named "E0"');
  const exported = await runProcess(
    "node",
    [command, "pending", "--state", "-"],
    stack.programFolder,
    stack.environment,
    await stack.exported(),
  );
  expect(exported).toEqual(listed);

  const there = sandbox.events[0];
  const name = String(there?.event_name).toLowerCase();
  const other = name === "e0" ? "e1" : "e0";
  const wrong = await pendingCommand(stack, "--created", `${name}=x`, "--not-created", "nobody");
  expect(wrong.code).toBe(2);
  expect(wrong.output).toContain("nobody");
  expect(wrong.output).toContain(`${name}=x`);

  const one = await pendingCommand(stack, "--created", `${name}=${there?.id}`);
  expect(one.code).toBe(1);
  expect(one.output).toContain("1 create may or may not");
  const rest = await pendingCommand(stack, "--not-created", other);
  expect(rest.output).toContain("Nothing is pending");
  expect(rest.code).toBe(0);
  expect(await pendingCommand(stack)).toEqual({
    code: 0,
    output:
      "Nothing is pending: neither the engine, nor the state, nor a journal on this machine has a create of unknown outcome.\n",
  });
  const missing = await pendingCommand(stack, "--stack", "nowhere");
  expect(missing.code).toBe(2);
  expect(missing.output).toContain("nowhere");
  expect((await runProcess("node", [command, "pendng"], stack.programFolder, stack.environment)).code).toBe(2);

  expect((await stack.up()).output).toContain("1 created");
  expect(sandbox.eventPosts).toBe(3);
  expect(sandbox.events.map((event) => event.event_name).sort()).toEqual(["E0", "E1"]);
  expect((await stack.resources()).map(({ id }) => id).sort()).toEqual(["1", "2", "3", "4"]);
});

it("a replacement that was not created leaves the old object, and the next run replaces it; the disk was kept", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  stack.program(eventsProgram(1, 2));
  const lost = sandbox.fail({ on: "event", act: false, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  const before = (await stack.resources()).find(({ id }) => id === "2");
  const settled = await pendingCommand(stack, "--not-created", "e0");
  expect(settled.output).toContain("Nothing is pending");
  expect(settled.code).toBe(0);
  expect((await stack.resources()).find(({ id }) => id === "2")).toEqual(before);

  const up = await stack.up();
  expect(up.output).toContain("1 replaced");
  expect(sandbox.events).toHaveLength(2);
  expect(sandbox.eventPosts).toBe(3);
  expect(await idsByName(stack)).toEqual({ a: ["1"], e0: ["3"] });
});

/** New objects that go first: requests are let through one by one until some were answered. */
const GO_FIRST = `
const w0 = new advertising.Advertiser("w0", { advertiserName: "W0" });
const w1 = new advertising.Advertiser("w1", { advertiserName: "W1" }, { dependsOn: w0 });
const w2 = new advertising.Advertiser("w2", { advertiserName: "W2" }, { dependsOn: w1 });
const after = { dependsOn: w2 };`;

it("settles creates of one run apart, while a replacement among them is undecided", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  await stack.up();
  const before = (await stack.resources()).find(({ id }) => id === "2");
  stack.program(
    program(`${GO_FIRST}
const a = new advertising.Advertiser("a", { advertiserName: "A" });
for (let i = 0; i < 3; i++) {
  new advertising.ConversionEvent("e" + i, { eventName: "E" + i, advertiserId: a.advertiserId, value: 2 }, after);
}`),
  );
  const lost = () => sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  await killInFlight(stack, [lost(), lost(), lost()]);
  const e1 = String(sandbox.events.find((event) => event.event_name === "E1")?.id);

  const settled = await pendingCommand(stack, "--created", `e1=${e1}`, "--not-created", "e2");
  expect(settled.output).toContain("1 create may or may not");
  expect(settled.code).toBe(1);
  const ids = await idsByName(stack);
  expect(ids).toMatchObject({ a: ["1"], e0: [expect.stringMatching(/^unresolved-/), "2"], e1: [e1] });
  expect(ids.e2).toBeUndefined();
  const stopped = await stack.up("--target", before?.urn ?? "");
  expect(stopped.code).not.toBe(0);
  expect(stopped.output).toContain("was in flight when a run was killed");
  expect(sandbox.eventPosts).toBe(4);

  // Said to be not created after all: the old one is the current one again.
  const undone = await pendingCommand(stack, "--not-created", "e0");
  expect(undone.output).toContain("Nothing is pending");
  expect(undone.code).toBe(0);
  expect((await stack.resources()).find(({ id }) => id === "2")).toEqual(before);
  const up = await stack.up();
  expect(up.output).toContain("1 created");
  expect(up.output).toContain("1 replaced");
  expect(sandbox.eventPosts).toBe(6);
  const { e0, e2, ...others } = await idsByName(stack);
  expect([e0?.[0], e2?.[0]].sort()).toEqual(["10", "9"]);
  expect(others).toEqual({ a: ["1"], e1: [e1], w0: ["3"], w1: ["4"], w2: ["5"] });
});

it("an undecided replacement that others depend on is settled as created later", async () => {
  const sandbox = await useSandbox();
  const programOf = (first: string, name: string, value: number) =>
    program(`${first}
const a = new advertising.Advertiser("a", { advertiserName: "${name}" }, after);
const b = new advertising.Advertiser("b", { advertiserName: "B" });
new advertising.ConversionEvent("e0", { eventName: "E0", advertiserId: a.advertiserId, value: 1 });
new advertising.ConversionEvent("e1", { eventName: "E1", advertiserId: b.advertiserId, value: ${value} }, after);`);
  const stack = await newStack(programOf("const after = {};", "A", 1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  stack.program(programOf(GO_FIRST, "AA", 2));
  const advertiser = sandbox.fail({ on: "advertiser", after: 3, act: true, with: { kind: "no-answer" } });
  const event = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  await killInFlight(stack, [advertiser, event]);
  const newest = (objects: readonly { readonly id: number }[]) => `${Math.max(...objects.map(({ id }) => id))}`;
  const [a, e1] = [newest(sandbox.advertisers), newest(sandbox.events)];
  const posts = sandbox.eventPosts;

  const first = await pendingCommand(stack, "--created", `e1=${e1}`);
  expect(first.output).toContain("1 create may or may not");
  expect((await stack.up()).output).toContain("was in flight when a run was killed");
  const second = await pendingCommand(stack, "--created", `a=${a}`);
  expect(second.output).toContain("Nothing is pending");
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(sandbox.advertisers).toHaveLength(6);
  expect(sandbox.eventPosts).toBe(posts + 1); // E0 alone is sent: it belongs to another advertiser now
  expect(await idsByName(stack)).toMatchObject({ a: [a], e0: [newest(sandbox.events)], e1: [e1] });
});

it("tells Pulumi's reason where it ends without reading the stack", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  const folder = join(stack.folder, "bin");
  mkdirSync(folder);
  const urn = "urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEvent::e0";
  const resource = { urn, type: urn.split("::")[2], inputs: { eventName: "E".repeat(2 ** 20) } };
  const state = { version: 3, deployment: { pending_operations: [{ type: "creating", resource }] } };
  writeFileSync(join(folder, "state.json"), JSON.stringify(state));
  writeFileSync(
    join(folder, "pulumi"),
    `#!/bin/sh\ncase "$2" in export) cat "${folder}/state.json";; *) exec 0<&-; echo "error: no passphrase" >&2; exit 255;; esac\n`,
    { mode: 0o755 },
  );
  stack.setEnvironment({ PATH: [folder, process.env.PATH].join(delimiter) });
  const settled = await pendingCommand(stack, "--created", "e0=2");
  expect(settled.output).toContain("error: no passphrase");
  expect(settled.output).not.toContain("EPIPE");
  expect(settled.code).toBe(2);
});

it("a replacement that `--replace` asked for, killed in flight, is listed and settled both ways", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const urn = (await stack.resources()).find(({ id }) => id === "2")?.urn ?? "";
  const killReplacing = async (act: boolean) => {
    const lost = sandbox.fail({ on: "event", act, with: { kind: "no-answer" } });
    expect(await upAndKill(stack, struck(lost), "tree", ["--replace", urn])).toBe(true);
    await stack.cancel();
    const listed = await pendingCommand(stack);
    expect(listed.code, listed.output).toBe(1);
    expect(listed.output).toContain("it is not 2, which it was to replace");
  };
  await killReplacing(false);
  expect((await pendingCommand(stack, "--not-created", "e0")).code).toBe(0);
  expect((await stack.up()).output).toContain("3 unchanged");
  await killReplacing(true);
  const [, there] = sandbox.events;
  expect((await pendingCommand(stack, "--created", `e0=${there?.id}`)).code).toBe(0);
  expect((await stack.up()).code).toBe(0);
  expect(await idsByName(stack)).toEqual({ a: ["1"], e0: [String(there?.id)] });
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 0 });
});

it("does not list what a later run has settled, and names the way to clear the engine's list", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  const fault = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(fault), "tree")).toBe(true); // the disk stays, and so does the journal
  await stack.cancel();
  expect((await pendingCommand(stack)).output).toContain("1 create may or may not");
  const { code, output } = await stack.up();
  expect(code, output).not.toBe(0);
  expect(output).not.toContain(CLEARS_LIST);
  // Saved as unresolved by now: named once.
  expect((await pendingCommand(stack)).output).toContain("1 create may or may not");
  stack.program(eventsProgram(1).replace("value: 1", `value: 1, existingId: ${sandbox.events[0]?.id}`));
  expect((await stack.up()).code).toBe(0);
  const settled = await pendingCommand(stack);
  expect(settled.output).toMatch(
    /Nothing is pending[\s\S]*Pulumi still lists pending creates of 1 resource that are already settled/,
  );
  expect(settled.code).toBe(0);

  expect(settled.output).toContain(CLEARS_LIST);
  const clear = /pulumi (refresh .*)$/m.exec(settled.output)?.[1]?.split(" ") ?? [];
  expect((await stack.run([...clear, "--skip-preview"])).code).toBe(0);
  expect((await pendingCommand(stack)).output).toMatch(/^Nothing is pending: [^.]*\.\n$/);
  expect(sandbox.eventPosts).toBe(1);
});
