/** What the state notes about objects that were left live, for a single event and a set's event alike. */
import { describe, expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { operatedSandbox } from "../support/operated.js";
import { Lone, SetEngine, SHAPES } from "../support/set-engine.js";

const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

describe.each(SHAPES)("%s", (shape) => {
  async function start() {
    const sandbox = await operatedSandbox();
    const lone = (folder = newFolder()) => new Lone(shape, sandbox, folder, "e");
    const leaving = (id: string, name?: string) => ({
      id,
      at: TIME,
      ...(name !== undefined && { name }),
      ...(shape === "a set's event" && { key: "k" }),
    });
    return { sandbox, lone, leaving };
  }

  it("that is replaced again and again lists every object that it left, on any machine", async () => {
    const { sandbox, lone, leaving } = await start();
    const e = lone();
    await e.up();
    expect(e.left).toEqual([]);
    await e.up({ eventName: "B" });
    const elsewhere = lone();
    elsewhere.engine.state = e.engine.state;
    await elsewhere.up({ eventName: "C" });
    expect(elsewhere.left).toEqual([leaving("2", "E"), leaving("3", "B")]);
    // What it gets back is not left.
    await elsewhere.up({ existingId: 2 });
    expect(elsewhere.left).toEqual([leaving("3", "B"), leaving("4", "C")]);
    expect(sandbox.eventPosts).toBe(3);
  });

  it("whose replacement has an unknown outcome lists the former object once it has another one", async () => {
    const { sandbox, lone, leaving } = await start();
    const e = lone();
    await e.up();
    sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
    expect((await e.up({ value: 2 })).error).toMatch(/Look in the account/);
    expect((await e.up({ value: 2, existingId: 3 })).error).toBeUndefined();
    expect([e.id, e.left, sandbox.eventPosts]).toEqual(["3", [leaving("2", "E")], 2]);
  });

  it.each(["was", "is"])("whose name %s secret lists it without a name", async (when) => {
    const { sandbox, lone } = await start();
    const e = lone();
    const path = shape === "a single event" ? "eventName" : 'events["k"].eventName';
    const secret = { __secret: [path] };
    await e.engine.up({ ...e.of({}), ...(when === "was" && secret) });
    await e.engine.up({ ...e.of({ eventName: "B" }), ...(when === "is" && secret) });
    expect(e.left).toMatchObject([{ id: "2" }]);
    expect(JSON.stringify(e.left)).not.toContain('"name"');
    expect(sandbox.eventPosts).toBe(2);
  });
});

it("a set lists the events that left it and those that were replaced, but none that stays", async () => {
  const sandbox = await operatedSandbox();
  const engine = new SetEngine(sandbox, newFolder());
  const of = (events: object) => ({ advertiserId: 1, events });
  const [a, b] = ["A", "B"].map((eventName) => ({ eventName, value: 1 }));
  await engine.up(of({ a, b, c: { eventName: "C", value: 1 } }));
  const { b: second, c } = engine.eventIds;
  const left = [
    { id: String(second), name: "B", key: "b", at: TIME },
    { id: String(c), name: "C", key: "c", at: TIME },
  ];
  for (const more of [{}, { d: { eventName: "D", value: 1 } }]) {
    await engine.up(of({ a, b: { ...b, value: 2 }, ...more }));
    expect(engine.state?.outputs.__left).toEqual(left);
  }
  expect(sandbox.eventPosts).toBe(5);
});
