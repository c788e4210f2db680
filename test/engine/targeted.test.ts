/** Runs of some targets, and a `destroy`: what the engine does not ask about keeps its object. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { useSharedStack } from "../support/shared-stack.js";
import { program, type TestStack } from "../support/stack.js";

const OPERATIONS = { event: { read: "GET rest/event/{id}", delete: "DELETE rest/event/{id}" } };
const A = `new advertising.ConversionEvent("a", { eventName: "A", advertiserId: 1, value: 1 }, { retainOnDelete: false });`;
const A2 = A.replace("value: 1", "value: 2");
const adopting = (id: unknown, options = "") =>
  `new advertising.ConversionEvent("b", { eventName: "A", advertiserId: 1, value: 1, existingId: ${id} }${options});`;

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
  return { sandbox, stack, run, id: sandbox.events[0]?.id, urn: a?.urn ?? "" };
}

it("an object that an untargeted resource of the program adopts is not deleted with what is replaced", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const text = `${A2}\n${adopting(id)}`;
  expect(await run(text, stack.preview, "--target", urn)).not.toContain(`${id} is deleted`);
  expect(await run(text, stack.up, "--target", urn)).toContain(`Not deleted: ConversionEvent ${id},`);
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  await run(text, stack.up);
  expect((await stack.resources()).map((each) => each.id)).toContain(String(id));
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
});

it("nor with what is removed, where nothing else of the program is a target", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  expect(await run(adopting(id), stack.up, "--target", urn)).toContain(`Not deleted: ConversionEvent ${id},`);
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 0 });
  await run(adopting(id), stack.up);
  expect((await stack.resources()).map((each) => each.id)).toEqual([String(id)]);
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 0 });
});

const OTHERS = `new advertising.ConversionEvent("b", { eventName: "B", advertiserId: 1, value: 1 });
  new advertising.ConversionEventSet("s", { advertiserId: 1, events: { k: { eventName: "C", value: 1 } } });`;

it("nor what a resource or an event of a set adopts that has another object by now, also on a machine that knows nothing of the stack", async () => {
  const { sandbox, stack, run, urn } = await start();
  const also = (...names: string[]) => names.map((name) => A.replace(`"a"`, `"${name}"`)).join("\n");
  const moved = (toResource: unknown, toEvent: unknown) =>
    OTHERS.replace(`eventName: "B"`, `eventName: "A", existingId: ${toResource}`).replace(
      `eventName: "C"`,
      `eventName: "A", existingId: ${toEvent}`,
    );
  await run(`${A}\n${also("a2", "a3", "a4")}\n${OTHERS}`, stack.up);
  const state = await stack.resources();
  const idOf = (name: string) => state.find((each) => each.urn.endsWith(`::${name}`))?.id;
  const spared = await run(
    `${also("a3", "a4")}\n${moved(idOf("a"), idOf("a2"))}`,
    stack.up,
    ...["--target", urn, "--target", `${urn}2`],
  );
  for (const name of ["a", "a2"]) {
    expect(spared).toContain(
      `Not deleted: ConversionEvent ${idOf(name)}, which another resource has or may adopt, by the program or this machine's notes.`,
    );
  }
  const elsewhere = await stack.onAnotherMachine();
  elsewhere.program(program(moved(idOf("a3"), idOf("a4"))));
  const { code, output } = await elsewhere.up("--target", `${urn}3`, "--target", `${urn}4`);
  expect(code, output).toBe(0);
  for (const name of ["a3", "a4"]) expect(output).toContain(`Not deleted: ConversionEvent ${idOf(name)},`);
  expect(sandbox).toMatchObject({ eventPosts: 5, deletes: 0 });
  // Once adopted it is its own, and a machine that knows nothing of the stack can't tell: nothing is deleted before an `up` of all.
  const adopted = idOf("a3");
  const own = program(adopting(adopted, ", { retainOnDelete: false }").replace(`"b"`, `"own"`));
  elsewhere.program(own);
  expect((await elsewhere.up()).code).toBe(0);
  const third = await stack.onAnotherMachine();
  third.program(own.replace(`"own"`, `"other"`));
  const kept = `ConversionEvent ${adopted} is not deleted in this run, and the state keeps it: an existingId of the program names it`;
  expect((await third.up("--target", urn.replace(/::a$/, "::own"))).output).toContain(kept);
  third.program(own);
  expect((await third.destroy("--run-program")).output).toContain(kept);
  expect(sandbox).toMatchObject({ eventPosts: 5, deletes: 0 });
  expect((await third.up()).code).toBe(0);
  expect((await third.destroy("--run-program")).code).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 5, deletes: 1 });
});

it("an existingId that is an Output counts as what it is by the end of the run", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const other = adopting(`pulumi.secret(${id})`).replace(`"b"`, `"c"`);
  const add = (name: string) =>
    `new advertising.ConversionEvent("${name}", { eventName: "${name}", advertiserId: 1, value: 1 });`;
  // It names another object: nothing spares what is replaced.
  await run(`${A}\n${add("x")}`, stack.up);
  const x = sandbox.events.find(({ event_name }) => event_name === "x")?.id;
  const secret = `new advertising.ConversionEvent("x", { eventName: "x", advertiserId: 1, value: 1, existingId: pulumi.secret(${x}) });`;
  expect(await run(`${A2}\n${secret}`, stack.up, "--target", urn)).not.toContain("Not deleted");
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
  const ids = sandbox.events.map((each) => each.id);
  expect(ids).not.toContain(id);

  // It names just this one, also where nothing of the program is a target.
  const [a] = ids.filter((each) => each !== x);
  expect(await run(other.replace(String(id), String(a)), stack.up, "--target", urn)).toContain(
    `Not deleted: ConversionEvent ${a},`,
  );
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
});

it("what an existingId may name that the whole run does not know stays in the state, and the next run deletes it", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const unknown = `const late = new advertising.ConversionEvent("late", { eventName: "L", advertiserId: 1, value: 1 });
    ${adopting("late.eventId.apply(() => undefined)")}`;
  stack.program(program(`${A2}\n${unknown}`));
  const { code, output } = await stack.up("--target", urn);
  expect(code, output).not.toBe(0);
  expect(output).toContain(`ConversionEvent ${id} is not deleted in this run, and the state keeps it`);
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  await run(`${A2}\n${unknown}`, stack.up);
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 1 });
  expect(sandbox.events.map((each) => each.id)).not.toContain(id);
});

it("a destroy deletes nothing that a resource with [retain] has as well, and what several had once none is left", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const b = urn.replace(/::a$/, "::b");
  // The state holds it twice: the other resource has adopted it, and this one was not asked about.
  expect(await run(`${A}\n${adopting(id)}`, stack.up, "--target", b)).toContain(
    `this program moves ${id} from ConversionEvent "a" to ConversionEvent "b". Run it without --target and --exclude`,
  );
  expect((await stack.resources()).map((each) => each.id)).toEqual([String(id), String(id)]);
  // The notes of this machine have both. Where they are missing, nobody can know of the other one: docs/guarantees.md says so.
  const unnamed = `${A}\n${A.replace(`"a"`, `"b"`)}`;
  stack.program(program(unnamed));
  const { code, output } = await stack.preview();
  expect(code).not.toBe(0);
  expect(output).toMatch(/ConversionEvent "[ab]" and ConversionEvent "[ab]" both have \d+ in the state/);
  expect((await stack.destroy()).output).toContain(`Not deleted: ConversionEvent ${id},`);
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 0, events: [{ id }] });

  await run(A, stack.up);
  const again = sandbox.events[1]?.id;
  await run(`${A}\n${adopting(again, ", { retainOnDelete: false }")}`, stack.up, "--target", b);
  expect((await stack.destroy()).code).toBe(0);
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 1, events: [{ id }] });
});

it("a destroy deletes what its preview says, also if another resource has failed to adopt it", async () => {
  const { sandbox, stack, id } = await start();
  stack.program(program(adopting(id).replace(`eventName: "A"`, `eventName: "Other"`)));
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain(`existingId ${id} differs`);
  expect((await stack.resources()).map((each) => each.id)).toEqual([String(id)]);
  expect((await stack.run(["destroy", "--preview-only"])).output).toMatch(/ - .* a delete/);
  const destroyed = await stack.destroy();
  expect(destroyed.code, destroyed.output).toBe(0);
  expect(destroyed.output).not.toContain("Not deleted");
  expect(sandbox).toMatchObject({ eventPosts: 0, deletes: 1, events: [] });
});

it("nor is it spared for a resource that a killed run was about to adopt it for", async () => {
  const { sandbox, stack, id } = await start();
  const slow = `const c = new advertising.ConversionEvent("c", { eventName: "C", advertiserId: 1, value: 1 });`;
  stack.program(program(slow + adopting(id, ", { dependsOn: c }")));
  const fault = sandbox.fail({ on: "event", act: false, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(fault), "engine")).toBe(true);
  // The process that it left behind finds that out by itself.
  const notes = join(stack.environment.XDG_CACHE_HOME ?? "", "pulumi-advertising");
  const isOver = () => {
    const files = readdirSync(notes, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".live"));
    return files.some((name) => readFileSync(join(notes, name), "utf8").includes('"program":""'));
  };
  await expect.poll(isOver, { timeout: 60_000 }).toBe(true);
  await stack.cancel();
  expect((await stack.resources()).map((each) => each.id)).toEqual([String(id)]);
  const destroyed = await stack.destroy();
  expect(destroyed.code, destroyed.output).toBe(0);
  expect(destroyed.output).not.toContain("Not deleted");
  expect(sandbox).toMatchObject({ deletes: 1, events: [] });
});

it("what the program declares after a wait, and is no target, is remembered, and what it adopts is not deleted", async () => {
  const { sandbox, stack, run, id, urn } = await start();
  const afterWait = (text: string) => `setTimeout(() => { ${text} }, 50);`;
  const late = `new advertising.ConversionEvent("late", { eventName: "L", advertiserId: 1, value: 1 });`;
  await run(`${A}\n${afterWait(late)}`, stack.up);
  await run(`${A2}\n${afterWait(`${late} ${adopting(id)}`)}`, stack.up, "--target", urn);
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  expect(await run(A2, stack.preview)).toMatch(/ConversionEvent "late" is no longer declared. If event \d+ leaves/);
});

it("an `up` knows that it is one without the first resource of the program: it remembers, and says nothing twice", async () => {
  const { sandbox, stack, run } = await start();
  const other = `new advertising.ConversionEvent("e", { eventName: "E", advertiserId: 1, value: 1 });`;
  const set = (...keys: string[]) => `new advertising.ConversionEventSet("s", {
    advertiserId: 1,
    events: { ${keys.map((key) => `${key}: { eventName: "${key}", value: 1 }`).join(", ")} },
  });`;
  await run(`${A}\n${other}\n${set("x")}`, stack.up);
  const targets = (await stack.resources())
    .filter(({ urn }) => /::[es]$/.test(urn))
    .flatMap(({ urn }) => ["--target", urn]);
  const elsewhere = await stack.onAnotherMachine();
  elsewhere.program(program(`${A}\n${other}\n${set("x", "y")}`));
  const { code, output } = await elsewhere.up(...targets);
  expect(code, output).toBe(0);
  expect(output).not.toContain("to create");
  elsewhere.program(program(`${A}\n${set("x", "y")}`));
  const preview = await elsewhere.preview();
  expect(preview.output).toMatch(/ConversionEvent "e" is no longer declared. If event \d+ leaves/);
  expect(sandbox).toMatchObject({ eventPosts: 3, deletes: 0 });
});
