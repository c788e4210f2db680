/** All names of a resource or member lead to the same one, whatever characters its own name has. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it, vi } from "vitest";
import { stackOfProgram, typesOf } from "../../provider/src/program/pulumi-internals.js";
import { providerIn } from "../../provider/src/record/index.js";
import {
  DEFAULT_PROVIDER,
  identityText,
  keyOf,
  keyOfUrn,
  memberOf,
  memberRef,
  parseKey,
  providerAt,
  refOf,
  resourceKeyIn,
  stackOf,
} from "../../provider/src/state/index.js";

const CATALOG = "advertising:index:Catalog";
const NAMES = [
  "purchase",
  "a::b",
  "::a",
  "a::",
  "a$::b",
  "$::b",
  "x:y:z$::b",
  "a$b",
  "a/b@c",
  'a["b"]',
  'it\'s "a"\n',
  "🛒",
];
const PARENTS = [undefined, CATALOG, `shop:Brand$${CATALOG}`, "x:y:z"];
const PLACES = NAMES.flatMap((name) =>
  PARENTS.map((parentTypes) => ({ name, parentTypes })),
);

it.each(PLACES)("$name in $parentTypes", ({ name, parentTypes }) => {
  for (const organization of ["organization", "acme"]) {
    const stack = `${organization}/shop/dev`;
    const text = identityText(stack, { parentTypes, name });
    expect(stackOf(text)).toBe(stack);
    expect(refOf("Advertiser", text)).toMatchObject({ parentTypes, name, identity: text });
    const [single, set] = [
      refOf("ConversionEvent", text),
      refOf("ConversionEventSet", text),
    ];
    expect([keyOfUrn("ConversionEvent", single.urn), resourceKeyIn(single.key)]).toEqual([
      single.key,
      single.key,
    ]);
    expect(parseKey(single.key)).toMatchObject({
      name,
      parentTypes,
      kind: "ConversionEvent",
      shownName: name,
    });
    for (const member of NAMES) {
      const { key, label } = memberRef(set, member);
      expect(parseKey(key)).toMatchObject({
        name,
        parentTypes,
        member,
        label,
        kind: "ConversionEvent",
      });
      expect([
        memberOf(keyOfUrn("ConversionEventSet", set.urn), member),
        resourceKeyIn(key),
      ]).toEqual([key, set.key]);
    }
  }
});

it("different places have different keys, and no stack is in them", () => {
  const keys = (["Advertiser", "ConversionEvent"] as const).flatMap((kind) =>
    PLACES.map((place) => keyOf(kind, place)),
  );
  expect(new Set(keys).size).toBe(keys.length);
  expect(refOf("Advertiser", "shop/dev::a").key).toBe(
    refOf("Advertiser", "shop/prod@acme::a").key,
  );
});

it("are stored and shown in these forms", () => {
  const place = { parentTypes: undefined, name: "a" };
  expect(identityText("organization/shop/dev", place)).toBe("shop/dev::a"); // without the default organization
  const ref = memberRef(
    refOf("ConversionEventSet", `shop/dev@acme::${CATALOG}$::funnel`),
    'a "b"',
  );
  expect(ref).toMatchObject({
    key: `ConversionEventSet::${CATALOG}$::funnel["a \\"b\\""]`,
    urn: `urn:pulumi:dev::shop::${CATALOG}$pulumi-nodejs:dynamic/advertising:ConversionEventSet::funnel["a \\"b\\""]`,
    label: 'events["a \\"b\\""] of ConversionEventSet "funnel"',
    shownName: 'funnel/a "b"',
  });
});

it("of the plugin's providers: one name for each, and one for the default provider of every version", () => {
  const urn = (name: string, parents = "") =>
    `urn:pulumi:dev::shop::${parents}pulumi:providers:advertising::${name}`;
  const defaults = ["default", "default_0_1_0", "default_1_2_3_beta_https___x"];
  const others = [
    urn("second"),
    urn("default_second"),
    urn("a::b"),
    urn("second", "my:index:A$"),
    urn("second", "my:index:B$"),
    urn("default_0_1_0", "my:index:A$"),
  ];
  const names = [...defaults.map((name) => urn(name)), ...others].map(providerAt);
  expect(names.slice(0, 3)).toEqual(defaults.map(() => DEFAULT_PROVIDER));
  expect(new Set(names).size).toBe(1 + others.length);
  const type = "advertising:index:ConversionEvent";
  const ofResources = others.map((provider) =>
    providerIn({ urn: "", type, provider: `${provider}::an-id` }),
  );
  expect(ofResources).toEqual(names.slice(3));
});

it("in a program, before anything is registered: with the types of all parents, and the organization that backends without any answer", async () => {
  const newResource = ({ name, inputs }: pulumi.runtime.MockResourceArgs) => ({
    id: `${name}-id`,
    state: inputs,
  });
  await pulumi.runtime.setMocks(
    { newResource, call: ({ inputs }) => inputs },
    "shop",
    "dev",
  );
  const outer = new pulumi.ComponentResource("my:index:Outer", "outer");
  const inner = new pulumi.ComponentResource("my:Inner", "inner", {}, { parent: outer });
  expect(stackOfProgram()).toBe("organization/shop/dev");
  expect([undefined, outer, inner].map((parent) => typesOf(parent))).toEqual([
    undefined,
    "my:index:Outer",
    "my:index:Outer$my:Inner",
  ]);
});

describe("a Pulumi of another inner shape is refused, in words", () => {
  const refused = "pulumi-advertising doesn't know @pulumi/pulumi 3.259.0: ";

  it("if a parent has no type: without it, two resources would have one key", () => {
    expect(() => typesOf({ __pulumiResource: true, __parentResource: {} })).toThrow(
      refused,
    );
  });

  const options = { settings: { options: {} } };
  it.each([undefined, () => undefined, () => ({}), () => options])(
    "if its runtime keeps its state elsewhere (%#)",
    async (getStore) => {
      vi.resetModules();
      const state = { getStore, getLocalStore: undefined };
      vi.doMock("@pulumi/pulumi/runtime/state.js", () => state);
      const { currentMocks } = await import(
        "../../provider/src/program/pulumi-internals.js"
      );
      vi.doUnmock("@pulumi/pulumi/runtime/state.js");
      expect(currentMocks).toThrow(refused);
    },
  );
});
