/**
 * What the platform does with a request, as its API page says: logs in, admits, creates, and remembers what it created.
 */
import { type Answer, failure, loginSuccess, refusal, sessionRefused, success } from "./answers.js";
import type { SandboxObject, SandboxOptions, SandboxRequest, SandboxSnapshot, SessionRefusal } from "./options.js";
import { type Handled, type Objects, Records } from "./record-operations.js";
import type { Noun, Route } from "./routes.js";
import { type Judged, judgeAdvertiser, judgeEvent } from "./rules.js";
import { Sessions } from "./sessions.js";

export class Platform implements Objects {
  readonly email: string;
  readonly password: string;
  /** How an ended session is refused. */
  sessionRefusal: SessionRefusal;
  readonly sessions: Sessions;
  readonly advertisers = new Map<number, SandboxObject>();
  readonly events = new Map<number, SandboxObject>();
  /** When what was created here was: it may be found only later. */
  readonly createdMs = new WeakMap<SandboxObject, number>();

  readonly #options: SandboxOptions;
  #nextId: number;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.email = options.email ?? "ops@example.com";
    this.password = options.password ?? "sandbox-password";
    this.sessionRefusal = options.sessionRefusal ?? "401";
    this.sessions = new Sessions({
      instanceKey: options.instanceKey ?? "sandbox",
      sessionSeconds: options.sessionSeconds ?? 900,
      sessionRequests: options.sessionRequests ?? Number.POSITIVE_INFINITY,
      rotation: options.rotation ?? "session",
      maxCookieAge: options.maxCookieAge ?? Number.POSITIVE_INFINITY,
      loginLimit: options.loginLimit ?? { count: 30, windowSeconds: 60 },
      clock: options.clock ?? Date.now,
    });
    this.#nextId = options.firstId ?? 1;
    this.putBack(options.objects ?? {});
  }

  /** All that lives here afterwards. An id that was given is not given again. */
  putBack({ advertisers = [], events = [] }: Partial<SandboxSnapshot>): void {
    this.advertisers.clear();
    this.events.clear();
    for (const object of advertisers) this.advertisers.set(object.id, object);
    for (const object of events) this.events.set(object.id, object);
    this.#nextId = Math.max(this.#nextId, ...[...advertisers, ...events].map(({ id }) => id + 1));
  }

  /** @param route none where the request asks for nothing that there is. */
  handle(route: Route | undefined, request: SandboxRequest): Handled {
    if (route === undefined) return { answer: failure(404, `there is no ${request.method} ${request.path}`) };
    const given =
      typeof request.body === "object" && request.body !== null ? (request.body as Record<string, unknown>) : undefined;
    const needsBody = !["read", "delete", "search"].includes(route.operation);
    if (given === undefined && needsBody) return { answer: failure(400, "the body is no JSON object") };
    const body = given ?? {};
    if (route.operation === "authenticate") return { answer: this.#logIn(body) };

    const cookies = this.#admit(request);
    if (cookies === undefined) return { answer: sessionRefused(this.sessionRefusal) };
    const handled =
      "strict" in route
        ? this.#create(route.operation, body, route.strict)
        : new Records(this.#options, this).carryOut(route, body);
    if (cookies.length === 0) return handled;
    return { ...handled, answer: { ...handled.answer, headers: { ...handled.answer.headers, "set-cookie": cookies } } };
  }

  /** Holds the fields of an object against the platform's rules. */
  judge(noun: Noun, body: Readonly<Record<string, unknown>>): Judged {
    return noun === "advertiser"
      ? judgeAdvertiser(body)
      : judgeEvent(body, this.#options.maxWindowSeconds ?? 2_592_000, this.advertisers);
  }

  objectsOf(noun: Noun): Map<number, SandboxObject> {
    return noun === "advertiser" ? this.advertisers : this.events;
  }

  #logIn(body: Readonly<Record<string, unknown>>): Answer {
    if (this.#options.authMode === "basic") return failure(404, "this installation takes Basic credentials");
    const seconds = this.sessions.limited();
    if (seconds !== undefined) return failure(429, "too many logins", { "retry-after": String(seconds) });
    if (body.email !== this.email || body.password !== this.password) {
      return failure(401, "the e-mail or the password is wrong");
    }
    return loginSuccess(this.#options.loginShape ?? "success-true", this.sessions.open(body.keep_logged_in === true));
  }

  /** The cookies of the answer, or none where the request is not let in. */
  #admit(request: SandboxRequest): string[] | undefined {
    const mode = this.#options.authMode ?? "session";
    const expected = `Basic ${Buffer.from(`${this.email}:${this.password}`).toString("base64")}`;
    if (mode !== "session" && request.headers.authorization === expected) return [];
    return mode === "basic" ? undefined : this.sessions.admit(request.headers.cookie as string | undefined);
  }

  #create(noun: Noun, body: Readonly<Record<string, unknown>>, strict: boolean): Handled {
    const options = this.#options;
    const judged = this.judge(noun, body);
    const nameField = `${noun}_name`;
    const objects = this.objectsOf(noun);
    const faults = [...judged.faults];
    if (strict || options.unknownFields === "refuse") {
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
    this.createdMs.set(object, (options.clock ?? Date.now)());
    const warnings =
      options.unknownFields === "ignore" ? [] : judged.unknown.map((field) => `unknown field ${field} was dropped`);
    return { created: object, answer: success(options.answerShape ?? "payload", noun, object, warnings) };
  }
}
