/** The platform's time: from the `Date` headers of its responses, and what has passed since; never from this machine's clock. */
import { expect, it } from "vitest";
import { Client } from "../../provider/src/client/client.js";
import { createPlatformClock } from "../../provider/src/client/platform-clock.js";
import {
  type AttemptResult,
  type HttpRequest,
  TransportFailure,
} from "../../provider/src/client/transport.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { dependenciesOf } from "../support/client-dependencies.js";
import { FakeClock } from "../support/clock.js";

const REQUEST: HttpRequest = {
  method: "GET",
  url: new URL("https://platform.example/x"),
  headers: {},
};
const responseAt = (date: string | undefined): AttemptResult => ({
  status: 500,
  headers: date === undefined ? {} : { date },
  setCookies: [],
  body: "",
});

/** @returns what the clock shows after each of the results; ten seconds pass before each. */
async function shownAfter(results: readonly AttemptResult[]) {
  const clock = new FakeClock();
  const left = [...results];
  const send = async () => left.shift() ?? expect.fail("one too many");
  const transport = { send, close: async () => undefined };
  const platform = createPlatformClock({ transport, clock });
  const shown = [platform.now()];
  for (const result of results) {
    clock.advance(10_000);
    clock.jumpWall(3_600_000);
    expect(await platform.transport.send(REQUEST)).toBe(result);
    shown.push(platform.now());
  }
  return shown;
}

it("is a response's Date and what has passed since; a response that was longer on its way does not set it back", async () => {
  const dates = [
    "Sun, 01 Nov 2026 12:00:00 GMT",
    "Sun, 01 Nov 2026 12:00:04 GMT",
    "Sun, 01 Nov 2026 12:00:30 GMT",
  ];
  expect(await shownAfter(dates.map(responseAt))).toEqual([
    undefined,
    "2026-11-01T12:00:00.000Z",
    "2026-11-01T12:00:10.000Z",
    "2026-11-01T12:00:30.000Z",
  ]);
});

it.each([
  ["no response", new TransportFailure("ECONNRESET", true, "x")],
  ["no Date", responseAt(undefined)],
  ["an empty one", responseAt("")],
  ["what is no date", responseAt("Invalid Date")],
  ["another weekday", responseAt("Mon, 01 Nov 2026 12:00:00 GMT")],
  ["no such day", responseAt("Tue, 31 Nov 2026 12:00:00 GMT")],
  ["another zone", responseAt("Sun, 01 Nov 2026 12:00:00 +0100")],
  ["a former form", responseAt("Sunday, 01-Nov-26 12:00:00 GMT")],
  ["another form", responseAt("2026-11-01T12:00:00Z")],
  ["two", responseAt("Sun, 01 Nov 2026 12:00:00 GMT,Sun, 01 Nov 2026 12:00:00 GMT")],
  ["a clock that was never set", responseAt("Thu, 01 Jan 1970 00:00:07 GMT")],
])("%s says nothing", async (_, result) => {
  const good = responseAt("Sun, 01 Nov 2026 12:00:00 GMT");
  expect(await shownAfter([result, good, result])).toEqual([
    undefined,
    undefined,
    "2026-11-01T12:00:00.000Z",
    "2026-11-01T12:00:10.000Z",
  ]);
});

it("a client knows it from a login's response too", async () => {
  const dates = ["Sun, 01 Nov 2026 12:00:00 GMT"];
  const send = async (): Promise<AttemptResult> => ({
    status: 200,
    headers: { date: dates.shift() ?? "" },
    setCookies: ["x_service_cookie=1; Path=/"],
    body: '{"success":true,"payload":{"id":1}}',
  });
  const transport = { send, close: async () => undefined };
  const client = new Client(dependenciesOf({ transport }));
  expect(client.platformNow()).toBeUndefined();
  const nothing = async () => undefined;
  await client.create({
    kind: conversionEvent,
    operation: conversionEvent.create,
    fields: {},
    label: "E",
    beforeSend: nothing,
    onCreated: nothing,
  });
  expect(client.platformNow()).toBe("2026-11-01T12:00:00.000Z");
});
