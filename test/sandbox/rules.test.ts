/** The sandbox accepts, refuses and fills in what the platform's API documentation says, and logs it. */
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../provider/src/sandbox/index.js";
import { checkFields } from "../../provider/src/sandbox/platform.js";
import { type InstallationOptions, useSandbox } from "../support/installation.js";

const LIMIT = 2_592_000;
const advertisers = new Map([
  [1, { id: 1, active: true }],
  [2, { id: 2, active: false }],
]);
const event = { event_name: "E", advertiser_id: 1, value: 1 };
const defaults = {
  count_unique: false,
  click_window: LIMIT,
  view_window: LIMIT,
  attribution: "ALL",
};

const checked = (body: object) => checkFields("event", { ...body }, advertisers);
/** The fields that are refused in an event with `changes`. */
const refused = (changes: object, base: object = event) =>
  checked({ ...base, ...changes }).errors.map((error) => error.split(" ")[0]);

describe("an event", () => {
  it("gets the defaults for what it leaves out, and keeps its own values", () => {
    expect(checked(event).fields).toEqual({ ...event, ...defaults });
    const rest = {
      count_unique: true,
      click_window: 1,
      view_window: 2,
      attribution: "WHITELIST",
    };
    const whole = { ...event, event_type_id: 0, segment_id: 7, ...rest };
    expect(checked(whole)).toEqual({ fields: whole, errors: [] });
  });

  const names = (length: number) =>
    ["x", "ä", "🎉"].map((character) => character.repeat(length));
  const windows = [
    [1, LIMIT] as unknown[],
    [-1, 0, 0.5, 1.5, LIMIT + 1, "3600", true] as unknown[],
  ] as const;
  it.each<[string, readonly unknown[], readonly unknown[]]>([
    [
      "event_name",
      ["x", ...names(99)],
      ["", 1, true, ["x"], {}, null, undefined, ...names(100)],
    ],
    ["advertiser_id", [1], ["1", 1.5, true, [1], {}, null, undefined, 2, 3]],
    ["event_type_id", [0, 1, 4711, null], ["0", 0.5, -1, true]],
    ["segment_id", [0, 4711], ["7", 0.5, -1, false]],
    ["value", [0, -1, 0.5, 1e21], ["1", true, [], {}, null, undefined]],
    ["count_unique", [true, false], ["true", 0, 1]],
    ["attribution", ["ALL", "WHITELIST"], ["all", "", "BLACKLIST", 1]],
    ["click_window", ...windows],
    ["view_window", ...windows],
  ])("%s", (field, taken, wrong) => {
    for (const value of taken)
      expect([value, refused({ [field]: value })]).toEqual([value, []]);
    for (const value of wrong)
      expect([value, refused({ [field]: value })]).toEqual([value, [field]]);
  });

  it("has all its problems reported at once", () => {
    const wrong = {
      event_name: "",
      advertiser_id: "1",
      value: "1",
      click_window: 0,
      attribution: "none",
    };
    expect(refused(wrong)).toEqual([
      "event_name",
      "advertiser_id",
      "value",
      "click_window",
      "attribution",
    ]);
    expect(refused({}, {})).toEqual(["event_name", "advertiser_id", "value"]);
  });
});

it("an advertiser needs a name; unknown fields are kept", () => {
  const checkAdvertiser = (body: Record<string, unknown>) =>
    checkFields("advertiser", body, advertisers);
  expect(checkAdvertiser({ advertiser_name: "x".repeat(10_000) }).errors).toEqual([]);
  for (const advertiser_name of ["", 1, ["A"], true, undefined])
    expect(checkAdvertiser({ advertiser_name }).errors).toEqual([
      expect.stringMatching(/^advertiser_name /),
    ]);
  const body = JSON.parse(
    '{"advertiser_name":"A","alternative_id":"x","toString":1,"constructor":1,"__proto__":1}',
  );
  expect(checkAdvertiser(body)).toMatchObject({
    fields: { alternative_id: "x", toString: 1 },
  });
});

/** A sandbox that a request reaches, and its log. */
async function start(options: InstallationOptions = {}) {
  const lines: string[] = [];
  const sandbox = await useSandbox({
    authMode: "basic",
    log: (line) => lines.push(line),
    ...options,
  });
  const authorization = `Basic ${Buffer.from(`${sandbox.email}:${sandbox.password}`).toString("base64")}`;
  const post = async (path: string, body: unknown, method = "POST") => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const sent = method === "GET" ? {} : { body: text };
    const answer = await fetch(`${sandbox.url}/rest/${path}`, {
      method,
      headers: { authorization },
      ...sent,
    });
    return {
      status: answer.status,
      body: (await answer.json()) as Record<string, unknown>,
    };
  };
  return { sandbox, post, lines };
}

describe("over HTTP", () => {
  it("an event is created only with an active advertiser; what is refused creates nothing, and uses up no id", async () => {
    const { sandbox, post } = await start({ advertisersStartActive: false });
    for (const body of ["", "[", "1", '"text"', "null", {}, { advertiser_name: "" }])
      expect(
        (await post("advertiser", body)).status,
        JSON.stringify(body),
      ).toBeGreaterThanOrEqual(400);
    await post("advertiser", { advertiser_name: "idle" });
    await post("advertiser", { advertiser_name: "active", active: true });
    expect(await post("event", event)).toMatchObject({
      status: 406,
      body: {
        success: false,
        errors: ["advertiser_id advertiser 1 is not active, or not there"],
      },
    });
    expect(await post("event", { ...event, advertiser_id: 4 })).toMatchObject({
      status: 406,
    });
    expect(await post("event", { ...event, advertiser_id: 2 })).toEqual({
      status: 200,
      body: { success: true, message: "event created with ID = 3", payload: { id: 3 } },
    });
    expect(sandbox.events).toEqual([{ id: 3, ...event, advertiser_id: 2, ...defaults }]);
    expect(sandbox).toMatchObject({ advertiserPosts: 9, eventPosts: 3, creates: 12 });
  });
});

describe("the log", () => {
  it("has a line for each request: method, path, status, and what was created; no password and no query", async () => {
    const { sandbox, lines, post } = await start({ password: "needle-password" });
    await post("authenticate", { email: "needle-mail", password: "needle-wrong" });
    await post("authenticate", { email: sandbox.email, password: sandbox.password });
    await post("advertiser?password=needle-query", {
      advertiser_name: `\u001b[31m\u202eB\n"${"x".repeat(500)}`,
    });
    await post("event/strict", { ...event, event_name: "Purchase" });
    await post("event", {});
    await post(`${"y".repeat(5000)}`, {}, "GET");
    expect(lines).toEqual([
      "POST /rest/authenticate 401",
      "POST /rest/authenticate 200",
      expect.stringMatching(
        /^POST \/rest\/advertiser\?… 200, advertiser 1 "[ -~]{50,99}…"$/,
      ),
      'POST /rest/event/strict 200, event 2 "Purchase"',
      "POST /rest/event 406",
      expect.stringMatching(/^GET \/rest\/y{73}… 404$/),
    ]);
  });

  it.each<[Omit<FaultRule, "on">, string]>([
    [{ with: { kind: "reset" } }, "POST /rest/advertiser no response"],
    [
      { with: { kind: "reset" }, act: true },
      'POST /rest/advertiser no response, advertiser 1 "A"',
    ],
    [
      { with: { kind: "answer", status: 503 }, act: true },
      'POST /rest/advertiser 503, advertiser 1 "A"',
    ],
  ])("has what a client gets to see with the fault %o", async (rule, line) => {
    const { sandbox, lines, post } = await start();
    sandbox.fail({ on: "advertiser", ...rule });
    await post("advertiser", { advertiser_name: "A" }).catch(() => undefined);
    expect(lines).toEqual([line]);
    expect(sandbox.advertiserPosts).toBe(1);
    expect(sandbox.requests[0]?.status).toBe(Number(/\d{3}/.exec(line)?.[0] ?? 0));
  });
});
