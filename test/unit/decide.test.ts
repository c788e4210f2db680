/** What becomes of an object: the same for a single resource and a set's member in one situation. And what differs. */

import { describe, expect, it } from "vitest";
import type { Values } from "../../provider/src/base/index.js";
import {
  differencesIn,
  conversionEvent as event,
  fingerprintOfBody,
} from "../../provider/src/kinds/index.js";
import {
  type Abilities,
  type Circumstances,
  changeMessages,
  changesIn,
  contradictingArguments,
  decideObjects,
  type PlannedObject,
  type ShownAction,
  shownAction,
  visibleFromMs,
} from "../../provider/src/plan/index.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import {
  readDeclared,
  readDeclaredSet,
  readStored,
  readStoredSet,
  SENT_AS,
  type SentAs,
  UNKNOWN,
  type Unresolved,
} from "../../provider/src/state/index.js";

const A = { eventName: "A", value: 1 };
const bodyOf = (values: Values) => fingerprintOfBody(event, { advertiserId: 7, ...values });

const OPEN: Unresolved = {
  at: "2026-01-01T00:00:00Z",
  mark: "m",
  body: bodyOf(A),
  field: "alternative_id",
  name: "A",
  args: { advertiserId: 7, value: 1 },
  what: "It was sent.",
};

/** One situation, as a single resource and as the only member of a set have it. */
interface Situation {
  /** The id in the state. */
  readonly held?: number;
  readonly unresolved?: Unresolved;
  /** What is in the state beside the advertiser, 7. */
  readonly before?: Values;
  readonly sentAs?: SentAs;
  /** `undefined`: it is no longer declared. */
  readonly wanted?: Values;
  /** The advertiser's id now. */
  readonly advertiserId?: unknown;
  readonly deletes?: boolean;
}

function both(situation: Situation, can: Abilities) {
  const {
    held,
    unresolved,
    before = A,
    sentAs: earlier,
    wanted,
    advertiserId = 7,
    deletes = false,
  } = situation;
  const circumstances: Circumstances = {
    can,
    fateOf: (id) => ({ id, isDeleted: Boolean(can.delete && deletes) }),
  };
  const id = unresolved === undefined ? held : `unresolved-${unresolved.mark}`;
  const olds = { advertiserId: 7, ...before, unresolved, [SENT_AS]: earlier };
  const [single] = decideObjects(
    event,
    readStored(event, id === undefined ? undefined : String(id), olds),
    readDeclared(event, wanted && { advertiserId, ...wanted }),
    circumstances,
  );
  const ofKey = (value: unknown) => (value === undefined ? {} : { k: value });
  const stored = readStoredSet({
    advertiserId: 7,
    events: held === undefined ? {} : { k: before },
    eventIds: ofKey(held),
    sentAs: ofKey(earlier),
    unresolved: ofKey(unresolved),
  });
  const declared = readDeclaredSet({ advertiserId, events: ofKey(wanted) });
  const [member] = decideObjects(event, stored, declared, circumstances);
  return [single as PlannedObject, member] as const;
}

const markField = "alternative_id";
const ALL: Abilities = { read: true, update: true, delete: true, search: true, markField };
/** Every combination of what an installation may be able to do. */
const COMBINATIONS = Array.from(
  { length: 16 },
  (_, bits): Abilities => ({
    read: (bits & 1) !== 0,
    update: (bits & 2) !== 0,
    delete: (bits & 4) !== 0,
    search: (bits & 8) !== 0,
    markField,
  }),
);

type Fate = "live" | "deleted" | undefined;
type By<T> = T | ((can: Abilities) => T);
const by = <T extends string | undefined>(expected: By<T>, can: Abilities) =>
  typeof expected === "function" ? expected(can) : expected;

/** If it can be updated, else. */
const update =
  <T>(yes: T, no: T) =>
  (can: Abilities) =>
    can.update ? yes : no;
const changed = update<ShownAction>("update", "replace");
const left = update<Fate>(undefined, "live");
const perhapsChanged = update<ShownAction>("update", "perhaps replace");
const deleted = (can: Abilities): Fate => (can.delete ? "deleted" : "live");

const replacedAndDeleted = (can: Abilities) => (can.update ? undefined : deleted(can));

const other = { ...A, value: 2 };
const unknown = { ...A, value: UNKNOWN };
const own = { ...A, existingId: 5 };
const foreign = { ...A, existingId: 9 };
const later = { ...A, existingId: UNKNOWN };
const waiting = { unresolved: OPEN };

const TABLE: readonly [string, Situation, By<ShownAction>, By<Fate>?][] = [
  ["a new one", { wanted: A }, "create"],
  ["a new one adopts an object", { wanted: foreign }, "adopt"],
  ["a new one adopts an id that is not known yet", { wanted: later }, "adopt"],

  ["nothing differs", { held: 5, wanted: A }, "same"],
  [
    "no fields and an empty object of fields",
    { held: 5, wanted: { ...A, additionalFields: {} } },
    "same",
  ],
  ["an id as digits", { held: 5, wanted: A, advertiserId: "7" }, "same"],
  ["existingId is removed again", { held: 5, before: own, wanted: A }, "same"],
  ["an argument differs", { held: 5, wanted: other }, changed, left],
  [
    "an argument is gone",
    { held: 5, before: { ...A, segmentId: 3 }, wanted: A },
    changed,
    left,
  ],
  [
    "an argument differs, and deletes are on",
    { held: 5, wanted: other, deletes: true },
    changed,
    replacedAndDeleted,
  ],
  ["an argument is not known yet", { held: 5, wanted: unknown }, perhapsChanged, left],
  ["the advertiser differs", { held: 5, wanted: A, advertiserId: 8 }, "replace", "live"],
  [
    "the advertiser is not known yet",
    { held: 5, wanted: A, advertiserId: UNKNOWN },
    "perhaps replace",
    "live",
  ],
  [
    "the same, and an argument differs",
    { held: 5, wanted: other, advertiserId: UNKNOWN },
    update<ShownAction>("perhaps replace", "replace"),
    "live",
  ],

  ["existingId names its own object", { held: 5, wanted: own }, "same"],
  [
    "… and an argument differs",
    { held: 5, wanted: { ...own, value: 2 } },
    update("update", "update state only"),
  ],
  [
    "… and one is not known yet",
    { held: 5, wanted: { ...own, value: UNKNOWN } },
    update("update", "update state only"),
  ],
  [
    "… and the advertiser differs",
    { held: 5, wanted: own, advertiserId: 8 },
    "update state only",
  ],
  ["existingId names another object", { held: 5, wanted: foreign }, "adopt", "live"],
  // It may be there by a wrong answer, which this corrects.
  ["… and deletes are on", { held: 5, wanted: foreign, deletes: true }, "adopt", "live"],
  ["existingId is not known yet", { held: 5, wanted: later }, "perhaps replace", "live"],
  [
    "… and deletes are on",
    { held: 5, wanted: later, deletes: true },
    "perhaps replace",
    "live",
  ],

  ["unresolved", { ...waiting, wanted: A }, (can) => (can.search ? "recover" : "blocked")],
  [
    "unresolved, with other arguments",
    { unresolved: { ...OPEN, field: undefined }, wanted: other },
    "blocked",
  ],
  [
    "unresolved, sent with its mark in another field",
    { unresolved: { ...OPEN, field: "other" }, wanted: A },
    "blocked",
  ],
  ["unresolved, and existingId names an object", { ...waiting, wanted: foreign }, "adopt"],
  [
    "… with another name",
    { ...waiting, wanted: { ...foreign, eventName: "B" } },
    "blocked",
  ],
  ["… with another value", { ...waiting, wanted: { ...foreign, value: 2 } }, "blocked"],
  [
    "… with another advertiser",
    { ...waiting, wanted: foreign, advertiserId: 8 },
    "blocked",
  ],
  [
    "… with an advertiser that is not known",
    { ...waiting, wanted: foreign, advertiserId: UNKNOWN },
    "adopt",
  ],
  [
    "… which it was to replace",
    { unresolved: { ...OPEN, replaces: "9" }, wanted: foreign },
    "blocked",
  ],
  ["… that is not known yet", { ...waiting, wanted: later }, "adopt"],
  ["unresolved, and no longer declared", waiting, "blocked"],

  [
    "made with the arguments of now",
    { held: 5, before: {}, sentAs: { body: bodyOf(A), owner: "7" }, wanted: A },
    "same",
  ],
  [
    "made with others",
    { held: 5, sentAs: { body: "another", owner: "7" }, wanted: A },
    changed,
    left,
  ],
  [
    "made, and nobody knows with which arguments",
    { held: 5, before: {}, sentAs: { owner: "7" }, wanted: A },
    "same",
  ],
  [
    "… but one that is known differs",
    { held: 5, before: { eventName: "B" }, sentAs: { owner: "7" }, wanted: A },
    changed,
    left,
  ],
  [
    "… but for another owner",
    { held: 5, before: {}, sentAs: { owner: "8" }, wanted: A },
    "replace",
    "live",
  ],
  [
    "perhaps changed by an update that failed",
    { held: 5, sentAs: { body: bodyOf(A), owner: "7", isUnsure: true }, wanted: A },
    update<ShownAction>("update", "same"),
  ],
  [
    "made with others, for another owner",
    { held: 5, sentAs: { body: "another", owner: "8" }, wanted: A },
    "replace",
    "live",
  ],
  [
    "made with others, for an owner that nobody knows",
    { held: 5, sentAs: { body: "another" }, wanted: A },
    "replace",
    "live",
  ],
  [
    "… and one is not known yet",
    { held: 5, sentAs: { body: "another", owner: "7" }, wanted: unknown },
    perhapsChanged,
    left,
  ],

  ["no longer declared", { held: 5 }, "retain", "live"],
  [
    "… and deletes are on",
    { held: 5, deletes: true },
    (can) => (can.delete ? "delete" : "retain"),
    deleted,
  ],
];

it.each(TABLE)("%s", (_, situation, expected, fate) => {
  for (const can of COMBINATIONS) {
    const [single, member] = both(situation, can);
    expect({
      can,
      is: shownAction(single),
      leaving: single.leaving && (single.leaving.isDeleted ? "deleted" : "live"),
    }).toEqual({
      can,
      is: by(expected, can),
      leaving: by(fate, can),
    });
    const decided = ({
      action,
      changed: names,
      id,
      isDeclared,
      unresolved,
      leaving,
    }: typeof single) => {
      return { action, names, id, isDeclared, unresolved, leaving };
    };
    expect(member && decided(member)).toEqual(decided(single));
  }
});

it("the table has every action", () => {
  const all = new Set(
    COMBINATIONS.flatMap((can) =>
      TABLE.map(([, situation]) => both(situation, can)[0].action.do),
    ),
  );
  const known = [
    "adopt",
    "create",
    "delete",
    "same",
    "retain",
    "recover",
    "update state only",
    "replace",
    "update",
    "blocked",
  ].toSorted();
  expect([...all].sort()).toEqual(known);
});

it("says why existingId does not resolve a create, and what an update sends", () => {
  const why = (wanted: Values, more = {}) => {
    const { action } = both(
      { unresolved: { ...OPEN, ...more }, wanted: { ...A, existingId: 9, ...wanted } },
      ALL,
    )[0];
    return action.do === "blocked" ? action.why : undefined;
  };
  const start = "existingId: 9 can't be this create's object: the create was sent";
  const end = "Nothing is adopted until you resolve it.";
  expect(why({ value: 2, eventName: "B" })).toBe(
    `${start} with eventName "A", value 1. ${end}`,
  );
  expect(why({}, { replaces: "9" })).toBe(`${start} to replace 9. ${end}`);
  const updated = (situation: Situation) => {
    const [{ action, changed }] = both(situation, ALL);
    return { do: action.do, changed };
  };
  expect(updated({ held: 5, wanted: { ...A, value: 2, segmentId: 3 } })).toEqual({
    do: "update",
    changed: ["segmentId", "value"],
  });
  // Of what was sent earlier only the body is known: everything is sent, but the advertiser.
  const all = Object.keys(event.wireNames).filter((name) => name !== "advertiserId");
  expect(updated({ held: 5, sentAs: { body: "another", owner: "7" }, wanted: A })).toEqual({
    do: "update",
    changed: [...all, "additionalFields"],
  });
});

describe("the members of a set", () => {
  const B = { eventName: "B", value: 2 };
  const shared = { advertiserId: 7, defaults: { clickWindow: 60 } };
  const held = { ...shared, events: { a: A, b: B }, eventIds: { a: 1, b: 2 } };
  const plan = (olds: Values, news: Values, circumstances?: Circumstances) => {
    const members = decideObjects(
      event,
      readStoredSet(olds),
      readDeclaredSet(news),
      circumstances,
    );
    return Object.fromEntries(members.map((member) => [member.key, shownAction(member)]));
  };
  const events = (more: Values) => ({ ...shared, events: more });
  const perhaps = { a: "perhaps replace", b: "perhaps replace" } as const;

  it.each<[string, Values, Values, Record<string, ShownAction>]>([
    ["a new set", {}, events({ a: A }), { a: "create" }],
    ["nothing differs", held, events({ b: B, a: A }), { b: "same", a: "same" }],
    [
      "a key is gone, and one is new",
      held,
      events({ a: A, c: B }),
      { a: "same", c: "create", b: "retain" },
    ],
    [
      "another advertiser",
      held,
      { ...held, advertiserId: 8 },
      { a: "replace", b: "replace" },
    ],
    [
      "another default, which one member overrides",
      held,
      { ...events({ a: A, b: { ...B, clickWindow: 60 } }), defaults: { clickWindow: 61 } },
      { a: "replace", b: "same" },
    ],
    [
      "`null` means none, whatever the default is",
      held,
      events({ a: A, b: { ...B, clickWindow: null } }),
      { a: "same", b: "replace" },
    ],
    [
      "an entry is not known",
      held,
      events({ a: UNKNOWN, b: B, c: UNKNOWN }),
      { a: "perhaps replace", b: "same", c: "create" },
    ],
    ["the defaults are not known", held, { ...held, defaults: UNKNOWN }, perhaps],
    [
      "a key is renamed",
      held,
      events({ a: A, c: { ...B, formerKey: "b" } }),
      { a: "same", c: "rename" },
    ],
    [
      "… and changed",
      held,
      events({ a: A, c: { ...B, value: 3, formerKey: "b" } }),
      { a: "same", c: "replace" },
    ],
    [
      "… and adopts that object",
      held,
      events({ c: { ...B, existingId: 2, formerKey: "b" }, a: A }),
      { c: "rename", a: "same" },
    ],
    [
      "… and adopts another one",
      held,
      events({ c: { ...B, existingId: 9, formerKey: "b" }, a: A }),
      { c: "adopt", a: "same" },
    ],
    [
      "… before",
      held,
      events({ a: { ...A, formerKey: "old" }, b: B }),
      { a: "same", b: "same" },
    ],
    [
      "… and has an object already",
      held,
      events({ a: { ...A, formerKey: "b" } }),
      { a: "same", b: "retain" },
    ],
    [
      "… and the former key is of no event",
      held,
      events({ a: A, c: { ...B, formerKey: "x" } }),
      { a: "same", c: "create", b: "retain" },
    ],
    [
      "… while its create is unresolved",
      { ...events({ a: A }), eventIds: { a: 1 }, unresolved: { b: OPEN } },
      events({ a: A, c: { ...A, formerKey: "b" } }),
      { a: "same", c: "blocked" },
    ],
    ["no entry is known", held, { ...shared, events: UNKNOWN }, perhaps],
    ["no entry of an empty one is known", {}, { ...shared, events: UNKNOWN }, {}],
    [
      "unresolved, beside what it was to replace and without an object",
      { ...held, unresolved: { b: OPEN, c: OPEN } },
      events({ a: A }),
      { a: "same", b: "blocked", c: "blocked" },
    ],
    [
      "that is adopted under another key, which resolves nothing",
      { ...held, unresolved: { c: OPEN } },
      events({ a: A, b: B, d: { ...A, existingId: 9 } }),
      { a: "same", b: "same", d: "adopt", c: "blocked" },
    ],
  ])("%s", (_, olds, news, expected) => {
    expect(plan(olds, news)).toEqual(expected);
  });

  it("an entry that is not known can be updated, unless its advertiser differs too", () => {
    const circumstances = { can: ALL };
    expect(plan(held, { ...shared, events: UNKNOWN }, circumstances)).toEqual({
      a: "update",
      b: "update",
    });
    const others = plan(
      held,
      { ...events({ a: UNKNOWN }), advertiserId: 8 },
      circumstances,
    );
    expect(others.a).toBe("perhaps replace");
  });

  it.each(["constructor", "hasOwnProperty", "__proto__x", `a"]["b`, "событие 🛒", "1"])(
    "the key %s is a key like any other",
    (key) => {
      const declared = events({ [key]: A });
      const made = { ...declared, eventIds: { [key]: 5 } };
      const all = [plan({}, declared), plan(made, declared), plan(made, events({}))];
      expect(all).toEqual(
        ["create", "same", "retain"].map((action) => ({ [key]: action })),
      );
      expect(plan({}, events({ x: A }))).toEqual({ x: "create" });
    },
  );
});

describe("what differs", () => {
  const fields = (additionalFields: unknown) => ({ ...A, additionalFields });
  it.each<[string, unknown, unknown, string[], boolean?]>([
    ["null for absent", { ...A, segmentId: null }, A, []],
    [
      "fields in another order",
      fields({ a: 1, b: { c: 2, d: 3 } }),
      fields({ b: { d: 3, c: 2 }, a: 1 }),
      [],
    ],
    ["a field", fields({ a: 1 }), fields({ a: 2 }), ["additionalFields"]],
    [
      "an id beyond a number",
      { segmentId: "9007199254740993" },
      { segmentId: "9007199254740993" },
      [],
    ],
    ["hidden properties", { __created: "x" }, { __sender: "y", existingId: 5 }, []],
    [
      "one value, and one that is not known",
      A,
      { eventName: "B", value: UNKNOWN },
      ["eventName", "value"],
      false,
    ],
    [
      "what is not known, deep inside",
      fields({ a: 1 }),
      fields({ a: [UNKNOWN] }),
      ["additionalFields"],
      true,
    ],
    ["no shape that anybody knows", { value: [] }, { value: { deep: [null] } }, ["value"]],
    ["nothing", undefined, null, []],
  ])("%s", (_, olds, news, names, perhaps = false) => {
    expect(changesIn(event, olds, news)).toEqual({ names, perhaps });
  });

  const limits = { maxWindowSeconds: 2_592_000, markField: undefined };
  it.each<[string, Values, Values, Values]>([
    [
      "the same in other forms",
      { ...A, segmentId: 3 },
      { event_name: "A", value: "1", segment_id: "3" },
      {},
    ],
    ["more than the program says, and less", A, { segment_id: 3 }, {}],
    ["no value", A, { event_name: "A", value: null }, { value: undefined }],
    [
      "a field",
      fields({ a: { b: 1, c: 2 } }),
      { a: { b: "1", c: 3, d: 4 } },
      { additionalFields: { a: { b: 1, c: 3 } } },
    ],
  ])("the platform has %s", (_, ours, record, expected) => {
    const found = differencesIn(event, limits, ours, record);
    expect(found).toEqual(expected);
  });

  it("of what a create was sent with, only what is known on both sides counts", () => {
    const sent = { name: "A", args: { advertiserId: 7, value: 1 } };
    const otherwise = (values: Values) => contradictingArguments(event, values, sent);
    expect(
      otherwise({ eventName: "A", advertiserId: "7", value: UNKNOWN, clickWindow: 1 }),
    ).toEqual({});
    expect(otherwise({ eventName: "B", advertiserId: 8 })).toEqual({
      eventName: "A",
      advertiserId: 7,
    });
    expect(contradictingArguments(event, { eventName: "B" }, {})).toEqual({});
  });
});

it.each([
  [undefined, 1000],
  [{}, 301_000],
  [{ createdVisibleAfterSeconds: 0 }, 1000],
  [{ createdVisibleAfterSeconds: 20 }, 21_000],
])(
  "with the setting %j, the absence of an object created at 1 s proves something from %d ms on",
  (setting, fromMs) => {
    expect(visibleFromMs(1000, { operations: operationsSchema.parse(setting) })).toBe(
      fromMs,
    );
  },
);

it("a changed window is shown in seconds and in the unit that people think in", () => {
  const [olds, news] = [
    { clickWindow: 604_800, value: 3600 },
    { clickWindow: 90, viewWindow: 43_200, value: 60 },
  ];
  expect(
    changeMessages(["clickWindow", "viewWindow", "value"], olds, news, new Set()),
  ).toEqual([
    "clickWindow 604800 (7 days) → 90",
    "viewWindow none → 43200 (12 hours)",
    "value 3600 → 60",
  ]);
});
