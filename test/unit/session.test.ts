/** The session over a scripted transport: what a refusal means for a login, and cases that need the right moment. */
import { afterEach, expect, it, vi } from "vitest";
import { Session } from "../../provider/src/client/session.js";
import { SessionJar } from "../../provider/src/client/session-jar.js";
import {
  type AttemptResult,
  type HttpRequest,
  type HttpResponse,
  TransportFailure,
} from "../../provider/src/client/transport.js";
import type { Settings } from "../../provider/src/settings/settings.js";
import { dependenciesOf } from "../support/client-dependencies.js";
import { FakeClock } from "../support/clock.js";
import { settingsOf } from "../support/settings.js";

const url = new URL("https://platform.example/rest/advertiser");
const START = Date.parse("2026-01-01T00:00:00Z");

/** Sends a create. */
const post = (
  session: Session,
  body: string,
  beforeSend: Parameters<Session["sendOnLogin"]>[1],
) => session.sendOnLogin({ method: "POST", url, body, idempotent: false }, beforeSend);

interface Given {
  readonly settings?: Partial<Settings>;
  /** How each create is answered. */
  readonly create: (request: HttpRequest) => AttemptResult | Promise<AttemptResult>;
}

function start({ settings, create }: Given) {
  const clock = new FakeClock(START);
  const creates: HttpRequest[] = [];
  let logins = 0;
  const dependencies = dependenciesOf({
    settings: settingsOf({ baseUrl: url.origin, ...settings }),
    transport: {
      send: async (request) => {
        if (request.url.pathname.endsWith("authenticate")) {
          return { ...answer(200), setCookies: [`x_service_cookie=${++logins}; Path=/`] };
        }
        creates.push(request);
        return create(request);
      },
      close: async () => undefined,
    },
    clock,
    say: () => undefined,
  });
  const session = new Session(dependencies);
  return { session, clock, creates, logins: () => logins, secrets: dependencies.secrets };
}

function answer(
  status: number,
  body: object = status === 200 ? { success: true, payload: { id: 1 } } : {},
): HttpResponse {
  return {
    status,
    headers: { "content-type": "application/json" },
    setCookies: [],
    body: JSON.stringify(body),
  };
}

const nothing = async () => undefined;

it("S2: the moment of sending is reported before each sending", async () => {
  let refuses = true;
  const { session, clock, creates, logins } = start({
    create: () => {
      clock.advance(1000);
      const status = refuses ? 401 : 200;
      refuses = false;
      return answer(status);
    },
  });
  const sentAt: string[] = [];
  expect(await post(session, "{}", async (at) => void sentAt.push(at))).toMatchObject({
    session: "accepted",
  });
  expect(sentAt).toEqual(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"]);
  expect(creates.map(({ headers }) => headers.cookie)).toEqual([
    "x_service_cookie=1",
    "x_service_cookie=2",
  ]);
  expect(logins()).toBe(2);
});

it("S1: a create that was about to be sent when the session ended is not sent on it", async () => {
  let ended = false;
  const { session, creates } = start({
    create: ({ headers }) =>
      answer(ended && headers.cookie === "x_service_cookie=1" ? 401 : 200),
  });
  for (let i = 0; i < 2; i++) await post(session, "{}", nothing); // from here on two may be in flight
  ended = true;
  const noted = Promise.withResolvers<void>();
  const slow = post(session, "slow", () => noted.promise);
  const refused = post(session, "refused", nothing);
  await new Promise((resolve) => setImmediate(resolve)); // the refusal has arrived
  noted.resolve();
  expect(await slow).toMatchObject({ session: "accepted" });
  expect(await refused).toMatchObject({ session: "accepted" });
  const sent = creates.slice(2).map(({ body, headers }) => `${body} ${headers.cookie}`);
  expect(sent).toEqual([
    "refused x_service_cookie=1",
    "refused x_service_cookie=2",
    "slow x_service_cookie=2",
  ]);
});

it("20 creates whose connections time out do so together, not one after the other", async () => {
  const { session, clock, creates } = start({
    settings: { authMode: "basic" },
    create: async () => {
      await clock.sleep(30_000);
      return new TransportFailure(
        "UND_ERR_CONNECT_TIMEOUT",
        false,
        "no connection within 30 s",
      );
    },
  });
  const endings = await Promise.allSettled(
    Array.from({ length: 20 }, () => post(session, "{}", nothing)),
  );
  expect(endings.map(({ status }) => status)).toEqual(
    Array.from({ length: 20 }, () => "rejected"),
  );
  expect(creates.length).toBeGreaterThanOrEqual(20);
  expect(clock.monotonicMs()).toBeLessThan(2 * 120_000 + 60_000);
});

it("creates that are sent and not answered do not hold up the others one after the other", async () => {
  const { session, clock, creates } = start({
    create: async () => {
      await clock.sleep(30_000);
      return new TransportFailure(
        "ADVERTISING_TIMEOUT",
        true,
        "no complete response within 30 s",
      );
    },
  });
  await Promise.allSettled(Array.from({ length: 8 }, () => post(session, "{}", nothing)));
  expect(creates).toHaveLength(8);
  expect(clock.monotonicMs()).toBe(4 * 30_000); // one, one, two, then four at a time
});

const WORDS = { message: "you may not create these" };

it.each<[string, number, object, number, number, string, number]>([
  ["a 401 on a new login: a second login, and a resend", 401, {}, 0, 0, "accepted", 2],
  ["a bare 403 on a new login: refused, no second login", 403, {}, 0, 0, "refused", 1],
  [
    "a bare 403 after an accepted create: a second login, and a resend",
    403,
    {},
    1,
    0,
    "accepted",
    2,
  ],
  [
    "a bare 403 on a login that is a minute old: a second login, and a resend",
    403,
    {},
    0,
    60_000,
    "accepted",
    2,
  ],
  [
    "a 403 with words about something else on a young login: no session problem, no second login",
    403,
    WORDS,
    1,
    0,
    "accepted",
    1,
  ],
  [
    "a 403 with such words on a login that is a minute old: a second login, and a resend",
    403,
    WORDS,
    1,
    60_000,
    "accepted",
    2,
  ],
])(
  "a session that refuses a create with %s",
  async (_, status, body, accepted, ageMs, expected, expectedLogins) => {
    const answers = [
      ...Array.from({ length: accepted }, () => answer(200)),
      answer(status, body),
    ];
    const { session, clock, creates, logins } = start({
      create: () => {
        if (answers.length === 1) clock.advance(ageMs);
        return answers.shift() ?? answer(200);
      },
    });
    for (let i = 0; i < accepted; i++) await post(session, "{}", nothing);
    expect((await post(session, "{}", nothing)).session).toBe(expected);
    expect([logins(), creates.length]).toEqual([expectedLogins, accepted + expectedLogins]);
  },
);

it("S5: a refusal that a new login did not cure causes no further login for a minute, and then one", async () => {
  const { session, clock, creates, logins } = start({ create: () => answer(401) });
  const one = async () => [
    (await post(session, "{}", nothing)).session,
    logins(),
    creates.length,
  ];
  expect(await one()).toEqual(["refused", 2, 2]);
  expect(await one()).toEqual(["refused", 2, 3]);
  clock.advance(60_000);
  expect(await one()).toEqual(["refused", 3, 5]);
});

it.each<[string, number, object, number, string, boolean]>([
  [
    "a 401 to the first create: the credentials are wrong, and the run sends nothing more",
    401,
    {},
    0,
    "refused",
    true,
  ],
  [
    "a 401 after an accepted create: it is about this request, and the run goes on",
    401,
    {},
    1,
    "refused",
    false,
  ],
  [
    "a bare 403: it is about this request, and the run goes on",
    403,
    {},
    0,
    "accepted",
    false,
  ],
  [
    "a 403 with words: it is about this request, and the run goes on",
    403,
    WORDS,
    0,
    "accepted",
    false,
  ],
])("S4: Basic credentials, %s", async (_, status, body, accepted, expected, isFinal) => {
  const answers = [
    ...Array.from({ length: accepted }, () => answer(200)),
    answer(status, body),
  ];
  const create = () => answers.shift() ?? answer(200);
  const { session, creates, secrets } = start({ settings: { authMode: "basic" }, create });
  for (let i = 0; i < accepted; i++) await post(session, "{}", nothing);
  expect((await post(session, "{}", nothing)).session).toBe(expected);
  const next = await post(session, "{}", nothing).then(
    () => "sent",
    (error: Error) => error.name,
  );
  expect(next).toBe(isFinal ? "LoginError" : "sent");
  expect(secrets.scrub(String(creates[0]?.headers.authorization))).toBe("Basic [secret]");
});

const event = new URL("https://platform.example/rest/event");
afterEach(() => void vi.useRealTimers());

it.each([-5, 0, 5])(
  "a cookie ends by the platform's clock: this machine's is %i h ahead of it",
  (hours) => {
    const there = Date.UTC(2026, 0, 1);
    vi.useFakeTimers({ toFake: ["Date"], now: there + hours * 3_600_000 });
    const jar = new SessionJar();
    const [soon, date] = ["Thu, 01 Jan 2026 00:15:00 GMT", "Thu, 01 Jan 2026 00:00:00 GMT"];
    jar.store(
      { setCookies: [`x_service_cookie=1; Path=/; Expires=${soon}`], headers: { date } },
      event,
    );
    expect(jar.endsAtMs(event, false)).toBe(Date.now() + 15 * 60_000);
    vi.setSystemTime(Date.now() + 14 * 60_000);
    expect(jar.hasSession(event)).toBe(true);
    vi.setSystemTime(Date.now() + 60_000);
    expect(jar.hasSession(event)).toBe(false);
  },
);

it("a request sends the newest cookies for its path that have not expired", () => {
  vi.useFakeTimers({ toFake: ["Date"], now: Date.UTC(2026, 0, 1) });
  const jar = new SessionJar();
  expect(jar.header(event)).toBe("");
  jar.store(
    {
      setCookies: [
        "x_service_cookie=1; Path=/; Expires=Thu, 01 Jan 2026 00:01:00 GMT",
        "b=2; Path=/rest/advertiser",
      ],
      headers: {},
    },
    event,
  );
  expect([jar.header(event), jar.header(event)]).toEqual([
    "x_service_cookie=1",
    "x_service_cookie=1",
  ]);
  expect(jar.header(url)).toBe("b=2; x_service_cookie=1"); // the longer path first (RFC 6265, section 5.4)
  jar.store(
    {
      setCookies: ["x_service_cookie=2; Path=/; Expires=Thu, 01 Jan 2026 00:01:00 GMT"],
      headers: {},
    },
    event,
  );
  expect(jar.header(event)).toBe("x_service_cookie=2");
  vi.setSystemTime(Date.UTC(2026, 0, 1, 0, 1));
  expect(jar.header(event)).toBe("");
});
