/** Sandboxes whose answers have the forms that were seen at services of this kind; the platform promises none of them. */
import { gzipSync } from "node:zlib";
import { onTestFinished } from "vitest";
import { withoutUndefined } from "../../provider/src/base/index.js";
import type {
  Fault,
  SandboxAnswer,
  SandboxObject,
  SandboxOptions,
  SandboxRequest,
} from "../../provider/src/sandbox/index.js";
import { DEFAULTS } from "../../provider/src/sandbox/options.js";
import { Sandbox } from "../../provider/src/sandbox/server.js";
import { Sessions } from "../../provider/src/sandbox/sessions.js";

/** The place and the form of the id in a success. */
export type CreatedForm =
  | "payload"
  | "top-level-id"
  | "bare-201"
  | "own-name"
  | "nested-own-name"
  | "list"
  | "text-ids"
  | "warning"
  | "success-text";

/** How a request's content is refused. */
export const REFUSAL_FORMS = [
  "success-false-200",
  "406-errors",
  "406-payload-lists",
  "400-by-field-nested",
  "detail",
  "plain-text",
  "403-permission",
  "401-body",
  "inner-success-false",
] as const;
export type RefusalForm = (typeof REFUSAL_FORMS)[number];

/** How an ended session is refused. */
export const SESSION_REFUSALS = [
  "401",
  "403",
  "redirect",
  "login-page",
  "success-false",
] as const;
export type SessionRefusal = (typeof SESSION_REFUSALS)[number];

/** The place of the object in the answer to a read. */
export type RecordForm = "object" | "payload" | "payload-list" | "list" | "own-name";

/** How an object that isn't there is answered. */
export type GoneForm =
  | "404"
  | "404-bare"
  | "410"
  | "empty-list"
  | "empty-payload"
  | "could-not-load";

export type LoginForm = "success-true" | "success-text-true" | "payload-text";

/** The forms of answers. Undefined: the sandbox's own. */
export interface AnswerForms {
  readonly createdForm?: CreatedForm;
  readonly refusalForm?: RefusalForm;
  readonly loginForm?: LoginForm;
  readonly recordForm?: RecordForm;
  /**
   * Whether a read object's values are texts: numbers as `"100.00"`, booleans as `"1"` and `0`, `null` for fields that
   * were not given, the id under `<noun>_id`, and unknown fields besides.
   */
  readonly hasTextValues?: boolean;
  readonly goneForm?: GoneForm;
  readonly sessionRefusal?: SessionRefusal;
  readonly gzip?: boolean;
}

interface SessionForms {
  /** A session ends after this many requests. @default unlimited */
  readonly sessionRequests?: number;
  /** Whether each answer changes the long-lived cookie as well, and old ones are refused. @default false */
  readonly isSingleUse?: boolean;
  /** The session cookie is named `<instanceKey>_service_cookie`. @default "sandbox" */
  readonly instanceKey?: string;
  /** @default Date.now */
  readonly clock?: () => number;
  /** The time in `Date` of each answer, in milliseconds since 1970; undefined leaves the header out. @default clock */
  readonly date?: () => number | undefined;
}

export interface InstallationOptions
  extends Omit<SandboxOptions, "answer">,
    AnswerForms,
    SessionForms {
  /** Whether an advertiser is active without `active: true` in its request. @default true */
  readonly advertisersStartActive?: boolean;
}

export function startInstallation(options: InstallationOptions = {}): Promise<Sandbox> {
  const { advertisersStartActive = true } = options;
  const sandbox = new Sandbox(
    {
      ...options,
      answer: (answer, request) => {
        const { operation, created, body } = request;
        const isActive =
          advertisersStartActive || (body as { active?: unknown }).active === true;
        if (operation === "advertiser" && created !== undefined && !isActive)
          sandbox.edit("advertiser", created.id, { active: false });
        return inForm(options, answer, request);
      },
    },
    new InstallationSessions(options),
  );
  const { date = options.clock } = options;
  if (date !== undefined) setDates(sandbox, date);
  return sandbox.listen();
}

function setDates({ server }: Sandbox, date: () => number | undefined): void {
  server.prependListener("request", (_, response) => {
    response.sendDate = false;
    const ms = date();
    if (ms !== undefined) response.setHeader("date", new Date(ms).toUTCString());
  });
}

class InstallationSessions extends Sessions {
  readonly #forms: SessionForms;
  #requestsLeft = 0;

  constructor(options: InstallationOptions) {
    super({ ...DEFAULTS, ...withoutUndefined(options) });
    this.#forms = options;
    if (options.clock !== undefined) this.now = options.clock;
  }

  override open(isLongLived: boolean): string[] {
    const { instanceKey = "sandbox", sessionRequests = Number.POSITIVE_INFINITY } =
      this.#forms;
    this.#requestsLeft = sessionRequests;
    return super
      .open(isLongLived)
      .map((cookie) => cookie.replace(/^sandbox(?=_)/, instanceKey));
  }

  override admit(cookieHeader = ""): string[] | undefined {
    const { instanceKey = "sandbox" } = this.#forms;
    const cookies = super.admit(cookieHeader.replaceAll(`${instanceKey}_`, "sandbox_"));
    if (cookies?.length === 0 && --this.#requestsLeft === 0) this.endAll();
    return cookies;
  }

  protected override rotate(login: string): string[] {
    if (!this.#forms.isSingleUse) return super.rotate(login);
    this.logins.delete(login);
    this.endsAtMs.clear();
    return this.open(true);
  }
}

/** Resets requests and counts, but keeps the objects. */
export function resetCounts(sandbox: Sandbox): void {
  sandbox.requests.length = 0;
  const creates = { advertiserPosts: 0, eventPosts: 0 };
  Object.assign(sandbox, {
    logins: 0,
    ...creates,
    reads: 0,
    updates: 0,
    deletes: 0,
    searches: 0,
  });
}

/** Counts the sandbox's connections from now on. @returns a function that returns the most that were open at once. */
export function countConnections({ server }: Sandbox): () => number {
  let open = 0;
  let most = 0;
  server.on("connection", (socket) => {
    open++;
    most = Math.max(most, open);
    socket.once("close", () => open--);
  });
  return () => most;
}

/** An installation that ends with the test. */
export async function useSandbox(options: InstallationOptions = {}): Promise<Sandbox> {
  const sandbox = await startInstallation(options);
  onTestFinished(() => sandbox.close());
  return sandbox;
}

const JSON_TYPE = { "content-type": "application/json" };

/** An answer with this body. */
export function jsonAnswer(body: unknown, status = 200): SandboxAnswer {
  return { status, headers: JSON_TYPE, body: JSON.stringify(body) };
}

/** The refusal of an ended session, as a fault. */
export function sessionRefusal(way: SessionRefusal): Fault {
  return { kind: "answer", ...refuseSession(way) };
}

function inForm(
  forms: AnswerForms,
  answer: SandboxAnswer,
  request: SandboxRequest,
): SandboxAnswer {
  const changed = { ...answer, ...change(forms, answer, request) };
  if (!forms.gzip) return changed;
  return {
    ...changed,
    headers: { ...changed.headers, "content-encoding": "gzip" },
    body: gzipSync(changed.body),
  };
}

/** @returns what is different. */
function change(
  forms: AnswerForms,
  answer: SandboxAnswer,
  request: SandboxRequest,
): Partial<SandboxAnswer> {
  const { operation, created } = request;
  const body = JSON.parse(String(answer.body));
  if (operation === "authenticate") return logIn(forms.loginForm, answer, body);
  if (answer.status === 401) return refuseSession(forms.sessionRefusal ?? "401");
  if (created !== undefined) return create(forms.createdForm, request, body, created);
  const [, noun = "", id = ""] =
    /\/rest\/(advertiser|event)(?:\/(\d+))?/.exec(request.path) ?? [];
  if (answer.status === 406) return refuse(forms.refusalForm, noun, body.errors);
  if (answer.status === 404 && id !== "") return gone(forms.goneForm, noun, id);
  if (operation === "read") return readObject(forms, noun, body.payload);
  if (operation === "search") return listObjects(forms, noun, body.payload);
  return {};
}

function changed(body: unknown, status = 200): Partial<SandboxAnswer> {
  return { status, body: JSON.stringify(body) };
}

function logIn(
  form: LoginForm | undefined,
  { status }: SandboxAnswer,
  body: { readonly message: string },
): Partial<SandboxAnswer> {
  if (status !== 200) return {};
  if (form === "payload-text") return changed({ payload: body.message });
  if (form === "success-text-true") return changed({ ...body, success: "true" });
  return {};
}

function create(
  form: CreatedForm = "payload",
  { operation: noun }: SandboxRequest,
  body: { readonly message: string; readonly errors?: readonly string[] },
  object: SandboxObject,
): Partial<SandboxAnswer> {
  const { id } = object;
  const { message, errors = [] } = body;
  switch (form) {
    case "payload":
      return {};
    case "warning":
      return changed({ ...body, errors: ["WARNING: a field was dropped", ...errors] });
    case "top-level-id":
      return changed({ ...body, payload: message, id });
    case "bare-201":
      return changed(object, 201);
    case "own-name":
      return changed({ ...body, payload: { [`${noun}_id`]: id } });
    case "nested-own-name":
      return changed({ ...body, payload: undefined, [String(noun)]: { id } });
    case "list":
      return changed([{ id }]);
    case "text-ids":
      return changed({ ...body, payload: { id: String(id) } });
    case "success-text":
      return changed({ ...body, success: "true" });
  }
}

/** @param errors `<field> <reason>`. */
function refuse(
  form: RefusalForm = "406-errors",
  noun: string,
  errors: readonly string[],
): Partial<SandboxAnswer> {
  const message = errors.join("; ");
  switch (form) {
    case "406-errors":
      return {};
    case "success-false-200":
      return changed({ success: false, message });
    case "403-permission":
      return changed({ success: false, message: `you may not do this: ${message}` }, 403);
    case "401-body":
      return changed({ success: false, errors }, 401);
    case "406-payload-lists":
      return changed({ success: false, payload: { errors } }, 406);
    case "400-by-field-nested": {
      const byField = errors.map((error) => {
        const [field = "", ...reason] = error.split(" ");
        return [field, [reason.join(" ")]];
      });
      return changed(
        { success: false, errors: { [noun]: Object.fromEntries(byField) } },
        400,
      );
    }
    case "detail":
      return changed({ success: false, detail: message }, 422);
    case "plain-text":
      return { status: 400, headers: { "content-type": "text/plain" }, body: message };
    case "inner-success-false":
      return changed({
        success: true,
        payload: { success: false, error_code: "E_FIELD", message },
      });
  }
}

const LOGIN_PAGE =
  '<!doctype html><html><title>Log in</title><form><input name="email"><input type="password"></form></html>';

function refuseSession(way: SessionRefusal): SandboxAnswer {
  switch (way) {
    case "401":
      return jsonAnswer(
        { success: false, message: "Your session has expired. Please log in." },
        401,
      );
    case "403":
      return jsonAnswer({ success: false, message: "Forbidden" }, 403);
    case "redirect":
      return { status: 302, headers: { location: "/login" }, body: "" };
    case "login-page":
      return { status: 200, headers: { "content-type": "text/html" }, body: LOGIN_PAGE };
    case "success-false":
      return jsonAnswer({ success: false, message: "You are not logged in" });
  }
}

function gone(form: GoneForm = "404", noun: string, id: string): Partial<SandboxAnswer> {
  switch (form) {
    case "404":
      return {};
    case "404-bare":
      return { headers: {}, body: "" };
    case "410":
      return changed({ success: false, message: `${noun} ${id} is gone` }, 410);
    case "empty-list":
      return changed([]);
    case "empty-payload":
      return changed({ success: true, payload: [] });
    case "could-not-load":
      return changed({ success: false, message: `Could not load ${noun} with ID = ${id}` });
  }
}

function readObject(
  forms: AnswerForms,
  noun: string,
  object: SandboxObject,
): Partial<SandboxAnswer> {
  const record = recordOf(forms, noun, object);
  switch (forms.recordForm) {
    case "object":
      return changed(record);
    case "payload-list":
      return changed({ success: true, payload: [record] });
    case "list":
      return changed([record]);
    case "own-name":
      return changed({ success: true, [noun]: record });
    default:
      return changed({ success: true, payload: record });
  }
}

function listObjects(
  forms: AnswerForms,
  noun: string,
  objects: readonly SandboxObject[],
): Partial<SandboxAnswer> {
  const records = objects.map((object) => recordOf(forms, noun, object));
  if (forms.recordForm === "list") return changed(records);
  if (forms.recordForm === "own-name")
    return changed({ success: true, [`${noun}s`]: records });
  return changed({ success: true, payload: records });
}

function recordOf(
  { hasTextValues = false }: AnswerForms,
  noun: string,
  { id, ...fields }: SandboxObject,
): object {
  if (!hasTextValues) return { id, ...fields };
  const texts = Object.entries(fields).map(([name, value]) => [name, asText(value)]);
  return {
    segment_id: null,
    event_type_id: null,
    ...Object.fromEntries(texts),
    [`${noun}_id`]: String(id),
    created_on: "2026-01-01 00:00:00",
    owner: { id: 1, name: "somebody" },
  };
}

function asText(value: unknown): unknown {
  if (value === true) return "1";
  if (value === false) return 0;
  if (typeof value !== "number") return value;
  return Number.isInteger(value) ? `${value}.00` : String(value);
}
