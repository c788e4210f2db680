/** Who has which live object: one resource or member at most, whatever tells of it first. */

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
    ["nobody", [], []],
    ["the state", [add("a", "state")], ["a"]],
    ["another object", [add("a", "state", "8")], []],
    ["who asks is not its own rival", [add("me", "state")], []],
    ["what replaces it lets go of it", [add("a", "state"), release("a")], []],
    ["an older note of what lets go of it is over as well", [add("a", "inventory"), release("a")], []],
    ["an adoption is not over", [add("a", "adopts"), release("a")], ["a"]],
    [
      "the strongest knowledge comes first",
      [add("z", "state"), add("a", "inventory"), add("b", "adopts")],
      ["z", "b", "a"],
    ],
    ["of one holder the strongest counts", [add("a", "inventory"), add("a", "state"), add("b", "adopts")], ["a", "b"]],
  ])("%s", (_, steps, expected) => {
    const inEachOrder = [steps, [...steps].reverse()].map((those) => {
      const holders = new Holders();
      for (const step of those) step(holders);
      return holders.of("ConversionEvent", "7", "me").map(({ by }) => by);
    });
    expect(inEachOrder).toEqual([expected, expected]);
  });

  /** As the program or the state says of what names or has object 7. */
  const named =
    (how: Knowledge, eventName?: string, by = "a"): Step =>
    (holders) =>
      holders.add("ConversionEvent", "7", by, how, { eventName, advertiserId: 1 });
  const somebody: Step = (holders) => holders.add("ConversionEvent", "7", SOMEBODY, "adopts");
  it.each<[string, Step[], "settled" | "to be adopted" | undefined]>([
    ["nothing is known", [], undefined],
    ["it is named", [named("adopts", "A")], "to be adopted"],
    ["it is held", [named("state", "A")], "settled"],
    ["it is held under a name that is not known", [named("state")], "settled"],
    ["another one is named", [somebody, named("adopts", "B")], undefined],
    ["another one is held", [somebody, named("state", "B")], undefined],
    ["another one is held, which was named as it", [named("adopts", "A"), named("state", "B")], undefined],
    ["something is known to name it", [somebody], "to be adopted"],
    ["it moves", [named("state", "A", "z"), release("z"), named("adopts", "A")], "to be adopted"],
    ["its own key names it", [named("state", "A", "me")], undefined],
    ["only notes know of it", [named("inventory", "A")], undefined],
  ])("R4: an unresolved create, the object that was adopted for it: %s", (_, steps, expected) => {
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
      // What was not looked at may have it.
      const perhaps = holders.adoptedFor(conversionEvent, { ...record, adoptedAs: "7" }, "me", true);
      expect(perhaps).toEqual({ id: "7", isHeld: false });
    }
  });

  it("an advertiser and an event of one id are two objects", () => {
    const holders = new Holders();
    holders.add("Advertiser", "7", "a", "state");
    expect(holders.of("ConversionEvent", "7")).toEqual([]);
  });
});

describe("what earlier runs noted", () => {
  /** A runtime on a machine where earlier runs noted these, one after the other. */
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

  it("keeps another resource from adopting an object while its own is declared", async () => {
    const runtime = await knowing(notes);
    const twice = (name: string, id: string) => {
      noteAdopts(conversionEvent, runtime, subject(name), id, {});
      return rivalOf(conversionEvent, runtime, subject(name), id)?.urn;
    };
    expect(twice("new", "7")).toBeUndefined(); // nobody declares the others
    runtime.run.declared.add(keyOf("ConversionEvent", "two"));
    expect(twice("twin", "8")).toContain("ConversionEvent::two");
    expect(twice("third", "7")).toContain("ConversionEvent::new");
  });

  it("is out of date where the state says that this resource has adopted it before", async () => {
    const runtime = await knowing(notes);
    runtime.run.declared.add(keyOf("ConversionEvent", "two"));
    noteAdopts(conversionEvent, runtime, subject("new"), "8", {});
    const rival = (adoptedBefore: boolean) =>
      rivalOf(conversionEvent, runtime, subject("new"), "8", adoptedBefore)?.name;
    expect([rival(false), rival(true)]).toEqual(["two", undefined]);
    runtime.run.holders.add("ConversionEvent", "8", keyOf("ConversionEvent", "two"), "state");
    expect(rival(true)).toBe("two");
  });

  it("what this run has just created can't be adopted by something else of it", async () => {
    const runtime = await knowing({});
    noteLive(conversionEvent, runtime, subject("new"), "9", { values: {}, secret: new Set() }, undefined);
    noteAdopts(conversionEvent, runtime, subject("other"), "9", {});
    expect(rivalOf(conversionEvent, runtime, subject("other"), "9")?.name).toBe("new");
  });

  it("is over for what takes on another object in this run: two resources may swap theirs", async () => {
    const runtime = await knowing(notes);
    for (const name of ["one", "two"]) runtime.run.declared.add(keyOf("ConversionEvent", name));
    noteAdopts(conversionEvent, runtime, subject("one"), "8", {});
    noteAdopts(conversionEvent, runtime, subject("two"), "7", {});
    expect(rivalOf(conversionEvent, runtime, subject("one"), "8")).toBeUndefined();
    expect(rivalOf(conversionEvent, runtime, subject("two"), "7")).toBeUndefined();
  });

  it("spares an object that something declared still holds from being deleted", async () => {
    const runtime = await knowing(notes);
    const own = keyOf("ConversionEvent", "old");
    expect(runtime.run.holders.goesOn("ConversionEvent", "8", own)).toBe(false);
    runtime.run.declared.add(keyOf("ConversionEvent", "two"));
    expect(runtime.run.holders.goesOn("ConversionEvent", "8", own)).toBe(true);
    expect(runtime.run.holders.goesOn("ConversionEvent", "8", keyOf("ConversionEvent", "two"))).toBe(false);
  });

  it("does not spare an object from being deleted with what the engine replaces without a `diff`", async () => {
    const runtime = await knowing({ ...notes, [keyOf("ConversionEvent", "other")]: "8" });
    const [two, other] = ["two", "other"].map((name) => keyOf("ConversionEvent", name)) as [string, string];
    const checked = { briefing: { identity: identity("two") }, wasSecret: new Set<string>(), wasDeleting: false };
    const { holders } = runtime.run;
    runtime.run.noteChecked(two, checked, false);
    expect(holders.goesOn("ConversionEvent", "8")).toBe(true);
    runtime.run.noteChecked(two, checked, true);
    // Of another resource, which a run of some targets does not look at, only a note says that it has the object.
    expect(holders.goesOn("ConversionEvent", "8")).toBe(true);
    holders.release("ConversionEvent", "8", other);
    expect(holders.goesOn("ConversionEvent", "8", other)).toBe(true);
    holders.add("ConversionEvent", "8", two, "state");
    expect(holders.goesOn("ConversionEvent", "8")).toBe(true);
  });

  const [one, two] = ["one", "two"].map((name) => keyOf("ConversionEvent", name)) as [string, string];
  it.each<[string, Readonly<Record<string, string>>, string | undefined, boolean]>([
    ["that is noted once belongs to whatever lets go of it", { [one]: "8" }, undefined, false],
    ["that is noted twice is something else's too", { [one]: "8", [two]: "8" }, undefined, true],
    ["that is noted of what lets go of it, and of another", { [one]: "8", [two]: "8" }, one, true],
    ["that is noted under a former name alone", { [two]: "8" }, one, false],
  ])("an object %s: in a run that looks at nothing else", async (_, noted, lettingGo, goesOn) => {
    const runtime = await knowing(noted);
    if (lettingGo !== undefined) runtime.run.holders.release("ConversionEvent", "8", lettingGo);
    expect(runtime.run.holders.goesOn("ConversionEvent", "8", lettingGo)).toBe(goesOn);
  });

  it("is over once all but one of those that have an object were asked to let go of it", async () => {
    const runtime = await knowing({ [one]: "8", [two]: "8" });
    expect(await whenRemoved(conversionEvent, runtime, "8", {})).toBe("spared");
    expect(await whenRemoved(conversionEvent, runtime, "8", {})).toBe("left live");
  });
});
