/**
 * Requests through a real proxy: which way they go, what the proxy may refuse, and that "not sent" stays true for the
 * tunnel and the platform's TLS in it. Only the proxy knows the platform's name.
 */
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { createTransport } from "../../provider/src/client/transport.js";
import type { FaultRule, SandboxOptions } from "../../provider/src/sandbox/index.js";
import {
  everythingIn,
  messageOf,
  TestClient,
  type TestClientOptions,
} from "../support/client.js";
import {
  type ProxyOptions,
  startProxy,
  startTlsFront,
  type Treatment,
} from "../support/proxy.js";
import { seededRandom } from "../support/random.js";
import { settingsOf } from "../support/settings.js";
import { useSandbox } from "../support/stack.js";
import { halfBody } from "../support/wire-faults.js";
import { makeCertificate } from "./certificates.js";
import { closedPort, startRawServer } from "./raw-server.js";

vi.setConfig({ testTimeout: 30_000 });

const PLATFORM = "https://platform.test";
const basic = { authMode: "basic" } as const;
/** No login, so that the proxy only gets creates. */
const withBasic = { sandbox: basic, client: { settings: basic } } as const;
/** One attempt, for tests in which an attempt takes real time. */
const withoutWaiting = { ...basic, requestTimeoutSeconds: 1, maxWaitSeconds: 0 } as const;

const authority = makeCertificate({ name: "test authority", authority: true });
const issuer = { name: "test authority", key: authority.key };
const platformCertificate = makeCertificate({
  name: "platform",
  issuer,
  host: "platform.test",
});
beforeAll(() => {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, authority.cert]);
  return () => setDefaultCACertificates(before);
});

interface Setting {
  readonly sandbox?: SandboxOptions;
  readonly proxy?: Omit<ProxyOptions, "to">;
  readonly client?: TestClientOptions;
  readonly certificate?: { cert: string; key: string };
  /** Made from the proxy's `host:port`. @default `HTTPS_PROXY`, without credentials */
  readonly variables?: (host: string) => Record<string, string>;
}

/** A sandbox behind TLS, behind a proxy. */
async function start({
  certificate = platformCertificate,
  variables,
  ...options
}: Setting = {}) {
  const sandbox = await useSandbox(options.sandbox);
  const front = await startTlsFront(certificate, Number(new URL(sandbox.url).port));
  const proxy = await startProxy({ to: front, ...options.proxy });
  const proxyVariables = variables?.(proxy.host) ?? { HTTPS_PROXY: `http://${proxy.host}` };
  const client = new TestClient(PLATFORM, { proxyVariables, ...options.client });
  return { sandbox, proxy, client, front };
}

/** By a name, because Node.js warns about TLS with an address. */
const asSecure = (host: string) => ({
  HTTPS_PROXY: `https://${host.replace("127.0.0.1", "localhost")}`,
});
const treatAll = (treatment: Treatment) => ({ treat: () => treatment });

describe("which way requests go", () => {
  it("through a tunnel whose connection is used again", async () => {
    const { sandbox, proxy, client } = await start({
      client: { settings: { maxConcurrentRequests: 1 } },
    });
    expect(await client.create("A")).toMatchObject({ kind: "created" });
    expect(await client.create("B")).toMatchObject({ kind: "created" });
    expect([sandbox.logins, sandbox.creates]).toEqual([1, 2]);
    expect(proxy.asked).toEqual(["platform.test:443"]);
    expect(proxy.forwarded).toEqual([]);
  });

  it("many at once: each is sent once, in no more tunnels than maxConcurrentRequests", async () => {
    const { sandbox, proxy, client } = await start({
      client: { settings: { maxConcurrentRequests: 4 } },
    });
    const endings = await client.createMany(60);
    expect(new Set(endings.map(({ kind }) => kind))).toEqual(new Set(["created"]));
    expect([sandbox.logins, sandbox.creates]).toEqual([1, 60]);
    expect(proxy.asked.length).toBeLessThanOrEqual(4);
  });

  it.each<[string, (host: string) => Record<string, string>]>([
    ["https_proxy", (host) => ({ https_proxy: `http://${host}` })],
    ["HTTP_PROXY alone", (host) => ({ HTTP_PROXY: `http://${host}` })],
    ["http_proxy alone", (host) => ({ http_proxy: `http://${host}/` })],
    [
      "small letters before capitals",
      (host) => ({ https_proxy: `http://${host}`, HTTPS_PROXY: "http://127.0.0.1:1" }),
    ],
    [
      "a NO_PROXY that names others",
      (host) => ({ HTTPS_PROXY: `http://${host}`, NO_PROXY: "x.test, form.test" }),
    ],
    [
      "another port in NO_PROXY",
      (host) => ({ HTTPS_PROXY: `http://${host}`, NO_PROXY: "platform.test:8443" }),
    ],
  ])("%s: through the proxy", async (_, variables) => {
    const { sandbox, proxy, client } = await start({ variables, ...withBasic });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(sandbox.creates).toBe(1);
    expect(proxy.asked).toEqual(["platform.test:443"]);
  });

  it.each(["localhost", "*", "x.test,localhost", "x.test localhost", "LOCALHOST:<port>"])(
    "NO_PROXY %s: directly, with nothing sent to the proxy",
    async (list) => {
      // The settings never give a loopback address a proxy, so the transport gets its proxy directly.
      const { front, proxy } = await start();
      const noProxy = list.replace("<port>", String(front));
      const direct = {
        url: `http://${proxy.host}/`,
        host: proxy.host,
        variable: "HTTPS_PROXY",
        noProxy,
        secrets: [],
      };
      const transport = createTransport({ settings: settingsOf(), proxy: direct });
      const url = new URL(`https://localhost:${front}/rest/advertiser`);
      // The platform's certificate does not fit this address, which only a direct connection reports.
      expect(
        await transport.send({ method: "POST", url, headers: {}, body: "{}" }),
      ).toMatchObject({
        code: "ERR_TLS_CERT_ALTNAME_INVALID",
        sent: false,
        tunnel: undefined,
      });
      await transport.close();
      expect(proxy.asked).toEqual([]);
    },
  );

  it("a platform on this machine is never reached through the proxy", async () => {
    const sandbox = await useSandbox();
    const { proxy } = await start();
    const everywhere = {
      HTTPS_PROXY: `http://${proxy.host}`,
      HTTP_PROXY: `http://${proxy.host}`,
    };
    const client = new TestClient(sandbox.url, { proxyVariables: everywhere });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(sandbox.creates).toBe(1);
    expect([proxy.asked, proxy.forwarded]).toEqual([[], []]);
  });

  it("through a proxy that itself uses TLS", async () => {
    const certificate = makeCertificate({ name: "proxy", issuer, host: "localhost" });
    const { sandbox, proxy, client } = await start({
      ...withBasic,
      proxy: { certificate },
      variables: asSecure,
    });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(sandbox.creates).toBe(1);
    expect(proxy.asked).toEqual(["platform.test:443"]);
  });

  it("a platform that closes each connection after its answer: once seen, each request has a tunnel of its own", async () => {
    const closed = Promise.withResolvers<void>();
    const platform = await startRawServer(async (connection) => {
      connection.socket.once("close", () => closed.resolve());
      while ((await connection.readRequest()) !== undefined) {
        await connection.answer(200, { payload: { id: platform.posts.length } });
        if (connection.index === 0) connection.end();
      }
    });
    const front = await startTlsFront(platformCertificate, platform.port);
    const proxy = await startProxy({ to: front });
    const proxyVariables = { HTTPS_PROXY: proxy.host }; // without a scheme, as curl takes it
    const client = new TestClient(PLATFORM, {
      settings: { ...basic, maxConcurrentRequests: 1 },
      proxyVariables,
    });
    expect(await client.create()).toMatchObject({ kind: "created" });
    await closed.promise;
    await new Promise((resolve) => setTimeout(resolve, 50)); // the front and the proxy pass the end on
    for (let count = 0; count < 4; count++)
      expect(await client.create()).toMatchObject({ kind: "created" });
    expect([platform.posts.length, proxy.asked.length]).toEqual([5, 5]);
  });

  it("an unrequested 100 Continue through the tunnel has no effect", async () => {
    const platform = await startRawServer(async (connection) => {
      await connection.readRequest();
      await connection.write("HTTP/1.1 100 Continue\r\n\r\n");
      await connection.answer(200, { payload: { id: 7 } });
    });
    const front = await startTlsFront(platformCertificate, platform.port);
    const proxy = await startProxy({ to: front });
    const client = new TestClient(PLATFORM, {
      settings: basic,
      proxyVariables: { HTTPS_PROXY: `http://${proxy.host}` },
    });
    expect(await client.create()).toMatchObject({ kind: "created", id: "7" });
    expect(platform.posts).toHaveLength(1);
  });

  it("a body of more than a megabyte through the tunnel is not kept", async () => {
    const platform = await startRawServer(async (connection) => {
      await connection.readRequest();
      await connection.answer(200, { payload: "x".repeat(1024 ** 2) });
    });
    const front = await startTlsFront(platformCertificate, platform.port);
    const proxy = await startProxy({ to: front });
    const client = new TestClient(PLATFORM, {
      settings: basic,
      proxyVariables: { HTTPS_PROXY: `http://${proxy.host}` },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expect(messageOf(ending)).toContain("exceeded max size");
    expect(platform.posts).toHaveLength(1);
  });
});

describe("no tunnel: nothing was sent, and the platform saw nothing", () => {
  it.each<[string, Treatment, RegExp]>([
    [
      "407",
      { kind: "refuse", status: 407 },
      /status 407.*platform\.test: .*set HTTPS_PROXY to http:\/\/user/,
    ],
    ["403", { kind: "refuse", status: 403 }, /status 403.*platform\.test: check its rules/],
    ["405", { kind: "refuse", status: 405 }, /status 405/],
    ["204", { kind: "refuse", status: 204 }, /status 204/],
    [
      "a redirect",
      { kind: "refuse", status: 302, headers: ["location: https://login.test/"] },
      /status 302/,
    ],
  ])("%s: an error at once", async (_, treatment, words) => {
    for (const settings of [{}, basic]) {
      const { sandbox, proxy, client } = await start({
        proxy: treatAll(treatment),
        client: { settings },
      });
      const ending = await client.create();
      expect(ending.kind).toBe("authMode" in settings ? "NotSentError" : "LoginError");
      expect(messageOf(ending)).toMatch(words);
      expect(messageOf(ending)).toContain(`the proxy ${proxy.host} (HTTPS_PROXY)`);
      expect(messageOf(ending)).toContain(
        "authMode" in settings ? "was not sent" : "Nothing was created.",
      );
      expect(proxy.asked).toHaveLength(1);
      expect(sandbox.requests).toEqual([]);
      expect(client.said).toEqual([]);
    }
  });

  it.each<[string, Treatment, RegExp]>([
    ["502", { kind: "refuse", status: 502 }, /status 502.*platform\.test: check/],
    ["503", { kind: "refuse", status: 503 }, /status 503/],
    ["504", { kind: "refuse", status: 504 }, /status 504/],
    ["closed", { kind: "close" }, /platform\.test through the proxy .*UND_ERR_SOCKET/],
    ["reset", { kind: "reset" }, /platform\.test through the proxy .*ECONNRESET/],
    ["not HTTP", { kind: "garbage" }, /platform\.test through the proxy .*Expected HTTP/],
    [
      "closed during the platform's TLS handshake",
      { kind: "tunnel", cutAfter: 100 },
      /could not connect to platform\.test through the proxy/,
    ],
  ])("%s: tried again up to maxWaitSeconds, then an error", async (_, treatment, words) => {
    const { sandbox, proxy, client } = await start({
      proxy: treatAll(treatment),
      client: { settings: basic },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(words);
    expect(messageOf(ending)).toContain(`the proxy ${proxy.host} (HTTPS_PROXY)`);
    expect(proxy.asked.length).toBeGreaterThan(5);
    expect(proxy.asked).toHaveLength(client.attempts.length);
    expect(client.clock.monotonicMs()).toBeLessThanOrEqual(120_000);
    expect(sandbox.requests).toEqual([]);
  });

  it("created once as soon as the proxy works", async () => {
    const treat = (index: number): Treatment =>
      ([
        { kind: "refuse", status: 503 },
        { kind: "reset" },
        { kind: "tunnel", cutAfter: 100 },
      ][index] as Treatment) ?? {
        kind: "tunnel",
      };
    const { sandbox, proxy, client } = await start({
      proxy: { treat },
      client: { settings: basic },
      sandbox: basic,
    });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(sandbox.creates).toBe(1);
    expect(proxy.asked).toHaveLength(4);
    expect(client.said).toEqual([]);
  });

  it("nothing listens at the proxy's address: tried again, then an error with the address", async () => {
    const port = await closedPort();
    const client = new TestClient(PLATFORM, {
      settings: basic,
      proxyVariables: { HTTPS_PROXY: `http://ops:pw-of-proxy@127.0.0.1:${port}` },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toContain(
      `could not connect to platform.test through the proxy 127.0.0.1:${port} (HTTPS_PROXY) (`,
    );
    expect(messageOf(ending)).toMatch(
      /ECONNREFUSED.*check HTTPS_PROXY and advertising:baseUrl/,
    );
    expect(messageOf(ending)).not.toContain("pw-of-proxy");
    expect(client.attempts.length).toBeGreaterThan(5);
  });

  it("the proxy does not answer: an error within requestTimeoutSeconds, for all steps together", async () => {
    const { sandbox, proxy, client } = await start({
      proxy: treatAll({ kind: "hang" }),
      client: { settings: withoutWaiting },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(
      /through the proxy .*within 1 s \(advertising:requestTimeoutSeconds\)/,
    );
    expect(client.attempts).toHaveLength(1);
    expect(proxy.asked).toHaveLength(1);
    expect(sandbox.requests).toEqual([]);
  });

  it("the tunnel is open, and the platform does not answer the TLS handshake", async () => {
    const silent = await startRawServer(() => undefined);
    const proxy = await startProxy({ to: silent.port });
    const client = new TestClient(PLATFORM, {
      settings: withoutWaiting,
      proxyVariables: { HTTPS_PROXY: `http://${proxy.host}` },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(
      /through the proxy .*within 1 s \(advertising:requestTimeoutSeconds\)/,
    );
    expect(silent.posts).toEqual([]);
  });

  const isAnother =
    /does not match certificate.*; check .*HTTPS_PROXY and advertising:baseUrl/;
  it.each<[string, { cert: string; key: string }, RegExp]>([
    [
      "self-signed",
      makeCertificate({ name: "self", host: "platform.test" }),
      /self-signed.*NODE_EXTRA_CA_CERTS/,
    ],
    [
      "expired",
      makeCertificate({ name: "old", issuer, host: "platform.test", from: -20, to: -10 }),
      /has expired.*clock/,
    ],
    [
      "for another name",
      makeCertificate({ name: "other", issuer, host: "other.test" }),
      isAnother,
    ],
    ["for the proxy's address", makeCertificate({ name: "address", issuer }), isAnother],
  ])(
    "the platform's certificate is checked through the tunnel: %s",
    async (_, certificate, words) => {
      const { sandbox, proxy, client } = await start({
        certificate,
        client: { settings: basic },
      });
      const ending = await client.create();
      expect(ending.kind).toBe("NotSentError");
      expect(messageOf(ending)).toMatch(words);
      expect(messageOf(ending)).toContain(
        `could not connect to platform.test through the proxy ${proxy.host} (HTTPS_PROXY) (`,
      );
      expect(client.attempts).toHaveLength(1);
      expect(sandbox.requests).toEqual([]);
    },
  );

  it.each<[string, { cert: string; key: string }, RegExp]>([
    [
      "self-signed",
      makeCertificate({ name: "self", host: "localhost" }),
      /self-signed certificate/,
    ],
    [
      "for another name",
      makeCertificate({ name: "x", issuer, host: "other.test" }),
      /does not match certificate/,
    ],
  ])("so is the proxy's own: %s", async (_, certificate, words) => {
    const { sandbox, proxy, client } = await start({
      proxy: { certificate },
      client: { settings: basic },
      variables: asSecure,
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(words);
    expect(messageOf(ending)).toContain(
      `through the proxy localhost:${proxy.port} (HTTPS_PROXY) (`,
    );
    expect(client.attempts).toHaveLength(1);
    expect([proxy.asked, sandbox.requests]).toEqual([[], []]);
  });

  it("https to a proxy that only speaks http", async () => {
    const { sandbox, proxy, client } = await start({
      client: { settings: basic },
      variables: asSecure,
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(
      /the proxy .*wrong version number.*the scheme and the port of HTTPS_PROXY/,
    );
    expect([proxy.asked, sandbox.requests]).toEqual([[], []]);
    expect(client.attempts).toHaveLength(1);
  });
});

describe("sent through the tunnel, and no answer: one POST, outcome unknown", () => {
  it.each<{
    readonly name: string;
    readonly fault: FaultRule["with"];
    readonly isSlow?: true;
  }>([
    { name: "reset", fault: { kind: "reset" } },
    { name: "closed without an answer", fault: { kind: "close-without-answer" } },
    { name: "no answer", fault: { kind: "no-answer" }, isSlow: true },
    { name: "half a body", fault: halfBody },
  ])("$name", async ({ fault, isSlow }) => {
    const settings = isSlow ? { requestTimeoutSeconds: 1 } : {};
    const { sandbox, proxy, client } = await start({ client: { settings } });
    sandbox.fail({ on: "create", with: fault, act: true });
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expect(messageOf(ending)).toContain("was sent at");
    expect([sandbox.logins, sandbox.creates, sandbox.advertisers.length]).toEqual([
      1, 1, 1,
    ]);
    expect(client.announced).toBe(1);
    // The client goes on with other creates.
    expect(await client.create("B")).toMatchObject({ kind: "created" });
    expect(sandbox.creates).toBe(2);
    expect(proxy.asked.length).toBeLessThanOrEqual(3);
  });

  it("a proxy that cuts after any byte, in 100 runs", async () => {
    const seed = Number(
      process.env.ADVERTISING_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31),
    );
    console.log(`proxy: ADVERTISING_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    const platform = await startRawServer(async (connection) => {
      if ((await connection.readRequest()) === undefined) return;
      await connection.answer(200, { payload: { id: 7 } }, ["connection: close"]);
      connection.end();
    });
    const front = await startTlsFront(platformCertificate, platform.port);
    let whole = Number.POSITIVE_INFINITY; // bytes of the handshake and the request, once known
    const treat = (): Treatment => ({
      kind: "tunnel",
      cutAfter: Math.floor(random() * 1.2 * whole),
    });
    const proxy = await startProxy({ to: front, treat });
    const client = new TestClient(PLATFORM, {
      settings: { ...basic, maxWaitSeconds: 1 },
      proxyVariables: { HTTPS_PROXY: `http://${proxy.host}` },
    });
    expect(await client.create("first")).toMatchObject({ kind: "created" });
    whole = proxy.came[0] ?? 0;
    expect(whole).toBeGreaterThan(500);
    const seen: Record<string, number> = {};
    for (let run = 0; run < 100; run++) {
      const name = `run-${String(run).padStart(3, "0")}`;
      const ending = await client.create(name);
      const posts = platform.posts.filter(({ body }) => body.includes(name)).length;
      const what = `seed ${seed}, ${name}: ${ending.kind} ${messageOf(ending)}, ${posts} POSTs`;
      if (ending.kind === "created") expect(posts, what).toBe(1);
      else if (ending.kind === "NotSentError") expect(posts, what).toBe(0);
      else {
        expect(ending.kind, what).toBe("OutcomeUnknownError");
        expect(posts, what).toBeLessThanOrEqual(1);
      }
      seen[ending.kind] = (seen[ending.kind] ?? 0) + 1;
    }
    expect(seen.created, `seed ${seed}`).toBeGreaterThan(0);
    expect(seen.OutcomeUnknownError, `seed ${seed}`).toBeGreaterThan(0);
    expect(seen.NotSentError, `seed ${seed}`).toBeGreaterThan(0);
  });
});

describe("credentials", () => {
  const raw = "m%C3%BCller:geheim%2Fp%40ss%3A1+2";
  const plain = "müller:geheim/p@ss:1+2";
  const password = "geheim/p@ss:1+2";
  const needles = [
    raw,
    plain,
    password,
    raw.slice(raw.indexOf(":") + 1),
    encodeURIComponent(password),
    Buffer.from(plain).toString("base64"),
    Buffer.from(password).toString("base64"),
  ];
  const withCredentials = (host: string) => ({ HTTPS_PROXY: `http://${raw}@${host}` });

  it("go only to the proxy", async () => {
    const { sandbox, client } = await start({
      proxy: { credentials: plain },
      variables: withCredentials,
    });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(sandbox.creates).toBe(1);
    for (const { headers } of sandbox.requests)
      expect(headers).not.toHaveProperty("proxy-authorization");
  });

  it("that are wrong: an error at once that does not quote them", async () => {
    const { sandbox, proxy, client } = await start({
      proxy: { credentials: "müller:another" },
      variables: withCredentials,
    });
    const ending = await client.create();
    expect(ending.kind).toBe("LoginError");
    expect(messageOf(ending)).toMatch(/status 407 .*, set \w+ to http:/);
    expect([proxy.asked.length, sandbox.requests.length]).toEqual([1, 0]);
    const everything = everythingIn("error" in ending ? ending.error : undefined);
    for (const needle of needles) expect(everything).not.toContain(needle);
  });

  it.each<Treatment>([
    { kind: "close" },
    { kind: "reset" },
    { kind: "garbage" },
    { kind: "tunnel", cutAfter: 100 },
  ])("are in no property of an error, however deep: $kind", async (treatment) => {
    const { client, sandbox } = await start({
      proxy: treatAll(treatment),
      variables: withCredentials,
      client: { settings: { ...basic, maxWaitSeconds: 0 } },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    const everything = everythingIn("error" in ending ? ending.error : undefined);
    for (const needle of needles) expect(everything).not.toContain(needle);
    expect(sandbox.requests).toEqual([]);
  });

  it("that the platform returns are scrubbed", async () => {
    const { sandbox, client } = await start({
      proxy: { credentials: plain },
      variables: withCredentials,
    });
    const body = { message: `no: ${needles.join(" ")} end` };
    sandbox.fail({ on: "create", with: { kind: "answer", status: 400, body } });
    const ending = await client.create();
    expect(ending.kind).toBe("RefusedError");
    for (const needle of needles) expect(messageOf(ending)).not.toContain(needle);
    expect(messageOf(ending)).toMatch(/no: (\[secret\][ =]*)+ end/);
    expect(sandbox.creates).toBe(1);
  });
});
