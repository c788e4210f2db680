/**
 * Sends the platform's operations, one method for each: it passes the response to `classify-response.ts`, and returns
 * or throws what is known afterwards. A create is sent again only if its last sending certainly wasn't carried out (S1
 * of `session.ts`); the others, which only some installations have, may be repeated.
 */
import { OutcomeUnknownError, type Values } from "../base/index.js";
import { addressOf } from "../kinds/index.js";
import type { ParsedResponse } from "./answer.js";
import {
  classifyChange,
  classifyCreate,
  classifyRead,
  classifySearch,
  type LiveObject,
  type Verdict,
} from "./classify-response.js";
import type { ClientDependencies } from "./client-dependencies.js";
import { createPlatformClock } from "./platform-clock.js";
import {
  noResponseError,
  type RequestOrigin,
  refusalError,
  unusableResponseError,
} from "./request-errors.js";
import { type BeforeSend, Session } from "./session.js";
import { quoteFor, warningsOf } from "./words.js";

interface Target extends RequestOrigin {
  /** The resource, for messages: `ConversionEvent "purchase"`. */
  label: string;
}

interface Request extends Target {
  values?: Readonly<Record<string, string>>;
  /** The request's fields in wire names; absent for a request without a body. */
  fields?: Values;
  beforeSend?: BeforeSend;
}

interface CreateRequest extends Target {
  fields: Values;
  beforeSend: BeforeSend;
  /** Awaited as soon as the id is known, before anything else that may take time. Must not fail. */
  onCreated: (id: string) => Promise<void>;
}

type ObjectRequest = LiveObject & Target;

/** Searches for the object whose `field` contains `mark`. */
interface SearchRequest extends Target {
  field: string;
  mark: string;
}

/** Whether this operation has found an object in this run, and the requests in flight that may still find one. */
interface OperationProof {
  hasWorked: boolean;
  inFlight: number;
  /** Resolves once the operation has worked, or no request is in flight: one wait for all. */
  decided: PromiseWithResolvers<void>;
}

export class Client {
  readonly #dependencies;
  readonly #session;
  /** At the latest the platform's present time, ISO 8601; undefined if no response so far had a `Date`. */
  readonly platformNow;
  /** By method and path. Needed because "not found" may also mean that the path does not exist. */
  readonly #proofs = new Map<string, OperationProof>();

  constructor(dependencies: ClientDependencies) {
    const { transport, now } = createPlatformClock(dependencies);
    this.platformNow = now;
    this.#dependencies = { ...dependencies, transport };
    this.#session = new Session(this.#dependencies);
  }

  /**
   * @returns the platform's id, exact, as decimal digits.
   * @throws {OutcomeUnknownError} if the create was sent and its outcome is unknown.
   * @throws {AdvertisingError} Any other error means that nothing was created.
   */
  async create({ onCreated, ...request }: CreateRequest) {
    const response = await this.#request(request);
    const { answer, session, cookiesStored, what, sentAt } = response;
    const verdict = classifyCreate(answer, request.kind, request.fields);
    if (verdict.kind === "created") await onCreated(verdict.id);
    await cookiesStored;
    if (verdict.kind === "created")
      return { id: verdict.id, warnings: warningsOf(response) };
    // A login page has no id, but it proves that the create got no further than the session.
    if (verdict.kind === "refused" || session === "refused") throw refusalError(response);
    throw new OutcomeUnknownError(
      `${what} was sent at ${sentAt} and got an unusable response (status ${answer.status}): ${verdict.reason}.${quoteFor(response)}`,
    );
  }

  /** @returns `undefined` if the object certainly doesn't exist. @throws {AdvertisingError} if that is unknown. */
  async read(target: ObjectRequest) {
    const verdict = await this.#sendWithProof(target, classifyRead);
    if (verdict.kind === "done") return verdict.record;
  }

  /**
   * @returns the platform's warnings beside its success.
   * @throws {AdvertisingError} if the object was not changed, or that is unknown. The update may be sent again.
   */
  async update(target: ObjectRequest, fields: Values) {
    const { verdict, response } = await this.#sendAndClassify(
      { ...target, values: { id: target.id }, fields },
      (answer) => classifyChange(answer, target, fields),
    );
    if (verdict.kind === "done") return warningsOf(response);
    throw unusableResponseError(verdict, response);
  }

  /** @returns whether the object existed. @throws {AdvertisingError} if it was not deleted, or that is unknown. */
  async delete(target: ObjectRequest) {
    const { kind } = await this.#sendWithProof(target, classifyChange);
    return kind === "done";
  }

  /** @returns all objects with the mark, by id; perhaps none. @throws {AdvertisingError} if the response proves nothing. */
  async search(request: SearchRequest) {
    const { kind, field, mark } = request;
    const { verdict, response } = await this.#sendAndClassify(
      { ...request, values: { mark } },
      (answer) => classifySearch(answer, kind, field, mark),
    );
    if (verdict.kind === "listed") return verdict.objects;
    throw unusableResponseError(verdict, response);
  }

  /** @returns `gone` only if this operation has found another object in this run. @throws {AdvertisingError} */
  async #sendWithProof(
    target: ObjectRequest,
    classify: (answer: ParsedResponse, object: LiveObject) => Verdict,
  ) {
    const { operation, id } = target;
    const key = `${operation.method} ${operation.path}`;
    const proof = this.#proofs.get(key) ?? {
      hasWorked: false,
      inFlight: 0,
      decided: Promise.withResolvers(),
    };
    this.#proofs.set(key, proof);
    const decided = proof.decided.promise;
    proof.inFlight++;
    const { verdict, response } = await this.#sendAndClassify(
      { ...target, values: { id } },
      (answer) => {
        const found = classify(answer, target);
        proof.hasWorked ||= found.kind === "done";
        return found;
      },
    ).finally(() => {
      proof.inFlight--;
      if (proof.hasWorked || proof.inFlight === 0) proof.decided.resolve();
      if (proof.inFlight === 0) proof.decided = Promise.withResolvers();
    });
    // Requests in flight may still show that the operation works.
    if (verdict.kind === "gone") await decided;
    const isProved = verdict.kind === "gone" && proof.hasWorked;
    if (verdict.kind === "done" || isProved) return verdict;
    throw unusableResponseError(verdict, response);
  }

  /** A request that the session refused proves nothing about the object, so its response is not classified. */
  async #sendAndClassify<T>(request: Request, classify: (answer: ParsedResponse) => T) {
    const response = await this.#request(request);
    await response.cookiesStored;
    if (response.session !== "accepted")
      return { response, verdict: { kind: "refused" } as const };
    return { response, verdict: classify(response.answer) };
  }

  async #request({ values, fields, label, beforeSend, ...target }: Request) {
    const { operation } = target;
    const { method, idempotent } = operation;
    const url = addressOf(operation, this.#dependencies.settings.baseUrl, values);
    const body = fields && JSON.stringify(fields);
    const what = `${label}: ${method} ${url.href}`;
    const request = { ...this.#dependencies, ...target, fields: fields ?? {}, what };
    let sentAt = "";
    const noteSending = async (at: string) => {
      request.assertGoesOn?.();
      await beforeSend?.(at);
      sentAt = at;
    };
    const sent = await this.#session
      .sendOnLogin({ method, url, body, idempotent }, noteSending)
      .catch((error: unknown) => {
        throw noResponseError(error, request, url, sentAt);
      });
    return { ...request, ...sent, sentAt };
  }
}
