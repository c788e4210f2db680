/**
 * The sandbox itself: an HTTP server that hands requests to the platform, breaks exchanges as its options say, and
 * remembers what arrived.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { json, sessionRefused } from "./answers.js";
import type {
  FaultRule,
  Noun,
  Operation,
  SandboxObject,
  SandboxOptions,
  SandboxRequest,
  SandboxSnapshot,
  SessionRefusal,
} from "./options.js";
import { Platform } from "./platform.js";
import type { Handled } from "./records.js";
import { type Route, routeOf } from "./routes.js";
import { logLine } from "./shown.js";
import { type ArmedFault, Faults, isCarriedOut, respond, statusWith, strike } from "./strike.js";

/** More than any request of this API; the rest of a larger one is not read. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** Answers a request that is not for the platform. @returns false where it is. */
type Intercept = (incoming: IncomingMessage, response: ServerResponse) => boolean;

/** A running sandbox. Made by `startSandbox`. */
export class Sandbox {
  readonly email: string;
  readonly password: string;
  /** How an ended session is refused; may be changed at any time. */
  sessionRefusal: SessionRefusal;
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

  constructor(options: SandboxOptions, intercept: Intercept = () => false) {
    this.#options = options;
    this.#platform = new Platform(options);
    this.email = this.#platform.email;
    this.password = this.#platform.password;
    this.sessionRefusal = options.sessionRefusal ?? "401";
    this.#server = createServer((incoming, response) => {
      if (!intercept(incoming, response)) this.#receive(incoming, response);
    });
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

  /**
   * Changes an object, as a person does in the platform's own interface.
   * @param fields by their wire names; `null` is the default again, or none.
   * @throws Error in words where a rule of the platform forbids it; nothing is changed then.
   */
  edit(noun: Noun, id: number, fields: Readonly<Record<string, unknown>>): void {
    const faults = this.#platform.edit(noun, this.find(noun, id), fields);
    const reasons = faults.map(({ field, sentence }) => `${field}: ${sentence}`).join("; ");
    if (faults.length > 0) throw new Error(`${noun} ${id} was not changed: ${reasons}`);
  }

  /** Deletes an object, as a person does in the platform's own interface. @throws Error if it is not there. */
  delete(noun: Noun, id: number): void {
    this.#platform.objectsOf(noun).delete(this.find(noun, id).id);
  }

  /** @throws Error in words if it is not there. */
  find(noun: Noun, id: number): SandboxObject {
    const object = this.#platform.objectsOf(noun).get(id);
    if (object === undefined) throw new Error(`there is no ${noun} ${id}; \`list\` shows what lives here`);
    return object;
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
    for (const counter of Object.values(COUNTERS)) this[counter] = 0;
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
    const route = routeOf(incoming.method, incoming.url, this.#options);
    const rule = route === undefined ? undefined : this.#faults.take(route.operation);
    const request: SandboxRequest = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: undefined,
      status: 0,
      accepted: false,
    };
    this.requests.push(request);
    if (route !== undefined) this[COUNTERS[route.operation]]++;
    if (rule?.with.kind === "reset-before-read") {
      incoming.socket.resetAndDestroy();
      this.#options.log?.(logLine(request));
      return;
    }
    readText(incoming, (text) => {
      (request as { body: unknown }).body = parsed(text);
      const finish = () => this.#finish(route, rule, request, incoming, response);
      const { latencyMs = 0 } = this.#options;
      if (latencyMs > 0) setTimeout(finish, latencyMs);
      else finish();
    });
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
    else if (rule !== undefined && !isCarriedOut(rule)) handled = { answer: json(200, { success: true }) };
    else handled = this.#platform.handle(route, request) ?? { answer: sessionRefused(this.sessionRefusal) };
    const { answer, created } = handled;
    request.accepted = created !== undefined;
    request.status = fault === undefined ? answer.status : statusWith(fault, answer);
    // Before the answer: anyone who has that finds the line.
    this.#options.log?.(logLine(request, created && { noun: route?.operation ?? "", object: created }));
    if (fault !== undefined) strike(fault, answer, created, request, incoming, response);
    else if (!this.#options.gzip) respond(answer, response);
    else {
      const headers = { ...answer.headers, "content-encoding": "gzip" };
      respond({ ...answer, headers, body: gzipSync(answer.body) }, response);
    }
  }
}

/** Where a sandbox counts each operation. */
const COUNTERS = {
  authenticate: "logins",
  advertiser: "advertiserPosts",
  event: "eventPosts",
  read: "reads",
  update: "updates",
  delete: "deletes",
  search: "searches",
} as const satisfies Record<Operation, keyof Sandbox>;

/** @param done gets the body once it is there; what is beyond the limit is left out. */
export function readText(incoming: IncomingMessage, done: (text: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  incoming.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= MAX_REQUEST_BYTES) chunks.push(chunk);
  });
  incoming.on("end", () => done(Buffer.concat(chunks).toString("utf8")));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
