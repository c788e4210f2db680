/** What `pending --search` finds on the platform, and what it says about the rest. */
import { expect, it, onTestFinished, vi } from "vitest";
import type { Create } from "../../provider/src/cli/pending-facts.js";
import { searchFor, searchUnanswered } from "../../provider/src/cli/pending-search.js";
import { readSettings } from "../../provider/src/settings/read-settings.js";
import type { CreateRecord } from "../../provider/src/state/stored.js";
import { newFolder } from "../support/folder.js";
import { useSandbox } from "../support/stack.js";
import { urnOf } from "../support/stored.js";

const open = (
  short: string,
  record: Partial<CreateRecord> = {},
  more: Partial<Create> = {},
): Create => {
  const urn = urnOf("ConversionEvent", short);
  const ref = {
    key: `ConversionEvent::${short}`,
    kind: "ConversionEvent",
    member: undefined,
    short,
    urn,
  } as const;
  return {
    ref: { ...ref, resourceUrn: urn },
    record: {
      mark: `mark-${short}`,
      body: "",
      at: "2020-01-01T00:00:00.000Z",
      field: "alternative_id",
      ...record,
    },
    known: "state",
    otherRefs: [],
    formerIds: [],
    ...more,
  };
};
const event = (id: number, mark: string) => ({
  id,
  event_name: "E",
  advertiser_id: 1,
  value: 1,
  alternative_id: mark,
});

async function search(creates: readonly Create[], operations: object = {}) {
  const sandbox = await useSandbox({
    operations: true,
    objects: {
      advertisers: [{ id: 1, advertiser_name: "A", active: true }],
      events: [event(7, "mark-there"), event(8, "mark-twice"), event(9, "mark-twice")],
    },
  });
  const config: Record<string, unknown> = {
    baseUrl: sandbox.url,
    email: sandbox.email,
    password: sandbox.password,
    cookieFile: "none",
    requestTimeoutSeconds: "1",
    markField: "alternative_id",
    operations: JSON.stringify({
      event: { search: "GET rest/event?alternative_id={mark}" },
      ...operations,
    }),
  };
  const reading = readSettings({
    config: (key) => config[key] as string | undefined,
    environment: {},
    mayLackPassword: false,
  });
  expect(reading.problems).toEqual([]);
  const { answers, told } = await searchFor(creates, reading, newFolder());
  expect(sandbox.creates).toBe(0);
  return {
    sandbox,
    told,
    found: answers.map(({ create, id }) => `${create.ref.short} ${id ?? "not created"}`),
  };
}

it("finds the object with exactly this mark, which the resource has not had before; of several, one is to be kept", async () => {
  const creates = [
    open("there"),
    open("twice"),
    open("gone"),
    open("had", { mark: "mark-there" }, { formerIds: ["7"] }),
  ];
  const { sandbox, found, told } = await search(creates);
  expect(found).toEqual(["there 7", "gone not created", "had not created"]);
  expect(told).toEqual([
    "twice: Searched for alternative_id = mark-twice: found 2 objects: 8 and 9. Keep one of them, and remove the others on the platform.",
  ]);
  expect(sandbox).toMatchObject({ searches: 4, logins: 1 });
});

it("says why it can't search, and sends nothing for it", async () => {
  const advertiser = open("a");
  const { sandbox, found, told } = await search([
    open("bare", { field: undefined }),
    open("other", { field: "external_ref" }),
    { ...advertiser, ref: { ...advertiser.ref, kind: "Advertiser" } },
  ]);
  const by = "can't be searched for by its mark";
  const check = "check advertising:markField and advertising:operations";
  expect({ found, told }).toEqual({
    found: [],
    told: [
      `bare: ${by} (none): ${check}.event.search.`,
      `other: ${by} (external_ref): ${check}.event.search.`,
      `a: ${by} (alternative_id): ${check}.advertiser.search.`,
    ],
  });
  expect(sandbox.requests).toEqual([]);
});

it("a create of which nobody knows when it was sent may have been sent until now: it is looked for later", async () => {
  const operations = { resendAfterSeconds: 1, createdVisibleAfterSeconds: 0 };
  const { sandbox, found, told } = await search(
    [open("there", { at: "" }), open("gone", { at: "" })],
    operations,
  );
  expect({ found, told }).toEqual({ found: ["there 7", "gone not created"], told: [] });
  expect(sandbox.searches).toBe(2);
});

it("an object that somebody has named for one create is not another one's too", async () => {
  const objects = {
    advertisers: [{ id: 1, advertiser_name: "A", active: true }],
    events: [event(7, "mark-there")],
  };
  const { url, email, password } = await useSandbox({ operations: true, objects });
  const operations = JSON.stringify({
    event: { search: "GET rest/event?alternative_id={mark}" },
  });
  const settings = {
    BASE_URL: url,
    EMAIL: email,
    PASSWORD: password,
    COOKIE_FILE: "none",
    OPERATIONS: operations,
  };
  for (const [name, value] of Object.entries({ ...settings, MARK_FIELD: "alternative_id" }))
    vi.stubEnv(`ADVERTISING_${name}`, value);
  vi.stubEnv("PATH", ""); // no stack
  onTestFinished(() => void vi.unstubAllEnvs());
  const [given, there] = [open("given"), open("there")];
  const none = { elsewhere: [], made: [], outdated: [], notes: new Map() };
  const facts = { ...none, open: [given, there], inState: new Map(), inJournal: new Map() };
  expect(await searchUnanswered([], facts, {})).toMatchObject([{ id: undefined }, { id: "7" }]);
  expect(await searchUnanswered([{ create: given, id: "7" }], facts, {})).toEqual([]);
});
