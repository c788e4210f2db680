/** Connections: what fails before a request is sent, and what leaves it unknown whether it was carried out. */
import { vi } from "vitest";
import { describeFailure } from "../../../provider/src/client/request-errors.js";
import { TransportFailure } from "../../../provider/src/client/transport.js";
import type { Fault } from "../../../provider/src/sandbox/index.js";
import { startRawServer } from "../../sandbox/raw-server.js";
import { messageOf, TestClient } from "../../support/client.js";
import { useSandbox } from "../../support/installation.js";
import { startProxy, type Treatment } from "../../support/proxy.js";
import type { Examples } from "./examples.js";

/** Why a request to this platform got no response, with Node's code and message. */
const failure = (code: string, message: string, sent = false) =>
  describeFailure(
    new TransportFailure(code, sent, message),
    new URL("https://ads.example/rest/event"),
  );

const REFUSED_BY_TLS: readonly (readonly [code: string, message: string])[] = [
  ["CERT_HAS_EXPIRED", "certificate has expired"],
  ["ERR_TLS_CERT_ALTNAME_INVALID", "Host: ads.example. is not in the cert's altnames"],
  ["SELF_SIGNED_CERT_IN_CHAIN", "self-signed certificate in certificate chain"],
  [
    "ERR_SSL_WRONG_VERSION_NUMBER",
    "409D627BC77F0000:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/openssl/openssl/ssl/record/methods/tlsany_meth.c:77:\n",
  ],
  ["ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION", "tlsv1 alert protocol version"],
  ["ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL", "tlsv1 alert no application protocol"],
  ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "tlsv13 alert certificate required"],
];

const ONE_ATTEMPT = { authMode: "basic", maxWaitSeconds: 0 } as const;

/** How a create ends on a sandbox that answers so, and what happens before its first byte leaves. */
async function faced(fault: Fault, whileNoting?: (client: TestClient) => void) {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "create", with: fault });
  const client = new TestClient(sandbox.url, { settings: ONE_ATTEMPT });
  client.whileNoting = () => whileNoting?.(client);
  if (fault.kind === "no-answer") return timingOut(client, () => sandbox.creates > 0);
  return messageOf(await client.create());
}

/** Lets a create's time limit pass, once `hasBegun` returns true. */
async function timingOut(client: TestClient, hasBegun: () => boolean) {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const creating = client.create();
    while (!hasBegun()) await new Promise(setImmediate);
    await vi.advanceTimersByTimeAsync(60_000);
    return messageOf(await creating);
  } finally {
    vi.useRealTimers();
  }
}

async function throughProxy(treatment: Treatment) {
  const proxy = await startProxy({ to: 1, treat: () => treatment });
  const client = new TestClient("https://ads.example", {
    settings: ONE_ATTEMPT,
    proxyVariables: { HTTPS_PROXY: `http://${proxy.host}` },
  });
  if (treatment.kind === "hang") return timingOut(client, () => proxy.asked.length > 0);
  return messageOf(await client.create());
}

/** undici's own timer ends it, so this really waits. */
async function withSilentServer() {
  const server = await startRawServer(() => undefined);
  const client = new TestClient(server.url.replace("http:", "https:"), {
    settings: { ...ONE_ATTEMPT, requestTimeoutSeconds: 1 },
  });
  return messageOf(await client.create());
}

const bytes = (body: string, headers: Record<string, string> = {}): Fault => ({
  ...{ kind: "answer", status: 200, body, headers },
});

export const client: Examples = {
  "no connection, cause by cause": () =>
    [
      failure("ENOTFOUND", "getaddrinfo ENOTFOUND ads.example"),
      ...REFUSED_BY_TLS.map(([code, message]) => failure(code, message)),
    ].join("\n"),
  "no connection in time": withSilentServer,
  "no connection in time, through a proxy": () => throughProxy({ kind: "hang" }),
  "a proxy that closes the connection": () => throughProxy({ kind: "close" }),
  "a proxy that refuses": () => throughProxy({ kind: "refuse", status: 407 }),
  "a machine that was suspended before it sent a create": () =>
    faced({ kind: "reset" }, ({ clock }) => clock.jumpWall(60_000)),
  "a connection that ends after sending": () => faced({ kind: "close-without-answer" }),
  "no response in time": () => faced({ kind: "no-answer" }),
  "a response that is too large": () => faced(bytes(" ".repeat(2 ** 21))),
  "a response that can't be unpacked": () =>
    faced(bytes("x", { "content-encoding": "br" })),
};
