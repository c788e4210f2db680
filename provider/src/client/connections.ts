/**
 * Connections to the platform: direct, or through a proxy, where undici's own agent requests a tunnel with CONNECT and
 * opens TLS to the platform in it. A request begins only after that, so if anything fails before, it was not sent.
 *
 * Interim responses are ignored, as HTTP requires (RFC 9110, section 15.2): some servers send `100 Continue` for each
 * POST. undici takes it for an attack and disconnects: a create's outcome would be unknown.
 */
import type { Socket } from "node:net";
import type { Agent, buildConnector, Pool } from "undici";
import type { ProxySetting } from "../settings/index.js";

/** Loads undici with the first client, before anything is noted. A run that sends nothing never needs it. */
export function undici() {
  return require("undici") as typeof import("undici");
}

/** The error if a proxy opens no tunnel. It has no `code`: with some codes, undici would retry forever. */
export class TunnelFailure extends Error {
  readonly host;
  readonly variable;
  readonly status;

  constructor(cause: Error, { host, variable }: ProxySetting) {
    super(cause.message, { cause });
    // This is undici's wording.
    const refused = /^Proxy response \((\d+)\)/.exec(cause.message)?.[1];
    this.host = host;
    this.variable = variable;
    this.status = refused === undefined ? undefined : Number(refused);
  }
}

export const CONNECT_TIMEOUT = "UND_ERR_CONNECT_TIMEOUT";

export function withErrorCode(code: string, message: string) {
  return Object.assign(new Error(message), { code });
}

/** @param options of a direct agent, with the `connect` that opens its connections. */
export function createProxyAgent(
  proxy: ProxySetting,
  options: Agent.Options & { connect: buildConnector.connector },
  timeoutMs: number,
  onUnannouncedClose: () => void,
) {
  const { EnvHttpProxyAgent, Pool } = undici();
  return new EnvHttpProxyAgent({
    ...options,
    // All three are given, so that undici reads none of them from the environment.
    httpProxy: "",
    httpsProxy: proxy.url,
    noProxy: proxy.noProxy,
    connectTimeout: timeoutMs,
    proxyTls: { allowH2: false },
    // undici calls this for hosts in NO_PROXY too: those keep the direct agent's connector.
    factory: (origin, poolOptions: Pool.Options) => {
      if (poolOptions.connect === options.connect) return new Pool(origin, poolOptions);
      const openTunnel = poolOptions.connect as buildConnector.connector;
      // One time limit for all steps from the proxy's address to the platform's TLS; undici has one for each step.
      const connect: typeof openTunnel = (target, callback) => {
        const timer = setTimeout(() => {
          callback(new TunnelFailure(withErrorCode(CONNECT_TIMEOUT, ""), proxy), null);
          callback = (_, socket) => void socket?.on("error", () => undefined).destroy();
        }, timeoutMs);
        openTunnel(target, (error, socket) => {
          clearTimeout(timer);
          if (error === null) return callback(null, watched(socket, onUnannouncedClose));
          callback(new TunnelFailure(error, proxy), null);
        });
      };
      return new Pool(origin, { ...poolOptions, connect });
    },
  });
}

/** Why a request failed. If several addresses were tried, or a proxy's tunnel failed, the real error is inside. */
export function reasonOf(error: Error) {
  const { code = "UND_ERR_UNKNOWN" } = error as NodeJS.ErrnoException;
  const inside: unknown = error instanceof AggregateError ? error.errors[0] : error.cause;
  const isOuter =
    error instanceof AggregateError ||
    error instanceof TunnelFailure ||
    code.startsWith("UND_ERR_PRX");
  if (isOuter && inside instanceof Error) return reasonOf(inside);
  return { code, message: error.message || code };
}

/** @param onUnannouncedClose is called if the other side ends a connection after a response that didn't announce it. */
export function createConnector(
  timeout: number,
  onUnannouncedClose: () => void,
): buildConnector.connector {
  const connect = undici().buildConnector({ timeout, allowH2: false });
  return (target, callback) =>
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      callback(null, watched(socket, onUnannouncedClose));
    });
}

/** Interim responses at the beginning of a text, except 101, which changes the protocol. */
const INTERIM = /^(HTTP\/1\.[01] 1(?!01)\d\d.*?\r\n\r\n)+/s;
/** A text that may continue as an interim response; longer heads are undici's to refuse. */
const CUT = /^(.{0,11}|HTTP\/1\.[01] 1(?!01)\d\d.{0,16384})$/s;

/** Watches what is read: leaves out interim responses, however they are cut, and reports an unannounced close. */
function watched<T extends Socket>(socket: T, onUnannouncedClose: () => void) {
  let hasRead = false;
  let bytesWritten = -1;
  let head: string | undefined;
  const read = socket.read.bind(socket);
  socket.read = (size) => {
    const chunk: Buffer | null = read(size);
    if (chunk === null) return chunk;
    hasRead = true;
    // A connection has one exchange at a time: after a request has been written, a response's head follows.
    if (socket.bytesWritten !== bytesWritten) head = "";
    bytesWritten = socket.bytesWritten;
    if (head === undefined) return chunk;
    const text = `${head}${chunk.toString("latin1")}`.replace(INTERIM, "");
    head = CUT.test(text) ? text : undefined;
    return head === undefined ? Buffer.from(text, "latin1") : null;
  };
  // An announced close (`Connection: close`) causes no `end`: undici destroys the socket first.
  socket.once("end", () => {
    if (hasRead) onUnannouncedClose();
  });
  socket.once("error", (error: NodeJS.ErrnoException) => {
    if (hasRead && ["ECONNRESET", "EPIPE"].includes(error.code ?? "")) onUnannouncedClose();
    // Passes on a TLS alert, such as a missing client certificate; undici would report only the end that follows.
    socket.destroy(error);
  });
  return socket;
}
