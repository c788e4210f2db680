/** What a run knows: what `check` and `diff` note for later calls, which resource has which object, in any order. */
import { describe, expect, it } from "vitest";
import { advertiser, conversionEvent as event } from "../../provider/src/kinds/index.js";
import { Deployment } from "../../provider/src/operations/deployment.js";
import type { OpenCreate, PlannedObject } from "../../provider/src/plan/index.js";
import {
  type ProgramContext,
  readStored,
  refOf,
  UNKNOWN,
} from "../../provider/src/state/index.js";

const OF_STATE = {
  values: {},
  wasSecret: new Set(["eventName"]),
  deletes: true,
  stateName: "ConversionEvent::a",
};
const OF_NOTHING = {
  values: {},
  wasSecret: new Set<string>(),
  deletes: false,
  stateName: "urn:pulumi:dev::shop::advertising:index:ConversionEvent::new",
};

function check(
  run: Deployment,
  key: string,
  more: Partial<ProgramContext> = {},
  isNew = true,
) {
  run.noteContext({ identity: `shop/dev::${key}`, ...more });
  run.noteChecked(key, isNew, { ...(isNew ? OF_NOTHING : OF_STATE) });
}
const upOf = (resources: number) => ({ run: { isUp: true, resources } });

it("the second check of a replacement, which gets no old inputs, keeps what the first one read from the state", () => {
  const run = new Deployment();
  const held = {
    stored: readStored(event, "5", {}),
    object: { id: "5" } as PlannedObject,
    fateOf: (id: string) => ({ id, isDeleted: false }),
    remediated: [],
  };
  check(run, "a", {}, false);
  run.checked("a").planned = held;
  check(run, "a");
  expect(run.checked("a")).toEqual({ ...OF_STATE, planned: held });
  // With `--refresh` the engine begins again.
  check(run, "a", {}, false);
  expect(run.checked("a")).toEqual(OF_STATE);
  check(run, "new");
  expect(run.checked("new")).toEqual(OF_NOTHING);
});

it("what the state has under a former name is in the program, by both names", () => {
  const run = new Deployment();
  const inState = refOf("ConversionEvent", "shop/dev::was");
  const stateName = inState.key;
  run.noteChecked("ConversionEvent::now", false, { ...OF_STATE, inState, stateName });
  const keys = ["ConversionEvent::now", inState.key, "ConversionEvent::other"];
  expect(keys.map((key) => run.isInProgram(key))).toEqual([true, true, false]);
  expect(keys.map((key) => run.isChecked(key))).toEqual([true, false, false]);
});

it("an unresolved create of the state is a checked resource's by the key in the state, or a new one's by its URN", () => {
  const run = new Deployment();
  check(run, "a", {}, false);
  check(run, "new");
  const listed = (key: string, urn: string) => run.hasLister({ key, urn } as OpenCreate);
  expect(listed("ConversionEvent::a", "of the other face")).toBe(true);
  expect(listed("ConversionEvent::new", OF_NOTHING.stateName)).toBe(true);
  expect(listed("ConversionEvent::new", "of the other face")).toBe(false);
});

it("an object that loses its place after all is nobody's", () => {
  const run = new Deployment();
  run.claim(event, "5", "a");
  run.unclaim(event, "5", "b");
  expect(run.holderOf(event, "5")).toBe("a");
  run.unclaim(event, "5", "a");
  expect(run.holderOf(event, "5")).toBeUndefined();
});

it("a context says whether it is an `up`; it is whole once as many were checked as the last batch has declared", () => {
  const run = new Deployment();
  expect(run).toMatchObject({ isUp: false, isWhole: false });
  check(run, "a", upOf(2), false);
  check(run, "a", upOf(2));
  expect(run).toMatchObject({ isUp: true, isWhole: false });
  check(run, "b", upOf(4));
  check(run, "c", upOf(2));
  expect(run.isWhole).toBe(false);
  check(run, "d", upOf(2));
  expect(run.isWhole).toBe(true);
});

it("one resource has an object; whoever comes second is told who; what gives its object up claims nothing, so moves, swaps and circles work", () => {
  const run = new Deployment();
  expect(["a", "b", "a"].map((key) => run.claim(event, "5", key))).toEqual([
    undefined,
    "a",
    undefined,
  ]);
  expect(run.holderOf(event, "5")).toBe("a");
  for (const after of [["b 5"], ["a 6", "b 5"], ["a 6", "b 7", "c 5"]])
    for (const those of [after, after.toReversed()]) {
      const moved = new Deployment();
      const claims = those.map((each) => each.split(" ") as [string, string]);
      expect(claims.flatMap(([key, id]) => moved.claim(event, id, key) ?? [])).toEqual([]);
      expect(moved.isClaimedOrAdopted(event, "5")).toBe(true);
    }
});

it("an advertiser and an event with the same id are two objects", () => {
  const run = new Deployment();
  run.claim(advertiser, "5", "a");
  expect(run.claim(event, "5", "b")).toBeUndefined();
  check(run, "c", { adopted: "Advertiser 7,Advertiser 8" });
  check(run, "d", { adopted: `ConversionEvent 7,ConversionEvent 8,Advertiser ${UNKNOWN}` });
  run.staying.add(advertiser, "9");
  const kinds = [advertiser, event];
  expect(kinds.map((kind) => run.isClaimedOrAdopted(kind, "8"))).toEqual([true, true]);
  expect(kinds.map((kind) => run.mayBeClaimed(kind, "1"))).toEqual([true, false]);
  expect(kinds.map((kind) => run.staying.has(kind, "9"))).toEqual([true, false]);
});

it("an object may be adopted as long as a long list of adopted ones, or a resource that may adopt it, is still to come", () => {
  const run = new Deployment();
  const mayBe = () => run.mayBeClaimed(event, "7");
  check(run, "a", { ...upOf(3), adopts: 2 });
  expect(mayBe()).toBe(true);
  check(run, "b", {
    ...upOf(3),
    adopts: 2,
    adopted: "ConversionEvent 5,ConversionEvent 6",
  });
  expect(mayBe()).toBe(false);
  check(run, "c", { ...upOf(4), adopts: 3 });
  expect(mayBe()).toBe(true);
  check(run, "d", { ...upOf(4), adopts: 3 });
  expect(mayBe()).toBe(false);
});

it("a create is declared by its key, by a namesake that the program names, or by a set whose events are not known", () => {
  const [A_SET, MEMBER] = ["ConversionEventSet::a", 'ConversionEventSet::a["k"]'];
  const run = new Deployment();
  check(run, "now", { sameNamed: ["namesake"] });
  expect(["namesake", "now", MEMBER].map((key) => run.isDeclared(key))).toEqual([
    true,
    false,
    false,
  ]);
  run.declared.add(A_SET);
  expect(run.isDeclared(MEMBER)).toBe(true);
});

describe("the program asks to delete an object", () => {
  const catalog = "advertising:index:Catalog$::";
  const [row, gone] = [
    `ConversionEvent::${catalog}eu/shop/acme/a`,
    `Advertiser::${catalog}eu/shop/b`,
  ];
  it.each([
    ["a resource that isn't declared", "ConversionEvent::x", undefined, {}],
    ["one that asks to", "ConversionEvent::x", true, { "ConversionEvent::x": true }],
    ["one that doesn't ask", "ConversionEvent::x", false, { "ConversionEvent::x": false }],
    ["a removed row of a catalog that asks to", gone, true, { [row]: true }],
    ["a removed row of a catalog that doesn't ask", gone, false, { [row]: false }],
    [
      "a removed row of a catalog that asks to, of which a transformation keeps a row",
      gone,
      true,
      { [row]: true, [`Advertiser::${catalog}eu/shop/acme`]: false },
    ],
    [
      "a removed row, beside another catalog that doesn't ask",
      gone,
      undefined,
      {
        [`Advertiser::${catalog}eu/other`]: false,
        [`Advertiser::${catalog}eu/shop2/a`]: false,
      },
    ],
  ])("%s: %s %s", (_, key, expected, declared) => {
    const run = new Deployment();
    for (const [other, deletes] of Object.entries(declared))
      run.noteChecked(other, true, { ...OF_NOTHING, deletes });
    expect(run.asksToDelete(key)).toBe(expected);
  });
});
