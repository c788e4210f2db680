/**
 * Sends the platform's operations, one method for each: it passes the answer to `classify-response.ts`, and returns or throws what
 * is known afterwards. A create is never repeated; the others, which only some installations have, may be.
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
  type WireRecord,
} from "./classify-response.js";
import type { Surroundings } from "./client-dependencies.js";
import { type BeforeSend, Session } from "./session.js";
import { refusal, saidIn, troubled, unanswered, warningsOf } from "./trouble.js";

interface Request {
  readonly operation: Operation;
  readonly values?: Readonly<Record<string, string>>;
  /** The request's fields in wire names; absent for a request without a body. */
  readonly fields?: Values | undefined;
  /** The resource, for messages: `ConversionEvent "purchase"`. */
  readonly label: string;
  readonly beforeSend?: BeforeSend;
}

interface CreateRequest extends Omit<Request, "values"> {
  readonly fields: Values;
  readonly beforeSend: BeforeSend;
  /** Awaited as soon as the id is known, before anything else that may take time. Must not fail. */
  readonly onCreated: (id: string) => Promise<void>;
}

export interface Created {
  /** The platform's id, exact, as decimal digits. */
  readonly id: string;
  readonly warnings: readonly string[];
}

interface Target extends Pick<Request, "operation" | "label"> {
  readonly kind: Kind;
  readonly id: string;
}

/** A create whose object is looked for by its mark, which a field holds. */
type Wanted = Omit<Target, "id"> & Readonly<Record<"field" | "mark", string>>;

export class Client {
  readonly #settings: Settings;
  readonly #surroundings: Surroundings;
  readonly #session: Session;
  /**
   * By method and path, whether an operation has found an object in this run, since a bare 404 may also mean that its
   * path does not exist; and the requests in flight, which may prove it and are waited for.
   */
  readonly #witnesses = new Map<string, { hasWorked: boolean; readonly inFlight: Set<Promise<unknown>> }>();

  constructor(settings: Settings, surroundings: Surroundings) {
    this.#settings = settings;
    this.#surroundings = surroundings;
    this.#session = new Session(settings, surroundings);
  }

  /**
   * @throws {OutcomeUnknownError} if it was sent and its outcome is not known.
   * @throws {AdvertisingError} any other error means that nothing was created.
   */
  async create({ onCreated, ...request }: CreateRequest): Promise<Created> {
    const received = await this.#send(request);
    const { answer, session, kept, what, sentAt } = received;
    const judged = judgeCreate(answer, request.operation, request.fields);
    if (judged.kind === "created") await onCreated(judged.id);
    await kept;
    if (judged.kind === "created") return { id: judged.id, warnings: warningsOf(received) };
    // A login page has no id, but it proves that the create got no further than the session.
    if (judged.kind === "refused" || session !== "accepted") throw refusal(received);
    throw new OutcomeUnknownError(
      `${what} was sent at ${sentAt}, and got ${judged.reason}.${saidIn(received)}`,
      sentAt,
    );
  }

  /** @returns none if it certainly does not exist. @throws {AdvertisingError} if nothing is known about it. */
  async read(target: Target): Promise<WireRecord | undefined> {
    return (await this.#witnessed(target, (answer) => judgeRead(answer, target.kind, target.id)))?.record;
  }

  /**
   * @returns the platform's warnings beside its success; none if the object certainly does not exist.
   * @throws {AdvertisingError} if it was not changed, or that is not known: it may be sent again.
   */
  async update(target: Target, fields: Values) {
    const judge = (answer: Answer) => judgeChange(answer, target.kind, target.id, "changed", fields);
    return (await this.#witnessed(target, judge, fields))?.warnings;
  }

  /** @returns whether it existed. @throws {AdvertisingError} if it was not deleted, or that is not known. */
  async delete(target: Target): Promise<boolean> {
    const judge = (answer: Answer) => judgeChange(answer, target.kind, target.id, "deleted");
    return (await this.#witnessed(target, judge)) !== undefined;
  }

  /** @returns the ids of all objects with the mark, perhaps none. @throws {AdvertisingError} if nothing is known. */
  async search({ kind, operation, field, mark, label }: Wanted): Promise<readonly string[]> {
    const request = { operation, values: { mark }, label };
    const { judged, received } = await this.#judged(request, (answer) => judgeSearch(answer, kind, field, mark));
    if (judged.kind === "listed") return judged.ids;
    throw troubled(judged, received);
  }

  async #witnessed({ operation, id, label }: Target, judge: (answer: Answer) => Judgement, fields?: Values) {
    const key = `${operation.method} ${operation.path}`;
    const witness = this.#witnesses.get(key) ?? { hasWorked: false, inFlight: new Set() };
    this.#witnesses.set(key, witness);
    const asked = this.#judged({ operation, values: { id }, fields, label }, judge)
      .then((result) => {
        witness.hasWorked ||= result.judged.kind === "done";
        return result;
      })
      .finally(() => witness.inFlight.delete(asked));
    witness.inFlight.add(asked);
    const { judged, received } = await asked;
    if (judged.kind === "done") return { ...judged, warnings: warningsOf(received) };
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
    const judged = received.session === "accepted" ? judge(received.answer) : { kind: "refused" as const };
    return { received, judged };
  }

  async #send({ operation, values, fields, label, beforeSend }: Request) {
    const { method, repeatable } = operation;
    const url = addressOf(operation, this.#settings.baseUrl, values);
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    const { credentials, secrets } = this.#surroundings;
    const request = { operation, fields: fields ?? {}, what: `${label}: ${method} ${url.href}` };
    const asked = { ...request, settings: this.#settings, credentials, secrets };
    let sentAt = "";
    const noted = async (at: string) => {
      await beforeSend?.(at);
      sentAt = at;
    };
    const sent = await this.#session.send({ method, url, body, repeatable }, noted).catch((error: unknown) => {
      throw unanswered(error, asked, url, sentAt);
    });
    return { ...asked, ...sent, sentAt };
  }
}
