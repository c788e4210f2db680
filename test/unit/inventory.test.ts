/** What earlier runs created, as a run looks it up. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { adoptedTwice } from "../../provider/src/provider/announce.js";
import { createRuntime } from "../../provider/src/provider/runtime.js";
import { type KnownSubject, subjectOf } from "../../provider/src/provider/subject.js";
import { Inventory } from "../../provider/src/store/inventory.js";
import { newFolder } from "../support/folder.js";

const keyOf = (kind: string, name: string) => `${kind}::organization/shop/dev::${name}`;
const identity = (name: string) => `shop/dev::${name}`;
const live = (id: string) => ({ id, fingerprint: "f" });

/** What a new run finds when earlier ones noted these, one after the other. */
function found(notes: Readonly<Record<string, string>>): Inventory {
  const path = join(newFolder(), "stack.live");
  const earlier = new Inventory(path);
  for (const [key, id] of Object.entries(notes)) earlier.note(key, live(id));
  return new Inventory(path);
}

describe("who held an object", () => {
  const inventory = () =>
    found({
      [keyOf("Advertiser", "acme")]: "7",
      [keyOf("ConversionEvent", "one")]: "7",
      [keyOf("ConversionEvent", "two")]: "8",
      [keyOf("ConversionEvent", "renamed")]: "7",
    });

  it("is told by kind and id", () => {
    expect(inventory().holdersOf("ConversionEvent", "7")).toEqual(
      ["one", "renamed"].map((name) => keyOf("ConversionEvent", name)),
    );
    expect(inventory().holdersOf("Advertiser", "7")).toEqual([keyOf("Advertiser", "acme")]);
    expect(inventory().holdersOf("Advertiser", "8")).toEqual([]);
  });

  const subject = (name: string) => subjectOf("ConversionEvent", identity(name)) as KnownSubject;

  it("keeps another resource from adopting it while its own is declared", () => {
    const known = inventory();
    const settings: Record<string, string> = { baseUrl: "https://x.example", email: "a@b.c" };
    const runtime = { ...createRuntime((key) => settings[key], {}), inventory: () => known };
    expect(adoptedTwice(conversionEvent, runtime, subject("new"), "7")).toBeUndefined(); // nobody declares the others
    known.noteDeclared(keyOf("ConversionEvent", "two"), []);
    expect(adoptedTwice(conversionEvent, runtime, subject("twin"), "8")).toContain("ConversionEvent::two already");
    expect(adoptedTwice(conversionEvent, runtime, subject("two"), "8")).toBeUndefined(); // its own
    expect(adoptedTwice(conversionEvent, runtime, subject("third"), "7")).toContain("ConversionEvent::new already");
  });
});
