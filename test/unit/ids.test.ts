/** Ids as programs give them: numbers, digits, resources, and values that are known later. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { advertiser as advertiserKind } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { type Kind, typeTokenOf } from "../../provider/src/kinds/kind.js";
import { holdsOutput, readIdOf, withIds } from "../../provider/src/program/declaration.js";
import { validate } from "../../provider/src/rules/validate.js";

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

class Fake extends pulumi.CustomResource {
  declare readonly advertiserId: pulumi.Output<number>;
}
const advertiser = () => new Fake(typeTokenOf("Advertiser"), "acme", { advertiserId: 41 });
const event = () =>
  new Fake(typeTokenOf("ConversionEvent"), "purchase", { advertiserId: 41 });
const bucket = () => new Fake("aws:s3/bucket:Bucket", "logs", {});
const component = () => new pulumi.ComponentResource("my:shop:Shop", "shop");

const resolved = <T>(output: unknown) =>
  new Promise<T>((resolve) => void (output as pulumi.Output<T>).apply(resolve));
const others = { eventName: "E", value: 1 };

function problemsOf(kind: Kind, args: Record<string, unknown>) {
  const rules = kind.rules({ maxWindowSeconds: 2_592_000, markField: undefined });
  return validate(withIds(kind, args), rules, { isUnknown: (value) => holdsOutput(value) })
    .problems;
}

describe("an Advertiser as advertiserId", () => {
  it("is its id's Output, with the dependency on it", async () => {
    const acme = advertiser();
    const { advertiserId } = withIds(conversionEvent, { ...others, advertiserId: acme });
    expect(advertiserId).toBe(acme.advertiserId);
    expect(await resolved(advertiserId)).toBe(41);
  });

  it("in an Output is left to Pulumi, which passes on its id", () => {
    const later = pulumi.output(advertiser());
    expect(withIds(conversionEvent, { ...others, advertiserId: later }).advertiserId).toBe(
      later,
    );
  });

  it("leaves secrets secret", async () => {
    const { advertiserId } = withIds(conversionEvent, {
      ...others,
      advertiserId: pulumi.secret("41"),
    });
    expect(await pulumi.isSecret(advertiserId as pulumi.Output<string>)).toBe(true);
    expect(await resolved(advertiserId)).toBe("41");
  });
});

describe("a resource of another kind is refused in words", () => {
  it.each([
    ["pulumi-nodejs:dynamic/advertising:ConversionEvent", event],
    ["aws:s3/bucket:Bucket", bucket],
    ["my:shop:Shop", component],
  ])("%s", async (words, make) => {
    expect(problemsOf(conversionEvent, { ...others, advertiserId: make() })).toEqual([
      {
        property: "advertiserId",
        reason: `expected an Advertiser or its id, an integer from 1 or a string of digits; got a resource of type ${words}`,
      },
    ]);
  });

  it("an Advertiser as an argument that takes no resource", () => {
    const ids = { segmentId: advertiser(), existingId: advertiser() };
    expect(problemsOf(conversionEvent, { ...others, advertiserId: 1, ...ids })).toEqual([
      {
        property: "segmentId",
        reason: expect.stringMatching(
          /^expected the id of a segment.*; got a resource of type .*:Advertiser$/,
        ),
      },
      {
        property: "existingId",
        reason: expect.stringMatching(
          /^expected the id of a live event.*; got a resource of type .*:Advertiser$/,
        ),
      },
    ]);
    expect(
      problemsOf(advertiserKind, { advertiserName: "A", existingId: advertiser() }),
    ).toMatchObject([{ property: "existingId" }]);
  });
});

it("other arguments are left as they are", () => {
  const acme = advertiser();
  const later = pulumi.output(1);
  for (const args of [
    {},
    { ...others, advertiserId: 7, segmentId: "8", existingId: later },
    { ...others, advertiserId: "7", additionalFields: { of: acme } },
    { ...others, advertiserId: null, segmentId: undefined, value: acme },
  ]) {
    const ids = withIds(conversionEvent, args);
    expect(Object.keys(ids)).toEqual(Object.keys(args));
    for (const [name, value] of Object.entries(args)) expect(ids[name]).toBe(value);
  }
});

it("the id in .get may be a number, which Pulumi itself does not accept", async () => {
  for (const id of ["7", 7, pulumi.output(7), Promise.resolve("7")])
    expect(await resolved(pulumi.output(readIdOf(id)))).toBe("7");
});

it("an invalid id becomes words, which are refused", async () => {
  const wrong: [unknown, string][] = [
    ["", 'the string ""'],
    ["007", 'the string "007"'],
    [-1, "-1"],
    [undefined, "nothing"],
  ];
  for (const [value, words] of wrong)
    for (const id of [value, pulumi.output(value)])
      expect(await resolved(pulumi.output(readIdOf(id as string)))).toBe(words);
});
