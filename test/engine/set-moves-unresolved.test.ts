/** An unresolved event of a set that moves elsewhere with existingId: the state forgets it only once that is settled. */
import { expect, it } from "vitest";
import { pendingCommand } from "../support/recovery.js";
import { useSharedStack } from "../support/shared-stack.js";
import { program, type TestStack } from "../support/stack.js";

const A = `eventName: "A", value: 1`;
const set = (events: string) =>
  `new advertising.ConversionEventSet("s", { advertiserId: 1, events: { b: { eventName: "B", value: 1 }, ${events} } });`;
const single = (more: string) => `new advertising.ConversionEvent("x", { advertiserId: 1, ${A}, ${more} });`;

/** Made by others. */
const other501 = { id: 501, event_name: "Other", advertiser_id: 1, value: 1 };
const objects = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [other501] };
const READ = { read: "GET rest/event/{id}" };
const WITH_DELETE = JSON.stringify({
  event: { ...READ, delete: "DELETE rest/event/{id}" },
  createdVisibleAfterSeconds: 0,
});
const operations = { ADVERTISING_OPERATIONS: JSON.stringify({ event: READ, createdVisibleAfterSeconds: 0 }) };

/** `s["a"]` was sent and carried out, and its response was lost: what each of these tests begins with. */
const begun = useSharedStack(
  program(set("")),
  async ({ stack, sandbox }) => {
    expect((await stack.up()).code).toBe(0);
    sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
    stack.program(program(set(`a: { ${A} }`)));
    expect((await stack.up()).code).not.toBe(0);
    expect(await openKeys(stack)).toEqual(["a"]);
    expect(sandbox.eventPosts).toBe(2);
  },
  { sandbox: { operations: true, objects }, environment: operations },
);

const unresolvedMember = () => ({ ...begun(), id: String(begun().sandbox.events.at(-1)?.id) });

const openKeys = async (stack: TestStack) =>
  (await stack.resources()).flatMap(({ outputs }) => Object.keys((outputs?.unresolved ?? {}) as object));

/** What a machine without a journal finds: the create is pending, and is not sent again. */
async function expectKnownElsewhere(stack: TestStack) {
  const other = await stack.onAnotherMachine();
  const listed = await pendingCommand(other);
  expect(listed.code, listed.output).toBe(1);
  expect(listed.output).toContain('ConversionEventSet::s["a"]');
  other.program(program(set(`a: { ${A} }`)));
  expect((await other.up()).output).toContain("The outcome of 1 event is unknown");
}

it("the adoption fails, or is left out: another machine knows the create all the same", async () => {
  const { sandbox, stack, id } = unresolvedMember();
  stack.program(program(set("") + single("existingId: 9999")));
  const failed = await stack.up();
  expect(failed.code, failed.output).not.toBe(0);
  await expectKnownElsewhere(stack);

  stack.program(program(set("") + single(`existingId: ${id}`)));
  const [urn = ""] = (await stack.resources()).map((each) => each.urn);
  expect((await stack.up("--target", urn)).code).toBe(0);
  await expectKnownElsewhere(stack);
  expect(sandbox.eventPosts).toBe(0);
});

it.each([
  ["the adopter first", (id: string) => single(`existingId: ${id}`) + set("")],
  ["the set first", (id: string) => set("") + single(`existingId: ${id}`)],
])("%s: adopted, and settled for every machine", async (_, moved) => {
  const { sandbox, stack, id } = unresolvedMember();
  stack.program(program(moved(id)));
  const preview = await stack.preview();
  expect(preview.output).not.toContain("to settle");
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);

  const other = await stack.onAnotherMachine();
  // The set drops it in a run whose engine has asked about the adopter before: until then, the state has it, and nothing waits for it.
  const expectSettled = async (machine: TestStack) => {
    const listed = await pendingCommand(machine);
    expect(listed.code, listed.output).toBe(0);
    const again = await machine.up();
    expect(again.code, again.output).toBe(0);
    expect(again.output).toMatch(/[23] unchanged/);
  };
  for (const machine of [stack, other]) await expectSettled(machine);
  // What has the object need not go on to say so.
  other.program(program(moved(id).replace(`existingId: ${id}`, "")));
  for (let ups = 0; ups < 2; ups++) await expectSettled(other);
  expect(sandbox.eventPosts).toBe(0);
});

const changed = single("existingId: undefined").replace("value: 1", "value: 2");
const withUpdate = { event: { read: "GET rest/event/{id}", update: "PUT rest/event/{id}" } };

it.each([
  ["has left the program", "", 0, undefined],
  ["has left the state", "", 0, "state"],
  ["is replaced", changed, 1, undefined],
  ["is updated in place", changed, 0, withUpdate],
])("what adopted it %s before the set has dropped it: it stays settled", async (_, since, posts, how) => {
  const { sandbox, stack, id } = unresolvedMember();
  stack.program(program(set("") + single(`existingId: ${id}`)));
  expect((await stack.up()).code).toBe(0);
  const expectSettled = async (...machines: TestStack[]) => {
    for (const machine of machines) {
      const listed = await pendingCommand(machine);
      expect(listed.code, listed.output).toBe(0);
    }
  };
  stack.program(program(set("") + since));
  if (typeof how === "object") stack.setEnvironment({ ADVERTISING_OPERATIONS: JSON.stringify(how) });
  if (how === "state") {
    const [adopter] = await stack.resources();
    expect((await stack.run(["state", "delete", adopter?.urn ?? "", "--yes"])).code).toBe(0);
    await expectSettled(stack);
  }
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expect(await openKeys(stack)).toEqual([]);
  await expectSettled(stack, await stack.onAnotherMachine());
  expect(sandbox.eventPosts).toBe(posts);
});

it("under another key of its set, on a machine that knows nothing else of it", async () => {
  const { sandbox, stack, id } = unresolvedMember();
  const other = await stack.onAnotherMachine();
  other.program(program(set(`c: { ${A}, existingId: 9999 }`)));
  expect((await other.up()).code).not.toBe(0);
  expect(await openKeys(other)).toEqual(["a"]);
  other.program(program(set(`c: { ${A}, existingId: ${id} }`)));
  const up = await other.up();
  expect(up.code, up.output).toBe(0);
  expect(await openKeys(other)).toEqual([]);
  expect(sandbox.eventPosts).toBe(0);
});

it("its set is renamed, and one member moves out and one in, in the same change, with deletes: nothing is sent, deleted or lost", async () => {
  const { sandbox, stack, id } = unresolvedMember();
  stack.setEnvironment({ ADVERTISING_OPERATIONS: WITH_DELETE });
  const b = sandbox.events.find(({ event_name }) => event_name === "B")?.id;
  const OTHER = `eventName: "Other", value: 1`;
  stack.program(
    program(`
new advertising.ConversionEventSet("t", { advertiserId: 1, events: { a: { ${A} }, c: { ${OTHER}, existingId: 501 } } },
  { aliases: [{ name: "s" }], retainOnDelete: false });
new advertising.ConversionEvent("b", { advertiserId: 1, eventName: "B", value: 1, existingId: ${b} }, { retainOnDelete: false });`),
  );
  const stopped = await stack.up();
  expect(stopped.code, stopped.output).not.toBe(0);
  expect(await openKeys(stack)).toEqual(["a"]);
  const settled = await pendingCommand(stack, "--created", `t["a"]=${id}`);
  expect(settled.code, settled.output).toBe(0);
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  const held = (await stack.resources()).map(({ urn, id, outputs }) => [
    urn.split("::").at(-1),
    outputs?.eventIds ?? id,
  ]);
  expect(held).toEqual([
    ["b", String(b)],
    ["t", { a: Number(id), c: 501 }],
  ]);
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 0, updates: 0 });
  expect(sandbox.events).toHaveLength(3);
});

it.each([
  ["another key", (what: string) => set(`c: { ${what} }`)],
  [
    "another resource",
    (what: string) => `${set("")} new advertising.ConversionEvent("x", { advertiserId: 1, ${what} });`,
  ],
])("%s names another object, and is then declared as that: the create stays unresolved", async (_, moved) => {
  const { sandbox, stack, id } = unresolvedMember();
  // With the journal of the create, and without it.
  for (const machine of [stack, await stack.onAnotherMachine()]) {
    machine.program(program(moved(`${A}, existingId: 501`)));
    expect((await machine.up()).output).toContain("existingId 501 differs");
    expect(await openKeys(machine)).toEqual(["a"]);
  }
  const other = await stack.onAnotherMachine();
  other.program(program(moved(`eventName: "Other", value: 1, existingId: 501`)));
  for (let ups = 0; ups < 2; ups++) {
    await other.up();
    const listed = await pendingCommand(other);
    expect(listed.code, listed.output).toBe(1);
    expect(listed.output).toContain('ConversionEventSet::s["a"]');
  }
  other.program(program(moved(`eventName: "Other", value: 1`).replace("events: {", `events: { a: { ${A} },`)));
  expect((await other.up()).output).toContain("The outcome of 1 event is unknown");
  expect(sandbox.eventPosts).toBe(0);
  expect(sandbox.events.map((each) => String(each.id))).toContain(id);
});

it("R4: another machine's run has adopted its object: the next `up` here settles the create, and it stays settled", async () => {
  const { sandbox, stack, id } = unresolvedMember();
  const moved = program(single(`existingId: ${id}`) + set(""));
  const other = await stack.onAnotherMachine();
  other.program(moved);
  expect((await other.up("--skip-preview", "--continue-on-error")).output).toContain(
    "The outcome of 1 event is unknown",
  );
  expect((await stack.resources()).map((each) => each.id)).toContain(id);
  stack.program(moved);
  for (const _ of [1, 2, 3]) {
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
  }
  const listed = await pendingCommand(stack);
  expect(listed.code, listed.output).toBe(0);
  expect(await openKeys(stack)).toEqual([]);
  expect(sandbox.eventPosts).toBe(0);
});
