/**
 * Connections to the platform: direct ones, and those through a proxy. For a proxy, undici's own agent requests a tunnel with CONNECT
 * and makes a TLS connection to the platform through it. A request begins only after that, so that if anything fails before, it was not
 * sent.
 *
 * On each connection an unrequested `100 Continue` is ignored, as HTTP requires of clients (RFC 9110, section 15.2.1): some servers send
 * it for each POST. undici treats it as an attack and drops the connection, which would leave the outcome of a create unknown.
 */
import type { Socket } from "node:net";
import type { Agent, buildConnector, Dispatcher, Pool } from "undici";
import type { ProxySetting } from "../settings/index.js";

/** Loaded with the first client, before anything is noted. A run that sends nothing, such as a preview, does not need it. */
export function undici(): typeof import("undici") {
  return require("undici") as typeof import("undici");
}

/** What is known about a tunnel that failed. */
export interface TunnelTrouble {
  readonly host: string;
  readonly variable: string;
  /** True if the proxy granted the tunnel, which then failed on the way to the platform. Absent if that is not known. */
  readonly granted?: boolean;
  readonly status?: number;
  /** For 407: what was wrong with the credentials. */
  readonly credentials?: "missing" | "refused" | "of another kind" | undefined;
}

/** Has no `code`, because undici tries again by itself after some codes. */
export class TunnelFailure extends Error {
  constructor(
    /** As a `TransportFailure` has it. */
    readonly failureCode: string,
    readonly trouble: TunnelTrouble,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** @param options of a direct agent, with the `connect` that opens its connections. */
export function createProxyAgent(
  proxy: ProxySetting,
  options: Agent.Options & { readonly connect: buildConnector.connector },
  timeoutMs: number,
): Dispatcher {
  const { EnvHttpProxyAgent, Pool } = undici();
  return new EnvHttpProxyAgent({
    ...options,
    // All three are given, so that undici reads none of them from the environment.
    httpProxy: "",
    httpsProxy: proxy.url,
    noProxy: proxy.noProxy,
    connectTimeout: timeoutMs,
    proxyTls: { allowH2: false },
    clientFactory: (origin, given) => entranceOf(proxy, origin, { ...options, ...given, headersTimeout: timeoutMs }),
    // Also for hosts in NO_PROXY, which keep the direct agent's connector.
    factory: (origin, given: Pool.Options) => {
      const isDirect = given.connect === options.connect;
      const connect = given.connect as buildConnector.connector;
      return new Pool(origin, isDirect ? given : { ...given, connect: throughTunnel(connect, proxy, timeoutMs) });
    },
  });
}

/** The connections to the proxy itself. Keeps the cause of a failed tunnel, which undici's agent reduces to a sentence. */
function entranceOf(proxy: ProxySetting, origin: URL, options: Pool.Options): Dispatcher {
  const { host, variable } = proxy;
  const { Pool } = undici();
  const pool = new Pool(origin, options);
  const ask: (asked: Dispatcher.ConnectOptions) => Promise<Dispatcher.ConnectData> = pool.connect.bind(pool);
  const connect = async (asked: Dispatcher.ConnectOptions) => {
    const answer = await ask(asked).catch((error: Error) => {
      throw asTunnelFailure(error, { host, variable, granted: false });
    });
    const { statusCode: status, headers, socket } = answer;
    if (status === 200) return answer;
    socket.on("error", () => undefined).destroy();
    const credentials = status === 407 ? credentialsProblem(proxy, headers["proxy-authenticate"]) : undefined;
    const trouble = { host, variable, granted: false, status, credentials };
    throw new TunnelFailure(`ADVERTISING_PROXY_${status}`, trouble, `the proxy returned status ${status}`);
  };
  return Object.assign(pool, { connect });
}

/** @param asked the answer's Proxy-Authenticate. */
function credentialsProblem({ url }: ProxySetting, asked: string | string[] | undefined): TunnelTrouble["credentials"] {
  if (asked !== undefined && !/\bbasic\b/i.test(String(asked))) return "of another kind";
  return new URL(url).username === "" ? "missing" : "refused";
}

/** Sets one time limit for all steps from the proxy's address to the platform's TLS; undici has one for each step. */
function throughTunnel(
  connect: buildConnector.connector,
  { host, variable }: ProxySetting,
  timeoutMs: number,
): buildConnector.connector {
  return (target, callback) => {
    let isOver = false;
    const timer = setTimeout(() => {
      isOver = true;
      const message = `no connection could be made within ${timeoutMs / 1000} s`;
      callback(new TunnelFailure("UND_ERR_CONNECT_TIMEOUT", { host, variable }, message), null);
    }, timeoutMs);
    connect(target, (error, socket) => {
      clearTimeout(timer);
      if (isOver) return void socket?.on("error", () => undefined).destroy();
      if (error !== null) return callback(asTunnelFailure(error, { host, variable, granted: true }), null);
      readContinueAsProcessing(socket);
      callback(null, socket);
    });
  };
}

function asTunnelFailure(error: Error, trouble: TunnelTrouble): TunnelFailure {
  if (error instanceof TunnelFailure) return error;
  const { code, message } = reasonOf(error);
  return new TunnelFailure(code, trouble, message, { cause: error });
}

/** Why there is no connection: if several addresses were tried, the real errors are in an AggregateError. */
export function reasonOf(error: Error): { readonly code: string; readonly message: string } {
  const real = error instanceof AggregateError ? ((error.errors[0] as Error | undefined) ?? error) : error;
  const { code = "UND_ERR_UNKNOWN" } = real as NodeJS.ErrnoException;
  return { code, message: real.message || code };
}

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
/** The position of the status code's first digit. */
const FIRST_DIGIT = "HTTP/1.1 ".length;
/** The position of the status code's last digit. */
const LAST_DIGIT = "HTTP/1.1 10".length;
const [ONE, TWO] = ["1", "2"].map((digit) => digit.charCodeAt(0)) as [number, number];

export function createConnector(options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = undici().buildConnector(options);
  return (target, callback) =>
    connect(target, (...result) => {
      if (result[0] === null) readContinueAsProcessing(result[1]);
      callback(...result);
    });
}

/** Replaces 100 with `102 Processing`, which means as little, and after which undici goes on waiting. */
function readContinueAsProcessing(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: unknown = read(size);
    if (!Buffer.isBuffer(chunk) || chunk[FIRST_DIGIT] !== ONE) return chunk; // as nearly all are
    if (CONTINUE.test(chunk.toString("latin1", 0, LAST_DIGIT + 2))) chunk[LAST_DIGIT] = TWO;
    return chunk;
  };
}
