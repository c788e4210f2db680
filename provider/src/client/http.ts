/** One request and what comes of it: what the layers from `client.ts` down to `transport.ts` pass to each other. */
import type { TunnelTrouble } from "./connections.js";

export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: URL;
  /** Headers in addition to those of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; none for a request without a body. */
  readonly body?: string | undefined;
  /** When its sending was noted, by the wall clock; absent if it is not noted. */
  readonly notedAtMs?: number;
}

/** An answer: at least its status line came back. */
export interface HttpAnswer {
  readonly status: number;
  /** By lower-case names; the values of a repeated header are joined, except for Set-Cookie. */
  readonly headers: Readonly<Record<string, string>>;
  readonly setCookies: readonly string[];
  /** The body as text, as far as it arrived. */
  readonly body: string;
  /** Why the body is not whole or not readable; absent if it is. */
  readonly broken?: string;
}

/** No status line came back. */
export class TransportFailure extends Error {
  /** How the way through a proxy failed, in which case nothing was sent. */
  readonly tunnel: TunnelTrouble | undefined;

  constructor(
    /** A code of Node or undici, such as `ECONNREFUSED`. */
    readonly code: string,
    /** True if bytes of the request may have left, so that it may have been carried out. */
    readonly sent: boolean,
    message: string,
    { tunnel, ...options }: ErrorOptions & { readonly tunnel?: TunnelTrouble | undefined } = {},
  ) {
    super(message, options);
    this.tunnel = tunnel;
  }
}
