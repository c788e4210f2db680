/** What an answer proves: answers that prove each outcome of `client/classify-response.ts`, and answers that only look like it. */
import { describe, expect, it } from "vitest";
import {
  classifyChange,
  classifyCreate,
  classifyRead,
  classifySearch,
} from "../../provider/src/client/classify-response.js";
import { sessionProblemIn } from "../../provider/src/client/session-problem.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { answer } from "../support/answers.js";

const ID = "1003";
const OK = { success: true };
const NO = { success: false };
const MADE = { id: 1003, event_name: "x", advertiser_id: 3, value: 1, count_unique: false };
const { id: _, ...SENT } = MADE;
const EMPTY = { ...OK, payload: [] };
/** The form that the service itself was seen to use. */
const NOT_LOADED = {
  ...NO,
  payload: [
    {
      message: [
        "there were problems",
        "with your request",
        "Could not load object 1003 to delete",
      ],
    },
  ],
};

type Rows = readonly (readonly [outcome: string, status: number, ...bodies: unknown[]])[];
type Classify = (status: number, body: unknown) => string;

/** Each body is one answer, with the outcome and the status before it. */
function table(title: string, classify: Classify, rows: Rows) {
  const answers = rows.flatMap(([outcome, status, ...bodies]) =>
    bodies.map((body) => [status, body, outcome] as const),
  );
  describe(title, () =>
    it.each(answers)("%i %j: %s", (status, body, outcome) => {
      expect(classify(status, body)).toBe(outcome);
    }),
  );
}

const TARGET = { kind: conversionEvent, id: ID };
const creates: Classify = (status, body) => {
  const verdict = classifyCreate(answer(status, body), conversionEvent, SENT);
  return verdict.kind === "created" ? `created ${verdict.id}` : verdict.kind;
};
const reads: Classify = (status, body) => classifyRead(answer(status, body), TARGET).kind;
const updates: Classify = (status, body) =>
  classifyChange(answer(status, body), TARGET, SENT).kind;
const deletes: Classify = (status, body) =>
  classifyChange(answer(status, body), TARGET).kind;
const searches: Classify = (status, body) => {
  const verdict = classifySearch(
    answer(status, body),
    conversionEvent,
    "alternative_id",
    "mark-1",
  );
  return verdict.kind === "listed" ? `listed ${[...verdict.objects.keys()]}` : verdict.kind;
};

/** Says no, or not clearly yes, beside whatever else it says; no documented refusal. */
const UNWELL = [
  ...[0, "0", "no", null, "", {}, "pending"].map((success) => ({ success })),
  ...[
    { ok: false },
    { successful: false },
    { result: "failed" },
    { status: "error" },
    { status: 500 },
  ],
  ...[
    { error: "denied" },
    { error: { code: 7, message: "denied" } },
    { error: true },
    { error_code: "E7" },
  ],
  ...[{ error_message: "denied" }, { errors: ["denied"] }, { failed: 1 }, { failed: [7] }],
  ...[
    { message: "ERROR: in use" },
    { message: ["ERROR: in use"] },
    { warnings: ["ERROR: in use"] },
  ],
  ...[
    { meta: { task: { status: "failed" } } },
    { shards: [{ success: false }] },
    { count: 0 },
    { affected_rows: 0 },
  ],
];
const DOCUMENTED_NO = [
  ...[NO, { success: "false" }, { success: " False " }, { errors: ["ERROR: denied"] }],
  { errors: { event_name: ["ERROR: denied"] } },
];
const UNREADABLE = [
  "OK",
  "<html><title>Done</title></html>",
  "null",
  "true",
  "1003",
  '"1003"',
  "[]",
  "{}",
  '{"id":',
];

table("a create", creates, [
  [
    "created 1",
    200,
    { payload: { id: 1 } },
    { ...OK, payload: { id: 1 } },
    { success: "true", payload: { id: "1" } },
  ],
  [
    "created 1",
    200,
    { success: 1, id: 1 },
    { success: " True ", id: 1 },
    { payload: { event: { event_id: " 1 " } } },
  ],
  [
    "created 8",
    200,
    { ...OK, payload: "created", id: 8 },
    { ...OK, event: { id: 8 } },
    [{ id: 8 }],
    { payload: [{ id: 8 }] },
  ],
  [
    "created 8",
    200,
    [{ ...OK, payload: { id: 8 } }],
    { payload: { advertiser_id: 3, event_id: 8 } },
    { ...OK, result: { id: 8 } },
  ],
  [
    "created 8",
    200,
    { ...OK, data: [{ id: 8 }] },
    { payload: { id: 8, event_id: "8" } },
    { ...OK, id: 8, payload: { id: 8 } },
  ],
  [
    "created 8",
    200,
    { ...OK, errors: [], payload: { id: 8 } },
    { ...OK, error: null, error_code: 0, payload: { id: 8 } },
  ],
  [
    "created 8",
    200,
    {
      ...OK,
      errors: [{ field: "colour", message: "WARNING: dropped" }],
      payload: { id: 8 },
    },
  ],
  [
    "created 8",
    200,
    { ...OK, errors: ["WARNING: colour"], payload: { id: 8 } },
    { status: "OK", code: 200, id: 8 },
  ],
  [
    "created 3",
    200,
    { id: 3, status: "PENDING" },
    { ...OK, payload: { id: 3, status: "paused", deleted: 0 } },
  ],
  [
    "created 1003",
    201,
    MADE,
    { ...OK, payload: MADE },
    [MADE],
    { payload: { ...MADE, advertiser_id: "3", event_name: " X " } },
  ],
  ["created 9007199254740993", 200, '{"payload":{"id":9007199254740993}}'],
  [
    "unclear",
    200,
    ...UNWELL.flatMap((no) => [
      { payload: { id: 1 }, ...no },
      { payload: { id: 1, ...no } },
    ]),
  ],
  [
    "unclear",
    200,
    { payload: { id: 1 }, created: false },
    { payload: [{ id: 1, message: "ERROR: in use" }] },
  ],
  ["unclear", 200, "", ...UNREADABLE, OK, "[".repeat(200_000)],
  [
    "unclear",
    200,
    ...[0, "0", null, "", -5, 1.5, "x", [], "007", "9".repeat(31)].map((id) => ({
      ...OK,
      payload: { id },
    })),
  ],
  [
    "unclear",
    200,
    [{ id: 1 }, { id: 2 }],
    { payload: { advertiser_id: 3 } },
    { payload: { id: 5, event_id: 6 } },
  ],
  [
    "unclear",
    200,
    { data: { id: 3 }, payload: { id: 4 } },
    { id: 3, payload: { id: 4 } },
    { payload: { id: 4, event: { id: 5 } } },
  ],
  [
    "unclear",
    200,
    '{"__proto__":{"id":5},"payload":{"__proto__":{"id":6}}}',
    '{"id":1e20}',
  ],
  [
    "unclear",
    200,
    { id: "8842", payload: { message: "queued" } },
    { jsonrpc: "2.0", id: 1, result: { queued: true } },
  ],
  [
    "unclear",
    200,
    { ...OK, id: 17, payload: { event: { name: "x" } } },
    { ...OK, status: "queued", payload: { id: 4 } },
  ],
  [
    "unclear",
    200,
    { ...OK, payload: { ...MADE, event_name: "y" } },
    { ...OK, payload: { ...MADE, advertiser_id: 4 } },
  ],
  ["unclear", 202, { id: 4 }, { ...OK, payload: { id: 4 } }],
  ...[203, 206, 207, 307, 308, 408, 499, 500, 503].map(
    (status) => ["unclear", status, { id: 4 }, ""] as const,
  ),
  ["unclear", 204, ""],
  [
    "refused",
    200,
    ...DOCUMENTED_NO,
    ...DOCUMENTED_NO.map((no) => ({ ...OK, payload: no })),
  ],
  [
    "refused",
    200,
    ...DOCUMENTED_NO.map((no) => ({ payload: { event: no } })),
    [NO],
    { events: [NO] },
  ],
  [
    "refused",
    200,
    { ...NO, payload: { id: 1 } },
    { ...OK, errors: ["WARNING: a", "ERROR: b"], payload: { id: 1 } },
  ],
  ["unclear", 200, [NO, OK], [NO, NO], { payload: [NO, OK] }],
  ...[400, 401, 403, 404, 405, 406, 409, 422].map(
    (status) => ["refused", status, { id: 4 }, ""] as const,
  ),
  ...[301, 302, 303, 307, 308].map((status) => ["unclear", status, ""] as const),
]);

it("an own name that begins with ERROR says nothing", () => {
  const sent = { ...SENT, event_name: "ERROR: page" };
  const echoed = answer(201, { ...sent, id: 8 });
  expect(classifyCreate(echoed, conversionEvent, sent)).toEqual({
    kind: "created",
    id: "8",
  });
});

it("an advertiser's id may be its advertiser_id, which is no other one's", () => {
  const made = answer(200, { payload: { advertiser_id: 3 } });
  expect(classifyCreate(made, advertiser, { advertiser_name: "A" })).toEqual({
    kind: "created",
    id: "3",
  });
});

it.each<[unknown, string]>([
  [
    { id: 3, payload: { id: 4 } },
    "it isn't clearly about one new object (ids in it: 3 and 4)",
  ],
  [
    { payload: { id: 4, errors: ["denied"] } },
    "its body's payload.errors reports no success (ids in it: 4)",
  ],
  [
    { payload: { ...MADE, event_name: "y" } },
    "its event_name isn't what was sent (ids in it: 1003)",
  ],
  [{ token: "hidden" }, "it isn't clearly about one new object (its fields: token)"],
])("an id that was not believed is said, and no value: %j", (body, words) => {
  const { reason = "" } = classifyCreate(answer(200, body), conversionEvent, SENT) as {
    reason?: string;
  };
  expect(reason).toBe(words);
});

const changes: Rows = [
  [
    "done",
    200,
    "",
    OK,
    { success: "true" },
    { success: 1 },
    { ...OK, message: "the event was changed" },
    [OK],
  ],
  [
    "done",
    200,
    { ...OK, payload: MADE },
    { ...OK, payload: "done" },
    { ...OK, payload: { advertiser_id: 3 } },
  ],
  [
    "done",
    200,
    { ...OK, errors: ["WARNING: colour"] },
    { ...OK, errors: [] },
    { ...OK, payload: OK },
  ],
  ["done", 201, { ...OK, payload: MADE }],
  ["done", 204, ""],
  [
    "unclear",
    200,
    ...UNWELL.flatMap((no) => [
      { ...OK, ...no },
      { ...OK, payload: no },
      { ...MADE, ...no },
    ]),
  ],
  [
    "unclear",
    200,
    ...UNREADABLE,
    { message: "done" },
    { id: 1003 },
    { event: { id: ID } },
    { payload: { event_id: 1003 } },
  ],
  [
    "unclear",
    200,
    { ...OK, payload: [] },
    { ...OK, payload: null },
    { ...OK, payload: "ERROR: in use" },
  ],
  [
    "unclear",
    200,
    { ...OK, payload: [{ ...MADE, message: "ERROR: in use" }] },
    { id: 1003, message: "could not be changed" },
  ],
  [
    "unclear",
    200,
    { ...OK, status: "queued" },
    { ...OK, id: 8842, payload: { message: "accepted" } },
  ],
  [
    "unclear",
    200,
    { ...OK, payload: { id: 77 } },
    { id: 77 },
    [{ id: 77 }],
    { ...OK, payload: { id: 1003, event: { id: 5 } } },
  ],
  ["refused", 200, ...DOCUMENTED_NO, { ...NO, message: "no", payload: MADE }],
  ["unclear", 201, "", { id: 77 }],
  ...[202, 203, 207, 302, 500, 503].map((status) => ["unclear", status, OK] as const),
  ["refused", 400, OK, MADE],
  ["refused", 406, { message: "can not be deleted: pixel 7 was not found" }],
  ["refused", 405, ""],
  ["refused", 406, NOT_LOADED],
  ["refused", 200, { ...NO, message: "event 1003 was not found" }],
];
table("an update", updates, [
  ...changes,
  ["refused", 404, "", { message: "event 1003 was not found" }],
  ["refused", 410, ""],
  ["done", 200, MADE, [MADE], { payload: { ...MADE, value: "1.00", count_unique: 0 } }],
  [
    "unclear",
    200,
    { ...MADE, value: 2 },
    { ...OK, updated: 0 },
    { ...OK, payload: { ...MADE, changed: false } },
  ],
]);
table("a delete", deletes, [
  ...changes,
  ["gone", 404, "", { message: "event 1003 was not found" }, { message: "denied" }],
  ["gone", 410, ""],
  ["refused", 404, "<html><title>Not Found</title></html>", { payload: MADE }],
  [
    "unclear",
    200,
    [],
    EMPTY,
    MADE,
    { ...OK, deleted: false },
    { ...OK, deleted: 0 },
    { id: 1003, deleted: true },
  ],
]);

/** Sentences that say that there is no object: they decide nothing. */
const ABSENCES = [
  "event 1003 was not found",
  "Could not load object 1003 to delete",
  "event 1003 has been deleted",
];
/** No object, and nothing else that has a meaning. */
const NONE = [
  ...[
    [],
    EMPTY,
    { payload: [] },
    { events: [] },
    { data: [], errors: [] },
    { success: "true", payload: [], message: "" },
  ],
  ...[
    { ...EMPTY, message: "OK" },
    { payload: { events: [] }, count: "0" },
  ],
  { status: "OK", code: 200, payload: [], total: 0, meta: { page: 1, total_count: 0 } },
  { ...EMPTY, warnings: null, error: null, has_more: false, limit: 50, next: null },
];
/** No object either, but something else that has a meaning. */
const NOT_NONE = [
  ...[
    { ...EMPTY, warning: "shard 3 is down" },
    { ...EMPTY, meta: { note: "shard 3 is down" } },
    { payload: [], total: 200 },
  ],
  ...[
    { payload: [], errors: ["timeout"] },
    { payload: [], total: "1" },
    { payload: [], message: "Events are being indexed" },
  ],
  ...[
    { payload: [], message: "No events found" },
    { ...EMPTY, message: "Events retrieved successfully" },
  ],
  ...[
    { payload: [], complete: false },
    { payload: [], partial: true },
    { payload: [], page: 2 },
    { payload: [], offset: 1 },
  ],
  ...[
    { payload: [], limit: 0 },
    { payload: [], status: 0 },
    { payload: [], code: 0 },
    { payload: [], has_more: true },
  ],
  ...[
    { payload: [], next: "/rest/event?page=2" },
    { payload: [null] },
    { payload: [[]] },
    { payload: [{}] },
  ],
  ...[
    { payload: [{ id: 7 }] },
    { payload: [], advertisers: [{ id: 1 }] },
    { payload: [], success: "maybe" },
  ],
  ...[{ items: [] }, [[]], OK, { ...OK, message: "No events found" }],
  ...UNWELL.filter((no) => !("count" in no)).map((no) => ({ payload: [], ...no })),
];

table("a read", reads, [
  [
    "done",
    200,
    MADE,
    { ...OK, payload: MADE },
    { payload: [MADE] },
    [MADE],
    { events: [MADE, { ...MADE, id: 7 }] },
  ],
  ["done", 200, { payload: { event_id: "1003" } }],
  [
    "unclear",
    200,
    { id: 1003, advertiser_name: "A" },
    [MADE, { ...MADE, value: 7 }],
    { ...MADE, id: 7 },
    "",
    ...UNREADABLE.slice(0, 2),
  ],
  [
    "gone",
    404,
    "",
    {},
    "Not Found",
    { error: "Not Found", status: 404 },
    { message: ABSENCES[0] },
    NO,
  ],
  ["gone", 410, "", { message: "gone" }],
  [
    "gone",
    200,
    "null",
    { payload: null },
    { ...OK, event: null },
    { payload: null, errors: [] },
    ...NONE,
  ],
  [
    "refused",
    404,
    "<html><title>Not Found</title></html>",
    { payload: MADE },
    { message: ABSENCES[0], payload: MADE },
  ],
  ["refused", 400, { detail: ABSENCES[0] }],
  ["refused", 406, NOT_LOADED, "", ...ABSENCES.map((message) => ({ errors: [message] }))],
  ["refused", 200, NO, ...ABSENCES.map((message) => ({ ...NO, message }))],
  [
    "unclear",
    200,
    ...NOT_NONE,
    { ...OK, message: ABSENCES[0] },
    { ...OK, payload: null, warning: "shard 3 is down" },
  ],
  ["unclear", 200, {}, { payload: {} }, ...ABSENCES],
  ["unclear", 200, { event: { name: ABSENCES[0] } }],
  ...[401, 402, 403, 409, 421, 423, 425, 428, 429, 451].map(
    (status) => ["refused", status, { message: ABSENCES[0] }] as const,
  ),
  ...[201, 202, 207, 408, 500].map(
    (status) => ["unclear", status, { ...EMPTY, message: ABSENCES[0] }] as const,
  ),
]);

table("a search", searches, [
  ["listed ", 200, ...NONE],
  [
    "listed 7",
    200,
    [
      { id: 7, alternative_id: "mark-1" },
      { id: 8, alternative_id: "mark-10" },
    ],
  ],
  [
    "listed 7,8",
    200,
    {
      payload: [
        { id: 7, alternative_id: "mark-1" },
        { event_id: 8, alternative_id: "mark-1" },
      ],
    },
  ],
  [
    "unclear",
    200,
    ...NOT_NONE,
    "",
    "null",
    {},
    { payload: null },
    { payload: {} },
    { event: null },
    "OK",
    "<html></html>",
  ],
  ["refused", 200, { ...NO, payload: [] }, { ...NO, message: "No events found" }],
  ...[201, 202, 204, 206, 207, 500].map((status) => ["unclear", status, EMPTY] as const),
  ["refused", 404, "", [], { message: "No events found" }],
  ["refused", 406, NOT_LOADED],
]);

it("an answer that broke off proves nothing but a refusal by its status", () => {
  const broken = (status: number, body: unknown) => answer(status, body, {}, "ended early");
  const kinds = (status: number, body: unknown) => [
    classifyCreate(broken(status, body), conversionEvent, {}).kind,
    classifyRead(broken(status, body), TARGET).kind,
    classifyChange(broken(status, body), TARGET, {}).kind,
    classifyChange(broken(status, body), TARGET).kind,
    classifySearch(broken(status, body), conversionEvent, "alternative_id", "m").kind,
  ];
  for (const body of [EMPTY, { payload: MADE }, NO, "", OK]) {
    expect(kinds(200, body)).toEqual([
      "unclear",
      "unclear",
      "unclear",
      "unclear",
      "unclear",
    ]);
  }
  expect(kinds(404, { message: ABSENCES[0] })).toEqual(Array(5).fill("refused"));
});

describe("what kind of body an answer has is judged by its content", () => {
  const HTML = { "content-type": "text/html" };
  it.each<[string, string, Record<string, string>, object]>([
    ["JSON with HTML's content type", "[1]", HTML, { kind: "json", data: [1] }],
    ["JSON behind a byte order mark", "\ufeff{}", {}, { kind: "json", data: {} }],
    [
      "an integer beyond 2^53",
      '{"id":-9007199254740992}',
      {},
      { data: { id: "-9007199254740992" } },
    ],
    [
      "no integer",
      '{"value":12345678901234567.5,"other":1e20}',
      {},
      { data: { value: 12345678901234568, other: 1e20 } },
    ],
    ["a text with HTML's content type", "No.", HTML, { kind: "html" }],
    ["XML", '<?xml version="1.0"?><e/>', {}, { kind: "html" }],
    ["JSON that breaks off", '{"id":', {}, { kind: "text" }],
    ["nothing", " \ufeff\n", {}, { kind: "empty" }],
    [
      "JSON that is nested too deep",
      `${"[".repeat(1e5)}1${"]".repeat(1e5)}`,
      {},
      { kind: "broken", broken: "nested too deep" },
    ],
  ])("%s", (_, body, headers, expected) => {
    expect(answer(200, body, headers)).toMatchObject(expected);
  });
});

table(
  "the session",
  (status, body) => sessionProblemIn(answer(status, body)) ?? "not about it",
  [
    [
      "clear",
      401,
      "",
      "Unauthorized",
      NO,
      { message: "Your session has expired" },
      { detail: "Please log in" },
    ],
    [
      "clear",
      401,
      { message: "Invalid token" },
      { message: "JSON Web Token expired" },
      { code: 401, message: "Unauthorized" },
    ],
    ["clear", 401, { error_code: "LOGIN_REQUIRED", message: "no" }],
    [
      "doubtful",
      401,
      { ...NO, errors: ["event_name is not valid"] },
      { colour: ["not known"] },
    ],
    [
      "doubtful",
      401,
      { message: "Invalid token in JSON at position 3" },
      "Unexpected token < in JSON at position 0",
    ],
    [
      "bare",
      403,
      "",
      { message: "403 Forbidden" },
      { ...NO, message: "Forbidden" },
      "<html>no</html>",
    ],
    ["clear", 403, { message: "no session" }],
    ["doubtful", 403, { message: "You may not create events for this advertiser" }],
    ["clear", 200, '<html><title>Sign in</title><input type="password"></html>'],
    [
      "clear",
      200,
      ...["You are not logged in", "NOT_LOGGED_IN", "Unauthorized"].map((message) => ({
        ...NO,
        message,
      })),
    ],
    [
      "clear",
      200,
      { success: "false", payload: "not authenticated" },
      [{ ...NO, message: "You are not logged in" }],
    ],
    [
      "clear",
      200,
      ...["LOGIN_REQUIRED", "NotLoggedIn", "UNAUTHORIZED"].map((error_code) => ({
        ...NO,
        error_code,
      })),
    ],
    [
      "clear",
      200,
      { ...NO, code: "session_expired" },
      { ...OK, payload: { ...NO, message: "Not authorized." } },
    ],
    ["clear", 200, { ...NO, message: "You aren't logged in, so it can't be done" }],
    [
      "not about it",
      200,
      "<html><a href='/login'>Log in</a></html>",
      '{"payload":{"id":1,"event_name":"Login"',
    ],
    [
      "not about it",
      200,
      ...["the name is taken", "Forbidden", "Not authorized to create events"].map(
        (message) => ({
          ...NO,
          message,
        }),
      ),
    ],
    [
      "not about it",
      200,
      ...['"Login" is taken', `The name 'Sign in' isn't free`].map((name) => ({
        ...NO,
        message: `Sorry: ${name}`,
      })),
    ],
    [
      "not about it",
      200,
      { ...NO, message: "session_count is bad" },
      { ...NO, message: "Unexpected token < in JSON" },
    ],
    [
      "not about it",
      200,
      { ...NO, message: "Not authorized", errors: ["segment_id is another account's"] },
    ],
    [
      "not about it",
      200,
      { ...OK, message: "session ok", payload: { id: 1 } },
      { ...OK, message: "session ok", errors: ["ERROR: no"] },
    ],
    ["redirected", 302, ""],
    ["not about it", 307, ""],
    ["not about it", 406, { message: "login name not valid" }],
  ],
);

it.each([
  ["/login", "clear"],
  ["https://sso.example.com/?back=/rest/event", "redirected"],
  ["https://login.ads.test/rest/events", "redirected"],
  ["/rest/authors", "redirected"],
  ["/login/42?id=7", undefined],
  ["/login?back=/rest/event/7", "clear"],
  ["/users/Sign_In", "clear"],
  ["https://ads.test/login.jsp", "clear"],
  ["/session/new?next=/", "clear"],
  ["/session/list", "redirected"],
  ["/login/rest/events", "redirected"],
  ["/rest/event/123", undefined],
  ["/events/123/edit", undefined],
  ["/event?id=123", undefined],
  ["/rest/events", "redirected"],
  ["/rest/events?from=/login", "redirected"],
  ["/", "redirected"],
  ["/accounts/7/sign-in", undefined],
  ["/oauth?client_id=12&back=/", undefined],
  ["https://[", "redirected"],
])("a redirect to %s", (location, sign) => {
  for (const status of [301, 302, 303])
    expect(sessionProblemIn(answer(status, "", { location }))).toBe(sign);
});
