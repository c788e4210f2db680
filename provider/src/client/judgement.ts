/**
 * What an answer means for its request. `evidence.ts` says what it proves. If it proves nothing, a create was refused or its outcome is
 * unknown, and any other request has a named trouble. The client turns the judgement into a result or an error. Pure.
 */
import { asRecord, excerpt, own, printable, type Values } from "../base/index.js";
import type { Kind, Operation } from "../kinds/index.js";
import { type Answer, idIn, ownIdOf, partsIn, recordsIn } from "./answer.js";
import { proves, saysRefused } from "./evidence.js";
import { describeTarget, redirectOf } from "./session-refusal.js";
import type { Clean } from "./words.js";

export type WireRecord = Values;

export type CreateJudgement =
  | { readonly kind: "created"; readonly id: string }
  /** It was surely not acted upon. @param why what is to be said beside the platform's words. */
  | { readonly kind: "refused"; readonly why?: string }
  /** It was created or perhaps created, and its id is not known for certain. */
  | { readonly kind: "unknown"; readonly reason: string };

/** The platform did not carry out the request, or did not say clearly that it did. */
export type Trouble =
  | { readonly kind: "refused" }
  /** No such operation, or no such object. @param isBare it says nothing of which; otherwise it speaks of something else. */
  | { readonly kind: "not-found"; readonly isBare: boolean }
  /** The path takes no such method: not an operation of this installation. */
  | { readonly kind: "no-operation" }
  /** It was answered with another object, which proves nothing about the one that was meant. */
  | { readonly kind: "another"; readonly id: string }
  | { readonly kind: "unclear"; readonly reason: string };

/** There is no such object. @param unlessWitnessed absent if the answer alone proves that; otherwise the judgement without a witness. */
interface Gone {
  readonly kind: "gone";
  readonly unlessWitnessed?: Trouble;
}

export type ReadJudgement = { readonly kind: "found"; readonly record: WireRecord } | Gone | Trouble;
export type ChangeJudgement = { readonly kind: "done" } | Gone | Trouble;
type SearchJudgement = { readonly kind: "listed"; readonly ids: readonly string[] } | Trouble;

/** Statuses below 500 that do not say whether the request was acted upon: the other side gave up waiting. */
const UNDECIDED_STATUS = new Set([408, 499]);

/**
 * Whether an answer proves that its request was not carried out. Nothing else does: not a page, an answer about another object, or a status
 * that only says that something may have succeeded. Assumptions: a 4xx is a refusal, and a redirect that names no object leads to a login.
 */
export function provesNotDone(answer: Answer, noun: string): boolean {
  const { status, broken } = answer;
  if (status >= 400 && status < 500) return !UNDECIDED_STATUS.has(status);
  if (status === 200 || status === 201) return broken === undefined && saysRefused(answer, noun);
  return redirectOf(answer) === "login";
}

/** @param clean removes secrets from what a reason quotes. */
export function judgeCreate(answer: Answer, { noun }: Pick<Operation, "noun">, clean: Clean): CreateJudgement {
  const { status } = answer;
  const unknown = (reason: string): CreateJudgement => ({ kind: "unknown", reason: `status ${status}${reason}` });
  if (status >= 300 && status < 400) {
    // 307 and 308 ask for the same POST elsewhere, and what the first address did with it is not known; nor is it if
    // the answer points to what may be the new object. At the other address nothing was created, as no redirect is followed.
    return provesNotDone(answer, noun)
      ? { kind: "refused", why: "a redirect, which is never followed: check advertising:baseUrl" }
      : unknown(`, a redirect, which is never followed${target(answer, clean)}`);
  }
  if (provesNotDone(answer, noun)) return { kind: "refused" };
  if (status < 200 || status >= 300) return unknown("");
  if (answer.broken !== undefined)
    return unknown(`, but the response's body is not whole or not readable (${answer.broken})`);
  if (answer.kind === "empty") return unknown(", but the response is empty");
  if (answer.kind !== "json") {
    const type = excerpt(printable(clean(answer.headers["content-type"] ?? "no content type")), 100);
    return unknown(`, but the response is not JSON (${type})`);
  }
  const id = idIn(answer.data, noun);
  if (id === undefined) return unknown(`, but without a readable id (${shapeOf(answer.data)})`);
  if (proves("created", answer, { noun }) !== undefined) return { kind: "created", id };
  return unknown(
    status === 200 || status === 201
      ? `, with the id ${id}, but something in the response says no`
      : `, with the id ${id}: that is not the status of an object that was created`,
  );
}

function target(answer: Answer, clean: Clean): string {
  const described = describeTarget(answer);
  return described === undefined ? "" : `, to ${excerpt(printable(clean(described)), 200)}`;
}

/** Names of keys without values, to report an unknown shape. */
function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return `a list of ${value.length}`;
  const keys = Object.keys(asRecord(value)).slice(0, 10);
  const names = keys.filter((key) => /^\w{1,40}$/.test(key));
  return names.length === 0 ? "no known fields" : `its fields: ${names.join(", ")}`;
}

/** @param id of the requested object: some servers ignore an unknown filter, and send other objects. */
export function judgeRead(answer: Answer, kind: Kind, id: string): ReadJudgement {
  const { noun } = kind.create;
  const gone = goneOf(answer, noun, id, true);
  if (gone !== undefined) return gone;
  const trouble = troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const records = recordsIn(answer.data, noun);
  const found = records.filter((record) => ownIdOf(record, noun) === id);
  const [record, ...more] = found.filter((each) => isOfKind(each, kind));
  if (record !== undefined && more.length === 0) return { kind: "found", record };
  if (found.length > 0) {
    const what = record === undefined ? `an object without ${nameFieldOf(kind)}` : "several objects with this id";
    return { kind: "unclear", reason: `it has ${what}` };
  }
  const others = records.flatMap((each) => ownIdOf(each, noun) ?? []);
  const what = others.length === 0 ? "no object with an id" : `other objects, such as ${others.slice(0, 3).join(", ")}`;
  return { kind: "unclear", reason: holdsNothing(answer, noun) ? MORE : `it has ${what}` };
}

/** Judges the answer to an update or a delete. */
export function judgeChange(answer: Answer, kind: Kind, id: string, outcome: "changed" | "deleted"): ChangeJudgement {
  const { noun } = kind.create;
  if (proves(outcome, answer, { noun, id }) !== undefined) return { kind: "done" };
  const gone = goneOf(answer, noun, id, false);
  if (gone !== undefined) return gone;
  const trouble = troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const other = idIn(answer.data, noun);
  if (other !== undefined && other !== id) return { kind: "another", id: other };
  return { kind: "unclear", reason: "it neither says that it was done nor names the object" };
}

/**
 * Filters are often patterns, and may be ignored: so listed objects are compared here, and only an empty list means that there are none.
 * @param field holds a create's mark.
 */
export function judgeSearch(answer: Answer, kind: Kind, field: string, mark: string): SearchJudgement {
  const { noun } = kind.create;
  const trouble = troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const records = recordsIn(answer.data, noun);
  const ids = records.filter((record) => own(record, field) === mark).flatMap((each) => ownIdOf(each, noun) ?? []);
  if (ids.length > 0) return { kind: "listed", ids: [...new Set(ids)] };
  if (proves("none", answer, { noun }) !== undefined) return { kind: "listed", ids: [] };
  const what = records.length === 0 ? "no list of objects with ids" : "other objects: is the filter known there?";
  return { kind: "unclear", reason: holdsNothing(answer, noun) ? MORE : `it has ${what}` };
}

function goneOf(answer: Answer, noun: string, id: string, isRead: boolean): Gone | undefined {
  const proof = proves("gone", answer, { noun, id }, isRead);
  if (proof === undefined) return undefined;
  if (proof === "alone") return { kind: "gone" };
  const unlessWitnessed = troubleIn(answer, noun) ?? { kind: "unclear", reason: NOTHING };
  return { kind: "gone", unlessWitnessed };
}

const MORE = "it has no object, and says something else";
const NOTHING =
  "it has no object, and nothing says whether the object or the operation is missing: the operation has found nothing in this run";

/** The trouble that the status, a flag or the kind of body shows, before the data is read. */
function troubleIn(answer: Answer, noun: string): Trouble | undefined {
  const { status, broken, kind } = answer;
  if (broken !== undefined) return { kind: "unclear", reason: `its body is not whole or not readable (${broken})` };
  if (status === 404 || status === 410) {
    if (kind === "json" && recordsIn(answer.data, noun).length > 0)
      return { kind: "unclear", reason: "it has an object all the same" };
    return { kind: "not-found", isBare: proves("gone", answer, { noun }) === "with a witness" };
  }
  if (status === 405 || status === 501) return { kind: "no-operation" };
  if (provesNotDone(answer, noun)) return { kind: "refused" };
  if (status !== 200 && status !== 201) return { kind: "unclear", reason: `status ${status}` };
  if (kind === "json") return undefined;
  const what = { empty: "it is empty", html: "it is an HTML page", text: "it is not JSON" };
  return { kind: "unclear", reason: what[kind] };
}

/** Whether an answer has an empty list or payload, and no object. */
function holdsNothing({ data }: Answer, noun: string): boolean {
  if (recordsIn(data, noun).length > 0) return false;
  const parts = Array.isArray(data) ? [data] : [...partsIn(data, noun)];
  return parts.some((part) => part === null || (typeof part === "object" && Object.keys(part).length === 0));
}

/** An object of another kind may have the same id. */
function isOfKind(record: WireRecord, kind: Kind): boolean {
  return Object.hasOwn(record, nameFieldOf(kind)) || Object.hasOwn(record, `${kind.create.noun}_id`);
}

function nameFieldOf({ wireNames, nameProperty }: Kind): string {
  return wireNames[nameProperty] ?? "";
}

/**
 * Knows whether this installation has an operation. A bare 404 may mean that the path or the object does not exist: it counts for the
 * object only if the operation has worked for another one in this run.
 */
export class Witness {
  #unanswered = 0;
  #hasWorked = false;
  #change = Promise.withResolvers<void>();

  /** Runs one request, which others may wait for. */
  async during<T>(request: () => Promise<T>): Promise<T> {
    this.#unanswered++;
    try {
      return await request();
    } finally {
      this.#unanswered--;
      this.#changed();
    }
  }

  works(): void {
    this.#hasWorked = true;
    this.#changed();
  }

  /** Waits for requests in flight, if these may prove it. */
  async hasWorked(): Promise<boolean> {
    while (!this.#hasWorked && this.#unanswered > 0) await this.#change.promise;
    return this.#hasWorked;
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
