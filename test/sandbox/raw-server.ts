/**
 * A server that follows a script for each connection, byte by byte: it can read nothing, half a request or all of it,
 * answer with any bytes, and close or reset the connection. It logs each POST that arrived whole.
 */

import type { EventEmitter } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A POST that was read completely. */
export interface RawRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The size of the whole request on the wire. */
  readonly bytes: number;
}

/** One connection, for a script to control. */
class RawConnection {
  #received = Buffer.alloc(0);
  #ended = false;
  #wake: () => void = () => undefined;
  readonly #log: RawRequest[];

  constructor(
    readonly socket: Socket,
    /** 0 for the first connection. */
    readonly index: number,
    log: RawRequest[],
  ) {
    this.#log = log;
  }

  /** Starts to read. Scripts that read nothing never get here. */
  #listen(): void {
    if (this.socket.listenerCount("data") > 0) return;
    this.socket.on("data", (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
    this.socket.once("close", () => {
      this.#ended = true;
      this.#wake();
    });
    this.socket.once("end", () => {
      this.#ended = true;
      this.#wake();
    });
    this.socket.resume();
  }

  /** Bytes read so far. */
  get bytesRead(): number {
    return this.#received.length;
  }

  /** Reads until `enough`; false if the client disconnected before. */
  async #readUntil(enough: () => boolean): Promise<boolean> {
    this.#listen();
    while (!enough()) {
      if (this.#ended) return false;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    return true;
  }

  /** Reads at least `count` bytes, or less if the client disconnects. */
  async readBytes(count: number): Promise<void> {
    await this.#readUntil(() => this.#received.length >= count);
  }

  /** Reads, logs and removes one whole request; none if the client disconnected before. */
  async readRequest(): Promise<RawRequest | undefined> {
    let request: RawRequest | undefined;
    await this.#readUntil(() => {
      request = this.#parse();
      return request !== undefined;
    });
    return request;
  }

  #parse(): RawRequest | undefined {
    const end = this.#received.indexOf("\r\n\r\n");
    if (end < 0) return undefined;
    const [first = "", ...lines] = this.#received.subarray(0, end).toString("latin1").split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]),
    );
    const length = Number(headers["content-length"] ?? 0);
    if (this.#received.length < end + 4 + length) return undefined;
    const body = this.#received.subarray(end + 4, end + 4 + length).toString("utf8");
    this.#received = this.#received.subarray(end + 4 + length);
    const request = { path: first.split(" ")[1] ?? "", headers, body, bytes: end + 4 + length };
    if (first.startsWith("POST ")) this.#log.push(request);
    return request;
  }

  /** Writes, and waits until the system has accepted it. */
  async write(data: string | Buffer): Promise<void> {
    if (this.socket.destroyed) return;
    await new Promise<void>((resolve) => {
      this.socket.write(data, () => resolve());
    });
  }

  /** Writes a JSON answer. */
  async answer(status: number, body: unknown, headers: readonly string[] = []): Promise<void> {
    await this.write(jsonAnswer(status, body, headers));
  }

  /** Closes the connection (FIN). */
  end(): void {
    this.socket.end();
  }

  /** Resets it (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** The bytes of a JSON answer. */
export function jsonAnswer(status: number, body: unknown, headers: readonly string[] = []): string {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return [
    `HTTP/1.1 ${status} X`,
    "content-type: application/json",
    `content-length: ${Buffer.byteLength(text)}`,
    ...headers,
    "",
    text,
  ].join("\r\n");
}

export interface RawServer {
  readonly url: string;
  readonly port: number;
  /** Every POST that arrived whole. */
  readonly posts: readonly RawRequest[];
  /** Connections so far. */
  readonly connections: number;
  readonly sockets: readonly Socket[];
  /** Accepts no more connections. Open ones stay. */
  stop(): void;
}

export type Script = (connection: RawConnection) => void | Promise<void>;

/**
 * Starts the server on 127.0.0.1; it ends with the test.
 * @param make creates another kind of server, such as a TLS one, with the connection handler, and names its event.
 */
export async function startRawServer(
  script: Script,
  make: (onConnection: (socket: Socket) => void) => Server = (onConnection) =>
    createServer({ pauseOnConnect: true }, onConnection),
  port = 0,
): Promise<RawServer> {
  const posts: RawRequest[] = [];
  const sockets: Socket[] = [];
  const server = make((socket) => {
    socket.on("error", () => undefined); // errors are the client's concern
    const connection = new RawConnection(socket, sockets.length, posts);
    sockets.push(socket);
    void script(connection);
  });
  (server as EventEmitter).on("tlsClientError", () => undefined);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  );
  const address = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${address.port}`,
    port: address.port,
    posts,
    sockets,
    stop: () => void server.close(),
    get connections() {
      return sockets.length;
    },
  };
}

/** A port where nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
