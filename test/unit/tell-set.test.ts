/** What the messages say about a set. */

import { describe, expect, it } from "vitest";
import { RefusedError } from "../../provider/src/base/errors.js";
import { type Circumstances, NO_ABILITIES } from "../../provider/src/decision/decide.js";
import { type Member, membersOf } from "../../provider/src/decision/members.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { heldBack, type Outcome, resultOf } from "../../provider/src/provider/outcome.js";
import type { Earlier } from "../../provider/src/provider/tell.js";
import {
  leftLiveInWords,
  notSettledInWords,
  planInWords,
  renamesInWords,
  takenOverInWords,
  troubleInWords,
} from "../../provider/src/provider/tell-set.js";
import { memberRef, refOf } from "../../provider/src/state/identity.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";
import { readDeclaredSet, readStoredSet } from "../../provider/src/state/stored-set.js";

const set = refOf("ConversionEventSet", "shop/dev::funnel");
const shared = { advertiserId: 7, defaults: {} };
const A = { eventName: "A", value: 1 };

const NOTHING_KNOWN: Circumstances = { can: NO_ABILITIES, replaceOnChanges: [], deletes: () => false };
const plan = (olds: object, news: object, circumstances = NOTHING_KNOWN) =>
  membersOf(
    conversionEvent,
    readStoredSet({ ...shared, ...olds }),
    readDeclaredSet({ ...shared, ...news }),
    circumstances,
  );
const many = (count: number, of: (index: number) => object = (index) => ({ eventName: `E${index}`, value: 1 })) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, of(index)]));
const idsOf = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, index + 1]));

describe("a preview", () => {
  it("says what becomes of each key, and how many live objects that creates", () => {
    const members = plan(
      { events: { a: A, b: A, gone: { eventName: "X", value: 1 } }, eventIds: { a: 1, b: 2, gone: 3 } },
      { events: { a: A, b: { ...A, value: 2 }, c: { ...A, value: 9 }, d: { ...A, existingId: 8 }, e: A } },
    );
    expect(planInWords(conversionEvent, members)).toBe(
      [
        "events: 2 to create, 1 to replace, 1 to adopt, 1 to remove from the state, 1 unchanged",
        "  to create: c, e",
        "  to replace, which makes 1 more live event: b (2)",
        "  to adopt; nothing is sent: d (8)",
        "  to remove from the state: gone (3)",
        "Each former object stays live on the platform, and tags that were placed for it keep firing; deactivate it there by hand.",
      ].join("\n"),
    );
  });

  it("says that an adopted object that was never read may not exist", () => {
    const members = plan(
      { events: { a: { ...A, existingId: 1 }, b: A }, eventIds: { a: 1, b: 2 } },
      { events: { a: { ...A, existingId: 3 }, b: A } },
    );
    expect(planInWords(conversionEvent, members)?.split("\n").slice(1)).toEqual([
      "  to adopt; nothing is sent: a (3 instead of 1)",
      "Each former object that exists stays live on the platform, and tags that were placed for it keep firing; deactivate it there by hand.",
    ]);
    const outcomes = new Map<string, Outcome>([["a", { kind: "adopted", id: "3" }]]);
    expect(leftLiveInWords(conversionEvent, members, outcomes)).toMatch(
      /^No longer managed after this run: 1 event\.\n {2}1: a is 3 now\nEach that exists stays live/,
    );
  });

  it("says nothing if there is nothing to do", () => {
    expect(planInWords(conversionEvent, plan({ events: { a: A }, eventIds: { a: 1 } }, { events: { a: A } }))).toBe(
      undefined,
    );
  });

  it("shortens long lists to a count", () => {
    const text = planInWords(conversionEvent, plan({}, { events: many(3000) })) ?? "";
    expect(text).toContain("events: 3000 to create, 0 unchanged");
    expect(text).toContain("k19, and 2980 more");
    expect(text.length).toBeLessThan(500);
  });

  it("warns about a key that was likely renamed, and says how to send nothing", () => {
    const members = plan({ events: many(30), eventIds: idsOf(30) }, { events: { x: { eventName: "E3", value: 1 } } });
    expect(renamesInWords(conversionEvent, set, members, new Map())).toBe(
      [
        'ConversionEventSet "funnel": 1 new key has the arguments of a key that is no longer declared: this creates a second live event for each. If it is a rename, set existingId, and nothing is created:',
        "  x has the arguments of k3: existingId: 4",
      ].join("\n"),
    );
    const named = plan({ events: many(3), eventIds: idsOf(3) }, { events: { x: { ...A, existingId: 4 } } });
    expect(renamesInWords(conversionEvent, set, named, new Map())).toBe(undefined);
  });

  it("removes control characters from keys", () => {
    const text = planInWords(conversionEvent, plan({}, { events: { "a\u202eb": A } })) ?? "";
    expect(text).toContain("to create: a b");
  });

  const sent = { mark: "m", key: "", fingerprint: "f", at: "2026-01-02T03:04:05.678Z", name: "A", facts: { value: 2 } };
  const earlier = (record: object, more: Partial<Earlier> = {}): Earlier => ({
    record: { ...sent, ...record },
    isSearchable: false,
    takeOver: "if unchanged",
    mayBeGone: false,
    ...more,
  });

  it("says once what an interrupted run left behind", () => {
    const left = new Map(
      Array.from({ length: 1000 }, (_, index) => [
        `k${index}`,
        earlier({ mark: `m${index}`, ...(index % 2 === 0 ? { id: String(index) } : {}) }),
      ]),
    );
    const { text = "", severity } = notSettledInWords(conversionEvent, set, left) ?? {};
    expect(severity).toBe("info");
    expect(text).toContain("left 1000 events behind, and this run sends nothing for them");
    expect(text).toContain("created: k0 (0), k2 (2)");
    expect(text).toContain("sent, outcome unknown: k1, k3");
    expect(text.length).toBeLessThan(1200);
    expect(notSettledInWords(conversionEvent, set, new Map())).toBe(undefined);
  });

  it("says what the `up` does about each event that an interrupted run left behind, and what to do if it fails", () => {
    const left = new Map([
      ["a", earlier({ id: "1" }, { takeOver: "as it is" })],
      ["b", earlier({ id: "2" }, { takeOver: "updated" })],
      ["c", earlier({ id: "3" })],
      ["d", earlier({ id: "4" }, { takeOver: "refused" })],
      ["e", earlier({ id: "5" }, { takeOver: "refused" })],
      ["f", earlier({})],
      ["g", earlier({}, { isSearchable: true })],
      ["h", earlier({ id: "6" }, { takeOver: "updated if it differs", mayBeGone: true })],
      ["i", earlier({ id: "7" }, { takeOver: "if same owner", mayBeGone: true })],
      ["j", earlier({ id: "8" }, { takeOver: "if same owner", mayBeGone: true })],
    ]);
    const [first, second] = ["d", "e"].map((key) => memberRef(set, key).urn);
    expect(notSettledInWords(conversionEvent, set, left)).toEqual({
      severity: "warn",
      text: [
        'ConversionEventSet "funnel": an interrupted run left 10 events behind, and this run sends nothing for them.',
        "  created: a (1); `pulumi up` takes it over",
        "  created with other arguments: b (2); `pulumi up` takes it over, and updates it",
        "  created: h (6); `pulumi up` takes it over, and updates what differs",
        "  created: i (7), j (8); `pulumi up` takes over those whose advertiserId is the same, and stops at the others",
        "  created: c (3); `pulumi up` takes over those whose arguments are the same, and stops at the others",
        "  created with other arguments: d (4), e (5); `pulumi up` sends nothing for them, and fails",
        "  sent, outcome unknown: f; `pulumi up` saves it as unresolved",
        "  sent, outcome unknown: g; `pulumi up` looks for it by mark",
        "`pulumi up` does not take over what it finds gone.",
        `To go on with 4, declare all arguments as they were sent: the ConversionEvent named "A" (value 2), sent at ${sent.at}.`,
        `To go on with 5, declare all arguments as they were sent: the ConversionEvent named "A" (value 2), sent at ${sent.at}.`,
        "To create other ones (these stay live):",
        `  npx pulumi-advertising pending --forget '${first}' --forget '${second}'`,
      ].join("\n"),
    });
  });
});

describe("after an `up`", () => {
  it("lists objects that are no longer managed, with both ids", () => {
    const members = plan(
      { events: many(3), eventIds: idsOf(3) },
      { events: { k0: { eventName: "E0", value: 2 }, k1: { ...A, existingId: 9 } } },
    );
    const outcomes = new Map<string, Outcome>([
      ["k0", { kind: "created", id: "5", mark: "m", isTakenOver: false }],
      ["k1", { kind: "adopted", id: "9" }],
    ]);
    expect(leftLiveInWords(conversionEvent, members, outcomes)).toMatch(
      /^No longer managed after this run: 3 live events\.\n {2}1: k0 is 5 now\n {2}2: k1 is 9 now\n {2}3, which was k2\n/,
    );
    expect(leftLiveInWords(conversionEvent, members, new Map())).toContain("1 live event.");
    // An object that another resource of the program adopts is managed.
    expect(leftLiveInWords(conversionEvent, members, new Map(), (id) => id === "3")).toBe(undefined);
    const text = planInWords(conversionEvent, members, new Set(), (id) => id === "3");
    expect(text).toContain("to remove from the state: k2 (3, adopted elsewhere)");
  });

  it("an object that may still be adopted is perhaps unmanaged, in a preview as well", () => {
    const members = plan({ events: many(2), eventIds: idsOf(2) }, { events: many(1) });
    const unless = "deactivate it there by hand, unless an existingId that is not known yet names it.";
    const text = leftLiveInWords(conversionEvent, members, new Map(), () => false, heldBack([]), true);
    expect(text).toMatch(
      /^Perhaps no longer managed after this run: 1 live event\.\n {2}2, which was k1\nEach stays live/,
    );
    expect(text).toContain(unless);
    expect(planInWords(conversionEvent, members)).toMatch(/deactivate it there by hand\.$/);
    const later = { ...NOTHING_KNOWN, mayBeAdopted: true };
    expect(
      planInWords(conversionEvent, plan({ events: many(2), eventIds: idsOf(2) }, { events: many(1) }, later)),
    ).toContain(unless);
    // A member of the set itself may adopt it, under another key.
    const renamed = plan(
      { events: many(2), eventIds: idsOf(2) },
      { events: { ...many(1), b: { ...A, existingId: UNKNOWN } } },
    );
    expect(planInWords(conversionEvent, renamed)).toContain(unless);
  });

  it("says how many were taken over", () => {
    const outcomes = new Map<string, Outcome>(
      Array.from({ length: 40 }, (_, i) => [
        `k${i}`,
        { kind: "created", id: `${i}`, mark: "m", isTakenOver: i % 2 === 0 },
      ]),
    );
    expect(takenOverInWords(outcomes, set)).toMatch(/had created 20 events.*k38 \(38\)$/);
    expect(takenOverInWords(new Map(), set)).toBe(undefined);
  });
});

describe("the error of the whole set", () => {
  const refusedFor = (member: Member, reason: string): Outcome => ({
    kind: "failed",
    error: new RefusedError(`${memberRef(set, member.key).label}: POST https://x was refused: ${reason}`),
  });
  const doubt: Outcome = {
    kind: "unresolved",
    record: {
      key: "",
      mark: "m",
      fingerprint: "f",
      at: "2026-01-01T00:00:00Z",
      name: "A",
      facts: { advertiserId: 7, value: 1 },
      what: "it was sent, and the connection failed",
    },
  };

  it("has each reason once, with all its keys and its code", () => {
    const members = plan({}, { events: many(50) });
    const outcomes = new Map(
      members.map(
        (member, index) => [member.key, refusedFor(member, index === 7 ? "the name is taken" : "no")] as const,
      ),
    );
    const { text = "", code } = troubleInWords(conversionEvent, set, members, resultOf(members, outcomes), new Map());
    expect(code).toBe("ADVERTISING_REFUSED");
    expect(text.split("\n")).toEqual([
      'ConversionEventSet "funnel": 0 of 50 declared events are in the state. Failed:',
      expect.stringMatching(
        /^ {2}k0, k1, .*k20, and 29 more: POST https:\/\/x was refused: no \[ADVERTISING_REFUSED\]$/,
      ),
      "  k7: POST https://x was refused: the name is taken [ADVERTISING_REFUSED]",
      "The next `pulumi up` sends only what is missing.",
    ]);
  });

  it("shortens 3,000 refusals with different words", () => {
    const members = plan({}, { events: many(3000) });
    const outcomes = new Map(members.map((member) => [member.key, refusedFor(member, `no ${member.key}`)] as const));
    const { text } = troubleInWords(conversionEvent, set, members, resultOf(members, outcomes), new Map());
    expect(text).toContain("and 2980 more reasons");
    expect(text.length).toBeLessThan(4000);
  });

  it("has the commands that settle an unknown outcome, ready to copy into a shell", () => {
    const key = `it's "a"`;
    const members = plan({}, { events: { [key]: A, b: A, c: A } });
    const outcomes = new Map<string, Outcome>([
      [key, doubt],
      ["b", doubt],
      ["c", { kind: "adopted", id: "1" }],
    ]);
    const { text = "", code } = troubleInWords(
      conversionEvent,
      set,
      members,
      resultOf(members, outcomes),
      new Map([["c", "1"]]),
    );
    expect(code).toBe("ADVERTISING_OUTCOME_UNKNOWN");
    expect(text).toContain("The outcome of 2 events is unknown");
    expect(text).toContain('the ConversionEvent named "A" (advertiserId 7, value 1), sent at 2026-01-01T00:00:00Z');
    expect(text).toContain(
      `--not-created 'urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEventSet::funnel["it'\\''s \\"a\\""]'`,
    );
    const member = (each: string) =>
      `'urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEventSet::funnel[${each}]`;
    const [first, second] = [member(`"it'\\''s \\"a\\""`), member(`"b"`)];
    expect(text).toContain(
      `For those that are there:\n  npx pulumi-advertising pending --created ${first}=<its id>' --created ${second}=<its id>'\n`,
    );
    expect(text).toContain(
      `For those that are not there:\n  npx pulumi-advertising pending --not-created ${first}' --not-created ${second}'\n`,
    );
  });

  it.each([
    [0, 1, "0 of 1 declared event is in the state"],
    [1, 2, "1 of 2 declared events is in the state"],
    [0, 2, "0 of 2 declared events are in the state"],
  ])("%i of %i", (held, all, sentence) => {
    const members = plan({}, { events: many(all) });
    const outcomes = new Map(members.slice(held).map(({ key }) => [key, doubt] as const));
    const { text } = troubleInWords(
      conversionEvent,
      set,
      members,
      resultOf(members, outcomes),
      new Map(members.slice(0, held).map(({ key }) => [key, "1"])),
    );
    expect(text).toContain(sentence);
  });

  it("shortens the list of unknown outcomes", () => {
    const members = plan({}, { events: many(500) });
    const outcomes = new Map(members.map(({ key }) => [key, doubt] as const));
    const { text } = troubleInWords(conversionEvent, set, members, resultOf(members, outcomes), new Map());
    expect(text).toContain("The outcome of 500 events is unknown");
    expect(text).toContain("and 480 more, which this lists:\n    npx pulumi-advertising pending\n");
    expect(text).toMatch(/^ConversionEventSet "funnel": 0 of 500 declared events are in the state\.\n/);
    expect(text.length).toBeLessThan(10_000);
  });
});
