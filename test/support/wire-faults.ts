/** Answers that are broken, or just odd, on the wire, in the ways that real networks and servers have. */
import type { ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import type { SandboxAnswer, SandboxAnswerer } from "../../provider/src/sandbox/index.js";

/**
 * Writes status and headers past Node's server, which would correct them. Node's server then waits for its own response
 * to end before it reads another request, so this is the last one on the connection.
 */
function writeHead(
  answer: SandboxAnswer,
  response: ServerResponse,
  ...headers: string[]
): void {
  const own = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  );
  const lines = [`HTTP/1.1 ${answer.status} OK`, ...own, "connection: close", ...headers];
  response.socket?.write(`${lines.join("\r\n")}\r\n\r\n`);
}

const lengthOf = ({ body }: SandboxAnswer) => `content-length: ${Buffer.byteLength(body)}`;
const halfOf = ({ body }: SandboxAnswer) => {
  const bytes = Buffer.from(body);
  return bytes.subarray(0, Math.ceil(bytes.length / 2));
};

/** An answerer that writes the whole response itself. */
const writing =
  (write: (answer: SandboxAnswer, response: ServerResponse) => void): SandboxAnswerer =>
  (answer, _request, response) => {
    write(answer, response);
    return undefined;
  };

export const halfBody = writing((answer, response) => {
  writeHead(answer, response, lengthOf(answer));
  response.socket?.end(halfOf(answer));
});

export const stalledBody = writing((answer, response) => {
  writeHead(answer, response, lengthOf(answer));
  response.socket?.write(halfOf(answer));
});

/** A body that is sent one byte at a time. */
export const slowBody = (msPerByte: number) =>
  writing((answer, response) => {
    const { socket } = response;
    const bytes = Buffer.from(answer.body);
    writeHead(answer, response, lengthOf(answer));
    let sent = 0;
    const timer = setInterval(() => {
      if (sent < bytes.length && socket?.writable)
        socket.write(bytes.subarray(sent, ++sent));
      else socket?.end();
    }, msPerByte);
    socket?.once("close", () => clearInterval(timer));
  });

export const twoLengths = writing((answer, response) => {
  const { length } = Buffer.from(answer.body);
  writeHead(answer, response, `content-length: ${length}`, `content-length: ${length + 7}`);
  response.socket?.end(answer.body);
});

export const badChunk = writing((answer, response) => {
  writeHead(answer, response, "transfer-encoding: chunked");
  response.socket?.end("zz\r\nnot a chunk\r\n");
});

export const garbage = writing((_answer, response) => {
  response.socket?.end("NOT HTTP AT ALL\r\n\r\n");
});

const CHUNK = Buffer.alloc(64 * 1024, " ");

/** A chunked body without an end that anybody waits for. */
export const hugeBody = (bytes: number) =>
  writing(({ status, headers }, response) => {
    response.writeHead(status, headers);
    const chunks = Array(Math.ceil(bytes / CHUNK.length)).fill(CHUNK);
    pipeline(chunks, response, () => undefined); // The client may not want it all.
  });

export const hugeHeader = (bytes: number) =>
  writing((answer, response) => {
    writeHead(answer, response, `x-huge: ${"x".repeat(bytes)}`, lengthOf(answer));
    response.socket?.end(answer.body);
  });

export const manyHeaders = (count: number) =>
  writing((answer, response) => {
    const many = Array.from({ length: count }, (_, index) => `x-${index}: ${index}`);
    writeHead(answer, response, ...many, lengthOf(answer));
    response.socket?.end(answer.body);
  });

export const closeAfter: SandboxAnswerer = (answer) => ({
  ...answer,
  headers: { ...answer.headers, connection: "close" },
});

export const earlyHints = writing(({ status, headers, body }, response) => {
  response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => {
    response.writeHead(status, headers);
    response.end(body);
  });
});

/** Interim responses in one packet. */
const interim =
  (text: string): SandboxAnswerer =>
  (answer, _request, response) => {
    response.socket?.write(text);
    return answer;
  };

const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";
export const continued = interim(CONTINUE);
export const INTERIMS = `HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${CONTINUE}${CONTINUE}`;
export const continuedTwice = interim(INTERIMS);
