/** A killed run that the state has nothing of, other things, then `up`: nothing is made twice, what lives is named. */
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { throughPlugin } from "../support/plugin.js";
import { commandsIn } from "../support/printed-commands.js";
import { answer, pendingCommand } from "../support/recovery.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

const shop = (...events: string[]) =>
  program(`
const advertiserId = new advertising.Advertiser("a", { advertiserName: "A" });
const event = (name, dependsOn, args) =>
  new advertising.ConversionEvent(name, { eventName: name.toUpperCase(), advertiserId, value: 1, ...args }, { dependsOn });
const ${events.join("\nconst ")}`);

it("another login, another checkout of the program, with another value: what was made is saved as it was sent, and nothing is sent", async () => {
  const sandbox = await useSandbox({ authMode: "basic" });
  const environment = { ADVERTISING_AUTH_MODE: "basic", PULUMI_SKIP_CHECKPOINTS: "true" };
  const stack = await newStack(shop(`e0 = event("e0", []);`, `e1 = event("e1", e0);`), {
    sandbox,
    environment,
  });
  stack.backendInProject();
  const lost = sandbox.fail({
    on: "event",
    act: true,
    after: 1,
    with: { kind: "no-answer" },
  });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  expect(sandbox.creates).toBe(3);
  const journals = readdirSync(stack.state, { recursive: true, encoding: "utf8" });
  expect(journals.filter((name) => name.endsWith(".jsonl"))).toHaveLength(1);
  expect(await stack.resources()).toEqual([]);

  const checkout = join(stack.folder, "checkout");
  cpSync(stack.programFolder, checkout, { recursive: true });
  stack.programFolder = checkout;
  stack.logInElsewhere();
  await stack.select();
  stack.program(shop(`e0 = event("e0", [], { value: 2 });`, `e1 = event("e1", []);`));
  const output = await failed(stack.up("--continue-on-error"));
  expect(output).toContain("differ from the program's: e0 (2). The state now has");
  expect(output).toContain('the ConversionEvent named "E1" (advertiserId 1, value 1)');
  expect(commandsIn(output).join(), "commands that are alone on their lines").not.toMatch(
    /\[ADV|docs\//,
  );
  expect(await stack.ids()).toMatchObject({ a: "1", e0: "2" });
  expect(sandbox.creates).toBe(3);
});

it("a program that declares late goes on after a kill, with a new event in front", async () => {
  const sandbox = await useSandbox();
  const late = (before: string) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const event = (name) =>
  new advertising.ConversionEvent(name, { eventName: name.toUpperCase(), advertiserId: a.advertiserId, value: 1 });
${before}
setTimeout(() => event("late"), 100);`);
  const stack = await newStack(late(""), { sandbox });
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  stack.program(late(`event("fresh");`));
  // The preview fails with the words of the `up`, which does not begin.
  const output = await failed(stack.previewAndUp());
  expect(output).toContain('the ConversionEvent named "LATE"');
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
  expect(await answer(stack, sandbox, output)).toBe(1);
  await well(stack.up());
  expect(await stack.ids()).toMatchObject({ a: "1", fresh: expect.any(String), late: "2" });
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });
});

it("what moves to the plugin, to a provider of its own or into a component is taken over where its id is known", async () => {
  const sandbox = await useSandbox();
  const both = (...lines: string[]) =>
    throughPlugin(
      program(`const classes = require("pulumi-advertising");
const { advertiserId } = new classes.Advertiser("a", { advertiserName: "A" });
const args = (eventName) => ({ eventName, advertiserId, value: 1 });
${lines.join("\n")}`),
    );
  const stack = await newStack(
    both(
      `const dependsOn = ["x", "y", "z"].map((name) => new classes.ConversionEvent(name, args(name.toUpperCase())));`,
      `new classes.ConversionEvent("last", args("LAST"), { dependsOn });`,
    ),
    { sandbox, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } },
  );
  const lost = sandbox.fail({
    on: "event",
    act: true,
    after: 3,
    with: { kind: "no-answer" },
  });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  const listed = await failed(pendingCommand(stack));
  const idIn = (name: string) =>
    sandbox.events.find(({ event_name }) => event_name === name)?.id;
  for (const name of ["X", "Y", "Z"])
    expect(listed).toContain(`${name.toLowerCase()}: created as ${idIn(name)}`);

  stack.program(
    both(
      `const aliases = [{ type: "pulumi-nodejs:dynamic/advertising:ConversionEvent" }];`,
      `new advertising.ConversionEvent("x", args("X"), { aliases });`,
      `const provider = new advertising.Provider("second", {});`,
      `new advertising.ConversionEvent("y", args("Y"), { aliases, provider });`,
      `const parent = new (class extends pulumi.ComponentResource {})("my:Box", "box");`,
      `new classes.ConversionEvent("z", args("Z"), { parent, aliases: [{ name: "z", parent: pulumi.rootStackResource }] });`,
      `new classes.ConversionEvent("last", args("LAST"));`,
    ),
  );
  const output = await failed(stack.up("--continue-on-error"));
  expect(commandsIn(output).join()).toContain("--created 'last=<its id>'");
  expect(await stack.ids(), output).toMatchObject({
    a: "1",
    x: String(idIn("X")),
    y: String(idIn("Y")),
    z: String(idIn("Z")),
  });
  expect(sandbox.creates).toBe(5);
  expect(await answer(stack, sandbox, output)).toBe(1);
  await well(stack.up());
  expect(await stack.ids()).toMatchObject({ last: String(idIn("LAST")) });
  expect(sandbox.creates).toBe(5);
});
