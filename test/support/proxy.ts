/**
 * A real proxy on the loopback interface. Each tunnel leads to one port of this machine, whatever name was requested,
 * so that a platform can have any name. It logs its requests, and ends with the test.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { onTestFinished } from "vitest";

/** What the proxy does with one CONNECT. */
export type Treatment =
  /** @param cutAfter how many of the client's bytes pass before both sides are reset. */
  | { readonly kind: "tunnel"; readonly cutAfter?: number }
  | {
      readonly kind: "refuse";
      readonly status: number;
      readonly headers?: readonly string[];
    }
  | { readonly kind: "close" | "reset" | "hang" | "garbage" };

export interface ProxyOptions {
  /** The port that every tunnel leads to. */
  readonly to: number;
  /** @param index the number of the CONNECT, from 0. @default a tunnel */
  readonly treat?: (index: number) => Treatment;
  /** `user:password`; anything else is refused with 407. */
  readonly credentials?: string;
  /** For a proxy that itself uses TLS. */
  readonly certificate?: TlsOptions;
  readonly port?: number;
}

export async function startProxy({
  to,
  treat,
  credentials,
  certificate,
  port = 0,
}: ProxyOptions) {
  /** The `host:port` of each CONNECT. */
  const asked: string[] = [];
  /** Requests other than CONNECT. */
  const forwarded: string[] = [];
  /** How many of the client's bytes arrived for each tunnel. */
  const came: number[] = [];
  const authorization =
    credentials && `Basic ${Buffer.from(credentials).toString("base64")}`;
  const server: Server =
    certificate === undefined ? createServer() : createSecureServer(certificate);
  server.on("request", ({ url }, answer) => {
    forwarded.push(String(url));
    answer.writeHead(501).end();
  });
  const sockets = ownedBy(server);
  server.on("connect", (request: IncomingMessage, client: Socket, head: Buffer) => {
    client.on("error", () => undefined);
    const treatment = treat?.(asked.length) ?? { kind: "tunnel" };
    asked.push(String(request.url));
    if (
      authorization !== undefined &&
      request.headers["proxy-authorization"] !== authorization
    ) {
      client.end(
        'HTTP/1.1 407 X\r\nproxy-authenticate: Basic realm="x"\r\ncontent-length: 2\r\n\r\nno',
      );
      return;
    }
    switch (treatment.kind) {
      case "tunnel": {
        const upstream = connect(to, "127.0.0.1").on("error", () => client.destroy());
        sockets.add(upstream);
        upstream.once("connect", () => {
          client.write("HTTP/1.1 200 Connection established\r\n\r\n");
          upstream.write(head);
          const tunnel = came.push(0) - 1;
          joinSockets(client, upstream, treatment.cutAfter, (passed) => {
            came[tunnel] = passed;
          });
        });
        return;
      }
      case "refuse":
        client.end(
          [
            `HTTP/1.1 ${treatment.status} X`,
            ...(treatment.headers ?? []),
            "content-length: 2",
            "",
            "no",
          ].join("\r\n"),
        );
        return;
      case "close":
      case "garbage":
        client.end(treatment.kind === "close" ? "" : "SSH-2.0-OpenSSH_9.9\r\n");
        return;
      case "reset":
        client.resetAndDestroy();
        return;
      case "hang":
    }
  });
  const bound = await listen(server, port);
  return { port: bound, host: `127.0.0.1:${bound}`, asked, forwarded, came };
}

/** A server that terminates TLS and passes the rest on to a port, such as a sandbox's. @returns its port. */
export async function startTlsFront(certificate: TlsOptions, to: number): Promise<number> {
  const server = createTlsServer(certificate, (client) => {
    const upstream = connect(to, "127.0.0.1");
    sockets.add(upstream);
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    joinSockets(client, upstream);
  });
  server.on("tlsClientError", () => undefined);
  const sockets = ownedBy(server);
  return listen(server, 0);
}

/** Passes data on in both directions, until `cutAfter` bytes of the client have passed. */
function joinSockets(
  client: Socket,
  upstream: Socket,
  cutAfter = Infinity,
  onPassed = (_passed: number) => {},
): void {
  let passed = 0;
  client.on("data", (chunk: Buffer) => {
    const room = cutAfter - passed;
    passed += chunk.length;
    onPassed(passed);
    if (chunk.length <= room) return void upstream.write(chunk);
    // These bytes are to arrive before the reset.
    upstream.write(chunk.subarray(0, room), () => {
      upstream.end();
      client.resetAndDestroy();
    });
  });
  upstream.on("data", (chunk: Buffer) => client.write(chunk));
  client.on("close", () => upstream.destroy());
  upstream.on("close", () => client.destroy());
}

function ownedBy(server: Server | ReturnType<typeof createTlsServer>): Set<Socket> {
  const sockets = new Set<Socket>();
  server.on(
    "connection",
    (socket: Socket) => void sockets.add(socket.on("error", () => undefined)),
  );
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    if (server.listening) await once(server, "close");
  });
  return sockets;
}

async function listen(
  server: Server | ReturnType<typeof createTlsServer>,
  port: number,
): Promise<number> {
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
