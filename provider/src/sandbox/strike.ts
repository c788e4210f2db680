/**
 * Which requests fail, and how: breaks exchanges on the wire, in the ways that real networks and servers do.
 */
import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from "node:http";
import { pipeline } from "node:stream";
import { gzipSync } from "node:zlib";
import type { Answer } from "./answers.js";
import {
  type Fault,
  type FaultRule,
  NOUNS,
  type Operation,
  type SandboxObject,
  type SandboxRequest,
} from "./options.js";

/** A fault rule at work. */
export interface ArmedFault {
  /** Requests that it hit. */
  readonly hits: number;
  /** Requests that it will still hit. */
  readonly remaining: number;
  /** Takes it away. */
  cancel(): void;
}

/** Which requests fail: the rules that are armed, and whom the next one hits. */
export class Faults {
  #armed: Armed[] = [];

  arm(rule: FaultRule): ArmedFault {
    const armed = new Armed(rule);
    this.#armed.push(armed);
    return armed;
  }

  clear(): void {
    this.#armed = [];
  }

  /** The fault for a request to `operation`, if any; counts it. */
  take(operation: Operation): FaultRule | undefined {
    return this.#armed.find((each) => each.strikes(operation))?.rule;
  }
}

class Armed implements ArmedFault {
  hits = 0;
  remaining: number;
  #toSkip: number;

  constructor(readonly rule: FaultRule) {
    this.remaining = rule.times ?? 1;
    this.#toSkip = rule.after ?? 0;
  }

  cancel(): void {
    this.remaining = 0;
  }

  strikes(operation: Operation): boolean {
    const { on } = this.rule;
    const isCreate = NOUNS.some((noun) => noun === operation);
    const isMeant = on === "any" || on === operation || (on === "create" && isCreate);
    if (this.remaining <= 0 || !isMeant || this.#toSkip-- > 0) return false;
    this.remaining--;
    this.hits++;
    return true;
  }
}

/** These disturb a proper answer, rather than replacing it: the request is carried out in any case. */
const KEEPING = ["close-after", "early-hints", "continue", "slow-body", "many-headers"];

/** Whether a request is carried out that `rule` hits. */
export function isCarriedOut({ act, with: { kind } }: FaultRule): boolean {
  return act === true || KEEPING.includes(kind);
}

const UNANSWERED = ["reset-before-read", "reset", "close-without-answer", "no-answer", "garbage"];

/** The status that a client gets to see; 0 where it sees none. */
export function statusWith(fault: Fault, proper: Answer): number {
  if (fault.kind === "answer") return fault.status;
  return UNANSWERED.includes(fault.kind) ? 0 : proper.status;
}

const HUGE_CHUNK = Buffer.alloc(64 * 1024, " ");

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
      response.writeHead(fault.status, fault.headers as OutgoingHttpHeaders);
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
      response.writeHead(proper.status, { "content-type": "application/json" });
      const chunks = Array(Math.ceil(fault.bytes / HUGE_CHUNK.length)).fill(HUGE_CHUNK);
      pipeline(chunks, response, () => undefined); // the client may not want it all
      return;
    }
    case "gzip-bomb":
      response.writeHead(proper.status, { "content-type": "application/json", "content-encoding": "gzip" });
      response.end(gzipSync(Buffer.alloc(fault.bytes, " ")));
      return;
    case "huge-header":
      raw([`x-huge: ${"x".repeat(fault.bytes)}`, `content-length: ${body.length}`], body);
      socket.end();
      return;
    case "many-headers": {
      const many = Array.from({ length: fault.count }, (_, index) => `x-${index}: ${index}`);
      raw([...many, `content-length: ${body.length}`], body);
      socket.end();
      return;
    }
    case "close-after":
      respond({ ...proper, headers: { ...proper.headers, connection: "close" } }, response);
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
  response.writeHead(answer.status, answer.headers);
  response.end(answer.body);
}
