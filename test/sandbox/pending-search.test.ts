/** What `pending --search` finds on the platform, and what it says about the rest. */
import { expect, it, onTestFinished, vi } from "vitest";
import { systemClock } from "../../provider/src/base/index.js";
import { searchOpen } from "../../provider/src/cli/platform.js";
import { type Create, stackCreatesIn } from "../../provider/src/cli/stack-creates.js";
import type { KindName } from "../../provider/src/kinds/index.js";
import { readExport, savedStateOf } from "../../provider/src/record/index.js";
import { type CreateRecord, refAt } from "../../provider/src/state/index.js";
import { useSandbox } from "../support/stack.js";
import { exportOf, urnOf } from "../support/stored.js";

const open = (
  short: string,
  record: Partial<CreateRecord> = {},
  { kind = "ConversionEvent", ...more }: Partial<Create> & { kind?: KindName } = {},
): Create => ({
  ref: refAt(`${kind}::${short}`, urnOf(kind, short)),
  record: {
    mark: `mark-${short}`,
    body: "",
    at: "2020-01-01T00:00:00.000Z",
    latest: "2020-01-01T00:00:00.000Z",
    field: "alternative_id",
    ...record,
  },
  knownBy: "state",
  formerIds: [],
  ...more,
});
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
  const settings = {
    BASE_URL: sandbox.url,
    EMAIL: sandbox.email,
    PASSWORD: sandbox.password,
    COOKIE_FILE: "none",
    REQUEST_TIMEOUT_SECONDS: "1",
    MARK_FIELD: "alternative_id",
    OPERATIONS: JSON.stringify({
      event: { search: "GET rest/event?alternative_id={mark}" },
      ...operations,
    }),
  };
  for (const [name, value] of Object.entries(settings))
    vi.stubEnv(`ADVERTISING_${name}`, value);
  vi.stubEnv("PATH", ""); // no stack
  vi.spyOn(systemClock, "sleep").mockResolvedValue();
  const told: string[] = [];
  vi.spyOn(console, "log").mockImplementation((text) => void told.push(text));
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  const saved = savedStateOf(readExport(exportOf([])));
  const facts = { ...stackCreatesIn(saved, [], "organization/shop/dev"), open: creates };
  const answers = await searchOpen(facts, {});
  expect(sandbox.creates).toBe(0);
  return {
    sandbox,
    told,
    found: answers.map(
      ({ create, id }) => `${create.ref.shownName} ${id || "not created"}`,
    ),
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

it("without a saved moment of the platform's time it neither says that nothing was made, nor when it will", async () => {
  const future = "2100-01-01T00:00:00.000Z";
  const creates = [open("new", { latest: undefined }), open("later", { latest: future })];
  const { found, told } = await search(creates);
  const until =
    /until \S+: nothing found\. The next `pulumi up`, or `npx pulumi-advertising pending --search( --stack \S+)?`, searches again\./;
  expect({ found, told }).toEqual({
    found: [],
    told: [
      expect.stringMatching(new RegExp(`^new: .*${until.source}$`)),
      expect.stringMatching(
        /^later: .* From 2100-01-01T00:06:01.000Z on, by the platform's/,
      ),
    ],
  });
});

it("says why it can't search, and sends nothing for it", async () => {
  const { sandbox, found, told } = await search([
    open("bare", { field: undefined }),
    open("other", { field: "external_ref" }),
    open("a", {}, { kind: "Advertiser" }),
    // Its events are secret.
    open(
      "set",
      {},
      { ref: refAt("ConversionEventSet::set", urnOf("ConversionEventSet", "set")) },
    ),
  ]);
  const by = "can't be searched for by its mark";
  const check = "check advertising:markField and advertising:operations";
  expect({ found, told }).toEqual({
    found: [],
    told: [
      `bare ${by}: ${check}.event.search.`,
      `other ${by}: ${check}.event.search.`,
      `a ${by}: ${check}.advertiser.search.`,
      expect.stringContaining("set existingId for each that is there"),
    ],
  });
  expect(sandbox.requests).toEqual([]);
});

it("an object that was found for one create is not another one's too", async () => {
  const creates = [open("there"), open("moved", { mark: "mark-there" })];
  expect(await search(creates)).toMatchObject({
    found: ["there 7"],
    told: [expect.stringContaining('7 can\'t be the id of "moved": "there" has or had it')],
  });
});

it("an object that contradicts what was sent is no answer", async () => {
  const sent = { name: "E", args: { advertiserId: 1, value: 1 } };
  const marked = { mark: "mark-there", ...sent };
  const { found, told } = await search([
    open("named", { ...marked, name: "Other" }),
    open("owned", { ...marked, args: { advertiserId: 2 } }),
    open("valued", { ...marked, args: { value: 2 } }),
    open("same", marked),
  ]);
  expect({ found, told }).toEqual({
    found: ["same 7"],
    told: [
      "named: A search found object 7, which has another eventName than was sent.",
      "owned: A search found object 7, which has another advertiserId than was sent.",
      "valued: A search found object 7, which has another value than was sent. `pulumi up` takes it over as it is.",
    ],
  });
});
