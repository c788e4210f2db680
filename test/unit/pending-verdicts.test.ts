/** What answers about creates of unknown outcome are held against. */
import { expect, it } from "vitest";
import type { CreateRecord } from "../../provider/src/state/create-record.js";
import { readVerdicts } from "../../provider/src/tools/pending-answers.js";
import type { PendingCreate } from "../../provider/src/tools/pending-facts.js";
import { readExport } from "../../provider/src/tools/stack-export.js";
import { exportOf, storedAdvertiser, storedEvent, storedSet, urnOf } from "../support/stored.js";

const E = (name: string) => urnOf("ConversionEvent", name);
const SET = urnOf("ConversionEventSet", "funnel");
const record = (mark: string, more: Partial<CreateRecord> = {}): CreateRecord => ({
  mark,
  key: "",
  fingerprint: "",
  at: "",
  ...more,
});
const create = (urn: string, more: Partial<PendingCreate> = {}): PendingCreate => ({
  urn,
  kind: "ConversionEvent",
  record: record(`mark of ${urn}`),
  known: "state",
  ...more,
});

const stack = readExport(
  exportOf([
    storedAdvertiser("acme", 1),
    storedEvent("kept", 2),
    storedSet("other", { eventIds: { a: 3 } }),
    storedEvent("f19", 50),
  ]),
);
const pending = [
  create(E("f0"), { known: "journal", record: record("m0", { id: "503" }) }),
  create(E("f19"), { held: { id: "50", isDeleted: false }, record: record("m19", { replaces: "49" }) }),
  create(E("twin")),
  create(`${urnOf("x$ConversionEvent", "twin")}`),
  create(urnOf("Advertiser", "buyer"), { kind: "Advertiser" }),
  create(`${SET}["a"]`),
  create(`${SET}["b"]`, { record: record("mb", { id: "77" }) }),
];
const notes = [
  record("m0", { key: "ConversionEvent::organization/shop/dev::f0", id: "503" }),
  record("m-renamed", { key: "ConversionEvent::organization/shop/dev::former", id: "600" }),
];
const read = (created: readonly string[], notCreated: readonly string[] = []) =>
  readVerdicts({ created, notCreated }, { pending, stack, notes });

it.each([
  [["f19=60"], [], [[E("f19"), "60"]]],
  [[`${E("f19")}=60`], [], [[E("f19"), "60"]]],
  [
    [`${SET}["a"]=4`, "buyer=2"],
    [],
    [
      [`${SET}["a"]`, "4"],
      [urnOf("Advertiser", "buyer"), "2"],
    ],
  ], // an event has the id 2
  [
    [],
    ["funnel"],
    [
      [`${SET}["a"]`, undefined],
      [`${SET}["b"]`, undefined],
    ],
  ],
  [
    [],
    [SET],
    [
      [`${SET}["a"]`, undefined],
      [`${SET}["b"]`, undefined],
    ],
  ],
  [["funnel"], [], [[`${SET}["b"]`, "77"]]],
  [[E("f0")], [], [[E("f0"), "503"]]],
  [["f0=503"], [], [[E("f0"), "503"]]],
  [["f0=504"], [], [[E("f0"), "504"]]],
])("created %j, not created %j", (created, notCreated, verdicts) => {
  expect(read(created, notCreated).map(({ urn, createdAs }) => [urn, createdAs])).toEqual(verdicts);
});

it.each([
  [["f19=x"], [], '--created takes URN=ID with a number as ID; got "f19=x"'],
  [["f19"], [], '--created takes URN=ID with a number as ID; got "f19"'],
  [["nobody=4"], [], '"nobody" is not a pending create (`pulumi-advertising pending` lists them)'],
  [[], ["kept"], '"kept" is not a pending create (`pulumi-advertising pending` lists them)'],
  [["funnel=4"], [], `"funnel" is a set: append the key of its event, as in ${SET}["a"]`],
  [["twin=4"], [], '"twin" is the name of 2 pending creates: give the URN'],
  [["f19=60"], ["f19"], '"f19" is given two answers'],
  [["f19=50"], [], '50 is not the id of "f19": the state already has it, as the object to replace'],
  [["f19=49"], [], '49 is not the id of "f19": it is the id of the object to replace'],
  [["f19=2"], [], `2 is not the id of "f19": the state has it as ${E("kept")}`],
  [["f19=3"], [], `3 is not the id of "f19": the state has it as ${urnOf("ConversionEventSet", "other")}["a"]`],
  [["buyer=1"], [], `1 is not the id of "buyer": the state has it as ${urnOf("Advertiser", "acme")}`],
  [
    ["f19=503"],
    [],
    `503 is not the id of "f19": a journal on this machine has it as ${E("f0").replace("shop", "shop")}`,
  ],
  [["f19=60", `${SET}["a"]=60`], [], `60 can't be both "${SET}["a"]" and ${E("f19")}`],
])("created %j, not created %j is refused", (created, notCreated, fault) => {
  expect(() => read(created, notCreated)).toThrow(`nothing was settled: ${fault}`);
});

it("all that is wrong is said at once", () => {
  expect(() => read(["nobody=1", "f19=2"], ["kept"])).toThrow(
    `nothing was settled: "nobody" is not a pending create (\`pulumi-advertising pending\` lists them); 2 is not the id of "f19": the state has it as ${E("kept")}; "kept" is not a pending create (\`pulumi-advertising pending\` lists them)`,
  );
});

it("an object that a create noted under the resource's former name is that create's own", () => {
  const renamed = [create(E("now"), { record: record("m-renamed") })];
  const verdicts = readVerdicts({ created: ["now=600"], notCreated: [] }, { pending: renamed, stack, notes });
  expect(verdicts).toEqual([{ urn: E("now"), createdAs: "600" }]);
});

it("what was settled elsewhere, and only this machine's journal still notes, is dropped by the command that is named", () => {
  const noted = [...notes, record("m-kept", { key: "ConversionEvent::organization/shop/dev::kept" })];
  for (const [created, notCreated] of [
    [["kept=2"], []],
    [[], [E("kept")]],
  ] as const) {
    expect(() => readVerdicts({ created, notCreated }, { pending, stack, notes: noted })).toThrow(
      `is settled: the state has it as 2. To drop what the journal of this machine noted of it:\n  npx pulumi-advertising pending --forget '${E("kept")}'`,
    );
  }
  expect(() => read(["kept=2"])).toThrow('"kept" is not a pending create');
});
