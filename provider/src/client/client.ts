/**
 * One create: encode, hand to the session, read the answer, and say plainly what is known afterwards. `records` does the same
 * for what only some installations can do.
 */
import { OutcomeUnknownError, RefusedError, type Values } from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import { type Outcome, readOutcome } from "./create-judge.js";
import { type ClientOptions, exchange, refusalIn, saidIn, sessionHint } from "./exchange.js";
import { hintsFor } from "./hints.js";
import { Records } from "./records.js";
import type { BeforeSend, SessionAnswer } from "./session.js";

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
  /** What the platform said beside its success. */
  readonly warnings: readonly string[];
}

export class Client {
  /** Reads, updates, deletes and searches, where the installation is known to have them. */
  readonly records: Records;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
    this.records = new Records(options);
  }

  /**
   * Sends one create.
   * @throws {OutcomeUnknownError} it was sent, and what became of it is not known.
   * @throws {AdvertisingError} any other: nothing was created.
   */
  async create({ operation, fields, label, beforeSend, onCreated }: CreateRequest): Promise<Created> {
    const { settings, clean } = this.#options;
    const result = await exchange(this.#options, {
      operation,
      fields,
      label,
      beforeSend,
      otherwise: "Nothing was created.",
    });
    const { answer, what, sentAt } = result;
    const outcome = outcomeOf(result, operation, fields, clean);
    if (outcome.kind === "created") await onCreated(outcome.id);
    await result.kept;
    switch (outcome.kind) {
      case "created":
        return outcome;
      case "refused": {
        const hints = [
          sessionHint(result.session, settings),
          ...(result.session === "accepted" ? hintsFor(outcome.words, { answer, operation, sent: fields }) : []),
        ];
        throw new RefusedError(
          [
            `${what} was refused with status ${answer.status}: ${refusalIn(outcome.words)} Nothing was created.`,
            ...hints.filter((hint) => hint !== undefined),
          ].join(" "),
        );
      }
      case "unknown":
        throw new OutcomeUnknownError(
          `${what} was sent at ${sentAt}, and answered with ${outcome.reason}.${saidIn(outcome.words)}`,
          sentAt,
        );
    }
  }
}

/** A login page says nothing of an id, but does say that the create got no further than the session. */
function outcomeOf(
  { answer, session }: SessionAnswer,
  operation: Operation,
  sent: Values,
  clean: (text: string) => string,
): Outcome {
  const outcome = readOutcome(answer, operation, sent, clean);
  if (session === "accepted" || outcome.kind !== "unknown") return outcome;
  return { kind: "refused", words: [...outcome.words, `the session was refused (${outcome.reason})`] };
}
