/** The sandbox itself: a server that passes requests to the platform, and keeps them. */
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
import {
  excerpt,
  jsonIn,
  printable,
  quoted,
  type Values,
  withoutUndefined,
} from "../base/index.js";
import {
  COUNTERS,
  DEFAULTS,
  type FaultRule,
  NOUNS,
  type Noun,
  type SandboxAnswer,
  type SandboxAnswerer,
  type SandboxObject,
  type SandboxOperation,
  type SandboxOptions,
  type SandboxRequest,
  type SandboxSnapshot,
} from "./options.js";
import { Platform, routeOf, success } from "./platform.js";
import { Sessions } from "./sessions.js";

/** A running sandbox. Made by `startSandbox`. */
export class Sandbox {
  /** Every request, in the order of arrival. */
  readonly requests: SandboxRequest[] = [];
  readonly server: Server;
  /** How many requests of each operation arrived, whatever became of them. */
  logins = 0;
  advertiserPosts = 0;
  eventPosts = 0;
  reads = 0;
  updates = 0;
  deletes = 0;
  searches = 0;

  readonly #options;
  readonly #platform;
  #faults: ArmedFault[] = [];

  constructor(options: SandboxOptions, sessions?: Sessions) {
    this.#options = { ...DEFAULTS, ...withoutUndefined(options) };
    this.#platform = new Platform(this.#options, sessions ?? new Sessions(this.#options));
    this.server = createServer(
      (incoming, response) => void this.#receive(incoming, response),
    );
    // A client may disconnect at any time.
    this.server.on("connection", (socket) => socket.on("error", () => undefined));
  }

  /** Starts to listen, on 127.0.0.1 only. */
  async listen() {
    this.server.listen(this.#options.port, "127.0.0.1");
    await once(this.server, "listening");
    return this;
  }

  get email() {
    return this.#options.email;
  }

  get password() {
    return this.#options.password;
  }

  get port() {
    return (this.server.address() as AddressInfo).port;
  }

  /** The address for `advertising:baseUrl`. */
  get url() {
    return `http://127.0.0.1:${this.port}`;
  }

  /** How many POSTs of advertisers and events arrived, whatever became of them. */
  get creates() {
    return this.advertiserPosts + this.eventPosts;
  }

  get advertisers() {
    return [...this.#platform.objects.advertiser.values()];
  }

  get events() {
    return [...this.#platform.objects.event.values()];
  }

  /** All objects, for the option `objects` of another sandbox. */
  snapshot(): SandboxSnapshot {
    return { advertisers: this.advertisers, events: this.events };
  }

  /**
   * Changes an object, as a person does in the platform's own interface.
   * @param changes by wire names; `null` is the default again, or no value.
   * @returns the changed object. @throws Error if a rule of the platform forbids the change; nothing is changed then.
   */
  edit(noun: Noun, id: number, changes: Values) {
    const errors = this.#platform.change(noun, this.find(noun, id), changes);
    if (errors.length > 0)
      throw new Error(`${noun} ${id} was not changed: ${errors.join("; ")}`);
    return this.find(noun, id);
  }

  /** Deletes an object, as a person does in the platform's own interface. @throws Error if it doesn't exist. */
  delete(noun: Noun, id: number) {
    this.#platform.objects[noun].delete(this.find(noun, id).id);
  }

  /** @throws Error if the object doesn't exist. */
  find(noun: Noun, id: number) {
    const object = this.#platform.objects[noun].get(id);
    if (object) return object;
    throw new Error(`there is no ${noun} ${id}`);
  }

  /** Makes requests fail. Of several rules for a request, the first decides. */
  fail(rule: FaultRule) {
    const fault = new ArmedFault(rule);
    this.#faults.push(fault);
    return fault;
  }

  /** Ends all faults. */
  endFaults() {
    this.#faults = [];
  }

  /** Ends every session, long-lived ones too: the next request has to log in. */
  expireSessions() {
    this.#platform.sessions.endAll();
  }

  /** Stops listening and ends all connections. */
  async close() {
    await new Promise<void>((resolve) => {
      this.server.close(() => resolve());
      this.server.closeAllConnections();
    });
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse) {
    const { method = "", url = "", headers } = incoming;
    const route = routeOf(method, url, this.#options.operations);
    const { operation } = route;
    const request: SandboxRequest = {
      method,
      path: url,
      headers,
      operation,
      body: undefined,
      status: 0,
      created: undefined,
    };
    this.requests.push(request);
    if (operation) this[COUNTERS[operation]]++;
    const fault = operation && this.#faults.find((each) => each.takes(operation));
    const body = await text(incoming).catch(() => undefined);
    // The client disconnected before it had sent everything.
    if (body === undefined) return;
    request.body = jsonIn(body) ?? body;
    const { latencyMs } = this.#options;
    if (operation && latencyMs > 0) await sleep(latencyMs);

    let answer: SandboxAnswer | undefined = success({});
    if (!fault || fault.rule.act)
      answer = this.#options.answer(
        this.#platform.handle(route, request),
        request,
        response,
      );
    if (fault) answer &&= fault.answer(answer, request, response);
    request.status = answer?.status ?? 0;
    // Without the query, which may contain credentials, and all of the body but the name.
    const shownPath = excerpt(printable(url.replace(/\?.*/s, "?…")), 80);
    // Logged before the answer is sent, so that a client that has the answer finds the line.
    let line = `${method} ${shownPath} ${request.status || "no response"}`;
    if (request.created) line += `, ${objectName(operation as Noun, request.created)}`;
    this.#options.log(line);
    if (!answer) return;
    response.writeHead(answer.status, answer.headers);
    response.end(answer.body);
  }
}

/** A fault's rule, and the number of requests that it has hit. */
class ArmedFault {
  hits = 0;
  #passed = 0;

  constructor(readonly rule: FaultRule) {}

  /** Counts a request. @returns whether the fault hits it. */
  takes(operation: SandboxOperation) {
    const { on, times = 1, after = 0 } = this.rule;
    const meant = on === "create" ? NOUNS : [on];
    const isMeant = on === "any" || meant.some((each) => each === operation);
    if (!isMeant || this.hits >= times || this.#passed++ < after) return false;
    this.hits++;
    return true;
  }

  /** Sends the fault instead of the answer. */
  readonly answer: SandboxAnswerer = (answer, request, response) => {
    const fault = this.rule.with;
    if (typeof fault === "function") return fault(answer, request, response);
    if (fault.kind === "answer") {
      const { status, headers = {}, body = "" } = fault;
      const isText = typeof body === "string" || Buffer.isBuffer(body);
      return { status, headers, body: isText ? body : JSON.stringify(body) };
    }
    if (fault.kind === "close-without-answer") response.socket?.end();
    if (fault.kind === "reset") response.socket?.resetAndDestroy();
    return undefined;
  };
}

/** `event 3 "Purchase"` */
export function objectName(noun: Noun, object: SandboxObject) {
  return `${noun} ${object.id} ${quoted(String(object[`${noun}_name`]))}`;
}
