/** Which resource or member has which live object: one at most, in whatever order the facts arrive. */

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Holders, type Knowledge, SOMEBODY } from "../../provider/src/decision/holders.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { learnHolders, noteAdopts, noteLive, rivalOf, whenRemoved } from "../../provider/src/provider/holding.js";
import { createRuntime } from "../../provider/src/provider/services.js";
import { refOf } from "../../provider/src/state/identity.js";
import { Inventory } from "../../provider/src/store/inventory.js";
import { newFolder } from "../support/folder.js";

const keyOf = (kind: string, name: string) => `${kind}::organization/shop/dev::${name}`;
const identity = (name: string) => `shop/dev::${name}`;
const subject = (name: string) => refOf("ConversionEvent", identity(name));

describe("holders", () => {
  type Step = (holders: Holders) => void;
  const add =
    (by: string, how: Knowledge, id = "7"): Step =>
    (holders) =>
      holders.add("ConversionEvent", id, by, how);
  const release =
    (by: string): Step =>
    (holders) =>
      holders.release("ConversionEvent", "7", by);

  it.each<[string, Step[], string[]]>([
    ["no holder is known", [], []],
    ["a resource has it in the state", [add("a", "state")], ["a"]],
    ["a resource has another object", [add("a", "state", "8")], []],
    ["the asking resource is left out", [add("me", "state")], []],
    ["a resource that replaces it is no longer a holder", [add("a", "state"), release("a")], []],
    ["nor is it by an older note", [add("a", "inventory"), release("a")], []],
    ["an adoption outlasts that", [add("a", "adopts"), release("a")], ["a"]],
    [
      "the strongest knowledge comes first",
      [add("z", "state"), add("a", "inventory"), add("b", "adopts")],
      ["z", "b", "a"],
    ],
    [
      "of several facts about one holder the strongest counts",
      [add("a", "inventory"), add("a", "state"), add("b", "adopts")],
      ["a", "b"],
    ],
  ])("%s", (_, steps, expected) => {
    const inEachOrder = [steps, [...steps].reverse()].map((those) => {
      const holders = new Holders();
      for (const step of those) step(holders);
      return holders.of("ConversionEvent", "7", "me").map(({ by }) => by);
    });
    expect(inEachOrder).toEqual([expected, expected]);
  });

  /** The resource `by` names object 7 with existingId, or has it. */
  const named =
    (how: Knowledge, eventName?: string, by = "a"): Step =>
    (holders) =>
      holders.add("ConversionEvent", "7", by, how, { eventName, advertiserId: 1 });
  const somebody: Step = (holders) => holders.add("ConversionEvent", "7", SOMEBODY, "adopts");
  it.each<[string, Step[], "settled" | "to be adopted" | undefined]>([
    ["nothing is known", [], undefined],
    ["a resource names it", [named("adopts", "A")], "to be adopted"],
    ["a resource has it", [named("state", "A")], "settled"],
    ["a resource has it, with an unknown name", [named("state")], "settled"],
    ["a resource names it, with another event's name", [somebody, named("adopts", "B")], undefined],
    ["a resource has it, with another event's name", [somebody, named("state", "B")], undefined],
    [
      "a resource has it with another event's name, which was given when it was named",
      [named("adopts", "A"), named("state", "B")],
      undefined,
    ],
    ["an unknown resource names it", [somebody], "to be adopted"],
    [
      "it moves from one resource to another",
      [named("state", "A", "z"), release("z"), named("adopts", "B")],
      "settled",
    ],
    ["a resource had it, with another event's name", [named("state", "B", "z"), release("z")], undefined],
    ["only its own key has it", [named("state", "A", "me")], undefined],
    ["only notes of earlier runs name it", [named("inventory", "A")], undefined],
  ])("R4: the object that was adopted for an unresolved create: %s: $2", (_, steps, expected) => {
    const record = { key: "", mark: "m", fingerprint: "f", at: "", name: "A", facts: { advertiserId: 1 } };
    for (const those of [steps, [...steps].reverse()]) {
      const holders = new Holders();
      for (const step of those) step(holders);
      expect(holders.adoptedFor(conversionEvent, record, "me", true)).toBe(undefined);
      const found = holders.adoptedFor(conversionEvent, { ...record, adoptedAs: "7" }, "me");
      expect(found && (found.isHeld ? "settled" : "to be adopted")).toBe(expected);
      const isUnknown = holders
        .of("ConversionEvent", "7", "me", ["state", "adopts"])
        .every(({ by }) => by === SOMEBODY);
      if (!isUnknown) continue;
      // A resource that this run did not look at may have it.
      const perhaps = holders.adoptedFor(conversionEvent, { ...record, adoptedAs: "7" }, "me", true);
      expect(perhaps).toEqual({ id: "7", isHeld: false });
    }
  });

  it("an advertiser and an event with the same id are two objects", () => {
    const holders = new Holders();
    holders.add("Advertiser", "7", "a", "state");
    expect(holders.of("ConversionEvent", "7")).toEqual([]);
  });
});

describe("what earlier runs noted", () => {
  /** A runtime on a machine where earlier runs noted these objects, in this order. */
  async function knowing(notes: Readonly<Record<string, string>>) {
    const folder = newFolder();
    const path = join(folder, "stack.live");
    const earlier = new Inventory(path);
    for (const [key, id] of Object.entries(notes)) earlier.note(key, { id, fingerprint: "f" });
    const known = new Inventory(path);
    const settings: Record<string, string> = {
      baseUrl: "https://x.example",
      email: "a@b.c",
      cookieFile: join(folder, "session.json"),
    };
    const runtime = { ...createRuntime((key) => settings[key], {}), inventory: () => known };
    runtime.run.identity = identity("any");
    await learnHolders(runtime);
    return runtime;
  }
  const notes = {
    [keyOf("Advertiser", "acme")]: "7",
    [keyOf("ConversionEvent", "one")]: "7",
    [keyOf("ConversionEvent", "two")]: "8",
  };

  it("prevents another resource from adopting an object while its noted holder is declared", async () => {
    const runtime = await knowing(notes);
    const twice = (name: string, id: string) => {
      noteAdopts(conversionEvent, runtime, subject(name), id, {});
      return rivalOf(conversionEvent, runtime, subject(name), id)?.urn;
    };
    expect(twice("new", "7")).toBeUndefined(); // the other resources are not declared
    runtime.run.declared.add(keyOf("ConversionEvent", "two"));
    expect(twice("twin", "8")).toContain("ConversionEvent::two");
    expect(twice("third", "7")).toContain("ConversionEvent::new");
  });

  it("does not count if this resource had already adopted the object, by the state", async () => {
    const runtime = await knowing(notes);
    runtime.run.declared.add(keyOf("ConversionEvent", "two"));
    noteAdopts(conversionEvent, runtime, subject("new"), "8", {});
    const rival = (adoptedBefore: boolean) =>
      rivalOf(conversionEvent, runtime, subject("new"), "8", adoptedBefore)?.name;
    expect([rival(false), rival(true)]).toEqual(["two", undefined]);
    runtime.run.holders.add("ConversionEvent", "8", keyOf("ConversionEvent", "two"), "state");
    expect(rival(true)).toBe("two");
  });

  it("an object that this run created can't be adopted by another of its resources", async () => {
    const runtime = await knowing({});
    noteLive(conversionEvent, runtime, subject("new"), "9", { values: {}, secret: new Set() }, undefined);
    noteAdopts(conversionEvent, runtime, subject("other"), "9", {});
    expect(rivalOf(conversionEvent, runtime, subject("other"), "9")?.name).toBe("new");
  });

  it("does not count for a resource that adopts another object in this run, so that two may swap theirs", async () => {
    const runtime = await knowing(notes);
    for (const name of ["one", "two"]) runtime.run.declared.add(keyOf("ConversionEvent", name));
    noteAdopts(conversionEvent, runtime, subject("one"), "8", {});
    noteAdopts(conversionEvent, runtime, subject("two"), "7", {});
    expect(rivalOf(conversionEvent, runtime, subject("one"), "8")).toBeUndefined();
    expect(rivalOf(conversionEvent, runtime, subject("two"), "7")).toBeUndefined();
  });

  it("prevents the delete of an object that another declared resource has", async () => {
    const runtime = await knowing(notes);
    expect(runtime.run.holders.goesOn("ConversionEvent", "8")).toBe(false); // the note may be its own
    runtime.run.declared.add(keyOf("ConversionEvent", "two"));
    expect(runtime.run.holders.goesOn("ConversionEvent", "8")).toBe(true);
    expect(runtime.run.holders.goesOn("ConversionEvent", "8", keyOf("ConversionEvent", "two"))).toBe(false);
  });

  it("does not count for a resource that the engine replaces without a `diff`", async () => {
    const runtime = await knowing({ ...notes, [keyOf("ConversionEvent", "other")]: "8" });
    const [two, other] = ["two", "other"].map((name) => keyOf("ConversionEvent", name)) as [string, string];
    const checked = { briefing: { identity: identity("two") }, wasSecret: new Set<string>(), wasDeleting: false };
    const { holders } = runtime.run;
    runtime.run.noteChecked(two, checked, false);
    expect(holders.goesOn("ConversionEvent", "8")).toBe(true);
    runtime.run.noteChecked(two, checked, true);
    // A targeted run does not look at the other resource: only a note says that it has the object.
    expect(holders.goesOn("ConversionEvent", "8")).toBe(true);
    holders.release("ConversionEvent", "8", other);
    expect(holders.goesOn("ConversionEvent", "8", other)).toBe(true);
    holders.add("ConversionEvent", "8", two, "state");
    expect(holders.goesOn("ConversionEvent", "8")).toBe(true);
  });

  const [one, two] = ["one", "two"].map((name) => keyOf("ConversionEvent", name)) as [string, string];
  it.each<[string, Readonly<Record<string, string>>, string | undefined, boolean]>([
    ["noted once is the removed resource's", { [one]: "8" }, undefined, false],
    ["noted twice is another resource's too", { [one]: "8", [two]: "8" }, undefined, true],
    ["noted for the removed resource and another one", { [one]: "8", [two]: "8" }, one, true],
    ["noted only for another resource", { [two]: "8" }, one, true],
  ])(
    "an object %s, in a run that looks at nothing else; another resource keeps it: $3",
    async (_, noted, lettingGo, goesOn) => {
      const runtime = await knowing(noted);
      if (lettingGo !== undefined) runtime.run.holders.release("ConversionEvent", "8", lettingGo);
      expect(runtime.run.holders.goesOn("ConversionEvent", "8", lettingGo)).toBe(goesOn);
    },
  );

  it("allows the delete of an object with two noted holders once both are removed", async () => {
    const runtime = await knowing({ [one]: "8", [two]: "8" });
    expect(await whenRemoved(conversionEvent, runtime, "8", {})).toBe("spared");
    expect(await whenRemoved(conversionEvent, runtime, "8", {})).toBe("left live");
  });
});
