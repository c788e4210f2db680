/** What a run knows: what `check` and `diff` note for later calls, and which resource has which object, in whatever order they come. */
import { describe, expect, it } from "vitest";
import { advertiser, conversionEvent as event, type Kind } from "../../provider/src/kinds/index.js";
import { type Held, Run } from "../../provider/src/provider/run.js";
import type { Runtime } from "../../provider/src/provider/runtime.js";
import { type Briefing, markOf } from "../../provider/src/state/index.js";
import { newFolder } from "../support/folder.js";
import { newRun } from "../support/run.js";

const SECRET = new Set(["eventName"]);
const OF_STATE = { wasSecret: SECRET, wasDeleting: true };
const OF_NOTHING = { wasSecret: new Set<string>(), wasDeleting: false };

function check(run: Run, key: string, more: Partial<Briefing> = {}, isNew = true, kind: Kind = event) {
  run.noteChecked(key, kind, { identity: `shop/dev::${key}`, ...more }, isNew, isNew ? OF_NOTHING : OF_STATE);
}
const upOf = (resources: number, more = {}) => ({ run: { isUp: true, resources, ...more } });

it("the second check of a replacement, which gets no old inputs, keeps what the first one read from the state", () => {
  const run = new Run();
  const held = { id: "5", unresolved: undefined, left: [] } as unknown as Held;
  check(run, "a", {}, false);
  run.held.set("a", held);
  check(run, "a");
  expect(run.checked("a")).toEqual(OF_STATE);
  expect(run.held.get("a")).toBe(held);
  // With `--refresh` the engine begins again.
  check(run, "a", {}, false);
  expect(run.held.has("a")).toBe(false);
  check(run, "new");
  expect(run.checked("new")).toEqual(OF_NOTHING);
});

it("a briefing says whether it is an `up`; it is whole once as many were checked as the last batch has declared", () => {
  const run = new Run();
  expect(run).toMatchObject({ isUp: undefined, isWhole: false });
  check(run, "a", upOf(2), false);
  check(run, "a", upOf(2));
  expect(run).toMatchObject({ isUp: true, isWhole: false });
  check(run, "b", upOf(4));
  check(run, "c", upOf(2));
  expect(run.isWhole).toBe(false);
  check(run, "d", upOf(2));
  expect(run.isWhole).toBe(true);
});

describe("claims", () => {
  it("one resource has an object, in any order; whoever comes second is told who", () => {
    for (const [first, second] of [
      ["a", "b"],
      ["b", "a"],
    ] as const) {
      const run = new Run();
      expect(run.claim(event, "5", first)).toBeUndefined();
      expect(run.claim(event, "5", second)).toBe(first);
      expect(run.claim(event, "5", first)).toBeUndefined();
      expect(run.holderOf(event, "5")).toBe(first);
    }
  });

  it.each<[string, readonly (readonly [string, string])[]]>([
    ["a move: a gives 5 up, and b adopts it", [["b", "5"]]],
    [
      "a swap",
      [
        ["a", "6"],
        ["b", "5"],
      ],
    ],
    [
      "a circle",
      [
        ["a", "6"],
        ["b", "7"],
        ["c", "5"],
      ],
    ],
  ])("what gives its object up claims nothing: %s", (_, after) => {
    for (const those of [after, after.toReversed()]) {
      const run = new Run();
      expect(those.map(([key, id]) => run.claim(event, id, key))).toEqual(those.map(() => undefined));
      expect(run.isKept(event, "5")).toBe(true);
    }
  });

  it("an advertiser and an event with the same id are two objects", () => {
    const run = new Run();
    run.claim(advertiser, "5", "a");
    expect(run.claim(event, "5", "b")).toBeUndefined();
    check(run, "c", { adopted: "7 8" }, true, advertiser);
    check(run, "d", { adopted: "7 8" }, true, event);
    check(run, "e", { adoptsLater: true }, true, advertiser);
    run.noteStaying(advertiser, "9");
    const kinds = [advertiser, event];
    expect(kinds.map((kind) => run.isKept(kind, "8"))).toEqual([true, true]);
    expect(kinds.map((kind) => run.mayBeKept(kind, "1"))).toEqual([true, false]);
    expect(kinds.map((kind) => run.isStaying(kind, "9"))).toEqual([true, false]);
  });
});

describe("an open record belongs to nothing that the program declares", () => {
  const [A_SET, MEMBER] = ["ConversionEventSet::a", 'ConversionEventSet::a["k"]'];

  it.each<[string, object, string, boolean]>([
    ["nothing is open that the program's half saw", {}, "", false],
    ["the program's half has not declared it so far", { open: "x", unclaimed: ["x"] }, "x", true],
    ["the program's half has declared it", { open: "x" }, "x", false],
    ["it came after that, from another run", { open: "y" }, "x", true],
    [
      "more are open than are listed",
      { open: "x", unclaimed: Array.from({ length: 20 }, (_, at) => `k${at}`) },
      "x",
      true,
    ],
  ])("%s", (_, more, open, expected) => {
    const run = new Run();
    check(run, A_SET, upOf(2, more));
    expect(run.isUnclaimed("x", open)).toBe(expected);
    // Of what was checked, it is known exactly; of a set with unknown events, that any may be there.
    expect(run.isUnclaimed(MEMBER, open)).toBe(true);
    for (const declared of [MEMBER, A_SET]) {
      run.declared.clear();
      run.declared.add(declared);
      expect(run.isUnclaimed(MEMBER, open)).toBe(false);
    }
  });

  it("is not so for one that comes late, while others of the interrupted run are settled", async () => {
    const folder = newFolder();
    const platform = { url: "https://x.example", email: "a@b.c", password: "pw" };
    let sent = 0;
    const client = {
      async create({
        beforeSend,
        onCreated,
      }: {
        beforeSend(at: string): Promise<void>;
        onCreated(id: string): Promise<void>;
      }) {
        await beforeSend("2026-01-01T00:00:00.000Z");
        const id = String(++sent);
        await onCreated(id);
        return { id, warnings: [] };
      },
    };
    const inputs = (name: string) => ({ advertiserName: name, __identity: `tiny/dev::${name}` });
    const start = async (names: string[], open: string) => {
      const run = newRun(platform, folder, {
        adapt: (real) => ({ ...real, client: () => client as unknown as ReturnType<Runtime["client"]> }),
      });
      const checked = (name: string) => ({
        ...inputs(name),
        __identity: { identity: `tiny/dev::${name}`, ...upOf(3, { open }) },
      });
      for (const name of names) await run.advertiser.check({}, checked(name));
      return run;
    };
    const killed = await start(["saved", "late"], "");
    for (const name of ["saved", "late"]) await killed.advertiser.create(inputs(name));
    await killed.kill();
    const keys = ["Advertiser::late", "Advertiser::saved"];
    const next = await start(["saved", "new"], markOf(...keys));
    const state = { advertiserName: "saved", advertiserId: 1, __at: "x.example a@b.c" };
    expect(await next.advertiser.diff("1", state, inputs("saved"))).toMatchObject({ changes: false });
    // `late` depends on something that takes its time: its `check` is still to come.
    expect(await next.advertiser.create(inputs("new"))).toMatchObject({ id: "3" });
    expect(await next.advertiser.create(inputs("late"))).toMatchObject({ id: "2" });
    expect(sent).toBe(3);
  });
});
