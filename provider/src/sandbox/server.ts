/**
 * The sandbox itself: an HTTP server that carries requests out as the platform's API page says, and remembers them.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type Answer, json, loginSuccess, refusal, sessionRefused, success } from "./answers.js";
import { type ArmedFault, Faults, respond, strike, strikesFirst } from "./faults.js";
import type {
  FaultRule,
  SandboxObject,
  SandboxOptions,
  SandboxRequest,
  SandboxSnapshot,
  SessionRefusal,
} from "./options.js";
import { judgeAdvertiser, judgeEvent } from "./rules.js";
import { Sessions } from "./sessions.js";

/** More than any request of this API; the rest of a larger one is not read. */
const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

type Operation = "authenticate" | "advertiser" | "event";

interface Handled {
  readonly answer: Answer;
  readonly created?: SandboxObject;
}

/** A running sandbox. Made by `startSandbox`. */
export class Sandbox {
  readonly email: string;
  readonly password: string;
  /** Every request that arrived, in the order of arrival. */
  readonly requests: SandboxRequest[] = [];
  /** How an ended session is refused; may be changed at any time. */
  sessionRefusal: SessionRefusal;
  /** Connections that are open now, and the most that ever were. */
  openConnections = 0;
  maxOpenConnections = 0;
  /** Calls of the login, and POSTs of advertisers and events, that arrived. */
  logins = 0;
  advertiserPosts = 0;
  eventPosts = 0;

  readonly #options: SandboxOptions;
  readonly #server: Server;
  readonly #sessions: Sessions;
  readonly #faults = new Faults();
  readonly #advertisers = new Map<number, SandboxObject>();
  readonly #events = new Map<number, SandboxObject>();
  #nextId: number;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.email = options.email ?? "ops@example.com";
    this.password = options.password ?? "sandbox-password";
    this.sessionRefusal = options.sessionRefusal ?? "401";
    this.#sessions = new Sessions({
      instanceKey: options.instanceKey ?? "sandbox",
      sessionSeconds: options.sessionSeconds ?? 900,
      sessionRequests: options.sessionRequests ?? Number.POSITIVE_INFINITY,
      rotation: options.rotation ?? "session",
      maxCookieAge: options.maxCookieAge ?? Number.POSITIVE_INFINITY,
      loginLimit: options.loginLimit ?? { count: 30, windowSeconds: 60 },
      clock: options.clock ?? Date.now,
    });
    for (const object of options.objects?.advertisers ?? []) this.#advertisers.set(object.id, object);
    for (const object of options.objects?.events ?? []) this.#events.set(object.id, object);
    this.#nextId = Math.max(
      options.firstId ?? 1,
      ...[...this.#advertisers.keys(), ...this.#events.keys()].map((id) => id + 1),
    );
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
    return [...this.#advertisers.values()];
  }

  get events(): SandboxObject[] {
    return [...this.#events.values()];
  }

  /** All that lives here, for `objects` of another sandbox. */
  snapshot(): SandboxSnapshot {
    return { advertisers: this.advertisers, events: this.events };
  }

  /** With `maxCookieAge`: the values of the session cookies that long-lived sessions are taken with now, the newest first. */
  get youngCookies(): string[] {
    return this.#sessions.young;
  }

  /** Makes requests fail. */
  fail(rule: FaultRule): ArmedFault {
    return this.#faults.arm(rule);
  }

  /** Ends every session, long-lived ones too: the next request has to log in. */
  expireSessions(): void {
    this.#sessions.endAll();
  }

  /** Forgets objects, requests, counts, faults and sessions. */
  reset(): void {
    this.#advertisers.clear();
    this.#events.clear();
    this.#faults.clear();
    this.expireSessions();
    this.resetCounts();
  }

  /** Forgets requests and counts; what lives here stays. */
  resetCounts(): void {
    this.requests.length = 0;
    this.logins = this.advertiserPosts = this.eventPosts = 0;
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
    const operation = this.#operationOf(incoming);
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
    if (operation === "authenticate") this.logins++;
    if (operation === "advertiser") this.advertiserPosts++;
    if (operation === "event") this.eventPosts++;
    if (rule !== undefined && strikesFirst(rule.with)) {
      incoming.socket.resetAndDestroy();
      return;
    }

    const chunks: Buffer[] = [];
    let bytes = 0;
    incoming.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= MAX_REQUEST_BYTES) chunks.push(chunk);
    });
    incoming.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      (request as { body: unknown }).body = parsed(text);
      const finish = () => this.#finish(operation, rule, request, incoming, response);
      const { latencyMs = 0 } = this.#options;
      if (latencyMs > 0) setTimeout(finish, latencyMs);
      else finish();
    });
  }

  #finish(
    operation: Operation | undefined,
    rule: FaultRule | undefined,
    request: SandboxRequest,
    incoming: IncomingMessage,
    response: ServerResponse,
  ): void {
    const fault = rule?.with;
    let handled: Handled;
    if (fault?.kind === "session-refusal") handled = { answer: sessionRefused(fault.way ?? this.sessionRefusal) };
    else if (fault !== undefined && rule?.act !== true && !keepsProperAnswer(fault.kind))
      handled = { answer: json(200, { success: true }) };
    else handled = this.#handle(operation, request);
    request.accepted =
      handled.created !== undefined ||
      (operation === "authenticate" && handled.answer.headers["set-cookie"] !== undefined);
    request.status = handled.answer.status;
    if (fault !== undefined) strike(fault, handled.answer, handled.created, request, incoming, response);
    else respond(this.#options.gzip ? packed(handled.answer) : handled.answer, response);
  }

  #operationOf({ method, url }: IncomingMessage): Operation | undefined {
    const prefix = `${this.#options.pathPrefix ?? ""}/rest/`;
    const path = (url ?? "").split("?")[0] ?? "";
    const name = path.startsWith(prefix) ? path.slice(prefix.length) : "";
    return method === "POST" && (name === "authenticate" || name === "advertiser" || name === "event")
      ? name
      : undefined;
  }

  #handle(operation: Operation | undefined, request: SandboxRequest): Handled {
    if (operation === undefined)
      return { answer: json(404, { message: `there is no ${request.method} ${request.path}` }) };
    const body =
      typeof request.body === "object" && request.body !== null ? (request.body as Record<string, unknown>) : undefined;
    if (body === undefined) return { answer: json(400, { message: "the body is no JSON object" }) };
    if (operation === "authenticate") return { answer: this.#logIn(body) };

    const cookies = this.#admit(request);
    if (cookies === undefined) return { answer: sessionRefused(this.sessionRefusal) };
    const handled = this.#create(operation, body);
    if (cookies.length === 0) return handled;
    return { ...handled, answer: { ...handled.answer, headers: { ...handled.answer.headers, "set-cookie": cookies } } };
  }

  #logIn(body: Readonly<Record<string, unknown>>): Answer {
    if (this.#options.authMode === "basic") return json(404, { message: "this installation takes Basic credentials" });
    const seconds = this.#sessions.limited();
    if (seconds !== undefined) return json(429, { message: "too many logins" }, { "retry-after": String(seconds) });
    if (body.email !== this.email || body.password !== this.password) {
      return json(401, { success: false, message: "the e-mail or the password is wrong" });
    }
    return loginSuccess(this.#options.loginShape ?? "success-true", this.#sessions.open(body.keep_logged_in === true));
  }

  /** The cookies of the answer, or none where the request is not let in. */
  #admit(request: SandboxRequest): string[] | undefined {
    const mode = this.#options.authMode ?? "session";
    const expected = `Basic ${Buffer.from(`${this.email}:${this.password}`).toString("base64")}`;
    if (mode !== "session" && request.headers.authorization === expected) return [];
    return mode === "basic" ? undefined : this.#sessions.admit(request.headers.cookie as string | undefined);
  }

  #create(noun: "advertiser" | "event", body: Readonly<Record<string, unknown>>): Handled {
    const options = this.#options;
    const judged =
      noun === "advertiser"
        ? judgeAdvertiser(body)
        : judgeEvent(body, options.maxWindowSeconds ?? 2_592_000, this.#advertisers);
    const nameField = `${noun}_name`;
    const objects = noun === "advertiser" ? this.#advertisers : this.#events;
    const faults = [...judged.faults];
    if (options.unknownFields === "refuse") {
      faults.push(...judged.unknown.map((field) => ({ field, sentence: "is not a known field" })));
    }
    if (options.refuseTakenNames && [...objects.values()].some((object) => object[nameField] === body[nameField])) {
      faults.push({ field: nameField, sentence: "is taken" });
    }
    if (faults.length > 0) return { answer: refusal(options.refusalShape ?? "406-errors", noun, faults) };

    const kept =
      options.unknownFields === "ignore" ? Object.fromEntries(judged.unknown.map((field) => [field, body[field]])) : {};
    const activity = noun === "advertiser" ? { active: options.advertisersStartActive ?? true } : {};
    const object: SandboxObject = { ...activity, ...kept, ...judged.fields, id: this.#nextId++ };
    objects.set(object.id, object);
    const warnings =
      options.unknownFields === "ignore" ? [] : judged.unknown.map((field) => `unknown field ${field} was dropped`);
    return { created: object, answer: success(options.answerShape ?? "payload", noun, object, warnings) };
  }
}

/** Faults that disturb a proper answer, rather than replacing it. */
function keepsProperAnswer(kind: FaultRule["with"]["kind"]): boolean {
  return (
    kind === "close-after" ||
    kind === "early-hints" ||
    kind === "continue" ||
    kind === "slow-body" ||
    kind === "many-headers"
  );
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
