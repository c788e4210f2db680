/**
 * A transport failure in words: what happened to which host, and what to look at.
 */
import { printable } from "../text.js";
import { isCertificateFailure } from "./retry.js";
import type { TransportFailure } from "./transport.js";

const NEXT_STEP: Readonly<Record<string, string>> = {
  ENOTFOUND: "the name is not known: check advertising:baseUrl and the network",
  EAI_AGAIN: "the name could not be looked up: check the network",
  ECONNREFUSED: "nothing listens there: check advertising:baseUrl",
  ENETUNREACH: "the network can't be reached",
  EHOSTUNREACH: "the host can't be reached",
  UND_ERR_CONNECT_TIMEOUT: "no connection was made in time: check the network and firewalls",
};

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const message = printable(failure.message);
  const detail = message.includes(failure.code) ? message : `${failure.code}: ${message}`;
  if (failure.sent) return `the connection to ${url.host} failed after sending (${detail})`;
  if (/wrong version number|packet length too long|WRONG_VERSION_NUMBER/i.test(message)) {
    return `${url.host} does not speak TLS (${detail}): check the scheme and the port of advertising:baseUrl`;
  }
  if (/PROTOCOL_VERSION|protocol version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i.test(detail)) {
    return `${url.host} and this side have no version or cipher of TLS in common (${detail}): the platform has to offer TLS 1.2 or newer`;
  }
  if (isCertificateFailure(failure)) {
    return `the TLS connection to ${url.host} was not trusted (${detail}): the platform's certificate has to be mended, or its authority made known with NODE_EXTRA_CA_CERTS`;
  }
  const next = NEXT_STEP[failure.code];
  return `could not connect to ${url.host} (${detail})${next === undefined ? "" : `; ${next}`}`;
}
