/** Reports of a real stack. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

function run(stack: TestStack, ...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const options = { cwd: stack.programFolder, env: stack.environment, maxBuffer: 2 ** 26 };
  return new Promise((resolved) => {
    execFile(process.execPath, [command, ...args], options, (error, stdout, stderr) =>
      resolved({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const body = (value: number, rest: string) =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const event = (name, more) => new advertising.ConversionEvent(name, { advertiserId: acme.advertiserId, ...more });
event("kept", { eventName: pulumi.secret("Hush hush"), value: 1 });
event("changed", { eventName: "Changed", value: ${value} });
const a = { eventName: "A", value: ${value} };
${rest}`);

const set = (events: string) =>
  `new advertising.ConversionEventSet("funnel", { advertiserId: acme.advertiserId, events: { ${events} } });`;

it("ids, a comment, leftovers on another machine, a page and a comparison", async () => {
  const sandbox = await useSandbox();
  const before = body(
    1,
    `event("buy", { eventName: "Buy", value: 9 });${set('a, gone: { eventName: "Gone", value: 1 }')}`,
  );
  const stack = await newStack(before, { sandbox });
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 5 });
  const idOf = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const first = { changed: idOf("Changed"), gone: idOf("Gone"), a: idOf("A"), buy: idOf("Buy") };

  const ids = await run(stack, "report", "ids");
  expect(ids, ids.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(ids.stdout).events).toEqual({
    kept: idOf("Hush hush"),
    changed: first.changed,
    buy: first.buy,
    "funnel/a": first.a,
    "funnel/gone": first.gone,
  });
  expect(await run(stack, "leftovers")).toMatchObject({ stdout: expect.stringMatching(/^Nothing is known/) });
  stack.write("before.json", await stack.exported());

  stack.program(body(2, `event("bought", { eventName: "Buy", value: 9 });${set("a")}`));
  stack.write("preview.json", (await stack.preview("--json", "--show-sames")).output);
  const comment = await run(stack, "report", "comment", "--preview", "preview.json");
  expect(comment.stdout).toContain("**1 to create, 2 to replace, 2 to leave the state and stay live**");
  expect(comment.stdout).toContain(
    `<code>bought</code> is new, and all its arguments are those of <code>buy</code> (${first.buy})`,
  );
  expect(comment.stdout).not.toContain("Hush");

  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(8);
  // Where the leftovers are kept shows in no preview.
  const other = await stack.onAnotherMachine();
  const preview = await other.preview("--expect-no-changes");
  expect(preview.output).not.toContain("__left");
  expect(preview.code, preview.output).toBe(0);
  const leftovers = await run(other, "leftovers", "--format", "json");
  const inShort = (text: string) =>
    (JSON.parse(text) as { leftovers: { id: string; name: string; key: string; why: string }[] }).leftovers
      .map(({ id, name, key, why }) => `${id} ${name} ${key}: ${why.replace(/ by \d+$/, "")}`)
      .toSorted();
  const known = [
    `${first.a} A funnel/a: replaced`,
    `${first.changed} Changed changed: replaced`,
    `${first.gone} Gone funnel/gone: removed from its set`,
  ].toSorted();
  expect(inShort(leftovers.stdout)).toEqual(known);
  // A removed resource is known to earlier states: an export, or a checkpoint of the backend.
  const history = join(stack.folder, "backend/.pulumi/history/tiny/dev");
  const checkpoint =
    readdirSync(history)
      .filter((name) => name.endsWith(".checkpoint.json"))
      .toSorted()[0] ?? "";
  for (const file of ["before.json", join(history, checkpoint)]) {
    const all = await run(stack, "leftovers", "--format", "json", "--before", file);
    expect(all.code, all.stderr).toBe(0);
    expect(inShort(all.stdout)).toHaveLength(known.length + 1);
    expect(all.stdout).toContain(`"id": "${first.buy}"`);
  }

  // What somebody has tidied up goes off the list, on every machine, and is no change.
  const wrong = await run(stack, "leftovers", "--done", String(first.gone), "--done", String(idOf("Hush hush")));
  expect(wrong).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringContaining("is managed: the state has it"),
  });
  const done = await run(
    stack,
    "leftovers",
    "--done",
    String(first.gone),
    "--done",
    `ConversionEvent:${first.changed}`,
  );
  expect(done, done.stderr).toMatchObject({ code: 0, stderr: "" });
  expect(done.stdout).toContain(
    `Off the list: ConversionEvent ${first.gone} "Gone", which funnel/gone had left live\n`,
  );
  const after = await other.preview("--expect-no-changes");
  expect(after.code, after.output).toBe(0);
  for (const args of [[], ["--before", "before.json"]]) {
    const rest = inShort((await run(other, "leftovers", "--format", "json", ...args)).stdout);
    expect(rest.filter((line) => known.includes(line))).toEqual([`${first.a} A funnel/a: replaced`]);
  }
  // Runs that change the set and the event go on with what the state says.
  stack.program(body(3, `event("bought", { eventName: "Buy", value: 9 });${set("a")}`));
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(10);
  const later = inShort((await run(stack, "leftovers", "--format", "json")).stdout);
  expect(later.filter((line) => known.includes(line))).toEqual([`${first.a} A funnel/a: replaced`]);
  expect(later).toHaveLength(3);

  const page = await run(stack, "report", "page");
  expect(page.stdout).toContain("1 advertiser, 4 events, 0 unresolved");
  expect(page.stdout).toContain("(secret)");
  expect(page.stdout).not.toMatch(/Hush|ciphertext|v1:/);

  stack.write("now.json", await stack.exported());
  const compared = await run(stack, "compare", "--state", "before.json", "--state", "now.json");
  expect(compared).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('  ConversionEvent buy "Buy"'),
  });
  expect((await run(stack, "compare", "dev", "dev")).code).toBe(0);
  expect(sandbox.eventPosts).toBe(10);
});

it("a plain destroy on a machine that never ran the stack: every id that left the state, from two exports", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(body(1, set('a, b: { eventName: "B", value: 1 }')), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const other = await stack.onAnotherMachine();
  const before = await other.exported();
  other.write("before.json", before);
  // A part of it: the rest is held still.
  const one = await other.destroy("--target", "**::changed");
  expect(one.code, one.output).toBe(0);
  const left = await run(other, "leftovers", "--before", "before.json", "--format", "json");
  const changed = sandbox.events.find(({ event_name }) => event_name === "Changed");
  expect(JSON.parse(left.stdout).leftovers).toMatchObject([
    { kind: "ConversionEvent", id: String(changed?.id), name: "Changed", key: "changed", live: "yes" },
  ]);

  const destroyed = await other.destroy();
  expect(destroyed.code, destroyed.output).toBe(0);
  expect(destroyed.output).not.toMatch(/live|\(\d+\)/); // as this package prints ids
  other.write("after.json", await other.exported());
  expect((await run(other, "leftovers")).stdout).toMatch(/^Nothing is known/);
  const live = [
    ...sandbox.advertisers.map(({ id }) => `Advertiser ${id}`),
    ...sandbox.events.map(({ id }) => `ConversionEvent ${id}`),
  ].toSorted();
  expect(live).toHaveLength(5);
  for (const args of [[], ["--state", "after.json"]]) {
    const all = await run(other, "leftovers", "--before", "before.json", ...args, "--format", "json");
    expect(all, all.stderr).toMatchObject({ code: 0, stderr: "" });
    const { leftovers } = JSON.parse(all.stdout) as { leftovers: { kind: string; id: string; live: string }[] };
    expect(leftovers.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual(live);
    expect(leftovers.filter((each) => each.live !== "yes")).toEqual([]);
  }
  // Another stack's export is no earlier state of this one.
  other.write("theirs.json", before.replaceAll('"tiny/dev', '"tiny/prod'));
  const wrong = await run(other, "leftovers", "--before", "theirs.json");
  expect(wrong).toMatchObject({
    code: 2,
    stdout: "",
    stderr: expect.stringMatching(/of the stack .*prod, not of .*dev/),
  });
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 4 });
});

it("a stale checkout on a machine that never ran the stack: preview and comment say which objects leave the state, and all stay live", async () => {
  const sandbox = await useSandbox({ operations: true });
  const now = body(1, `event("buy", { eventName: "Buy", value: 9 });${set('a, b: { eventName: "B", value: 1 }')}`);
  const stack = await newStack(now, { sandbox });
  expect((await stack.up()).code).toBe(0);
  const [buy, b] = ["Buy", "B"].map((name) => sandbox.events.find(({ event_name }) => event_name === name)?.id);
  const other = await stack.onAnotherMachine();
  other.program(body(1, set("a")));
  const { output } = await other.preview();
  expect(output).toContain(`to remove from the state: b (${b})`);
  expect(output).toContain("buy delete[retain]"); // its id is in the comment
  other.write("preview.json", (await other.preview("--json", "--show-sames")).output);
  const comment = (await run(other, "report", "comment", "--preview", "preview.json")).stdout;
  expect(comment).toContain("**2 to leave the state and stay live**");
  expect(comment).toContain(`| leave live | ConversionEvent | <code>buy</code> | <code>Buy</code> | ${buy} |`);
  expect(comment).toContain(`| leave live | ConversionEvent | <code>funnel/b</code> | <code>B</code> | ${b} |`);

  other.write("before.json", await other.exported());
  const up = await other.up();
  expect(up.code, up.output).toBe(0);
  const { stdout } = await run(other, "leftovers", "--before", "before.json", "--format", "json");
  const { leftovers } = JSON.parse(stdout) as { leftovers: { id: string; live: string }[] };
  expect(leftovers.map(({ id, live }) => `${id} ${live}`).toSorted()).toEqual([`${buy} yes`, `${b} yes`].toSorted());
  // The machine with the program of now says how to go on with both.
  const again = (await stack.preview()).output;
  for (const id of [buy, b]) expect(again).toContain(`To go on with ${id}, set existingId: ${id}.`);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 5, updates: 0, deletes: 0 });
});

it("what left a set, was adopted by another resource and deleted with it is not on the list of this machine", async () => {
  const sandbox = await useSandbox({ operations: true });
  const operations = {
    event: { read: "GET rest/event/{id}", delete: "DELETE rest/event/{id}" },
    createdVisibleAfterSeconds: 0,
  };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const b = 'b: { eventName: "B", value: 1 }';
  const stack = await newStack(body(1, set(`a, ${b}`)), { sandbox, environment });
  expect((await stack.up()).code).toBe(0);
  const id = sandbox.events.find(({ event_name }) => event_name === "A")?.id;
  const adopter = `new advertising.ConversionEvent("a", { advertiserId: acme.advertiserId, ...a, existingId: ${id} }, { retainOnDelete: false });`;
  for (const rest of [set(b) + adopter, set(b)]) {
    stack.program(body(1, rest));
    const up = await stack.up();
    expect(up.code, up.output).toBe(0);
  }
  expect(sandbox.events.map((each) => each.id)).not.toContain(id);
  expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 1 });
  expect((await run(stack, "leftovers")).stdout).toMatch(/^Nothing is known/);
  const other = await stack.onAnotherMachine();
  expect((await run(other, "leftovers", "--done", String(id))).stdout).toMatch(/^Off the list/);
  expect((await run(other, "leftovers")).stdout).toMatch(/^Nothing is known/);
});
