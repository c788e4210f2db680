import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { createProvider } from "../../provider/src/provider/dynamic.js";
import { createRuntime, type Runtime } from "../../provider/src/provider/services.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";
import { Inventory } from "../../provider/src/store/inventory.js";

const settings: Record<string, string> = { baseUrl: "https://x.example", email: "a@b.c" };
const logged: string[] = [];
const said: string[] = [];

/** A runtime that can't send, because nothing tested here may. */
const runtime: Runtime = {
  ...createRuntime(
    (key) => settings[key],
    {},
    async (severity, urn, message) => void logged.push(`${severity} ${urn.split("::").at(-1)}: ${message}`),
  ),
  client: () => {
    throw new Error("nothing may be sent");
  },
  say: (message) => void said.push(message),
  // All cases share one run, which would only count what comes after the first ones.
  warnEach: (_sort, urn, message) => void logged.push(`warn ${urn.split("::").at(-1)}: ${message}`),
  journal: () =>
    ({
      reconcile: async () => [],
      notSettledOf: async () => [],
      notSettled: async () => [],
      settle: async () => [],
    }) as unknown as ReturnType<Runtime["journal"]>,
  inventory: () => new Inventory("/nowhere"),
};
const provider = createProvider(
  conversionEvent,
  () => runtime,
  () => undefined,
);

/** From a real export of what version 0.1.0 left in the state: contracts with the past. */
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
  it("keeps its inputs in a check, and is no change", async () => {
    const { inputs, failures } = await provider.check(oldInputs, oldInputs);
    const { __provider: _reference, ...expected } = oldInputs;
    expect(failures).toEqual([]);
    // The account is added once; new inputs enter the state without showing as a change.
    expect(inputs).toEqual({ ...expected, __at: "x.example a@b.c" });
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
        /named "Hats: Loyalty card" \(advertiserId 1, value 1.5\), sent at 2026.*, alternative_id = m-1\..*pending --created 'urn:.*pending --not-created 'urn:.*existingId.*it was sent and not answered\..*\[ADVERTISING_OUTCOME_UNKNOWN\]$/s,
      );
    }
  });

  it("is replaced by the object that existingId names", async () => {
    expect(await provider.diff(unresolvedId, unresolved, { ...oldInputs, existingId: 7 })).toEqual({
      changes: true,
      replaces: ["existingId"],
      deleteBeforeReplace: false,
    });
    expect(await provider.create({ ...oldInputs, existingId: 7 })).toMatchObject({
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
    ["a removed argument", { ...oldOutputs, segmentId: 5 }, oldInputs, ["segmentId"]],
    ["null for absent", { ...oldOutputs, segmentId: null }, oldInputs, []],
    [
      "fields in another order",
      { ...oldOutputs, additionalFields: { a: 1, b: { c: 2, d: 3 } } },
      { ...oldInputs, additionalFields: { b: { d: 3, c: 2 }, a: 1 } },
      [],
    ],
    [
      "a changed additional field",
      { ...oldOutputs, additionalFields: { a: 1 } },
      { ...oldInputs, additionalFields: { a: 2 } },
      ["additionalFields"],
    ],
    ["existingId removed", { ...oldOutputs, existingId: 6 }, oldInputs, []],
    ["existingId of the same object", oldOutputs, { ...oldInputs, existingId: 6 }, []],
    ["existingId of another", oldOutputs, { ...oldInputs, existingId: 7 }, ["existingId"]],
    ["old inputs passed as new", oldInputs, oldInputs, []],
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
      await expect(diff(oldOutputs, { __identity: oldInputs.__identity, ...odd })).resolves.toBeInstanceOf(Array);
    }
  });
});

describe("the account that a resource was created at", () => {
  const here = "x.example a@b.c";
  const inputs = { ...oldInputs, __identity: "shop/dev::hats-loyalty-card" };

  it("is recorded in a create's outputs, not in its inputs", async () => {
    const { inputs: checked } = await provider.check({}, { ...inputs, existingId: 7 });
    expect(checked).not.toHaveProperty("__at");
    expect((await provider.create(checked as never)).outs).toMatchObject({ __at: here });
    expect(await provider.check(inputs, inputs)).toMatchObject({ inputs: { __identity: inputs.__identity } });
    expect((await provider.check(inputs, inputs)).inputs).not.toHaveProperty("__at");
  });

  it("is compared in check, diff and read, and a different one is an error with both accounts and what to do", async () => {
    const there = "127.0.0.1:8787 a@b.c";
    for (const call of [
      () => provider.check({ ...oldInputs, __at: there }, oldInputs),
      () => provider.diff("60", { ...oldOutputs, __at: there }, inputs),
      () => provider.read("60", { ...oldOutputs, __at: there }),
    ]) {
      await expect(call()).rejects.toThrow(
        /127\.0\.0\.1:8787 as a@b\.c.*x\.example as a@b\.c.*Nothing was sent.*set advertising:baseUrl.*stack init.*relocate '127\.0\.0\.1:8787 a@b\.c'.*\[ADVERTISING_ACCOUNT_MISMATCH\]$/s,
      );
    }
    expect(await provider.diff("60", { ...oldOutputs, __at: here }, inputs)).toMatchObject({ changes: false });
    expect((await provider.check({ ...oldInputs, __at: here }, oldInputs)).inputs).toMatchObject({ __at: here });
  });
});

it("a replacement and an adoption warn about what happens to the old object", async () => {
  logged.length = 0;
  await provider.diff("6", oldOutputs, { ...oldInputs, value: 2 });
  await provider.diff("6", oldOutputs, { ...oldInputs, existingId: 9 });
  expect(logged).toEqual([
    'warn hats-loyalty-card: ConversionEvent "hats-loyalty-card": The replacement creates another live object. 6 stays live on ' +
      "the platform, and tags that were placed for it keep firing; deactivate it there by hand.",
    'warn hats-loyalty-card: ConversionEvent "hats-loyalty-card": 9 is adopted in its place. 6 stays live on the platform, and ' +
      "tags that were placed for it keep firing; deactivate it there by hand.",
  ]);
  logged.length = 0;
  await provider.diff("6", oldOutputs, { ...oldInputs, advertiserId: UNKNOWN });
  expect(logged).toEqual([
    'warn hats-loyalty-card: ConversionEvent "hats-loyalty-card": It is replaced if values that are not known yet turn out to differ: ' +
      "that creates another live object, and 6 stays live on the platform, and tags that were placed for it keep firing; deactivate it there by hand.",
  ]);
  logged.length = 0;
  await provider.diff("6", { ...oldOutputs, existingId: 6 }, { ...oldInputs, existingId: 9 });
  expect(logged).toEqual([
    'warn hats-loyalty-card: ConversionEvent "hats-loyalty-card": 9 is adopted in its place. 6 was adopted without being read: it ' +
      "may be live on the platform; if nothing else uses it, deactivate it there by hand.",
  ]);
  logged.length = 0;
  await provider.check({}, { ...oldInputs, existingId: 9 });
  expect(logged).toEqual(["info hats-loyalty-card: adopts 9; nothing is sent"]);
});

it("arguments that arrive undefined through an Output are all reported at once, each with the code", async () => {
  const { failures } = await provider.check({}, { ...oldInputs, advertiserId: undefined, value: "x" });
  expect(failures).toEqual([
    {
      property: "",
      reason: expect.stringMatching(
        /^advertiserId is required: is the output's name right\? expected .*\[ADVERTISING_ARGUMENTS\]$/,
      ),
    },
    {
      property: "",
      reason: expect.stringMatching(/^value expected a finite number; got .*\[ADVERTISING_ARGUMENTS\]$/),
    },
  ]);
});

it("delete says what stays live, and does not fail, because a replaced object would then stay in the state for ever", async () => {
  said.length = 0;
  await provider.delete("66", oldOutputs);
  expect(said).toEqual([
    expect.stringMatching(/no known way to delete, so ConversionEvent 66 left the state and .*keep firing; deactivate/),
  ]);
  // A delete does not know whether the name is secret.
  expect(said[0]).not.toContain("Loyalty card");
  await provider.delete(unresolvedId, unresolved);
  expect(said).toHaveLength(1);
});
