/**
 * Connections to the platform: direct ones, and those through a proxy. Through a proxy undici's own agent asks with CONNECT for
 * a tunnel and speaks TLS with the platform through it; a request is begun only when that stands, so that whatever fails before
 * was not sent.
 *
 * On each connection an unasked `100 Continue` is ignored, as HTTP demands of every client (RFC 9110, section 15.2.1) and some
 * servers send it for each POST. undici takes it for an attack and drops the connection, which would leave the outcome of a
 * create unknown.
 */
import type { Socket } from "node:net";
import type { Agent, buildConnector, Dispatcher, Pool } from "undici";
import type { ProxySetting } from "../settings/index.js";

/** Loaded when the first client is made, before anything is noted: a run that sends nothing, as a preview, does without it. */
export function undici(): typeof import("undici") {
  return require("undici") as typeof import("undici");
}

/** This is known of a tunnel that did not come about. */
export interface TunnelTrouble {
  readonly host: string;
  readonly variable: string;
  /** True if the proxy had granted the tunnel, which then failed between the platform and us. Absent if nobody knows. */
  readonly granted?: boolean;
  readonly status?: number;
  /** About 407: what became of the credentials. */
  readonly credentials?: "missing" | "refused" | "of another kind" | undefined;
}

/** Has no `code`: there are some that undici takes for a reason to try again by itself. */
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

/** @param options of a direct agent; `connect` is what makes its connections. */
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
    // Of hosts in NO_PROXY too, which keep the direct agent's connector.
    factory: (origin, given: Pool.Options) => {
      const isDirect = given.connect === options.connect;
      const connect = given.connect as buildConnector.connector;
      return new Pool(origin, isDirect ? given : { ...given, connect: throughTunnel(connect, proxy, timeoutMs) });
    },
  });
}

/** The connections to the proxy itself. Says why there is no tunnel, which undici's agent reduces to a sentence. */
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

/** One limit for the whole way, from the proxy's address to the platform's TLS: undici knows one for each of its parts. */
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

/** Why there is no connection: where several addresses were tried, the real errors stand in an AggregateError. */
export function reasonOf(error: Error): { readonly code: string; readonly message: string } {
  const real = error instanceof AggregateError ? ((error.errors[0] as Error | undefined) ?? error) : error;
  const { code = "UND_ERR_UNKNOWN" } = real as NodeJS.ErrnoException;
  return { code, message: real.message || code };
}

const CONTINUE = /^HTTP\/1\.[01] 100[ \r]/;
/** The status code begins here. */
const FIRST_DIGIT = "HTTP/1.1 ".length;
/** The last digit of the status code stands here. */
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

/** `102 Processing` means as little, and undici waits on after it. */
function readContinueAsProcessing(socket: Socket): void {
  const read = socket.read.bind(socket);
  socket.read = (size?: number) => {
    const chunk: unknown = read(size);
    if (!Buffer.isBuffer(chunk) || chunk[FIRST_DIGIT] !== ONE) return chunk; // as nearly all are
    if (CONTINUE.test(chunk.toString("latin1", 0, LAST_DIGIT + 2))) chunk[LAST_DIGIT] = TWO;
    return chunk;
  };
}
