/**
 * The evidence in an answer: which answers prove that an object was created, changed or deleted, that it is gone, or that a search finds
 * none. Each of these outcomes follows only from this file's table, never from the absence of bad words, because an object that wrongly
 * counts as gone, or a create that wrongly counts as not carried out, is created a second time. An answer that proves nothing is judged in
 * `judgement.ts`: a create was refused (by its status, or by `saysRefused` here) or is unknown, and everything else is trouble. Pure.
 */
import { own, printable } from "../base/index.js";
import {
  type Answer,
  documented,
  idIn,
  idsIn,
  isEmpty,
  type Leaf,
  leavesOf,
  namesTo,
  recordsIn,
  type Statement,
  said,
  WRAPPERS,
} from "./answer.js";
import { isSentence } from "./words.js";

export interface About {
  /** The name of its kind on the wire. */
  readonly noun: string;
  /** Which object; absent for a create and a search. */
  readonly id?: string;
}

export type Outcome = "created" | "changed" | "deleted" | "gone" | "none";

interface Evidence {
  readonly proof: string;
  readonly isIn: (answer: Answer, about: About) => boolean;
  /** Only of a read: an update or a delete may answer so after it was carried out. */
  readonly ofReads?: true;
  /** It counts only if the same operation has worked for another object in this run, because a wrong path answers so too. */
  readonly needsWitness?: true;
}

/** @param done the names under which an answer may say whether it was. */
const carriedOut = (done: RegExp): readonly Evidence[] => [
  { proof: "an empty 200 or 204", isIn: ({ status, kind }) => kind === "empty" && (status === 200 || status === 204) },
  {
    proof: "200 or 201 with the object's own id, and nothing that says no",
    isIn: (answer, { noun, id }) => isMade(answer) && idIn(answer.data, noun) === id && !denies(answer, done),
  },
  {
    proof: "200 with a success that is true, no other id, and nothing that says no",
    isIn: (answer, { noun }) =>
      isWell(answer) && saysYes(answer, noun) && idsIn(answer.data, noun).length === 0 && !denies(answer, done),
  },
];

const EMPTY_LIST: Evidence = {
  proof: "200 with an empty list, and nothing that is not known to be harmless",
  isIn: (answer, { noun }) => isWell(answer) && holdsOnly(answer, noun, Array.isArray),
};

export const EVIDENCE: Readonly<Record<Outcome, readonly Evidence[]>> = {
  created: [
    {
      proof: "200 or 201 with an id of this kind, a success that is absent or true, and nothing that says no",
      isIn: (answer, { noun }) =>
        isMade(answer) && idIn(answer.data, noun) !== undefined && !denies(answer, /^(is_?)?(created|saved)$/i),
    },
  ],
  changed: carriedOut(/^(is_?)?(updated|changed|modified|saved)$/i),
  deleted: carriedOut(/^(is_?)?(deleted|removed)$/i),
  gone: [
    {
      proof: "404, 410 or a refusal, with a sentence that ends at the absence of this object",
      isIn: (answer, about) => (isMissing(answer) || isRefusal(answer, about.noun)) && saysAbsent(answer, about),
    },
    { ...EMPTY_LIST, ofReads: true },
    {
      proof: "404 or 410, and no word more",
      isIn: (answer, { noun }) => isMissing(answer) && isBare(answer, noun),
      needsWitness: true,
    },
    {
      proof: "200 with null or an empty object in the object's place, and nothing that is not known to be harmless",
      isIn: (answer, { noun }) => isWell(answer) && holdsOnly(answer, noun, (value) => !Array.isArray(value)),
      ofReads: true,
      needsWitness: true,
    },
  ],
  none: [EMPTY_LIST],
};

/** Whether an answer proves an outcome, alone or with a witness. @param isRead whether the request was a read. */
export function proves(
  outcome: Outcome,
  answer: Answer,
  about: About,
  isRead = false,
): "alone" | "with a witness" | undefined {
  if (answer.broken !== undefined) return undefined;
  const found = EVIDENCE[outcome].find(({ ofReads, isIn }) => (isRead || ofReads !== true) && isIn(answer, about));
  if (found === undefined) return undefined;
  return found.needsWitness === true ? "with a witness" : "alone";
}

/** Data in which nothing says that it went wrong. 202 and 207 only say that something may have succeeded. */
function isMade(answer: Answer): boolean {
  return (answer.status === 200 || answer.status === 201) && answer.kind === "json" && !saysNoAnywhere(answer);
}

function isWell(answer: Answer): boolean {
  return answer.status === 200 && isMade(answer);
}

function isMissing({ status }: Answer): boolean {
  return status === 404 || status === 410;
}

/** Statuses below 500 that are not about whether the object is there, but about a login, a permission, a method, a conflict, a lock or time. */
const NOT_OF_THE_OBJECT = new Set([
  401, 402, 403, 405, 407, 408, 409, 421, 423, 424, 425, 426, 428, 429, 431, 451, 499,
]);

function isRefusal(answer: Answer, noun: string): boolean {
  const { status } = answer;
  if (status >= 400 && status < 500) return !NOT_OF_THE_OBJECT.has(status);
  return status === 200 && saysRefused(answer, noun);
}

/** The known spellings of a `success` that is true. */
const YES: ReadonlySet<unknown> = new Set([true, 1, "true", "1"]);

function isYes(value: unknown): boolean {
  return YES.has(typeof value === "string" ? value.trim().toLowerCase() : value);
}

function saysYes({ data }: Answer, noun: string): boolean {
  return anyPart(data, noun, (part) => isYes(own(part, "success")));
}

const FLAG = /^(is_?)?(success(ful)?|ok)$/i;
const STATE = /^(status|result|outcome)(_?code)?$/i;
const STATE_OF_YES =
  /^(ok|okay|yes|true|success(ful(ly)?)?|succeeded|done|completed?|created|updated|deleted|1|20[01])$/i;
const STATE_OF_NO = /^(nok|ko|no|false|err(or)?|fail(ed|ure)?|denied|refused|rejected|unsuccessful|[45]\d\d)$/i;
const ERROR = /^(error(_?(code|message|description))?|failed|failures?)$/i;
const NOTHING: ReadonlySet<unknown> = new Set([null, false, 0, "", "0", "false", "none"]);

function isNothing(value: unknown): boolean {
  return NOTHING.has(value) || (typeof value === "object" && value !== null && isEmpty(value));
}

/** Whether anything in an answer, at any depth, says or may say that the request was not carried out. */
function saysNoAnywhere({ data }: Answer): boolean {
  for (const leaf of leavesOf(data)) if (saysNo(leaf)) return true;
  return false;
}

/** Whether a value under such a name is false or 0. */
function denies({ data }: Answer, done: RegExp): boolean {
  for (const { place, value } of leavesOf(data)) {
    const isNo = value === false || value === 0 || value === "false" || value === "0";
    if (isNo && done.test(place?.name ?? "")) return true;
  }
  return false;
}

function saysNo({ place, value, holder }: Leaf): boolean {
  const name = place?.name ?? "";
  if (FLAG.test(name)) return !isYes(value);
  // Of an object, the state is its own, such as "paused". Of an answer, it has to say yes: "queued" may still fail.
  const isOfAnswer = place?.depth === 1 && ["success", ...WRAPPERS].some((each) => own(holder, each) !== undefined);
  if (STATE.test(name)) return isOfAnswer ? !saysState(value) : STATE_OF_NO.test(String(value).trim());
  for (let at = place; at !== undefined; at = at.parent) {
    if (ERROR.test(at.name)) return !isNothing(value);
    if (at.name === "errors") return isError(value);
  }
  return false;
}

function saysState(value: unknown): boolean {
  return isYes(value) || (typeof value === "object" && value !== null) || STATE_OF_YES.test(String(value).trim());
}

/** An entry of `errors` counts by its prefix: those that begin with `WARNING:` accompany real successes. */
function isError(value: unknown): boolean {
  return typeof value === "string" && /^\s*ERROR\s*:/i.test(printable(value));
}

/**
 * Whether an answer says that the request was refused, in the ways that the platform is known to use: `success: false`, or an entry of
 * `errors` that begins with `ERROR:`, in the answer itself, in its `payload` or under the noun.
 */
export function saysRefused({ kind, data }: Answer, noun: string | undefined): boolean {
  return kind === "json" && anyPart(data, noun, (part) => isFlaggedNo(part) || holdsError(own(part, "errors")));
}

/** Whether an answer is JSON with a `success` flag that says no. */
export function isFlaggedFailure({ kind, data }: Answer): boolean {
  return kind === "json" && anyPart(data, undefined, isFlaggedNo);
}

function isFlaggedNo(part: unknown): boolean {
  const flag = own(part, "success");
  return flag === false || (typeof flag === "string" && flag.trim().toLowerCase() === "false");
}

function holdsError(errors: unknown): boolean {
  if (errors === undefined) return false; // as in nearly every answer
  for (const { value } of leavesOf(errors)) if (isError(value)) return true;
  return false;
}

const MAX_DEPTH = 4;

/**
 * Whether `test` is true for a part of an answer that is about the request: the answer itself, its `payload`, the value under the noun,
 * and so on inward. For a list it has to be true for every entry, because it is not known which one is meant.
 */
function anyPart(value: unknown, noun: string | undefined, test: (part: unknown) => boolean, depth = 0): boolean {
  if (depth > MAX_DEPTH || typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.length > 0 && value.every((entry) => anyPart(entry, noun, test, depth + 1));
  const inward = noun === undefined ? ["payload"] : ["payload", noun, `${noun}s`];
  return test(value) || inward.some((name) => anyPart(own(value, name), noun, test, depth + 1));
}

/** Whether an answer has nothing (as `isIt` tests) in place of objects, and everything else in it is known to be harmless. */
function holdsOnly({ status, data }: Answer, noun: string, isIt: (nothing: unknown) => boolean): boolean {
  const places = [...WRAPPERS, noun, `${noun}s`];
  let isFound = false;
  for (const leaf of leavesOf(data)) {
    const { place, value, isEntry } = leaf;
    const isInPlace = !isEntry && (place?.depth ?? 0) <= 3 && namesTo(place, 3).every((name) => places.includes(name));
    if (isInPlace && typeof value === "object") isFound ||= isIt(value);
    else if (!isHarmless(leaf, status, noun)) return false;
  }
  return isFound;
}

const AMOUNT =
  /^(total|count|size|hits|matches|found|results|records|num|number)(of)?(count|results|records|items|hits|rows|found|objects)?$/;

/** Whether a value in an answer without objects is known to say only that there are none. */
function isHarmless({ place, value }: Leaf, status: number, noun: string): boolean {
  const name = (place?.name ?? "").toLowerCase().replace(/[_-]/g, "");
  const text = String(value).trim();
  if (FLAG.test(name)) return isYes(value);
  if (/^(status|statuscode|code|result)$/.test(name) && (value === status || /^(ok|success|200)$/i.test(text)))
    return true;
  if (/^(errors?|warnings?|errorcode|errormessage|messages?|more|hasmore|next|prev|previous|meta|links)$/.test(name))
    if (isNothing(value)) return true;
  if (/^(message|messages|msg|detail|description|payload)$/.test(name))
    return typeof value === "string" && nothingFound(noun).test(text);
  if (AMOUNT.test(name)) return value === 0 || value === "0";
  if (/^(page|currentpage|pages|totalpages|lastpage)$/.test(name)) return value === 0 || value === 1;
  if (name === "offset") return value === 0;
  return /^(limit|perpage|pagesize)$/.test(name) && typeof value === "number" && value > 0;
}

/** The sentences that may be beside an empty list. */
function nothingFound(noun: string): RegExp {
  const objects = `(${noun}s?|objects?|records?|results?|items?|entries)`;
  return new RegExp(
    `^(ok|success|nothing( was)? found|(0|(there (are|is) )?no)( more| matching)? ${objects}( (was|were))?( found)?` +
      `|${objects} not found|${objects} (were )?(retrieved|loaded|listed|found) successfully)[.!]?$`,
    "i",
  );
}

/** Phrases that accompany the absence of an object, without a meaning of their own. */
const BESIDE = /^((error:? )?there (was a|were) problems?|with your request)[.:!]?$/i;
/** Phrases that only repeat the status. */
const BARE = /^(error:? )?((404|410)[ :-]*)?(((resource|object|record|entity|page) )?(not found|gone))?[.!]?$/i;

/** All statements of an answer, without single words such as paths and times. */
function spoken(answer: Answer): Statement[] {
  return said(answer).filter(({ where, text }) => where === "documented" || isSentence(text));
}

function isBare(answer: Answer, noun: string): boolean {
  if (answer.kind === "html" || (answer.kind === "text" && answer.data !== undefined)) return false;
  return recordsIn(answer.data, noun).length === 0 && spoken(answer).every((each) => isWord(each, answer, noun));
}

/** Whether a statement adds nothing to the status: it is a phrase, and its code says the same. */
function isWord({ text, code }: Statement, { status }: Answer, noun: string): boolean {
  const codes = new RegExp(`^(${status}|((resource|object|record|entity|${noun})_)?not_?found|gone)$`, "i");
  if (code !== undefined && !codes.test(code.value)) return false;
  const words = text.trim().replaceAll("_", " ");
  return words === "" || BARE.test(words) || BESIDE.test(words) || words.toLowerCase() === `${noun} not found`;
}

/** A number of the platform's own, or words for an absence. */
const CODE_OF_ABSENCE = /^(\d+|\w*(not_?found|no_?such|not_?exist|missing|deleted|gone)\w*)$/i;

/** Whether an answer says in a sentence that exactly this object does not exist, and nothing else with a meaning. */
function saysAbsent(answer: Answer, { noun, id }: About): boolean {
  if (id === undefined) return false;
  const absence = absenceOf(noun, id);
  const isAbsence = ({ text, code }: Statement) =>
    absence.test(text.trim().replaceAll("_", " ")) && (code === undefined || CODE_OF_ABSENCE.test(code.value));
  return (
    documented(answer).some(isAbsence) &&
    recordsIn(answer.data, noun).length === 0 &&
    spoken(answer).every((each) => isAbsence(each) || isWord(each, answer, noun) || isFlag(each))
  );
}

/** `error: "true"` and the like are flags. */
function isFlag({ text }: Statement): boolean {
  return /^(true|false|error|fail(ed|ure)?)$/i.test(text.trim());
}

/** The sentences that say that an object does not exist: with its kind and its id, and nothing after them. */
function absenceOf(noun: string, id: string): RegExp {
  const any = `(the )?(object|record|entity|${noun})`;
  const literally = id.replace(/[^\w-]/g, "\\$&");
  const it = `${any}:?( with)?( the)?( id)?( ?[:=#])? ?["'(]?${literally}["')]?`;
  const not = "(not|was not|is not|could not be|can ?not be|wasn't|couldn't be|can't be)";
  return new RegExp(
    `^(error:? )?(` +
      `(could not|couldn't|can ?not|can't|did not|didn't|unable to|failed to) (load|find|locate|retrieve) ${it}( to (delete|update|load|read))?` +
      `|${it} ${not} (found|loaded|located|retrieved)|${it} (does not|doesn't) exist( any ?more)?|${it} no longer exists` +
      `|${it} (has|is|was) ?(already)? ?(been)? ?(deleted|removed|gone)|(there is )?no (such )?${it}( (was )?found| exists)?)\\.?$`,
    "i",
  );
}
