/** What one constructor call declares: its objects, which include a set's members, and its problems. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent, conversionEventSet } from "../../provider/src/kinds/event-kind.js";
import { judge } from "../../provider/src/program/batch.js";
import { type Call, type Context, declare, LATER } from "../../provider/src/program/declaration.js";
import { Declared } from "../../provider/src/program/declared.js";
import { Outputs } from "../../provider/src/program/ids.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import { settingsOf } from "../support/settings.js";

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

const context = (operations?: unknown): Context => ({
  settings: settingsOf({ operations: operationsSchema.parse(operations) }),
  outputs: new Outputs(),
});

const EVENT = { eventName: "Buy", advertiserId: 7, value: 1 };
const KEY = "ConversionEvent::organization/project/stack::e";

const call = (args: object | undefined, more: Partial<Call> = {}): Call => ({
  kind: conversionEvent,
  name: "e",
  args: args as Call["args"],
  options: {},
  ...more,
});

const event = (args: object | undefined, more: Partial<Call> = {}) => declare(call(args, more), context());
const set = (args: object, more: Partial<Call> = {}) =>
  declare(call({ advertiserId: 7, ...args }, { kind: conversionEventSet, ...more }), context());

describe("a single resource", () => {
  it("declares one object", () => {
    expect(event({ ...EVENT, advertiserId: "7" })).toMatchObject({
      label: 'ConversionEvent "e"',
      key: KEY,
      isRead: false,
      setOf: undefined,
      problems: [],
      objects: [
        {
          key: KEY,
          name: "e",
          existingIdPath: "existingId",
          platformName: "Buy",
          facts: { advertiserId: 7, value: 1 },
          adopts: undefined,
        },
      ],
    });
  });

  it.each<[string, object, string | typeof LATER | undefined]>([
    ["a number", { existingId: 9 }, "9"],
    ["digits", { existingId: "9" }, "9"],
    ["digits that no number holds", { existingId: "90071992547409931" }, "90071992547409931"],
    ["an Output", { existingId: pulumi.output(9) }, LATER],
    ["a promise", { existingId: Promise.resolve(9) }, LATER],
    ["null, which is nothing", { existingId: null }, undefined],
    ["nothing", {}, undefined],
  ])("may adopt %s", (_, more, adopts) => {
    const [object] = event({ ...EVENT, ...more }).objects ?? [];
    expect(object?.adopts).toBe(adopts);
    expect(object?.sameAs === undefined).toBe(adopts !== undefined);
  });

  it("has only the name and facts that the program knows", () => {
    const unknown = { eventName: pulumi.output("Buy"), advertiserId: pulumi.output(7), value: 1 };
    const [object] = event(unknown).objects ?? [];
    expect(object).toMatchObject({ platformName: undefined, facts: { value: 1 } });
  });

  it("that is only read declares no name, and only its id is checked", () => {
    const read = event(undefined, { options: { id: "x" } });
    expect(read).toMatchObject({
      isRead: true,
      problems: ["id expected an id of the platform, an integer from 0; got x"],
      objects: [{ platformName: undefined, adopts: undefined, sameAs: undefined }],
    });
  });

  it("with problems lists them all, and is compared with no other", () => {
    const wrong = event({ ...EVENT, value: "1", clickWindow: 7 }, { options: { retainOnDelete: false, import: "4" } });
    expect(wrong.problems).toEqual([
      'value expected a finite number; got the string "1"',
      expect.stringMatching(/^import is an option that does not work here/),
      expect.stringMatching(/^retainOnDelete can't be false/),
    ]);
    expect(wrong.objects?.[0]?.sameAs).toBeUndefined();
    expect(wrong.warnings).toEqual([expect.stringMatching(/^ConversionEvent "e": clickWindow is 7 seconds;/)]);
  });

  it("may be deleted if a delete is known, and the briefing says so", () => {
    const operations = { event: { delete: "DELETE rest/event/{id}" } };
    const options = { retainOnDelete: false, replaceOnChanges: ["value"] };
    expect(declare(call(EVENT, { options }), context(operations))).toMatchObject({
      problems: [],
      tells: { deletes: true, replaceOnChanges: ["value"] },
    });
    expect(event(EVENT).tells).toEqual({ deletes: undefined, replaceOnChanges: undefined });
  });

  it("is protected by its own option, or else by that of a parent", () => {
    const parent = { __pulumiType: "mine:index:Shop", __protect: true } as unknown as pulumi.Resource;
    const isProtected = (options: pulumi.CustomResourceOptions) =>
      declare(call(EVENT, { options }), context()).tells.protects;
    expect([{}, { protect: true }, { parent }, { parent, protect: false }].map(isProtected)).toEqual([
      undefined,
      true,
      true,
      undefined,
    ]);
  });

  it("that is to be deleted can't have the option deletedWith, because Pulumi would not delete it", () => {
    const operations = { event: { delete: "DELETE rest/event/{id}" } };
    const deletedWith = {} as pulumi.Resource;
    const problemsWith = (options: object) =>
      declare(call(EVENT, { options: { deletedWith, ...options } }), context(operations)).problems;
    expect(problemsWith({ retainOnDelete: false })).toEqual([
      expect.stringMatching(/^deletedWith can't be given with retainOnDelete: false: .* stays live on the platform/),
    ]);
    expect(problemsWith({ retainOnDelete: true })).toEqual([]);
    expect(problemsWith({})).toEqual([]);
  });
});

describe("a set", () => {
  const events = { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 2, clickWindow: 60, existingId: 5 } };

  it("declares its members; their own arguments override the set's defaults, and those the API's", () => {
    const { setOf, objects, key } = set({ events, defaults: { clickWindow: 3600, additionalFields: { x: 1 } } });
    expect(setOf).toBe(conversionEvent);
    expect(key).toBe("ConversionEventSet::organization/project/stack::e");
    expect(objects).toMatchObject([
      {
        key: `${key}["a"]`,
        name: 'e["a"]',
        existingIdPath: 'events["a"].existingId',
        platformName: "A",
        adopts: undefined,
      },
      { key: `${key}["b"]`, name: 'e["b"]', platformName: "B", facts: { advertiserId: 7, value: 2 }, adopts: "5" },
    ]);
    const single = (more: object) => event({ ...EVENT, eventName: "A", ...more }).objects?.[0]?.sameAs;
    expect(objects?.[0]?.sameAs).toBe(single({ clickWindow: 3600, additionalFields: { x: 1 } }));
    expect(objects?.[0]?.sameAs).not.toBe(single({}));
  });

  it.each([
    ["an Output", { events: pulumi.output(events) }],
    ["a promise", { events: Promise.resolve(events) }],
  ])("has no known members if they are %s", (_, args) => {
    expect(set(args).objects).toBeUndefined();
  });

  it("may adopt any object in an entry that is an Output", () => {
    const { objects } = set({ events: { a: pulumi.output(events.a), b: events.b } });
    expect(objects).toMatchObject([
      { platformName: undefined, adopts: LATER, sameAs: undefined },
      { platformName: "B", adopts: "5" },
    ]);
  });
});

describe("the warning about resources with the same arguments", () => {
  const warningsOf = (calls: (context: Context) => readonly Call[]) => {
    const known = context();
    const batch = calls(known).map((each) => declare(each, known));
    const declared = new Declared();
    for (const each of batch) declared.add(each);
    return judge(batch, declared, { creates: [], objects: new Map() }, true).warnings;
  };
  const same = (name: string, advertiserId: unknown) => call({ ...EVENT, advertiserId }, { name });

  it("is absent for the same twenty events at three advertisers", () => {
    const advertisers = [1, 2, 3].map((id) => pulumi.output(id));
    const names = Array.from({ length: 20 }, (_, index) => `e${index}`);
    expect(
      warningsOf(({ outputs }) => {
        for (const id of advertisers) outputs.noteOwn(id);
        return advertisers.flatMap((advertiserId, index) =>
          names.map((name) => call({ ...EVENT, eventName: name, advertiserId }, { name: `${index}/${name}` })),
        );
      }),
    ).toEqual([]);
  });

  it("comes for two events of one advertiser, in whichever form it is given", () => {
    const id = pulumi.output(1);
    const warning = [
      'ConversionEvent "a" and "b" have the same arguments: that makes 2 live objects; if you meant one, remove the others',
    ];
    expect(warningsOf(() => [same("a", 7), same("b", "7")])).toEqual(warning);
    expect(warningsOf(() => [same("a", id), same("b", id)])).toEqual(warning);
    expect(warningsOf(() => [same("a", id), same("b", pulumi.output(1))])).toEqual([]);
  });

  it("is absent for an advertiser and an event, and if one of the two adopts", () => {
    expect(
      warningsOf(() => [
        call({ advertiserName: "A" }, { kind: advertiser }),
        same("a", 7),
        call({ ...EVENT, existingId: 5 }, { name: "b" }),
      ]),
    ).toEqual([]);
  });
});
