/** Reports of a real stack. */
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

async function run(stack: TestStack, ...args: string[]): Promise<string> {
  const { code, output } = await stack.command(...args);
  expect(code, output).toBe(0);
  return output;
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

it("ids, leftovers on another machine and from earlier states, a page, and a destroy", async () => {
  const sandbox = await useSandbox();
  const before = set('a, gone: { eventName: "Gone", value: 1 }');
  const stack = await newStack(
    body(1, `event("buy", { eventName: "Buy", value: 9 });${before}`),
    {
      sandbox,
    },
  );
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 5 });
  const idOf = (name: string) =>
    sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const [changed, gone, a, buy, kept] = ["Changed", "Gone", "A", "Buy", "Hush hush"].map(
    idOf,
  );
  const { events } = JSON.parse(await run(stack, "report", "ids", "--stack", "dev"));
  expect(events).toEqual({ kept, changed, buy, "funnel/a": a, "funnel/gone": gone });
  const exported = await stack.exported();
  stack.write("before.json", exported);

  stack.program(body(2, `event("bought", { eventName: "Buy", value: 9 });${set("a")}`));
  expect((await stack.up()).code).toBe(0);
  expect(sandbox.eventPosts).toBe(8);
  // What the state notes is known on another machine.
  const other = await stack.onAnotherMachine();
  const leftIn = (text: string) =>
    (
      JSON.parse(text) as { leftovers: { id: string; name: string; why: string }[] }
    ).leftovers.map(
      ({ id, name, why }) => `${id} ${name}: ${why.replace(/ at [^;]+/, "")}`,
    );
  const known = [
    `${a} A: left the state; may be live`,
    `${changed} Changed: left the state; may be live`,
    `${gone} Gone: left the state; may be live`,
  ];
  expect(leftIn(await run(other, "leftovers", "--format", "json")).toSorted()).toEqual(
    known.toSorted(),
  );
  // A removed resource is known to earlier states: an export, or a checkpoint of the backend.
  const history = join(stack.folder, "backend/.pulumi/history/tiny/dev");
  const checkpoints = readdirSync(history).filter((name) =>
    name.endsWith(".checkpoint.json"),
  );
  for (const file of ["before.json", join(history, checkpoints.toSorted()[0] ?? "")]) {
    const all = leftIn(await run(stack, "leftovers", "--format", "json", "--before", file));
    expect(all).toHaveLength(known.length + 1);
    expect(all.join()).toContain(`${buy} Buy: left the state after the export of`);
  }
  const page = await run(stack, "report", "page");
  expect(page).toContain("1 advertiser, 4 events, 0 unresolved");
  expect(page).toContain("Left live (3)");
  expect(page).not.toMatch(/Hush|ciphertext|v1:/);

  // After a destroy, every id that left the state, from two exports.
  for (const [file, text] of Object.entries({
    "before.json": exported,
    "full.json": await other.exported(),
  }))
    other.write(file, text);
  other.editState((text) => {
    const state = JSON.parse(text);
    state.checkpoint.latest.resources = [];
    return JSON.stringify(state);
  });
  expect(await run(other, "leftovers")).toContain(
    "What was read shows nothing that was left live.",
  );
  const befores = ["before.json", "full.json"].flatMap((file) => ["--before", file]);
  const { leftovers } = JSON.parse(
    await run(other, "leftovers", ...befores, "--format", "json"),
  );
  const listed = (leftovers as { kind: string; id: string }[]).map(
    ({ kind, id }) => `${kind} ${id}`,
  );
  const live = [
    ...sandbox.advertisers.map(({ id }) => `Advertiser ${id}`),
    ...sandbox.events.map(({ id }) => `ConversionEvent ${id}`),
  ];
  expect(listed.toSorted()).toEqual(live.toSorted());
  expect(sandbox).toMatchObject({
    advertiserPosts: 1,
    eventPosts: 8,
    updates: 0,
    deletes: 0,
  });
});
