/** Where a resource stood before, as its aliases say: what is declared in a new place is not taken for gone. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { formerPlaces, identityOf, isAt, journalKeyIn, typesOf } from "../../provider/src/program/place.js";

await pulumi.runtime.setMocks(
  { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }), call: ({ inputs }) => inputs },
  "shop",
  "dev",
);

const outer = new pulumi.ComponentResource("my:index:Outer", "outer");
const inner = new pulumi.ComponentResource("my:Inner", "inner", {}, { parent: outer });
const INSIDE = "my:index:Outer$my:Inner";

describe("the journal's key and the identity", () => {
  it.each([
    ["a resource of the stack itself", undefined, "ConversionEvent::organization/shop/dev::e", "shop/dev::e"],
    [
      "one in a component in a component",
      inner,
      `ConversionEvent::organization/shop/dev::${INSIDE}$::e`,
      `shop/dev::${INSIDE}$::e`,
    ],
  ])("of %s", async (_, parent, key, identity) => {
    expect(journalKeyIn(conversionEvent, "e", parent)).toBe(key);
    expect(await identityOf("e", parent)).toBe(identity);
  });
});

describe("an alias", () => {
  /** Which of these places the resource "new", in the component, was at before. */
  const PLACES: Readonly<Record<string, readonly [name: string, parentTypes: string | undefined]>> = {
    "old, inside": ["old", INSIDE],
    "old, of the stack": ["old", undefined],
    "old, in another": ["old", "my:index:Other"],
    "new, of the stack": ["new", undefined],
    "new, in another": ["new", "my:index:Other"],
  };
  const everywhere = Object.keys(PLACES);
  const urn = (types: string) => `urn:pulumi:dev::shop::${types}::old`;

  it.each<[string, unknown, readonly string[]]>([
    ["of a name", [{ name: "old" }], ["old, inside"]],
    ["without a parent", [{ noParent: true }], ["new, of the stack"]],
    ["of the stack by its resource, which is undefined", [{ parent: undefined }], ["new, of the stack"]],
    ["of a name below the stack", [{ name: "old", noParent: true }], ["old, of the stack"]],
    [
      "of a parent that is not known here",
      [{ parent: pulumi.output(inner) }],
      ["new, of the stack", "new, in another"],
    ],
    ["of a parent's URN", [{ name: "old", parentUrn: "urn:pulumi:dev::shop::x:y:Z::z" }], everywhere.slice(0, 3)],
    ["of a URN of the stack", [urn("pulumi-nodejs:dynamic/advertising:ConversionEvent")], ["old, of the stack"]],
    ["of a URN inside", [urn(`${INSIDE}$pulumi-nodejs:dynamic/advertising:ConversionEvent`)], ["old, inside"]],
    ["that is an Output may be any place", [pulumi.output("urn")], everywhere],
    ["whose name is an Output may be any name", [{ name: pulumi.output("old") }], ["old, inside"]],
    ["among others", [{ name: "old" }, { noParent: true }], ["old, inside", "new, of the stack"]],
    ["list that is an Output may be any place", pulumi.output([]), everywhere],
    ["list that is empty is none", [], []],
  ])("%s", (_, aliases, expected) => {
    const places = formerPlaces("new", { parent: inner, aliases } as pulumi.CustomResourceOptions);
    const found = everywhere.filter((each) => {
      const [name, parentTypes] = PLACES[each] as (typeof PLACES)[string];
      return places.some((place) => isAt(place, name, parentTypes));
    });
    expect(found).toEqual(expected);
  });

  it("that a component has reaches what is in it, wherever that was", () => {
    const moved = new pulumi.ComponentResource("my:index:Outer", "moved", {}, { aliases: [{ name: "outer" }] });
    const places = formerPlaces("new", { parent: moved });
    expect(places.some((place) => isAt(place, "old", "my:index:Other"))).toBe(true);
    expect(typesOf(moved)).toBe("my:index:Outer");
  });
});
