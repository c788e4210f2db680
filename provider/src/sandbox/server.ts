/** The sandbox itself: a server that hands requests to the platform, and remembers what arrived. */
import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { jsonIn } from "../base/index.js";
import { success } from "./answers.js";
import { ArmedFault } from "./faults.js";
import { requestLine } from "./messages.js";
import {
  type AllOptions,
  DEFAULTS,
  type FaultRule,
  type Noun,
  type SandboxAnswer,
  type SandboxObject,
  type SandboxOperation,
  type SandboxOptions,
  type SandboxRequest,
  type SandboxSnapshot,
} from "./options.js";
import { Platform } from "./platform.js";
import { type Route, routeOf } from "./routes.js";

/** A running sandbox. Made by `startSandbox`. */
export class Sandbox {
  readonly email: string;
  readonly password: string;
  /** Every request, in the order of arrival. */
  readonly requests: SandboxRequest[] = [];
  openConnections = 0;
  /** The most that were open at once. */
  maxOpenConnections = 0;
  /** How many requests of each operation arrived, whatever became of them. */
  logins = 0;
  advertiserPosts = 0;
  eventPosts = 0;
  reads = 0;
  updates = 0;
  deletes = 0;
  searches = 0;

  readonly #options: AllOptions;
  readonly #server: Server;
  readonly #platform: Platform;
  #faults: ArmedFault[] = [];

  constructor(options: SandboxOptions) {
    this.#options = { ...DEFAULTS, ...options };
    this.#platform = new Platform(this.#options);
    this.email = this.#options.email;
    this.password = this.#options.password;
    this.#server = createServer((incoming, response) => void this.#receive(incoming, response));
    this.#server.on("connection", (socket) => {
      this.openConnections++;
      this.maxOpenConnections = Math.max(this.maxOpenConnections, this.openConnections);
      socket.on("error", () => undefined); // A client may go away at any time.
      socket.once("close", () => this.openConnections--);
    });
  }

  /** Starts to listen, on 127.0.0.1 only. */
  async listen(): Promise<this> {
    this.#server.listen(this.#options.port, "127.0.0.1");
    await once(this.#server, "listening");
    return this;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** The address for `advertising:baseUrl`. */
  get url(): string {
    return `http://127.0.0.1:${this.port}${this.#options.pathPrefix}`;
  }

  /** How many POSTs of advertisers and events arrived, whatever became of them. */
  get creates(): number {
    return this.advertiserPosts + this.eventPosts;
  }

  get advertisers(): SandboxObject[] {
    return [...this.#platform.advertisers.values()];
  }

  get events(): SandboxObject[] {
    return [...this.#platform.events.values()];
  }

  /** All objects, for the option `objects` of another sandbox. */
  snapshot(): SandboxSnapshot {
    return { advertisers: this.advertisers, events: this.events };
  }

  /**
   * Changes an object, as a person does in the platform's own interface.
   * @param changes by wire names, unknown ones are ignored; `null` is the default again, or no value.
   * @throws Error that says which rule of the platform forbids it; nothing is changed then.
   */
  edit(noun: Noun, id: number, changes: Readonly<Record<string, unknown>>): void {
    const faults = this.#platform.change(noun, this.find(noun, id), changes);
    const reasons = faults.map(({ field, reason }) => `${field}: ${reason}`).join("; ");
    if (faults.length > 0) throw new Error(`${noun} ${id} was not changed: ${reasons}`);
  }

  /** Deletes an object, as a person does in the platform's own interface. @throws Error if it isn't there. */
  delete(noun: Noun, id: number): void {
    this.#platform.objectsOf(noun).delete(this.find(noun, id).id);
  }

  /** @throws Error if it isn't there. */
  find(noun: Noun, id: number): SandboxObject {
    const object = this.#platform.objectsOf(noun).get(id);
    if (object !== undefined) return object;
    throw new Error(`there is no ${noun} ${id}; \`list\` shows what lives here`);
  }

  /** Makes requests fail. Of several rules for a request, the first decides. */
  fail(rule: FaultRule): ArmedFault {
    const fault = new ArmedFault(rule);
    this.#faults.push(fault);
    return fault;
  }

  /** Ends all faults. */
  endFaults(): void {
    this.#faults = [];
  }

  /** Ends every session, long-lived ones too: the next request has to log in. */
  expireSessions(): void {
    this.#platform.sessions.endAll();
  }

  /** Forgets objects, requests, counts, faults and sessions. @param objects the ones to start again with. */
  reset(objects: Partial<SandboxSnapshot> = {}): void {
    this.#platform.replaceObjects(objects);
    this.endFaults();
    this.expireSessions();
    this.resetCounts();
  }

  /** Forgets requests and counts, and keeps the objects. */
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

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", url = "", headers } = incoming;
    const route = routeOf(method, url, this.#options);
    const request: SandboxRequest = {
      method,
      path: url,
      headers,
      operation: route?.operation,
      body: undefined,
      status: 0,
      created: undefined,
    };
    this.requests.push(request);
    const fault = this.#count(request);
    const body = await text(incoming).catch(() => undefined);
    if (body === undefined) return; // The client went away before it had sent all.
    request.body = jsonIn(body) ?? body;
    const { latencyMs } = this.#options;
    if (route !== undefined && latencyMs > 0) await sleep(latencyMs);

    const answer = this.#answer(route, fault, request, response);
    request.status = answer?.status ?? 0;
    // Before the answer: whoever has that finds the line.
    this.#options.log(requestLine(request));
    if (answer === undefined) return;
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  }

  /** @returns the fault that hits the request. */
  #count({ operation }: SandboxRequest): ArmedFault | undefined {
    if (operation === undefined) return undefined;
    this[COUNTERS[operation]]++;
    return this.#faults.find((fault) => fault.takes(operation));
  }

  #answer(
    route: Route | undefined,
    fault: ArmedFault | undefined,
    request: SandboxRequest,
    response: ServerResponse,
  ): SandboxAnswer | undefined {
    if (fault !== undefined && !fault.act) return fault.answer(success({}), request, response);
    const proper = this.#platform.handle(route, request);
    const answer = this.#options.answer(proper, request, response);
    if (fault === undefined || answer === undefined) return answer;
    return fault.answer(answer, request, response);
  }
}

const COUNTERS = {
  authenticate: "logins",
  advertiser: "advertiserPosts",
  event: "eventPosts",
  read: "reads",
  update: "updates",
  delete: "deletes",
  search: "searches",
} as const satisfies Record<SandboxOperation, keyof Sandbox>;
