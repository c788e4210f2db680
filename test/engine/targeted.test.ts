/** Runs of some targets, and a `destroy`: what another resource has or may adopt keeps its object, and that is said. */
import { expect, it } from "vitest";
import { useSharedStack } from "../support/shared-stack.js";
import { program, type TestStack } from "../support/stack.js";

const OPERATIONS = { event: { read: "GET rest/event/{id}", delete: "DELETE rest/event/{id}" } };
const event = (name: string, { value = 1, more = "", options = "{ retainOnDelete: false }" } = {}) =>
  `new advertising.ConversionEvent("${name}", { eventName: "A", advertiserId: 1, value: ${value}, ${more} }, ${options});`;
const adopting = (id: unknown, name = "b", options = "{}") => event(name, { more: `existingId: ${id}`, options });
const A = event("a");
const A2 = event("a", { value: 2 });

/** A stack whose resource `a` has an object that is deleted with it: what each of these tests begins with. */
const begun = useSharedStack(
  program(A),
  async ({ stack, sandbox }) => {
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    expect(sandbox.eventPosts).toBe(1);
  },
  {
    sandbox: {
      operations: true,
      objects: { advertisers: [{ id: 1, advertiser_name: "X", active: true }], events: [] },
    },
    environment: { ADVERTISING_OPERATIONS: JSON.stringify(OPERATIONS) },
  },
);

async function start() {
  const { sandbox, stack } = begun();
  const run = async (text: string, command: TestStack["up"], ...args: string[]) => {
    stack.program(program(text));
    const { code, output } = await command(...args);
    expect(code, output).toBe(0);
    return output;
  };
  const [a] = await stack.resources();
  const id = sandbox.events[0]?.id;
  const kept = new RegExp(`ConversionEvent ${id} left the state but was not deleted, because another resource has it`);
  return { sandbox, stack, run, id, kept, urn: a?.urn ?? "" };
}

const idsIn = async (stack: TestStack) =>
  (await stack.resources()).flatMap(({ id, outputs }) => Object.values(outputs?.eventIds ?? { id }).map(String));

it("an object that an untargeted resource of the program adopts is not deleted with what is replaced", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const text = `${A2}\n${adopting(id)}`;
  expect(await run(text, stack.preview, "--target", urn)).not.toContain(`${id} is deleted`);
  await run(text, stack.up, "--target", urn);
  await run(text, stack.up);
  expect(await idsIn(stack)).toContain(String(id));
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
});

it("nor with what is removed beside a target that stays, also on a machine that knows nothing of the stack", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const others = (toResource: unknown, toEvent: unknown) => `${event("keep")}
new advertising.ConversionEvent("b", { eventName: "A", advertiserId: 1, value: 1, existingId: ${toResource} });
new advertising.ConversionEventSet("s", { advertiserId: 1, events: { k: { eventName: "A", value: 1, existingId: ${toEvent} } } });`;
  await run(`${A}\n${event("a2")}\n${others(undefined, undefined)}`, stack.up);
  const second = (await stack.resources()).find((each) => each.urn.endsWith("::a2"))?.id;
  const elsewhere = await stack.onAnotherMachine();
  elsewhere.program(program(others(id, second)));
  const targets = [urn, `${urn}2`, urn.replace(/::a$/, "::keep")].flatMap((each) => ["--target", each]);
  for (const args of [targets, []]) {
    const { code, output } = await elsewhere.up(...args);
    expect(code, output).toBe(0);
    expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 0 });
  }
  expect(await idsIn(stack)).toEqual(expect.arrayContaining([id, second].map(String)));
});

it("while an existingId of the program is not known, nothing that it may name is deleted", async () => {
  const { sandbox, stack, run, id } = await start();
  const late = `const late = new advertising.ConversionEvent("late", { eventName: "L", advertiserId: 1, value: 1 });
    ${adopting("late.eventId.apply(() => undefined)")}`;
  expect(await run(`${A2}\n${late}`, stack.up)).toContain(`${id} stays live on the platform`);
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 0 });
});

it("a destroy deletes nothing that a resource with [retain] has as well, and what several had once none is left", async () => {
  const { sandbox, stack, run, id, kept, urn } = await start();
  const b = urn.replace(/::a$/, "::b");
  // The state holds it twice: the other resource has adopted it, and this one was not asked about.
  await run(`${A}\n${adopting(id)}`, stack.up, "--target", b);
  expect(await idsIn(stack)).toEqual([String(id), String(id)]);
  stack.program(program(`${A}\n${event("b")}`));
  const { code, output } = await stack.preview();
  expect(code, output).not.toBe(0);
  expect(output).toMatch(new RegExp(`${id} already belongs to ConversionEvent "[ab]"`));
  const destroyed = await stack.destroy();
  expect(destroyed.code, destroyed.output).toBe(0);
  expect(destroyed.output).toMatch(kept);
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 0, events: [{ id }] });
});

it("a failed adoption spares nothing: a destroy deletes what its preview says", async () => {
  const { sandbox, stack, id } = await start();
  stack.program(program(adopting(id).replace(`eventName: "A"`, `eventName: "Other"`)));
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain(`existingId ${id} differs`);
  expect((await stack.run(["destroy", "--preview-only"])).output).toMatch(/ - .* a delete/);
  const destroyed = await stack.destroy();
  expect(destroyed.code, destroyed.output).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 1, events: [] });
});

it("a run of some targets elsewhere is known to be an `up`, says nothing to be created, and what it does not look at is remembered", async () => {
  const { sandbox, stack, run } = await start();
  const e = event("e", { value: 3 });
  const set = (...keys: string[]) => `new advertising.ConversionEventSet("s", {
    advertiserId: 1,
    events: { ${keys.map((key) => `${key}: { eventName: "${key}", value: 1 }`).join(", ")} },
  });`;
  await run(`${A}\n${e}\n${set("x")}`, stack.up);
  const resources = await stack.resources();
  const targets = resources.filter(({ urn }) => /::[es]$/.test(urn)).flatMap(({ urn }) => ["--target", urn]);
  const elsewhere = await stack.onAnotherMachine();
  elsewhere.program(program(`${A}\nsetTimeout(() => { ${e}\n${set("x", "y")} }, 50);`));
  const { code, output } = await elsewhere.up(...targets);
  expect(code, output).toBe(0);
  expect(output).not.toContain("to create");
  elsewhere.program(program(`${A}\n${set("x", "y")}`));
  expect((await elsewhere.preview()).output).toMatch(/No longer declared: e \(\d+\)/);
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 0 });
});
