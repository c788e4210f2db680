/**
 * The sandbox itself: an HTTP server that hands requests to the platform, breaks exchanges as its options say, and
 * remembers what arrived.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type Answer, json, sessionRefused } from "./answers.js";
import { answerControl, type Control, isForControl } from "./control-address.js";
import { type ArmedFault, Faults } from "./faults.js";
import type {
  FaultRule,
  SandboxObject,
  SandboxOptions,
  SandboxRequest,
  SandboxSnapshot,
  SessionRefusal,
} from "./options.js";
import { Platform } from "./platform.js";
import type { Handled } from "./record-operations.js";
import { type Operation, type Route, routeOf } from "./routes.js";
import { logLine, type Occurrence } from "./shown.js";
import { keepsProperAnswer, respond, statusWith, strike, strikesFirst } from "./strike.js";

/** More than any request of this API; the rest of a larger one is not read. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** A running sandbox. Made by `startSandbox`. */
export class Sandbox {
  /** Every request that arrived, in the order of arrival. */
  readonly requests: SandboxRequest[] = [];
  /** Connections that are open now, and the most that ever were. */
  openConnections = 0;
  maxOpenConnections = 0;
  /** Calls of the login, and POSTs of advertisers and events, that arrived. */
  logins = 0;
  advertiserPosts = 0;
  eventPosts = 0;
  /** With `operations`: how many of each arrived. */
  reads = 0;
  updates = 0;
  deletes = 0;
  searches = 0;

  readonly #options: SandboxOptions;
  readonly #server: Server;
  readonly #platform: Platform;
  readonly #faults = new Faults();

  readonly #control: Control | undefined;

  /** @param control takes commands at the control address; without it, there is no such address. */
  constructor(options: SandboxOptions, control?: Control) {
    this.#options = options;
    this.#control = control;
    this.#platform = new Platform(options);
    this.#server = createServer((incoming, response) => this.#receive(incoming, response));
    this.#server.on("connection", (socket) => {
      this.openConnections++;
      this.maxOpenConnections = Math.max(this.maxOpenConnections, this.openConnections);
      socket.on("error", () => undefined); // a client that goes away is its own affair
      socket.once("close", () => this.openConnections--);
    });
  }

  /** Starts to listen, on 127.0.0.1 only. */
  async listen(): Promise<this> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#options.port ?? 0, "127.0.0.1", resolve);
    });
    return this;
  }

  get email(): string {
    return this.#platform.email;
  }

  get password(): string {
    return this.#platform.password;
  }

  /** How an ended session is refused; may be changed at any time. */
  get sessionRefusal(): SessionRefusal {
    return this.#platform.sessionRefusal;
  }

  set sessionRefusal(way: SessionRefusal) {
    this.#platform.sessionRefusal = way;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address for `advertising:baseUrl`. */
  get url(): string {
    return `http://127.0.0.1:${this.port}${this.#options.pathPrefix ?? ""}`;
  }

  /** POSTs of advertisers and events that arrived, whatever became of them. */
  get creates(): number {
    return this.advertiserPosts + this.eventPosts;
  }

  get advertisers(): SandboxObject[] {
    return [...this.#platform.advertisers.values()];
  }

  get events(): SandboxObject[] {
    return [...this.#platform.events.values()];
  }

  /** All that lives here, for `objects` of another sandbox. */
  snapshot(): SandboxSnapshot {
    return { advertisers: this.advertisers, events: this.events };
  }

  /** With `maxCookieAge`: the values of the session cookies that long-lived sessions are taken with now, the newest first. */
  get youngCookies(): string[] {
    return this.#platform.sessions.young;
  }

  /** Makes requests fail. */
  fail(rule: FaultRule): ArmedFault {
    return this.#faults.arm(rule);
  }

  /** Makes no request fail any more. */
  endFaults(): void {
    this.#faults.clear();
  }

  /** Ends every session, long-lived ones too: the next request has to log in. */
  expireSessions(): void {
    this.#platform.sessions.endAll();
  }

  /** Forgets objects, requests, counts, faults and sessions. @param objects what lives here then. */
  reset(objects: Partial<SandboxSnapshot> = {}): void {
    this.#platform.putBack(objects);
    this.endFaults();
    this.expireSessions();
    this.resetCounts();
  }

  /** Forgets requests and counts; what lives here stays. */
  resetCounts(): void {
    this.requests.length = 0;
    this.logins = this.advertiserPosts = this.eventPosts = 0;
    this.reads = this.updates = this.deletes = this.searches = 0;
    this.maxOpenConnections = this.openConnections;
  }

  /** Stops listening and ends all connections. */
  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  #receive(incoming: IncomingMessage, response: ServerResponse): void {
    const control = this.#control;
    if (control !== undefined && isForControl(incoming)) {
      readText(incoming, (line) => answerControl(control, line, incoming, response));
      return;
    }
    const route = routeOf(incoming.method, incoming.url, this.#options);
    const operation = route?.operation;
    const rule = operation === undefined ? undefined : this.#faults.take(operation);
    const request: SandboxRequest = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: undefined,
      status: 0,
      accepted: false,
    };
    this.requests.push(request);
    this.#count(operation);
    if (rule !== undefined && strikesFirst(rule.with)) {
      incoming.socket.resetAndDestroy();
      this.#tell(request, { because: `fault: ${rule.with.kind}` });
      return;
    }

    incoming.once("close", () => {
      if (!incoming.complete) this.#tell(request, { because: "not received whole" });
    });
    readText(incoming, (text) => {
      (request as { body: unknown }).body = parsed(text);
      const finish = () => this.#finish(route, rule, request, incoming, response);
      const { latencyMs = 0 } = this.#options;
      if (latencyMs > 0) setTimeout(finish, latencyMs);
      else finish();
    });
  }

  #count(operation: Operation | undefined): void {
    if (operation === "authenticate") this.logins++;
    if (operation === "advertiser") this.advertiserPosts++;
    if (operation === "event") this.eventPosts++;
    if (operation === "read") this.reads++;
    if (operation === "update") this.updates++;
    if (operation === "delete") this.deletes++;
    if (operation === "search") this.searches++;
  }

  #finish(
    route: Route | undefined,
    rule: FaultRule | undefined,
    request: SandboxRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): void {
    const fault = rule?.with;
    let handled: Handled;
    if (fault?.kind === "session-refusal") handled = { answer: sessionRefused(fault.way ?? this.sessionRefusal) };
    else if (fault !== undefined && rule?.act !== true && !keepsProperAnswer(fault))
      handled = { answer: json(200, { success: true }) };
    else handled = this.#platform.handle(route, request);
    const { answer, created, done } = handled;
    const operation = route?.operation;
    const loggedIn = operation === "authenticate" && answer.headers["set-cookie"] !== undefined;
    request.accepted = created !== undefined || loggedIn || done === true;
    request.status = fault === undefined ? answer.status : statusWith(fault, answer);
    // Before the answer: anyone who has that finds the line.
    this.#tell(request, { operation, created, loggedIn, because: fault && `fault: ${fault.kind}` });
    if (fault !== undefined) strike(fault, answer, created, request, incoming, response);
    else respond(this.#options.gzip ? packed(answer) : answer, response);
  }

  #tell(request: SandboxRequest, occurrence: Occurrence): void {
    this.#options.log?.(logLine(request, occurrence));
  }
}

/** @param done gets the body once it is there; what is beyond the limit is left out. */
function readText(incoming: IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_REQUEST_BYTES) chunks.push(chunk);
  });
  incoming.on("end", () => done(Buffer.concat(chunks).toString("utf8")));
}

function packed(answer: Answer): Answer {
  return {
    ...answer,
    headers: { ...answer.headers, "content-encoding": "gzip" },
    body: gzipSync(answer.body) as unknown as string,
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
