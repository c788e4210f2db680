/** What becomes of each member of a set, and what is in the state afterwards. */
import { describe, expect, it } from "vitest";
import { RefusedError } from "../../provider/src/base/errors.js";
import type { Values } from "../../provider/src/base/record.js";
import { isChange, membersOf } from "../../provider/src/decision/members.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOfBody } from "../../provider/src/kinds/kind.js";
import { heldBack, type Outcome, setAfter } from "../../provider/src/provider/outcome.js";
import { exactId } from "../../provider/src/rules/fields.js";
import { UNKNOWN } from "../../provider/src/state/properties.js";
import { eventIn, readDeclaredSet, readStoredSet, writeStoredSet } from "../../provider/src/state/stored-set.js";

const bodyOf = (shared: { advertiserId: unknown; defaults: unknown }, entry: Values) =>
  fingerprintOfBody(conversionEvent, eventIn(shared, entry));

const shared = { advertiserId: 7, defaults: { clickWindow: 60 } };
const A = { eventName: "A", value: 1 };
const B = { eventName: "B", value: 2 };
const unresolvedMember = { mark: "m", fingerprint: "f", since: "2026-01-01T00:00:00Z", what: "sent" };
const created = (id: string): Outcome => ({ kind: "created", id, mark: "m", isTakenOver: false });
const refused: Outcome = { kind: "failed", error: new RefusedError("no") };
const doubt: Outcome = {
  kind: "unresolved",
  record: { key: "", mark: "m2", fingerprint: "f2", at: "2026-01-02T00:00:00Z", what: "sent" },
};

/** Plans, then applies the outcomes. @returns the actions, and the state as the engine would save it. */
function step(olds: Values, news: Values, done: Record<string, Outcome> = {}, secret: string[] = []) {
  const [stored, declared] = [readStoredSet(olds), readDeclaredSet(news)];
  const members = membersOf(conversionEvent, stored, declared);
  return {
    actions: Object.fromEntries(
      members.map(({ key, action }) => [
        key,
        action.do === "replace" && action.perhaps ? "perhaps replace" : action.do,
      ]),
    ),
    changes: isChange(declared, members),
    /** Only in an `up`, where everything is known. */
    get state() {
      const outcomes = new Map(Object.entries(done));
      const after = setAfter(conversionEvent, {
        stored,
        members,
        outcomes,
        deletions: heldBack([]),
        shared: declared,
        secret: new Set(secret),
        at: "",
      });
      return JSON.parse(
        JSON.stringify(writeStoredSet({ ...after, leftLive: stored.leftLive, created: undefined }, exactId, "")),
      ) as Values;
    },
  };
}

const held = { ...shared, events: { a: A, b: B }, eventIds: { a: 1, b: 2 } };

describe("actions", () => {
  it.each<[string, Values, Values, Record<string, string>, boolean]>([
    ["a new set", {}, { ...shared, events: { a: A } }, { a: "create" }, true],
    ["nothing differs", held, { ...shared, events: { b: B, a: A } }, { b: "keep", a: "keep" }, false],
    [
      "a member differs",
      held,
      { ...shared, events: { a: { ...A, value: 3 }, b: B } },
      { a: "replace", b: "keep" },
      true,
    ],
    ["a key is gone", held, { ...shared, events: { a: A } }, { a: "keep", b: "let go" }, true],
    [
      "a key is new",
      held,
      { ...shared, events: { ...held.events, c: A } },
      { a: "keep", b: "keep", c: "create" },
      true,
    ],
    ["another advertiser", held, { ...held, advertiserId: 8 }, { a: "replace", b: "replace" }, true],
    [
      "other defaults, which one member overrides",
      held,
      { ...shared, defaults: { clickWindow: 61 }, events: { a: A, b: { ...B, clickWindow: 60 } } },
      { a: "replace", b: "keep" },
      true,
    ],
    [
      "the advertiser is not known",
      held,
      { ...held, advertiserId: UNKNOWN, events: { a: A, c: A, d: { ...A, existingId: 9 } } },
      { a: "perhaps replace", c: "create", d: "adopt", b: "let go" },
      true,
    ],
    [
      "an entry is not known",
      held,
      { ...shared, events: { a: UNKNOWN, b: B, c: UNKNOWN } },
      { a: "perhaps replace", b: "keep", c: "create" },
      true,
    ],
    [
      "a part of an entry is not known",
      held,
      { ...shared, events: { a: { ...A, value: UNKNOWN }, b: B } },
      { a: "perhaps replace", b: "keep" },
      true,
    ],
    ["no member is known", held, { ...shared, events: UNKNOWN }, { a: "perhaps replace", b: "perhaps replace" }, true],
    ["none is known, and the set was empty", {}, { ...shared, events: UNKNOWN }, {}, true],
    [
      "existingId names another object",
      held,
      { ...shared, events: { a: { ...A, existingId: 9 }, b: B } },
      { a: "adopt", b: "keep" },
      true,
    ],
    [
      "existingId names its own object",
      held,
      { ...shared, events: { a: { ...A, existingId: 1 }, b: B } },
      { a: "keep", b: "keep" },
      false,
    ],
    [
      "existingId names its own object, with other arguments",
      held,
      { ...shared, events: { a: { ...A, value: 5, existingId: 1 }, b: B } },
      { a: "adopt", b: "keep" },
      true,
    ],
    [
      "unresolved",
      { ...held, unresolved: { a: unresolvedMember, c: unresolvedMember } },
      { ...shared, events: { a: A, c: A } },
      { a: "wait", c: "wait", b: "let go" },
      true,
    ],
    [
      "unresolved, and settled with existingId",
      { ...held, unresolved: { a: unresolvedMember, c: unresolvedMember } },
      { ...shared, events: { a: { ...A, existingId: 1 }, c: { ...A, existingId: 9 }, b: B } },
      { a: "adopt", c: "adopt", b: "keep" },
      true,
    ],
    [
      "unresolved, and no longer declared",
      { ...held, unresolved: { b: unresolvedMember, c: unresolvedMember } },
      { ...shared, events: { a: A } },
      { a: "keep", b: "wait", c: "wait" },
      true,
    ],
    [
      "unresolved, and its object is adopted under another key",
      { ...held, unresolved: { c: { ...unresolvedMember, name: "C" } } },
      { ...shared, events: { a: A, b: B, d: { eventName: "C", value: 1, existingId: 9 } } },
      { a: "keep", b: "keep", c: "keep", d: "adopt" },
      true,
    ],
    [
      "unresolved, and another object is adopted under another key",
      { ...held, unresolved: { c: { ...unresolvedMember, name: "C" } } },
      { ...shared, events: { a: A, b: B, d: { eventName: "D", value: 1, existingId: 9 } } },
      { a: "keep", b: "keep", c: "wait", d: "adopt" },
      true,
    ],
    [
      "unresolved, and another key names an object that the set already had",
      { ...held, unresolved: { c: { ...unresolvedMember, name: "A" } } },
      { ...shared, events: { a: { ...A, existingId: 1 }, b: B } },
      { a: "keep", b: "keep", c: "wait" },
      true,
    ],
  ])("%s", (_, olds, news, actions, changes) => {
    const plan = step(olds, news);
    expect(plan.actions).toEqual(actions);
    expect(plan.changes).toBe(changes);
  });

  it.each(["constructor", "toString", "hasOwnProperty", "a.b", `a"]["b`, "событие 🛒", "1", "__x", "k".repeat(100)])(
    "the key %s is a key like any other",
    (key) => {
      const declared = { ...shared, events: { [key]: A } };
      const first = step({}, declared, { [key]: created("5") });
      expect(first.actions).toEqual({ [key]: "create" });
      expect(first.state).toEqual({ ...declared, eventIds: { [key]: 5 } });
      expect(step(first.state, declared).actions).toEqual({ [key]: "keep" });
      expect(step(first.state, { ...shared, events: {} }).actions).toEqual({ [key]: "let go" });
      // An inherited property does not count as a member.
      expect(step({}, { ...shared, events: { x: A } }).actions).toEqual({ x: "create" });
    },
  );
});

describe("the state afterwards", () => {
  it("has what was created but not what was refused, which the next run sends again", () => {
    const news = { ...shared, events: { a: A, b: B } };
    const { state } = step({}, news, { a: created("1"), b: refused });
    expect(state).toEqual({ ...shared, events: { a: A }, eventIds: { a: 1 } });
    expect(step(state, news).actions).toEqual({ a: "keep", b: "create" });
  });

  it("an id beyond a number's precision stays exact", () => {
    const news = { ...shared, events: { a: A } };
    const { state } = step({}, news, { a: created("9007199254740993") });
    expect(state.eventIds).toEqual({ a: "9007199254740993" });
    expect(step(state, news).actions).toEqual({ a: "keep" });
  });

  it("a member that could not be replaced keeps its id and arguments, also if the advertiser changed", () => {
    const news = { ...shared, advertiserId: 8, events: { a: A, b: B } };
    const { state } = step(held, news, { a: created("3"), b: refused });
    expect(state).toEqual({
      ...news,
      eventIds: { a: 3, b: 2 },
      earlier: { b: `${bodyOf(shared, B)} 7` },
    });
    expect(step(state, news).actions).toEqual({ a: "keep", b: "replace" });
    // With the advertiser changed back, nothing is sent for it.
    expect(step(state, { ...news, advertiserId: 7 }).actions).toEqual({ a: "replace", b: "keep" });
    expect(step(state, news, { b: created("4") }).state).toEqual({ ...news, eventIds: { a: 3, b: 4 } });
  });

  it("`earlier` outlives several runs that fail", () => {
    const news = { ...shared, advertiserId: 8, events: { a: A, b: B } };
    const first = step(held, news, { a: refused, b: refused });
    const second = step(first.state, { ...news, advertiserId: 9 }, { a: refused, b: refused });
    expect(second.state.earlier).toEqual({ a: `${bodyOf(shared, A)} 7`, b: `${bodyOf(shared, B)} 7` });
    expect(step(second.state, held).actions).toEqual({ a: "keep", b: "keep" });
  });

  it("a member that could not be updated keeps its arguments beside other defaults, so that the next run can update it", () => {
    const can = { read: true, update: true, delete: true, search: () => false };
    const defaults = { clickWindow: 90, attribution: "ALL" };
    const news = { advertiserId: 7, defaults, events: { a: A, b: B } };
    const { state } = step(held, news, { a: { kind: "updated", id: "1" }, b: refused });
    expect(state).toEqual({
      ...news,
      events: { a: A, b: { ...B, clickWindow: 60, attribution: null } },
      eventIds: held.eventIds,
    });
    const circumstances = { can, replaceOnChanges: [], deletes: () => true };
    const again = membersOf(conversionEvent, readStoredSet(state), readDeclaredSet(news), circumstances);
    expect(again.map(({ action }) => action)).toEqual([
      { do: "keep" },
      { do: "update", changed: ["clickWindow", "attribution"] },
    ]);
    expect(step(state, held).actions).toEqual({ a: "replace", b: "keep" });
  });

  it("an unknown outcome is kept beside the id that it was to replace, until it is settled", () => {
    const news = { ...shared, events: { a: { ...A, value: 3 }, b: B, c: A } };
    const first = step(held, news, { a: doubt, c: doubt });
    const open = { since: "2026-01-02T00:00:00Z", what: "sent", mark: "m2", fingerprint: "f2" };
    expect(first.state).toEqual({ ...held, unresolved: { a: open, c: open } });
    expect(step(first.state, news).state).toEqual(first.state);
    // It still waits if its entry is removed or changed back.
    expect(step(first.state, { ...shared, events: { b: B } }).state).toEqual({
      ...held,
      unresolved: { a: open, c: open },
    });
    const named = {
      ...shared,
      events: { a: { ...A, value: 3, existingId: 11 }, b: B, c: { ...A, existingId: 12 } },
    };
    const settled = step(first.state, named, { a: { kind: "adopted", id: "11" }, c: { kind: "adopted", id: "12" } });
    expect(settled.state).toEqual({ ...named, eventIds: { a: 11, b: 2, c: 12 } });
    // existingId may be removed afterwards.
    expect(step(settled.state, news).changes).toBe(false);
  });

  it("a member stays unresolved until another key has adopted its object, and if that adoption is given up", () => {
    const open = { since: "2026-01-02T00:00:00Z", what: "sent", mark: "m2", fingerprint: "f2", name: "C" };
    const news = { ...shared, events: { a: A, b: B, d: { eventName: "C", value: 1, existingId: 9 } } };
    const failed = step({ ...held, unresolved: { c: open } }, news, { d: refused });
    expect(failed.state).toEqual({ ...held, unresolved: { c: { ...open, adoptedAs: "9" } } });
    expect(step(failed.state, held)).toMatchObject({ actions: { c: "wait" }, state: { unresolved: { c: open } } });
    expect(step(failed.state, held).state.unresolved).not.toHaveProperty(["c", "adoptedAs"]);
  });

  it("arguments that were changed by hand and are given with the same existingId are stored as the object's", () => {
    const changed = { ...shared, events: { a: { ...A, value: 5, existingId: 1 }, b: B } };
    const { state } = step(held, changed, { a: { kind: "adopted", id: "1" } });
    expect(step(state, { ...shared, events: { a: { ...A, value: 5 }, b: B } }).changes).toBe(false);
  });

  it("the values of secret arguments of an entry that is no longer declared are dropped, because nothing would keep them secret", () => {
    const secret = [`events["a"].eventName`];
    const first = step({}, { ...shared, events: { a: A, b: B } }, { a: created("1"), b: created("2") }, secret);
    expect(first.state.__secret).toEqual(secret);
    const news = { ...shared, events: { a: { eventName: "Public", value: 1 }, b: B } };
    const second = step(first.state, news, { a: refused });
    expect(second.state).toEqual({
      ...held,
      events: { a: { eventName: null, value: 1 }, b: B },
      earlier: { a: `${bodyOf(shared, A)} 7` },
    });
    expect(step(second.state, news).actions).toEqual({ a: "replace", b: "keep" });
    expect(step(second.state, { ...shared, events: { a: A, b: B } }).actions).toEqual({ a: "keep", b: "keep" });
  });

  it.each([
    ["all events", ["events"], { a: A, b: B }],
    ["the event", [`events["a"]`], { a: A, b: B }],
    ["the argument", [`events["a"].eventName`], { a: A, b: B }],
    ["the defaults", ["defaults"], { a: A, b: B }],
  ])("secret arguments are kept where the present input keeps them secret: %s", (_, secret, events) => {
    const first = step({}, { ...shared, events: { a: A, b: B } }, { a: created("1"), b: created("2") }, secret);
    const news = { ...shared, events: { a: { ...A, value: 5 }, b: { ...B, value: 5 } } };
    const { state } = step(first.state, news, { a: refused, b: refused }, secret);
    expect(state).toMatchObject({ events });
    expect(state).not.toHaveProperty("earlier");
  });

  it("a secret default of then is not stored in an entry, which would not keep it secret; it can be updated all the same", () => {
    const olds = { ...held, __secret: ["defaults.clickWindow"] };
    const news = { ...held, defaults: { clickWindow: 90 } };
    const refusedIn = (secret: string[]) => step(olds, news, { a: refused, b: refused }, secret).state;
    const can = { read: false, update: true, delete: true, search: () => false };
    const circumstances = { can, replaceOnChanges: [], deletes: () => true };
    const next = (more: object) => {
      const stored = readStoredSet({ ...refusedIn(["defaults.clickWindow"]), ...more });
      return membersOf(conversionEvent, stored, readDeclaredSet(news), circumstances)[0]?.action;
    };
    expect(next({})).toEqual({ do: "update", changed: ["clickWindow"] });
    // Nobody knows its advertiser in a state of an earlier version, or if its create was settled with other arguments.
    expect(next({ earlier: { a: bodyOf(shared, A) } })).toEqual({ do: "replace", perhaps: false });
    expect(next({ earlier: { a: `${bodyOf(shared, A)} 8` } })).toEqual({ do: "replace", perhaps: false });
    expect(refusedIn(["defaults.clickWindow"])).toMatchObject({
      events: held.events,
      earlier: { a: `${bodyOf(shared, A)} 7` },
    });
    expect(refusedIn(["events"]).events).toEqual({ a: { ...A, clickWindow: 60 }, b: { ...B, clickWindow: 60 } });
  });
});

it("reads a state in the form of the contract", () => {
  const state = {
    advertiserId: 7,
    defaults: {
      countUnique: false,
      clickWindow: 604_800,
      viewWindow: 2_592_000,
      attribution: "ALL",
      additionalFields: { team: "x" },
    },
    events: {
      landing: { eventName: "Landing page", value: 0, eventTypeId: 1 },
      purchase: { eventName: "Purchase", value: 25, existingId: 4711 },
      lead: { eventName: "Lead", value: 3 },
    },
    eventIds: { landing: 1, purchase: 4711, lead: "9007199254740993" },
    earlier: { lead: "fd8ad8ac2bd60f2e38b2d9cb4f2d6a9b" },
    unresolved: {
      lead: {
        since: "2026-11-21T20:00:00.000Z",
        what: `events["lead"] of ConversionEventSet "funnel": POST https://x.example/rest/event was sent`,
        urn: `urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEventSet::funnel["lead"]`,
        name: "Lead",
        facts: { advertiserId: 7, value: 4 },
        replaces: "9007199254740993",
        mark: "5b1c6d1e-0000-4000-8000-000000000000",
        fingerprint: "fd8ad8ac2bd60f2e38b2d9cb4f2d6a9c",
      },
    },
    __at: "https://x.example ops@example.com",
    __provider: 'exports.handler=()=>require("pulumi-advertising/handlers").conversionEventSet',
  };
  const stored = readStoredSet(state);
  expect(writeStoredSet(stored, exactId, state.__at)).toEqual({ ...state, __provider: undefined });
  const { events, advertiserId, defaults } = state;
  const { actions } = step(state, { advertiserId, defaults, events });
  expect(actions).toEqual({ landing: "keep", purchase: "keep", lead: "wait" });
  // How the fingerprint of a body is made is a contract too.
  const [landing] = membersOf(conversionEvent, stored, readDeclaredSet({ advertiserId, defaults, events }));
  expect(landing?.fingerprint).toMatchInlineSnapshot(`"5eb6a87d3abda4defe2ea9226cd4dfa8"`);
});
