/** Events that move between single resources, sets and a catalog with existingId: nothing is sent, and with deletes on nothing is deleted. */
import { expect, it } from "vitest";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const objects = {
  advertisers: [{ id: 1, advertiser_name: "A", active: true }],
  events: [{ id: 501, event_name: "Other", advertiser_id: 1, value: 7 }],
};
const READ = { read: "GET rest/event/{id}" };
const DELETES = { event: { ...READ, delete: "DELETE rest/event/{id}" }, createdVisibleAfterSeconds: 0 };

async function start() {
  const sandbox = await useSandbox({ operations: true, firstId: 11, objects });
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(DELETES) };
  return { sandbox, stack: await newStack("", { sandbox, environment }) };
}

async function upWell(stack: TestStack) {
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  return output;
}

type Places = Readonly<Record<string, string>>;

it("a renamed key, moves and swaps of rows, members and single events: with existingId nothing is sent or deleted", async () => {
  const { sandbox, stack } = await start();
  const idOf = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  /** Where each event is, by its name: a row of the catalog, a member of a set, or a single one. The moved ones name their object. */
  const declare = (places: Places, before: Places, late = "") => {
    const of = (owner: string) =>
      Object.entries(places).flatMap(([place, eventName]) => {
        const [, key = ""] = place.split(`${owner}/`);
        const existingId = before[place] === eventName ? undefined : idOf(eventName);
        return place.startsWith(`${owner}/`) ? [{ key, eventName, existingId }] : [];
      });
    const rows = of("row").map(({ key, eventName, existingId = "" }) => `${key},1,${eventName},1,${existingId}`);
    stack.write("shop.csv", ["key,advertiser,eventName,value,existingId", ...rows].join("\n"));
    const own = (name: string) =>
      JSON.stringify(Object.fromEntries(of(name).map(({ key, ...args }) => [key, { ...args, value: 1 }])));
    stack.program(
      program(`
const deleted = { retainOnDelete: false };
const late = (id) => pulumi.secret(new Promise((later) => setTimeout(() => later(id), 1000)));
new advertising.Catalog("shop", { file: "shop.csv" }, deleted);
for (const [name, events] of Object.entries({ s: ${own("s")}, t: ${own("t")} }))
  new advertising.ConversionEventSet(name, { advertiserId: 1, events }, deleted);
for (const [name, { existingId, ...args }] of Object.entries(${own("single")}))
  new advertising.ConversionEvent(name, { advertiserId: 1, ...args, existingId: name === "${late}" ? late(existingId) : existingId }, deleted);`),
    );
  };
  const held = async () => {
    const ids = (await stack.resources()).flatMap(({ urn, id, outputs }): [string, string][] => {
      const name = urn.split("::").at(-1)?.replace("shop/1/", "row/") ?? "";
      const members = Object.entries((outputs?.eventIds ?? {}) as Record<string, number>);
      if (outputs?.eventIds !== undefined) return members.map(([key, each]) => [`${name}/${key}`, String(each)]);
      return [[name.includes("/") ? name : `single/${name}`, String(id)]];
    });
    const nameOf = (id: string) => sandbox.events.find((each) => String(each.id) === id)?.event_name;
    return Object.fromEntries(ids.map(([place, id]) => [place, nameOf(id)]));
  };
  const steps: Places[] = [
    { "row/a": "A", "row/b": "B", "row/c": "C", "s/x": "X", "s/y": "Y", "t/z": "Z", "single/e": "E", "single/f": "F" },
    { "row/a2": "A", "single/b": "B", "row/c": "C", "single/x": "X", "t/y": "Y", "s/z": "Z", "s/e": "E", "row/f": "F" },
    { "row/a2": "C", "row/b": "B", "row/c": "A", "s/z": "E", "s/e": "Y", "t/y": "Z", "single/x": "F", "row/f": "X" },
  ];
  for (const [index, places] of steps.entries()) {
    declare(places, steps[index - 1] ?? {}, index === 1 ? "b" : "");
    const { output } = await stack.preview();
    if (index > 0) expect(output).not.toMatch(/second|by hand/);
    await upWell(stack);
    expect(await held()).toEqual(places);
    expect(sandbox).toMatchObject({ eventPosts: 8, deletes: 0 });
  }
  // Once moved, existingId may go.
  declare(steps[2] ?? {}, steps[2] ?? {});
  expect(await upWell(stack)).toContain("unchanged");
  expect(await held()).toEqual(steps[2]);

  // Without existingId a renamed key is another object, and what leaves is said before.
  const { "row/a2": _, ...others } = steps[2] ?? {};
  const renamed: Places = { ...others, "row/a3": "C" };
  declare(renamed, renamed);
  expect((await stack.preview()).output).toContain(`shop/1/a2 (${idOf("C")})`);
  expect(sandbox).toMatchObject({ eventPosts: 8, deletes: 0 });
});

const A = `eventName: "A", value: 1`;
const set = (events: string, name = "s", options = "{}") =>
  `new advertising.ConversionEventSet("${name}", { advertiserId: 1, events: { ${events} } }, ${options});`;
const B = `b: { eventName: "B", value: 1 },`;

it("an unresolved event of a set: removed, moved or answered with another object it stays unresolved; settled, it moves with its set", async () => {
  const { sandbox, stack } = await start();
  const openKeys = async () =>
    (await stack.resources()).flatMap(({ outputs }) => Object.keys((outputs?.unresolved ?? {}) as object));
  stack.program(program(set(B)));
  await upWell(stack);
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  stack.program(program(set(`${B} a: { ${A} }`)));
  expect((await stack.up()).output).toContain("The outcome of 1 event is unknown");
  const [b, a] = ["B", "A"].map((name) => sandbox.events.find(({ event_name }) => event_name === name)?.id);

  const OTHER = `eventName: "Other", value: 7`;
  const stopped = async (text: string) => {
    stack.program(program(text));
    const { code, output } = await stack.up("--continue-on-error");
    expect(code, output).not.toBe(0);
    expect(await openKeys()).toEqual(["a"]);
  };
  await stopped(set(B)); // removed
  await stopped(set(`${B} c: { ${A}, existingId: ${a} }`)); // moved to another key
  await stopped(set(`${B} a: { ${OTHER}, existingId: 501 }`)); // said to be another object
  const other = await stack.onAnotherMachine();
  other.program(program(set(`${B} a: { ${A} }`)));
  expect((await other.up()).output).toContain("The outcome of 1 event is unknown");

  // Moved out of it: adopted there, and to be answered here all the same.
  const x = `new advertising.ConversionEvent("x", { advertiserId: 1, ${A}, existingId: ${a} }, { retainOnDelete: false });`;
  await stopped(set(B) + x);
  expect(await pendingCommand(stack, "--created", `s/a=${a}`)).toMatchObject({ code: 2 });
  const settled = await pendingCommand(stack, "--not-created", "s/a");
  expect(settled.code, settled.output).toBe(0);
  await upWell(stack);

  // The set is renamed, and one moves out and one in, in one change.
  const alias = `{ aliases: [{ name: "s" }], retainOnDelete: false }`;
  const moved = `new advertising.ConversionEvent("b", { advertiserId: 1, eventName: "B", value: 1, existingId: ${b} });`;
  stack.program(
    program(`${set(`a: { ${A}, existingId: ${a} }, c: { ${OTHER}, existingId: 501 }`, "t", alias)}${moved}`),
  );
  await upWell(stack);
  const held = (await stack.resources()).map(({ urn, id, outputs }) => [
    urn.split("::").at(-1),
    outputs?.eventIds ?? id,
  ]);
  expect(held).toEqual([
    ["b", String(b)],
    ["t", { a, c: 501 }],
  ]);
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0, updates: 0 });
  expect(sandbox.events).toHaveLength(3);
});
