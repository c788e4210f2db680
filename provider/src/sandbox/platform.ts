/**
 * What the platform does with a request, as its API page says: logs in, admits, creates, and remembers what it created.
 */
import { type Answer, failure, loginSuccess, refusal, success } from "./answers.js";
import type { Noun, SandboxObject, SandboxOptions, SandboxRequest, SandboxSnapshot } from "./options.js";
import { carryOutOptional, change, type Handled, type Objects } from "./records.js";
import type { Route } from "./routes.js";
import { type CheckedFields, checkAdvertiser, checkEvent, type FieldFault } from "./rules.js";
import { Sessions } from "./sessions.js";

const NOT_KNOWN = "is not a known field";

export class Platform implements Objects {
  readonly email: string;
  readonly password: string;
  readonly sessions: Sessions;
  readonly advertisers = new Map<number, SandboxObject>();
  readonly events = new Map<number, SandboxObject>();
  readonly createdMs = new WeakMap<SandboxObject, number>();

  readonly #options: SandboxOptions;
  #nextId: number;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.email = options.email ?? "ops@example.com";
    this.password = options.password ?? "sandbox-password";
    this.sessions = new Sessions(options);
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

  /** @param route none if the request asks for nothing there is. @returns nothing where it comes without a session. */
  handle(route: Route | undefined, request: SandboxRequest): Handled | undefined {
    if (route === undefined) return { answer: failure(404, `there is no ${request.method} ${request.path}`) };
    const given =
      typeof request.body === "object" && request.body !== null ? (request.body as Record<string, unknown>) : undefined;
    const needsBody = !["read", "delete", "search"].includes(route.operation);
    if (given === undefined && needsBody) return { answer: failure(400, "the body is no JSON object") };
    const body = given ?? {};
    if (route.operation === "authenticate") return { answer: this.#logIn(body) };

    const cookies = this.#admit(request);
    if (cookies === undefined) return undefined;
    const handled =
      "strict" in route
        ? this.#create(route.operation, body, route.strict)
        : carryOutOptional(this.#options, this, route, body);
    if (cookies.length === 0) return handled;
    return { ...handled, answer: { ...handled.answer, headers: { ...handled.answer.headers, "set-cookie": cookies } } };
  }

  checkFields(noun: Noun, body: Readonly<Record<string, unknown>>): CheckedFields {
    const { maxWindowSeconds = 2_592_000 } = this.#options;
    const check: Readonly<Record<Noun, () => CheckedFields>> = {
      advertiser: () => checkAdvertiser(body),
      event: () => checkEvent(body, maxWindowSeconds, this.advertisers),
    };
    return check[noun]();
  }

  /** @returns what does not fit; nothing is changed then. */
  edit(noun: Noun, object: SandboxObject, fields: Readonly<Record<string, unknown>>): readonly FieldFault[] {
    const unknown = this.checkFields(noun, fields).unknown.filter(
      (field) => field === "id" || !Object.hasOwn(object, field),
    );
    if (unknown.length > 0) return unknown.map((field) => ({ field, sentence: NOT_KNOWN }));
    return change(this, noun, object, fields);
  }

  objectsOf(noun: Noun): Map<number, SandboxObject> {
    const objects: Readonly<Record<Noun, Map<number, SandboxObject>>> = {
      advertiser: this.advertisers,
      event: this.events,
    };
    return objects[noun];
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
    const { unknownFields = "warn", advertisersStartActive = true, clock = Date.now, ...options } = this.#options;
    const checked = this.checkFields(noun, body);
    const isRefusing = strict || unknownFields === "refuse";
    const surplus = checked.unknown.map((field) => ({ field, sentence: NOT_KNOWN }));
    const faults = isRefusing ? [...checked.faults, ...surplus] : checked.faults;
    if (faults.length > 0) return { answer: refusal(options.refusalShape ?? "406-errors", noun, faults) };

    const isKeeping = unknownFields === "ignore";
    const kept = isKeeping ? Object.fromEntries(checked.unknown.map((field) => [field, body[field]])) : {};
    const activity = noun === "advertiser" ? { active: advertisersStartActive } : {};
    const object: SandboxObject = { ...activity, ...kept, ...checked.fields, id: this.#nextId++ };
    this.objectsOf(noun).set(object.id, object);
    this.createdMs.set(object, clock());
    const warnings = isKeeping ? [] : checked.unknown.map((field) => `unknown field ${field} was dropped`);
    return { created: object, answer: success(options.answerShape ?? "payload", noun, object, warnings) };
  }
}
