/** Why a request got no response, in one clause, and what to do next. Pure. */
import { printable } from "../base/index.js";
import type { TransportFailure } from "./transport.js";

/** `{address}` stands for the settings that have the addresses. */
export const NO_CLIENT_CERTIFICATE =
  "which this package can't send: set {address} to a proxy that adds it (http://localhost:…)";

/** What to do next, by what the failure says. */
const NEXT_STEPS: readonly (readonly [RegExp, string])[] = [
  [
    /wrong.version.number|packet length too long/i,
    "it does not speak TLS: check the scheme and the port of {address}",
  ],
  [
    /NO_APPLICATION_PROTOCOL/i,
    "it offers no HTTP/1.1, perhaps HTTP/2 only: switch HTTP/1.1 on there, or check {address}",
  ],
  [/CERTIFICATE_REQUIRED/, `it asks for a client certificate, ${NO_CLIENT_CERTIFICATE}`],
  // In TLS 1.2 the alert is the same for two reasons.
  [
    /ALERT_HANDSHAKE_FAILURE/,
    "it has no cipher in common with Node.js, or asks for a client certificate, " +
      NO_CLIENT_CERTIFICATE,
  ],
  [
    /protocol.version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i,
    "TLS 1.2 or newer is needed there",
  ],
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    "check this machine's clock; if it is right, the certificate has to be renewed",
  ],
  [/ALTNAME_INVALID|UNRECOGNIZED_NAME/, "the certificate is another host's: check {address}"],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/,
    "its authority is not known here: put the authority's certificate into a file, and name that " +
      "with NODE_EXTRA_CA_CERTS",
  ],
  [/certificate|SSL routines|^CERT_/i, "the certificate has to be fixed there"],
  [/ENOTFOUND|EAI_AGAIN/, "check {address} and the network: the name could not be looked up"],
  [/ECONNREFUSED/, "nothing listens there: check {address}"],
  [/UND_ERR_CONNECT_TIMEOUT/, "check the network and firewalls"],
];

const RESET = "a firewall or a server without TLS may do this: check {address} and the network";

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const { code, sent, tunnel } = failure;
  if (code === "ADVERTISING_TOO_LATE") return printable(failure.message);
  if (tunnel === undefined) {
    const detail = detailOf(failure, "advertising:baseUrl");
    if (sent) return `the connection to ${url.host} failed after sending ${detail}`;
    return `could not connect to ${url.host} ${detail}`;
  }
  const { host, variable, status } = tunnel;
  const proxy = `the proxy ${host} (${variable})`;
  if (status === undefined) {
    const detail = detailOf(failure, `${variable} and advertising:baseUrl`);
    return `could not connect to ${url.host} through ${proxy} ${detail}`;
  }
  const refused = `${proxy} returned status ${status} when asked for a connection to ${url.host}`;
  if (status !== 407) return `${refused}: check its rules`;
  return `${refused}: set ${variable} to http://user:password@host:port`;
}

/** The failure in brackets, and the next step if one is known. */
function detailOf({ code, sent, message }: TransportFailure, address: string): string {
  const shown = printable(message);
  const isInMessage = code.startsWith("ADVERTISING_") || shown.includes(code);
  const detail = isInMessage ? shown : `${code}: ${shown}`;
  let step = NEXT_STEPS.find(([pattern]) => pattern.test(detail))?.[1];
  // Once a request was written, the cause of a reset is not the address.
  if (!sent && code === "ECONNRESET") step ??= RESET;
  if (step === undefined) return `(${detail})`;
  return `(${detail}); ${step.replace("{address}", address)}`;
}
