/** When a create that no search finds counts as not made: by the platform's time alone, and never too early. */
import { expect, it } from "vitest";
import { LoginError } from "../../provider/src/base/errors.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type { Runtime } from "../../provider/src/operations/runtime.js";
import { searchByMark } from "../../provider/src/operations/search.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import { FakeClock } from "../support/clock.js";
import { eventOperations } from "../support/operated.js";
import { settingsOf } from "../support/settings.js";

const NOON_MS = Date.parse("2026-11-01T12:00:00Z");
const at = (seconds: number) => new Date(NOON_MS + seconds * 1000).toISOString();

interface Case {
  /** The create's `latest`, in seconds after noon by the platform's clock. */
  readonly latest?: number;
  /** By the platform's clock when the first search begins, in seconds after noon; undefined if it sends no Date. */
  readonly now?: number;
  /** How long each search takes, in seconds. @default 0 */
  readonly took?: number;
  /** @default 60 */
  readonly resendAfterSeconds?: number | "never";
  readonly wasJustSent?: boolean;
}

/** Searches that find nothing, with 20 s for a request and 300 s until a new object is found. */
async function search({ latest, now, took = 0, wasJustSent, ...setting }: Case) {
  const { search } = eventOperations;
  const operations = operationsSchema.parse({
    event: { search },
    createdVisibleAfterSeconds: setting.resendAfterSeconds === 2 ? 0 : 300,
    ...setting,
  });
  // This machine's clock is a day ahead.
  const clock = new FakeClock(NOON_MS + 24 * 3_600_000);
  const client = {
    search: async () => {
      clock.advance(took * 1000);
      return new Map();
    },
    platformNow: () =>
      now === undefined ? undefined : at(now + clock.monotonicMs() / 1000),
  };
  const context = {
    settings: settingsOf({ operations }),
    clock,
    client: () => client as unknown as ReturnType<Runtime["client"]>,
  };
  const sent = {
    mark: "m",
    field: "alternative_id",
    latest: latest === undefined ? undefined : at(latest),
  };
  const wanted = { kind: conversionEvent, label: "E", sent, formerIds: [] };
  const result = await searchByMark(context, wanted, wasJustSent);
  return { ...result, searchedS: clock.monotonicMs() / 1000 };
}

it("a failed login ends the search at once, with its reason", async () => {
  const client = {
    search: async () => {
      throw new LoginError("wrong password.");
    },
  };
  const clock = new FakeClock(NOON_MS);
  const { search } = eventOperations;
  const context = {
    settings: settingsOf({ operations: operationsSchema.parse({ event: { search } }) }),
    clock,
    client: () => client as unknown as ReturnType<Runtime["client"]>,
  };
  const sent = { mark: "m", field: "alternative_id" };
  const wanted = { kind: conversionEvent, label: "E", sent, formerIds: [] };
  const result = await searchByMark(context, wanted);
  expect(result).toMatchObject({
    searched: expect.stringMatching(/: wrong password\. The/),
  });
  expect(clock.monotonicMs()).toBe(0);
});

/** No moment from which on the create is sent again. */
const UNSAID = expect.not.stringContaining("sends the create again");

it.each<[string, Case, object]>([
  // The searches go on for 30 seconds: after 0, 1, 3, 7, 15 and 30.
  ["30 s too early", { latest: 0, now: 349 }, { kind: "open", latest: at(0) }],
  ["due during the searches", { latest: 0, now: 373 }, { kind: "not-made", searchedS: 7 }],
  ["due at the first", { latest: 0, now: 380 }, { kind: "not-made", searchedS: 0 }],
  [
    "counted to the beginning of a search",
    { latest: 0, now: 373, took: 6 },
    { kind: "not-made", searchedS: 13 },
  ],
  [
    "just sent",
    { latest: 0, now: 10_000, wasJustSent: true },
    {
      kind: "open",
      searched: expect.stringContaining(` From ${at(380)} on, by the platform`),
    },
  ],
  [
    "never sent again",
    { latest: 0, now: 10_000, resendAfterSeconds: "never" },
    { kind: "open", searched: UNSAID },
  ],
  [
    "unknown when it was sent: counted from the first response, rounded up",
    { now: 10_000, took: 2 },
    {
      kind: "open",
      latest: at(10_003),
      searched: UNSAID,
    },
  ],
  ["no Date", { latest: 0 }, { kind: "open", latest: at(0) }],
  ["no Date ever", {}, { kind: "open", latest: undefined, searched: UNSAID }],
  ["no Date, and it could be due", { resendAfterSeconds: 2, latest: 0 }, { kind: "open" }],
])("%s: %j", async (_, given, expected) => {
  const result = await search(given);
  expect({ latest: undefined, ...result }).toMatchObject(expected);
});
