/** The session over a scripted transport, for cases that a real platform would show only at the right moment. */
import { expect, it } from "vitest";
import { type HttpAnswer, type HttpRequest, TransportFailure } from "../../provider/src/client/http.js";
import { Session } from "../../provider/src/client/session.js";
import { SessionStore } from "../../provider/src/client/session-store.js";
import type { Settings } from "../../provider/src/settings/settings.js";
import { FakeClock } from "../support/clock.js";
import { settingsOf } from "../support/settings.js";
import { surroundingsOf } from "../support/surroundings.js";

const url = new URL("https://platform.example/rest/advertiser");
const START = Date.parse("2026-01-01T00:00:00Z");

/** Sends a create. */
const post = (session: Session, body: string, beforeSend: Parameters<Session["send"]>[1]) =>
  session.send({ method: "POST", url, body, repeatable: false }, beforeSend);

interface Given {
  readonly settings?: Partial<Settings>;
  readonly store?: Partial<SessionStore>;
  /** How each create is answered. */
  readonly create: (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer>;
}

function start({ settings, store, create }: Given) {
  const clock = new FakeClock(START);
  const creates: HttpRequest[] = [];
  let logins = 0;
  const all = settingsOf({ baseUrl: url.origin, ...settings });
  const surroundings = surroundingsOf({
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
  const session = new Session(all, surroundings, Object.assign(new SessionStore(all, surroundings), store));
  return { session, clock, creates, logins: () => logins };
}

function answer(status: number): HttpAnswer {
  const body = status === 200 ? { success: true, payload: { id: 1 } } : {};
  return { status, headers: { "content-type": "application/json" }, setCookies: [], body: JSON.stringify(body) };
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
  expect(await post(session, "{}", async (at) => void sentAt.push(at))).toMatchObject({ session: "accepted" });
  expect(sentAt).toEqual(["2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z"]);
  expect(creates.map(({ headers }) => headers.cookie)).toEqual(["x_service_cookie=1", "x_service_cookie=2"]);
  expect(logins()).toBe(2);
});

it("S1: a create that was about to be sent when the session ended is not sent on it", async () => {
  let ended = false;
  const { session, creates } = start({
    create: ({ headers }) => answer(ended && headers.cookie === "x_service_cookie=1" ? 401 : 200),
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
  expect(sent).toEqual(["refused x_service_cookie=1", "refused x_service_cookie=2", "slow x_service_cookie=2"]);
});

it("20 creates whose connections time out do so together, not one after the other", async () => {
  const { session, clock, creates } = start({
    settings: { authMode: "basic" },
    create: async () => {
      await clock.sleep(30_000);
      throw new TransportFailure("UND_ERR_CONNECT_TIMEOUT", false, "no connection could be made within 30 s");
    },
  });
  const endings = await Promise.allSettled(Array.from({ length: 20 }, () => post(session, "{}", nothing)));
  expect(endings.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => "rejected"));
  expect(creates.length).toBeGreaterThanOrEqual(20);
  expect(clock.monotonicMs()).toBeLessThan(2 * 120_000 + 60_000);
});

it("creates that are sent and not answered do not hold up the others one after the other", async () => {
  const { session, clock, creates } = start({
    create: async () => {
      await clock.sleep(30_000);
      throw new TransportFailure("ADVERTISING_TIMEOUT", true, "no whole response came within 30 s");
    },
  });
  await Promise.allSettled(Array.from({ length: 8 }, () => post(session, "{}", nothing)));
  expect(creates).toHaveLength(8);
  expect(clock.monotonicMs()).toBe(4 * 30_000); // one, one, two, then four at a time
});

it("S6: an answer does not wait until its cookies are stored, but a request that it makes possible does", async () => {
  const stored = Promise.withResolvers<void>();
  const { session, creates } = start({
    settings: { keepLoggedIn: true },
    store: {
      keep: async ({ jar }, setCookies) => {
        await stored.promise;
        jar.store(setCookies, url);
      },
    },
    create: () => ({ ...answer(200), setCookies: ["x_service_cookie=newer; Path=/"] }),
  });
  const second = post(session, "first", nothing).then(() => post(session, "second", nothing));
  await new Promise((resolve) => setImmediate(resolve));
  expect(creates.map(({ body }) => body)).toEqual(["first"]);
  stored.resolve();
  await second;
  expect(creates.map(({ headers }) => headers.cookie)).toEqual(["x_service_cookie=1", "x_service_cookie=newer"]);
});
