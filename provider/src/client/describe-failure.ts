/**
 * A transport failure in words: what happened to which host, and what to look at.
 */
import { printable } from "../base/index.js";
import { isCertificateFailure } from "./retry.js";
import type { TransportFailure } from "./transport.js";
import type { TunnelTrouble } from "./tunnel.js";

/** @param address where the host's address comes from. */
function nextStepFor(code: string, address: string): string | undefined {
  const steps: Readonly<Record<string, string>> = {
    ENOTFOUND: `the name is not known: check ${address} and the network`,
    EAI_AGAIN: "the name could not be looked up: check the network",
    ECONNREFUSED: `nothing listens there: check ${address}`,
    ENETUNREACH: "the network can't be reached",
    EHOSTUNREACH: "the host can't be reached",
    UND_ERR_CONNECT_TIMEOUT: "no connection was made in time: check the network and firewalls",
  };
  return steps[code];
}

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const message = printable(failure.message);
  const isOwn = failure.code.startsWith("ADVERTISING_"); // said in the message
  const detail = isOwn || message.includes(failure.code) ? message : `${failure.code}: ${message}`;
  if (failure.sent) return `the connection to ${url.host} failed after sending (${detail})`;
  const { tunnel } = failure;
  if (tunnel?.status !== undefined) return describeProxyRefusal(tunnel, tunnel.status, url);

  const atProxy = tunnel?.granted === false;
  const proxy = tunnel === undefined ? "" : `the proxy ${tunnel.host} (${tunnel.variable})`;
  const host = atProxy ? proxy : `${url.host}${tunnel === undefined ? "" : ` through ${proxy}`}`;
  const address = atProxy ? tunnel.variable : "advertising:baseUrl";
  if (/wrong version number|packet length too long|WRONG_VERSION_NUMBER/i.test(message)) {
    return `${host} does not speak TLS (${detail}): check the scheme and the port of ${address}`;
  }
  if (/PROTOCOL_VERSION|protocol version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i.test(detail)) {
    return `${host} and this side have no version or cipher of TLS in common (${detail}): ${atProxy ? "the proxy" : "the platform"} has to offer TLS 1.2 or newer`;
  }
  if (isCertificateFailure(failure)) {
    const whose = atProxy ? "the proxy's certificate" : "the platform's certificate";
    const inspecting =
      tunnel === undefined || atProxy ? "" : ", or the proxy's where that puts in a certificate of its own,";
    return `the TLS connection to ${host} was not trusted (${detail}): ${whose} has to be fixed, or its authority${inspecting} made known with NODE_EXTRA_CA_CERTS`;
  }
  const next = nextStepFor(failure.code, address);
  return `could not connect to ${host} (${detail})${next === undefined ? "" : `; ${next}`}`;
}

function describeProxyRefusal(tunnel: TunnelTrouble, status: number, url: URL): string {
  const { host, variable } = tunnel;
  return `the proxy ${host} (${variable}) answered with status ${status} when asked for a connection to ${url.host}: ${nextStepAtProxy(tunnel, status)}`;
}

function nextStepAtProxy({ variable, credentials }: TunnelTrouble, status: number): string {
  switch (credentials) {
    case "missing":
      return `it asks for a user name and a password, and ${variable} holds none: http://user:password@host:port`;
    case "refused":
      return `it does not accept the user name and the password in ${variable}: check them (special characters are percent-encoded there)`;
    case "of another kind":
      return `it asks for another kind of login than Basic, the only one that is spoken here: name another proxy in ${variable}`;
  }
  return status >= 500
    ? `it could not connect: check advertising:baseUrl, and whether ${variable} names the right proxy`
    : `its rules do not allow this: have the platform's address allowed, name another proxy in ${variable}, or name the host in NO_PROXY where it can be reached without`;
}
