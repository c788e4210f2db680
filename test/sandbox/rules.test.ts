/** The sandbox follows the platform's API page: what it accepts, refuses and fills in. */
import { describe, expect, it } from "vitest";
import type { SandboxOptions } from "../../provider/src/sandbox/index.js";
import { judgeAdvertiser, judgeEvent } from "../../provider/src/sandbox/rules.js";
import { useSandbox } from "../support/stack.js";

const LIMIT = 2_592_000;
const advertisers = new Map([
  [1, { id: 1, active: true }],
  [2, { id: 2, active: false }],
]);
const event = { event_name: "E", advertiser_id: 1, value: 1 };

const judged = (body: object, limit = LIMIT) => judgeEvent({ ...body }, limit, advertisers);
/** The fields that are refused in a valid event with `changes`. */
const refused = (changes: object, limit = LIMIT) =>
  judged({ ...event, ...changes }, limit).faults.map(({ field }) => field);

describe("an event", () => {
  it("needs only a name, an advertiser and a value", () => {
    expect(judged(event).faults).toEqual([]);
    expect(judged({}).faults.map(({ field, sentence }) => `${field} ${sentence}`)).toEqual([
      "event_name is required",
      "advertiser_id is required",
      "value is required",
    ]);
    expect(refused({ event_name: null, value: null })).toEqual(["event_name", "value"]);
  });

  it("gets the defaults for what it leaves out, and keeps its own values", () => {
    expect(judged(event).fields).toEqual({
      ...event,
      count_unique: false,
      click_window: LIMIT,
      view_window: LIMIT,
      attribution: "ALL",
    });
    const whole = {
      ...event,
      event_type_id: 0,
      segment_id: 7,
      count_unique: true,
      click_window: 1,
      view_window: 2,
      attribution: "WHITELIST",
    };
    expect(judged(whole)).toEqual({ fields: whole, faults: [], unknown: [] });
  });

  it("gets no default window above the installation's limit", () => {
    expect(judged(event, 3600)).toMatchObject({ fields: { click_window: 3600, view_window: 3600 }, faults: [] });
    expect(judged(event, 2 * LIMIT).fields).toMatchObject({ click_window: LIMIT, view_window: LIMIT });
  });

  it.each<[number, boolean]>([
    [0, false],
    [1, true],
    [99, true],
    [100, false],
  ])("a name of %i characters: accepted is %s", (length, isTaken) => {
    for (const character of ["x", "ä", "🎉"])
      expect(refused({ event_name: character.repeat(length) })).toEqual(isTaken ? [] : ["event_name"]);
  });

  it.each<[unknown, boolean]>([
    [-1, false],
    [0, false],
    [0.5, false],
    [1, true],
    [1.5, false],
    [LIMIT, true],
    [LIMIT + 1, false],
    ["3600", false],
    [true, false],
  ])("a window of %o: accepted is %s", (seconds, isTaken) => {
    for (const field of ["click_window", "view_window"])
      expect(refused({ [field]: seconds })).toEqual(isTaken ? [] : [field]);
  });

  it("a window is checked with the installation's own limit", () => {
    expect(refused({ click_window: 3600, view_window: 3601 }, 3600)).toEqual(["view_window"]);
    expect(refused({ click_window: LIMIT + 1 }, LIMIT + 1)).toEqual([]);
  });

  it.each<[unknown, boolean]>([
    ["ALL", true],
    ["WHITELIST", true],
    ["all", false],
    ["", false],
    ["BLACKLIST", false],
    [1, false],
  ])("attribution %o: accepted is %s", (attribution, isTaken) => {
    expect(refused({ attribution })).toEqual(isTaken ? [] : ["attribution"]);
  });

  it.each<[string, unknown[], unknown[]]>([
    ["event_name", ["x"], [1, true, ["x"], {}]],
    ["advertiser_id", [1], ["1", 1.5, true, [1], {}]],
    ["event_type_id", [0, 1, 4711], ["0", 0.5, -1, true]],
    ["segment_id", [0, 4711], ["7", 0.5, -1, false]],
    ["value", [0, -1, 0.5, 1e21], ["1", true, [], {}]],
    ["count_unique", [true, false], ["true", 0, 1]],
  ])("types: %s", (field, taken, wrong) => {
    for (const value of taken) expect([value, refused({ [field]: value })]).toEqual([value, []]);
    for (const value of wrong) expect([value, refused({ [field]: value })]).toEqual([value, [field]]);
  });

  it("an advertiser that does not exist, or is not active, is refused", () => {
    expect(judged({ ...event, advertiser_id: 3 }).faults).toEqual([
      { field: "advertiser_id", sentence: "there is no advertiser 3" },
    ]);
    expect(judged({ ...event, advertiser_id: 2 }).faults).toEqual([
      { field: "advertiser_id", sentence: "advertiser 2 is not active" },
    ]);
  });

  it("all problems are reported at once", () => {
    const wrong = { event_name: "", advertiser_id: "1", value: "1", click_window: 0, attribution: "none" };
    expect(refused(wrong)).toEqual(["event_name", "advertiser_id", "value", "click_window", "attribution"]);
  });

  it("unknown fields are named and dropped, except for those of the installation", () => {
    const body = { ...event, alternative_id: "x", colour: "red", toString: 1 };
    expect(judged(body)).toMatchObject({ faults: [], unknown: ["colour", "toString"] });
    expect(judged(body).fields).toMatchObject({ alternative_id: "x" });
    expect(Object.keys(judged(body).fields)).not.toContain("colour");
  });
});

describe("an advertiser", () => {
  it("needs a name of at least one character", () => {
    expect(judgeAdvertiser({ advertiser_name: "A" })).toEqual({
      fields: { advertiser_name: "A" },
      faults: [],
      unknown: [],
    });
    for (const advertiser_name of ["", 1, ["A"], true]) {
      expect(judgeAdvertiser({ advertiser_name }).faults).toMatchObject([{ field: "advertiser_name" }]);
    }
    expect(judgeAdvertiser({}).faults).toEqual([{ field: "advertiser_name", sentence: "is required" }]);
    expect(judgeAdvertiser({ advertiser_name: "x".repeat(10_000) }).faults).toEqual([]);
  });
});

describe("over HTTP", () => {
  async function start(options: SandboxOptions = {}) {
    const sandbox = await useSandbox({ authMode: "basic", ...options });
    const authorization = `Basic ${Buffer.from(`${sandbox.email}:${sandbox.password}`).toString("base64")}`;
    const post = async (noun: string, body: unknown) => {
      const answer = await fetch(`${sandbox.url}/rest/${noun}`, {
        method: "POST",
        headers: { authorization },
        body: typeof body === "string" ? body : JSON.stringify(body),
      });
      return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
    };
    return { sandbox, post };
  }

  it("an event is created only with an active advertiser", async () => {
    const { sandbox, post } = await start({ advertisersStartActive: false });
    await post("advertiser", { advertiser_name: "idle" });
    await post("advertiser", { advertiser_name: "active", active: true });
    expect(await post("event", event)).toMatchObject({
      status: 406,
      body: { success: false, errors: ["advertiser_id advertiser 1 is not active"] },
    });
    expect(await post("event", { ...event, advertiser_id: 4 })).toMatchObject({ status: 406 });
    expect(sandbox.events).toEqual([]);
    expect(await post("event", { ...event, advertiser_id: 2 })).toEqual({
      status: 200,
      body: { success: true, message: "event created with ID = 3", payload: { id: 3 } },
    });
    expect(sandbox.events).toEqual([
      {
        id: 3,
        ...event,
        advertiser_id: 2,
        count_unique: false,
        click_window: LIMIT,
        view_window: LIMIT,
        attribution: "ALL",
      },
    ]);
    expect(sandbox.creates).toBe(5);
  });

  it("a refused request creates nothing, and uses up no id", async () => {
    const { sandbox, post } = await start();
    for (const body of ["", "[", "1", '"text"', "null", {}, { advertiser_name: "" }])
      expect((await post("advertiser", body)).status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
    expect(sandbox.advertisers).toEqual([]);
    expect(sandbox.creates).toBe(7);
    expect((await post("advertiser", { advertiser_name: "A" })).body).toMatchObject({ payload: { id: 1 } });
  });

  it.each<[NonNullable<SandboxOptions["unknownFields"]>, number, unknown, boolean]>([
    ["ignore", 200, undefined, true],
    ["warn", 200, ["WARNING: unknown field colour was dropped"], false],
    ["refuse", 406, ["colour is not a known field"], false],
  ])("unknown fields: %s", async (unknownFields, status, errors, isKept) => {
    const { sandbox, post } = await start({ unknownFields });
    const answer = await post("advertiser", { advertiser_name: "A", colour: "red" });
    expect([answer.status, answer.body.errors]).toEqual([status, errors]);
    expect(sandbox.advertisers.some((advertiser) => "colour" in advertiser)).toBe(isKept);
    expect(sandbox.advertisers).toHaveLength(status === 200 ? 1 : 0);
  });

  it("a duplicate name is refused on an installation with that rule", async () => {
    for (const refuseTakenNames of [false, true]) {
      const { sandbox, post } = await start({ refuseTakenNames });
      const statuses = [];
      for (let time = 0; time < 2; time++) statuses.push((await post("advertiser", { advertiser_name: "A" })).status);
      expect(statuses).toEqual([200, refuseTakenNames ? 406 : 200]);
      expect(sandbox.advertisers).toHaveLength(refuseTakenNames ? 1 : 2);
    }
  });
});
