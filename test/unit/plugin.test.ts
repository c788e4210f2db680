import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import { describe, expect, it } from "vitest";
import { advertiser, checkArguments } from "../../provider/src/kinds/index.js";
import { readProperties, writeProperties } from "../../provider/src/plugin/properties.js";
import { AdvertisingPlugin } from "../../provider/src/plugin/provider.js";
import { problemMessages } from "../../provider/src/rules/index.js";
import { settingsOf } from "../support/settings.js";

describe("properties", () => {
  it("an asset or archive has no value that a rule accepts", () => {
    const asset = {
      "4dabf18193072939515e22adb298388d": "c44067f5952c0a294b673a41bacd8c17",
      text: "x",
    };
    const additionalFields = { a: { logo: [asset] }, b: 1 };
    const struct = Struct.fromJavaScript({ advertiserName: asset, additionalFields });
    const { values } = readProperties(struct);
    const { problems } = checkArguments(advertiser, values, settingsOf(), {});
    expect(problemMessages(problems)).toEqual([
      expect.stringMatching(/^advertiserName expected .*; got an asset or archive$/),
      expect.stringMatching(/^additionalFields expected .*; not allowed: "a"$/),
    ]);
    // As the classes' provider gets it.
    const { problems: same } = checkArguments(
      advertiser,
      struct.toJavaScript(),
      settingsOf(),
      {},
    );
    expect(same).toEqual(problems);
  });

  it("come out as they went in, with the secret ones by name", () => {
    const values = { name: "A", events: { a: { value: 1, list: [true, null] } } };
    const read = readProperties(writeProperties({ values, secret: new Set(["events"]) }));
    expect(read).toEqual({ values, secret: new Set(["events"]) });
  });

  it("a secret part makes its property secret", () => {
    const secret = {
      "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
      value: "x",
    };
    const struct = Struct.fromJavaScript({ events: { a: [secret] }, name: "A" });
    expect(readProperties(struct)).toEqual({
      values: { events: { a: ["x"] }, name: "A" },
      secret: new Set(["events"]),
    });
  });

  it("nothing is nothing", () => {
    expect(readProperties(undefined).values).toEqual({});
    expect(
      readProperties(writeProperties({ values: { a: undefined }, secret: new Set(["a"]) }))
        .values,
    ).toEqual({});
  });
});

it("an empty argument of a provider hides neither the stack's setting nor a variable", () => {
  const plugin = new AdvertisingPlugin({
    PULUMI_CONFIG: '{"baseUrl":"https://ads.example"}',
    ADVERTISING_EMAIL: "a@b.c",
  });
  const values = { baseUrl: "", email: "" };
  expect(plugin.checkConfig(values, urnOf("second"))).toEqual([]);
});

it("a plugin that no engine has configured ends without an error", async () => {
  const plugin = new AdvertisingPlugin({});
  plugin.cancel();
  await expect(plugin.abandon()).resolves.toBeUndefined();
  expect(plugin.run).toBeUndefined();
});

function urnOf(provider: string) {
  return `urn:pulumi:dev::shop::pulumi:providers:advertising::${provider}`;
}

describe("a refused argument of a provider", () => {
  const complete = { baseUrl: "https://ads.example", email: "a@b.c" };
  const problemsOf = (values: object, stack: object = {}, name = "second") =>
    new AdvertisingPlugin({ PULUMI_CONFIG: JSON.stringify(stack) }).checkConfig(
      { ...complete, ...values },
      urnOf(name),
    );

  it.each([
    { event: { read: "geheim" } },
    { event: "geheim" },
    { event: { geheim: "GET rest/event/{id}" } },
    { geheim: 1 },
    "geheim",
  ])("is named, and neither shown nor called the stack's setting: %j", (operations) => {
    const problems = problemsOf({ operations });
    expect(problems).toEqual([expect.stringMatching(/^operations(\.event(\.read)?)? /)]);
    expect(problems.join()).not.toMatch(/geheim|pulumi config|advertising:/);
  });

  it.each([[{ geheim: 1 }], [["geheim"]]])(
    "is a password that is no text, which isn't shown: %j",
    (password) => {
      const [problem = "", ...others] = problemsOf({ password });
      expect(others).toEqual([]);
      expect(problem).toMatch(/^password expected .*; got another value/);
      expect(problem).not.toContain("geheim");
      // As YAML's untyped configuration gives one of digits.
      for (const each of ["4711", 4711]) expect(problemsOf({ password: each })).toEqual([]);
    },
  );

  it("that lacks another one names both as arguments", () => {
    const operations = { event: { search: "GET rest/event?alternative_id={mark}" } };
    const [problem = ""] = problemsOf({ operations });
    expect(problem).toMatch(/^operations has a search, which needs markField/);
    expect(problem).not.toContain("pulumi config");
  });

  it("also once it is known, in the `up`", () => {
    const plugin = new AdvertisingPlugin({});
    const values = { ...complete, password: "pw", authMode: "geheim" };
    plugin.configure({ values, secret: new Set() }, urnOf("second"));
    const { problems } = plugin.runtime.reading;
    expect(problems).toEqual([
      { source: "authMode", reason: "expected session or basic; got another value" },
    ]);
  });

  it.each([
    ["where the provider hasn't the argument", "second"],
    ["for the default provider", "default_0_1_0"],
  ])("is the stack's setting %s", (_, name) => {
    const operations = JSON.stringify({ event: { read: "geheim" } });
    const given = name === "second" ? {} : { operations };
    const [problem = ""] = problemsOf(given, { operations }, name);
    expect(problem).toMatch(/^advertising:operations\.event\.read expected/);
    expect(problem).toContain(
      "pulumi config rm --path 'advertising:operations.event.read'",
    );
    expect(problem).not.toContain("geheim");
  });
});
