/**
 * Clients as people already have them for services of this kind, against a sandbox without any option: a session object
 * with a cookie jar, a client that uses the 2.0 login and strict creates, and one that only looks at `success`.
 */
import { describe, expect, it } from "vitest";
import { type InstallationOptions, useSandbox } from "../support/installation.js";

type Body = Record<string, unknown>;

/** Like Python's `requests.Session`: keeps every cookie by its name, and sends them all. */
class CookieSession {
  readonly #base: string;
  readonly #cookies = new Map<string, string>();

  constructor(base: string) {
    this.#base = base;
  }

  get cookieNames(): string[] {
    return [...this.#cookies.keys()];
  }

  async request(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<{ status: number; body: Body }> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const answer = await fetch(`${this.#base}/${path}`, {
      method,
      headers: { "content-type": "application/json", ...(cookie === "" ? {} : { cookie }) },
      ...(body === undefined
        ? {}
        : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ""] = line.split(";");
      this.#cookies.set(
        pair.slice(0, pair.indexOf("=")),
        pair.slice(pair.indexOf("=") + 1),
      );
    }
    return { status: answer.status, body: (await answer.json()) as Body };
  }

  post = (path: string, body: unknown) => this.request("POST", path, body);
}

const idOf = (body: Body) => (body.payload as { id: number }).id;

async function start(options: InstallationOptions = {}) {
  const sandbox = await useSandbox(options);
  const client = new CookieSession(sandbox.url);
  const credentials = { email: sandbox.email, password: sandbox.password };
  return { sandbox, client, credentials };
}

describe("a session with a cookie jar", () => {
  it.each([false, true])(
    "logs in, creates, and logs in again when its session has ended (kept: %s)",
    async (keep) => {
      const { sandbox, client, credentials } = await start({ isSingleUse: true });
      const logIn = () =>
        client.post("rest/authenticate", { ...credentials, keep_logged_in: keep });
      const create = async (noun: string, body: Body): Promise<number> => {
        let answer = await client.post(`rest/${noun}`, body);
        if (answer.status === 401) {
          await logIn();
          answer = await client.post(`rest/${noun}`, body);
        }
        expect(answer.status).toBe(200);
        return idOf(answer.body);
      };

      await logIn();
      expect(
        client.cookieNames.filter((name) => name.endsWith("_service_cookie")),
      ).toHaveLength(1);
      const advertiser_id = await create("advertiser", { advertiser_name: "Acme" });
      await create("event", { event_name: "Landing", advertiser_id, value: 0 });
      sandbox.expireSessions();
      await create("event", { event_name: "Purchase", advertiser_id, value: 25 });

      expect(sandbox.logins).toBe(2);
      expect([sandbox.advertiserPosts, sandbox.eventPosts]).toEqual([1, 3]);
      expect(sandbox.events.map(({ event_name }) => event_name)).toEqual([
        "Landing",
        "Purchase",
      ]);
    },
  );
});

describe("the 2.0 login, and strict creates", () => {
  it.each(["rest/v2/authenticate", "2.0/rest/authenticate", "api/2.0/authenticate"])(
    "a login at %s is good for strict creates",
    async (path) => {
      const { sandbox, client, credentials } = await start();
      expect(await client.post(path, credentials)).toMatchObject({
        status: 200,
        body: { success: true },
      });
      const advertiser = await client.post("rest/advertiser/strict", {
        advertiser_name: "Acme",
        active: true,
      });
      expect(advertiser).toMatchObject({
        status: 200,
        body: { success: true, payload: { id: 1 } },
      });
      const event = {
        event_name: "Purchase",
        advertiser_id: idOf(advertiser.body),
        value: 25,
      };
      expect(await client.post("rest/event/strict", event)).toMatchObject({
        status: 200,
        body: { success: true, message: "event created with ID = 2", payload: { id: 2 } },
      });
      expect([sandbox.logins, sandbox.advertiserPosts, sandbox.eventPosts]).toEqual([
        1, 1, 1,
      ]);
      expect(sandbox.events).toMatchObject([
        { id: 2, event_name: "Purchase", attribution: "ALL" },
      ]);
    },
  );
});

describe("a client that decides by success alone", () => {
  class Failed extends Error {}

  /** Like such clients, ignores the status. */
  async function call(
    client: CookieSession,
    path: string,
    body?: unknown,
    method = "POST",
  ): Promise<Body> {
    const answer = (await client.request(method, path, body)).body;
    if (typeof answer.success !== "boolean")
      throw new TypeError(`no success in ${JSON.stringify(answer)}`);
    if (!answer.success) throw new Failed(JSON.stringify(answer));
    return answer;
  }

  it("sees each success and each failure", async () => {
    const { sandbox, client, credentials } = await start({ loginsPerMinute: 2 });
    const fails = (path: string, body?: unknown, method?: string) =>
      expect(
        call(client, path, body, method),
        `${method ?? "POST"} ${path}`,
      ).rejects.toThrow(Failed);

    await fails("rest/advertiser", { advertiser_name: "Acme" }); // 401: no session
    await fails("rest/authenticate", { ...credentials, password: "wrong" });
    await call(client, "rest/authenticate", credentials);
    await fails("rest/authenticate", credentials); // 429
    const advertiser = await call(client, "rest/advertiser", { advertiser_name: "Acme" });
    await fails("rest/advertiser", {}); // 406
    await fails("rest/advertiser", "[not JSON"); // 400
    await fails("rest/event", { event_name: "E", advertiser_id: 99, value: 1 });
    await fails("rest/segment", { segment_name: "S" }); // 404
    await fails("rest/event", undefined, "GET");
    await fails("", undefined, "GET");
    await call(client, "rest/event", {
      event_name: "E",
      advertiser_id: idOf(advertiser),
      value: 1,
    });

    expect([sandbox.advertisers.length, sandbox.events.length]).toEqual([1, 1]);
    expect([sandbox.advertiserPosts, sandbox.eventPosts]).toEqual([4, 2]);
  });
});
