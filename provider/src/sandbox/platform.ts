/**
 * Carries out requests as the platform does: logs in, creates, and, with `operations`, reads, updates, deletes and
 * searches. The rules for a request's body are those of the platform's API documentation: fields, types, defaults.
 */
import { z } from "zod";
import { asRecord, pick, type Values } from "../base/index.js";
import {
  type AllOptions,
  NOUNS,
  type Noun,
  type SandboxAnswer,
  type SandboxObject,
  type SandboxOperation,
  type SandboxRequest,
} from "./options.js";
import type { Sessions } from "./sessions.js";

/** The operation that a request asks for, and its object. */
interface Route {
  /** `undefined` for anything that the platform doesn't serve. */
  operation: SandboxOperation | undefined;
  /** The object's kind; undefined for a login. */
  noun: Noun | undefined;
  /** The object's id in a read, an update or a delete. */
  id: number;
  /** The text that each field must contain, in a search. */
  filters: URLSearchParams;
}

/** Paths such as `/rest/event`, `/rest/event/strict` and `/rest/event/5`, below any prefix. */
const OBJECTS = /\/rest\/(?<noun>advertiser|event)(\/(strict|(?<id>\d+)))?$/;

const KNOWN_OPERATIONS = new Map<string, SandboxOperation>([
  ["GET one", "read"],
  ["PUT one", "update"],
  ["PATCH one", "update"],
  ["DELETE one", "delete"],
  ["GET all", "search"],
]);

export function routeOf(method: string, url: string, hasOperations: boolean): Route {
  const [path = "", query] = url.split("?");
  const { noun, id }: { noun?: Noun; id?: string } = OBJECTS.exec(path)?.groups ?? {};
  let operation: SandboxOperation | undefined;
  if (method === "POST" && !id) operation = noun;
  else if (hasOperations && noun)
    operation = KNOWN_OPERATIONS.get(`${method} ${id ? "one" : "all"}`);
  // Below any prefix: the path of a 2.0 login isn't documented.
  if (method === "POST" && path.endsWith("/authenticate")) operation = "authenticate";
  return { operation, noun, id: Number(id), filters: new URLSearchParams(query) };
}

const MAX_WINDOW_SECONDS = 2_592_000;
const windowSeconds = z.int().min(1).max(MAX_WINDOW_SECONDS).default(MAX_WINDOW_SECONDS);
const wholeFromZero = z.int().min(0).optional();

export const FIELDS: Readonly<Record<Noun, z.ZodObject>> = {
  advertiser: z.looseObject({ advertiser_name: z.string().min(1) }),
  event: z.looseObject({
    event_name: z
      .string()
      .min(1)
      .refine((name) => [...name].length < 100, "must have fewer than 100 characters"),
    advertiser_id: z.int(),
    value: z.number(),
    event_type_id: wholeFromZero,
    segment_id: wholeFromZero,
    count_unique: z.boolean().default(false),
    click_window: windowSeconds,
    view_window: windowSeconds,
    attribution: z.enum(["ALL", "WHITELIST"]).default("ALL"),
  }),
};

/**
 * Unknown fields are kept. @param advertisers by id: an event needs an active one.
 * @returns the fields with defaults, and the errors, each of which begins with its field's name.
 */
export function checkFields(
  noun: Noun,
  body: Values,
  advertisers: ReadonlyMap<number, SandboxObject>,
) {
  // `null` in a known field means its default.
  const present = pick(
    body,
    (field, value) => value !== null || !Object.hasOwn(FIELDS[noun].shape, field),
  );
  const { data: fields = {}, error } = FIELDS[noun].safeParse(present);
  const errors = (error?.issues ?? []).map(
    ({ path, message }) => `${String(path[0])} ${message}`,
  );
  const { advertiser_id: id } = fields;
  const { active = true } = advertisers.get(Number(id)) ?? { active: false };
  if (noun === "event" && !error && active === false)
    errors.push(`advertiser_id advertiser ${id} is not active, or not there`);
  return { fields, errors };
}

export class Platform {
  readonly objects = {
    advertiser: new Map<number, SandboxObject>(),
    event: new Map<number, SandboxObject>(),
  };
  /** Of each account, as `EMAIL:PASSWORD`. */
  readonly #credentials;
  #nextId = 1;

  constructor(
    private readonly options: AllOptions,
    readonly sessions: Sessions,
  ) {
    const { email, password, accounts } = options;
    this.#credentials = new Set([`${email}:${password}`, ...accounts]);
    for (const noun of NOUNS)
      for (const object of options.objects[`${noun}s`] ?? []) this.#keep(noun, object);
  }

  handle(route: Route, request: SandboxRequest) {
    const body = asRecord(request.body);
    const { operation, noun } = route;
    if (operation === "authenticate") return this.#logIn(body);
    if (!operation || !noun)
      return failure(404, `there is no ${request.method} ${request.path}`);
    const cookies = this.#admit(request);
    if (!cookies) return failure(401, "Your session has expired. Please log in.");
    const answer =
      operation === noun
        ? this.#create(noun, request, body)
        : this.#carryOut(noun, route, body);
    if (cookies.length === 0) return answer;
    return { ...answer, headers: { ...answer.headers, "set-cookie": cookies } };
  }

  /** @returns the errors, in which case nothing was changed. */
  change(noun: Noun, { id, ...before }: SandboxObject, changes: Values) {
    const { errors, fields } = checkFields(
      noun,
      { ...before, ...changes },
      this.objects.advertiser,
    );
    if (errors.length === 0) this.#keep(noun, { ...fields, id });
    return errors;
  }

  #keep(noun: Noun, object: SandboxObject) {
    this.objects[noun].set(object.id, object);
    this.#nextId = Math.max(this.#nextId, object.id + 1);
  }

  #logIn({ email, password, keep_logged_in }: Values) {
    if (this.sessions.countLogin())
      return failure(429, "too many logins", { "retry-after": "60" });
    if (!this.#credentials.has(`${email}:${password}`))
      return failure(401, "the e-mail or the password is wrong");
    return success(
      { message: "Authentication successful: the session cookie was set" },
      { "set-cookie": this.sessions.open(keep_logged_in === true) },
    );
  }

  /** @returns the cookies for the answer; `undefined` without valid credentials. */
  #admit({ headers }: SandboxRequest) {
    const [, basic = ""] = /^Basic (.+)$/.exec(String(headers.authorization)) ?? [];
    const isKnown = this.#credentials.has(Buffer.from(basic, "base64").toString());
    if (this.options.authMode === "basic" && isKnown) return [];
    return this.sessions.admit(headers.cookie as string | undefined);
  }

  #carryOut(noun: Noun, { operation, id, filters }: Route, body: Values) {
    const objects = this.objects[noun];
    if (operation === "search") {
      // A filter matches a part of a field's text, as in a person's search.
      const payload = [...objects.values()].filter((object) =>
        [...filters].every(([field, text]) => String(object[field] ?? "").includes(text)),
      );
      return success({ payload });
    }
    const object = objects.get(id);
    if (!object) return failure(404, `${noun} ${id} was not found`);
    if (operation === "read") return success({ payload: object });
    if (operation === "delete") objects.delete(id);
    else {
      const errors = this.change(noun, object, body);
      if (errors.length > 0) return json(406, { success: false, errors });
    }
    return success({
      message: `${noun} ${operation}d with ID = ${id}`,
      payload: { id },
    });
  }

  #create(noun: Noun, request: SandboxRequest, body: Values) {
    const id = this.#nextId;
    const activity = noun === "advertiser" ? { active: true } : {};
    const errors = this.change(noun, { ...activity, id }, body);
    if (errors.length > 0) return json(406, { success: false, errors });
    request.created = this.objects[noun].get(id);
    return success({ message: `${noun} created with ID = ${id}`, payload: { id } });
  }
}

type Headers = SandboxAnswer["headers"];

export function json(status: number, body: unknown, headers: Headers = {}) {
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

/** A successful answer. @param more members beside `success`. */
export function success(more: object, headers?: Headers) {
  return json(200, { success: true, ...more }, headers);
}

/** A refusal. It has `success`, because some clients look at nothing else. */
function failure(status: number, message: string, headers?: Headers) {
  return json(status, { success: false, message }, headers);
}
