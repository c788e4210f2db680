/** What becomes of an object, which is the same for a single resource and for a member of a set in the same situation. */
import { describe, expect, it } from "vitest";
import type { Values } from "../../provider/src/base/record.js";
import { mayBeFoundGone, takeOverOf } from "../../provider/src/decision/changes.js";
import {
  type Abilities,
  type Circumstances,
  NO_ABILITIES,
  type ShownAction,
  shownAction,
  visibleFromMs,
} from "../../provider/src/decision/decide.js";
import { membersOf, singleMember } from "../../provider/src/decision/members.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOfBody } from "../../provider/src/kinds/kind.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";
import { readDeclaredSet, readStoredSet } from "../../provider/src/state/stored-set.js";

/** As in a set's state. A single resource has the mark in its id, and what was sent in its arguments. */
const MARKED = {
  mark: "m",
  fingerprint: fingerprintOfBody(conversionEvent, { advertiserId: 7, eventName: "A", value: 1 }),
  name: "A",
  facts: { advertiserId: 7, value: 1 },
  since: "2026-01-01T00:00:00Z",
  what: "sent",
  trace: { field: "alternative_id", value: "m" },
};

/** One situation, as a single resource and as the only member of a set have it. */
interface Situation {
  /** The id in the state. */
  readonly held?: number;
  readonly unresolved?: typeof MARKED & { readonly replaces?: string };
  /** What is in the state beside the advertiser, 7. */
  readonly before?: Values;
  /** `undefined`: it is no longer declared. */
  readonly wanted?: Values;
  /** The advertiser's id now. */
  readonly advertiserId?: unknown;
  readonly deletes?: boolean;
  readonly replaceOnChanges?: { readonly single: string[]; readonly set: string[] };
}

const A = { eventName: "A", value: 1 };

function both(situation: Situation, can: Abilities) {
  const { held, unresolved, before = A, wanted, advertiserId = 7, deletes = false, replaceOnChanges } = situation;
  const circumstances = (names: string[] = []): Circumstances => ({
    can,
    replaceOnChanges: names,
    deletes: () => deletes,
  });
  const { mark: _m, fingerprint: _f, name: _n, facts: _a, ...ofSingle } = unresolved ?? MARKED;
  const id = unresolved === undefined ? held : `unresolved-${unresolved.mark}`;
  const single = singleMember(
    conversionEvent,
    id === undefined ? undefined : String(id),
    { advertiserId: 7, ...before, ...(unresolved === undefined ? {} : { unresolved: ofSingle }) },
    wanted === undefined ? undefined : { advertiserId, ...wanted },
    circumstances(replaceOnChanges?.single),
  );
  const hasNothing = held === undefined;
  const [member] = membersOf(
    conversionEvent,
    readStoredSet({
      advertiserId: 7,
      events: hasNothing ? {} : { k: before },
      eventIds: hasNothing ? {} : { k: held },
      ...(unresolved === undefined ? {} : { unresolved: { k: unresolved } }),
    }),
    readDeclaredSet({ advertiserId, events: wanted === undefined ? {} : { k: wanted } }),
    circumstances(replaceOnChanges?.set),
  );
  return [single, member] as const;
}

const ALL: Abilities = { read: true, update: true, delete: true, search: (field) => field === "alternative_id" };
/** Every combination of what an installation may be able to do. */
const COMBINATIONS = Array.from(
  { length: 16 },
  (_, bits): Abilities => ({
    read: (bits & 1) !== 0,
    update: (bits & 2) !== 0,
    delete: (bits & 4) !== 0,
    search: (bits & 8) !== 0 ? ALL.search : NO_ABILITIES.search,
  }),
);
const named = ({ read, update, delete: del, search }: Abilities) =>
  [read && "read", update && "update", del && "delete", search("alternative_id") && "search"].filter(Boolean).join("+");

type Expected = ShownAction | ((can: Abilities) => ShownAction);

const updated = ({ update }: Abilities) => (update ? "update" : "replace");
const replacedPerhaps = ({ update }: Abilities) => (update ? "update" : "perhaps replace");

const TABLE: readonly [string, Situation, Expected, former?: (can: Abilities) => "live" | "deleted" | undefined][] = [
  ["a new one", { wanted: A }, "create"],
  ["a new one that adopts an object", { wanted: { ...A, existingId: 9 } }, "adopt"],
  ["a new one that adopts an id which is not known yet", { wanted: { ...A, existingId: UNKNOWN } }, "create"],
  ["nothing differs", { held: 5, wanted: A }, "keep"],
  ["no fields and an empty object of fields are the same", { held: 5, wanted: { ...A, additionalFields: {} } }, "keep"],
  ["an id as digits", { held: 5, wanted: A, advertiserId: "7" }, "keep"],
  [
    "an argument differs",
    { held: 5, wanted: { ...A, value: 2 } },
    updated,
    ({ update }) => (update ? undefined : "live"),
  ],
  [
    "an argument differs, and the former object is to be deleted",
    { held: 5, wanted: { ...A, value: 2 }, deletes: true },
    updated,
    ({ update, delete: del }) => (update ? undefined : del ? "deleted" : "live"),
  ],
  [
    "an argument is not known yet",
    { held: 5, wanted: { ...A, value: UNKNOWN } },
    replacedPerhaps,
    ({ update }) => (update ? undefined : "live"),
  ],
  ["the advertiser differs", { held: 5, wanted: A, advertiserId: 8 }, "replace", () => "live"],
  [
    "the advertiser is not known yet",
    { held: 5, wanted: A, advertiserId: UNKNOWN },
    () => "perhaps replace",
    () => "live",
  ],
  [
    "the advertiser is not known yet, and an argument differs",
    { held: 5, wanted: { ...A, value: 2 }, advertiserId: UNKNOWN },
    "replace",
    () => "live",
  ],
  [
    "an argument differs, and replaceOnChanges names it",
    { held: 5, wanted: { ...A, value: 2 }, replaceOnChanges: { single: ["value"], set: ["events"] } },
    "replace",
    () => "live",
  ],
  [
    "an argument differs, and replaceOnChanges names it in brackets",
    { held: 5, wanted: { ...A, value: 2 }, replaceOnChanges: { single: ['["value"]'], set: ['["events"]'] } },
    "replace",
    () => "live",
  ],
  [
    "an argument differs, with replaceOnChanges: *",
    { held: 5, wanted: { ...A, value: 2 }, replaceOnChanges: { single: ["*"], set: ["*"] } },
    "replace",
    () => "live",
  ],
  [
    "an argument differs, and replaceOnChanges does not name it",
    { held: 5, wanted: { ...A, value: 2 }, replaceOnChanges: { single: ["eventName"], set: ["eventsOfMine"] } },
    updated,
    ({ update }) => (update ? undefined : "live"),
  ],
  ["existingId names its own object", { held: 5, wanted: { ...A, existingId: 5 } }, "keep"],
  [
    "existingId names its own object, and an argument differs",
    { held: 5, wanted: { ...A, value: 2, existingId: 5 } },
    ({ read, update }) => (update ? "update" : read ? "refuse" : "adopt"),
  ],
  [
    "existingId names its own object, and the advertiser differs, which no update can change",
    { held: 5, wanted: { ...A, existingId: 5 }, advertiserId: 8 },
    ({ read }) => (read ? "refuse" : "adopt"),
  ],
  ["existingId names another object", { held: 5, wanted: { ...A, existingId: 9 } }, "adopt", () => "live"],
  [
    "existingId names another object, and the former one is to be deleted",
    { held: 5, wanted: { ...A, existingId: 9 }, deletes: true },
    "adopt",
    ({ delete: del }) => (del ? "deleted" : "live"),
  ],
  [
    "existingId is not known yet",
    { held: 5, wanted: { ...A, existingId: UNKNOWN } },
    () => "perhaps replace",
    () => "live",
  ],
  ["unresolved", { unresolved: MARKED, wanted: A }, ({ search }) => (search("alternative_id") ? "look for" : "wait")],
  [
    "unresolved, sent with its mark in another field",
    { unresolved: { ...MARKED, trace: { field: "other", value: "m" } }, wanted: A },
    "wait",
  ],
  ["unresolved, and existingId names an object", { unresolved: MARKED, wanted: { ...A, existingId: 9 } }, "adopt"],
  [
    "R4: unresolved, and existingId comes with another name",
    { unresolved: MARKED, wanted: { ...A, eventName: "B", existingId: 9 } },
    "wait",
  ],
  [
    "R4: unresolved, and existingId comes with another value",
    { unresolved: MARKED, wanted: { ...A, value: 2, existingId: 9 } },
    "wait",
  ],
  [
    "R4: unresolved, and existingId comes with another advertiser",
    { unresolved: MARKED, wanted: { ...A, existingId: 9 }, advertiserId: 8 },
    "wait",
  ],
  [
    "unresolved, and existingId comes with an advertiser that is not known yet",
    { unresolved: MARKED, wanted: { ...A, existingId: 9 }, advertiserId: UNKNOWN },
    "adopt",
  ],
  [
    "R4: unresolved, and existingId names the object that the create was to replace",
    { unresolved: { ...MARKED, replaces: "9" }, wanted: { ...A, existingId: 9 } },
    "wait",
  ],
  [
    "unresolved, and existingId is not known yet",
    { unresolved: MARKED, wanted: { ...A, existingId: UNKNOWN } },
    "adopt",
  ],
  ["unresolved, and no longer declared", { unresolved: MARKED }, "wait"],
  ["no longer declared", { held: 5 }, "let go", () => "live"],
  [
    "no longer declared, and to be deleted",
    { held: 5, deletes: true },
    ({ delete: del }) => (del ? "delete" : "let go"),
    ({ delete: del }) => (del ? "deleted" : "live"),
  ],
];

describe.each(COMBINATIONS.map((can) => [named(can) || "nothing", can] as const))("able to %s", (_, can) => {
  it.each(TABLE)("%s", (_name, situation, expected, former = () => undefined) => {
    const found = both(situation, can);
    const shown = found.map((each) => each && shownAction(each.action));
    const wanted = typeof expected === "string" ? expected : expected(can);
    expect(shown).toEqual([wanted, wanted]);
    const fates = found.map((each) => each?.former && (each.former.isDeleted ? "deleted" : "live"));
    expect(fates).toEqual([former(can), former(can)]);
    const [single, member] = found;
    expect(single.action).toEqual(member?.action);
  });
});

it("an object that was adopted without a known read may never have existed", () => {
  const situation = { held: 5, before: { ...A, existingId: 5 }, wanted: { ...A, existingId: 9 } };
  const formersOf = (can: Abilities) => both(situation, can).map((each) => each?.former?.isUnread === true);
  expect(formersOf(NO_ABILITIES)).toEqual([true, true]);
  expect(formersOf(ALL)).toEqual([false, false]);
  const [single, member] = both({ ...situation, before: A }, NO_ABILITIES);
  expect([single.former, member?.former]).toEqual([
    { id: "5", isDeleted: false },
    { id: "5", isDeleted: false },
  ]);
});

it("the table has every action", () => {
  const all = new Set(COMBINATIONS.flatMap((can) => TABLE.map(([, situation]) => both(situation, can)[0].action.do)));
  expect([...all].sort()).toEqual(
    ["adopt", "create", "delete", "keep", "let go", "look for", "replace", "update", "wait"].sort(),
  );
});

describe("a member that was created with other arguments of its set", () => {
  const plan = (news: Values) =>
    membersOf(
      conversionEvent,
      readStoredSet({ advertiserId: 7, events: { k: A }, eventIds: { k: 5 }, earlier: { k: "another body" } }),
      readDeclaredSet({ advertiserId: 7, ...news }),
      { can: ALL, replaceOnChanges: [], deletes: () => false },
    )[0]?.action;

  it("is replaced, because what to change is not known", () => {
    expect(plan({ events: { k: A } })).toEqual({ do: "replace", perhaps: false });
    expect(plan({ events: { k: { ...A, value: UNKNOWN } } })).toEqual({ do: "replace", perhaps: true });
  });
});

it("a member of a set whose events are not known yet is updated in place, or perhaps replaced", () => {
  const stored = readStoredSet({ advertiserId: 7, events: { k: A }, eventIds: { k: 5 } });
  const declared = readDeclaredSet({ advertiserId: 7, events: UNKNOWN });
  const plan = (can: Abilities) =>
    membersOf(conversionEvent, stored, declared, { can, replaceOnChanges: [], deletes: () => false })[0]?.action;
  expect(plan(NO_ABILITIES)).toEqual({ do: "replace", perhaps: true });
  expect(plan(ALL)).toMatchObject({ do: "update" });
});

it.each([
  [undefined, 1000],
  [{}, 301_000],
  [{ createdVisibleAfterSeconds: 0 }, 1000],
  [{ createdVisibleAfterSeconds: 20 }, 21_000],
])(
  "R1: with the setting %j, the absence of an object created at 1 s counts as proof from %d ms on",
  (setting, fromMs) => {
    expect(visibleFromMs(1000, { operations: operationsSchema.parse(setting) })).toBe(fromMs);
  },
);

it.each([
  ["the same arguments", {}, "as it is", "as it is"],
  ["another value", { value: 2 }, "refused", "updated"],
  ["another advertiser", { advertiserId: 8 }, "refused", "refused"],
  ["a value that is not known yet", { value: UNKNOWN }, "if unchanged", "updated if it differs"],
  ["such a value, and another name", { value: UNKNOWN, eventName: "B" }, "refused", "updated"],
  ["such a value, for another advertiser", { value: UNKNOWN, advertiserId: 8 }, "refused", "refused"],
  ["an advertiser that is not known yet", { advertiserId: UNKNOWN }, "if unchanged", "if same owner"],
  ["another value, for such an advertiser", { advertiserId: UNKNOWN, value: 2 }, "refused", "if same owner"],
])("R4: an object that an earlier create made, with %s now", (_, now, onlyCreating, withUpdate) => {
  const values = { advertiserId: 7, eventName: "A", value: 1, ...now };
  expect(takeOverOf(conversionEvent, values, MARKED, false)).toBe(onlyCreating);
  expect(takeOverOf(conversionEvent, values, MARKED, true)).toBe(withUpdate);
});

it("R4: an object whose advertiser is not known to be the same is updated for none", () => {
  const values = { advertiserId: 7, eventName: "A", value: 1, clickWindow: UNKNOWN };
  expect(takeOverOf(conversionEvent, values, { ...MARKED, facts: {} }, true)).toBe("if unchanged");
});

it("R8: a run may find an object gone that it reads or updates", () => {
  const all = ["as it is", "if unchanged", "updated", "updated if it differs", "if same owner", "refused"] as const;
  expect(all.map((each) => mayBeFoundGone(each, false))).toEqual([false, false, true, true, true, false]);
  expect(all.map((each) => mayBeFoundGone(each, true))).toEqual([true, true, true, true, true, false]);
});
