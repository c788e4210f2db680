/** A `formerKey` or an alias that is in vain, since the state has an object under the new name too. */
import { expect, it } from "vitest";
import { newFolder } from "../support/folder.js";
import { operatedSandbox, operatedSettings } from "../support/operated.js";
import { EventEngine, runProgram, SetEngine } from "../support/set-engine.js";

const OPTIONS = { settings: operatedSettings() };
const WRONG = / is in the state, and so is its former name "a" \(2\)\. .*existingId: 2;/;
const of = (eventName: string) => ({ eventName, value: 1 });

it.each([undefined, "default"])("a set's key (plugin: %s)", async (plugin) => {
  const sandbox = await operatedSandbox();
  const set = new SetEngine(sandbox, newFolder());
  set.plugin = plugin;
  set.declares = { deletes: true };
  const up = (events: object) => set.up({ advertiserId: 1, events }, OPTIONS);
  expect((await up({ a: of("A"), b: of("B") })).error).toBeUndefined();
  const renamed = { b: { ...of("A"), formerKey: "a" } };
  const declared = { advertiserId: 1, events: renamed };
  expect(await set.preview(declared, OPTIONS)).toMatch(WRONG);
  expect((await up(renamed)).error).toMatch(WRONG);
  expect([sandbox.eventPosts, sandbox.deletes]).toEqual([2, 0]);
  const adopting = { b: { ...of("A"), formerKey: "a", existingId: 2 } };
  expect((await up(adopting)).error).toBeUndefined();
  expect([set.eventIds, sandbox.eventPosts]).toEqual([{ b: 2 }, 2]);
  expect((await up(renamed)).error).toBeUndefined();
  expect(sandbox.eventPosts).toBe(2);
});

it("a single event's name", async () => {
  const sandbox = await operatedSandbox();
  const folder = newFolder();
  const a = new EventEngine(sandbox, folder, "a");
  const b = new EventEngine(sandbox, folder, "b");
  for (const each of [a, b]) each.declares = { deletes: true };
  const run = async (program: Parameters<typeof runProgram>[1], isUp = true) => {
    const now = a.newRun(OPTIONS);
    const errors = await runProgram(now, program, isUp);
    await now.close();
    return errors.filter((each) => each !== undefined).join();
  };
  const owned = (name: string) => ({ ...of(name), advertiserId: 1 });
  expect(
    await run([
      [a, owned("A")],
      [b, owned("B")],
    ]),
  ).toBe("");
  b.declares = { deletes: true, formerKeys: ["ConversionEvent::a"] };
  const program = [
    [b, owned("A")],
    [a, undefined],
  ] as const;
  for (const isUp of [false, true]) expect(await run(program, isUp)).toMatch(WRONG);
  expect([sandbox.eventPosts, sandbox.deletes]).toEqual([2, 0]);
});
