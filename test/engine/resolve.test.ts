/** `pending` resolves creates of unknown outcome: in the state by a refresh, the others in this machine's journal. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { struck, upAndKill, upAndStop } from "../support/killing.js";
import { commandsIn, typed } from "../support/printed-commands.js";
import { pendingCommand } from "../support/recovery.js";
import {
  failed,
  newStack,
  program,
  runProcess,
  type TestStack,
  useSandbox,
  well,
} from "../support/stack.js";

const objects = {
  advertisers: [{ id: 1, advertiser_name: "A", active: true }],
  events: [],
};
const config = { "advertising:authMode": "basic" };

/** What the state has, by name: the id or ids; `?` for each create of unknown outcome. */
async function stateOf(stack: TestStack): Promise<Record<string, string>> {
  const entries = (await stack.resources()).flatMap(({ urn, id = "", outputs = {} }) => {
    const name = urn.split("::")[3] ?? "";
    if (outputs.eventIds === undefined) return [[name, id.replace(/^unresolved-.*/, "?")]];
    const ids = Object.entries(outputs.eventIds as object).map(([key, each]) => [
      `${name}/${key}`,
      String(each),
    ]);
    return [
      ...ids,
      ...Object.keys((outputs.unresolved as object) ?? {}).map((key) => [
        `${name}/${key}`,
        "?",
      ]),
    ];
  });
  return Object.fromEntries(entries.toSorted());
}

async function answer(stack: TestStack, code: number, ...args: string[]): Promise<string> {
  const answered = await pendingCommand(stack, ...args);
  expect(answered.code, answered.output).toBe(code);
  return answered.output;
}

it("what the state has is resolved by a refresh of just that, from another machine too, and nothing is sent", async () => {
  const sandbox = await useSandbox({ objects, authMode: "basic" });
  const shop = program(`
const event = (eventName, more, options) =>
  new advertising.ConversionEvent(eventName, { eventName, advertiserId: 1, value: 1, ...more }, options);
event("made");
event("lost");
event("kept", {}, { protect: true });
event("secret", { value: pulumi.secret(8675309) });
const events = Object.fromEntries(["a", "b", "c"].map((key) => [key, { eventName: key, value: 1 }]));
new advertising.ConversionEventSet("funnel", { advertiserId: 1, events });`);
  const stack = await newStack(shop, { sandbox, config });
  sandbox.fail({
    on: "event",
    times: 7,
    act: true,
    with: { kind: "close-without-answer" },
  });
  expect((await stack.up("--continue-on-error")).code).not.toBe(0);
  const unknown = {
    "funnel/a": "?",
    "funnel/b": "?",
    "funnel/c": "?",
    kept: "?",
    lost: "?",
    made: "?",
    secret: "?",
  };
  expect(await stateOf(stack)).toEqual(unknown);
  const idOf = (name: string) =>
    String(sandbox.events.find(({ event_name }) => event_name === name)?.id);
  const created = ["made", "kept", "secret", "a"].flatMap((name) => [
    "--created",
    `${name === "a" ? "funnel/a" : name}=${idOf(name)}`,
  ]);

  // While a run goes on, Pulumi says why not.
  const locks = join(stack.folder, "backend/.pulumi/locks");
  const isLocked = () =>
    existsSync(locks) &&
    readdirSync(locks, { recursive: true }).some((file) => /json$/.test(`${file}`));
  const locked = async () => {
    while (!isLocked()) await sleep(5);
  };
  const goOn = await upAndStop(stack, locked());
  const meanwhile = await answer(stack, 2, ...created);
  expect(meanwhile).toMatch(/not resolved: [\s\S]*locked[\s\S]*pulumi cancel/);
  expect((await goOn()).code).not.toBe(0);
  const other = await stack.onAnotherMachine();
  expect(await stateOf(stack)).toEqual(unknown);

  const resolved = await answer(
    other,
    1,
    ...created,
    "--not-created",
    "lost",
    "--not-created",
    "funnel/b",
  );
  expect(resolved).toContain(`Resolved as created with id ${idOf("a")}: funnel/a`);
  expect(resolved).toContain("Resolved as not created: funnel/b\n");
  expect(resolved).toContain(
    "1 create is unresolved, and may or may not have reached the platform:\n  funnel/c: ",
  );
  const ids = { kept: idOf("kept"), made: idOf("made"), secret: idOf("secret") };
  expect(await stateOf(stack)).toEqual({ "funnel/a": idOf("a"), "funnel/c": "?", ...ids });
  const kept = (await stack.resources()).find(({ urn }) => urn.endsWith("::kept"));
  expect(kept).toMatchObject({ protect: true });
  expect(kept).not.toHaveProperty("initErrors");
  expect(await stack.exported()).not.toContain("8675309");
  expect(sandbox.eventPosts).toBe(7);

  // The first machine's journal still has what was answered elsewhere: it is asked about, and then sent.
  await answer(stack, 1, "--not-created", "funnel", "--not-created", "lost");
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(sandbox.eventPosts).toBe(10);
  expect(await stateOf(stack)).toMatchObject({ "funnel/a": idOf("a"), ...ids });
});

it("what only the journal of a killed run has, or only Pulumi's record of it, is answered in the journal", async () => {
  const sandbox = await useSandbox({ objects, authMode: "basic" });
  const events = `Object.fromEntries(["a", "b"].map((key) => [key, { eventName: key, value: 1 }]))`;
  const set = `new advertising.ConversionEventSet("funnel", { advertiserId: 1, events: ${events} });`;
  const stack = await newStack(program(set), { sandbox, config });
  const killed = async () => {
    const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
    expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
    await stack.cancel();
  };
  // A set: the record says which events it was about to send, and the journal which of them it sent.
  await killed();
  const listed = await answer(stack, 1);
  expect(listed).toMatch(
    /^1 create is unresolved, and may [\s\S]* funnel\/a: look in the account/,
  );
  expect(listed).not.toContain("funnel/b");
  const other = await stack.onAnotherMachine();
  const a = String(sandbox.events.find(({ event_name }) => event_name === "a")?.id);
  const made = await answer(
    other,
    0,
    "--created",
    `funnel/a=${a}`,
    "--not-created",
    "funnel/b",
  );
  expect(made).toContain(
    `Created by earlier runs, but not in the state yet:\n  funnel/a: created as ${a}\n`,
  );
  const up = await other.up();
  expect(up.code, up.output).toBe(0);
  expect(await stateOf(stack)).toMatchObject({ "funnel/a": a });
  expect(sandbox.eventPosts).toBe(2);
  // The first machine sees it in the state.
  expect(await answer(stack, 0)).toMatch(
    /^No create is unresolved\.\nPulumi's record still lists/,
  );

  // The stack is renamed before it is asked: Pulumi's record comes along.
  stack.program(
    program(
      `${set} new advertising.ConversionEvent("f", { eventName: "F", advertiserId: 1, value: 1 });`,
    ),
  );
  await killed();
  await well(stack.run(["stack", "rename", "prod"]));
  expect(await answer(stack, 1)).toMatch(
    /^1 create is unresolved, and may [\s\S]* f: look in the account/,
  );
  const stopped = await failed(stack.up());
  expect(commandsIn(stopped).join()).toContain("--created 'f=<its id>' --stack prod");
  expect(sandbox.eventPosts).toBe(3);
  const f = sandbox.events.find(({ event_name }) => event_name === "F")?.id;
  await answer(stack, 0, "--created", `f=${f}`);
  await well(stack.up());
  expect(sandbox.eventPosts).toBe(3);
});

it("stacks of one project in one account are made in one up each; printed commands work from another stack", async () => {
  const sandbox = await useSandbox();
  const shop = (name: string) =>
    program(`
const a = new advertising.Advertiser("acme", { advertiserName: "Acme" });
new advertising.ConversionEvent("${name}", { eventName: "Purchase", advertiserId: a.advertiserId, value: 1 });`);
  const stack = await newStack(shop("purchase"), { sandbox });
  await well(stack.run(["stack", "init", "pr-7", "--no-select"]));
  await well(stack.up());
  await well(stack.destroy());
  for (const name of ["pr-7", "dev"]) await well(stack.up("--stack", name));
  expect(sandbox).toMatchObject({ advertiserPosts: 3, eventPosts: 3 });

  // Killed, and renamed without an alias, while another stack is selected.
  const more = (name: string) => `${shop("purchase")}
new advertising.ConversionEvent("${name}", { eventName: "Lead", advertiserId: a.advertiserId, value: 1 });`;
  stack.program(more("lead"));
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree", ["--stack", "dev"])).toBe(true);
  await stack.cancel();
  await well(stack.run(["stack", "select", "pr-7"]));
  stack.program(more("lead-eu"));
  const stopped = await failed(stack.preview("--stack", "dev"));
  const id = String(sandbox.events.find(({ event_name }) => event_name === "Lead")?.id);
  const [created = ""] = commandsIn(stopped).filter((each) => each.includes("--created"));
  expect(created).toContain("--stack dev");
  await well(typed(stack, created.replace("<its id>", id)));
  expect((await stack.up("--stack", "dev")).output).toContain(`existingId: ${id}`);
  stack.program(
    more("lead-eu").replace(
      '{ eventName: "Lead"',
      `{ existingId: ${id}, eventName: "Lead"`,
    ),
  );
  const adopted = await well(stack.previewAndUp("--stack", "dev"));
  expect(adopted).toContain(`adopts ${id}; nothing is sent`);
  expect(sandbox).toMatchObject({ advertiserPosts: 3, eventPosts: 4 });
});

it("an inline program has no project file: what is printed for it works in its folder", async () => {
  const sandbox = await useSandbox({ objects, authMode: "basic" });
  const stack = await newStack("", {
    sandbox,
    environment: { ADVERTISING_AUTH_MODE: "basic" },
  });
  stack.write(
    "inline.cjs",
    `
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
${program(`
const inline = async () => {
  for (const name of ["there", "not-there"])
    new advertising.ConversionEvent(name, { eventName: name, advertiserId: 1, value: pulumi.secret(1) });
};`)}
LocalWorkspace.createOrSelectStack({ stackName: "dev", projectName: "inline", program: inline })
  .then((stack) => stack.up({ continueOnError: true }))
  .catch((error) => console.log(error.message));`,
  );
  const run = () =>
    runProcess("node", ["inline.cjs"], stack.programFolder, stack.environment);
  sandbox.fail({
    on: "event",
    times: 2,
    act: true,
    with: { kind: "close-without-answer" },
  });
  const { output } = await run();
  expect(output).toContain("Then run `pulumi up`.");
  const printed = commandsIn(output);
  const commandOf = (option: string, name: string) =>
    printed.find((each) => each.includes(`--${option} '${name}`)) ??
    `no --${option} ${name} in ${printed}`;
  const id = String(sandbox.events.find(({ event_name }) => event_name === "there")?.id);
  expect((await typed(stack, commandOf("not-created", "not-there"))).output).toMatch(
    /^Resolved as not created/,
  );
  const created = await typed(stack, commandOf("created", "there").replace("<its id>", id));
  expect(created.output).toMatch(
    /^Resolved as created with id \d+: there\n[\s\S]*No create is unresolved\./,
  );
  await run();
  expect(sandbox.eventPosts).toBe(3);
  const ids = await typed(
    stack,
    "npx pulumi-advertising report ids --stack organization/inline/dev",
  );
  expect(JSON.parse(ids.output).events).toMatchObject({ there: Number(id) });
});
