/**
 * Sends the platform's operations, one method for each: it passes the answer to `judgement.ts`, and returns or throws what is known
 * afterwards. A create is never repeated; the others, which only some installations have, may be.
 */
import { OutcomeUnknownError, type Values } from "../base/index.js";
import { addressOf, type Kind, type Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Answer } from "./answer.js";
import {
  type ChangeJudgement,
  type CreateJudgement,
  judgeChange,
  judgeCreate,
  judgeRead,
  judgeSearch,
  provesNotDone,
  type ReadJudgement,
  type Trouble,
  type WireRecord,
  Witness,
} from "./judgement.js";
import { type BeforeSend, Session } from "./session.js";
import type { LetThrough } from "./session-refusal.js";
import type { Surroundings } from "./surroundings.js";
import { type Answered, type Asked, hintsFor, isBeforeSending, refusal, troubled, unanswered } from "./trouble.js";
import { type Reading, saidIn, warningsOf, wordsOf } from "./words.js";

interface CreateRequest extends Required<Pick<Request, "operation" | "fields" | "label">> {
  readonly beforeSend: BeforeSend;
  /** Awaited as soon as the id is known, before anything else that may take time. Must not fail. */
  readonly onCreated: (id: string) => Promise<void>;
}

export interface Created {
  /** The platform's id, exact, as decimal digits. */
  readonly id: string;
  readonly warnings: readonly string[];
}

interface Target {
  readonly kind: Kind;
  readonly operation: Operation;
  readonly id: string;
  readonly label: string;
  readonly ifNotThere?: string | undefined;
}

/** What a caller learns of a request's sendings. */
export interface Sendings {
  readonly beforeSend?: BeforeSend;
  /** Called once all of them are over, if it is proved that none was carried out. */
  readonly onNotDone?: () => void;
}

/** A create whose object is looked for by its mark. */
export interface Wanted extends Omit<Target, "id" | "ifNotThere"> {
  readonly field: string;
  readonly mark: string;
}

interface Request {
  readonly operation: Operation;
  /** Values for the placeholders of the operation's path. */
  readonly values?: Readonly<Record<string, string>>;
  /** The request's fields in wire names; absent for a request without a body. */
  readonly fields?: Values;
  /** The resource, for messages: `ConversionEvent "purchase"`. */
  readonly label: string;
  /** The sentence for a request that was not carried out: `Nothing was created.` */
  readonly otherwise: string;
  readonly ifNotThere?: string | undefined;
  readonly sendings?: Sendings;
}

interface Performed<T> extends Answered {
  readonly judged: T;
  /** ISO 8601. */
  readonly sentAt: string;
}

/** Judges an answer, and does what has to be done before anything else that may take time. */
type Judge<T> = (answer: Answer, session: LetThrough, reading: Reading) => T | Promise<T>;

const NOTHING_CREATED = "Nothing was created.";
const NOTHING_CHANGED = "Nothing was changed.";
const NOTHING_DELETED = "Nothing was deleted.";

export class Client {
  readonly #settings: Settings;
  readonly #credentials: string;
  readonly #session: Session;
  readonly #clean: Reading["clean"];
  /** The addresses of operations without placeholders, made once for thousands of creates. */
  readonly #addresses = new Map<Operation, URL>();
  readonly #witnesses = new Map<string, Witness>();

  constructor(settings: Settings, surroundings: Surroundings) {
    this.#settings = settings;
    this.#credentials = surroundings.credentials;
    this.#session = new Session(settings, surroundings);
    this.#clean = (text) => surroundings.secrets.scrub(text);
  }

  /**
   * Sends one create.
   * @throws {OutcomeUnknownError} if it was sent and its outcome is not known.
   * @throws {AdvertisingError} any other error means that nothing was created.
   */
  async create({ operation, fields, label, beforeSend, onCreated }: CreateRequest): Promise<Created> {
    const performed = await this.#perform<CreateJudgement>(
      { operation, fields, label, sendings: { beforeSend }, otherwise: NOTHING_CREATED },
      async (answer, session, { clean }) => {
        const judged = judgeCreate(answer, operation, clean);
        if (judged.kind === "created") await onCreated(judged.id);
        if (session === "accepted" || judged.kind !== "unknown") return judged;
        // A login page has no id, but it proves that the create got no further than the session.
        return { kind: "refused", why: `the session was refused (${judged.reason})` };
      },
    );
    const { judged, answer, session, what, sentAt, reading } = performed;
    if (judged.kind === "created") return { id: judged.id, warnings: warningsOf(answer, reading) };
    const words = wordsOf(answer, reading);
    if (judged.kind === "unknown") {
      const answered = `${what} was sent at ${sentAt}, and got ${judged.reason}.${saidIn(words)}`;
      throw new OutcomeUnknownError(answered, sentAt);
    }
    const hints = session === "accepted" ? hintsFor(answer, operation, fields) : [];
    const why = judged.why === undefined ? [] : [judged.why];
    throw refusal(performed, [...words, ...why], hints);
  }

  /**
   * Reads an object.
   * @returns none if it certainly does not exist.
   * @throws {AdvertisingError} if nothing is known about it.
   */
  async read({ kind, operation, id, label, ifNotThere }: Target): Promise<WireRecord | undefined> {
    const found = await this.#witnessed({ operation, values: { id }, label, otherwise: "", ifNotThere }, (answer) =>
      judgeRead(answer, kind, id),
    );
    return found?.kind === "found" ? found.record : undefined;
  }

  /**
   * Changes these fields of an object.
   * @returns the platform's warnings beside its success; none if the object certainly does not exist.
   * @throws {AdvertisingError} if it was not changed, or that is not known: it may be sent again.
   */
  async update(
    { kind, operation, id, label, ifNotThere }: Target,
    fields: Values,
    sendings: Sendings = {},
  ): Promise<readonly string[] | undefined> {
    const performed = await this.#perform(
      { operation, values: { id }, fields, label, otherwise: NOTHING_CHANGED, ifNotThere, sendings },
      throughSession((answer) => judgeChange(answer, kind, id, "changed")),
    );
    const { judged, answer, reading } = performed;
    if (judged.kind === "done") return warningsOf(answer, reading);
    const trouble = judged.kind === "gone" ? judged.unlessWitnessed : judged;
    if (trouble === undefined) return undefined;
    throw troubled(trouble, performed);
  }

  /** @returns whether it existed. @throws {AdvertisingError} if it was not deleted, or that is not known. */
  async delete({ kind, operation, id, label }: Target, sendings: Sendings = {}): Promise<boolean> {
    const request = { operation, values: { id }, label, otherwise: NOTHING_DELETED, sendings };
    const done = await this.#witnessed(request, (answer) => judgeChange(answer, kind, id, "deleted"));
    return done !== undefined;
  }

  /**
   * Looks for what a create made.
   * @returns the ids of all objects with its mark; none if the platform says that there are none.
   * @throws {AdvertisingError} if nothing is known.
   */
  async search({ kind, operation, field, mark, label }: Wanted): Promise<readonly string[]> {
    const performed = await this.#perform(
      { operation, values: { mark }, label, otherwise: "" },
      throughSession((answer) => judgeSearch(answer, kind, field, mark)),
    );
    if (performed.judged.kind === "listed") return performed.judged.ids;
    throw troubled(performed.judged, performed);
  }

  /**
   * Sends a request about an object whose absence some answers prove only if the operation has worked for another object.
   * @returns none if it is gone.
   */
  async #witnessed(
    request: Request,
    judge: (answer: Answer) => ReadJudgement | ChangeJudgement,
  ): Promise<ReadJudgement | ChangeJudgement | undefined> {
    const witness = this.#witnessOf(request.operation);
    const performed = await witness.during(async () => {
      const result = await this.#perform(request, throughSession(judge));
      if (isWell(result.judged)) witness.works();
      return result;
    });
    const { judged } = performed;
    if (isWell(judged)) return judged;
    if (judged.kind !== "gone") throw troubled(judged, performed);
    const { unlessWitnessed } = judged;
    if (unlessWitnessed === undefined || (await witness.hasWorked())) return undefined;
    throw troubled(unlessWitnessed, performed);
  }

  /** Sends one request and judges its answer. @throws {AdvertisingError} if there is no answer. */
  async #perform<T>(request: Request, judge: Judge<T>): Promise<Performed<T>> {
    const { operation, values, fields, label, otherwise, ifNotThere, sendings = {} } = request;
    const { method, repeatable } = operation;
    const url = this.#addressOf(operation, values);
    const [settings, credentials] = [this.#settings, this.#credentials];
    const what = `${label}: ${method} ${url.href}`;
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    let sentAt = "";
    const noted = async (at: string) => {
      await sendings.beforeSend?.(at);
      sentAt = at;
    };
    let isUnsure = false;
    const onUnsure = () => {
      isUnsure = true;
    };
    /** @returns what may be said about the request then. @param isLastNotDone whether the last sending was surely not carried out. */
    const conclude = (isLastNotDone: boolean): Asked => {
      const isNotDone = isLastNotDone && !isUnsure;
      if (isNotDone) sendings.onNotDone?.();
      return { what, otherwise: isNotDone ? otherwise : "", settings, credentials, ifNotThere };
    };
    const { answer, session, kept } = await this.#session
      .send({ method, url, body, repeatable, onUnsure }, noted)
      .catch((error: unknown) => {
        throw unanswered(error, conclude(isBeforeSending(error)), url, sentAt, operation);
      });
    const asked = conclude(session !== "accepted" || provesNotDone(answer, operation.noun));
    const reading = { fields: operation.fields, sent: fields ?? {}, clean: this.#clean };
    const judged = await judge(answer, session, reading);
    await kept;
    return { ...asked, judged, answer, session, sentAt, reading };
  }

  #addressOf(operation: Operation, values: Request["values"]): URL {
    const { baseUrl } = this.#settings;
    if (values !== undefined) return addressOf(operation, baseUrl, values);
    const known = this.#addresses.get(operation) ?? addressOf(operation, baseUrl);
    this.#addresses.set(operation, known);
    return known;
  }

  #witnessOf({ method, path }: Operation): Witness {
    const key = `${method} ${path}`;
    const witness = this.#witnesses.get(key) ?? new Witness();
    this.#witnesses.set(key, witness);
    return witness;
  }
}

function isWell<T extends { readonly kind: string }>(judged: T): judged is T & { readonly kind: "found" | "done" } {
  return judged.kind === "found" || judged.kind === "done";
}

/** A request that the session refused proves nothing about the object, so its answer is not judged. */
function throughSession<T>(judge: (answer: Answer) => T): Judge<T | Trouble> {
  return (answer, session) => (session === "accepted" ? judge(answer) : { kind: "refused" });
}
