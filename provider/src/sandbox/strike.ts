/**
 * Breaks exchanges on the wire, in the ways that real networks and servers do.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { gzipSync } from "node:zlib";
import type { Answer } from "./answers.js";
import type { Fault, SandboxObject, SandboxRequest } from "./options.js";

/** Whether the fault strikes before the body is read. */
export function strikesFirst(fault: Fault): boolean {
  return fault.kind === "reset-before-read";
}

/** Whether the fault disturbs a proper answer, rather than replacing it: the request is carried out in any case. */
export function keepsProperAnswer({ kind }: Fault): boolean {
  return (
    kind === "close-after" ||
    kind === "early-hints" ||
    kind === "continue" ||
    kind === "slow-body" ||
    kind === "many-headers"
  );
}

/** The status that a client gets to see; 0 where it sees none. */
export function statusWith(fault: Fault, proper: Answer): number {
  switch (fault.kind) {
    case "answer":
      return fault.status;
    case "huge-body":
    case "gzip-bomb":
      return 200;
    case "reset-before-read":
    case "reset":
    case "close-without-answer":
    case "no-answer":
    case "garbage":
      return 0;
    default:
      return proper.status;
  }
}

/** Answers with `fault` instead of `proper`, the answer that would have been given. */
export function strike(
  fault: Fault,
  proper: Answer,
  created: SandboxObject | undefined,
  request: SandboxRequest,
  incoming: IncomingMessage,
  response: ServerResponse,
): void {
  const { socket } = incoming;
  const body = Buffer.from(proper.body);
  const half = body.subarray(0, Math.ceil(body.length / 2));
  const raw = (head: string[], ...parts: (string | Buffer)[]) => {
    // Written past Node's server, which would hold the connection's next request back: so it is the last one on it.
    const first = [`HTTP/1.1 ${proper.status} OK`, "content-type: application/json", "connection: close"];
    socket.write([...first, ...head, "", ""].join("\r\n"));
    for (const part of parts) socket.write(part);
  };
  switch (fault.kind) {
    case "answer": {
      const value = typeof fault.body === "function" ? fault.body(created, request) : (fault.body ?? "");
      response.writeHead(fault.status, { ...fault.headers } as Record<string, string | string[]>);
      response.end(typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value));
      return;
    }
    case "reset-before-read":
    case "reset":
      socket.resetAndDestroy();
      return;
    case "close-without-answer":
      socket.end();
      return;
    case "no-answer":
      return;
    case "half-body":
      raw([`content-length: ${body.length}`], half);
      socket.end();
      return;
    case "stalled-body":
      raw([`content-length: ${body.length}`], half);
      return;
    case "bad-length":
      raw([`content-length: ${body.length}`, `content-length: ${body.length + 7}`], body);
      socket.end();
      return;
    case "bad-chunk":
      raw(["transfer-encoding: chunked"], "zz\r\nnot a chunk\r\n");
      socket.end();
      return;
    case "garbage":
      socket.end("NOT HTTP AT ALL\r\n\r\n");
      return;
    case "slow-body": {
      raw([`content-length: ${body.length}`]);
      let at = 0;
      const timer = setInterval(() => {
        if (at < body.length && socket.writable) socket.write(body.subarray(at, ++at));
        else {
          clearInterval(timer);
          socket.end();
        }
      }, fault.msPerByte);
      socket.once("close", () => clearInterval(timer));
      return;
    }
    case "huge-body": {
      response.writeHead(200, { "content-type": "application/json" });
      const chunk = Buffer.alloc(64 * 1024, " ");
      let left = fault.bytes;
      const pump = () => {
        while (left > 0 && !response.destroyed) {
          left -= chunk.length;
          if (!response.write(chunk)) {
            response.once("drain", pump);
            return;
          }
        }
        response.end();
      };
      pump();
      return;
    }
    case "gzip-bomb":
      response.writeHead(200, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(Buffer.alloc(fault.bytes, " ")));
      return;
    case "huge-header":
      raw([`x-huge: ${"x".repeat(fault.bytes)}`, `content-length: ${body.length}`], body);
      socket.end();
      return;
    case "many-headers":
      raw(
        [
          ...Array.from({ length: fault.count }, (_, index) => `x-${index}: ${index}`),
          `content-length: ${body.length}`,
        ],
        body,
      );
      socket.end();
      return;
    case "close-after":
      response.writeHead(proper.status, { ...proper.headers, connection: "close" } as Record<
        string,
        string | string[]
      >);
      response.end(body);
      return;
    case "early-hints":
      response.writeEarlyHints({ link: "</style.css>; rel=preload" }, () => respond(proper, response));
      return;
    case "continue":
      socket.write("HTTP/1.1 100 Continue\r\n\r\n");
      respond(proper, response);
      return;
    case "session-refusal": // answered as such before anything is carried out
      respond(proper, response);
  }
}

export function respond(answer: Answer, response: ServerResponse): void {
  response.writeHead(answer.status, { ...answer.headers } as Record<string, string | string[]>);
  response.end(answer.body);
}
