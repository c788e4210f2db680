/** All names of a resource or member lead to the same one, whatever characters its own name has. */
import { expect, it } from "vitest";
import {
  aboutWhom,
  type Identity,
  identityText,
  keyOf,
  memberOf,
  memberRef,
  parseIdentity,
  refOf,
  resourceKeyIn,
  stackOf,
} from "../../provider/src/state/index.js";
import { keyOfUrn } from "../../provider/src/tools/contents.js";

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

it.each(NAMES.flatMap((name) => PARENTS.map((parentTypes) => ({ name, parentTypes }))))(
  "$name in $parentTypes",
  ({ name, parentTypes }) => {
    for (const organization of ["organization", "acme"]) {
      const identity: Identity = { organization, project: "shop", stack: "dev", parentTypes, name };
      const text = identityText(identity);
      expect(parseIdentity(text)).toEqual(identity);
      expect(stackOf(text)).toBe(`${organization}/shop/dev`);
      const [single, set] = [refOf("ConversionEvent", text), refOf("ConversionEventSet", text)];
      expect(keyOfUrn("ConversionEvent", single.urn)).toBe(single.key);
      expect(resourceKeyIn(single.key)).toBe(single.key);
      expect(aboutWhom(single.key)).toMatchObject({ name, parentTypes, kind: "ConversionEvent", short: name });
      for (const member of NAMES) {
        const ref = memberRef(set, member);
        expect(aboutWhom(ref.key)).toMatchObject({
          name,
          parentTypes,
          member,
          label: ref.label,
          kind: "ConversionEvent",
        });
        expect(memberOf(keyOfUrn("ConversionEventSet", set.urn), member)).toBe(ref.key);
        expect(resourceKeyIn(ref.key)).toBe(set.key);
      }
    }
  },
);

it("different places have different keys, and no stack is in them", () => {
  const places = NAMES.flatMap((name) => PARENTS.map((parentTypes) => ({ name, parentTypes })));
  const keys = (["Advertiser", "ConversionEvent"] as const).flatMap((kind) =>
    places.map((place) => keyOf(kind, place)),
  );
  expect(new Set(keys).size).toBe(keys.length);
  expect(refOf("Advertiser", "shop/dev::a").key).toBe(refOf("Advertiser", "shop/prod@acme::a").key);
});

it("are stored and shown in these forms", () => {
  expect(identityText(parseIdentity("shop/dev::a"))).toBe("shop/dev::a"); // without the default organization
  const ref = memberRef(refOf("ConversionEventSet", `shop/dev@acme::${CATALOG}$::funnel`), 'a "b"');
  expect(ref).toMatchObject({
    key: `ConversionEventSet::${CATALOG}$::funnel["a \\"b\\""]`,
    urn: `urn:pulumi:dev::shop::${CATALOG}$pulumi-nodejs:dynamic/advertising:ConversionEventSet::funnel["a \\"b\\""]`,
    label: 'events["a \\"b\\""] of ConversionEventSet "funnel"',
    short: 'funnel/a "b"',
  });
});
