/**
 * What installations can do that have more than the documented operations: read, update, delete and search what lives there.
 */
import { type Answer, json, refusal } from "./answers.js";
import type { SandboxObject, SandboxOptions } from "./options.js";
import { goneAnswer, listAnswer, recordAnswer } from "./records.js";
import type { Noun, OptionalOperation, Route } from "./routes.js";
import type { Judged } from "./rules.js";

const PAGE = 25;

/** What became of a request that was let in. */
export interface Handled {
  readonly answer: Answer;
  readonly created?: SandboxObject;
  /** Whether another operation was carried out. */
  readonly done?: boolean;
}

/** What lives on the platform, as its operations need it. */
export interface Objects {
  /** By id. */
  objectsOf(noun: Noun): Map<number, SandboxObject>;
  /** When an object was created here: it may be found only later. */
  readonly createdMs: WeakMap<SandboxObject, number>;
  /** Holds the fields of an object against the platform's rules. */
  judge(noun: Noun, body: Readonly<Record<string, unknown>>): Judged;
}

export class Records {
  readonly #options: SandboxOptions;
  readonly #platform: Objects;

  constructor(options: SandboxOptions, platform: Objects) {
    this.#options = options;
    this.#platform = platform;
  }

  carryOut(route: Route & { readonly operation: OptionalOperation }, body: Readonly<Record<string, unknown>>): Handled {
    const { recordShape = "payload", recordDress = "plain", goneShape = "404" } = this.#options;
    const { noun } = route;
    if (route.operation === "search") {
      return { answer: listAnswer(recordShape, recordDress, noun, this.#found(noun, route.filters)), done: true };
    }
    const objects = this.#platform.objectsOf(noun);
    const object = objects.get(Number(route.id));
    if (object === undefined || !this.#isShown(object, this.#options.readLagSeconds)) {
      return { answer: goneAnswer(goneShape, noun, route.id) };
    }
    if (route.operation === "read") return { answer: recordAnswer(recordShape, recordDress, noun, object), done: true };
    if (route.operation === "update") return this.#update(noun, object, body);
    objects.delete(object.id);
    return { answer: done(noun, object, "deleted"), done: true };
  }

  #update(noun: Noun, object: SandboxObject, body: Readonly<Record<string, unknown>>): Handled {
    const { id, ...fields } = object;
    const { faults, fields: judged } = this.#platform.judge(noun, { ...fields, ...body });
    if (faults.length > 0) return { answer: refusal(this.#options.refusalShape ?? "406-errors", noun, faults) };
    // What is sent as null has its default again, or none.
    const kept = Object.entries({ ...fields, ...judged }).filter(([name]) => body[name] !== null || name in judged);
    const updated = Object.fromEntries(kept);
    this.#platform.objectsOf(noun).set(id, { ...updated, id });
    return { answer: done(noun, object, "updated"), done: true };
  }

  #found(noun: Noun, filters: ReadonlyMap<string, string>): SandboxObject[] {
    const { ignoreFilters = false, searchLagSeconds } = this.#options;
    const fits = (object: SandboxObject) =>
      ignoreFilters ||
      [...filters].every(([field, text]) =>
        String(object[field] ?? "")
          .toLowerCase()
          .includes(text.toLowerCase()),
      );
    const isListed = (object: SandboxObject) => this.#isShown(object, searchLagSeconds) && fits(object);
    return [...this.#platform.objectsOf(noun).values()].filter(isListed).slice(0, PAGE);
  }

  #isShown(object: SandboxObject, lagSeconds = 0): boolean {
    const { clock = Date.now } = this.#options;
    return (this.#platform.createdMs.get(object) ?? 0) + lagSeconds * 1000 <= clock();
  }
}

function done(noun: Noun, { id }: SandboxObject, what: string): Answer {
  return json(200, { success: true, message: `${noun} ${what} with ID = ${id}`, payload: { id } });
}
