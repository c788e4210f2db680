/** What `pending --search` finds on the platform, and what it says about the rest. */
import { expect, it } from "vitest";
import { readSettings } from "../../provider/src/settings/read-settings.js";
import type { CreateRecord } from "../../provider/src/state/create-record.js";
import type { PendingCreate } from "../../provider/src/tools/pending-facts.js";
import { searchFor } from "../../provider/src/tools/pending-search.js";
import { newFolder } from "../support/folder.js";
import { useSandbox } from "../support/stack.js";

const LONG_AGO = "2020-01-01T00:00:00.000Z";
const urnOf = (name: string) => `urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:ConversionEvent::${name}`;

const open = (name: string, record: Partial<CreateRecord> = {}): PendingCreate => ({
  urn: urnOf(name),
  kind: "ConversionEvent",
  record: {
    mark: `mark-${name}`,
    key: "",
    fingerprint: "",
    at: LONG_AGO,
    field: "alternative_id",
    name,
    facts: {},
    ...record,
  },
  known: "state",
});

const event = (id: number, mark: string) => ({ id, event_name: "E", advertiser_id: 1, value: 1, alternative_id: mark });

async function search(creates: readonly PendingCreate[], settings: object = {}, listed: readonly object[] = []) {
  const sandbox = await useSandbox({
    operations: true,
    objects: {
      advertisers: [{ id: 1, advertiser_name: "A", active: true }],
      events: [event(7, "mark-there"), event(8, "mark-twice"), event(9, "mark-twice"), event(10, "mark-there-not")],
    },
  });
  const answer = { kind: "answer", status: 200, body: { payload: listed } } as const;
  if (listed.length > 0) sandbox.fail({ on: "search", act: false, with: answer });
  const config: Record<string, unknown> = {
    baseUrl: sandbox.url,
    email: sandbox.email,
    password: sandbox.password,
    cookieFile: "none",
    markField: "alternative_id",
    operations: JSON.stringify({ event: { search: "GET rest/event?alternative_id={mark}" } }),
    ...settings,
  };
  const reading = readSettings({
    config: (key) => config[key] as string | undefined,
    environment: {},
    mayLackPassword: false,
  });
  expect(reading.problems).toEqual([]);
  return { sandbox, ...(await searchFor(creates, reading, newFolder())) };
}

it("R2: an object that the resource had before does not count as created, even with the same mark", async () => {
  const creates = [
    { ...open("there"), formerIds: ["7"] },
    { ...open("twice"), formerIds: ["8"] },
  ];
  const { found, notMade } = await search(creates);
  expect(found).toEqual([{ urn: urnOf("twice"), id: "9", mark: "mark-twice" }]);
  expect(notMade).toEqual([urnOf("there")]);
});

it("R1: an object that the search lists, but that a read proves to be gone, does not count as found, and is named", async () => {
  const event = { search: "GET rest/event?alternative_id={mark}", read: "GET rest/event/{id}" };
  const settings = { operations: JSON.stringify({ event, resendAfterSeconds: 1 }) };
  const listed = [{ id: 11, event_name: "E", advertiser_id: 1, value: 1, alternative_id: "mark-deleted" }];
  const { sandbox, found, notMade, told } = await search([open("deleted")], settings, listed);
  expect({ found, notMade }).toEqual({ found: [], notMade: [urnOf("deleted")] });
  expect(told).toEqual([`${urnOf("deleted")}\n  a search found 11, which is no longer on the platform.`]);
  expect(sandbox).toMatchObject({ creates: 0, searches: 1, reads: 1 });
});

it("finds the object with exactly this mark; of several, one is to be kept", async () => {
  const { sandbox, found, notMade, told } = await search([open("there"), open("twice"), open("gone")]);
  expect(found).toEqual([{ urn: urnOf("there"), id: "7", mark: "mark-there" }]);
  expect(notMade).toEqual([urnOf("gone")]);
  expect(told).toEqual([
    `${urnOf("twice")}\n  Searched for alternative_id = mark-twice: found 2 objects: 8 and 9. Keep one of them, and remove the others on the platform, except those that another resource of the stack has.`,
  ]);
  expect(sandbox).toMatchObject({ creates: 0, searches: 3, logins: 1 });
});

it("says why it can't search, and sends nothing for it", async () => {
  const { sandbox, found, notMade, told } = await search([
    open("bare", { field: undefined }),
    open("other", { field: "external_ref", mark: "x" }),
    { ...open("a"), kind: "Advertiser" },
  ]);
  expect({ found, notMade }).toEqual({ found: [], notMade: [] });
  const check = "check advertising:markField and advertising:operations";
  expect(told).toEqual([
    `${urnOf("bare")}\n  can't be searched for: it was sent without a mark.`,
    `${urnOf("other")}\n  can't be searched for: it holds its mark in external_ref; ${check}.event.search.`,
    `${urnOf("a")}\n  can't be searched for: it holds its mark in alternative_id; ${check}.advertiser.search.`,
  ]);
  expect(sandbox.requests).toEqual([]);
});

it.each([
  ["of a single resource", { at: "" }],
  ["of a member of a set", { isEarliest: true as const }],
])("R6: a create without a known time may have been sent until now: %s", async (_, record) => {
  const settings = {
    requestTimeoutSeconds: "1",
    operations: JSON.stringify({
      event: { search: "GET rest/event?alternative_id={mark}" },
      resendAfterSeconds: 1,
      createdVisibleAfterSeconds: 0,
    }),
  };
  const { sandbox, found, notMade, told } = await search([open("there", record), open("gone", record)], settings);
  expect(found).toEqual([{ urn: urnOf("there"), id: "7", mark: "mark-there" }]);
  expect({ notMade, told }).toEqual({ notMade: [urnOf("gone")], told: [] });
  // One search at once, and another one later for what was not found.
  expect(sandbox.searches).toBeGreaterThan(2);
  expect(sandbox.creates).toBe(0);
});

const killedTwice = (name: string, ...marks: string[]): PendingCreate => {
  const [first = "", ...others] = marks;
  const { record, ...create } = open(name, { mark: first });
  return { ...create, record, also: others.map((mark) => ({ ...record, mark })) };
};

it("R7: if one mark is found and another one is undecided, the message says that there may be a second object", async () => {
  const stale = { ...open("stale", { at: new Date().toISOString(), mark: "mark-of-another-machine" }).record };
  const { found, notMade, told } = await search([
    { ...killedTwice("there", "mark-there"), also: [{ ...stale, field: undefined }] },
  ]);
  expect({ found, notMade }).toEqual({ found: [{ urn: urnOf("there"), id: "7", mark: "mark-there" }], notMade: [] });
  expect(told).toEqual([
    `${urnOf("there")}\n  was found as 7. Further creates of it were sent, and their outcome is unknown: nothing manages what they made. Look in the account for\n    the ConversionEvent named "stale", sent at ${stale.at}`,
  ]);
});

it("if several runs sent one resource, all marks are searched for, and any that is found is its object", async () => {
  const { sandbox, found, notMade, told } = await search([
    killedTwice("first", "mark-there", "mark-gone"),
    killedTwice("second", "mark-gone-too", "mark-there"),
    killedTwice("neither", "mark-gone-1", "mark-gone-2"),
    killedTwice("both", "mark-there", "mark-there-not"),
    { ...killedTwice("unmarked", "mark-gone-3"), also: [{ ...open("x").record, mark: "", field: undefined }] },
  ]);
  expect(found).toEqual([
    { urn: urnOf("first"), id: "7", mark: "mark-there" },
    { urn: urnOf("second"), id: "7", mark: "mark-there" },
  ]);
  expect(notMade).toEqual([urnOf("neither")]);
  expect(told).toEqual([
    `${urnOf("both")}\n  several runs created it: 7 and 10. Keep one of them, and remove the others on the platform, except those that another resource of the stack has.`,
    `${urnOf("unmarked")}\n  can't be searched for: it was sent without a mark.`,
  ]);
  expect(sandbox).toMatchObject({ creates: 0, searches: 9 });
});

it("what several runs sent is not said to be looked for by the next `up`, since the state has room for one", async () => {
  const never = { event: { search: "GET rest/event?alternative_id={mark}" }, resendAfterSeconds: "never" };
  const settings = { operations: JSON.stringify(never) };
  const { told } = await search([killedTwice("two", "mark-gone", "mark-gone-too"), open("one")], settings);
  expect(told[0]).toMatch(
    /there is none\. Run `pulumi-advertising pending --search` again, before the next `pulumi up`\.$/,
  );
  expect(told[1]).toMatch(/there is none\. The next `pulumi up` looks again\.$/);
});
