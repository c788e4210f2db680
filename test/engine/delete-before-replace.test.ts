/** Real runs with Pulumi's option `deleteBeforeReplace`: the engine drops an object, and what depends on it, before it creates. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

async function leftLive(stack: TestStack): Promise<string[]> {
  const args = [command, "leftovers", "--format", "json"];
  const { output } = await runProcess("node", args, stack.programFolder, stack.environment);
  const { leftovers } = JSON.parse(output) as { leftovers: { kind: string; id: string }[] };
  return leftovers.map(({ kind, id }) => `${kind} ${id}`).toSorted();
}

const well = async (run: ReturnType<TestStack["up"]>) => {
  const { code, output } = await run;
  expect(code, output).toBe(0);
  return output;
};

const idsIn = async (stack: TestStack) =>
  Object.fromEntries((await stack.resources()).map(({ urn, id }) => [urn.split("::").at(-1), id]));

/** `q` only depends on `p`; `p` takes its advertiser's id. */
const shop = (advertiserName: string, value: number) =>
  program(`
const first = { deleteBeforeReplace: true };
const a = new advertising.Advertiser("a", { advertiserName: "${advertiserName}" }, first);
const p = new advertising.ConversionEvent("p", { eventName: "P", advertiserId: a.advertiserId, value: ${value} }, first);
new advertising.ConversionEvent("q", { eventName: "Q", advertiserId: 1, value: 1 }, { dependsOn: p });`);

it("a create of unknown outcome that was not carried out: settled, and one create follows", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop("A", 1), { sandbox });
  await well(stack.up());
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });

  stack.program(shop("B", 1));
  sandbox.fail({ on: "advertiser", act: false, with: { kind: "close-without-answer" } });
  expect((await stack.up()).code).not.toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 2 });
  // The event awaits its replacement: its object is left live already.
  expect(await leftLive(stack)).toEqual(["Advertiser 1", "ConversionEvent 2"]);
  await well(pendingCommand(stack, "--not-created", "a"));
  const output = await well(stack.up());
  for (const words of ['"a" is 4 now. 1 stays live', '"p" is 5 now. 2 stays live']) expect(output).toContain(words);
  expect(sandbox).toMatchObject({ advertiserPosts: 3, eventPosts: 3 });
  expect(await idsIn(stack)).toMatchObject({ a: "4", p: "5", q: "3" });
  expect(await well(stack.up())).toContain("4 unchanged");
});

it("a create of an interrupted run that was carried out: what it leaves live is listed, and nothing of it stays in the state", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(shop("A", 1), { sandbox });
  await well(stack.up());
  for (const name of ["B", "C"]) {
    stack.program(shop(name, 1));
    const lost = sandbox.fail({ on: "advertiser", act: true, with: { kind: "no-answer" } });
    expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
    await stack.cancel();
    await well(pendingCommand(stack, "--created", `a=${sandbox.advertisers.at(-1)?.id}`));
    await well(stack.up());
  }
  expect(sandbox).toMatchObject({ advertiserPosts: 3, eventPosts: 4 });
  expect((await stack.resources()).map(({ id }) => id).toSorted()).toEqual(["3", "6", "7"]);
  expect(await leftLive(stack)).toEqual(["Advertiser 1", "Advertiser 4", "ConversionEvent 2", "ConversionEvent 5"]);
});

it("what the engine has deleted before is not said or listed to stay live", async () => {
  const operations = { createdVisibleAfterSeconds: 0 };
  for (const kind of ["advertiser", "event"])
    Object.assign(operations, { [kind]: { delete: `DELETE rest/${kind}/{id}` } });
  const sandbox = await useSandbox({ operations: true });
  const shopOf = (name: string) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "${name}" }, { deleteBeforeReplace: true, retainOnDelete: false });
new advertising.ConversionEvent("p", { eventName: "P", advertiserId: a.advertiserId, value: 1 }, { retainOnDelete: false });`);
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const stack = await newStack(shopOf("A"), { sandbox, environment });
  await well(stack.up());
  stack.program(shopOf("B"));
  expect(await well(stack.preview())).not.toMatch(/stays live|and then/);
  expect(await well(stack.up())).not.toMatch(/stays live/);
  expect(sandbox).toMatchObject({ creates: 4, deletes: 2, advertisers: [{ id: 3 }], events: [{ id: 4 }] });
  expect(await leftLive(stack)).toEqual([]);
  expect(JSON.stringify(await stack.resources())).not.toContain("__left");

  // Asked to replace it, the engine asks for no `diff`.
  const urn = (await stack.resources()).find(({ id }) => id === "3")?.urn ?? "";
  expect(await well(stack.up("--replace", urn))).not.toMatch(/Not deleted|taken over/);
  expect(sandbox).toMatchObject({ creates: 6, deletes: 4, advertisers: [{ id: 5 }], events: [{ id: 6 }] });
  expect(await idsIn(stack)).toMatchObject({ a: "5", p: "6" });
});
