/** What the platform does with a request: logs in, creates, and where it can, reads, updates, deletes and searches. */
import { failure, json, sessionRefused, success } from "./answers.js";
import {
  type AllOptions,
  NOUNS,
  type Noun,
  type SandboxAnswer,
  type SandboxObject,
  type SandboxRequest,
  type SandboxSnapshot,
} from "./options.js";
import type { Route } from "./routes.js";
import { type CheckedFields, checkFields, type FieldFault } from "./rules.js";
import { Sessions } from "./sessions.js";

type Fields = Readonly<Record<string, unknown>>;

/** The most objects in the answer to a search. */
const PAGE = 25;

export class Platform {
  readonly sessions: Sessions;
  readonly advertisers = new Map<number, SandboxObject>();
  readonly events = new Map<number, SandboxObject>();
  readonly #options: AllOptions;
  #nextId: number;

  constructor(options: AllOptions) {
    this.#options = options;
    this.sessions = new Sessions(options);
    this.#nextId = options.firstId;
    this.replaceObjects(options.objects);
  }

  /** The ids of these objects are never given again. */
  replaceObjects({ advertisers = [], events = [] }: Partial<SandboxSnapshot>): void {
    this.advertisers.clear();
    this.events.clear();
    for (const object of advertisers) this.#keep("advertiser", object);
    for (const object of events) this.#keep("event", object);
  }

  handle(route: Route | undefined, request: SandboxRequest): SandboxAnswer {
    if (route === undefined)
      return failure(404, `there is no ${request.method} ${request.path}`);
    const needsBody = ["authenticate", ...NOUNS, "update"].includes(route.operation);
    if (needsBody && typeof request.body !== "object")
      return failure(400, "the body is no JSON object");
    const body = request.body as Fields;
    if (route.operation === "authenticate") return this.#logIn(body);

    const cookies = this.#admit(request);
    if (cookies === undefined) return sessionRefused();
    const answer = this.#carryOut(route, request, body);
    if (cookies.length === 0) return answer;
    return { ...answer, headers: { ...answer.headers, "set-cookie": cookies } };
  }

  objectsOf(noun: Noun): Map<number, SandboxObject> {
    return noun === "advertiser" ? this.advertisers : this.events;
  }

  #keep(noun: Noun, object: SandboxObject): void {
    this.objectsOf(noun).set(object.id, object);
    this.#nextId = Math.max(this.#nextId, object.id + 1);
  }

  #logIn({ email, password, keep_logged_in }: Fields): SandboxAnswer {
    const expected = this.#options;
    const isKnown = email === expected.email && password === expected.password;
    if (expected.authMode === "basic") return failure(404, "log in by Basic credentials here");
    if (this.sessions.countLogin())
      return failure(429, "too many logins", { "retry-after": "60" });
    if (!isKnown) return failure(401, "the e-mail or the password is wrong");
    const message = "Authentication successful: the session cookie was set";
    return success({ message }, { "set-cookie": this.sessions.open(keep_logged_in === true) });
  }

  /** @returns the cookies for the answer; `undefined` without good credentials. */
  #admit({ headers }: SandboxRequest): string[] | undefined {
    const { authMode, email, password } = this.#options;
    const credentials = Buffer.from(`${email}:${password}`).toString("base64");
    const isBasic = headers.authorization === `Basic ${credentials}`;
    if (authMode !== "session" && isBasic) return [];
    if (authMode === "basic") return undefined;
    return this.sessions.admit(headers.cookie as string | undefined);
  }

  #carryOut(route: Route, request: SandboxRequest, body: Fields): SandboxAnswer {
    const { operation, noun, id, filters } = route;
    if (operation === noun) return this.#create(route, request, body);
    const objects = this.objectsOf(noun);
    if (operation === "search") {
      const found = [...objects.values()].filter((object) => matches(object, filters));
      return success({ payload: found.slice(0, PAGE) });
    }
    const object = objects.get(id);
    if (object === undefined) return failure(404, `${noun} ${id} was not found`);
    if (operation === "read") return success({ payload: object });
    if (operation === "delete") objects.delete(id);
    else {
      const faults = this.change(noun, object, body);
      if (faults.length > 0) return refusedFields(faults);
    }
    return success({ message: `${noun} ${operation}d with ID = ${id}`, payload: { id } });
  }

  #check(noun: Noun, body: Fields): CheckedFields {
    const checked = checkFields(noun, body, this.advertisers);
    if (!this.#options.keepsUnknownFields) return checked;
    const kept = checked.unknown.map((field) => [field, body[field]]);
    return { ...checked, fields: { ...Object.fromEntries(kept), ...checked.fields } };
  }

  #create({ noun, isStrict }: Route, request: SandboxRequest, body: Fields): SandboxAnswer {
    const { keepsUnknownFields, advertisersStartActive } = this.#options;
    const { fields, faults, unknown } = this.#check(noun, body);
    if (faults.length > 0) return refusedFields(faults);
    const reason = "is not a known field";
    if (isStrict && unknown.length > 0)
      return refusedFields(unknown.map((field) => ({ field, reason })));

    const id = this.#nextId;
    const activity = noun === "advertiser" ? { active: advertisersStartActive } : {};
    const object = { ...activity, ...fields, id };
    this.#keep(noun, object);
    request.created = object;
    const result = { message: `${noun} created with ID = ${id}`, payload: { id } };
    if (keepsUnknownFields || unknown.length === 0) return success(result);
    const errors = unknown.map((field) => `WARNING: unknown field ${field} was dropped`);
    return success({ ...result, errors });
  }

  /** @returns why nothing was changed. */
  change(noun: Noun, { id, ...before }: SandboxObject, changes: Fields): readonly FieldFault[] {
    const { faults, fields } = this.#check(noun, { ...before, ...changes });
    if (faults.length === 0) this.#keep(noun, { ...fields, id });
    return faults;
  }
}

function refusedFields(faults: readonly FieldFault[]): SandboxAnswer {
  const errors = faults.map(({ field, reason }) => `${field} ${reason}`);
  return json(406, { success: false, errors });
}

/** Each filter is a part of a field's text, as in a person's search. */
function matches(object: SandboxObject, filters: URLSearchParams): boolean {
  return [...filters].every(([field, text]) => {
    const value = String(object[field] ?? "");
    return value.toLowerCase().includes(text.toLowerCase());
  });
}
