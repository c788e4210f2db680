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
let funnel;
${rest}
exports.a = funnel?.eventIds.apply((ids) => ids.a);`);

const set = (events: string) =>
  `funnel = new advertising.ConversionEventSet("funnel", { advertiserId: acme.advertiserId, events: { ${events} } });`;

it("ids, a comment, leftovers and a stale checkout on another machine, a page, and a destroy", async () => {
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
  const exported = await stack.exported();
  stack.write("before.json", exported);

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
      .map(({ id, name, key, why }) => `${id} ${name} ${key}: ${why}`)
      .toSorted();
  const known = [
    `${first.a} A funnel/a: replaced in its set, or removed from it`,
    `${first.changed} Changed changed: replaced`,
    `${first.gone} Gone funnel/gone: replaced in its set, or removed from it`,
  ].toSorted();
  expect(inShort(leftovers.stdout)).toEqual(known);
  // A removed resource is known to earlier states: an export, or a checkpoint of the backend.
  const history = join(stack.folder, "backend/.pulumi/history/tiny/dev");
  const [checkpoint = ""] = readdirSync(history)
    .filter((name) => name.endsWith(".checkpoint.json"))
    .toSorted();
  for (const file of ["before.json", join(history, checkpoint)]) {
    const all = await run(stack, "leftovers", "--format", "json", "--before", file);
    expect(all.code, all.stderr).toBe(0);
    expect(inShort(all.stdout)).toHaveLength(known.length + 1);
    expect(all.stdout).toContain(`"id": "${first.buy}"`);
  }
  const page = await run(stack, "report", "page");
  expect(page.stdout).toContain("1 advertiser, 4 events, 0 unresolved");
  expect(page.stdout).toContain("(secret)");
  expect(page.stdout).not.toMatch(/Hush|ciphertext|v1:/);

  // A stale checkout there: preview and comment say what leaves the state and stays live.
  const { a } = await stack.outputs();
  other.program(body(2, set("")));
  expect((await other.preview()).output).toContain(`to remove from the state: a (${a})`);
  other.write("preview.json", (await other.preview("--json", "--show-sames")).output);
  const stale = await run(other, "report", "comment", "--preview", "preview.json");
  expect(stale.stdout).toContain("**2 to leave the state and stay live**");
  expect(stale.stdout).toContain("| leave live | ConversionEvent | <code>bought</code> | <code>Buy</code> |");
  expect(stale.stdout).toContain(`| leave live | ConversionEvent | <code>funnel/a</code> | <code>A</code> | ${a} |`);

  // A destroy of a part, and of all: every id that left the state, from two exports.
  const full = await other.exported();
  for (const [file, text] of Object.entries({ "before.json": exported, "full.json": full })) other.write(file, text);
  const befores = ["before.json", "full.json"].flatMap((file) => ["--before", file]);
  const one = await other.destroy("--target", "**::changed");
  expect(one.code, one.output).toBe(0);
  expect((await run(other, "leftovers", ...befores)).stdout).toMatch(/Changed .* changed .*removed: it was in/);
  expect((await other.destroy()).code).toBe(0);
  expect((await run(other, "leftovers")).stdout).toMatch(/^Nothing is known/);
  const all = await run(other, "leftovers", ...befores, "--format", "json");
  expect(all, all.stderr).toMatchObject({ code: 0, stderr: "" });
  const { leftovers: every } = JSON.parse(all.stdout) as { leftovers: { kind: string; id: string }[] };
  const live = [
    ...sandbox.advertisers.map(({ id }) => `Advertiser ${id}`),
    ...sandbox.events.map(({ id }) => `ConversionEvent ${id}`),
  ];
  expect(every.map(({ kind, id }) => `${kind} ${id}`).toSorted()).toEqual(live.toSorted());
  // Another stack's export is no earlier state of this one.
  other.write("theirs.json", full.replaceAll('"tiny/dev', '"tiny/prod'));
  const wrong = await run(other, "leftovers", "--before", "theirs.json");
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringMatching(/of the stack .*prod, not of .*dev/) });
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 8, updates: 0, deletes: 0 });
});

it("what a run on this machine has deleted is not on its list; another machine can't know", async () => {
  const sandbox = await useSandbox({ operations: true });
  const operations = { event: { delete: "DELETE rest/event/{id}" } };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const gone = `new advertising.ConversionEvent("gone", { advertiserId: acme.advertiserId, ...a }, { retainOnDelete: false });`;
  const stack = await newStack(body(1, gone), { sandbox, environment });
  expect((await stack.up()).code).toBe(0);
  const other = await stack.onAnotherMachine();
  for (const each of [stack, other]) each.write("before.json", await stack.exported());
  stack.program(body(1, ""));
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 1 });
  const listed = (on: TestStack) => run(on, "leftovers", "--before", "before.json");
  expect((await listed(stack)).stdout).toMatch(/^Nothing that is live/);
  expect((await listed(other)).stdout).toContain("live only if its delete was not done (retainOnDelete was off)");
});
