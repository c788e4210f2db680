import { rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { upAndKill } from "../support/killing.js";
import { eventsProgram, newStack, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/cli/command.js");
const pendingCommand = (stack: TestStack, ...args: string[]) =>
  runProcess("node", [command, "pending", ...args], stack.programFolder, stack.environment);

/** A stack whose two events' answers never came, killed then, on a runner whose disk is gone. */
async function killedStack() {
  const sandbox = await useSandbox();
  // One is created and its answer lost; the other was never carried out.
  const created = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  const lost = sandbox.fail({ on: "event", act: false, with: { kind: "no-answer" } });
  const stack = await newStack(eventsProgram(2), { sandbox });
  const bothSent = (async () => {
    while (created.hits + lost.hits < 2) await new Promise((wake) => setTimeout(wake, 10));
  })();
  expect(await upAndKill(stack, bothSent, "tree")).toBe(true);
  rmSync(join(stack.cache), { recursive: true, force: true });
  await stack.run(["cancel", "--yes"]);
  return { sandbox, stack };
}

it("lists what was in flight, stops the pipeline, and settles both ways", async () => {
  const { sandbox, stack } = await killedStack();
  const listed = await pendingCommand(stack);
  expect(listed.code).toBe(1);
  expect(listed.output).toContain("2 creates may or may not");
  expect(listed.output).toContain('ConversionEvent named "E0"');
  const exported = await runProcess(
    "node",
    [command, "pending", "--file", "-"],
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
  // Whatever was not decided on stops every run.
  const stopped = await stack.up();
  expect(stopped.code).not.toBe(0);
  expect(stopped.output).toContain("was in flight when a run was killed");
  expect(sandbox.eventPosts).toBe(2);
  const rest = await pendingCommand(stack, "--not-created", other);
  expect(rest.output).toContain("Nothing is pending");
  expect(rest.code).toBe(0);
  expect((await pendingCommand(stack)).code).toBe(0);

  expect((await stack.up()).output).toContain("1 created");
  expect(sandbox.eventPosts).toBe(3);
  expect(sandbox.events.map((event) => event.event_name).sort()).toEqual(["E0", "E1"]);
  expect((await stack.resources()).map(({ id }) => id).sort()).toEqual(["1", "2", "3"]);
  expect((await stack.preview()).output).toContain("4 unchanged");
});

it("nothing pending: exit 0; no stack: exit 2 with the reason", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  await stack.up();
  expect(await pendingCommand(stack)).toEqual({
    code: 0,
    output: "Nothing is pending: the outcome of every create is known.\n",
  });
  const missing = await pendingCommand(stack, "--stack", "nowhere");
  expect(missing.code).toBe(2);
  expect(missing.output).toContain("nowhere");
  expect((await runProcess("node", [command, "pendng"], stack.programFolder, stack.environment)).code).toBe(2);
});
