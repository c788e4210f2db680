/** A saved state as an index, and the creates that its pending operations have sent, or were about to send. */
import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOfBody } from "../../provider/src/kinds/kind.js";
import { type Resource, readExport } from "../../provider/src/record/export.js";
import { savedStateOf } from "../../provider/src/record/saved-state.js";
import { markOf } from "../../provider/src/state/stored.js";
import {
  CIPHERTEXT,
  EVENT,
  encrypted,
  senderOf,
  sentInputs,
  sentSetInputs,
  storedAdvertiser,
  storedEvent,
  storedSet,
  UNRESOLVED_OUTPUT,
  urnOf,
} from "../support/stored.js";

const TIME = "2026-03-02T10:00:00.000Z";
const RUN = "AbCdEfGh-_12";
type Operation = { type: string; resource: Resource };

const stateOf = (resources: Resource[], pending_operations: Operation[] = []) => {
  const deployment = { manifest: { time: TIME }, resources, pending_operations };
  return savedStateOf(readExport(JSON.stringify({ version: 3, deployment })));
};
const sentIn = (...given: Parameters<typeof stateOf>) => stateOf(...given).sent;

const operation = (type: string, resource: Resource): Operation => ({ type, resource });
const creating = (name: string, inputs: object = {}, rest: object = {}) =>
  operation("creating", {
    ...storedEvent(name, "", {}, rest),
    inputs: sentInputs(name, RUN, inputs),
  });

const entry = (eventName: string) => ({ eventName, value: 1 });
const events = { a: entry("A"), b: entry("B") };
const { value: _, ...defaults } = EVENT;
const ofSet = (type: string, given: object, inputs: object = {}) =>
  operation(type, {
    ...storedSet("funnel", {}),
    inputs: sentSetInputs(given, RUN, inputs),
  });
const FUNNEL = storedSet("funnel", { events, eventIds: { a: 1, b: 2 } });
const SET_KEY = "ConversionEventSet::funnel";

describe("the index", () => {
  const buy = storedEvent(
    "buy",
    7,
    {},
    { inputs: { __sender: senderOf("", { run: "old" }) } },
  );
  const state = stateOf(
    [
      { ...buy, id: "6", delete: true },
      buy,
      storedEvent("twin", 7),
      storedAdvertiser("acme", 7),
      FUNNEL,
      storedEvent("open", "unresolved-x", UNRESOLVED_OUTPUT),
      storedEvent("read", 9, {}, { external: true }),
      storedEvent("answered", 8, { __resolved: { m: "ConversionEvent 8", n: "" } }),
    ],
    [
      creating("new", { __sender: senderOf("", { run: RUN, field: "alternative_id" }) }),
      creating("x", { __sender: encrypted }),
    ],
  );

  it("has the current objects by key", () => {
    expect([...state.byKey].map(([key, { id }]) => `${key} ${id}`)).toEqual([
      "Advertiser::acme 7",
      "ConversionEvent::answered 8",
      "ConversionEvent::buy 7",
      `${SET_KEY}["a"] 1`,
      `${SET_KEY}["b"] 2`,
      "ConversionEvent::open undefined",
      "ConversionEvent::twin 7",
    ]);
    expect(state.objects).toEqual([...state.byKey.values()]);
    expect(state.time).toBe(TIME);
  });

  it.each<["Advertiser" | "ConversionEvent", string, string[]]>([
    ["ConversionEvent", "7", ["buy", "twin"]],
    ["ConversionEvent", "6", []],
    ["Advertiser", "7", ["acme"]],
    ["ConversionEvent", "2", ["funnel/b"]],
    ["ConversionEvent", "9", []],
    ["ConversionEvent", "", ["open"]],
  ])("%s %j is held by %j", (kind, id, holders) => {
    expect(state.holdersOf(kind, id).map(({ ref }) => ref.shownName)).toEqual(holders);
  });

  it("has the objects of an account, also those that await their removal", () => {
    const has = (id: string, account?: string) =>
      state.hasObject("ConversionEvent", id, account);
    expect([has("6"), has("7"), has("5"), has("9")]).toEqual([true, true, false, false]);
    const there = stateOf([
      storedEvent(
        "buy",
        7,
        {},
        { inputs: { __sender: senderOf("", { account: "a x@y" }) } },
      ),
    ]);
    const accounts = ["a x@y", "b x@y", undefined];
    expect(
      accounts.map((account) => there.hasObject("ConversionEvent", "7", account)),
    ).toEqual([true, false, true]);
  });

  it("has the creates that it lists, as pending operations and as unresolved", () => {
    const mark = markOf(RUN, "ConversionEvent::new");
    expect([state.listed(mark)?.mark, state.listed("m")]).toEqual([mark, undefined]);
    expect([...state.unresolved.keys()]).toEqual([UNRESOLVED_OUTPUT.unresolved.mark]);
  });

  it("is empty with nothing but what a run saves before any resource", () => {
    const urn = "urn:pulumi:dev::shop::";
    const types = ["pulumi:pulumi:Stack", "pulumi:providers:advertising"];
    const first = types.map((type) => ({ urn: `${urn}${type}::first`, type }));
    const other = {
      urn: `${urn}random:index:RandomId::other`,
      type: "random:index:RandomId",
    };
    expect(stateOf(first).isEmpty).toBe(true);
    expect(stateOf([...first, other]).isEmpty).toBe(false);
  });

  it("is empty without a resource", () => {
    expect([stateOf([]).isEmpty, stateOf([], [creating("new")]).isEmpty]).toEqual([
      true,
      true,
    ]);
    expect(state.isEmpty).toBe(false);
  });

  it("has runs and answers", () => {
    expect([...state.runs]).toEqual(["old", RUN]);
    expect([...state.resolved]).toEqual([
      ["m", "ConversionEvent 8"],
      ["n", ""],
    ]);
  });
});

describe("what interrupted runs may have done to objects", () => {
  const DELETES = { deletionPolicy: "delete" };
  const UPDATES = { __sender: senderOf("", { run: RUN, canUpdate: true }) };
  const buy = (more: object = {}) => storedEvent("buy", 3, more);
  const funnel = (more: object = {}) => ({
    ...FUNNEL,
    outputs: { ...FUNNEL.outputs, ...more },
  });
  const updated = (more: Record<string, unknown>) => {
    const found = ofSet("updating", { a: { ...entry("A"), value: 7 } });
    return {
      ...found,
      resource: { ...found.resource, inputs: { ...found.resource.inputs, ...more } },
    };
  };

  it.each<[string, string[], Resource[], Operation[]]>([
    ["nothing", [], [buy()], [creating("buy")]],
    [
      "an update of a single one, whatever it sent",
      ["ConversionEvent 3 update"],
      [buy()],
      [{ ...creating("buy"), type: "updating" }],
    ],
    [
      "a delete",
      ["ConversionEvent 3 delete"],
      [buy()],
      [{ type: "deleting", resource: buy(DELETES) }],
    ],
    [
      "a delete that keeps the object",
      [],
      [buy()],
      [{ type: "deleting", resource: buy() }],
    ],
    [
      "none to an event that isn't in the state yet",
      [],
      [funnel(DELETES)],
      [ofSet("updating", { ...events, c: entry("C") }, UPDATES)],
    ],
    [
      "an update of a set's events",
      ["ConversionEvent 1 update"],
      [funnel()],
      [updated(UPDATES)],
    ],
    [
      "their replacement, and removed ones",
      ["ConversionEvent 1 delete", "ConversionEvent 2 delete"],
      [funnel(DELETES)],
      [updated({})],
    ],
    [
      "their removal, where updates are known",
      ["ConversionEvent 1 update", "ConversionEvent 2 delete"],
      [funnel(DELETES)],
      [updated(UPDATES)],
    ],
  ])("%s", (_, expected, resources, operations) => {
    const { interrupted } = stateOf(resources, operations);
    const found = Array.from(interrupted, ([object, { sent }]) => `${object} ${sent}`);
    expect(found).toEqual(expected);
  });
});

describe("what was sent", () => {
  const BUY = storedEvent("buy", 3);
  const changed = { ...events, a: { ...entry("A"), value: 7 }, c: entry("C") };

  it.each<[string, string[], Resource[], Operation[]]>([
    ["nothing", [], [BUY, FUNNEL], []],
    ["a single one", ["buy"], [], [creating("buy")]],
    ["one that replaces another", ["buy for 3"], [BUY], [creating("buy", { value: 2 })]],
    ["one whose replacement was forced", ["buy for 3"], [BUY], [creating("buy")]],
    [
      "one that replaces what has another URN in the state",
      ["buy for 3"],
      [storedEvent("old", 3)],
      [creating("buy", {}, { aliases: [urnOf("ConversionEvent", "old")] })],
    ],
    [
      "one whose object the program has only read since",
      ["buy"],
      [storedEvent("buy", 3, {}, { external: true })],
      [creating("buy")],
    ],
    [
      "one whose former object awaits its removal",
      ["buy"],
      [{ ...BUY, delete: true }],
      [creating("buy")],
    ],
    [
      "one whose former create is unresolved",
      ["buy"],
      [storedEvent("buy", "unresolved-x", UNRESOLVED_OUTPUT)],
      [creating("buy")],
    ],
    ["an adoption is none", [], [], [creating("buy", { existingId: 5 })]],
    [
      "other operations are none",
      [],
      [BUY],
      ["updating", "deleting", "reading", "importing"].map((type) => ({
        ...creating("buy", { value: 2 }),
        type,
      })),
    ],
    [
      "another package's resource is none",
      [],
      [],
      [operation("creating", { urn: "urn", type: "aws:s3/bucket:Bucket" })],
    ],
    ["a new set", ["funnel/a", "funnel/b"], [], [ofSet("creating", events)]],
    [
      "a set whose interrupted creation another run has ended, or that `--replace` creates again",
      ["funnel/a", "funnel/b", "funnel/c"],
      [FUNNEL],
      [ofSet("creating", changed)],
    ],
    [
      "a set whose former name another set has by now",
      ["new/a", "new/b"],
      [FUNNEL],
      [
        operation("creating", {
          ...ofSet("creating", events).resource,
          urn: urnOf("ConversionEventSet", "new"),
          aliases: [FUNNEL.urn],
        }),
      ],
    ],
    ["a set as it was", [], [FUNNEL], [ofSet("updating", events)]],
    [
      "a set with new and changed events",
      ["funnel/a for 1", "funnel/c"],
      [FUNNEL],
      [ofSet("updating", changed)],
    ],
    ["a set with fewer events", [], [FUNNEL], [ofSet("updating", { a: entry("A") })]],
    [
      "a set with a renamed event",
      [],
      [FUNNEL],
      [ofSet("updating", { z: { ...entry("A"), formerKey: "a" }, b: entry("B") })],
    ],
    [
      "an unresolved event of a set is in the state",
      ["funnel/b"],
      [storedSet("funnel", { unresolved: { a: UNRESOLVED_OUTPUT.unresolved } })],
      [ofSet("updating", events)],
    ],
    [
      "an adopted event of a set is none",
      ["funnel/b"],
      [],
      [ofSet("creating", { ...events, a: { ...entry("A"), existingId: 4 } })],
    ],
    ["a set that is deleted", [], [FUNNEL], [ofSet("deleting", changed)]],
    ["a set with secret events", ["funnel"], [], [ofSet("creating", encrypted)]],
    ["also one that is changed", ["funnel"], [FUNNEL], [ofSet("updating", encrypted)]],
    [
      "of several runs, the earliest first",
      ["buy", "funnel/a", "buy"],
      [],
      [creating("buy"), ofSet("creating", { a: entry("A") }), creating("buy")],
    ],
  ])("%s", (_, expected, resources, operations) => {
    const sent = sentIn(resources, operations).map(({ key, replaces }) => {
      const short = key.replace(/^.*?::/, "").replace(/\["(.*)"\]/, "/$1");
      return replaces === undefined ? short : `${short} for ${replaces}`;
    });
    expect(sent).toEqual(expected);
  });

  it("has all that the operation says", () => {
    const inputs = { eventName: "buy", advertiserId: 1, ...EVENT };
    const key = "ConversionEvent::buy";
    expect(
      sentIn(
        [],
        [
          creating("buy", {
            __sender: senderOf("", { run: RUN, field: "alternative_id", account: "a x@y" }),
          }),
        ],
      ),
    ).toEqual([
      {
        at: "",
        key,
        run: RUN,
        urn: urnOf("ConversionEvent", "buy"),
        account: "a x@y",
        field: "alternative_id",
        mark: markOf(RUN, key),
        replaces: undefined,
        body: fingerprintOfBody(conversionEvent, inputs),
        name: "buy",
        args: { advertiserId: 1, value: 1 },
      },
    ]);
  });

  it.each<[string, Operation, object[]]>([
    [
      "a set's mark has the member's key",
      ofSet("creating", { a: entry("A") }),
      [
        {
          mark: markOf(RUN, `${SET_KEY}["a"]`),
          urn: urnOf("ConversionEventSet", "funnel"),
        },
      ],
    ],
    ["a mark that was kept", creating("buy", { __mark: { "": "m" } }), [{ mark: "m" }]],
    [
      "a set's marks that were kept, and no inherited property",
      ofSet("creating", { a: entry("A"), toString: entry("B") }, { __mark: { a: "m" } }),
      [{ mark: "m" }, { mark: markOf(RUN, `${SET_KEY}["toString"]`) }],
    ],
    [
      "without a run",
      creating("buy", { __sender: undefined }),
      [{ run: "", field: undefined, mark: markOf("", "ConversionEvent::buy") }],
    ],
    [
      "a secret argument",
      creating("buy", { value: encrypted }),
      [{ body: "", name: "buy", args: { advertiserId: 1 } }],
    ],
    [
      "a secret name",
      creating("buy", { eventName: encrypted }),
      [{ body: "", name: undefined }],
    ],
    [
      "a secret part of an argument",
      creating("buy", { additionalFields: { a: encrypted } }),
      [{ body: "", name: "buy" }],
    ],
    [
      "a secret event of a set, whose arguments the defaults may not tell",
      ofSet("creating", { a: encrypted }, { defaults: { ...defaults, value: 5 } }),
      [{ body: "", name: undefined, args: {} }],
    ],
    [
      "secret defaults of a set",
      ofSet("creating", { a: entry("A") }, { defaults: encrypted }),
      [{ body: "", name: "A", args: { advertiserId: 1, value: 1 } }],
    ],
    [
      "secret events of a set",
      ofSet("creating", encrypted),
      [{ key: SET_KEY, body: "", name: undefined, args: {}, mark: markOf(RUN, SET_KEY) }],
    ],
  ])("%s", (_, pending, expected) => {
    const sent = sentIn([], [pending]);
    expect(sent).toHaveLength(expected.length);
    expect(sent).toMatchObject(expected);
    expect(JSON.stringify(sent)).not.toContain(CIPHERTEXT);
  });
});

it("reads a big stack: 10,000 events of a set, and 2,000 single ones, each in flight too", () => {
  const many = (amount: number) =>
    Object.fromEntries(Array.from({ length: amount }, (_, n) => [`e${n}`, entry(`E${n}`)]));
  const keys = Object.keys(many(10_000));
  const eventIds = Object.fromEntries(keys.map((key, n) => [key, n + 10_000]));
  const singles = keys.slice(0, 2000);
  const resources = singles.map((name, n) => storedEvent(name, n + 1));
  const stack = readExport(
    JSON.stringify({
      deployment: {
        resources: [...resources, storedSet("funnel", { events: many(5000), eventIds })],
        pending_operations: [
          ...singles.map((name) => creating(name)),
          ofSet("updating", many(20_000)),
        ],
      },
    }),
  );
  const state = savedStateOf(stack);
  expect(state.sent).toHaveLength(2000 + 15_000);
  expect(state.objects).toHaveLength(12_000);
});

describe("what this engine has read before Pulumi has saved", () => {
  const more = { ...events, c: entry("C") };
  const changed = { ...more, a: { eventName: "A", value: 2 } };
  const updating = ofSet("updating", changed, {
    __sender: senderOf("", { run: RUN, canUpdate: true }),
  });
  const full = stateOf([FUNNEL], [updating]);

  it("counts as if the record still had it, once", () => {
    expect(full.changes.creates.map(({ key }) => key)).toEqual([`${SET_KEY}["c"]`]);
    const exported = (operations: Operation[]) => {
      const deployment = { resources: [FUNNEL], pending_operations: operations };
      return readExport(JSON.stringify({ version: 3, deployment }));
    };
    const isThisRun = () => false;
    // A process hands it over as text.
    const before = JSON.parse(JSON.stringify(full.changes));
    for (const operations of [[], [updating]]) {
      const { sent, interrupted, runs } = savedStateOf(exported(operations), {
        ...{ isThisRun, before },
      });
      expect(sent).toMatchObject(before.creates);
      expect([sent.length, interrupted]).toEqual([1, full.interrupted]);
      expect(runs.has(RUN)).toBe(true);
    }
    const own = savedStateOf(exported([updating]), { isThisRun: (run) => run === RUN });
    expect(own.changes).toEqual({ creates: [], objects: [] });
  });
});
