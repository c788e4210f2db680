/** What the messages say about a set: whole texts, each key once, in the order in which people count, and short however many there are. */
import { describe, expect, it } from "vitest";
import { RefusedError } from "../../provider/src/base/index.js";
import { type Abilities, membersOf, NO_ABILITIES } from "../../provider/src/decision/index.js";
import { conversionEvent } from "../../provider/src/kinds/index.js";
import type { Outcome } from "../../provider/src/provider/outcome.js";
import {
  leftInWords,
  planInWords,
  type Result,
  takenOverInWords,
  troubleInWords,
} from "../../provider/src/provider/tell-set.js";
import {
  type LeftLive,
  memberRef,
  readDeclaredSet,
  readStoredSet,
  refOf,
  UNKNOWN,
  waysOut,
} from "../../provider/src/state/index.js";
import { commandsIn } from "../support/printed-commands.js";

const set = refOf("ConversionEventSet", "shop/dev::funnel");
const A = { eventName: "A", value: 1 };
const CHANGED = { ...A, value: 2 };
const OPEN = { at: "2026-01-01T00:00:00Z", mark: "m", body: "f", name: "A", what: "It was sent." };
const ALL: Abilities = { read: true, update: true, delete: true, search: (field) => field !== undefined };
const END = "stays live on the platform, and tags that were placed for it keep firing; deactivate it there by hand.";

function members(olds: object, news: object, can = NO_ABILITIES) {
  const shared = { advertiserId: 7, defaults: {} };
  const [stored, declared] = [readStoredSet({ ...shared, ...olds }), readDeclaredSet({ ...shared, ...news })];
  return membersOf(conversionEvent, stored, declared, { can, deletes: () => true });
}
/** As Pulumi gives them: sorted as text, `k10` before `k2`. */
const keys = (amount: number) => Array.from({ length: amount }, (_, at) => `k${at}`).sort();
const many = (amount: number) => Object.fromEntries(keys(amount).map((key) => [key, A]));
const ids = (amount: number) => Object.fromEntries(keys(amount).map((key) => [key, Number(key.slice(1)) + 1]));
const FIRST_20 = Array.from({ length: 20 }, (_, at) => `k${at}`).join(", ");

describe("a preview says what becomes of each key", () => {
  const HELD = { events: { a: A, b: A, c: A, gone: A }, eventIds: { a: 1, b: 2, c: 3, gone: 4 } };
  const left: LeftLive[] = [
    { id: "6", at: "", key: "x", owed: true },
    { id: "7", at: "", key: "y" },
  ];
  it.each<[string, Abilities, object, LeftLive[], object, string[], string[]]>([
    [
      "and which objects stay live",
      NO_ABILITIES,
      { f: OPEN },
      [],
      { a: A, b: CHANGED, c: { ...A, existingId: 9 }, d: A, e: { ...A, existingId: 8 }, f: A },
      [],
      [
        "events: 1 to create, 1 to replace, 2 to adopt, 1 to remove from the state, 1 to settle, 1 unchanged",
        "  to create: d",
        "  to replace, which makes another live object of each: b (2)",
        "  to adopt: c (3 → 9), e (8)",
        "  to remove from the state: gone (4)",
        "  to settle first: f",
        `Each former object (2–4) ${END}`,
        "To keep one, undo the change; or set existingId, and make the change on the platform by hand.",
      ],
    ],
    [
      "where objects can be changed, deleted and looked for",
      ALL,
      { d: { ...OPEN, field: "m" } },
      left,
      { a: A, b: CHANGED, c: { ...A, existingId: UNKNOWN }, d: A },
      [],
      [
        "events: 1 to update in place, 1 to look for on the platform, 1 perhaps to replace, 1 to delete, 1 still to delete, 1 unchanged",
        "  to update in place: b (2)",
        "  to look for on the platform: d",
        "  perhaps to replace, if values that are not known yet turn out to differ: c (3)",
        "  to delete, if everything else goes well: gone (4)",
        "  still to delete: x (6)",
      ],
    ],
    [
      "and that another resource goes on with one",
      NO_ABILITIES,
      {},
      [],
      { a: A, b: A, c: A },
      ["4"],
      ["events: 1 to remove from the state, 3 unchanged", "  to remove from the state: gone (4)"],
    ],
  ])("%s", (_, can, unresolved, owed, events, kept, lines) => {
    const those = members({ ...HELD, unresolved }, { events }, can);
    expect(planInWords(conversionEvent, those, owed, (id) => kept.includes(id))).toBe(lines.join("\n"));
  });

  it("lists the first of thousands, without control characters, and says nothing if there is nothing to do", () => {
    const planned = (events: object, olds = {}) =>
      planInWords(conversionEvent, members(olds, { events }), [], () => false);
    expect(planned(many(3000))).toBe(`events: 3000 to create, 0 unchanged\n  to create: ${FIRST_20}, and 2980 more`);
    expect(planned({ "a\u202eb": A })).toContain("to create: a b");
    expect(planned(HELD.events, HELD)).toBeUndefined();
  });
});

describe("after an `up`", () => {
  const created = (id: string, isTakenOver = false): Outcome => ({ kind: "created", id, isTakenOver });

  it("lists objects that are no longer managed, with both ids; of many the ids", () => {
    const news = { k0: CHANGED, k1: { ...A, existingId: 9 }, k3: CHANGED };
    const those = members({ events: many(4), eventIds: ids(4) }, { events: news });
    const outcomes = new Map<string, Outcome>([
      ["k0", created("5")],
      ["k1", { kind: "managed", id: "9" }],
      ["k3", { kind: "failed", error: new RefusedError("no") }],
    ]);
    const left = (...managed: string[]) => leftInWords(conversionEvent, those, outcomes, (id) => managed.includes(id));
    const lines = ["  1: k0 is 5 now", "  2: k1 is 9 now", "  3, which was k2", `Each ${END}`];
    expect(left()).toBe(["No longer managed after this run: 3 live events.", ...lines].join("\n"));
    expect(left("1", "2")).toBe(["No longer managed after this run: 1 live event.", ...lines.slice(2)].join("\n"));
    expect(left("1", "2", "3")).toBeUndefined();
    const all = members({ events: many(25), eventIds: ids(25) }, { events: {} });
    const listed = leftInWords(conversionEvent, all, new Map(), () => false)
      ?.split("\n")
      .slice(20);
    expect(listed).toEqual(["  20, which was k19", "  and 5 more: 21–25", `Each ${END}`]);
  });

  it("says which were taken over", () => {
    const outcomes = new Map(keys(40).map((key, at) => [key, created(key.slice(1), at % 2 === 0)] as const));
    expect(takenOverInWords(outcomes, set)).toMatch(
      /^ConversionEventSet "funnel": earlier runs had created 20 events; now taken over, and nothing is sent: k0 \(0\), .*, k\d+ \(\d+\)$/,
    );
    expect(takenOverInWords(new Map([["a", created("1")]]), set)).toBeUndefined();
  });
});

describe("the error of the whole set", () => {
  const WELL: Result = { failed: [], kept: [], open: [], asSent: [], isWell: false };
  const trouble = (result: Partial<Result>, amount: number, inState = 0) => {
    const there = new Map(Array.from({ length: inState }, (_, at) => [`k${at}`, "1"]));
    return troubleInWords(conversionEvent, set, members({}, { events: many(amount) }), { ...WELL, ...result }, there);
  };
  const refused = (key: string, reason: string) => ({
    key,
    error: new RefusedError(`${memberRef(set, key).label}: POST https://x was refused: ${reason}`),
  });

  it("has each reason once, with all its keys and its code; of thousands the first ones", () => {
    const failed = keys(50).map((key) => refused(key, key === "k7" ? "the name is taken" : "no"));
    const { text, code } = trouble({ failed }, 50);
    expect(code).toBe("ADVERTISING_REFUSED");
    expect(text.split("\n")).toEqual([
      'ConversionEventSet "funnel": 0 of 50 declared events are in the state. Failed:',
      `  ${FIRST_20.replace(" k7,", "")}, k20, and 29 more: POST https://x was refused: no [ADVERTISING_REFUSED]`,
      "  k7: POST https://x was refused: the name is taken [ADVERTISING_REFUSED]",
      "The next `pulumi up` sends only what is missing.",
    ]);
    const all = trouble({ failed: keys(3000).map((key) => refused(key, `no ${key}`)) }, 3000).text;
    expect(all).toContain("  and 2980 more reasons\n");
    expect(all.length).toBeLessThan(4000);
  });

  it("has deletes that failed, and what was made with other arguments", () => {
    const kept = [{ ...refused("k9", "in use"), id: "9" }];
    const asSent = ["k10", "k2"].map((key) => ({ key, id: key.slice(1) }));
    expect(trouble({ kept, asSent }, 2, 2).text.split("\n")).toEqual([
      'ConversionEventSet "funnel": 2 of 2 declared events are in the state. Failed:',
      "  k9: POST https://x was refused: in use [ADVERTISING_REFUSED]",
      "An earlier run created these with other arguments than the program has now: k2 (2), k10 (10). They are in the state as they were sent: the next preview shows what becomes of them.",
    ]);
  });

  it("has all unknown outcomes, and the commands that settle them; of hundreds the first ones", () => {
    const open = [
      { key: "k10", record: { ...OPEN, what: `${memberRef(set, "k10").label}: it was sent.` }, why: undefined },
      { key: `it's "a"`, record: { ...OPEN, searched: "There is none." }, why: "It settles nothing." },
    ];
    const { text, code } = trouble({ open, failed: [refused("k1", "no")] }, 3, 1);
    expect(code).toBe("ADVERTISING_OUTCOME_UNKNOWN");
    expect(text.split("\n")[0]).toContain("1 of 3 declared events is in the state");
    expect(text.split("\n").slice(3)).toEqual([
      "The outcome of 2 events is unknown, so nothing is sent for them until you settle them. Look in the account for:",
      '  events["it\'s \\"a\\""]: the ConversionEvent named "A", sent at 2026-01-01T00:00:00Z',
      "    It settles nothing.",
      "    It was sent. There is none.",
      '  events["k10"]: the ConversionEvent named "A", sent at 2026-01-01T00:00:00Z',
      "    it was sent.",
      ...waysOut([`funnel/it's "a"`, "funnel/k10"]),
    ]);
    const all = trouble({ open: keys(500).map((key) => ({ key, record: OPEN, why: undefined })) }, 500).text;
    expect([...all.matchAll(/events\["k(\d+)"\]/g)].map(([, at]) => Number(at))).toEqual([...Array(20).keys()]);
    expect(all).toContain("  and 480 more\n");
    expect(commandsIn(all).map((line) => line.match(/--/g)?.length)).toEqual([20, 20]);
  });
});
