/** Two states are two states, however their backends are written, and a backend that stops saving: nothing twice. */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { eventOperations } from "../support/operated.js";
import { commandsIn } from "../support/printed-commands.js";
import { answer, expectEachOnce, pendingCommand, shopOf } from "../support/recovery.js";
import {
  failed,
  newStack,
  program,
  runProcess,
  type StackOptions,
  useSandbox,
  well,
} from "../support/stack.js";

const operations = {
  event: { delete: eventOperations.delete },
  advertiser: { delete: "DELETE rest/advertiser/{id}" },
};
const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };

/** As {@link shopOf}, and its objects are deleted when they leave. */
const deletedShopOf = (events: number) =>
  shopOf(events).replaceAll("});", ", deletionPolicy: 'delete' });");

it("two projects that name their backends, with `main` outside of them, over a link: one killed, the other created and destroyed", async () => {
  const sandbox = await useSandbox({ operations: true });
  const options: StackOptions = {
    sandbox,
    environment,
    runtime: "runtime: nodejs\nmain: ../dist/infra",
  };
  const one = await newStack("", options);
  const two = await newStack("", { ...options, cache: one.cache, state: one.state });
  for (const stack of [one, two]) stack.backendInProject();
  const infra = join(one.folder, "dist", "infra");
  mkdirSync(infra, { recursive: true });
  writeFileSync(join(infra, "package.json"), "{}");
  symlinkSync(join(one.folder, "dist"), join(two.folder, "dist"));
  const declare = (events: number) =>
    writeFileSync(join(infra, "index.js"), deletedShopOf(events));

  declare(1);
  await well(one.up());
  declare(2);
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(one, struck(lost), "tree")).toBe(true);
  await one.cancel();
  expect(sandbox.creates).toBe(3);

  const created = await well(two.previewAndUp());
  expect(created).not.toMatch(/earlier run|takes over|journal/);
  expect(sandbox).toMatchObject({ creates: 6, deletes: 0 });
  await well(two.destroy());
  expect(sandbox).toMatchObject({ creates: 6, deletes: 3 });

  // A task runner has dropped the variable with which the killed run found its folder.
  one.setEnvironment({ XDG_STATE_HOME: join(one.folder, "elsewhere") });
  const dropped = await failed(one.up());
  expect(commandsIn(dropped).join()).toContain("--created 'e1=<its id>'");
  one.setEnvironment({ XDG_STATE_HOME: one.state });
  expect(await answer(one, sandbox, (await pendingCommand(one)).output)).toBe(1);
  await well(one.up());
  await expectEachOnce(one, sandbox, 2, "the first one");
  expect(sandbox).toMatchObject({ creates: 6, deletes: 3 });
});

it("two backends of one inline program: each has its own objects", async () => {
  const sandbox = await useSandbox({ operations: true });
  const stack = await newStack("", { sandbox, environment });
  stack.setEnvironment({ PULUMI_BACKEND_URL: undefined });
  stack.logInElsewhere();
  // The engine works in a temporary folder, in which it looks for the SDK.
  stack.setEnvironment({ NODE_PATH: resolve(import.meta.dirname, "../../node_modules") });
  for (const name of ["one", "two"]) mkdirSync(join(stack.folder, name));
  const backends = ["one", "two"].map((name) => `file://${join(stack.folder, name)}`);
  const inline = program(`
const inline = async () => {
  const a = new advertising.Advertiser("a", { advertiserName: "A", deletionPolicy: "delete" });
  new advertising.ConversionEvent("e", { eventName: "E", advertiserId: a, value: 1, deletionPolicy: "delete" });
};
const mistaken = async () => {
  const read = advertising.ConversionEvent.get("x", 3);
  new advertising.Advertiser("x", { advertiserName: "" });
  return { read: read.eventId };
};
const late = async () => {
  new advertising.Advertiser("a", { advertiserName: "A", deletionPolicy: "delete" });
  await new Promise((resolve) => setTimeout(resolve, 10));
  new advertising.Advertiser("x", { advertiserName: "" });
};
const throwing = async () => {
  const { id } = new advertising.Advertiser("a", { advertiserName: "A", deletionPolicy: "delete" });
  id.apply(() => { throw new Error("the user's own"); });
};
const caught = async () => {
  new advertising.Advertiser("a", { advertiserName: "A", deletionPolicy: "delete" });
  try {
    new advertising.Catalog("more", { file: "catalog.yaml" }, { parent: {} });
  } catch {}
};`);
  stack.write("catalog.yaml", "advertisers: { b: { advertiserName: B, events: {} } }");
  stack.write(
    "inline.cjs",
    `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
${inline}
const open = (url) => LocalWorkspace.createOrSelectStack(
  { stackName: "dev", projectName: "inline", program: inline },
  { projectSettings: { name: "inline", runtime: "nodejs", backend: { url } } });
(async () => {
  const [one, two] = [await open("${backends[0]}"), await open("${backends[1]}")];
  for (const stack of [one, two]) console.log((await stack.up()).stdout);
  console.log((await two.destroy()).stdout);
  console.log((await one.preview()).stdout);
  one.workspace.program = mistaken;
  await one.preview().catch(({ message }) => console.log(message));
  // Whatever the program hasn't come to stays.
  for (const program of [late, throwing, caught]) {
    one.workspace.program = program;
    await one.up().catch(({ message }) => console.log(message));
  }
})();`,
  );
  const { output } = await runProcess(
    "node",
    ["inline.cjs"],
    stack.programFolder,
    stack.environment,
  );
  expect(output.match(/3 created/g), output).toHaveLength(2);
  expect(output).toContain("3 unchanged");
  // It ends, though it reads something.
  expect(output).toContain("advertiserName expected");
  expect(output).toContain("the user's own");
  expect(output).toContain("Resource parent is not a valid Resource");
  expect(output).not.toMatch(/earlier run|takes over|journal|not deleted/);
  expect(sandbox).toMatchObject({ creates: 4, deletes: 2 });
});

/** Pulumi tries for minutes to save: only with KILLS set (`npm run kill-test`). */
it.skipIf(process.env.KILLS === undefined)(
  "a backend that stops saving in the middle of an up: the next one, here and elsewhere, asks first",
  async () => {
    const sandbox = await useSandbox({ latencyMs: 1000 });
    const stack = await newStack(shopOf(3), { sandbox });
    // Not by permissions, which don't hold for root: a file stands where the folder of the states was.
    const stacks = join(stack.folder, "backend", ".pulumi", "stacks");
    const up = stack.up();
    while (sandbox.eventPosts < 3) await sleep(5);
    renameSync(stacks, `${stacks}.away`);
    writeFileSync(stacks, "");
    await failed(up);
    renameSync(stacks, `${stacks}.broken`);
    renameSync(`${stacks}.away`, stacks);
    await stack.cancel();
    expect(sandbox.creates).toBe(4);
    const other = await stack.onAnotherMachine();
    for (const each of [stack, other]) {
      expect(await failed(each.preview())).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
      await failed(each.up());
    }
    expect(sandbox.creates).toBe(4);
    const asked = await answer(other, sandbox, (await pendingCommand(other)).output);
    expect(asked).toBeGreaterThan(0);
    await well(stack.up());
    await expectEachOnce(other, sandbox, 3, "after all");
  },
);
