/**
 * A platform in memory, behind the client's transport: the sandbox's rules and answers without a socket. It remembers which create asked
 * for what, breaks requests as configured, and lags behind. Ids of advertisers and of events are the same numbers.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "../../../provider/src/client/client.js";
import {
  type HttpAnswer,
  type HttpRequest,
  type Transport,
  TransportFailure,
} from "../../../provider/src/client/transport.js";
import { type Answer, failure, json, refusal, success } from "../../../provider/src/sandbox/answers.js";
import type { GoneShape, RecordDress, SandboxObject } from "../../../provider/src/sandbox/options.js";
import { type Handled, type Objects, Records } from "../../../provider/src/sandbox/record-operations.js";
import { type Noun, type Operation, type Route, routeOf } from "../../../provider/src/sandbox/routes.js";
import { judgeAdvertiser, judgeEvent } from "../../../provider/src/sandbox/rules.js";
import { time } from "./time.js";

export const FIRST_ID = 5001;

/** What happens to a request instead of its answer. */
export type Break =
  | "lost"
  | "lost unsent"
  | "lost undone"
  | "500"
  | "500 undone"
  | "refused"
  | "html"
  | "202"
  | "202 undone"
  | "207 undone"
  | "odd"
  | "no"
  | "in use"
  | "empty no"
  | "another"
  | "retired"
  | "not allowed"
  | "pixel"
  | "no path"
  | "limited"
  | "limited long";

export interface Fault {
  readonly on: Operation;
  readonly after: number;
  readonly with: Break;
}

export interface Dressing {
  readonly gone: GoneShape;
  readonly dress: RecordDress;
  readonly searchLagSeconds: number;
  readonly readLagSeconds: number;
  /** Whether the users' settings wait only as long as this platform lags. */
  readonly isTight: boolean;
  /** Whether ids are unique over both kinds, as in a sandbox. */
  readonly countsTogether?: boolean;
}

/** An object, and the create that made it. */
export interface Made {
  readonly noun: Noun;
  readonly id: string;
  /** The label of the create's resource or member; absent if another client made it. */
  readonly label: string | undefined;
  readonly atMs: number;
  /** The machine of the run that made it. */
  readonly machine?: number | undefined;
  /** Whether an operation other than create was known, so that the state says when it was created. */
  readonly isDated?: boolean | undefined;
}

/** Kills a run at a request: none of its requests is answered from then on. */
export interface Guard extends Pick<Made, "machine"> {
  /** Whether an operation other than create is known for such objects, so that the state says when they were created. */
  isDated(noun: Noun): boolean;
  readonly isDead: boolean;
  /** Called for each request, before and after it is carried out. */
  request(when: "before" | "after", operation: Operation | undefined): void;
}

const whoAsks = new AsyncLocalStorage<string>();
const createOfClient = Client.prototype.create;
Client.prototype.create = function (this: Client, request) {
  return whoAsks.run(request.label, () => createOfClient.call(this, request));
};

export class MemoryPlatform implements Objects {
  readonly made: Made[] = [];
  readonly createdMs = new WeakMap<SandboxObject, number>();
  /** The objects that the product's DELETEs named, by noun and id, and those that they deleted. */
  readonly asked = new Set<string>();
  readonly deleted = new Set<string>();
  /** By noun and id: the machine whose run sent the last DELETE, and when. */
  readonly deletedBy = new Map<string, { readonly machine: number | undefined; readonly atMs: number }>();
  /** The ids of events that other clients have edited or deleted. */
  readonly meddled = new Set<string>();
  /** How many creates arrived, with any outcome. */
  posts = 0;
  searches = 0;
  deletes = 0;
  updates = 0;
  reads = 0;
  /** Whether a search also lists what was deleted. */
  listsDeleted: () => boolean = () => false;
  readonly #everMade = { advertiser: new Map<number, SandboxObject>(), event: new Map<number, SandboxObject>() };
  readonly #objects = { advertiser: new Map<number, SandboxObject>(), event: new Map<number, SandboxObject>() };
  #next = { advertiser: FIRST_ID, event: FIRST_ID };
  #faults: { rule: Fault; toSkip: number; isDone: boolean }[] = [];
  dressing: Dressing;

  constructor(dressing: Dressing) {
    this.dressing = dressing;
  }

  /** The next free id; none is higher. */
  get nextId(): number {
    return Math.max(...Object.values(this.#next));
  }

  objectsOf(noun: Noun): Map<number, SandboxObject> {
    return this.#objects[noun];
  }

  isLive(noun: Noun, id: string): boolean {
    return this.#objects[noun].has(Number(id));
  }

  judge(noun: Noun, body: Readonly<Record<string, unknown>>) {
    return noun === "advertiser" ? judgeAdvertiser(body) : judgeEvent(body, 2_592_000, this.#objects.advertiser);
  }

  arm(faults: readonly Fault[]): void {
    this.#faults = faults.map((rule) => ({ rule, toSkip: rule.after, isDone: false }));
  }

  /** Another client makes an object. */
  makeForeign(noun: Noun, fields: Readonly<Record<string, unknown>>): string {
    return String(this.#put(noun, this.judge(noun, fields).fields, { label: undefined }).id);
  }

  /** The transport of one run. */
  transport(guard: Guard): Transport {
    return {
      send: async (request) => {
        const answer = await time.clock.during(() => this.#send(request, guard));
        // A killed process waits for ever.
        return answer ?? new Promise<never>(() => undefined);
      },
      close: async () => undefined,
    };
  }

  async #send(request: HttpRequest, guard: Guard): Promise<HttpAnswer | undefined> {
    await Promise.resolve();
    if (guard.isDead) return undefined;
    const path = `${request.url.pathname}${request.url.search}`;
    const route = routeOf(request.method, path, { operations: true });
    const operation = route?.operation;
    const broken = operation === undefined ? undefined : this.#take(operation);
    const isCreate = operation === "advertiser" || operation === "event";
    if (isCreate && broken !== "lost unsent") this.posts++;
    guard.request("before", operation);
    if (guard.isDead) return undefined;
    if (broken === "lost unsent") throw new TransportFailure("ECONNREFUSED", false, "nobody listens");
    const acts = broken === undefined || isCarriedOut(broken);
    const body = request.body === undefined ? {} : (JSON.parse(request.body) as Record<string, unknown>);
    const answer = acts ? this.#handle(route, request.method, body, guard).answer : undefined;
    if (acts && route?.operation === "delete") {
      this.deletedBy.set(`${route.noun} ${route.id}`, { machine: guard.machine, atMs: time.clock.wallMs() });
    }
    // The run did not learn that it is gone.
    if (broken !== undefined && acts && route?.operation === "delete") this.meddled.add(String(route.id));
    guard.request("after", operation);
    if (guard.isDead) return undefined;
    return asHttp(broken === undefined ? (answer as Answer) : brokenAnswer(broken, answer, route));
  }

  #take(operation: Operation): Break | undefined {
    for (const each of this.#faults) {
      if (each.isDone || each.rule.on !== operation) continue;
      // An operation that the installation does not have always answers so in a run.
      if (each.rule.with === "no path") return "no path";
      if (each.toSkip-- > 0) continue;
      each.isDone = true;
      return each.rule.with;
    }
    return undefined;
  }

  #handle(route: Route | undefined, method: string, body: Record<string, unknown>, guard: Guard): Handled {
    if (route === undefined) return { answer: failure(404, `there is no ${method}`) };
    if (route.operation === "authenticate") return { answer: failure(404, "Basic credentials, please") };
    if ("strict" in route) return this.#create(route.operation, body, guard);
    const { gone, dress, searchLagSeconds, readLagSeconds } = this.dressing;
    if (route.operation === "search") this.searches++;
    if (route.operation === "delete") {
      this.deletes++;
      this.asked.add(`${route.noun} ${route.id}`);
    }
    if (route.operation === "update") this.updates++;
    if (route.operation === "read") this.reads++;
    const clock = () => time.clock.wallMs();
    const lagged = route.operation === "read" && this.#isTooNew(route.noun, route.id, readLagSeconds);
    const objects = lagged
      ? { ...this.#asObjects(), objectsOf: () => new Map() }
      : route.operation === "search" && this.listsDeleted()
        ? {
            ...this.#asObjects(),
            objectsOf: (noun: Noun) => new Map([...this.#everMade[noun], ...this.#objects[noun]]),
          }
        : this;
    const handled = new Records({ goneShape: gone, recordDress: dress, searchLagSeconds, clock }, objects).carryOut(
      route,
      body,
    );
    if (route.operation === "delete" && handled.done === true) this.deleted.add(`${route.noun} ${route.id}`);
    if (route.operation === "delete" && handled.done !== true && gone === "could-not-load")
      return { answer: couldNotLoad(route.id) };
    return handled;
  }

  #asObjects(): Objects {
    return {
      createdMs: this.createdMs,
      judge: (noun, body) => this.judge(noun, body),
      objectsOf: (noun) => this.objectsOf(noun),
    };
  }

  #isTooNew(noun: Noun, id: string, lagSeconds: number): boolean {
    const object = this.#objects[noun].get(Number(id));
    const madeMs = object === undefined ? undefined : this.createdMs.get(object);
    return madeMs !== undefined && madeMs + lagSeconds * 1000 > time.clock.wallMs();
  }

  #create(noun: Noun, body: Record<string, unknown>, guard: Guard): Handled {
    const made = { machine: guard.machine, isDated: guard.isDated(noun) };
    const { faults, fields } = this.judge(noun, body);
    if (faults.length > 0) return { answer: refusal("406-errors", noun, faults) };
    const object = this.#put(noun, { ...fields }, { label: whoAsks.getStore(), ...made });
    return { created: object, answer: success("payload", noun, object, []) };
  }

  #put(noun: Noun, fields: Record<string, unknown>, by: Pick<Made, "label" | "machine" | "isDated">): SandboxObject {
    const activity = noun === "advertiser" ? { active: true } : {};
    const object: SandboxObject = { ...activity, ...fields, id: this.#next[noun]++ };
    if (this.dressing.countsTogether) this.#next = { advertiser: object.id + 1, event: object.id + 1 };
    this.#objects[noun].set(object.id, object);
    this.#everMade[noun].set(object.id, object);
    if (by.label !== undefined) this.createdMs.set(object, time.clock.wallMs());
    this.made.push({ noun, id: String(object.id), atMs: time.clock.wallMs(), ...by });
    return object;
  }
}

/** The service's own words. */
function couldNotLoad(id: string): Answer {
  const message = ["there were problems", "with your request", `Could not load object ${id} to delete`];
  return json(406, { success: false, payload: [{ message }] });
}

export const isCarriedOut = (broken: Break) => ["lost", "500", "html", "202", "odd"].includes(broken);

export function brokenAnswer(broken: Break, proper: Answer | undefined, route: Route | undefined): Answer {
  const noun = route !== undefined && "noun" in route ? route.noun : "event";
  const id = route !== undefined && "id" in route ? route.id : "1";
  switch (broken) {
    case "lost":
    case "lost undone":
      throw new TransportFailure("UND_ERR_SOCKET", true, "other side closed");
    case "500":
    case "500 undone":
      return failure(500, "internal error");
    case "refused":
      return json(406, { success: false, errors: ["not now"] });
    case "html":
      return { status: 200, headers: { "content-type": "text/html" }, body: "<html><title>Maintenance</title></html>" };
    case "202":
      return { ...(proper as Answer), status: 202 };
    case "no":
      return json(200, { success: 0, message: "event is in use", payload: { id: 1 } });
    case "202 undone":
      return json(202, { success: true, payload: { id: 7777 } });
    case "207 undone":
      return json(207, { success: true, payload: { id: Number(id) } });
    case "in use":
      return json(200, { success: 0, message: "event is in use" });
    case "empty no":
      return json(200, { success: 0, payload: [] });
    case "another":
      return json(200, { success: true, payload: { id: Number(id) + 1 } });
    case "retired":
      return failure(410, "this version of the API was retired");
    case "not allowed":
      return failure(406, `Could not load ${noun} ${id}: you are not allowed to see it`);
    case "pixel":
      return failure(406, `${noun} can not be deleted: pixel 7 was not found`);
    case "no path":
      return { status: 404, headers: {}, body: "" };
    case "odd":
      return json(200, { success: true, payload: [], warning: "shard 3 is down" });
    default:
      return failure(429, "too many requests", { "retry-after": broken === "limited" ? "3" : "50" });
  }
}

function asHttp({ status, headers, body }: Answer): HttpAnswer {
  const plain = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value)]));
  return { status, headers: plain, setCookies: [], body };
}
