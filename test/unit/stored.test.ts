/** The form of the state, and of what the program process tells the provider's: contracts with the next version. */
import { expect, it } from "vitest";
import { conversionEventSet } from "../../provider/src/kinds/index.js";
import {
  completeArguments,
  leftLiveIn,
  programContextIn,
  readDeclaredSet,
  readStoredSet,
  type StoredSet,
  secretArgumentsIn,
  UNKNOWN,
  withFormerKeysApplied,
  writeStored,
} from "../../provider/src/state/index.js";
import { senderOf } from "../support/stored.js";

const STATE = {
  advertiserId: 7,
  defaults: { clickWindow: 604_800, additionalFields: { team: "x" } },
  events: {
    landing: { eventName: "Landing page", value: 0, eventTypeId: 1 },
    purchase: { eventName: "Purchase", value: 25, existingId: 4711 },
    constructor: { eventName: "Lead", value: 3 },
  },
  eventIds: { landing: 1, purchase: 4711, constructor: "9007199254740993" },
  sentAs: { constructor: { body: "fd8ad8ac2bd60f2e38b2d9cb4f2d6a9b", owner: "7" } },
  unresolved: {
    constructor: {
      at: "2026-11-21T20:00:00.000Z",
      mark: "5b1c6d1e-0000-4000-8000-000000000000",
      body: "fd8ad8ac2bd60f2e38b2d9cb4f2d6a9c",
      what: "It was sent.",
      name: "Lead",
      args: { advertiserId: 7, value: 4 },
      replaces: "9007199254740993",
    },
  },
  __created: "2026-11-21T20:00:00.000Z",
  __left: [{ id: "3", at: "2026-11-20T20:00:00.000Z", key: "landing", name: "Landing" }],
};

const written = (set: StoredSet) =>
  JSON.parse(JSON.stringify(writeStored(conversionEventSet, set)));

it("a set is written as it was read, with any key, and an id beyond a number's precision", () => {
  const stored = readStoredSet({ ...STATE, __provider: "the engine's" });
  expect(written(stored)).toEqual(STATE);
  expect(stored.sentAs.get("constructor")).toEqual({
    body: "fd8ad8ac2bd60f2e38b2d9cb4f2d6a9b",
    owner: "7",
  });
});

it("an empty set is empty", () => {
  const empty = { defaults: {}, events: {}, eventIds: {} };
  expect(written(readStoredSet({}))).toEqual(empty);
  expect(readDeclaredSet({ advertiserId: 7, events: UNKNOWN })).toEqual({
    advertiserId: 7,
    defaults: {},
    events: undefined,
    formerKeys: new Map(),
  });
});

it("all that a set has of an event goes on under its new key", () => {
  const events = { start: { ...STATE.events.landing, formerKey: "landing" } };
  const { set, moved } = withFormerKeysApplied(
    readStoredSet(STATE),
    readDeclaredSet({ events }),
  );
  expect([...moved]).toEqual([["start", "landing"]]);
  const text = JSON.stringify(STATE).replaceAll('"landing"', '"start"');
  expect(written(set)).toEqual(JSON.parse(text));
});

it("a member has its own arguments before the set's, `null` as none, the fields of both, and what is not known", () => {
  const defaults = {
    clickWindow: 9,
    viewWindow: 9,
    segmentId: UNKNOWN,
    additionalFields: { b: 3, c: 4 },
  };
  const entry = {
    value: UNKNOWN,
    clickWindow: 5,
    viewWindow: null,
    existingId: 5,
    additionalFields: { a: 1, b: 2 },
  };
  expect(completeArguments({ advertiserId: 7, defaults }, entry)).toEqual({
    advertiserId: 7,
    value: UNKNOWN,
    clickWindow: 5,
    segmentId: UNKNOWN,
    additionalFields: { a: 1, b: 2, c: 4 },
  });
});

it("what is not there, or has another shape, is nothing", () => {
  const left = [{ id: "3", at: "2026-11-20T20:00:00.000Z" }];
  expect(leftLiveIn({ __left: left })).toEqual(left);
  expect(leftLiveIn({ __left: {} })).toEqual([]);
  expect([...secretArgumentsIn({ __secret: ["value"] }), ...secretArgumentsIn({})]).toEqual(
    ["value"],
  );
  const context = { identity: "shop/dev::a", run: { isUp: true, resources: 1 } };
  const given = (__sender: unknown) => programContextIn({ __sender });
  expect(given(context)).toBe(context);
  expect(given(senderOf("shop/dev::a"))).toEqual({ identity: "shop/dev::a" });
  for (const other of [undefined, null, {}, { identity: 5 }, "shop/dev::a"])
    expect(given(other)).toBeUndefined();
});
