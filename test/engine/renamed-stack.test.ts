/** `pulumi stack rename`, with checkpoints off: what the memory has under the former name is the renamed stack's, and no other one's. */
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { eventsProgram, newStack, program, useSandbox } from "../support/stack.js";

const shop = program(`
const options = { retainOnDelete: false };
const a = new advertising.Advertiser("a", { advertiserName: "A" });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: a.advertiserId, value: 1 }, options);
const events = { x: { eventName: "X", value: 1 }, y: { eventName: "Y", value: 1 } };
new advertising.ConversionEventSet("s", { advertiserId: a.advertiserId, events }, options);`);
const OBJECTS = 4;

async function start(text: string) {
  const sandbox = await useSandbox({ operations: true });
  const environment = {
    PULUMI_SKIP_CHECKPOINTS: "true",
    ADVERTISING_OPERATIONS: JSON.stringify({ event: { delete: "DELETE rest/event/{id}" } }),
  };
  const stack = await newStack(text, { sandbox, environment });
  const run = async (...args: string[]) => {
    const { code, output } = await stack.run(args);
    expect(code, output).toBe(0);
    return output;
  };
  return { sandbox, stack, run, up: () => run("up", "--yes", "--skip-preview") };
}

it("what was not saved is taken over under the new name; a new stack of the former name has objects of its own", async () => {
  const { sandbox, stack, run, up } = await start(program('new advertising.Advertiser("a", { advertiserName: "A" });'));
  await up();
  const [backend, before] = [join(stack.folder, "backend"), join(stack.folder, "before")];
  cpSync(backend, before, { recursive: true });
  stack.program(shop);
  await up();
  // What a kill leaves before the state is saved.
  rmSync(backend, { recursive: true });
  cpSync(before, backend, { recursive: true });
  await run("stack", "rename", "prod");
  expect(await up()).toContain("nothing is sent");
  expect(sandbox.creates).toBe(OBJECTS);

  await run("stack", "init", "dev");
  expect(await run("preview")).not.toMatch(/earlier run|interrupted| before/);
  await up();
  expect(sandbox.creates).toBe(2 * OBJECTS);
  await run("destroy", "--yes", "--skip-preview");
  expect(sandbox).toMatchObject({ creates: 2 * OBJECTS, deletes: OBJECTS - 1 });
  await run("stack", "select", "prod");
  expect(await up()).toContain(`${OBJECTS} unchanged`);
  const { resources } = JSON.parse(await run("stack", "export")).deployment as {
    resources: { id?: string; outputs?: { eventIds?: Record<string, number> } }[];
  };
  const events = resources.flatMap(({ id, outputs }) => Object.values(outputs?.eventIds ?? { id }).map(Number));
  expect(sandbox.events).toHaveLength(OBJECTS - 1);
  expect(events).toEqual(expect.arrayContaining(sandbox.events.map(({ id }) => id)));
});

it("killed with nothing in the state, and renamed: the same creates are not sent under the new name, but answered", async () => {
  const { sandbox, stack, run, up } = await start(eventsProgram(1));
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree", ["--parallel", "1"])).toBe(true);
  await stack.cancel();
  await run("stack", "rename", "prod");
  const { code, output } = await stack.up("--continue-on-error");
  expect(code, output).not.toBe(0);
  expect(output).toContain("That was in the stack organization/tiny/dev");
  expect(output).toContain("pending --created 'a=1'");
  expect(sandbox.creates).toBe(2);
  const answer = async (...args: string[]) => {
    const answered = await pendingCommand(stack, ...args);
    expect(answered.code, answered.output).toBe(0);
  };
  await answer("--created", "a=1");
  expect((await stack.up("--continue-on-error")).output).toMatch(/ConversionEvent "e0".* its outcome is unknown/);
  await answer("--created", `e0=${sandbox.events[0]?.id}`);
  await up();
  expect(await up()).toContain("3 unchanged");
  expect(sandbox.creates).toBe(2);
});
