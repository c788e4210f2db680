/**
 * Sends the platform's operations, one method for each: it passes the answer to `classify-response.ts`, and returns or throws what
 * is known afterwards. A create is never repeated; the others, which only some installations have, may be.
 */
import { OutcomeUnknownError, type Values } from "../base/index.js";
import { addressOf, type Kind, type Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Answer } from "./answer.js";
import {
  classifyChange,
  classifyCreate,
  classifyRead,
  classifySearch,
  type Verdict,
  type WireRecord,
} from "./classify-response.js";
import type { ClientDependencies } from "./client-dependencies.js";
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
  readonly #dependencies: ClientDependencies;
  readonly #session: Session;
  /**
   * By method and path, whether an operation has found an object in this run, since a bare 404 may also mean that its
   * path does not exist; and the requests in flight, which may prove it and are waited for.
   */
  readonly #witnesses = new Map<string, { hasWorked: boolean; readonly inFlight: Set<Promise<unknown>> }>();

  constructor(settings: Settings, dependencies: ClientDependencies) {
    this.#settings = settings;
    this.#dependencies = dependencies;
    this.#session = new Session(settings, dependencies);
  }

  /**
   * @throws {OutcomeUnknownError} if it was sent and its outcome is not known.
   * @throws {AdvertisingError} any other error means that nothing was created.
   */
  async create({ onCreated, ...request }: CreateRequest): Promise<Created> {
    const response = await this.#send(request);
    const { answer, session, kept, what, sentAt } = response;
    const verdict = classifyCreate(answer, request.operation, request.fields);
    if (verdict.kind === "created") await onCreated(verdict.id);
    await kept;
    if (verdict.kind === "created") return { id: verdict.id, warnings: warningsOf(response) };
    // A login page has no id, but it proves that the create got no further than the session.
    if (verdict.kind === "refused" || session !== "accepted") throw refusal(response);
    throw new OutcomeUnknownError(
      `${what} was sent at ${sentAt}, and got ${verdict.reason}.${saidIn(response)}`,
      sentAt,
    );
  }

  /** @returns none if it certainly does not exist. @throws {AdvertisingError} if nothing is known about it. */
  async read(target: Target): Promise<WireRecord | undefined> {
    return (await this.#witnessed(target, (answer) => classifyRead(answer, target.kind, target.id)))?.record;
  }

  /**
   * @returns the platform's warnings beside its success; none if the object certainly does not exist.
   * @throws {AdvertisingError} if it was not changed, or that is not known: it may be sent again.
   */
  async update(target: Target, fields: Values) {
    const classify = (answer: Answer) => classifyChange(answer, target.kind, target.id, "changed", fields);
    return (await this.#witnessed(target, classify, fields))?.warnings;
  }

  /** @returns whether it existed. @throws {AdvertisingError} if it was not deleted, or that is not known. */
  async delete(target: Target): Promise<boolean> {
    const classify = (answer: Answer) => classifyChange(answer, target.kind, target.id, "deleted");
    return (await this.#witnessed(target, classify)) !== undefined;
  }

  /** @returns the ids of all objects with the mark, perhaps none. @throws {AdvertisingError} if nothing is known. */
  async search({ kind, operation, field, mark, label }: Wanted): Promise<readonly string[]> {
    const request = { operation, values: { mark }, label };
    const { verdict, response } = await this.#verdict(request, (answer) => classifySearch(answer, kind, field, mark));
    if (verdict.kind === "listed") return verdict.ids;
    throw troubled(verdict, response);
  }

  async #witnessed({ operation, id, label }: Target, classify: (answer: Answer) => Verdict, fields?: Values) {
    const key = `${operation.method} ${operation.path}`;
    const witness = this.#witnesses.get(key) ?? { hasWorked: false, inFlight: new Set() };
    this.#witnesses.set(key, witness);
    const asked = this.#verdict({ operation, values: { id }, fields, label }, classify)
      .then((result) => {
        witness.hasWorked ||= result.verdict.kind === "done";
        return result;
      })
      .finally(() => witness.inFlight.delete(asked));
    witness.inFlight.add(asked);
    const { verdict, response } = await asked;
    if (verdict.kind === "done") return { ...verdict, warnings: warningsOf(response) };
    if (verdict.kind !== "gone") throw troubled(verdict, response);
    while (verdict.needsWitness === true && !witness.hasWorked) {
      if (witness.inFlight.size === 0) throw troubled({ kind: "missing" }, response);
      await Promise.race(witness.inFlight).catch(() => undefined);
    }
    return undefined;
  }

  /** A request that the session refused proves nothing about the object, so its answer is not classified. */
  async #verdict<T>(request: Request, classify: (answer: Answer) => T) {
    const response = await this.#send(request);
    await response.kept;
    const verdict = response.session === "accepted" ? classify(response.answer) : { kind: "refused" as const };
    return { response, verdict };
  }

  async #send({ operation, values, fields, label, beforeSend }: Request) {
    const { method, repeatable } = operation;
    const url = addressOf(operation, this.#settings.baseUrl, values);
    const body = fields === undefined ? undefined : JSON.stringify(fields);
    const { credentials, secrets } = this.#dependencies;
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
