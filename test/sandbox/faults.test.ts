/** Faults of the network and of answers: what the client reports, and how many creates and logins reached the server. */
import { once } from "node:events";
import { createSecureServer as createHttp2Server } from "node:http2";
import type { Socket } from "node:net";
import {
  createServer as createTlsServer,
  getCACertificates,
  setDefaultCACertificates,
  type TlsOptions,
} from "node:tls";
import { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { Session } from "../../provider/src/client/session.js";
import { createTransport } from "../../provider/src/client/transport.js";
import type {
  Fault,
  FaultRule,
  Sandbox,
  SandboxOptions,
} from "../../provider/src/sandbox/index.js";
import {
  type Ending,
  everythingIn,
  messageOf,
  TestClient,
  type TestClientOptions,
} from "../support/client.js";
import { FakeClock } from "../support/clock.js";
import { countConnections, jsonAnswer, useSandbox } from "../support/installation.js";
import { seededRandom } from "../support/random.js";
import { settingsOf } from "../support/settings.js";
import * as wire from "../support/wire-faults.js";
import { makeCertificate } from "./certificates.js";
import { closedPort, rawAnswer, startRawServer } from "./raw-server.js";

vi.setConfig({ testTimeout: 30_000 });

/** No login, so that a raw server sees only creates. */
const basic = { settings: { authMode: "basic" } } as const;
/** One attempt, for tests in which an attempt takes real time. */
const withoutWaiting = { requestTimeoutSeconds: 1, maxWaitSeconds: 0 } as const;

async function start(options: SandboxOptions = {}, client: TestClientOptions = {}) {
  const sandbox = await useSandbox(options);
  return { sandbox, client: new TestClient(sandbox.url, client) };
}

/** Every error names the resource, the operation and its address, and no secret. */
function expectProperMessage(ending: Ending, baseUrl: string, client: TestClient): void {
  expect(messageOf(ending)).toContain(`Advertiser "A": POST ${baseUrl}/rest/advertiser`);
  expect(messageOf(ending).length).toBeLessThan(1500);
  expect(messageOf(ending)).not.toContain(client.settings.password);
}

it("Basic credentials that a refusal echoes are masked", async () => {
  const { sandbox, client } = await start({ authMode: "basic" }, basic);
  sandbox.fail({
    on: "advertiser",
    with: (_, { headers }) =>
      jsonAnswer({ errors: [`authorization ${headers.authorization}`] }, 406),
  });
  expect(messageOf(await client.create())).toMatch(/authorization Basic \[secret\]/);
});

const counts = ({ logins, creates }: Sandbox) => ({ logins, creates });

describe("T2: certainly not sent: nothing is created, and the server saw nothing", () => {
  it("the name does not exist", async () => {
    // A label of 64 characters is not a valid name, so no external resolver is asked.
    const host = `${"x".repeat(64)}.invalid`;
    const client = new TestClient(`http://${host}`, basic);
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expectProperMessage(ending, `http://${host}`, client);
    expect(messageOf(ending)).toMatch(
      /was not sent: could not connect to x+\.invalid \(.*(ENOTFOUND|EAI_AGAIN).*Nothing was created/,
    );
    // It is tried up to maxWaitSeconds, and reported once.
    expect(client.clock.monotonicMs()).toBeLessThanOrEqual(120_000);
    expect(client.attempts.length).toBeGreaterThan(5);
    expect(client.said).toEqual([
      expect.stringMatching(/^No response from x+\.invalid after 5 s\./),
    ]);
  });

  it("nothing listens at first: created once something does, without a message", async () => {
    const port = await closedPort();
    const client = new TestClient(`http://127.0.0.1:${port}`, basic);
    let posts: readonly unknown[] = [];
    client.clock.beforeWaking = async () => {
      if (client.clock.sleeps.length !== 2 || posts.length > 0) return;
      ({ posts } = await startRawServer(
        async (connection) => {
          await connection.readRequest();
          await connection.answer(200, { payload: { id: 7 } });
        },
        undefined,
        port,
      ));
    };
    expect(await client.create()).toMatchObject({ kind: "created", id: "7" });
    expect(posts).toHaveLength(1);
    expect(client.said).toEqual([]);
    expect(client.announced).toBe(3);
  });

  it("nothing listens at all", async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    const client = new TestClient(url, basic);
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expectProperMessage(ending, url, client);
    expect(messageOf(ending)).toMatch(
      /ECONNREFUSED.*; check advertising:baseUrl, the network/,
    );
    expect(client.clock.monotonicMs()).toBeLessThanOrEqual(120_000);
  });

  it("connections are never made (a black hole)", async () => {
    const port = await blackHole();
    const client = new TestClient(`http://127.0.0.1:${port}`, {
      settings: { ...basic.settings, ...withoutWaiting },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(
      /was not sent.*no connection within 1 s \(advertising:requestTimeoutSeconds\)/,
    );
    expect(client.attempts).toHaveLength(1);
  });

  describe("TLS", () => {
    const authority = makeCertificate({ name: "test authority", authority: true });
    const issuer = { name: "test authority", key: authority.key };
    beforeAll(() => {
      const before = getCACertificates("default");
      setDefaultCACertificates([...before, authority.cert]);
      return () => setDefaultCACertificates(before);
    });

    const serve = async (options: TlsOptions) => {
      const server = await startRawServer(
        async (connection) => {
          await connection.readRequest();
          await connection.answer(200, { payload: { id: 7 } });
        },
        (onConnection) => createTlsServer(options, onConnection),
      );
      return { server, url: `https://127.0.0.1:${server.port}` };
    };

    it("a good certificate works (the control for the next tests)", async () => {
      const { server, url } = await serve(makeCertificate({ name: "good", issuer }));
      expect(await new TestClient(url, basic).create()).toMatchObject({
        kind: "created",
        id: "7",
      });
      expect(server.posts).toHaveLength(1);
    });

    it.each<[string, TlsOptions, RegExp]>([
      [
        "self-signed",
        makeCertificate({ name: "self" }),
        /self-signed certificate.*; this machine doesn.t know the authority .*NODE_EXTRA_CA_CERTS/,
      ],
      [
        "expired",
        makeCertificate({ name: "expired", issuer, from: -20, to: -10 }),
        /certificate has expired.*; check this machine's clock, and .*advertising:baseUrl/,
      ],
      [
        "not yet valid",
        makeCertificate({ name: "future", issuer, from: 10, to: 20 }),
        /certificate is not yet valid.*; check this machine's clock/,
      ],
      [
        "for another name",
        makeCertificate({ name: "other", issuer, host: "other.example" }),
        /does not match certificate.*; check .*advertising:baseUrl/,
      ],
    ])("a certificate that is %s", async (_, certificate, words) => {
      const { server, url } = await serve(certificate);
      const client = new TestClient(url, basic);
      const ending = await client.create();
      expect(ending.kind).toBe("NotSentError");
      expectProperMessage(ending, url, client);
      expect(messageOf(ending)).toMatch(words);
      if (_ !== "self-signed")
        expect(messageOf(ending)).not.toContain("NODE_EXTRA_CA_CERTS");
      expect(messageOf(ending)).not.toMatch(
        /reject_?unauthorized|insecure|disable|turn|switch/i,
      );
      expect(server.posts).toHaveLength(0);
      expect(client.attempts).toHaveLength(1); // the answer would be the same
    });

    it("a server that speaks HTTP/2 only", async () => {
      const own = makeCertificate({ name: "h2", issuer });
      const server = await startRawServer(
        () => expect.fail("no connection"),
        () => createHttp2Server({ ...own, allowHTTP1: false }),
      );
      const url = `https://127.0.0.1:${server.port}`;
      const client = new TestClient(url, basic);
      const ending = await client.create();
      expect(ending.kind).toBe("NotSentError");
      expectProperMessage(ending, url, client);
      expect(messageOf(ending)).toMatch(
        /; check .*advertising:baseUrl: the server needs .* HTTP\/1\.1/,
      );
      expect(messageOf(ending)).not.toContain("NODE_EXTRA_CA_CERTS");
      expect(client.attempts).toHaveLength(1);
    });

    const wanting = {
      requestCert: true,
      rejectUnauthorized: true,
      ca: authority.cert,
    } as const;
    it.each(["TLSv1.2", "TLSv1.3"] as const)(
      "a server that wants a client certificate, %s",
      async (maxVersion) => {
        const { server, url } = await serve({
          ...makeCertificate({ name: "mtls", issuer }),
          ...wanting,
          maxVersion,
        });
        const words = /; if it asks for a client certificate, let a proxy add it/;
        // TLS 1.3 says so after the request was written, which then may have arrived for all that is known (T2).
        const client = new TestClient(url, basic);
        const ending = await client.create();
        expect(ending.kind).toBe(
          maxVersion === "TLSv1.2" ? "NotSentError" : "OutcomeUnknownError",
        );
        expect(messageOf(ending)).toMatch(words);
        expect(messageOf(ending)).not.toContain("NODE_EXTRA_CA_CERTS");
        const byLogin = new TestClient(url);
        expect(messageOf(await byLogin.create())).toMatch(words);
        expect([
          client.attempts.length,
          byLogin.attempts.length,
          server.posts.length,
        ]).toEqual([1, 1, 0]);
      },
    );

    it("TLS 1.0 only", async () => {
      const { server, url } = await serve({
        ...makeCertificate({ name: "old", issuer }),
        minVersion: "TLSv1",
        maxVersion: "TLSv1",
        ciphers: "DEFAULT@SECLEVEL=0",
      });
      const client = new TestClient(url, basic);
      const ending = await client.create();
      expect(ending.kind).toBe("NotSentError");
      expect(messageOf(ending)).toMatch(
        /was not sent.*(protocol version|PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL)/i,
      );
      expect(messageOf(ending)).not.toContain("NODE_EXTRA_CA_CERTS"); // the certificate is not the cause
      expect(server.posts).toHaveLength(0);
      expect(client.attempts).toHaveLength(1);
    });
  });

  it.each([
    ["reset", (socket: Socket) => void socket.resetAndDestroy()],
    ["closed", (socket: Socket) => void socket.end()],
  ])("a connection that is %s within the TLS handshake", async (_, end) => {
    const server = await startRawServer(async (connection) => {
      await connection.readBytes(1);
      end(connection.socket);
    });
    const client = new TestClient(server.url.replace("http:", "https:"), {
      settings: { ...basic.settings, ...withoutWaiting },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expect(messageOf(ending)).toMatch(
      /ECONNRESET.*; check advertising:baseUrl, the network and firewalls/,
    );
    expect(server.posts).toHaveLength(0);
  });

  it("plain http on the https port", async () => {
    const { sandbox } = await start();
    const url = sandbox.url.replace("http:", "https:");
    const client = new TestClient(url, basic);
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expectProperMessage(ending, url, client);
    expect(messageOf(ending)).toMatch(
      /the scheme and the port of advertising:baseUrl: the server needs .*TLS 1\.2/,
    );
    expect(counts(sandbox)).toEqual({ logins: 0, creates: 0 });
    expect(client.attempts).toHaveLength(1);
  });
});

describe("a server that closes each connection after its answer", () => {
  /** Closes its first connection without saying so, and leaves the others open. */
  async function closing() {
    const closed = Promise.withResolvers<void>();
    const server = await startRawServer(async (connection) => {
      connection.socket.once("close", () => closed.resolve());
      while ((await connection.readRequest()) !== undefined) {
        await connection.answer(200, { payload: { id: server.posts.length } });
        if (connection.index === 0) connection.end();
      }
    });
    return { server, closed: closed.promise };
  }

  it.each([1, 16])(
    "once seen, each request has its own connection, %i at once",
    async (maxConcurrentRequests) => {
      const { server, closed } = await closing();
      const client = new TestClient(server.url, {
        settings: { ...basic.settings, maxConcurrentRequests },
      });
      expect(await client.create()).toMatchObject({ kind: "created" });
      await closed;
      for (let round = 0; round < 3; round++) {
        const endings = await client.createMany(5);
        expect(endings.map(({ kind }) => kind)).toEqual(Array(5).fill("created"));
      }
      expect([server.posts.length, server.connections]).toEqual([16, 16]);
      expect(server.posts.slice(1).map(({ headers }) => headers.connection)).toEqual(
        Array(15).fill("close"),
      );
    },
  );

  it("one that says so, or that keeps them, has its connections used again", async () => {
    const server = await startRawServer(async (connection) => {
      for (let posts = 1; (await connection.readRequest()) !== undefined; posts++) {
        const isLast = connection.index === 0 && posts === 2;
        await connection.answer(
          200,
          { payload: { id: 1 } },
          isLast ? ["connection: close"] : [],
        );
        if (isLast) connection.end();
      }
    });
    const client = new TestClient(server.url, {
      settings: { ...basic.settings, maxConcurrentRequests: 1 },
    });
    for (let count = 0; count < 5; count++)
      expect(await client.create()).toMatchObject({ kind: "created" });
    expect([server.posts.length, server.connections]).toEqual([5, 2]);
  });
});

describe("T1, T2: sent, without an answer that resolves it: one POST, outcome unknown", () => {
  it("the server reads nothing and resets", async () => {
    const server = await startRawServer(async ({ socket }) => {
      await new Promise((resolve) => setTimeout(resolve, 50)); // by then the client's bytes are in the system's buffers
      socket.resetAndDestroy();
    });
    const client = new TestClient(server.url, basic);
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expectProperMessage(ending, server.url, client);
    expect(messageOf(ending)).toMatch(
      /was sent at .*failed after sending \(.*(ECONNRESET|EPIPE|UND_ERR_SOCKET)/,
    );
    expect(server.posts).toHaveLength(0);
  });

  const timesOut = /no complete response within 1 s \(advertising:requestTimeoutSeconds\)/;
  interface LostAnswer {
    readonly name: string;
    readonly fault: FaultRule["with"];
    readonly message: RegExp;
    /** Whether it takes the whole time that a request may take. */
    readonly isSlow?: true;
  }
  it.each<LostAnswer>([
    {
      name: "the server reads all, and closes without an answer",
      fault: { kind: "close-without-answer" },
      message:
        /was sent at 2026-01-01T.*failed after sending \(.*(UND_ERR_SOCKET|other side closed)/,
    },
    {
      name: "the server reads all, and resets",
      fault: { kind: "reset" },
      message: /failed after sending \(.*ECONNRESET/,
    },
    {
      name: "headers never come",
      fault: { kind: "no-answer" },
      message: timesOut,
      isSlow: true,
    },
    {
      name: "the body is cut at half",
      fault: wire.halfBody,
      message: /status 200\): its body is incomplete/,
    },
    {
      name: "the body stalls",
      fault: wire.stalledBody,
      message: /status 200\): its body is incomplete.*within 1 s/,
      isSlow: true,
    },
    {
      name: "the body arrives byte by byte",
      fault: wire.slowBody(400),
      message: /status 200\): its body is incomplete/,
      isSlow: true,
    },
    {
      name: "two lengths",
      fault: wire.twoLengths,
      message: /UND_ERR_RES_CONTENT_LENGTH_MISMATCH|HPE_UNEXPECTED_CONTENT_LENGTH/,
    },
    {
      name: "a bad chunk",
      fault: wire.badChunk,
      message: /HPE_|Invalid character in chunk size/,
    },
    { name: "a garbage status line", fault: wire.garbage, message: /HPE_|Expected HTTP/ },
    {
      name: "a header of 1 MB",
      fault: wire.hugeHeader(1_000_000),
      message: /UND_ERR_HEADERS_OVERFLOW/,
    },
    {
      name: "10,000 headers",
      fault: wire.manyHeaders(10_000),
      message: /UND_ERR_HEADERS_OVERFLOW/,
    },
  ])("$name", async ({ fault, message, isSlow = false }) => {
    for (const act of isSlow ? [true] : [true, false]) {
      const { sandbox, client } = await start(
        {},
        isSlow ? { settings: withoutWaiting } : {},
      );
      sandbox.fail({ on: "create", with: fault, act });
      const ending = await client.create();
      expect(ending.kind).toBe("OutcomeUnknownError");
      expectProperMessage(ending, sandbox.url, client);
      expect(messageOf(ending)).toMatch(message);
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
      expect(sandbox.advertisers).toHaveLength(act ? 1 : 0);
      expect(client.announced).toBe(1);
      // The client goes on with other creates.
      expect(await client.create("B")).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    }
  });

  it("a length shorter than the body", async () => {
    const server = await startRawServer(async (connection) => {
      await connection.readRequest();
      await connection.write(
        'HTTP/1.1 200 OK\r\ncontent-length: 12\r\n\r\n{"payload":{"id":7}}',
      );
    });
    const client = new TestClient(server.url, basic);
    expect((await client.create()).kind).toBe("OutcomeUnknownError");
    expect(server.posts).toHaveLength(1);
  });

  it("a reset after any byte, in 200 runs", async () => {
    const seed = Number(
      process.env.ADVERTISING_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31),
    );
    console.log(`ADVERTISING_TEST_SEED=${seed}`);
    const random = seededRandom(seed);
    let nextId = 1000;
    let requestBytes = 0; // the same for every request, set by the first one
    /** The server's log of one create, a line for each connection. */
    let log: { bytesRead: number; answered: "not" | "in part" | "whole"; id: string }[] =
      [];
    const server = await startRawServer(async (connection) => {
      const entry: (typeof log)[number] = { bytesRead: 0, answered: "not", id: "" };
      log.push(entry);
      if (requestBytes > 0 && random() < 0.4) {
        await connection.readBytes(Math.floor(random() * requestBytes)); // at least so many, not all
        entry.bytesRead = connection.bytesRead;
        connection.reset();
        return;
      }
      const request = await connection.readRequest();
      if (request === undefined) return;
      entry.bytesRead = request.bytes;
      entry.id = String(nextId++);
      const answer = rawAnswer(200, { success: true, payload: { id: Number(entry.id) } });
      if (requestBytes === 0 || random() < 0.2) {
        entry.answered = "whole";
        await connection.write(answer);
        connection.end(); // a reset could overtake the written bytes
        return;
      }
      entry.answered = "in part";
      await connection.write(answer.slice(0, Math.floor(random() * answer.length)));
      connection.reset();
    });
    const client = new TestClient(server.url, basic);
    await client.create("run-000");
    // Later ones may announce that their connection is not kept (T8), and are shorter by that.
    requestBytes = (server.posts[0]?.bytes ?? 0) - ("keep-alive".length - "close".length);
    expect(requestBytes).toBeGreaterThan(150);
    const seen: Record<string, number> = {};
    for (let run = 1; run <= 200; run++) {
      const name = `run-${String(run).padStart(3, "0")}`;
      log = [];
      const ending = await client.create(name);
      const posts = server.posts.filter(
        ({ body }) =>
          (JSON.parse(body) as { advertiser_name: string }).advertiser_name === name,
      );
      const what = `seed ${seed}, ${name}: ${ending.kind} ${messageOf(ending)} ${JSON.stringify(log)}`;
      // It is tried again only if the server has read nothing of it.
      const [last, ...earlier] = log.reverse();
      expect(
        earlier.filter(({ bytesRead }) => bytesRead > 0),
        what,
      ).toEqual([]);
      expect(posts, what).toHaveLength(last === undefined || last.id === "" ? 0 : 1);
      if (last?.answered === "whole") {
        expect(ending, what).toMatchObject({ kind: "created", id: last.id });
      } else if (ending.kind === "NotSentError") {
        expect(last?.bytesRead ?? 0, what).toBe(0);
      } else {
        expect(ending.kind, what).toBe("OutcomeUnknownError");
      }
      seen[ending.kind] = (seen[ending.kind] ?? 0) + 1;
    }
    expect(seen.created, `seed ${seed}`).toBeGreaterThan(0);
    expect(seen.OutcomeUnknownError, `seed ${seed}`).toBeGreaterThan(50);
  });
});

describe("T5: connections that come and go: one POST each, created", () => {
  it("an idle connection closed by the other side between two creates", async () => {
    for (const way of ["end", "reset"] as const) {
      const server = await startRawServer(async (connection) => {
        await connection.readRequest();
        await connection.answer(200, { payload: { id: connection.index + 1 } }, [
          "keep-alive: timeout=600",
        ]);
        connection[way]();
      });
      const client = new TestClient(server.url, basic);
      expect(await client.create("A")).toMatchObject({ kind: "created", id: "1" });
      await closed(server.sockets[0]);
      expect(await client.create("B")).toMatchObject({ kind: "created", id: "2" });
      expect(server.posts).toHaveLength(2);
      expect(client.attempts).toHaveLength(2);
    }
  });

  it("an idle connection is closed before the server would do it, whatever the server promises", async () => {
    const server = await startRawServer(async (connection) => {
      while ((await connection.readRequest()) !== undefined) {
        await connection.answer(200, { payload: { id: 7 } }, ["keep-alive: timeout=600"]);
      }
    });
    const client = new TestClient(server.url, basic);
    expect(await client.create("A")).toMatchObject({ kind: "created" });
    const begin = performance.now();
    await closed(server.sockets[0]); // by the client
    expect(performance.now() - begin).toBeLessThan(5000); // common servers keep one for at least so long
    expect(await client.create("B")).toMatchObject({ kind: "created" });
    expect(server.connections).toBe(2);
    expect(server.posts).toHaveLength(2);
  });

  it("interim responses, cut at every byte, mean nothing", async () => {
    const server = await startRawServer(async (connection) => {
      connection.socket.setNoDelay(true);
      while ((await connection.readRequest()) !== undefined) {
        for (const byte of wire.INTERIMS) {
          await connection.write(byte);
          await new Promise((resolve) => setTimeout(resolve, 1));
        }
        // A body of less than a status line's length comes alone.
        await connection.write("HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n");
        await new Promise((resolve) => setTimeout(resolve, 20));
        await connection.write('{"id":7}');
      }
    });
    const settings = { ...basic.settings, maxConcurrentRequests: 1 };
    const client = new TestClient(server.url, { settings });
    for (const name of ["A", "B"])
      expect(await client.create(name)).toMatchObject({ kind: "created", id: "7" });
    expect([server.posts.length, server.connections]).toEqual([2, 1]);
  });

  it.each([
    { name: "connection: close on each answer", fault: wire.closeAfter },
    { name: "100 Continue", fault: wire.continued },
    { name: "several interim responses in one packet", fault: wire.continuedTwice },
    { name: "103 Early Hints", fault: wire.earlyHints },
  ])("$name", async ({ fault }) => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "any", with: fault, act: true, times: 100 });
    for (const id of ["1", "2", "3"])
      expect(await client.create(id)).toMatchObject({ kind: "created", id });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 3 });
    expect(sandbox.advertisers).toHaveLength(3);
  });
});

describe("T4: redirects are never followed", () => {
  it.each([301, 302, 303])(
    "%i to a login page means that the session has ended",
    async (status) => {
      const { sandbox, client } = await start();
      await client.create("first");
      sandbox.fail({
        on: "create",
        with: { kind: "answer", status, headers: { location: "/login" } },
      });
      expect(await client.create("A")).toMatchObject({ kind: "created" });
      expect(counts(sandbox)).toEqual({ logins: 2, creates: 3 });
      expect(sandbox.advertisers.map((advertiser) => advertiser.advertiser_name)).toEqual([
        "first",
        "A",
      ]);
      expect(sandbox.requests.every(({ method }) => method === "POST")).toBe(true);
    },
  );

  it("302 to any other address may follow a success: it's not sent again, and the next create has another login", async () => {
    const { sandbox, client } = await start();
    await client.create("first");
    const redirect = {
      on: "create" as const,
      act: true,
      with: { kind: "answer" as const, status: 302, headers: { location: "/rest/list" } },
    };
    sandbox.fail(redirect);
    expect((await client.create("A")).kind).toBe("OutcomeUnknownError");
    expect(await client.create("B")).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 3 });
    // If each create is answered so, the login isn't the reason.
    sandbox.fail({ ...redirect, times: 5 });
    for (const name of ["C", "D", "E", "F", "G"])
      expect((await client.create(name)).kind).toBe("OutcomeUnknownError");
    expect(counts(sandbox)).toEqual({ logins: 3, creates: 8 });
  });

  it.each([307, 308])("%i to another origin, which gets no request", async (status) => {
    const other = await useSandbox();
    const connections = countConnections(other);
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "create",
      with: {
        kind: "answer",
        status,
        headers: { location: `${other.url}/rest/advertiser` },
      },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expectProperMessage(ending, sandbox.url, client);
    expect(messageOf(ending)).toContain(
      `(status ${status}): its status doesn't show the outcome`,
    );
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(other.requests).toEqual([]);
    expect(connections()).toBe(0);
  });

  it("a login that redirects to another origin gives it nothing", async () => {
    const other = await useSandbox();
    const connections = countConnections(other);
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "authenticate",
      with: {
        kind: "answer",
        status: 307,
        headers: { location: `${other.url}/rest/authenticate` },
      },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("LoginError");
    expect(messageOf(ending)).toMatch(/there is no login at this address/);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
    expect(connections()).toBe(0);
  });
});

describe("refused: nothing is created, and the platform's own words are passed on", () => {
  it.each<{ readonly name: string; readonly fault: Fault; readonly message: RegExp }>([
    {
      name: "422 with field errors",
      fault: {
        kind: "answer",
        status: 422,
        body: { advertiser_name: ["is too long"], alternative_id: "value-4711" },
      },
      message:
        /refused with status 422: advertiser_name: is too long\. Nothing was created\.$/,
    },
    {
      name: "404",
      fault: { kind: "answer", status: 404, body: "no such page" },
      message:
        /refused with status 404: no such page\. Nothing was created\. Check the address: advertising:baseUrl, including its path/,
    },
    {
      name: "409",
      fault: { kind: "answer", status: 409, body: { message: "exists already" } },
      message: /refused with status 409: exists already\. Nothing was created\.$/,
    },
    {
      name: "200 with an inner success: false",
      fault: {
        kind: "answer",
        status: 200,
        body: { success: true, payload: { success: false, message: "no" } },
      },
      message: /refused with status 200: no\./,
    },
  ])("$name", async ({ fault, message }) => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "create", with: fault });
    const ending = await client.create("A", { alternative_id: "value-4711" });
    expect(ending.kind).toBe("RefusedError");
    expectProperMessage(ending, sandbox.url, client);
    expect(messageOf(ending)).toMatch(message);
    expect(messageOf(ending)).not.toContain("value-4711");
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });
});

describe("the platform limits the rate", () => {
  it("429 with Retry-After: 2, then served", async () => {
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "create",
      with: { kind: "answer", status: 429, headers: { "retry-after": "2" } },
    });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(client.clock.monotonicMs()).toBeGreaterThanOrEqual(2000);
    expect(client.clock.monotonicMs()).toBeLessThan(3000);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 2 });
    expect(sandbox.advertisers).toHaveLength(1);
  });

  it.each<[string, Record<string, string>, number]>([
    ["with Retry-After: 30", { "retry-after": "30" }, 5],
    ["without a header", {}, 15],
    [
      "with a date",
      {
        "retry-after": "Thu, 01 Jan 2026 00:00:50 GMT",
        date: "Thu, 01 Jan 2026 00:00:00 GMT",
      },
      3,
    ],
    ["with 0", { "retry-after": "0" }, 15],
  ])("429 forever, %s: a bounded number of POSTs", async (_, headers, mostPosts) => {
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "create",
      with: { kind: "answer", status: 429, headers },
      times: 1000,
    });
    const ending = await client.create();
    expect(ending.kind).toBe("RateLimitedError");
    expectProperMessage(ending, sandbox.url, client);
    expect(messageOf(ending)).toMatch(
      /limits the rate .*\d{4,6}-\d\d-\d\dT[\d:.]+Z.*maxWaitSeconds \(120 s\).*Nothing was created/,
    );
    expect(client.clock.monotonicMs()).toBeLessThanOrEqual(120_000);
    expect(sandbox.logins).toBe(1);
    expect(sandbox.creates).toBeGreaterThanOrEqual(1);
    expect(sandbox.creates).toBeLessThanOrEqual(mostPosts);
    expect(sandbox.advertisers).toHaveLength(0);
  });
});

describe("T3: answered, but the outcome stays unknown: one POST", () => {
  const html = { "content-type": "text/html" };
  const million = `{${Array.from({ length: 1_000_000 }, (_, i) => `"k${i}":1`).join()},"id":5}`;
  it.each<{ readonly name: string; readonly fault: Fault; readonly message: RegExp }>([
    {
      name: "status 502",
      fault: {
        kind: "answer",
        status: 502,
        body: { message: `out of order. ${"x".repeat(5000)}` },
      },
      message:
        /got an unusable response \(status 502\): its status doesn't show the outcome\. The platform said: out of order/,
    },
    {
      name: "200 with an HTML page",
      fault: {
        kind: "answer",
        status: 200,
        headers: html,
        body: "<html><title>Maintenance</title></html>",
      },
      message: /it's an HTML page\. The platform said: Maintenance/,
    },
    {
      name: "no id",
      fault: {
        kind: "answer",
        status: 200,
        body: { success: true, id: null, secret_value: "value-4711" },
      },
      message:
        /status 200\): it isn't clearly about one new object \(its fields: success, id and secret_value\)/,
    },
    {
      name: "id 0",
      fault: { kind: "answer", status: 200, body: { success: true, payload: { id: 0 } } },
      message: /status 200\): it isn't clearly about one new object \(ids in it: 0\)/,
    },
    {
      name: "a million keys",
      fault: { kind: "answer", status: 200, body: million },
      message: /incomplete.*exceeded max size/,
    },
    {
      name: "204",
      fault: { kind: "answer", status: 204 },
      message: /status 204\): its status doesn't show the outcome/,
    },
  ])("$name", async ({ fault, message }) => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "create", with: fault, act: true });
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expectProperMessage(ending, sandbox.url, client);
    expect(messageOf(ending)).toMatch(message);
    expect(messageOf(ending)).toMatch(/was sent at 2026-01-01T00:00:00/);
    expect(messageOf(ending)).not.toContain("value-4711");
    expect(messageOf(ending).length).toBeLessThan(800); // at most 500 of them are the platform's
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });
});

describe("created", () => {
  const manyKeys = Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`).join();
  it.each([
    {
      name: "an id beyond 2^53",
      body: '{"payload":{"id":9007199254740993}}',
      id: "9007199254740993",
    },
    {
      name: "50,000 keys and __proto__",
      body: `{"__proto__":{"polluted":1},${manyKeys},"id":5}`,
      id: "5",
    },
  ])("$name", async ({ body, id }) => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "create", with: { kind: "answer", status: 200, body }, act: true });
    expect(await client.create()).toMatchObject({ kind: "created", id });
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });

  it("an id is noted before anything slow, such as storing the answer's cookies", async () => {
    const { client } = await start();
    const stored = Promise.withResolvers<void>();
    const noted = Promise.withResolvers<string>();
    client.onCreated = noted.resolve;
    const send = Session.prototype.sendOnLogin;
    const slow = vi
      .spyOn(Session.prototype, "sendOnLogin")
      .mockImplementation(async function (this: Session, ...request) {
        return { ...(await send.apply(this, request)), cookiesStored: stored.promise };
      });
    onTestFinished(() => slow.mockRestore());
    let isOver = false;
    const ending = client.create().finally(() => {
      isOver = true;
    });
    expect([await noted.promise, isOver]).toEqual(["1", false]);
    stored.resolve();
    expect(await ending).toMatchObject({ kind: "created", id: "1" });
  });

  it("503 at the login, then served", async () => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "authenticate", with: { kind: "answer", status: 503 } });
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(counts(sandbox)).toEqual({ logins: 2, creates: 1 });
  });
});

describe("T7: a machine that was suspended between the note and the first byte", () => {
  it("while a create is noted: it is not written then, but noted and sent again; one POST", async () => {
    const { sandbox, client } = await start();
    client.whileNoting = () =>
      client.clock.jumpWall(client.announced === 1 ? 20_001 : 20_000);
    expect(await client.create()).toMatchObject({ kind: "created" });
    expect(client.announced).toBe(2);
    expect(client.attempts.filter((attempt) => attempt.includes("advertiser"))).toEqual([
      expect.stringContaining(": ADVERTISING_TOO_LATE, not sent after"),
      expect.stringContaining(": status 200 after"),
    ]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });

  it("while it connects: no byte leaves", async () => {
    const server = await startRawServer(async (connection) => {
      await connection.readRequest();
      await connection.answer(200, { payload: { id: 1 } });
    });
    const clock = new FakeClock();
    const transport = createTransport({ settings: settingsOf(), proxy: undefined }, clock);
    onTestFinished(() => transport.close());
    const request = {
      method: "POST",
      url: new URL(server.url),
      headers: {},
      body: "{}",
    } as const;
    const suspended = transport.send({ ...request, notedAtMs: clock.wallMs() });
    clock.jumpWall(20_001);
    expect(await suspended).toMatchObject({ code: "ADVERTISING_TOO_LATE", sent: false });
    expect(server.posts).toHaveLength(0);
    expect(await transport.send({ ...request, notedAtMs: clock.wallMs() })).toMatchObject({
      status: 200,
    });
    expect(server.posts).toHaveLength(1);
  });

  it("again and again: not sent, with an error that says so", async () => {
    const { sandbox, client } = await start();
    client.whileNoting = () => client.clock.jumpWall(3_600_000);
    const ending = await client.create();
    expect(ending.kind).toBe("NotSentError");
    expectProperMessage(ending, sandbox.url, client);
    expect(messageOf(ending)).toMatch(
      /was not sent: more than 20 s \(advertising:requestTimeoutSeconds\) passed before .*suspended\. Nothing was created\./,
    );
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
  });
});

describe("T6: answers without an end", () => {
  it("a body of 10 GB is not read", async () => {
    let written = 0;
    const server = await startRawServer(async (connection) => {
      await connection.readRequest();
      const chunk = Buffer.alloc(256 * 1024, " ");
      await connection.write(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${10 * 1024 ** 3}\r\n\r\n`,
      );
      while (!connection.socket.destroyed && written < 1024 ** 3) {
        await connection.write(chunk);
        written += chunk.length;
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    const client = new TestClient(server.url, basic);
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expect(messageOf(ending)).toMatch(
      /status 200\): its body is incomplete or unreadable \(.*exceeded max size/,
    );
    expect(server.posts).toHaveLength(1);
    expect(written).toBeLessThan(64 * 1024 ** 2); // the system's buffers take so much
  });

  it("a chunked body without an end is not read", async () => {
    const { sandbox, client } = await start();
    sandbox.fail({ on: "create", with: wire.hugeBody(10 * 1024 ** 3), act: true });
    const ending = await client.create();
    expect(ending.kind).toBe("OutcomeUnknownError");
    expect(messageOf(ending)).toContain("exceeded max size");
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });

  it("a small body that unpacks to 800 MB is not unpacked", async () => {
    const member = gzipSync(Buffer.alloc(10 * 1024 ** 2, " "));
    const bomb = Buffer.concat(Array.from({ length: 80 }, () => member));
    expect(bomb.length).toBeLessThan(1024 ** 2); // small, so that only unpacking it could be large
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "create",
      with: {
        kind: "answer",
        status: 200,
        headers: { "content-encoding": "gzip" },
        body: bomb,
      },
    });
    const before = process.memoryUsage.rss();
    const ending = await client.create();
    expect(process.memoryUsage.rss() - before).toBeLessThan(200 * 1024 ** 2);
    expect(ending.kind).toBe("OutcomeUnknownError");
    expect(messageOf(ending)).toMatch(/can't be unpacked/);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });

  it.each(["gzip", "br"])("a body that is not %s, as its header says", async (encoding) => {
    const { sandbox, client } = await start();
    sandbox.fail({
      on: "create",
      with: {
        kind: "answer",
        status: 200,
        headers: { "content-encoding": encoding },
        body: { id: 1 },
      },
    });
    expect((await client.create()).kind).toBe("OutcomeUnknownError");
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
  });
});

describe("an answer that echoes secrets", () => {
  const password = 'pa"ss/wörd & 100%+<geheim>';
  const spellings = (secret: string): string[] => [
    secret,
    encodeURIComponent(secret),
    encodeURIComponent(secret).replaceAll("%20", "+"),
    Buffer.from(secret).toString("base64"),
    Buffer.from(secret).toString("base64url"),
    Buffer.from(`ops@example.com:${secret}`).toString("base64"),
    JSON.stringify(secret).slice(1, -1),
    Buffer.from(secret).toString("hex"),
  ];
  /** Expects none of the secrets in anything that a person could read. */
  function expectScrubbed(ending: Ending, secrets: readonly string[]): void {
    const message = messageOf(ending);
    expect(message).toContain("[secret]");
    for (const spelling of secrets.flatMap(spellings))
      expect(message).not.toContain(spelling);
  }

  it.each([200, 401, 500])("with status %i", async (status) => {
    const { sandbox, client } = await start({ password }, { settings: { password } });
    let cookie = "";
    const echo = (text: string) => ({
      success: false,
      message: `debug: ${text}`,
      errors: [text, { advertiser_name: [text] }],
    });
    for (const spell of [0, 1, 2, 3, 4, 5, 6, 7]) {
      sandbox.fail({
        on: "create",
        with: (_, { headers }) => {
          cookie = String(headers.cookie).split("=")[1] ?? "";
          const texts = [password, cookie].map((secret) => spellings(secret)[spell]);
          return jsonAnswer(echo(texts.join(" and ")), status);
        },
      });
      const posts = sandbox.creates;
      const ending = await client.create();
      expect(ending.kind).toBe(status === 500 ? "OutcomeUnknownError" : "RefusedError");
      expect(cookie).toMatch(/^.{20,}$/);
      expectScrubbed(ending, [password, cookie]);
      expect(sandbox.creates).toBe(posts + 1);
    }
    expect(sandbox.logins).toBe(1);
  });

  it("split over two pieces of the body, as plain text", async () => {
    const text = `it failed for ${password} just now`;
    const server = await startRawServer(async (connection) => {
      await connection.readRequest();
      const bytes = Buffer.from(text);
      await connection.write(
        `HTTP/1.1 400 X\r\ncontent-type: text/plain\r\ncontent-length: ${bytes.length}\r\n\r\n`,
      );
      await connection.write(bytes.subarray(0, 20));
      await new Promise((resolve) => setImmediate(resolve));
      await connection.write(bytes.subarray(20));
    });
    const client = new TestClient(server.url, {
      settings: { authMode: "basic", password },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("RefusedError");
    expectScrubbed(ending, [password]);
    expect(server.posts).toHaveLength(1);
  });

  it("at the login", async () => {
    const { sandbox, client } = await start({ password }, { settings: { password } });
    sandbox.fail({
      on: "authenticate",
      with: {
        kind: "answer",
        status: 401,
        body: { message: `no: ${spellings(password).join(" ")}` },
      },
    });
    const ending = await client.create();
    expect(ending.kind).toBe("LoginError");
    expectScrubbed(ending, [password]);
    expect(counts(sandbox)).toEqual({ logins: 1, creates: 0 });
  });

  it("errors without an answer have no credentials in any property, however deep", async () => {
    const closed = { kind: "close-without-answer" } as const;
    for (const fault of [{ kind: "reset" } as const, closed, wire.garbage, wire.halfBody]) {
      const { sandbox, client } = await start({ password }, { settings: { password } });
      sandbox.fail({ on: "create", with: fault, act: true });
      const ending = await client.create();
      const cookie = String(sandbox.requests.at(-1)?.headers.cookie).split("=")[1] ?? "";
      const everything = everythingIn("error" in ending ? ending.error : undefined);
      for (const secret of [...spellings(password), cookie])
        expect(everything).not.toContain(secret);
      expect(counts(sandbox)).toEqual({ logins: 1, creates: 1 });
    }
  });
});

/** Resolves once either side has ended the connection. */
async function closed(socket: import("node:net").Socket | undefined): Promise<void> {
  if (socket !== undefined && !socket.destroyed && !socket.readableEnded) {
    await Promise.race([once(socket, "close"), once(socket, "end")]);
  }
}

/** A port that accepts no more connections, because the listener's queue is full. */
async function blackHole(): Promise<number> {
  const worker = new Worker(
    `const { createServer, connect } = require("node:net");
     const { parentPort } = require("node:worker_threads");
     const server = createServer();
     server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
       parentPort.postMessage(server.address().port);
       Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // its event loop stands still from here on
     });`,
    { eval: true },
  );
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = (await once(worker, "message")) as [number];
  const { connect } = await import("node:net");
  const fillers = Array.from({ length: 8 }, () =>
    connect(port, "127.0.0.1").on("error", () => undefined),
  );
  onTestFinished(() => {
    for (const filler of fillers) filler.destroy();
  });
  await once(fillers[0] as import("node:net").Socket, "connect");
  return port;
}
