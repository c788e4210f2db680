/** Which objects leave a resource, and what the state has after an `up`: what each outcome makes of each action. */
import { describe, expect, it } from "vitest";
import { conversionEvent as event } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOfBody } from "../../provider/src/kinds/kind.js";
import {
  type Abilities,
  decideObjects,
  departuresOf,
  nextState,
  type ObjectAfter,
  type ResourceChange,
} from "../../provider/src/plan/index.js";
import {
  readDeclaredSet,
  readStoredSet,
  type Unresolved,
} from "../../provider/src/state/index.js";

const AT = "2026-03-02T10:00:00.000Z";
const BUY = { eventName: "Buy", value: 1 };
const BUY_2 = { ...BUY, value: 2 };
const OWNER = { advertiserId: 7 };
const bodyOf = (entry: object) => fingerprintOfBody(event, { ...OWNER, ...entry });
const record: Unresolved = { at: AT, mark: "m", body: "b", what: "It was sent." };

interface Situation {
  /** The state of the event `k`, and what the program declares for it. */
  stored?: object;
  declared?: object;
  can?: Abilities;
  deletes?: boolean;
  secret?: string[];
}

function changeOf(given: Situation): ResourceChange {
  const { can = {}, deletes = false, secret = [] } = given;
  const stored = readStoredSet({ ...OWNER, ...given.stored });
  const declared = readDeclaredSet({ ...OWNER, events: given.declared ?? {} });
  const fateOf = (id: string) => ({ id, isDeleted: Boolean(can.delete && deletes) });
  const objects = decideObjects(event, stored, declared, { can, fateOf });
  return { kind: event, stored, declared, objects, secret: new Set(secret) };
}

const HELD = { events: { k: BUY }, eventIds: { k: 5 } };
const OPEN = { unresolved: { k: record } };
const UPDATES: Abilities = { update: true };

/** What the state has of `k` afterwards. */
function afterwards(situation: Situation, after: ObjectAfter | undefined) {
  const change = changeOf(situation);
  const outcomes = new Map(after && [["k", after]]);
  const next = nextState(change, outcomes);
  const [object] = change.objects;
  const { eventIds, events, sentAs, unresolved } = next;
  return {
    action: object?.action.do,
    state: withoutNothing({
      id: eventIds.get("k"),
      entry: events.get("k"),
      sentAs: sentAs.get("k"),
      unresolved: unresolved.get("k"),
    }),
    left: departuresOf(change, outcomes, AT).map(({ id }) => id),
  };
}

const withoutNothing = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));

const ADOPTED = { ...BUY, existingId: 9 };
const OPEN_STATE = { unresolved: record };
const asOwned = { body: bodyOf(BUY), owner: "7" };
const FIELDS = ["event_name", "advertiser_id", "value"];

describe("each outcome of each action", () => {
  it.each<[string, Situation, ObjectAfter | undefined, object, string[]?]>([
    ["create: created", { declared: { k: BUY } }, { id: "6" }, { id: "6", entry: BUY }],
    ["create: unknown", { declared: { k: BUY } }, { record }, OPEN_STATE],
    ["create: failed", { declared: { k: BUY } }, {}, {}],
    [
      "create: taken over as it was sent",
      { declared: { k: BUY } },
      { id: "6", sentAs: { body: "x" } },
      { id: "6", entry: BUY, sentAs: { body: "x" } },
    ],
    [
      "same: nothing is done",
      { stored: HELD, declared: { k: BUY } },
      undefined,
      { id: "5", entry: BUY },
    ],
    [
      "replace: created",
      { stored: HELD, declared: { k: BUY_2 } },
      { id: "6" },
      { id: "6", entry: BUY_2 },
      ["5"],
    ],
    [
      "replace: unknown; the old object stays",
      { stored: HELD, declared: { k: BUY_2 } },
      { record },
      { id: "5", entry: BUY, unresolved: record },
    ],
    [
      "replace: failed",
      { stored: HELD, declared: { k: BUY_2 } },
      {},
      { id: "5", entry: BUY },
    ],
    [
      "update: updated",
      { stored: HELD, declared: { k: BUY_2 }, can: UPDATES },
      { id: "5" },
      { id: "5", entry: BUY_2 },
    ],
    [
      "update: refused",
      { stored: HELD, declared: { k: BUY_2 }, can: UPDATES },
      { isUnsure: false },
      { id: "5", entry: BUY },
    ],
    [
      "update: perhaps carried out",
      { stored: HELD, declared: { k: BUY_2 }, can: UPDATES },
      { isUnsure: true },
      { id: "5", entry: BUY, sentAs: { ...asOwned, isUnsure: true, fields: FIELDS } },
    ],
    [
      "adopt: adopted",
      { stored: HELD, declared: { k: ADOPTED } },
      { id: "9" },
      { id: "9", entry: ADOPTED },
      ["5"],
    ],
    [
      "adopt: failed",
      { stored: HELD, declared: { k: ADOPTED } },
      {},
      { id: "5", entry: BUY },
    ],
    [
      "update state only",
      { stored: HELD, declared: { k: { ...BUY_2, existingId: 5 } } },
      { id: "5" },
      { id: "5", entry: { ...BUY_2, existingId: 5 } },
    ],
    [
      "recover: found",
      {
        stored: { unresolved: { k: { ...record, field: "f" } } },
        declared: { k: BUY },
        can: { search: true, markField: "f" },
      },
      { id: "6" },
      { id: "6", entry: BUY },
    ],
    [
      "blocked: nothing is done",
      { stored: OPEN, declared: { k: BUY } },
      undefined,
      { unresolved: record },
    ],
    [
      "blocked: an answer adopts another object than the old one",
      { stored: { ...HELD, ...OPEN }, declared: { k: ADOPTED } },
      { id: "9" },
      { id: "9", entry: ADOPTED },
      ["5"],
    ],
  ])("%s", (what, situation, after, state, left = []) => {
    const result = afterwards(situation, after);
    expect(result).toEqual({ action: expect.any(String), state, left });
    const [action] = what.split(":");
    if (!what.includes("answer")) expect(result.action).toBe(action);
  });

  it.each([true, false])("what is removed leaves, deleted or not: %s", (deletes) => {
    const change = changeOf({ stored: HELD, can: { delete: true }, deletes });
    const [object] = change.objects;
    expect(object?.action.do).toBe(deletes ? "delete" : "retain");
    expect(departuresOf(change, new Map(), AT)).toEqual([
      { id: "5", at: AT, name: "Buy", key: "k" },
    ]);
    // Only a delete that failed stays in the state.
    const still = nextState(change, new Map());
    expect([...still.eventIds]).toEqual([["k", "5"]]);
    expect(nextState({ ...change, objects: [] }, new Map()).eventIds.size).toBe(0);
  });
});

describe("what leaves", () => {
  it("has no secret name, and a single resource's has no key", () => {
    const change = changeOf({ stored: HELD, secret: ["eventName"] });
    expect(departuresOf(change, new Map(), AT)).toEqual([{ id: "5", at: AT, key: "k" }]);
    const objects = change.objects.map((each) => ({ ...each, key: "" }));
    const single = departuresOf({ ...change, objects }, new Map(), AT);
    expect(single).toEqual([{ id: "5", at: AT }]);
  });

  it("is what a single resource replaces, though its `create` has no id", () => {
    const change = changeOf({ declared: { k: BUY } });
    const leaving = { id: "5", isDeleted: true };
    const objects = change.objects.map((each) => ({ ...each, leaving }));
    const departures = (after: ObjectAfter) =>
      departuresOf({ ...change, objects }, new Map([["k", after]]), AT);
    expect(departures({ id: "6" })).toMatchObject([{ id: "5" }]);
    expect(departures({ id: "5" })).toEqual([]); // taken over
  });
});

describe("how the state describes an object", () => {
  const unsure = { body: "x", owner: "7", isUnsure: true };
  const sentAs = { k: unsure };

  it("a doubt about an update stays while no update is known, and goes with one", () => {
    const stored = { ...HELD, sentAs: { k: { ...unsure, body: bodyOf(BUY) } } };
    const same = { stored, declared: { k: BUY } };
    expect(afterwards(same, undefined)).toMatchObject({
      action: "same",
      state: { sentAs: { isUnsure: true } },
    });
    const updated = afterwards({ ...same, can: UPDATES }, { id: "5" });
    expect(updated).toEqual({ action: "update", state: { id: "5", entry: BUY }, left: [] });
  });

  it("what was sent with other arguments is so until it is made as declared", () => {
    const stored = { ...HELD, sentAs };
    const failed = afterwards({ stored, declared: { k: BUY_2 } }, {});
    expect(failed.state).toEqual({ id: "5", entry: BUY, sentAs: unsure });
    const created = afterwards({ stored, declared: { k: BUY_2 } }, { id: "6" });
    expect(created.state).toEqual({ id: "6", entry: BUY_2 });
  });

  it("after a failure nothing is left of old values that may be secret, not even a fingerprint", () => {
    const secret = { stored: HELD, declared: { k: BUY_2 }, secret: ["value"] };
    const { state } = afterwards(secret, {});
    expect(state).toEqual({ id: "5", entry: {}, sentAs: { body: "", owner: "7" } });
    const owner = afterwards({ ...secret, secret: ["advertiserId"] }, { isUnsure: true });
    // An object of unknown owner can't be updated, so the doubt is of no use.
    expect(owner.state).toEqual({ id: "5", entry: {}, sentAs: { body: "" } });
  });

  it("after a failure an event keeps the defaults that it was made with", () => {
    const change = changeOf({ stored: HELD, declared: { k: BUY_2 } });
    const declared = readDeclaredSet({
      ...OWNER,
      defaults: { viewWindow: 60 },
      events: { k: BUY_2 },
    });
    const next = nextState({ ...change, declared }, new Map([["k", {}]]));
    expect(next.sentAs.get("k")).toEqual(asOwned);
    expect(next.defaults).toEqual({ viewWindow: 60 });
  });
});
