/**
 * Reads, updates, deletes and searches: what only some installations have. Each may be repeated, and is, as a login is.
 */
import { NoAnswerError, RefusedError, SettingsError, type Values } from "../base/index.js";
import type { Kind, Operation } from "../kinds/index.js";
import type { Answer } from "./answer.js";
import { warningsOf, wordsOf } from "./answer-words.js";
import { type ClientOptions, type Exchange, exchange, refusalIn, saidIn, sessionHint } from "./exchange.js";
import {
  type ChangeJudgement,
  judgeChange,
  judgeRead,
  judgeSearch,
  type ReadJudgement,
  type Trouble,
  type WireRecord,
} from "./record-judge.js";
import { Witness } from "./witness.js";

/** Which object, of which kind. */
export interface Target {
  readonly kind: Kind;
  readonly operation: Operation;
  readonly id: string;
  /** For messages. */
  readonly label: string;
}

/** A create that is looked for by its mark. */
export interface Wanted extends Omit<Target, "id"> {
  /** The request field that holds the mark. */
  readonly field: string;
  readonly mark: string;
}

const NOTHING_CHANGED = "Nothing was changed.";
const NOTHING_DELETED = "Nothing was deleted.";

export class Records {
  readonly #options: ClientOptions;
  readonly #witnesses = new Map<string, Witness>();

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /**
   * Reads an object.
   * @returns none where it is certain that there is none.
   * @throws {AdvertisingError} nothing is known of it.
   */
  async read({ kind, operation, id, label }: Target): Promise<WireRecord | undefined> {
    const witness = this.#witnessOf(operation);
    const { result, judged } = await witness.during(async () => {
      const result = await this.#ask(operation, { id }, label, "");
      const judged = withSession(result, judgeRead(result.answer, kind, id));
      if (judged.kind === "found") witness.works();
      return { result, judged };
    });
    if (judged.kind === "found") return judged.record;
    if (judged.kind === "gone" || (await isMissing(judged, witness))) return undefined;
    throw this.#inWords(judged, result, operation, "");
  }

  /**
   * Changes these fields of an object.
   * @returns what the platform said beside its success.
   * @throws {AdvertisingError} it was not changed, or nobody knows: it may be asked again.
   */
  async update({ kind, operation, id, label }: Target, fields: Values): Promise<readonly string[]> {
    const result = await this.#ask(operation, { id }, label, NOTHING_CHANGED, fields);
    const judged = withSession(result, judgeChange(result.answer, kind, id));
    if (judged.kind === "gone") {
      throw new RefusedError(
        `${result.what} was refused: there is no object ${id} any more. To create another one: \`pulumi refresh\`, then \`pulumi up\`.`,
      );
    }
    if (judged.kind !== "done") throw this.#inWords(judged, result, operation, NOTHING_CHANGED, fields);
    if (judged.id !== undefined && judged.id !== id) {
      throw new RefusedError(
        `${result.what} was answered with the id ${judged.id}: look into the account for an object ${judged.id} that nothing ` +
          "manages, and check advertising:operations.",
      );
    }
    return warningsOf(result.answer, { ...operation, sent: fields, clean: this.#options.clean });
  }

  /** Deletes an object; one that is not there is deleted. @throws {AdvertisingError} it was not deleted, or nobody knows. */
  async delete({ kind, operation, id, label }: Target): Promise<void> {
    const witness = this.#witnessOf(operation);
    const { result, judged } = await witness.during(async () => {
      const result = await this.#ask(operation, { id }, label, NOTHING_DELETED);
      const judged = withSession(result, judgeChange(result.answer, kind, id));
      if (judged.kind === "done") witness.works();
      return { result, judged };
    });
    if (judged.kind === "done" || judged.kind === "gone") return;
    if (await isMissing(judged, witness)) return;
    throw this.#inWords(judged, result, operation, NOTHING_DELETED);
  }

  /**
   * Looks for what a create made.
   * @returns the ids of all objects that hold its mark: none where the platform says that there is none.
   * @throws {AdvertisingError} nothing is known.
   */
  async search({ kind, operation, field, mark, label }: Wanted): Promise<readonly string[]> {
    const result = await this.#ask(operation, { mark }, label, "");
    const judged = withSession(result, judgeSearch(result.answer, kind, field, mark));
    if (judged.kind === "listed") return judged.ids;
    throw this.#inWords(judged, result, operation, "");
  }

  async #ask(
    operation: Operation,
    values: Readonly<Record<string, string>>,
    label: string,
    otherwise: string,
    fields?: Values,
  ): Promise<Exchange> {
    const body = fields === undefined ? {} : { fields };
    const result = await exchange(this.#options, { operation, values, label, otherwise, ...body });
    await result.kept;
    return result;
  }

  #witnessOf({ method, path }: Operation): Witness {
    const key = `${method} ${path}`;
    const witness = this.#witnesses.get(key) ?? new Witness();
    this.#witnesses.set(key, witness);
    return witness;
  }

  #inWords(trouble: Trouble, result: Exchange, operation: Operation, otherwise: string, sent: Values = {}): Error {
    const { settings, clean } = this.#options;
    const { answer, what, session } = result;
    const words = wordsOf(answer, { ...operation, sent, clean });
    const unchanged = otherwise === "" ? "" : ` ${otherwise}`;
    switch (trouble.kind) {
      case "refused": {
        const hint = sessionHint(session, settings);
        return new RefusedError(
          `${what} was refused with status ${answer.status}: ${refusalIn(words)}${unchanged}${hint === undefined ? "" : ` ${hint}`}`,
        );
      }
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
      case "unclear":
        return new NoAnswerError(
          `${what} has no usable answer (status ${answer.status}): ${trouble.reason}.${isData(answer) ? "" : saidIn(words)} Run it again.`,
        );
    }
  }
}

/** Whether a bare 404 tells that there is no such object, since the operation has found others. */
async function isMissing(judged: ReadJudgement | ChangeJudgement, witness: Witness): Promise<boolean> {
  return judged.kind === "not-found" && judged.isBare && (await witness.hasWorked());
}

/** What a success holds is about other objects, which are nobody's business here. */
function isData({ status, kind }: Answer): boolean {
  return status < 300 && kind === "json";
}

/** What the session refused says nothing of the object. */
function withSession<T extends { readonly kind: string }>({ session }: Exchange, judged: T): T | Trouble {
  return session === "accepted" ? judged : { kind: "refused" };
}
