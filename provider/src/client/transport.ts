/**
 * One request over undici, once, without retries, redirects, cache or cookie jar. `retry.ts` calls it for each
 * attempt, and decides by its result whether another one may follow.
 *
 * T1. A request is written at most once. Otherwise undici could send a create again that the platform has carried out.
 * T2. A failure says `sent: false` only if undici had not begun to write: there was no `onRequestStart`, or it ended the
 *     request (T6, T7). All else is `sent: true`, whatever its code. A wrong `false` means a second POST; a wrong `true` only makes a person look.
 * T3. Once a status line came, the result is a response: a problem with its body is noted in `broken`, and is no
 *     failure.
 * T4. No redirect is followed, so that neither a body nor a cookie reaches another address.
 * T5. A connection has one exchange at a time: with pipelining, T2 would not hold. A connection that was idle for
 *     longer than a second isn't reused: the other side may be closing it, and then bytes may or may not arrive.
 * T6. From the connection to the last byte a request takes no longer than its limit, and at most a megabyte of its
 *     answer is kept, compressed or not. Otherwise one answer could block the run, or fill its memory.
 * T7. If more than the request's time limit has passed between its note (`notedAtMs`) and `onRequestStart`, by the wall
 *     clock, nothing is written. A machine or container that was suspended in between must not send: by then another
 *     process may count the create as not made.
 * T8. Once the other side closes a connection without having announced it, no connection is reused in this run: a
 *     create written into a closed connection has an unknown outcome.
 */
import { gunzipSync } from "node:zlib";
import type { Dispatcher } from "undici";
import { mapValues, systemClock } from "../base/index.js";
import type { SettingsReading } from "../settings/index.js";
import {
  CONNECT_TIMEOUT,
  createConnector,
  createProxyAgent,
  reasonOf,
  TunnelFailure,
  undici,
  withErrorCode,
} from "./connections.js";

export interface HttpRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  url: URL;
  headers: Readonly<Record<string, string>>;
  body?: string | undefined;
  /** When the sending was noted, by the wall clock; absent for a request that isn't noted. */
  notedAtMs?: number;
}

export interface HttpResponse {
  status: number;
  /** By lower-case names; the values of a repeated header are joined. */
  headers: Readonly<Record<string, string>>;
  /** The value of each Set-Cookie header. */
  setCookies: readonly string[];
  body: string;
  /** Why the body is incomplete or unreadable; absent if nothing is wrong with it. */
  broken?: string;
}

/** No status line came back. */
export class TransportFailure extends Error {
  constructor(
    /** A code of Node or undici, such as `ECONNREFUSED`, or one of `ADVERTISING_…`. */
    readonly code: string,
    /** True if bytes of the request may have left, so that it may have been carried out. */
    readonly sent: boolean,
    message: string,
    cause?: Error,
  ) {
    super(message, { cause });
  }

  /** The failure of a proxy's tunnel, if that was the cause; nothing was sent then. */
  get tunnel() {
    return this.cause instanceof TunnelFailure ? this.cause : undefined;
  }
}

export type AttemptResult = HttpResponse | TransportFailure;

export interface Transport {
  /** Never rejects: a failure is a result. */
  send(request: HttpRequest): Promise<AttemptResult>;
  close(): Promise<void>;
}

/** Bodies of this API have a few hundred bytes. One larger than this, compressed or not, counts as broken. */
const MAX_ANSWER_BYTES = 1024 * 1024;

/**
 * A connection idle for longer is not used again: the other side may have closed it, and a create written into a closed
 * connection has an unknown outcome. Common servers keep idle connections for 5 s and more.
 */
const MAX_IDLE_MS = 1000;

export type ClientSettings = Pick<SettingsReading, "settings" | "proxy">;

export function createTransport({ settings, proxy }: ClientSettings, clock = systemClock) {
  const { Agent } = undici();
  const timeoutMs = settings.requestTimeoutSeconds * 1000;
  const options = {
    // No more requests are sent at once, so that none waits inside undici.
    connections: settings.maxConcurrentRequests,
    // With one HTTP/1.1 exchange on a connection, the beginning of undici's write shows whether a request was sent.
    allowH2: false,
    connect: createConnector(timeoutMs, disableKeepAlive),
    keepAliveTimeout: MAX_IDLE_MS,
    keepAliveMaxTimeout: MAX_IDLE_MS,
    // Off: a request's handler has one time limit for the whole exchange.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxResponseSize: MAX_ANSWER_BYTES,
  };
  const agentOf = (pipelining: number) => {
    if (!proxy) return new Agent({ ...options, pipelining });
    return createProxyAgent(proxy, { ...options, pipelining }, timeoutMs, disableKeepAlive);
  };
  let agent = agentOf(1);
  let isReusing = true;
  /** See T8. Requests under way end on their connections, which then close. */
  function disableKeepAlive() {
    if (!isReusing) return;
    isReusing = false;
    void agent.close().catch(() => undefined);
    agent = agentOf(0);
  }
  function send(request: HttpRequest): Promise<AttemptResult> {
    const { method, url, body = null, notedAtMs = Number.POSITIVE_INFINITY } = request;
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      ...request.headers,
    };
    const path = `${url.pathname}${url.search}`;
    const isTooLate = () => clock.wallMs() - notedAtMs > timeoutMs;
    return new Promise((resolve) => {
      agent.dispatch(
        { origin: url.origin, path, method, headers, body, idempotent: false },
        exchangeHandler(timeoutMs, isTooLate, resolve),
      );
    });
  }
  return { send, close: () => agent.destroy() };
}

/** The callbacks of one exchange, for undici. @param resolve is called once, with the result. */
function exchangeHandler(
  timeoutMs: number,
  isTooLate: () => boolean,
  resolve: (result: AttemptResult) => void,
): Dispatcher.DispatchHandler {
  const limit = `${timeoutMs / 1000} s (advertising:requestTimeoutSeconds)`;
  let sending: Dispatcher.DispatchController | undefined;
  let hasTimedOut = false;
  let head: Omit<HttpResponse, "body"> | undefined;
  const chunks: Buffer[] = [];
  const timer = setTimeout(() => {
    hasTimedOut = true;
    // If nothing was written yet, undici's connect timeout or onRequestStart ends the request.
    sending?.abort(
      withErrorCode("ADVERTISING_TIMEOUT", `no complete response within ${limit}`),
    );
  }, timeoutMs);
  return {
    onRequestStart(controller) {
      const late = `more than ${limit} passed before the first byte left, perhaps because this machine was suspended`;
      if (!hasTimedOut && !isTooLate()) sending = controller;
      else controller.abort(withErrorCode("ADVERTISING_TOO_LATE", late));
    },
    onResponseStart(_, status, raw) {
      // Names are in lower case.
      head = {
        status,
        headers: mapValues(raw, String),
        setCookies: [raw["set-cookie"] ?? []].flat(),
      };
    },
    onResponseData(_, chunk) {
      chunks.push(chunk);
    },
    onResponseEnd() {
      clearTimeout(timer);
      if (head) resolve(decoded(head, chunks));
    },
    onResponseError(_, cause) {
      clearTimeout(timer);
      let { code, message } = reasonOf(cause);
      if (code === CONNECT_TIMEOUT) message = `no connection within ${limit}`;
      // After a status line the status decides, and the body counts as broken.
      if (head) resolve(decoded({ ...head, broken: message }, chunks));
      else resolve(new TransportFailure(code, sending !== undefined, message, cause));
    },
  };
}

/** Some proxies compress unasked. A small body may unpack to gigabytes, so at most MAX_ANSWER_BYTES are unpacked. */
function decoded(head: Omit<HttpResponse, "body">, chunks: readonly Buffer[]) {
  const raw = Buffer.concat(chunks);
  const encoding = head.headers["content-encoding"] || "identity";
  if (/^identity$/i.test(encoding) || raw.length === 0)
    return { ...head, body: raw.toString() };
  try {
    const body = gunzipSync(raw, { maxOutputLength: MAX_ANSWER_BYTES }).toString();
    return { ...head, body };
  } catch (error) {
    const broken = `can't be unpacked (${encoding}: ${(error as Error).message})`;
    return { ...head, body: "", broken: head.broken ?? broken };
  }
}
