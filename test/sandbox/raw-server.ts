/**
 * A server that follows a script for each connection, byte by byte: it can read nothing, half a request or all of it,
 * answer with any bytes, and close or reset the connection. It logs each POST that arrived whole.
 */
import type { EventEmitter } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A POST that was read completely. */
interface RawRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The size of the whole request on the wire. */
  readonly bytes: number;
}

/** One connection, for a script to control. */
class RawConnection {
  #received = Buffer.alloc(0);
  #hasEnded = false;
  #wake: () => void = () => undefined;

  constructor(
    readonly socket: Socket,
    /** 0 for the first connection. */
    readonly index: number,
    private readonly posts: RawRequest[],
  ) {}

  /** Bytes read so far. */
  get bytesRead(): number {
    return this.#received.length;
  }

  /** Reads until `isEnough`, or until the client disconnects. Scripts that read nothing never get here. */
  async #readUntil(isEnough: () => boolean): Promise<void> {
    if (this.socket.listenerCount("data") === 0) {
      const end = () => {
        this.#hasEnded = true;
        this.#wake();
      };
      this.socket.once("close", end).once("end", end);
      this.socket.on("data", (chunk: Buffer) => {
        this.#received = Buffer.concat([this.#received, chunk]);
        this.#wake();
      });
      this.socket.resume();
    }
    while (!isEnough() && !this.#hasEnded) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Reads at least `count` bytes, or less if the client disconnects. */
  readBytes(count: number): Promise<void> {
    return this.#readUntil(() => this.#received.length >= count);
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
    const [first = "", ...lines] = this.#received
      .subarray(0, end)
      .toString("latin1")
      .split("\r\n");
    const headers = Object.fromEntries(
      lines.map((line) => [
        line.slice(0, line.indexOf(":")).toLowerCase(),
        line.slice(line.indexOf(":") + 1).trim(),
      ]),
    );
    const bytes = end + 4 + Number(headers["content-length"] ?? 0);
    if (this.#received.length < bytes) return undefined;
    const request = {
      headers,
      body: this.#received.subarray(end + 4, bytes).toString("utf8"),
      bytes,
    };
    this.#received = this.#received.subarray(bytes);
    if (first.startsWith("POST ")) this.posts.push(request);
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
  answer(status: number, body: unknown, headers: readonly string[] = []): Promise<void> {
    return this.write(rawAnswer(status, body, headers));
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
export function rawAnswer(
  status: number,
  body: unknown,
  headers: readonly string[] = [],
): string {
  const text = JSON.stringify(body);
  const length = `content-length: ${Buffer.byteLength(text)}`;
  return [
    `HTTP/1.1 ${status} X`,
    "content-type: application/json",
    length,
    ...headers,
    "",
    text,
  ].join("\r\n");
}

/**
 * Starts the server on 127.0.0.1; it ends with the test.
 * @param make creates another kind of server, such as a TLS one, with the connection handler, and names its event.
 */
export async function startRawServer(
  script: (connection: RawConnection) => void | Promise<void>,
  make: (onConnection: (socket: Socket) => void) => Server = (onConnection) =>
    createServer({ pauseOnConnect: true }, onConnection),
  wantedPort = 0,
) {
  const posts: RawRequest[] = [];
  const sockets: Socket[] = [];
  const server = make((socket) => {
    socket.on("error", () => undefined); // errors are the client's concern
    sockets.push(socket);
    void script(new RawConnection(socket, sockets.length - 1, posts));
  });
  (server as EventEmitter).on("tlsClientError", () => undefined);
  const port = await listen(server, wantedPort);
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    /** Every POST that arrived whole. */
    posts: posts as readonly RawRequest[],
    sockets: sockets as readonly Socket[],
    /** Accepts no more connections. Open ones stay. */
    stop: () => void server.close(),
    /** Connections so far. */
    get connections() {
      return sockets.length;
    },
  };
}

async function listen(server: Server, port: number): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(port, "127.0.0.1", resolve);
  });
  return (server.address() as AddressInfo).port;
}

/** A port where nothing listens. */
export async function closedPort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, 0);
  await new Promise((resolve) => server.close(resolve));
  return port;
}
