/** What an answer proves by the table of `evidence.ts`: answers that prove each outcome, and answers that only look like it. */
import { describe, expect, it } from "vitest";
import { idIn } from "../../provider/src/client/answer.js";
import { EVIDENCE, type Outcome, proves } from "../../provider/src/client/evidence.js";
import { answer } from "../support/answers.js";

const ID = "1003";
const OK = { success: true };
const MADE = { id: 1003, event_name: "x" };
/** The form that the service itself was seen to use. */
const NOT_LOADED = {
  success: false,
  payload: [{ message: ["there were problems", "with your request", "Could not load object 1003 to delete"] }],
};

type Answers = readonly (readonly [status: number, ...bodies: unknown[]])[];

/** Each body is one answer with the status before it. */
function table(outcome: Outcome, isRead: boolean, id: string | undefined, expected: string | undefined, rows: Answers) {
  const answers = rows.flatMap(([status, ...bodies]) => bodies.map((body) => [status, body] as const));
  it.each(answers)(`%i %j: ${expected ?? "proves nothing"}`, (status, body) => {
    const asked = id === undefined ? { noun: "event" } : { noun: "event", id };
    expect(proves(outcome, answer(status, body), asked, isRead)).toBe(expected);
  });
  return answers.length;
}

/** Says no, or not clearly yes, whatever else it says. */
const UNWELL = [
  { success: 0 },
  { success: "0" },
  { success: "no" },
  { success: null },
  { success: "" },
  { success: {} },
  { success: "pending" },
  { ok: false },
  { successful: false },
  { result: "failed" },
  { status: "error" },
  { status: 500 },
  { error: "denied" },
  { error: { code: 7, message: "denied" } },
  { error: true },
  { error_code: "E7" },
  { error_message: "denied" },
  { errors: ["ERROR: denied"] },
  { errors: { event_name: ["ERROR: denied"] } },
  { shards: [{ success: false }] },
  { meta: { task: { status: "failed" } } },
];

const PAGES = [
  "",
  "OK",
  "done",
  "<html><title>Done</title></html>",
  "null",
  "true",
  "1003",
  '"1003"',
  "[]",
  "{}",
  '{"id":',
];

describe("created", () => {
  const proofs = table("created", false, undefined, "alone", [
    [
      200,
      { payload: MADE },
      { ...OK, payload: { id: 1 } },
      { success: "true", payload: { id: "1" } },
      { success: 1, id: 1 },
    ],
    [200, { success: " True ", id: 1 }, { ...OK, payload: "created", id: 9 }, { ...OK, event: { id: 5 } }],
    [
      200,
      { payload: { event: { event_id: "6" } } },
      [{ id: 8 }],
      { payload: [{ id: 8 }] },
      [{ ...OK, payload: { id: 8 } }],
    ],
    [200, { payload: { advertiser_id: 3, event_id: 11 } }, { payload: { id: 0 } }, { payload: { id: 5, event_id: 5 } }],
    [200, { ...OK, errors: [], payload: { id: 1 } }, { ...OK, error: null, error_code: 0, payload: { id: 1 } }],
    [
      200,
      { ...OK, errors: ["WARNING: colour"], payload: { id: 1 } },
      { ...OK, errors: ["colour"], payload: { id: 1 } },
    ],
    [200, { ...OK, result: { id: 3 } }, { ...OK, data: [{ id: 3 }] }, { status: "OK", code: 200, payload: { id: 3 } }],
    [201, MADE, { ...OK, payload: { id: 1 } }, [{ id: 1 }], { event_id: 7, event_name: "x" }],
    // The state of the object itself, a text in the payload, the same id twice.
    [
      200,
      { id: 3, status: "PENDING" },
      { ...OK, payload: { id: 3, status: "paused" } },
      { ...OK, id: 3, payload: "created" },
      { ...OK, id: 3, payload: { id: 3 } },
      { status: "created", payload: { id: 3 } },
    ],
  ]);
  const others = table("created", false, undefined, undefined, [
    [200, ...UNWELL.map((unwell) => ({ payload: { id: 1 }, ...unwell }))],
    [200, ...UNWELL.map((unwell) => ({ payload: { id: 1, ...unwell } }))],
    [200, ...PAGES],
    [200, { success: 0, message: "denied", payload: { id: 1 } }, { success: false, payload: { id: 1 } }, OK],
    [
      200,
      [{ id: 1 }, { id: 2 }],
      { payload: { advertiser_id: 3 } },
      { payload: { id: null } },
      { payload: { id: -5 } },
    ],
    [
      200,
      { payload: { id: 1.5 } },
      { payload: { id: "x" } },
      { payload: { id: [] } },
      { payload: { id: 5, event_id: 6 } },
    ],
    // Of a job or a request, or of several objects.
    [
      200,
      { id: "8842", payload: { message: "queued" } },
      { jsonrpc: "2.0", id: 1, result: { queued: true } },
      { ...OK, id: 17, payload: { event: { name: "x" } } },
      { ...OK, status: "queued", payload: { id: 4 } },
      { ...OK, created: false, payload: { id: 4 } },
      { status: "pending", data: { id: 4 } },
      { status: 0, payload: { id: 4 } },
      { data: { id: 3 }, payload: { id: 4 } },
      { payload: { id: 4, event: { id: 5 } } },
    ],
    [202, { id: 4 }, { ...OK, payload: { id: 4 } }, { job: { id: 4 } }],
    [203, { id: 4 }],
    [204, "", { id: 4 }],
    [206, { id: 4 }],
    [207, { id: 4 }, [{ status: 201, id: 4 }]],
    [302, { id: 4 }],
    [400, { id: 4 }],
    [409, { id: 4 }, { ...OK, payload: { id: 4 } }],
    [500, { id: 4 }],
  ]);
  it("is tested with more than 60 answers", () => expect(proofs + others).toBeGreaterThan(60));
});

describe.each(["changed", "deleted"] as const)("%s", (outcome) => {
  const proofs = table(outcome, false, ID, "alone", [
    [200, "", OK, { success: "true" }, { success: 1 }, { ...OK, message: "the event was changed" }, MADE, [MADE]],
    outcome === "deleted"
      ? [200, { id: 1003, deleted: true }]
      : [200, { ...OK, payload: { id: 1003, deleted: false } }],
    [
      200,
      { payload: MADE },
      { ...OK, payload: MADE },
      { payload: [MADE] },
      { event: { id: ID } },
      { payload: { event_id: 1003 } },
    ],
    [
      200,
      { ...OK, payload: [] },
      { ...OK, payload: null },
      { ...OK, payload: "deleted" },
      { ...OK, payload: { advertiser_id: 3 } },
    ],
    [200, { ...OK, errors: ["WARNING: colour"] }, { ...OK, errors: [] }, [OK], { ...OK, payload: { success: true } }],
    [201, MADE, { ...OK, payload: MADE }],
    [204, ""],
  ]);
  const others = table(outcome, false, ID, undefined, [
    [
      200,
      ...UNWELL.map((unwell) => ({ payload: MADE, ...unwell })),
      ...UNWELL.map((unwell) => ({ ...OK, payload: unwell })),
    ],
    [200, ...PAGES.filter((page) => page !== "")],
    outcome === "deleted"
      ? [200, { ...OK, deleted: false }, { ...OK, deleted: 0 }, { id: 1003, deleted: false }]
      : [200, { ...OK, updated: 0 }, { ...OK, payload: { id: 1003, changed: false } }],
    [200, { ...OK, failed: 1 }, { ...OK, payload: { failed: [1003] } }],
    [
      200,
      { ...OK, status: "queued" },
      { ...OK, id: 8842, payload: { message: "accepted" } },
      { ...OK, payload: { id: 1003, event: { id: 5 } } },
    ],
    [
      200,
      { success: 0, message: "event is in use" },
      { success: false },
      { success: false, message: "no", payload: MADE },
    ],
    [
      200,
      { payload: [] },
      { payload: null },
      { message: "deleted" },
      { ...OK, payload: { id: 77 } },
      { id: 77 },
      [{ id: 77 }],
    ],
    [200, { ...OK, payload: { id: 5, event_id: 1003, success: false } }, { ...OK, shards: [{ success: 0 }] }],
    [201, "", OK, { id: 77 }],
    [202, "", OK, MADE, { ...OK, payload: MADE }],
    [203, OK],
    [207, "", OK, MADE, [{ status: 200 }], { ...OK, payload: [] }],
    [302, OK],
    [400, OK, MADE],
    [404, "", OK],
    [406, NOT_LOADED, { message: "can not be deleted: pixel 7 was not found" }],
    [410, ""],
    [500, OK],
    [503, ""],
  ]);
  it("is tested with more than 60 answers", () => expect(proofs + others).toBeGreaterThan(60));
});

const ABSENCES = [
  "event 1003 was not found",
  "Event 1003 not found.",
  "The event 1003 could not be found",
  "Could not load event with ID = 1003",
  "Could not load object 1003 to delete",
  "could not find event #1003",
  "Unable to load event 1003.",
  "event with id 1003 does not exist",
  "event 1003 no longer exists",
  "event 1003 has already been deleted",
  "event 1003 is gone",
  "No such event: 1003",
  "there is no event 1003",
  "ERROR: object 1003 not found",
];
/** They are about something else, or also about something else. */
const NO_ABSENCES = [
  "Could not load object 1001: you are not allowed to see it",
  "Could not load event 1003: lock wait timeout exceeded",
  "event 1003 was not found, or you may not see it",
  "event 1003 was not found in the cache",
  "event 1003 not found. Try again later.",
  "event 10031 was not found",
  "event 11003 was not found",
  "event 1004 was not found",
  "advertiser 1003 was not found",
  "segment 7 of event 1003 was not found",
  "can not be deleted: pixel 7 was not found",
  "can not be deleted: event 1003 was not found",
  "Could not load event",
  "the object could not be loaded",
  "could not load the handler of /rest/event/1003",
  "there is no GET /rest/event/1003",
  "Tenant not found: host unknown",
  "this version of the API was retired",
  "database timeout",
];

const EMPTY = { ...OK, payload: [] };
/** No object, and nothing else that has a meaning. */
const NONE = [
  [],
  EMPTY,
  { payload: [] },
  { events: [] },
  { data: [], errors: [] },
  { success: "true", payload: [], message: "" },
  { ...EMPTY, message: "Events retrieved successfully" },
  { status: "OK", code: 200, payload: [], total: 0, meta: { page: 1, total_count: 0 } },
  { payload: [], message: "No events found" },
  { payload: [], message: "Nothing found." },
  { payload: { events: [] }, count: "0" },
  { ...EMPTY, warnings: null, error: null, has_more: false, limit: 50, next: null },
];
/** No object either, but something else that has a meaning. */
const NOT_NONE = [
  { ...EMPTY, warning: "shard 3 is down" },
  { ...EMPTY, meta: { note: "shard 3 is down" } },
  { payload: [], errors: ["database timeout"] },
  { payload: [], total: 200 },
  { payload: [], total: "1" },
  { payload: [], message: "Events are being indexed" },
  { payload: [], message: "No events found in this shard" },
  { payload: [], message: "No advertisers found" },
  { payload: [], complete: false },
  { payload: [], partial: true },
  { payload: [], page: 2 },
  { payload: [], offset: 1 },
  { payload: [], limit: 0 },
  { payload: [], status: 0 },
  { payload: [], code: 0 },
  { payload: [], has_more: true },
  { payload: [], next: "/rest/event?page=2" },
  { payload: [], shards: { failed: 1 } },
  { payload: [null] },
  { payload: [[]] },
  { payload: [{}] },
  { payload: [{ id: 7 }] },
  { payload: [], advertisers: [{ id: 1 }] },
  { payload: [], success: "maybe" },
  { items: [] },
  [[]],
  OK,
  { ...OK, message: "No events found" },
  ...UNWELL.map((unwell) => ({ payload: [], ...unwell })),
];

describe("gone, of a read", () => {
  const proofs =
    table("gone", true, ID, "alone", [
      [404, { message: ABSENCES[0], code: "EVENT_NOT_FOUND" }, { message: ABSENCES[0], error_code: 1203 }],
      [404, ...ABSENCES.map((message) => ({ success: false, message })), ABSENCES[0], { errors: [ABSENCES[1]] }],
      [410, ...ABSENCES.slice(0, 3).map((message) => ({ message })), ABSENCES[0]],
      [406, NOT_LOADED, { errors: [ABSENCES[3]] }, { payload: ABSENCES[4] }],
      [
        400,
        { detail: ABSENCES[0] },
        { message: ABSENCES[0], code: 400 },
        { message: ABSENCES[0], error_code: "NOT_FOUND" },
      ],
      [200, { success: false, message: ABSENCES[3] }, { success: "false", payload: ABSENCES[3] }, ...NONE],
    ]) +
    table("gone", true, ID, "with a witness", [
      [404, "", {}, "Not Found", "404 page not found", { error: "Not Found", path: "/rest/event/1003", status: 404 }],
      [404, { success: false }, { message: "event not found" }, { code: "EVENT_NOT_FOUND" }],
      [410, "", { message: "gone" }, "410 Gone"],
      [200, "null", {}, { payload: null }, { payload: {} }, { ...OK, event: null }, { payload: null, errors: [] }],
    ]);
  const others = table("gone", true, ID, undefined, [
    [404, ...NO_ABSENCES.map((message) => ({ message })), "<html><title>Not Found</title></html>"],
    [
      404,
      { message: ABSENCES[0], code: "PERMISSION_DENIED" },
      { error: { message: ABSENCES[0], error_code: "denied" } },
    ],
    ...[402, 409, 421, 423, 424, 425, 426, 428, 431, 451].map((status) => [status, { message: ABSENCES[0] }] as const),
    [
      404,
      { message: ABSENCES[0], errors: ["database timeout"] },
      { message: ABSENCES[0], hint: "the replica lags behind" },
    ],
    [
      404,
      { payload: MADE },
      { message: ABSENCES[0], payload: MADE },
      { code: "TENANT_NOT_FOUND" },
      { code: "ADVERTISER_NOT_FOUND" },
    ],
    [410, { message: "this version of the API was retired" }, "this version of the API was retired"],
    [406, ...NO_ABSENCES.slice(0, 6).map((message) => ({ errors: [message] })), "", { ...NOT_LOADED, payload: [] }],
    [200, ...NO_ABSENCES.slice(0, 6).map((message) => ({ success: false, message })), ...NOT_NONE],
    [
      200,
      { success: false },
      { ...OK, message: ABSENCES[0] },
      { ...OK, payload: null, warning: "shard 3 is down" },
      "",
      "OK",
    ],
    [
      200,
      { success: 0, payload: [] },
      { success: 0, message: ABSENCES[3] },
      { event: { name: "event 1003 was not found" } },
    ],
    [401, { message: ABSENCES[0] }],
    [403, { message: ABSENCES[0] }],
    [405, { message: ABSENCES[0] }],
    [408, { message: ABSENCES[0] }],
    [429, { message: ABSENCES[0] }],
    [500, { message: ABSENCES[0] }, EMPTY],
    [201, EMPTY],
    [202, EMPTY],
    [204, ""],
    [207, EMPTY, []],
  ]);
  it("is tested with more than 60 answers", () => expect(proofs + others).toBeGreaterThan(60));
});

describe("gone, of an update or a delete: proved by no list and no null", () => {
  table("gone", false, ID, "alone", [
    [404, { message: ABSENCES[0] }],
    [406, NOT_LOADED],
  ]);
  table("gone", false, ID, "with a witness", [[404, "", { message: "Not Found" }]]);
  table("gone", false, ID, undefined, [[200, ...NONE, "null", {}, { payload: null }, "", OK]]);
});

describe("none, of a search", () => {
  const proofs = table("none", false, undefined, "alone", [[200, ...NONE]]);
  const others = table("none", false, undefined, undefined, [
    [200, ...NOT_NONE, "", "null", {}, { payload: null }, { payload: {} }, { event: null }, "OK", "<html></html>"],
    [200, { success: false, payload: [] }, { success: false, message: "No events found" }],
    [201, EMPTY],
    [202, EMPTY],
    [204, ""],
    [206, []],
    [207, EMPTY],
    [302, []],
    [404, "", [], { message: "No events found" }],
    [406, NOT_LOADED],
    [410, ""],
    [500, []],
  ]);
  it("is tested with more than 60 answers", () => expect(proofs + others).toBeGreaterThan(60));
});

describe("evidence", () => {
  it("is not in an answer that broke off", () => {
    for (const outcome of Object.keys(EVIDENCE) as Outcome[]) {
      for (const [status, body] of [
        [200, EMPTY],
        [200, { payload: MADE }],
        [404, { message: ABSENCES[0] }],
        [204, ""],
      ] as const) {
        const broken = { ...answer(status, body), broken: "ended early" };
        expect(proves(outcome, broken, { noun: "event", id: ID }, true)).toBeUndefined();
      }
    }
  });

  it("each row describes in words what it proves, no two the same", () => {
    for (const rows of Object.values(EVIDENCE)) {
      const proofs = rows.map(({ proof }) => proof);
      expect(new Set(proofs).size).toBe(proofs.length);
    }
  });

  it("an id counts only in its place, not wherever a pattern would find it", () => {
    const asked = { noun: "event", id: "1.3" };
    expect(proves("gone", answer(404, { message: "event 1003 was not found" }), asked, true)).toBeUndefined();
    expect(idIn({ payload: { id: 1, event_id: 2 } }, "event")).toBeUndefined();
  });
});
