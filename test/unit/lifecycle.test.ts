import { describe, expect, it } from "vitest";
import { readSettings } from "../../provider/src/config/settings.js";
import { conversionEventDeclaration } from "../../provider/src/lifecycle/declaration.js";
import { createProvider } from "../../provider/src/lifecycle/provider.js";
import type { Runtime } from "../../provider/src/lifecycle/runtime.js";
import { UNKNOWN } from "../../provider/src/schema/properties.js";
import { Secrets } from "../../provider/src/secrets.js";

/** A runtime that can't send: what is tested here must not. */
const runtime: Runtime = {
  reading: readSettings({
    config: (key) => ({ baseUrl: "https://x.example", email: "a@b.c" })[key],
    environment: {},
    mayLackPassword: true,
  }),
  secrets: new Secrets(),
  client: () => {
    throw new Error("nothing may be sent");
  },
  say: () => undefined,
  newMark: () => "mark",
  now: () => "now",
  journal: () =>
    ({
      heldByState: async () => [],
      glimpse: async () => undefined,
      unclaimedOnce: async () => [],
    }) as unknown as ReturnType<Runtime["journal"]>,
  track: (create) => create(() => undefined),
  noteProgress: () => undefined,
  closeNow: () => undefined,
  abandon: async () => undefined,
};
const provider = createProvider(
  conversionEventDeclaration,
  () => runtime,
  () => undefined,
);

/** What version 0.1.0 left in the state, read off a real export: contracts with the past. */
const oldInputs = {
  __identity: "organization/shop/dev::hats-loyalty-card",
  __provider: 'exports.handler=()=>require("pulumi-advertising/handlers").conversionEvent',
  advertiserId: 1,
  attribution: "ALL",
  clickWindow: 2592000,
  countUnique: false,
  eventName: "Hats: Loyalty card",
  value: 1.5,
  viewWindow: 2592000,
};
const { __identity: _, ...visible } = oldInputs;
const oldOutputs = { ...visible, eventId: 6 };
const unresolved = {
  ...visible,
  unresolved: {
    since: "2026-11-21T09:28:31.735Z",
    what: "it was sent and not answered.",
    urn: "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEvent::hats-loyalty-card",
    trace: { field: "alternative_id", value: "m-1" },
  },
};
const unresolvedId = "unresolved-5c9f0a52-1f7e-4d8b-9a3b-8a1c1b1d2e3f";

describe("state that an earlier version wrote", () => {
  it("is checked to the same inputs, and is no change", async () => {
    const { inputs, failures } = await provider.check(oldInputs, oldInputs);
    const { __provider: _reference, ...expected } = oldInputs;
    expect(failures).toEqual([]);
    expect(inputs).toEqual(expected);
    expect(await provider.diff("6", oldOutputs, inputs)).toMatchObject({ changes: false, replaces: [] });
  });

  it("is read back as it is", async () => {
    expect(await provider.read("6", oldOutputs)).toEqual({ id: "6", props: oldOutputs });
    expect(await provider.read("9007199254740993", {})).toEqual({
      id: "9007199254740993",
      props: { eventId: "9007199254740993" },
    });
  });
});

describe("an unresolved resource", () => {
  it("stops diff, read and update with the same advice, also with changed inputs", async () => {
    for (const call of [
      () => provider.diff(unresolvedId, unresolved, oldInputs),
      () => provider.diff(unresolvedId, unresolved, { ...oldInputs, value: 99 }),
      () => provider.read(unresolvedId, unresolved),
      () => provider.update(unresolvedId, unresolved, oldInputs),
    ]) {
      await expect(call()).rejects.toThrow(
        /it was sent and not answered\..*named "Hats: Loyalty card", or by alternative_id = m-1.*existingId.*pulumi state delete 'urn:/s,
      );
    }
  });

  it("is replaced by the object that existingId names", async () => {
    expect(await provider.diff(unresolvedId, unresolved, { ...oldInputs, existingId: 7 })).toEqual({
      changes: true,
      replaces: ["existingId"],
      deleteBeforeReplace: false,
    });
    expect(await provider.create({ ...oldInputs, __identity: undefined, existingId: 7 })).toMatchObject({
      id: "7",
      outs: { eventId: 7 },
    });
  });
});

describe("diff", () => {
  const diff = async (olds: object, news: object, id = "6") =>
    (await provider.diff(id, olds as never, news as never)).replaces;

  it.each<[string, object, object, string[]]>([
    ["nothing", oldOutputs, oldInputs, []],
    ["a value", oldOutputs, { ...oldInputs, value: 2 }, ["value"]],
    ["two", oldOutputs, { ...oldInputs, value: 2, segmentId: 5 }, ["segmentId", "value"]],
    ["an unknown value", oldOutputs, { ...oldInputs, advertiserId: UNKNOWN }, ["advertiserId"]],
    ["an argument that is taken away", { ...oldOutputs, segmentId: 5 }, oldInputs, ["segmentId"]],
    ["null for absent", { ...oldOutputs, segmentId: null }, oldInputs, []],
    [
      "fields in another order",
      { ...oldOutputs, additionalFields: { a: 1, b: { c: 2, d: 3 } } },
      { ...oldInputs, additionalFields: { b: { d: 3, c: 2 }, a: 1 } },
      [],
    ],
    [
      "another field",
      { ...oldOutputs, additionalFields: { a: 1 } },
      { ...oldInputs, additionalFields: { a: 2 } },
      ["additionalFields"],
    ],
    ["existingId taken away", { ...oldOutputs, existingId: 6 }, oldInputs, []],
    ["existingId of the same object", oldOutputs, { ...oldInputs, existingId: 6 }, []],
    ["existingId of another", oldOutputs, { ...oldInputs, existingId: 7 }, ["existingId"]],
    ["old inputs handed as new", oldInputs, oldInputs, []],
    ["hidden properties", oldOutputs, { ...oldInputs, __identity: "other/p/s::n", __secret: ["value"] }, []],
  ])("%s", async (_name, olds, news, replaces) => {
    expect(await diff(olds, news)).toEqual(replaces);
  });

  it("never throws on a shape that it does not know", async () => {
    for (const odd of [
      {},
      { value: [] },
      { additionalFields: "x", existingId: {} },
      { advertiserId: { deep: [null] } },
    ]) {
      await expect(diff(odd, oldInputs)).resolves.toBeInstanceOf(Array);
      await expect(diff(oldOutputs, odd)).resolves.toBeInstanceOf(Array);
    }
  });
});

it("delete explains itself", async () => {
  await expect(provider.delete("6")).rejects.toThrow(/no known way to delete.*retainOnDelete/s);
});
