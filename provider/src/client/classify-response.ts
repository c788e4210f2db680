/**
 * What a response proves about its request. An outcome follows only from what its function asks for, never from the
 * absence of bad words: an object that wrongly counts as gone, or a create that wrongly counts as refused, is created a
 * second time. What proves nothing is unknown for a create, and an error for anything else. Status, flags, ids and
 * lists decide; a sentence never does. Pure.
 *
 * created   200 or 201, exactly one positive id, no objection, and no own name or advertiser other than was sent
 * refused   4xx but 408 and 499; a documented no; 301 to 303 to an address without a number: certainly not carried out
 * changed   an empty 200 or 204; or `success` true, no objection and no other id; or the object with each field as sent
 * deleted   the same without the last
 * gone      404 or 410 to a read or a delete, an empty list or `null` to a read; but only if the same operation has found
 *           another object in this run, which the caller knows
 * none      of a search, an empty list, and nothing beside it that is not known to be harmless
 */
import { enumerate, excerpt, own, type Values } from "../base/index.js";
import type { Kind, Operation } from "../kinds/index.js";
import { formsOf } from "../rules/index.js";
import {
  anyPart,
  folded,
  idIn,
  idsIn,
  type Leaf,
  leavesOf,
  ownIdOf,
  type ParsedResponse,
  recordsIn,
  saysRefused,
  shapeOf,
  WRAPPERS,
} from "./answer.js";
import { type Act, isNullOrEmpty, isYes, objectionIn } from "./objection.js";
import { redirectOf } from "./session-problem.js";

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
  | { readonly kind: "unclear"; readonly reason: string };

export type Verdict =
  | { readonly kind: "done"; readonly record?: WireRecord }
  /** There is no such object, if the operation has found another one in this run. */
  | { readonly kind: "gone" }
  | Trouble;

/** The object that a request is about. */
export interface LiveObject {
  readonly kind: Kind;
  readonly id: string;
}

export function classifyCreate(
  answer: ParsedResponse,
  { noun }: Pick<Operation, "noun">,
  sent: Values,
): CreateVerdict {
  const { status, data } = answer;
  const unknown = (reason: string): CreateVerdict => ({
    kind: "unknown",
    reason: `status ${status}${reason}`,
  });
  if (isRefused(answer, noun)) return { kind: "refused" };
  // 307 and 308 ask for the same POST elsewhere, and what the first address did with it is not known; nor is it if the
  // response points to what may be the new object.
  if (status >= 300 && status < 400) return unknown(", a redirect, which is never followed");
  if (status < 200 || status >= 300) return unknown("");
  const unreadable = unreadableIn(answer);
  if (unreadable !== undefined) return unknown(`, but ${unreadable}`);
  const id = idIn(data, noun);
  if (id === undefined) {
    const ids = idsIn(data, noun).filter((text) => /^\d{1,30}$/.test(text));
    if (ids.length === 0) return unknown(`, but without a readable id (${shapeOf(data)})`);
    return unknown(`, with the id ${enumerate(ids, 10)}: not clearly the id of one new object`);
  }
  // 202 and 207 only say that something may have succeeded.
  if (status !== 200 && status !== 201)
    return unknown(`, with the id ${id}: that is not the status of an object that was created`);
  const objection =
    objectionIn(answer, "created", noun, sent) ?? contradictionIn(data, noun, sent);
  if (objection !== undefined) return unknown(`, with the id ${id}, but ${objection}`);
  return { kind: "created", id };
}

export function classifyUpdate(
  answer: ParsedResponse,
  target: LiveObject,
  sent: Values,
): Verdict {
  const { noun } = target.kind.create;
  if (isEmptySuccess(answer)) return { kind: "done" };
  const trouble = troubleIn(answer, noun) ?? changeTrouble(answer, target, "changed", sent);
  if (trouble !== undefined) return trouble;
  const [record] = recordsIn(answer.data, noun);
  const isAsSent = (name: string) => isSame(own(record, name), sent[name]);
  if (record !== undefined && Object.keys(sent).every(isAsSent)) return { kind: "done" };
  return classifySuccess(answer, noun);
}

export function classifyDelete(answer: ParsedResponse, target: LiveObject): Verdict {
  const { noun } = target.kind.create;
  if (isEmptySuccess(answer)) return { kind: "done" };
  if (isNotFound(answer, noun)) return { kind: "gone" };
  return (
    troubleIn(answer, noun) ??
    changeTrouble(answer, target, "deleted") ??
    classifySuccess(answer, noun)
  );
}

export function classifyRead(answer: ParsedResponse, { kind, id }: LiveObject): Verdict {
  const { noun } = kind.create;
  const isNothing = (value: unknown) => value === null || Array.isArray(value);
  if (isNotFound(answer, noun) || hasOnly(answer, noun, isNothing)) return { kind: "gone" };
  const trouble = troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const records = recordsIn(answer.data, noun);
  if (records.length === 0) return unclearBecause("it has no object with an id");
  // Some servers ignore an unknown filter, and send other objects. An object of another kind may have the same id.
  const nameField = kind.wireNames[kind.nameProperty] ?? "";
  const isOfKind = (record: Values) =>
    Object.hasOwn(record, nameField) || Object.hasOwn(record, `${noun}_id`);
  const [record, ...others] = records.filter(
    (found) => ownIdOf(found, noun) === id && isOfKind(found),
  );
  if (record === undefined || others.length > 0)
    return unclearBecause("it has another object, or more than one");
  return { kind: "done", record };
}

/** Filters are often patterns, or ignored: listed objects are compared here, and only an empty list means none. */
export function classifySearch(
  answer: ParsedResponse,
  { create: { noun } }: Kind,
  field: string,
  mark: string,
): { readonly kind: "listed"; readonly ids: readonly string[] } | Trouble {
  const trouble = troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  const records = recordsIn(answer.data, noun);
  const found = records.filter((record) => own(record, field) === mark);
  const ids = found.flatMap((record) => ownIdOf(record, noun) ?? []);
  if (ids.length > 0 || hasOnly(answer, noun, Array.isArray))
    return { kind: "listed", ids: [...new Set(ids)] };
  if (records.length > 0)
    return unclearBecause("it has other objects: is the filter known there?");
  return unclearBecause("it has no list of objects with ids");
}

function unclearBecause(reason: string): Trouble {
  return { kind: "unclear", reason };
}

/** Assumed: a 4xx but 408 and 499 (the peer gave up) is a refusal; a redirect that names no object leads to a login. */
function isRefused(answer: ParsedResponse, noun: string): boolean {
  const { status, broken } = answer;
  if (status >= 400 && status < 500) return status !== 408 && status !== 499;
  if (status === 200 || status === 201)
    return broken === undefined && saysRefused(answer, noun);
  return redirectOf(answer) === "login";
}

/** The trouble that the status, a flag or the kind of body shows, before the data is read. */
function troubleIn(answer: ParsedResponse, noun: string): Trouble | undefined {
  const { status, broken } = answer;
  const unreadable = unreadableIn(answer);
  if (broken !== undefined) return unclearBecause(String(unreadable));
  if (isRefused(answer, noun)) return { kind: "refused" };
  if (status !== 200 && status !== 201) return unclearBecause(`status ${status}`);
  if (unreadable !== undefined) return unclearBecause(unreadable);
  return undefined;
}

function unreadableIn({ kind, broken }: ParsedResponse): string | undefined {
  if (broken !== undefined) return `its body is not whole or not readable (${broken})`;
  return {
    json: undefined,
    empty: "it is empty",
    html: "it is an HTML page",
    text: "it is not JSON",
  }[kind];
}

function isEmptySuccess({ status, kind, broken }: ParsedResponse): boolean {
  return kind === "empty" && broken === undefined && (status === 200 || status === 204);
}

/** A page may be any server's, and one that holds an object doesn't say that there is none. */
function isNotFound({ status, kind, data, broken }: ParsedResponse, noun: string): boolean {
  if (status !== 404 && status !== 410) return false;
  return broken === undefined && kind !== "html" && recordsIn(data, noun).length === 0;
}

function classifySuccess({ data }: ParsedResponse, noun: string): Verdict {
  if (anyPart(data, noun, (part) => isYes(own(part, "success")))) return { kind: "done" };
  return unclearBecause("it does not say that it was done");
}

/** What makes one doubt that an object was changed or deleted: an objection, or another object's id. */
function changeTrouble(
  answer: ParsedResponse,
  { kind, id }: LiveObject,
  act: Act,
  sent: Values = {},
): Trouble | undefined {
  const { noun } = kind.create;
  const objection = objectionIn(answer, act, noun, sent);
  if (objection !== undefined) return unclearBecause(objection);
  const other = idsIn(answer.data, noun).find((found) => found !== id);
  if (other === undefined) return undefined;
  const shown = excerpt(other, 30);
  const look = `look in the account for an object ${shown} that nothing manages, and check advertising:operations`;
  return unclearBecause(`the id ${shown} in it proves nothing about this object: ${look}`);
}

/** Whether the object of a response has another name or advertiser than was sent. */
function contradictionIn(data: unknown, noun: string, sent: Values): string | undefined {
  const [record] = recordsIn(data, noun);
  const field = [`${noun}_name`, "advertiser_id"].find((name) => {
    const theirs = own(record, name) ?? undefined;
    return theirs !== undefined && own(sent, name) !== undefined && !isSame(theirs, sent[name]);
  });
  return field && `its ${field} is not what was sent`;
}

/** Whether an answered value may stand for the sent one, like "25.00" for 25. A field sent as null is absent then. */
function isSame(theirs: unknown, ours: unknown): boolean {
  const plain = (value: unknown) =>
    folded((JSON.stringify(value ?? null) ?? "").replace(/^"|"$/g, ""));
  return formsOf(theirs).some((form) => plain(form) === plain(ours));
}

/** What may be beside an empty list: a name, in small letters and without separators, and its values. */
const HARMLESS: readonly (readonly [name: RegExp, value: RegExp])[] = [
  [/^(is)?(success(ful)?|ok)$/, /^(true|1)$/],
  [/^(status(code)?|code|result|messages?|msg|detail)$/, /^(ok|success|200)$/],
  [
    /^(errors?|warnings?|error(code|message)|messages?|(has)?more|next|prev(ious)?|meta|links)$/,
    /^(false|0|none|null|)$/,
  ],
  [/^((total|count|found|results|records)(count|results|records)?|offset)$/, /^0$/],
  [/^(current|last|total)?pages?$/, /^[01]$/],
  [/^limit$/, /^[1-9]\d*$/],
];

/** Whether a 200 has nothing (as `isNothing` tests) in place of objects, and all else in it is harmless. */
function hasOnly(
  answer: ParsedResponse,
  noun: string,
  isNothing: (value: unknown) => boolean,
): boolean {
  const { status, kind, data, broken } = answer;
  if (status !== 200 || kind !== "json" || broken !== undefined) return false;
  const places = [...WRAPPERS, noun, `${noun}s`];
  const isInPlace = ({ path, value, isEntry }: Leaf) =>
    typeof value === "object" &&
    !isEntry &&
    path.length <= 3 &&
    path.every((name) => places.includes(name));
  const leaves = leavesOf(data);
  const hasNothing = leaves.some((leaf) => isInPlace(leaf) && isNothing(leaf.value));
  return hasNothing && leaves.every((leaf) => isInPlace(leaf) || isHarmless(leaf));
}

function isHarmless({ path, value }: Leaf): boolean {
  const name = (path.at(-1) ?? "").toLowerCase().replace(/[_-]/g, "");
  const text = isNullOrEmpty(value) ? "" : String(value).trim().toLowerCase();
  return HARMLESS.some(([names, values]) => names.test(name) && values.test(text));
}
