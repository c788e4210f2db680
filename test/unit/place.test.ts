/** The former places of a resource, by its aliases: a resource that was moved does not count as removed. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { formerPlaces, identityOf, isAt, journalKeyIn, typesOf } from "../../provider/src/program/place.js";
import { currentProgram } from "../../provider/src/program/program.js";

await pulumi.runtime.setMocks(
  { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }), call: ({ inputs }) => inputs },
  "shop",
  "dev",
);

const outer = new pulumi.ComponentResource("my:index:Outer", "outer");
const inner = new pulumi.ComponentResource("my:Inner", "inner", {}, { parent: outer });
const early = new pulumi.ComponentResource("my:index:Outer", "early", {}, { aliases: [{ name: "outer" }] });
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
    ["of the stack, with parent: undefined", [{ parent: undefined }], ["new, of the stack"]],
    ["of a name below the stack", [{ name: "old", parent: undefined }], ["old, of the stack"]],
    ["of an unknown parent", [{ parent: pulumi.output(inner) }], ["new, of the stack", "new, in another"]],
    ["of a parent's URN", [{ parent: "urn:pulumi:dev::shop::my:index:Other::z" }], ["new, in another"]],
    ["of a URN of the stack", [urn("pulumi-nodejs:dynamic/advertising:ConversionEvent")], ["old, of the stack"]],
    ["of a URN inside", [urn(`${INSIDE}$pulumi-nodejs:dynamic/advertising:ConversionEvent`)], ["old, inside"]],
    ["that is an Output may be any place", [pulumi.output("urn")], everywhere],
    ["whose name is an Output may be any name", [{ name: pulumi.output("old") }], ["old, inside"]],
    ["among others", [{ name: "old" }, { parent: undefined }], ["old, inside", "new, of the stack"]],
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
});

describe("an alias of a component", async () => {
  // From here on there is a root stack, as in a deployment.
  await pulumi.runtime.runInPulumiStack(async () => {
    currentProgram();
    return {};
  });
  const COMPONENT = "my:index:Outer";
  const wasIn = (types: string, name: string) => `urn:pulumi:dev::shop::${types}::${name}`;

  interface Level {
    readonly name: string;
    readonly aliases?: unknown;
  }

  /** @returns the former places of a resource `name` with `aliases`, in components with these names and aliases, outermost first. */
  function before(levels: readonly Level[], { name, aliases }: Level): string[] {
    let parent: pulumi.Resource | undefined;
    for (const each of levels) {
      parent = new pulumi.ComponentResource(COMPONENT, each.name, {}, {
        parent,
        ...each,
      } as pulumi.ComponentResourceOptions);
    }
    const places = formerPlaces(name, { aliases, parent });
    return [...new Set(places.map(({ name: at, parentTypes }) => `${String(parentTypes)} ${String(at)}`))];
  }

  const renamed = { name: "new", aliases: [{ name: "old" }] };
  const ANY = "Symbol(any)";

  it.each<[string, readonly Level[], Level, readonly string[]]>([
    [
      "renames what is in it if that name begins with the component's",
      [renamed],
      { name: "new/a" },
      [`${COMPONENT} old/a`],
    ],
    ["leaves another name as it is", [renamed], { name: "a" }, [`${COMPONENT} a`]],
    [
      "combines with each alias of what is in it",
      [{ name: "new", aliases: [{ name: "old" }, { name: "oldest" }] }],
      { name: "new/a", aliases: [{ name: "new/b" }] },
      [
        `${COMPONENT} new/b`,
        `${COMPONENT} old/a`,
        `${COMPONENT} old/b`,
        `${COMPONENT} oldest/a`,
        `${COMPONENT} oldest/b`,
      ],
    ],
    [
      "applies through inner components without one",
      [renamed, { name: "new-part" }],
      { name: "new-part-a" },
      [`${COMPONENT}$${COMPONENT} old-part-a`],
    ],
    [
      "of the stack",
      [{ name: "outer" }, { name: "new", aliases: [{ parent: pulumi.rootStackResource }] }],
      { name: "new/a" },
      [`${COMPONENT} new/a`],
    ],
    [
      "of another component",
      [{ name: "new", aliases: [{ parent: inner }] }],
      { name: "a" },
      [`${INSIDE}$${COMPONENT} a`],
    ],
    [
      "of a parent's URN",
      [
        {
          name: "new",
          aliases: [{ parent: wasIn("my:A$my:B", "b") }, { parent: wasIn("pulumi:pulumi:Stack", "shop-dev") }],
        },
      ],
      { name: "a" },
      [`my:A$my:B$${COMPONENT} a`, `${COMPONENT} a`],
    ],
    ["of a type", [{ name: "new", aliases: [{ type: "my:index:Was" }] }], { name: "a" }, ["my:index:Was a"]],
    ["of a URN", [{ name: "new", aliases: [wasIn("my:A$my:Was", "old")] }], { name: "new/a" }, ["my:A$my:Was old/a"]],
    [
      "of another stack or project",
      [{ name: "new", aliases: [{ stack: "x", project: "y" }] }],
      { name: "a" },
      [`${COMPONENT} a`],
    ],
    [
      "that is an Output may be anything",
      [{ name: "new", aliases: [pulumi.output("urn")] }],
      { name: "new/a" },
      [`${ANY} ${ANY}`],
    ],
    [
      "that is an Output leaves another name as it is",
      [{ name: "new", aliases: [pulumi.output("urn")] }],
      { name: "a" },
      [`${ANY} a`],
    ],
    [
      "whose name is an Output",
      [{ name: "new", aliases: [{ name: pulumi.output("old") }] }],
      { name: "new/a" },
      [`${COMPONENT} ${ANY}`],
    ],
    [
      "whose type is an Output",
      [{ name: "new", aliases: [{ type: pulumi.output("t") }] }],
      { name: "a" },
      [`${ANY} a`],
    ],
    ["that does not exist changes nothing", [{ name: "new" }], { name: "a" }, []],
  ])("%s", (_, levels, resource, expected) => {
    expect(before(levels, resource)).toEqual(expected);
  });

  it("may be anything if the component was created before aliases were recorded", () => {
    const places = formerPlaces("early-a", { parent: early });
    expect(places.some((place) => isAt(place, "old", "my:index:Other"))).toBe(true);
    expect(typesOf(early)).toBe(COMPONENT);
  });
});
