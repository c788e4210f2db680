/**
 * What an answer proves about its request. An outcome follows only from what its function asks for, never from the
 * absence of bad words: an object that wrongly counts as gone, or a create that wrongly counts as refused, is created a
 * second time. What proves nothing is of a create unknown, of anything else a named trouble. Pure.
 *
 * created   200 or 201, exactly one positive id, no objection, and no own name or advertiser other than was sent
 * refused   4xx but 408 and 499; a documented no; 301 to 303 to an address without a number: certainly not carried out
 * changed   an empty 200 or 204; or `success` true, no objection and no other id; or the object with each field as sent
 * deleted   the same without the last
 * gone      404, 410 or a refusal whose only sentence says that this very object does not exist; a read's empty list;
 *           with a witness (the operation found another in this run) a bare 404 or 410; a read's null for the object
 * none      of a search, an empty list, and nothing beside it that is not known to be harmless
 */
import { enumerate, excerpt, own, type Values } from "../base/index.js";
import type { Kind, Operation } from "../kinds/index.js";
import { formsOf } from "../rules/index.js";
import { type Answer, anyPart, folded, idIn, idsIn, ownIdOf, recordsIn, saysRefused, shapeOf } from "./answer.js";
import { absenceIn, holdsOnly, isMade, isYes, objectionIn, redirectOf } from "./response-signs.js";

export type WireRecord = Values;

export type CreateVerdict =
  | { readonly kind: "created"; readonly id: string }
  /** It was surely not acted upon. */
  | { readonly kind: "refused" }
  /** It was created or perhaps created, and its id is not known for certain. */
  | { readonly kind: "unknown"; readonly reason: string };

/** The platform did not carry out the request, or did not say clearly that it did. */
export type Trouble =
  | { readonly kind: "refused" }
  /** No such operation, or no such object. */
  | { readonly kind: "missing" }
  | { readonly kind: "unclear"; readonly reason: string };

/** There is no such object. @param needsWitness unless the operation has not worked for another one in this run. */
interface Gone {
  readonly kind: "gone";
  readonly needsWitness?: true;
}

export type Verdict = { readonly kind: "done"; readonly record?: WireRecord } | Gone | Trouble;

/** Assumed: a 4xx but 408 and 499 (the peer gave up) is a refusal; a redirect that names no object leads to a login. */
function provesNotDone(answer: Answer, noun: string): boolean {
  const { status, broken } = answer;
  if (status >= 400 && status < 500) return status !== 408 && status !== 499;
  if (status === 200 || status === 201) return broken === undefined && saysRefused(answer, noun);
  return redirectOf(answer) === "login";
}

export function classifyCreate(answer: Answer, { noun }: Pick<Operation, "noun">, sent: Values): CreateVerdict {
  const { status, data } = answer;
  const unknown = (reason: string): CreateVerdict => ({ kind: "unknown", reason: `status ${status}${reason}` });
  if (provesNotDone(answer, noun)) return { kind: "refused" };
  if (status >= 300 && status < 400) {
    // 307 and 308 ask for the same POST elsewhere, and what the first address did with it is not known; nor is it if
    // the answer points to what may be the new object.
    return unknown(", a redirect, which is never followed");
  }
  if (status < 200 || status >= 300) return unknown("");
  const unreadable = unreadableIn(answer);
  if (unreadable !== undefined) return unknown(`, but ${unreadable}`);
  const id = idIn(data, noun);
  if (id === undefined) {
    const ids = idsIn(data, noun).filter((each) => /^\d{1,30}$/.test(each));
    if (ids.length === 0) return unknown(`, but without a readable id (${shapeOf(data)})`);
    return unknown(`, with the id ${enumerate(ids, 10)}: not clearly the id of one new object`);
  }
  if (!isMade(answer)) return unknown(`, with the id ${id}: that is not the status of an object that was created`);
  const objection = objectionIn(answer, "created", noun, sent) ?? contradictionIn(data, noun, sent);
  return objection === undefined ? { kind: "created", id } : unknown(`, with the id ${id}, but ${objection}`);
}

function unreadableIn({ kind, broken }: Answer): string | undefined {
  if (broken !== undefined) return `its body is not whole or not readable (${broken})`;
  return { json: undefined, empty: "it is empty", html: "it is an HTML page", text: "it is not JSON" }[kind];
}

/** Whether the object of an answer has another name or advertiser than was sent. */
function contradictionIn(data: unknown, noun: string, sent: Values): string | undefined {
  const [record] = recordsIn(data, noun);
  const field = [`${noun}_name`, "advertiser_id"].find((name) => {
    const theirs = own(record, name);
    return theirs !== undefined && theirs !== null && own(sent, name) !== undefined && !isSame(theirs, sent[name]);
  });
  return field === undefined ? undefined : `its ${field} is not what was sent`;
}

/** Whether an answered value may stand for the sent one, like "25.00" for 25. A field sent as null is absent then. */
function isSame(theirs: unknown, ours: unknown): boolean {
  const plain = (value: unknown) => folded((JSON.stringify(value ?? null) ?? "").replace(/^"|"$/g, ""));
  return formsOf(theirs).some((form) => plain(form) === plain(ours));
}

export function classifyChange(
  answer: Answer,
  kind: Kind,
  id: string,
  act: "changed" | "deleted",
  sent: Values = {},
): Verdict {
  const { noun } = kind.create;
  const { status, data, broken } = answer;
  if (answer.kind === "empty" && broken === undefined && (status === 200 || status === 204)) return { kind: "done" };
  const gone = goneOf(answer, noun, id, false);
  // After an update that finds nothing the next run creates another: a bare 404 is not enough for that.
  const trouble = (act === "changed" && gone?.needsWitness ? undefined : gone) ?? troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const objection = objectionIn(answer, act, noun, sent);
  if (objection !== undefined) return { kind: "unclear", reason: objection };
  const other = idsIn(data, noun).find((each) => each !== id);
  if (other !== undefined) {
    const it = excerpt(other, 30);
    const look = `look in the account for an object ${it} that nothing manages, and check advertising:operations`;
    return { kind: "unclear", reason: `the id ${it} in it proves nothing about this object: ${look}` };
  }
  const [record] = act === "changed" ? recordsIn(data, noun) : [];
  const isAsSent = (name: string) => isSame(own(record, name), sent[name]);
  const isDone = record !== undefined && Object.keys(sent).every(isAsSent);
  if (isDone || anyPart(data, noun, (part) => isYes(own(part, "success")))) return { kind: "done" };
  return { kind: "unclear", reason: "it does not say that it was done" };
}

/** @param id of the requested object: some servers ignore an unknown filter, and send other objects. */
export function classifyRead(answer: Answer, kind: Kind, id: string): Verdict {
  const { noun } = kind.create;
  const trouble = goneOf(answer, noun, id, true) ?? troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const records = recordsIn(answer.data, noun);
  const found = records.filter((record) => ownIdOf(record, noun) === id);
  // An object of another kind may have the same id.
  const nameField = kind.wireNames[kind.nameProperty] ?? "";
  const [record, ...more] = found.filter((each) => Object.hasOwn(each, nameField) || Object.hasOwn(each, `${noun}_id`));
  if (record !== undefined && more.length === 0) return { kind: "done", record };
  const what = records.length === 0 ? "no object with an id" : "another object, or more than one";
  return { kind: "unclear", reason: `it has ${what}` };
}

/** Filters are often patterns, or ignored: listed objects are compared here, and only an empty list means none. */
export function classifySearch(
  answer: Answer,
  { create: { noun } }: Kind,
  field: string,
  mark: string,
): { readonly kind: "listed"; readonly ids: readonly string[] } | Trouble {
  const trouble = troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const records = recordsIn(answer.data, noun);
  const ids = records.filter((record) => own(record, field) === mark).flatMap((each) => ownIdOf(each, noun) ?? []);
  if (ids.length > 0 || holdsOnly(answer, noun, Array.isArray)) return { kind: "listed", ids: [...new Set(ids)] };
  const what = records.length === 0 ? "no list of objects with ids" : "other objects: is the filter known there?";
  return { kind: "unclear", reason: `it has ${what}` };
}

/** @param isRead an update or a delete may be answered by nothing after it was carried out. */
function goneOf(answer: Answer, noun: string, id: string, isRead: boolean): Gone | undefined {
  const absence = absenceIn(answer, noun, id);
  if (absence === "this object" || (isRead && holdsOnly(answer, noun, Array.isArray))) return { kind: "gone" };
  const isNothing = absence === "bare" || (isRead && holdsOnly(answer, noun, (value) => !Array.isArray(value)));
  return isNothing ? { kind: "gone", needsWitness: true } : undefined;
}

/** The trouble that the status, a flag or the kind of body shows, before the data is read. */
function troubleIn(answer: Answer, noun: string): Trouble | undefined {
  const { status, broken } = answer;
  const unreadable = unreadableIn(answer);
  if (broken !== undefined) return { kind: "unclear", reason: String(unreadable) };
  if (status === 404 || status === 410) return { kind: "missing" };
  if (provesNotDone(answer, noun)) return { kind: "refused" };
  const reason = status !== 200 && status !== 201 ? `status ${status}` : unreadable;
  return reason === undefined ? undefined : { kind: "unclear", reason };
}
