/** Where a resource stands, before anything is registered. */
import * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import { identityOf, placeOfProgram, typesOf } from "../../provider/src/program/place.js";

await pulumi.runtime.setMocks(
  { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }), call: ({ inputs }) => inputs },
  "shop",
  "dev",
);

const outer = new pulumi.ComponentResource("my:index:Outer", "outer");
const inner = new pulumi.ComponentResource("my:Inner", "inner", {}, { parent: outer });

it.each([
  ["of the stack itself", undefined, undefined, "shop/dev::e"],
  ["in a component", outer, "my:index:Outer", "shop/dev::my:index:Outer$::e"],
  ["in a component in a component", inner, "my:index:Outer$my:Inner", "shop/dev::my:index:Outer$my:Inner$::e"],
])("a resource %s has an identity of its own", (_, parent, types, identity) => {
  expect(typesOf(parent)).toBe(types);
  expect(identityOf("e", parent)).toBe(identity);
});

it("a program without an organization has the one that backends without any answer", () => {
  expect(placeOfProgram()).toEqual({ organization: "organization", project: "shop", stack: "dev" });
});
