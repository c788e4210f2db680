/**
 * All that is asked of the platform once a request has been decided on: each method sends one operation, hands the answer to
 * `judgement.ts`, and says plainly what is known afterwards. A create is never repeated; the others, which only some installations
 * have, may be.
 */
import {
  AdvertisingError,
  NoAnswerError,
  NotSentError,
  OutcomeUnknownError,
  RateLimitedError,
  RefusedError,
  SettingsError,
  type Values,
} from "../base/index.js";
import { addressOf, type Kind, type Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Answer } from "./answer.js";
import { hintsFor, sessionHint } from "./hints.js";
import {
  type CreateJudgement,
  type Gone,
  judgeChange,
  judgeCreate,
  judgeRead,
  judgeSearch,
  type Trouble,
  type WireRecord,
  Witness,
} from "./judgement.js";
import { StopWaiting } from "./patient.js";
import { describeFailure } from "./retry.js";
import type { BeforeSend, SessionAnswer, SessionRequest } from "./session.js";
import { TransportFailure } from "./transport.js";
import { type Reading, refusalIn, saidIn, warningsOf, wordsOf } from "./words.js";

/** The part of a session that the client needs. */
export interface Sender {
  send(request: SessionRequest, beforeSend: BeforeSend): Promise<SessionAnswer>;
}

export interface ClientOptions {
  readonly settings: Settings;
  readonly session: Sender;
  /** Removes secrets from the platform's words. */
  readonly clean: (text: string) => string;
}

export interface CreateRequest {
  readonly operation: Operation;
  /** The request's fields in wire names. */
  readonly fields: Values;
  /** The resource, for messages: `ConversionEvent "purchase"`. */
  readonly label: string;
  readonly beforeSend: BeforeSend;
  /** Awaited as soon as the id is known, before anything else that may take time. Must not fail. */
  readonly onCreated: (id: string) => Promise<void>;
}

export interface Created {
  /** The platform's id, exact, as decimal digits. */
  readonly id: string;
  /** The warnings that the platform gave beside its success. */
  readonly warnings: readonly string[];
}

/** One object, for the operations that are about an object that exists. */
export interface Target {
  readonly kind: Kind;
  readonly operation: Operation;
  readonly id: string;
  /** The resource, for messages. */
  readonly label: string;
}

/** A create whose object is looked for by its mark. */
export interface Wanted extends Omit<Target, "id"> {
  /** The request field that holds the mark. */
  readonly field: string;
  readonly mark: string;
}

/** One operation as {@link Client} carries it out. */
interface Request {
  readonly operation: Operation;
  /** Values for the placeholders of the operation's path. */
  readonly values?: Readonly<Record<string, string>>;
  /** The request's fields in wire names; absent for a request without a body. */
  readonly fields?: Values;
  readonly label: string;
  /** One sentence that says what a request that was not carried out left as it was: `Nothing was created.` */
  readonly otherwise: string;
  readonly beforeSend?: BeforeSend;
}

/** An answer with its judgement and with what messages say of the request. */
interface Performed<T> {
  readonly judged: T;
  readonly answer: Answer;
  readonly session: SessionAnswer["session"];
  /** The request, for messages: `ConversionEvent "purchase": POST https://…` */
  readonly what: string;
  /** ISO 8601. */
  readonly sentAt: string;
  readonly reading: Reading;
}

/** Judges an answer, and finishes what has to be finished before anything else may take time. */
type Judge<T> = (answer: Answer, session: SessionAnswer["session"], reading: Reading) => T | Promise<T>;

const NOTHING_CREATED = "Nothing was created.";
const NOTHING_CHANGED = "Nothing was changed.";
const NOTHING_DELETED = "Nothing was deleted.";

export class Client {
  readonly #options: ClientOptions;
  /** The addresses of operations without placeholders: thousands of creates go to one. */
  readonly #addresses = new Map<Operation, URL>();
  readonly #witnesses = new Map<string, Witness>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Sends one create.
   * @throws {OutcomeUnknownError} it was sent, and what became of it is not known.
   * @throws {AdvertisingError} any other: nothing was created.
   */
  async create({ onCreated, ...request }: CreateRequest): Promise<Created> {
    const { operation, fields } = request;
    const performed = await this.#perform<CreateJudgement>(
      { ...request, otherwise: NOTHING_CREATED },
      async (answer, session, { clean }) => {
        const judged = judgeCreate(answer, operation, clean);
        if (judged.kind === "created") await onCreated(judged.id);
        if (session === "accepted" || judged.kind !== "unknown") return judged;
        // A login page says nothing of an id, but does say that the create got no further than the session.
        return { kind: "refused", why: `the session was refused (${judged.reason})` };
      },
    );
    const { judged, answer, session, what, sentAt, reading } = performed;
    if (judged.kind === "created") return { id: judged.id, warnings: warningsOf(answer, reading) };
    const words = wordsOf(answer, reading);
    if (judged.kind === "unknown") {
      const answered = `${what} was sent at ${sentAt}, and answered with ${judged.reason}.${saidIn(words)}`;
      throw new OutcomeUnknownError(answered, sentAt);
    }
    const hints = session === "accepted" ? hintsFor(answer, operation, fields) : [];
    const why = judged.why === undefined ? [] : [judged.why];
    throw this.#refusal(performed, [...words, ...why], NOTHING_CREATED, hints);
  }

  /**
   * Reads an object.
   * @returns none where it is certain that there is none.
   * @throws {AdvertisingError} nothing is known of it.
   */
  async read({ kind, operation, id, label }: Target): Promise<WireRecord | undefined> {
    const witness = this.#witnessOf(operation);
    const performed = await witness.during(async () => {
      const result = await this.#perform(
        { operation, values: { id }, label, otherwise: "" },
        throughSession((answer) => judgeRead(answer, kind, id)),
      );
      if (result.judged.kind === "found") witness.works();
      return result;
    });
    const { judged } = performed;
    if (judged.kind === "found") return judged.record;
    const trouble = judged.kind === "gone" ? await unlessWitnessed(judged, witness) : judged;
    if (trouble === undefined) return undefined;
    throw this.#trouble(trouble, performed, "");
  }

  /**
   * Changes these fields of an object.
   * @returns what the platform said beside its success.
   * @throws {AdvertisingError} it was not changed, or nobody knows: it may be asked again.
   */
  async update({ kind, operation, id, label }: Target, fields: Values): Promise<readonly string[]> {
    const performed = await this.#perform(
      { operation, values: { id }, fields, label, otherwise: NOTHING_CHANGED },
      throughSession((answer) => judgeChange(answer, kind, id, "changed")),
    );
    const { judged, answer, what, reading } = performed;
    if (judged.kind === "done") return warningsOf(answer, reading);
    const trouble = judged.kind === "gone" ? judged.unlessWitnessed : judged;
    if (trouble === undefined) {
      throw new RefusedError(
        `${what} was refused: there is no object ${id} any more. To create another one: \`pulumi refresh\`, then \`pulumi up\`.`,
      );
    }
    throw this.#trouble(trouble, performed, NOTHING_CHANGED);
  }

  /** Deletes an object; one that is not there is deleted. @throws {AdvertisingError} it was not deleted, or nobody knows. */
  async delete({ kind, operation, id, label }: Target): Promise<void> {
    const witness = this.#witnessOf(operation);
    const performed = await witness.during(async () => {
      const result = await this.#perform(
        { operation, values: { id }, label, otherwise: NOTHING_DELETED },
        throughSession((answer) => judgeChange(answer, kind, id, "deleted")),
      );
      if (result.judged.kind === "done") witness.works();
      return result;
    });
    const { judged } = performed;
    if (judged.kind === "done") return;
    const trouble = judged.kind === "gone" ? await unlessWitnessed(judged, witness) : judged;
    if (trouble !== undefined) throw this.#trouble(trouble, performed, NOTHING_DELETED);
  }

  /**
   * Looks for what a create made.
   * @returns the ids of all objects that hold its mark: none where the platform says that there is none.
   * @throws {AdvertisingError} nothing is known.
   */
  async search({ kind, operation, field, mark, label }: Wanted): Promise<readonly string[]> {
    const performed = await this.#perform(
      { operation, values: { mark }, label, otherwise: "" },
      throughSession((answer) => judgeSearch(answer, kind, field, mark)),
    );
    if (performed.judged.kind === "listed") return performed.judged.ids;
    throw this.#trouble(performed.judged, performed, "");
  }

  /** Sends one request and judges its answer. @throws {AdvertisingError} there is no answer. */
  async #perform<T>(request: Request, judge: Judge<T>): Promise<Performed<T>> {
    const { settings, session, clean } = this.#options;
    const { operation, values, fields, label, beforeSend } = request;
    const { method, repeatable } = operation;
    const url = this.#addressOf(operation, values);
    const what = `${label}: ${method} ${url.href}`;
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    let sentAt = "";
    let result: SessionAnswer;
    try {
      result = await session.send({ method, url, body, repeatable }, async (at) => {
        await beforeSend?.(at);
        sentAt = at;
      });
    } catch (error) {
      throw unanswered(error, { request, what, url, sentAt, settings });
    }
    const reading = { ...operation, sent: fields ?? {}, clean };
    const judged = await judge(result.answer, result.session, reading);
    await result.kept;
    return { judged, answer: result.answer, session: result.session, what, sentAt, reading };
  }

  #addressOf(operation: Operation, values: Request["values"]): URL {
    const { baseUrl } = this.#options.settings;
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

  #refusal(
    { what, answer, session }: Performed<unknown>,
    words: readonly string[],
    otherwise: string,
    hints: readonly string[] = [],
  ): RefusedError {
    const hint = sessionHint(session, this.#options.settings);
    const sentences = [refusalIn(words), otherwise, ...(hint === undefined ? [] : [hint]), ...hints];
    return new RefusedError(
      `${what} was refused with status ${answer.status}: ${sentences.filter((each) => each !== "").join(" ")}`,
    );
  }

  #trouble(trouble: Trouble, performed: Performed<unknown>, otherwise: string): Error {
    const { answer, what, reading } = performed;
    const words = wordsOf(answer, reading);
    const unchanged = otherwise === "" ? "" : ` ${otherwise}`;
    switch (trouble.kind) {
      case "refused":
        return this.#refusal(performed, words, otherwise);
      case "no-operation":
        return new SettingsError(
          `${what} was answered with status ${answer.status}: this is not an operation of this installation.${unchanged} ` +
            "Check advertising:operations.",
        );
      case "not-found":
        return new SettingsError(
          `${what} was answered with status ${answer.status}, and nothing says whether the object is missing, or the operation: ` +
            `${trouble.isBare ? "it has found nothing in this run" : "what it says is about neither"}.${trouble.isBare ? "" : saidIn(words)}${unchanged} Look into the account. If the object is there, this is not an operation ` +
            "of this installation: check advertising:operations. If it is not there: pulumi state delete, or, of a set, take its " +
            "key out of the program.",
        );
      case "another":
        return new RefusedError(
          `${what} was answered with the id ${trouble.id}: look into the account for an object ${trouble.id} that nothing ` +
            "manages, and check advertising:operations.",
        );
      case "unclear":
        return new NoAnswerError(
          `${what} has no usable answer (status ${answer.status}): ${trouble.reason}.${isData(answer) ? "" : saidIn(words)} Run it again.`,
        );
    }
  }
}

/** Some answers tell that there is no such object only if the operation has found others. @returns the trouble otherwise. */
async function unlessWitnessed({ unlessWitnessed }: Gone, witness: Witness): Promise<Trouble | undefined> {
  return unlessWitnessed === undefined || (await witness.hasWorked()) ? undefined : unlessWitnessed;
}

/** A success holds other objects' data, which is nobody's business here. */
function isData({ status, kind }: Answer): boolean {
  return status < 300 && kind === "json";
}

/** A request that the session refused says nothing of the object, so its answer is not judged. */
function throughSession<T>(judge: (answer: Answer) => T): Judge<T | Trouble> {
  return (answer, session) => (session === "accepted" ? judge(answer) : { kind: "refused" });
}

interface Unanswered {
  readonly request: Request;
  readonly what: string;
  readonly url: URL;
  readonly sentAt: string;
  readonly settings: Settings;
}

/** Says in words why there is no answer, and what is known of the request. */
function unanswered(error: unknown, { request, what, url, sentAt, settings }: Unanswered): unknown {
  const { otherwise, operation } = request;
  if (error instanceof AdvertisingError) return error;
  if (error instanceof StopWaiting) {
    const status = error.answer === undefined ? "" : ` (status ${error.answer.status})`;
    return new RateLimitedError(
      `${what} was not carried out: the platform limits the rate${status} and takes requests again from ` +
        `${error.allowedFrom} on; that is longer than advertising:maxWaitSeconds ` +
        `(${settings.maxWaitSeconds} s) allows. ${otherwise} Run it again then.`,
    );
  }
  if (error instanceof TransportFailure) {
    const happened = describeFailure(error, url);
    if (!error.sent) return new NotSentError(`${what} was not sent: ${happened}. ${otherwise}`, { cause: error });
    const told = `${what} was sent at ${sentAt}, but ${happened}.`;
    return operation.repeatable
      ? new NoAnswerError(`${told} Run it again.`, { cause: error })
      : new OutcomeUnknownError(told, sentAt, { cause: error });
  }
  return error;
}
