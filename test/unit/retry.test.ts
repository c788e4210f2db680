import { describe, expect, it } from "vitest";
import { TunnelFailure } from "../../provider/src/client/connections.js";
import { decideRetry, retryAfterMs } from "../../provider/src/client/decide-retry.js";
import { TransportFailure } from "../../provider/src/client/transport.js";
import { answer } from "../support/answers.js";

const now = Date.parse("2026-01-01T00:00:00Z");
const question = { attemptNumber: 1, idempotent: false, wallClockMs: now, random: 0 };

describe("a create is sent again only if it was certainly not acted upon", () => {
  it.each([
    "ENOTFOUND",
    "ECONNREFUSED",
    "UND_ERR_CONNECT_TIMEOUT",
    "ECONNRESET",
    "ETIMEDOUT",
  ])("%s before sending: again", (code) => {
    expect(
      decideRetry({ ...question, attempt: new TransportFailure(code, false, "x") }).kind,
    ).toBe("again");
  });

  it.each([
    "ECONNRESET",
    "EPIPE",
    "UND_ERR_SOCKET",
    "ETIMEDOUT",
    "ADVERTISING_TIMEOUT",
    "HPE_INVALID",
    "ECONNREFUSED",
  ])("%s after sending: never", (code) => {
    expect(
      decideRetry({ ...question, attempt: new TransportFailure(code, true, "x") }).kind,
    ).toBe("done");
  });

  it.each([
    "CERT_HAS_EXPIRED",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "ERR_TLS_CERT_ALTNAME_INVALID",
    "EPROTO",
  ])("%s: not again, the answer would be the same", (code) => {
    expect(
      decideRetry({ ...question, attempt: new TransportFailure(code, false, "x") }).kind,
    ).toBe("done");
  });

  it.each<[number, string]>([
    ...[500, 502, 503, 504].map((status): [number, string] => [status, "again"]),
    ...[204, 302, 400, 401, 403, 404, 405, 407, 429].map((status): [number, string] => [
      status,
      "done",
    ]),
  ])("a proxy that refuses the tunnel with status %i: %s", (status, kind) => {
    const proxy = {
      url: "",
      host: "proxy.test:3128",
      variable: "HTTPS_PROXY",
      noProxy: "",
      secrets: [],
    };
    const refusal = new TunnelFailure(
      new Error(`Proxy response (${status}) !== 200`),
      proxy,
    );
    const failure = new TransportFailure("UND_ERR_ABORTED", false, "x", refusal);
    expect(decideRetry({ ...question, attempt: failure }).kind).toBe(kind);
  });

  it.each([200, 400, 401, 403, 408, 500, 502, 503, 504, 307])(
    "a create that got status %i is never sent again",
    (status) => {
      expect(decideRetry({ ...question, attempt: answer(status) }).kind).toBe("done");
    },
  );

  it("after 429, or a 503 that names a time: again after a wait", () => {
    expect(
      decideRetry({ ...question, attempt: answer(429, "", { "retry-after": "2" }) }),
    ).toMatchObject({
      kind: "limited",
      delayMs: 2000,
    });
    expect(decideRetry({ ...question, attempt: answer(429) })).toMatchObject({
      kind: "limited",
      delayMs: 500,
    });
    expect(
      decideRetry({ ...question, attempt: answer(503, "", { "retry-after": "9" }) }),
    ).toMatchObject({
      kind: "limited",
      delayMs: 9000,
    });
  });

  it("after a Retry-After of 0: again, with a pause", () => {
    const decision = decideRetry({
      ...question,
      random: 1,
      attempt: answer(429, "", { "retry-after": "0" }),
    });
    expect(decision).toMatchObject({ kind: "limited", delayMs: 250 });
  });
});

it("a login may be sent again after an unknown outcome, up to three times in all", () => {
  const failure = new TransportFailure("ECONNRESET", true, "x");
  const kinds = [1, 2, 3].map(
    (attemptNumber) =>
      decideRetry({ ...question, idempotent: true, attemptNumber, attempt: failure }).kind,
  );
  expect(kinds).toEqual(["again", "again", "done"]);
  expect(decideRetry({ ...question, idempotent: true, attempt: answer(503) }).kind).toBe(
    "again",
  );
  expect(decideRetry({ ...question, idempotent: true, attempt: answer(401) }).kind).toBe(
    "done",
  );
});

describe("Retry-After", () => {
  it.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "120" }, 120_000],
    ["a date", { "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
    [
      "a date by the answer's own clock",
      {
        "retry-after": "Thu, 01 Jan 2026 05:00:30 GMT",
        date: "Thu, 01 Jan 2026 05:00:00 GMT",
      },
      30_000,
    ],
    ["a date in the past is 0", { "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
    ["a number with an exponent is unreadable", { "retry-after": "1e9" }, undefined],
    [
      "more than a year counts as a year",
      { "retry-after": "99999999999999999999" },
      366 * 24 * 3600 * 1000,
    ],
    ["a word is unreadable", { "retry-after": "soon" }, undefined],
    ["a negative number is unreadable", { "retry-after": "-5" }, undefined],
    ["an empty text is unreadable", { "retry-after": "" }, undefined],
    ["an absent header gives no time", {}, undefined],
  ])("%s", (_, headers, expected) => {
    expect(retryAfterMs(headers, now)).toBe(expected);
  });
});
