/** Real runs: a wrong answer about a create of unknown outcome is taken back, and nothing is sent for it. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };
const singles = program(`new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: 1 });`);
const set = (name: string, ...events: string[]) =>
  `new advertising.ConversionEventSet("${name}", { advertiserId: 1, events: { ${events.join(", ")} } });`;
const PLAIN = `"a b": { eventName: "P", value: 1 }, c: { eventName: "C", value: 1, existingId: 77 }`;
const SECRET = `x: { eventName: pulumi.secret("X"), value: pulumi.secret(1) }`;

/** An `up` after which two events are live, and their answers lost. */
async function start(text: string) {
  const sandbox = await useSandbox({ objects });
  const stack = await newStack(text, { sandbox });
  sandbox.fail({ on: "event", act: true, times: 2, with: { kind: "close-without-answer" } });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  const { output } = await pendingCommand(stack);
  const urns = [...output.matchAll(/^ {2}(urn:.+)$/gm)].map(([, urn = ""]) => urn).sort();
  expect(urns).toHaveLength(2);
  const idOf = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  return { sandbox, stack, urns, idOf };
}

async function answer(stack: TestStack, expected: number, ...args: string[]): Promise<string> {
  const { code, output } = await pendingCommand(stack, ...args);
  expect(code, output).toBe(expected);
  return output;
}

/** The commands that the settlement's message names, in one. */
const reopening = (output: string): string[] =>
  [...output.matchAll(/pending --reopen '?(.+?)'?$/gm)].flatMap(([, urn = ""]) => ["--reopen", urn]);

it("a single resource, and a member of a set: settled wrongly as not created, reopened, settled as created: the next up sends nothing", async () => {
  const { sandbox, stack, urns, idOf } = await start(`${singles}${set("s", PLAIN)}`);
  const held = async () => (await stack.resources()).map(({ initErrors: _, ...resource }) => resource);
  const before = await held();
  const settled = await answer(stack, 0, ...urns.flatMap((urn) => ["--not-created", urn]));
  expect(settled).toContain("If an answer was wrong, take it back before the next `pulumi up`:");
  expect(reopening(settled)).toHaveLength(4);
  const reopened = await answer(stack, 1, ...reopening(settled));
  for (const urn of urns) expect(reopened).toContain(`Reopened, as if it had not been answered: ${urn}`);
  expect(reopened).toContain("2 creates may or may not have reached the platform");
  expect(await held()).toEqual(before);
  await answer(stack, 2, ...reopening(settled)); // once
  // Neither here nor on another machine anything is sent before somebody answers again.
  for (const machine of [stack, await stack.onAnotherMachine()])
    expect((await machine.up("--continue-on-error")).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(2);

  const verdicts = urns.flatMap((urn) => ["--created", `${urn}=${idOf(urn.endsWith("::e") ? "E" : "P")}`]);
  const again = await answer(stack, 0, ...verdicts);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 2 });
  // An `up` has gone through.
  const gone = await answer(stack, 2, ...reopening(again));
  for (const urn of urns) expect(gone).toContain(`no answer about "${urn}"`);
  expect((await stack.up()).output).toMatch(/3 unchanged/);
});

it("a set settled wrongly as created, reopened by its name, and one with secret arguments, which each import encrypts again: what is settled as not created is sent, and nothing else", async () => {
  const { sandbox, stack, urns, idOf } = await start(program(set("plain", PLAIN) + set("secret", SECRET)));
  const [plain = "", secret = ""] = urns;
  await answer(stack, 0, "--created", `${plain}=998`, "--created", `${secret}=999`);
  const held = async () =>
    (await stack.resources()).flatMap(({ outputs }) => Object.values((outputs?.eventIds ?? {}) as object)).sort();
  expect(await held()).toEqual([77, 998, 999]);
  await answer(stack, 1, "--reopen", "plain", "--reopen", secret);
  expect(await held()).toEqual([77]);
  await answer(stack, 0, "--not-created", plain, "--created", `${secret}=${idOf("X")}`);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(3);
  expect(sandbox.events.map((each) => each.event_name).sort()).toEqual(["P", "P", "X"]);
});

it("what only the journal of an interrupted run knows: forgotten or settled wrongly, and reopened; an up that went on is not undone", async () => {
  const sandbox = await useSandbox({ objects });
  const stack = await newStack(singles, { sandbox });
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  const [, urn = ""] = /^ {2}(urn:.+)$/m.exec((await pendingCommand(stack)).output) ?? [];
  const settled = await answer(stack, 0, "--not-created", urn);
  const other = await stack.onAnotherMachine();
  expect(await answer(other, 2, ...reopening(settled))).toContain("it was given on another machine");
  await answer(stack, 1, ...reopening(settled));
  expect((await stack.up()).code).not.toBe(0);
  expect(sandbox.eventPosts).toBe(1);

  // The same, and another machine's `up` comes first: this one's answer is history.
  await answer(stack, 0, "--not-created", urn);
  expect((await other.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(2);
  expect(await answer(stack, 2, "--reopen", urn)).toContain("a run has gone on with the answer");
  expect((await stack.up()).code).toBe(0);
  // The way out that the refusal names.
  const [{ id } = { id: 0 }] = sandbox.events;
  stack.program(singles.replace("value: 1", `value: 1, existingId: ${id}`));
  expect((await stack.up()).code).toBe(0);
  expect((await stack.resources()).map((each) => each.id)).toEqual([String(id)]);
  expect(sandbox.eventPosts).toBe(2);
});
