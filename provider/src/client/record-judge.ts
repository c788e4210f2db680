/**
 * What an answer to a read, an update, a delete or a search says: the object, that it is not there, or neither. Pure; the only
 * place that judges it. Only what is certain counts: an object that is taken for gone is created a second time, and so is one
 * that a search is taken not to know.
 */

import { asRecord, own, type Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { Answer } from "./answer.js";
import { holdersIn, ownIdOf, readId } from "./own-id.js";
import { saysRefused, statedBy } from "./verdict.js";

export type WireRecord = Values;

/** The platform did not do what was asked, or did not say so clearly. */
export type Trouble =
  | { readonly kind: "refused" }
  /** No such operation, or no such object. @param isBare it says nothing of which; otherwise it speaks of something else. */
  | { readonly kind: "not-found"; readonly isBare: boolean }
  /** The path takes no such method: not an operation of this installation. */
  | { readonly kind: "no-operation" }
  | { readonly kind: "unclear"; readonly reason: string };

export type ReadJudgement =
  | { readonly kind: "found"; readonly record: WireRecord }
  | { readonly kind: "gone" }
  | Trouble;
export type ChangeJudgement =
  | { readonly kind: "done"; readonly id: string | undefined }
  | { readonly kind: "gone" }
  | Trouble;
export type SearchJudgement = { readonly kind: "listed"; readonly ids: readonly string[] } | Trouble;

/** @param id the object's that was asked for: some servers ignore a filter that they don't know, and send others. */
export function judgeRead(answer: Answer, kind: Kind, id: string): ReadJudgement {
  const trouble = troubleIn(answer, kind, id);
  if (trouble !== undefined) return trouble;
  if (answer.kind !== "json") return { kind: "unclear", reason: noDataIn(answer.kind) };
  const { noun } = kind.create;
  const records = recordsIn(answer.data, noun);
  const found = records.filter((record) => ownIdOf(record, noun) === id);
  const [record, ...more] = found.filter((each) => isOfKind(each, kind));
  if (record !== undefined && more.length === 0) return { kind: "found", record };
  if (found.length > 0) {
    const what = record === undefined ? `an object without ${nameFieldOf(kind)}` : "several objects with this id";
    return { kind: "unclear", reason: `it holds ${what}` };
  }
  if (records.length === 0 && (holdsEmptyList(answer.data, noun) || hasEmptyPayload(answer.data)))
    return saysMore(answer) ? { kind: "unclear", reason: MORE } : { kind: "gone" };
  const others = records.flatMap((each) => ownIdOf(each, noun) ?? []);
  const what = others.length === 0 ? "no object with an id" : `others, such as ${others.slice(0, 3).join(", ")}`;
  return { kind: "unclear", reason: `it holds ${what}` };
}

/** Of an update or a delete. */
export function judgeChange(answer: Answer, kind: Kind, id: string): ChangeJudgement {
  const trouble = troubleIn(answer, kind, id);
  if (trouble !== undefined) return trouble;
  if (answer.kind === "empty") return { kind: "done", id: undefined };
  if (answer.kind !== "json") return { kind: "unclear", reason: noDataIn(answer.kind) };
  return { kind: "done", id: readId(answer.data, kind.create.noun) };
}

/**
 * Filters are often patterns, and may be ignored: what is listed is compared here, and only an empty list says that there is
 * nothing.
 * @param field holds a create's mark.
 */
export function judgeSearch(answer: Answer, kind: Kind, field: string, mark: string): SearchJudgement {
  const trouble = troubleIn(answer, kind, undefined);
  if (trouble !== undefined) return trouble.kind === "gone" ? { kind: "not-found", isBare: false } : trouble;
  if (answer.kind !== "json") return { kind: "unclear", reason: noDataIn(answer.kind) };
  const { noun } = kind.create;
  const records = recordsIn(answer.data, noun);
  const ids = records.filter((record) => own(record, field) === mark).flatMap((each) => ownIdOf(each, noun) ?? []);
  if (ids.length > 0) return { kind: "listed", ids: [...new Set(ids)] };
  if (records.length === 0 && holdsEmptyList(answer.data, noun))
    return saysMore(answer) ? { kind: "unclear", reason: MORE } : { kind: "listed", ids: [] };
  const what = records.length === 0 ? "no list of objects with ids" : "other objects: is the filter known there?";
  return { kind: "unclear", reason: `it holds ${what}` };
}

/** What a status, or a flag in the body, says before anything else is looked at. @param id none where no object was asked for. */
function troubleIn(
  answer: Answer,
  kind: Kind,
  id: string | undefined,
): { readonly kind: "gone" } | Trouble | undefined {
  const { status, broken } = answer;
  const isGone = id !== undefined && saysNotThere(answer, kind.create.noun, id);
  if (broken !== undefined) return { kind: "unclear", reason: `its body is not whole or not readable (${broken})` };
  if (status === 410) return { kind: "gone" };
  if (status === 404 && answer.kind === "json" && recordsIn(answer.data, kind.create.noun).length > 0)
    return { kind: "unclear", reason: "it holds an object all the same" };
  if (status === 404)
    return isGone
      ? { kind: "gone" }
      : { kind: "not-found", isBare: answer.kind !== "html" && statedBy(answer).every(isBare) };
  if (status === 405 || status === 501) return { kind: "no-operation" };
  if (status === 401 || status === 403) return { kind: "refused" };
  if (status >= 400 && status < 500 && status !== 408 && status !== 499) return { kind: isGone ? "gone" : "refused" };
  if (status < 200 || status >= 300) return { kind: "unclear", reason: `status ${status}` };
  if (saysRefused(answer, kind.create.noun)) return { kind: isGone ? "gone" : "refused" };
  return undefined;
}

const NOT_THERE =
  /\b(could|can|did) ?(not|n't) (be )?(load|find|found|locate|retrieve)|\bcan(no|')t (be )?(load|find|found|locate|retrieve)|\b(unable|failed) to (load|find|locate|retrieve)\b|\bnot found\b|\bno such\b|\bdo(es)? ?(not|n't) exist\b|\b(has been|was|is) (already )?(deleted|removed)\b|\bno (object|record|entity|event|advertiser) (with|for|has)\b/i;
/** What else may be missing: the operation itself, or what has to be there besides. */
const SOMETHING_ELSE =
  /\/\w|\b(routes?|ur[il]s?|paths?|pages?|endpoints?|methods?|actions?|controllers?|handlers?|templates?|views?|users?|accounts?|sessions?|permissions?|segments?|files?|classe?s?|tables?|databases?|hosts?|services?)\b/i;
/** A moment's trouble, which words like "could not load" may be about as well. */
const PASSING =
  /time(d)?[- ]?out|\b(dead)?lock(ed)?\b|temporar|try again|\blater\b|unavailable|overload|maintenance|internal|exceeded|connect|quota|limit|busy|exception|backend|\bquery\b|tenant/i;
/** With these verbs, only the object's own id tells that it is about its absence. */
const COULD_NOT_LOAD = /\b(load|retrieve)\b/i;
/** All that an answer says which tells of nothing but its status. */
const BARE = /^(error:? )?(\w+ )?(404[ :-]*)?((resource |object |record |entity |page )?not[ _]found)?\.?$/i;
const OBJECT = /\b(object|record|entity)\b/i;

/** Whether it says in words that it could not load just this object. */
function saysNotThere(answer: Answer, noun: string, id: string): boolean {
  const ofNoun = new RegExp(`\\b${noun}\\b`, "i");
  const others = ["advertiser", "event"].filter((other) => other !== noun);
  const isOfAnother = new RegExp(`\\b(${others.join("|")})s?\\b`, "i");
  return statedBy(answer).some((sentence) => {
    const text = sentence.replaceAll("_", " ");
    if (!NOT_THERE.test(text) || SOMETHING_ELSE.test(text) || PASSING.test(text) || isOfAnother.test(text))
      return false;
    if (new RegExp(`(?<!\\d)${id}(?!\\d)`).test(text)) return true;
    return !COULD_NOT_LOAD.test(text) && (ofNoun.test(text) || OBJECT.test(text));
  });
}

function isBare(sentence: string): boolean {
  return BARE.test(sentence.replaceAll("_", " "));
}

const MORE = "it holds no object, and says something besides";
/** What a success may say of an empty list. */
const NOTHING_ELSE =
  /^(ok|done|\w+ (0|200)|0 .*|(there (are|is) )?no (more )?(results?|records?|data|objects?|items?|entries|rows|match(es)?|events?|advertisers?)\b.*|.* not found|.*\b(empty|nothing|none)\b.*|(?!.*\bnot\b).*\bsuccess(ful(ly)?)?\b.*)\.?$/i;
const AMOUNT =
  /^(total|count|size|hits|matches|found|results|records|num|number)(_?(of_)?(count|results|records|items|hits|rows|found|objects))?$/i;

/** Whether an answer that holds nothing is more than that: a warning, an error beside a success, an amount, a part of a whole. */
function saysMore(answer: Answer): boolean {
  if (answer.status !== 200) return true;
  if (statedBy(answer).some((sentence) => !NOTHING_ELSE.test(sentence) || PASSING.test(sentence))) return true;
  const top = asRecord(answer.data);
  const places = [top, ...Object.values(top).map(asRecord)];
  return places.some((place) => Object.entries(place).some(([name, value]) => AMOUNT.test(name) && Number(value) > 0));
}

/** Every object that may be one of those that were asked for. */
function recordsIn(value: unknown, noun: string): WireRecord[] {
  const parts = Array.isArray(value) ? [value] : [...holdersIn(value, noun)];
  const records = parts.flatMap((part) => (Array.isArray(part) ? part : [part])).map(asRecord);
  return [...new Set(records)].filter((record) => ownIdOf(record, noun) !== undefined);
}

/** A page of something else may hold the same id. */
function isOfKind(record: WireRecord, kind: Kind): boolean {
  return Object.hasOwn(record, nameFieldOf(kind)) || Object.hasOwn(record, `${kind.create.noun}_id`);
}

function nameFieldOf({ wireNames, nameProperty }: Kind): string {
  return wireNames[nameProperty] ?? "";
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function holdsEmptyList(value: unknown, noun: string): boolean {
  return isEmptyList(value) || [...holdersIn(value, noun)].some(isEmptyList);
}

function hasEmptyPayload(value: unknown): boolean {
  const record = asRecord(value);
  if (!Object.hasOwn(record, "payload")) return false;
  const { payload } = record;
  return payload === null || isEmptyList(payload) || (typeof payload === "object" && Object.keys(payload).length === 0);
}

function noDataIn(kind: Answer["kind"]): string {
  return kind === "empty" ? "it is empty" : kind === "html" ? "it is an HTML page" : "it is no JSON";
}
