/** Connections, the login, and the platform's responses. */
import { describeFailure } from "../../../provider/src/client/request-errors.js";
import { TransportFailure } from "../../../provider/src/client/transport.js";
import type { Examples } from "./examples.js";

const failure = (code: string, sent = false) =>
  describeFailure(
    new TransportFailure(code, sent, `${code} it failed`),
    new URL("https://ads.example/rest/event"),
  );

export const client: Examples = {
  "no connection, cause by cause": () =>
    [
      ...[
        "ENOTFOUND",
        "ECONNREFUSED",
        "ECONNRESET",
        "UND_ERR_CONNECT_TIMEOUT",
        "CERT_HAS_EXPIRED",
      ],
      ...[
        "ERR_TLS_CERT_ALTNAME_INVALID",
        "SELF_SIGNED_CERT_IN_CHAIN",
        "NO_APPLICATION_PROTOCOL",
      ],
    ]
      .map((code) => failure(code))
      .join("\n"),
  "a connection that ends after sending": () => failure("ECONNRESET", true),
};
