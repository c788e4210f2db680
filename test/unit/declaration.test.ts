/** What one constructor call declares: its objects, which include a set's members, and its problems. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import {
  conversionEvent,
  conversionEventSet,
} from "../../provider/src/kinds/event-kind.js";
import {
  type Call,
  declare,
  withDeletionPolicy,
} from "../../provider/src/program/declaration.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import { UNKNOWN } from "../../provider/src/state/index.js";
import { settingsOf } from "../support/settings.js";

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

const deleting = settingsOf({
  operations: operationsSchema.parse({ event: { delete: "DELETE rest/event/{id}" } }),
});

const EVENT = { eventName: "Buy", advertiserId: 7, value: 1 };
const KEY = "ConversionEvent::e";

const call = (args: object, more: Partial<Call> = {}): Call => ({
  kind: conversionEvent,
  name: "e",
  args: args as Call["args"],
  options: {},
  ...more,
});

const declared = (of: Call, settings = settingsOf()) => {
  const { resource, ...more } = declare(of, settings);
  return { ...more, ...resource };
};
const event = (args: object, more: Partial<Call> = {}) => declared(call(args, more));
const set = (args: object, more: Partial<Call> = {}) =>
  declared(call({ advertiserId: 7, ...args }, { kind: conversionEventSet, ...more }));

describe("a single resource", () => {
  it("declares one object", () => {
    expect(event({ ...EVENT, advertiserId: "7" })).toMatchObject({
      title: 'ConversionEvent "e"',
      lines: [],
      key: KEY,
      kind: conversionEvent,
      objects: [{ key: KEY, adopts: undefined }],
    });
  });

  it.each<[string, object, string | undefined]>([
    ["a number", { existingId: 9 }, "9"],
    [
      "digits that no number holds",
      { existingId: "90071992547409931" },
      "90071992547409931",
    ],
    ["an Output", { existingId: pulumi.output(9) }, UNKNOWN],
    ["a promise", { existingId: Promise.resolve(9) }, UNKNOWN],
    ["nothing", {}, undefined],
  ])("may adopt %s", (_, more, adopts) => {
    const [object] = event({ ...EVENT, ...more }).objects ?? [];
    expect(object?.adopts).toBe(adopts);
  });

  it.each<[string, unknown, string[]]>([
    [
      "a name",
      [{ name: "old" }, { name: "older", parent: undefined }, { name: "e" }],
      ["old", "older"],
    ],
    [
      "a URN",
      ["urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEvent::old::x"],
      ["old::x"],
    ],
    [
      "a parent's URN",
      [
        { parent: "urn:pulumi:dev::shop::my:Shop::shop" },
        { parentUrn: "urn:pulumi:dev::shop::my:Top$my:Shop::shop", name: "old" },
        { parentUrn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev", name: "top" },
      ],
      ["my:Shop$::e", "my:Top$my:Shop$::old", "top"],
    ],
    [
      "what the program does not know",
      [
        pulumi.output("urn"),
        { name: pulumi.output("old") },
        { parentUrn: pulumi.output("urn") },
      ],
      [],
    ],
  ])("has the former keys that aliases say: %s", (_, aliases, names) => {
    const { formerKeys, objects } = event(EVENT, {
      options: { aliases } as pulumi.CustomResourceOptions,
    });
    expect(formerKeys).toEqual(names.map((name) => `ConversionEvent::${name}`));
    expect(objects).toMatchObject([{ formerKeys }]);
  });

  it("with problems lists them all", () => {
    const wrong = event(
      { ...EVENT, value: "1" },
      { options: { retainOnDelete: false, import: "4" } },
    );
    expect(wrong.lines).toEqual([
      'value expected a finite number; got the string "1"',
      expect.stringMatching(/^import isn't supported/),
      expect.stringMatching(/^retainOnDelete must be true, or false beside/),
    ]);
  });

  it("may be deleted only if its deletionPolicy says so", () => {
    const options = { retainOnDelete: false };
    const asks = { ...EVENT, deletionPolicy: "delete" };
    for (const with_ of [{}, { options }])
      expect(declared(call(asks, with_), deleting)).toMatchObject({
        ...{ lines: [], warnings: [] },
      });
    const named =
      /^retainOnDelete must be true, or false beside deletionPolicy:.*; got false\./;
    for (const args of [EVENT, { ...EVENT, deletionPolicy: "retain" }])
      expect(declared(call(args, { options }), deleting)).toMatchObject({
        ...{ lines: [expect.stringMatching(named)] },
      });
    // An untyped configuration's text.
    const text = { options: { retainOnDelete: "false" } as never };
    for (const args of [EVENT, asks])
      expect(declared(call(args, text), deleting).lines).toEqual([
        expect.stringMatching(/^retainOnDelete must be true, .*; got the string "false"\./),
      ]);
    expect(event(asks)).toMatchObject({
      ...{
        lines: [],
        warnings: [expect.stringMatching(/^deletionPolicy "delete" has no/)],
      },
    });
  });

  it.each<[string | undefined, object, true | undefined, string | undefined]>([
    [undefined, {}, true, undefined],
    ["retain", {}, true, "retain"],
    ["delete", {}, undefined, "delete"],
    ["delete", { retainOnDelete: false }, undefined, "delete"],
    ["delete", { retainOnDelete: true }, true, undefined],
    ["delete", { retainOnDelete: undefined }, true, undefined],
    ["delete", { ignoreChanges: ["deletionPolicy"] }, true, undefined],
    ["retain", { ignoreChanges: ["value", '["deletionPolicy"]'] }, true, undefined],
    ["delete", { ignoreChanges: ["value"] }, undefined, "delete"],
  ])("deletionPolicy %s with %j: retainOnDelete %s", (policy, options, retains, stored) => {
    const { props, opts } = withDeletionPolicy({ deletionPolicy: policy }, options);
    expect([opts.retainOnDelete, props.deletionPolicy]).toEqual([retains, stored]);
    // The engine would give the provider the state's argument, which may be another than the option follows from.
    expect(String(opts.ignoreChanges)).not.toContain("deletionPolicy");
    const { warnings } = declared(
      call({ ...EVENT, deletionPolicy: policy }, { options }),
      deleting,
    );
    expect(warnings).toEqual(
      policy === "delete" && stored === undefined
        ? [
            expect.stringMatching(
              /^deletionPolicy "delete" has no effect beside the option /,
            ),
          ]
        : [],
    );
  });

  it("has a deletionPolicy that the program knows, and no deletedWith where a delete is known", () => {
    expect(event({ ...EVENT, deletionPolicy: pulumi.output("delete") }).lines).toEqual([
      'deletionPolicy expected "retain" or "delete"; got a value that isn\'t known here; give a plain value',
    ]);
    const options = { deletedWith: {} as pulumi.Resource };
    expect(declared(call(EVENT, { options }), deleting).lines).toEqual([
      expect.stringMatching(/^deletedWith isn't supported with a delete/),
    ]);
    expect(event(EVENT, { options }).lines).toEqual([]);
  });
});

describe("a set", () => {
  const events = {
    a: { eventName: "A", value: 1 },
    b: { eventName: "B", value: 2, clickWindow: 60, existingId: 5 },
  };

  it("declares its members", () => {
    const { kind, objects, key } = set({ events });
    expect(kind).toBe(conversionEvent);
    expect(key).toBe("ConversionEventSet::e");
    expect(objects).toMatchObject([
      { key: `${key}["a"]`, adopts: undefined },
      { key: `${key}["b"]`, adopts: "5" },
    ]);
  });

  it("declares the former keys too", () => {
    const { objects, key } = set({
      events: { c: { ...events.a, formerKey: "a" }, b: events.b },
    });
    expect(objects).toMatchObject([{ formerKeys: [`${key}["a"]`] }, { formerKeys: [] }]);
  });

  it.each([
    ["an Output", { events: pulumi.output(events) }],
    ["a promise", { events: Promise.resolve(events) }],
  ])("may adopt any object if its members are %s", (_, args) => {
    const { key, objects } = set(args);
    expect(objects).toMatchObject([{ key, adopts: UNKNOWN }]);
  });

  it("may adopt any object in an entry that is an Output", () => {
    const { objects } = set({ events: { a: pulumi.output(events.a), b: events.b } });
    expect(objects).toMatchObject([{ adopts: UNKNOWN }, { adopts: "5" }]);
  });
});
