/**
 * What an answer proves about its request: one table of outcomes, whose objections are in one place ({@link objectionIn}). An outcome follows
 * only from what its function asks for, never from the absence of bad words, because an object that wrongly counts as gone, or a create that
 * wrongly counts as refused, is created a second time. What proves nothing is: of a create unknown, of anything else a named trouble. Pure.
 *
 * created   200 or 201, exactly one positive id, no objection, and no own name or advertiser other than was sent
 * refused   4xx but 408 and 499; a documented no; 301 to 303 to an address without a number: certainly not carried out
 * changed   an empty 200 or 204; or `success` true, no objection and no other id; or the object itself with each field as it was sent
 * deleted   the same without the last
 * gone      404, 410 or a refusal that says in a sentence that exactly this object does not exist, and nothing else; of a read an empty list;
 *           with a witness (the operation has found another object in this run) a bare 404 or 410; of a read null in the object's place
 * none      of a search, an empty list, and nothing beside it that is not known to be harmless
 */
import { enumerate, excerpt, own, type Values } from "../base/index.js";
import type { Kind, Operation } from "../kinds/index.js";
import { formsOf } from "../rules/index.js";
import {
  type Answer,
  anyPart,
  beginsWithError,
  folded,
  idIn,
  idsIn,
  isFilled,
  isSpoken,
  type Leaf,
  leavesOf,
  ownIdOf,
  recordsIn,
  saysRefused,
  shapeOf,
  WRAPPERS,
} from "./answer.js";
import { redirectOf } from "./session-refusal.js";

export type WireRecord = Values;

export type CreateJudgement =
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
  /** @param isSaid the answer's words say so, and are to be quoted. */
  | { readonly kind: "unclear"; readonly reason: string; readonly isSaid?: boolean };

/** There is no such object. @param needsWitness unless the operation has not worked for another one in this run. */
interface Gone {
  readonly kind: "gone";
  readonly needsWitness?: true;
}

export type Judgement = { readonly kind: "done"; readonly record?: WireRecord } | Gone | Trouble;

/** Assumptions: a 4xx is a refusal (408 and 499 say that the other side gave up waiting), and a redirect that names no object leads to a login. */
function provesNotDone(answer: Answer, noun: string): boolean {
  const { status, broken } = answer;
  if (status >= 400 && status < 500) return status !== 408 && status !== 499;
  if (status === 200 || status === 201) return broken === undefined && saysRefused(answer, noun);
  return redirectOf(answer) === "login";
}

/** Data with a status that says that it was done. 202 and 207 only say that something may have succeeded. */
function isMade({ status, kind, broken }: Answer): boolean {
  return (status === 200 || status === 201) && kind === "json" && broken === undefined;
}

/** What was to be done, with the names under which an answer may say whether it was. */
const DONE = {
  created: /^(is_?)?(created|saved)$|^count$|^affected/i,
  changed: /^(is_?)?(updated|changed|modified|saved)$|^count$|^affected/i,
  deleted: /^(is_?)?(deleted|removed)$|^count$|^affected/i,
  none: /^$/,
} as const;

const isYes = (value: unknown) => /^\s*(true|1)\s*$/i.test(String(value));
const isNothing = (value: unknown) => /^(false|0|none|null|)$/.test(String(value)) || isHollow(value);
const isHollow = (value: unknown) => typeof value === "object" && value !== null && !isFilled(value);
const FLAG = /^(is_?)?(success(ful)?|ok)$/i;
const STATE = /^(status|result|outcome)(_?code)?$/i;
const FAILED = /^(nok|ko|no|false|err(or)?|fail(ed|ure)?|denied|refused|rejected|unsuccessful|[45]\d\d)$/i;
const UNFINISHED = /^(0|queued|pending|accepted|scheduled|processing|in[ _]progress)$/i;
const ERROR = /^(errors?(_?(code|message|description))?|failed|failures?)$/i;

/** Whether a value says that something went wrong, by its name and those around it. */
function saysNo({ path, value, isWarned }: Leaf): boolean {
  const name = path.at(-1) ?? "";
  if (FLAG.test(name)) return !isYes(value);
  if (STATE.test(name)) return FAILED.test(String(value).trim());
  const isWarning = (isWarned && path.includes("errors")) || /^\s*WARNING/i.test(String(value));
  return path.some((each) => ERROR.test(each)) && !isNothing(value) && !isWarning;
}

/** Whether a value makes one doubt that something was done: a count of nothing, a wrapper with nothing, a state that is not the end. */
function isDoubtful({ path, value }: Leaf, act: keyof typeof DONE, isRecord: boolean): boolean {
  const name = path.at(-1) ?? "";
  if (DONE[act].test(name)) return /^(0|false)$/.test(String(value));
  if (path.length > 1) return false;
  if (name === "payload" && (act === "changed" || act === "deleted"))
    return value === null || (Array.isArray(value) && isHollow(value));
  // Of an object, the state is its own, such as "pending".
  return STATE.test(name) && !isRecord && UNFINISHED.test(String(value));
}

/**
 * Where an answer says no, or makes one doubt, at any depth, in words.
 * @param sent a request's values, because the name of an event may begin with "ERROR".
 */
function objectionIn({ data }: Answer, act: keyof typeof DONE, noun: string, sent: Values = {}): string | undefined {
  const isRecord = ownIdOf(data, noun) !== undefined;
  const isObjection = (leaf: Leaf) =>
    saysNo(leaf) ||
    isDoubtful(leaf, act, isRecord) ||
    (beginsWithError(leaf.value) && !leavesOf(sent).some(({ value }) => value === leaf.value));
  const found = leavesOf(data).find(isObjection);
  if (found === undefined) return undefined;
  const names = found.path.filter((name) => /^\w{1,40}$/.test(name)).join(".");
  return names === "" ? "its text says no" : `its ${names} says no`;
}

/** @param sent the request's fields. */
export function judgeCreate(answer: Answer, { noun }: Pick<Operation, "noun">, sent: Values): CreateJudgement {
  const { status, data } = answer;
  const unknown = (reason: string): CreateJudgement => ({ kind: "unknown", reason: `status ${status}${reason}` });
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

/** Why an answer is no data. */
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

/** Whether an answered value may stand for the one that was sent, such as "25.00" for 25. A field sent as null is absent then. */
function isSame(theirs: unknown, ours: unknown): boolean {
  const plain = (value: unknown) => folded((JSON.stringify(value ?? null) ?? "").replace(/^"|"$/g, ""));
  return formsOf(theirs).some((form) => plain(form) === plain(ours));
}

/** Judges the answer to an update or a delete. @param sent the changed fields. */
export function judgeChange(
  answer: Answer,
  kind: Kind,
  id: string,
  act: "changed" | "deleted",
  sent: Values = {},
): Judgement {
  const { noun } = kind.create;
  const { status, data, broken } = answer;
  if (answer.kind === "empty" && broken === undefined && (status === 200 || status === 204)) return { kind: "done" };
  const objection = isMade(answer) ? objectionIn(answer, act, noun, sent) : undefined;
  const other = isMade(answer) ? idsIn(data, noun).find((each) => each !== id) : undefined;
  if (isMade(answer) && objection === undefined && other === undefined) {
    if (anyPart(data, noun, (part) => isYes(own(part, "success")))) return { kind: "done" };
    const record = act === "changed" ? recordsIn(data, noun)[0] : undefined;
    if (record !== undefined && Object.keys(sent).every((name) => isSame(own(record, name), sent[name])))
      return { kind: "done" };
  }
  const gone = goneOf(answer, noun, id, false);
  // After an update that finds nothing the next run creates another: a bare 404 is not enough for that.
  const trouble = (act === "changed" && gone?.needsWitness ? undefined : gone) ?? troubleIn(answer, noun);
  if (trouble !== undefined) return trouble;
  if (objection !== undefined || other === undefined)
    return { kind: "unclear", reason: objection ?? "it does not say that it was done", isSaid: true };
  const it = excerpt(other, 30);
  const look = `look in the account for an object ${it} that nothing manages, and check advertising:operations`;
  return { kind: "unclear", reason: `the id ${it} in it proves nothing about this object: ${look}` };
}

/** @param id of the requested object: some servers ignore an unknown filter, and send other objects. */
export function judgeRead(answer: Answer, kind: Kind, id: string): Judgement {
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

/**
 * Filters are often patterns, and may be ignored: so listed objects are compared here, and only an empty list means that there are none.
 * @param field holds a create's mark.
 */
export function judgeSearch(
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

/** Whether a 200 has nothing (as `isIt` tests) in place of objects, and everything else in it is known to be harmless. */
function holdsOnly(answer: Answer, noun: string, isIt: (nothing: unknown) => boolean): boolean {
  if (answer.status !== 200 || !isMade(answer) || objectionIn(answer, "none", noun) !== undefined) return false;
  const places = [...WRAPPERS, noun, `${noun}s`];
  const harmless = harmlessBeside(noun);
  const isInPlace = ({ path, value, isEntry }: Leaf) =>
    typeof value === "object" && !isEntry && path.length <= 3 && path.every((name) => places.includes(name));
  const isHarmless = ({ path, value }: Leaf) =>
    harmless.test(`${path.at(-1)?.replace(/[_-]/g, "")}=${isHollow(value) ? "" : String(value).trim()}`);
  const leaves = leavesOf(answer.data);
  const nothing = leaves.find((leaf) => isInPlace(leaf) && isIt(leaf.value));
  return nothing !== undefined && leaves.every((leaf) => isInPlace(leaf) || isHarmless(leaf));
}

/** What may be beside an empty list, as `name=value`. */
function harmlessBeside(noun: string): RegExp {
  const objects = `(${noun}s?|objects?|records?|results?)`;
  return new RegExp(
    `^((is)?(success(ful)?|ok)=(true|1)|(status(code)?|code|result)=(ok|success|200)` +
      `|(errors?|warnings?|errorcode|errormessage|messages?|(has)?more|next|prev(ious)?|meta|links)=(false|0|none|null)?` +
      `|(total|count|found|results|records)(count|results|records)?=0|offset=0|((current|last|total)?pages?)=[01]|limit=[1-9]\\d*` +
      `|(messages?|msg|detail|payload)=(ok|success|nothing found|(0|no) ${objects} found|${objects} retrieved successfully)[.!]?)$`,
    "i",
  );
}

/** Statuses that may say whether the object is there; others are about a login, a permission, a method, a conflict, a lock or time. */
const OF_THE_OBJECT = [400, 404, 406, 410, 422];
/** Phrases without a meaning of their own: those that repeat the status, accompany an absence, or are flags. */
const HOLLOW =
  /^((error:? )?((404|410)[ :-]*)?(((resource|object|record|entity|page) )?(not found|gone))?|(error:? )?there (was a|were) problems?|with your request|true|false|error|fail(ed|ure)?)[.:!]?$/i;

/** What a refusal says, if it says nothing else and has no object: that exactly this object does not exist, or no more than its status. */
function absenceIn(answer: Answer, noun: string, id: string): "this object" | "bare" | undefined {
  const { status, kind, data, body, broken } = answer;
  const isRefusal = status === 200 ? saysRefused(answer, noun) : OF_THE_OBJECT.includes(status);
  const isReadable = broken === undefined && kind !== "html";
  if (!isRefusal || !isReadable || recordsIn(data, noun).length > 0) return undefined;
  const absence = absenceOf(noun, id);
  const code = new RegExp(`^(${status}|((resource|object|record|entity|${noun})_)?(not_?found|gone))$`, "i");
  const leaves = leavesOf(kind === "text" ? body : data).map((leaf) => ({ ...leaf, text: String(leaf.value).trim() }));
  const isCode = ({ path }: Leaf) => /code$/i.test(path.at(-1) ?? "");
  const codes = leaves.filter((leaf) => isCode(leaf) && !code.test(leaf.text));
  // What is said anywhere: words in their places, and sentences.
  const texts = leaves
    .filter((leaf) => !isCode(leaf) && typeof leaf.value === "string")
    .filter((leaf) => isSpoken(leaf) || (/\s/.test(leaf.text) && /\p{L}{2}/u.test(leaf.text)))
    .map(({ text }) => text.replaceAll("_", " "));
  const isHollowText = (text: string) => HOLLOW.test(text) || text.toLowerCase() === `${noun} not found`;
  if (texts.some((text) => !absence.test(text) && !isHollowText(text))) return undefined;
  if (!codes.every(({ text }) => /^\d+$/.test(text))) return undefined;
  if (texts.some((text) => absence.test(text))) return "this object";
  return (status === 404 || status === 410) && codes.length === 0 ? "bare" : undefined;
}

/** The sentences that say that an object does not exist: with its kind and its id, and nothing after them. */
function absenceOf(noun: string, id: string): RegExp {
  const literally = id.replace(/[^\w-]/g, "\\$&");
  const it = `(the )?(object|record|entity|${noun}):?( with)?( the)?( id)?( ?[:=#])? ?["'(]?${literally}["')]?`;
  return new RegExp(
    `^(error:? )?(` +
      `(could not|can ?not|unable to|failed to) (load|find) ${it}( to (delete|update|load|read))?` +
      `|${it} ((was |is )?not|could not be|can ?not be) (found|loaded)|${it} (does not exist|no longer exists|is gone)` +
      `|${it} (has|is|was) (already )?(been )?(deleted|removed)|(there is )?no (such )?${it}( found)?)\\.?$`,
    "i",
  );
}
