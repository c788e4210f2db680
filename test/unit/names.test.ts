/** All names of a resource or member lead to the same one, whatever characters its own name has. */
import * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import { stackOfProgram, typesOf } from "../../provider/src/program/pulumi-internals.js";
import {
  identityText,
  keyOf,
  keyOfUrn,
  memberOf,
  memberRef,
  parseKey,
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
      short: name,
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
    short: 'funnel/a "b"',
  });
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
