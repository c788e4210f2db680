/**
 * Sends the platform's operations, one method for each: it passes the answer to `judge.ts`, and returns or throws what is known
 * afterwards. A create is never repeated; the others, which only some installations have, may be.
 */
import { OutcomeUnknownError, type Values } from "../base/index.js";
import { addressOf, type Kind, type Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Answer } from "./answer.js";
import {
  type Judgement,
  judgeChange,
  judgeCreate,
  judgeRead,
  judgeSearch,
  provesNotDone,
  type Trouble,
  type WireRecord,
} from "./judge.js";
import { type BeforeSend, Session } from "./session.js";
import type { Surroundings } from "./surroundings.js";
import { type Answered, isBeforeSending, refusal, troubled, unanswered } from "./trouble.js";
import { type Clean, saidIn, warningsOf, wordsOf } from "./words.js";

interface CreateRequest extends Required<Pick<Request, "operation" | "label" | "fields" | "beforeSend">> {
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
}

/** A create whose object is looked for by its mark. */
export interface Wanted extends Omit<Target, "id"> {
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
  /** The sentence for a request that was not carried out. */
  readonly otherwise: string;
  readonly beforeSend?: BeforeSend;
}

interface Received extends Answered {
  /** Resolves once the answer's cookies are stored; never fails. */
  readonly kept: Promise<void>;
  /** ISO 8601. */
  readonly sentAt: string;
}

/** Whether an operation has found an object in this run: a bare 404 may also mean that its path does not exist. */
interface Witness {
  hasWorked: boolean;
  /** Requests in flight, which may prove it. */
  readonly inFlight: Set<Promise<unknown>>;
}

export class Client {
  readonly #settings: Settings;
  readonly #credentials: string;
  readonly #session: Session;
  readonly #clean: Clean;
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
    const received = await this.#send({ operation, fields, label, beforeSend, otherwise: "Nothing was created." });
    const { answer, session, kept, what, sentAt, reading } = received;
    const judged = judgeCreate(answer, operation, fields);
    if (judged.kind === "created") await onCreated(judged.id);
    await kept;
    if (judged.kind === "created") return { id: judged.id, warnings: warningsOf(answer, reading) };
    if (judged.kind === "refused") throw refusal(received, judged.why);
    // A login page has no id, but it proves that the create got no further than the session.
    if (session !== "accepted") throw refusal(received, `the session was refused (${judged.reason})`);
    const told = `${what} was sent at ${sentAt}, and got ${judged.reason}.${saidIn(wordsOf(answer, reading))}`;
    throw new OutcomeUnknownError(told, sentAt);
  }

  /**
   * Reads an object.
   * @returns none if it certainly does not exist.
   * @throws {AdvertisingError} if nothing is known about it.
   */
  async read({ kind, operation, id, label }: Target): Promise<WireRecord | undefined> {
    const judge = (answer: Answer) => judgeRead(answer, kind, id);
    return (await this.#witnessed({ operation, values: { id }, label, otherwise: "" }, judge))?.record;
  }

  /**
   * Changes these fields of an object.
   * @returns the platform's warnings beside its success; none if the object certainly does not exist.
   * @throws {AdvertisingError} if it was not changed, or that is not known: it may be sent again.
   */
  async update({ kind, operation, id, label }: Target, fields: Values) {
    const request = { operation, values: { id }, fields, label, otherwise: "Nothing was changed." };
    const judge = (answer: Answer) => judgeChange(answer, kind, id, "changed", fields);
    return (await this.#witnessed(request, judge))?.warnings;
  }

  /** @returns whether it existed. @throws {AdvertisingError} if it was not deleted, or that is not known. */
  async delete({ kind, operation, id, label }: Target): Promise<boolean> {
    const request = { operation, values: { id }, label, otherwise: "Nothing was deleted." };
    const judge = (answer: Answer) => judgeChange(answer, kind, id, "deleted");
    return (await this.#witnessed(request, judge)) !== undefined;
  }

  /**
   * Looks for what a create made.
   * @returns the ids of all objects with its mark; none if the platform says that there are none.
   * @throws {AdvertisingError} if nothing is known.
   */
  async search({ kind, operation, field, mark, label }: Wanted): Promise<readonly string[]> {
    const request = { operation, values: { mark }, label, otherwise: "" };
    const { judged, received } = await this.#judged(request, (answer) => judgeSearch(answer, kind, field, mark));
    if (judged.kind === "listed") return judged.ids;
    throw troubled(judged, received);
  }

  /**
   * Sends a request about an object whose absence some answers prove only if the operation has worked for another object in this run; those
   * that are in flight are waited for.
   * @returns none if it is gone.
   */
  async #witnessed(request: Request, judge: (answer: Answer) => Judgement) {
    const { method, path } = request.operation;
    const key = `${method} ${path}`;
    const witness = this.#witnesses.get(key) ?? { hasWorked: false, inFlight: new Set() };
    this.#witnesses.set(key, witness);
    const asked = this.#judged(request, judge)
      .then((result) => {
        witness.hasWorked ||= result.judged.kind === "done";
        return result;
      })
      .finally(() => witness.inFlight.delete(asked));
    witness.inFlight.add(asked);
    const { judged, received } = await asked;
    if (judged.kind === "done") return { ...judged, warnings: warningsOf(received.answer, received.reading) };
    if (judged.kind !== "gone") throw troubled(judged, received);
    while (judged.needsWitness === true && !witness.hasWorked) {
      if (witness.inFlight.size === 0) throw troubled({ kind: "missing" }, received);
      await Promise.race(witness.inFlight).catch(() => undefined);
    }
    return undefined;
  }

  /** A request that the session refused proves nothing about the object, so its answer is not judged. */
  async #judged<T>(request: Request, judge: (answer: Answer) => T) {
    const received = await this.#send(request);
    await received.kept;
    const refused: Trouble = { kind: "refused" };
    return { received, judged: received.session === "accepted" ? judge(received.answer) : refused };
  }

  /** Sends one request. @throws {AdvertisingError} if there is no answer. */
  async #send({ operation, values, fields, label, otherwise, beforeSend }: Request): Promise<Received> {
    const { method, repeatable, noun } = operation;
    const [settings, credentials] = [this.#settings, this.#credentials];
    const url = addressOf(operation, settings.baseUrl, values);
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    let sentAt = "";
    const noted = async (at: string) => {
      await beforeSend?.(at);
      sentAt = at;
    };
    let isUnsure = false;
    const onUnsure = () => {
      isUnsure = true;
    };
    const what = `${label}: ${method} ${url.href}`;
    /** @param isNotDone whether the last sending was surely not carried out. */
    const asked = (isNotDone: boolean) => {
      return { what, otherwise: isNotDone && !isUnsure ? otherwise : "", settings, credentials };
    };
    const { answer, session, kept } = await this.#session
      .send({ method, url, body, repeatable, onUnsure }, noted)
      .catch((error: unknown) => {
        throw unanswered(error, asked(isBeforeSending(error)), url, sentAt, operation);
      });
    const reading = { fields: operation.fields, sent: fields ?? {}, clean: this.#clean };
    return { ...asked(session !== "accepted" || provesNotDone(answer, noun)), answer, session, kept, sentAt, reading };
  }
}
