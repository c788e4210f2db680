import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { systemDisk } from "../../provider/src/files/index.js";
import { Inventory, readInventory } from "../../provider/src/store/inventory.js";
import { newFolder } from "../support/folder.js";

it("a program's adoptions are noted beside the objects of its resources, until the next program's notes", () => {
  const path = join(newFolder(), "objects.jsonl");
  const inventory = new Inventory(path);
  inventory.note("b", { id: "3", fingerprint: "f" });
  inventory.noteAdopts("first", { b: "2" });
  inventory.noteAdopts("first", { c: "4" });
  inventory.noteAdopts("first", {});
  // Earlier versions take lines of this form as notes about the program, not about a resource.
  expect(readFileSync(path, "utf8").split("\n").slice(2, -1)).toEqual([
    '{"key":"","program":"first","adopts":{"b":"2"}}',
    '{"key":"","program":"first","adopts":{"c":"4"}}',
  ]);
  const objects = new Map([["b", { id: "3", fingerprint: "f", name: undefined }]]);
  expect(readInventory(path, systemDisk)).toEqual({
    objects,
    adopts: new Map([
      ["b", "2"],
      ["c", "4"],
    ]),
  });
  expect(inventory.ofProgram("first")?.adoptsLater).toBeUndefined();
  for (const kinds of [["ConversionEvent"], []]) {
    inventory.noteAdopts("first", {}, kinds);
    expect(inventory.ofProgram("first")?.adoptsLater).toEqual(kinds);
  }
  expect(inventory.ofProgram("second")).toBeUndefined();
  inventory.noteEnded("first");
  expect(inventory.ofProgram("first")).toMatchObject({
    adopts: new Map([
      ["b", "2"],
      ["c", "4"],
    ]),
    hasEnded: true,
  });
  inventory.noteOver("another");
  expect(inventory.ofProgram("first")).toMatchObject({ hasEnded: true });
  inventory.noteOver("first");
  expect([inventory.ofProgram("first"), readInventory(path, systemDisk)]).toEqual([
    undefined,
    { objects, adopts: new Map() },
  ]);
  inventory.noteAdopts("first", { b: "2" });
  inventory.noteEnded("second");
  expect(readInventory(path, systemDisk)).toEqual({ objects, adopts: new Map() });
});

describe("at the end of an up, an object that the program does not declare", () => {
  const event = (name: string) => `ConversionEvent::o/p/s::${name}`;
  const left = (
    removed: Record<string, object>,
    asked: readonly string[] = [],
    declared: Record<string, object> = {},
  ) => {
    const path = join(newFolder(), "objects.jsonl");
    const inventory = new Inventory(path);
    const all = Object.entries({ ...removed, ...declared });
    for (const [name, live] of all) inventory.note(event(name), { id: name, fingerprint: "f", ...live });
    const end = () => {
      new Inventory(path).closeNow(new Set(Object.keys(declared).map(event)), new Set(asked));
      return [...readInventory(path, systemDisk).objects.keys()].map((key) => key.split("::")[2]);
    };
    return [end(), end()];
  };
  const [retained, deleted, kept] = [{}, { deletes: true }, { protects: true }];

  it("is forgotten; if something shows that the engine did not remove it, all are forgotten one run later", () => {
    expect(left({ 1: retained })).toEqual([[], []]);
    expect(left({ 1: deleted, 2: retained }, ["ConversionEvent 1"])).toEqual([[], []]);
    expect(left({ 1: deleted, 2: retained })).toEqual([["1", "2"], []]);
    expect(left({ 1: kept, 2: retained })).toEqual([["1", "2"], []]);
    // The protection was removed in the state.
    expect(left({ 1: { ...deleted, ...kept } }, ["ConversionEvent 1"])).toEqual([[], []]);
  });

  it("is forgotten if another resource has it, or if it was in a set that is still declared", () => {
    expect(left({ old: { ...deleted, id: "7" } }, [], { now: { ...deleted, id: "7" } })).toEqual([["now"], ["now"]]);
    // Adopted by another resource, but Pulumi still keeps the protected one.
    expect(left({ old: { ...kept, id: "7" } }, [], { now: { id: "7" } })).toEqual([["now", "old"], ["now"]]);
    const path = join(newFolder(), "objects.jsonl");
    const [set, member] = ["ConversionEventSet::o/p/s::s", 'ConversionEventSet::o/p/s::s["a"]'];
    new Inventory(path).note(member, { id: "1", fingerprint: "f", ...deleted });
    new Inventory(path).closeNow(new Set([set]), new Set());
    expect(readInventory(path, systemDisk).objects.size).toBe(0);
  });

  it("is an ordinary one again once it is declared again", () => {
    const path = join(newFolder(), "objects.jsonl");
    const live = { id: "1", fingerprint: "f", protects: true };
    new Inventory(path).note(event("e"), live);
    new Inventory(path).closeNow(new Set(), new Set());
    expect(readInventory(path, systemDisk).objects.get(event("e"))?.leaving).toBe(true);
    new Inventory(path).noteHeld(event("e"), "1", { protects: true }, () => live);
    new Inventory(path).closeNow(new Set(), new Set());
    expect(readInventory(path, systemDisk).objects.has(event("e"))).toBe(true);
  });
});
