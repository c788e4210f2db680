/**
 * Connections to the platform: direct, or through a proxy, where undici's own agent requests a tunnel with CONNECT and
 * opens TLS to the platform in it. A request begins only after that, so if anything fails before, it was not sent.
 *
 * On each connection an unrequested `100 Continue` is ignored, as HTTP requires (RFC 9110, section 15.2.1): some
 * servers send it for each POST. undici takes it for an attack and disconnects: a create's outcome would be unknown.
 */
import type { Socket } from "node:net";
import type { Agent, buildConnector, Dispatcher, Pool } from "undici";
import type { ProxySetting } from "../settings/index.js";

/** Loads undici with the first client, before anything is noted. A run that sends nothing never needs it. */
export function undici() {
  return require("undici") as typeof import("undici");
}

/** A proxy's tunnel failed. Has no `code`, because undici retries some codes by itself, forever. */
export class TunnelFailure extends Error {
  readonly host: string;
  readonly variable: string;
  readonly status: number | undefined;

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

export function withErrorCode(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** @param options of a direct agent, with the `connect` that opens its connections. */
export function createProxyAgent(
  proxy: ProxySetting,
  options: Agent.Options & { connect: buildConnector.connector },
  timeoutMs: number,
  onUnannouncedClose: () => void,
): Dispatcher {
  const { EnvHttpProxyAgent, Pool } = undici();
  /** Sets one time limit for all steps from the proxy's address to the platform's TLS; undici has one for each step. */
  const throughTunnel =
    (connect: buildConnector.connector): buildConnector.connector =>
    (target, callback) => {
      const timer = setTimeout(() => {
        const late = withErrorCode(CONNECT_TIMEOUT, "");
        callback(new TunnelFailure(late, proxy), null);
        callback = (_, socket) => void socket?.on("error", () => undefined).destroy();
      }, timeoutMs);
      connect(target, (error, socket) => {
        clearTimeout(timer);
        if (error === null) return callback(null, watched(socket, onUnannouncedClose));
        callback(new TunnelFailure(error, proxy), null);
      });
    };
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
      const connect = throughTunnel(poolOptions.connect as buildConnector.connector);
      return new Pool(origin, { ...poolOptions, connect });
    },
  });
}

/** Why a request failed. If several addresses were tried, or a proxy's tunnel failed, the real error is inside. */
export function reasonOf(error: Error): { code: string; message: string } {
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

/** The interim responses at the beginning of a chunk, which may contain several of them before the response itself. */
const INTERIM = /^(HTTP\/1\.[01] 1\d\d.*?(\r\n\r\n|$))+/s;
const STATUS = "HTTP/1.1 ".length;

/** Turns each `100 Continue` into `102 Processing`: equally meaningless, but undici keeps waiting after it. */
function withoutContinue(chunk: unknown): unknown {
  // Nearly all chunks return here.
  if (!Buffer.isBuffer(chunk) || chunk[STATUS] !== "1".charCodeAt(0)) return chunk;
  const text = chunk.toString("latin1").replace(INTERIM, (heads) => {
    return heads.replaceAll(/^(HTTP\/1\.[01]) 100/gm, "$1 102");
  });
  return Buffer.from(text, "latin1");
}

function watched<T extends Socket>(socket: T, onUnannouncedClose: () => void): T {
  let hasRead = false;
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk = withoutContinue(read(size));
    hasRead ||= chunk !== null;
    return chunk;
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
