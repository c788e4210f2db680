/**
 * Classifies a response by what it proves about its request. Each outcome needs positive evidence, as listed here, never the absence of
 * bad words: an object that wrongly counts as gone, or a create that wrongly counts as refused, is created a second
 * time. Any other response is `unclear`. Status, flags, ids and lists decide. Words count only by their first one: a
 * text that begins with ERROR (in `errors`: a refusal; elsewhere: an objection), or with WARNING (no objection). Pure.
 *
 * created   200 or 201, exactly one positive id, no objection, and no own name or advertiser other than was sent
 * refused   (certainly not carried out) 4xx except 408 and 499; a documented no; 301 to 303 to a login
 * done      update: an empty 200 or 204; or, without an objection or another id, `success` true or each field as sent.
 *           delete: the same, except that fields prove nothing. read: exactly one record of this object
 * gone      404 or 410 to a read or a delete, an empty list or `null` to a read; but only if the same operation has
 *           found another object in this run, which the caller knows
 * listed    search: records with the mark; or an empty list, and nothing beside it that isn't known to be harmless
 */
import {
  asRecord,
  canonicalJson,
  enumerate,
  excerpt,
  hasValue,
  own,
  type Values,
} from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { formsOf } from "../rules/index.js";
import {
  beginsWithError,
  FIELD,
  type Findings,
  findingsIn,
  folded,
  HARMLESS,
  type Leaf,
  leavesOf,
  ownIdOf,
  type ParsedResponse,
  VALUE,
  WRAPPERS,
} from "./answer.js";
import { leadsToLogin } from "./session-problem.js";

type Trouble =
  /** The request was certainly not carried out. */
  | { kind: "refused" }
  /** The request may have been carried out; a create's id is not known for certain. */
  | { kind: "unclear"; reason: string };

export type Verdict =
  | { kind: "done"; record?: Values }
  /** The object doesn't exist, provided that this operation has found another one in this run. */
  | { kind: "gone" }
  | Trouble;

/** The object that a request is about. */
export interface LiveObject {
  kind: Kind;
  id: string;
}

export function classifyCreate(
  answer: ParsedResponse,
  { noun }: Kind,
  sent: Values,
): { kind: "created"; id: string } | Trouble {
  const { findings, trouble } = evidenceIn(answer, noun);
  if (trouble?.kind === "refused") return trouble;
  const [record] = findings.records;
  // Another name or advertiser than was sent.
  const other = [`${noun}_name`, "advertiser_id"].find((name) => {
    const theirs = own(record, name);
    const ours = own(sent, name);
    return hasValue(theirs) && ours !== undefined && !isSame(theirs, ours);
  });
  const doubt =
    trouble?.reason ??
    objectionIn(answer, FIELD.created, noun, sent) ??
    (other && `its ${other} isn't what was sent`);
  if (doubt === undefined && findings.id !== undefined)
    return { kind: "created", id: findings.id };
  const why = doubt ?? "it isn't clearly about one new object";
  const ids = findings.ids.filter((text) => /^\d{1,30}$/.test(text));
  if (ids.length > 0) return unclear(`${why} (ids in it: ${enumerate(ids, 10)})`);
  const names = Object.keys(asRecord(answer.data)).filter((name) => FIELD.shown.test(name));
  return unclear(doubt ?? `${why} (its fields: ${enumerate(names, 10)})`);
}

/** @param sent the fields of an update; absent for a delete. */
export function classifyChange(
  answer: ParsedResponse,
  { kind: { noun }, id }: LiveObject,
  sent?: Values,
): Verdict {
  if (answer.kind === "empty" && [200, 204].includes(answer.status))
    return { kind: "done" };
  const { findings, trouble } = evidenceIn(answer, noun);
  if (!sent && isNotFound(answer, findings)) return { kind: "gone" };
  if (trouble) return trouble;
  const objection = objectionIn(answer, sent ? FIELD.changed : FIELD.deleted, noun, sent);
  if (objection !== undefined) return unclear(objection);
  const other = findings.ids.find((found) => found !== id);
  if (other !== undefined)
    return unclear(
      `it has the id ${excerpt(other, 30)} instead: check that object in the account, and advertising:operations`,
    );
  const [record] = findings.records;
  const isAsSent =
    sent &&
    record &&
    Object.entries(sent).every(([name, value]) => isSame(own(record, name), value));
  if (findings.isSuccess || isAsSent) return { kind: "done" };
  return unclear("it doesn't confirm success");
}

export function classifyRead(answer: ParsedResponse, { kind, id }: LiveObject): Verdict {
  const { noun } = kind;
  const { findings, trouble } = evidenceIn(answer, noun);
  if (isNotFound(answer, findings)) return { kind: "gone" };
  if (trouble) return trouble;
  if (hasOnly(answer, noun, (value) => value === null || Array.isArray(value)))
    return { kind: "gone" };
  // Some servers ignore an unknown filter, and send other objects. An object of another kind may have the same id.
  const ownFields = [kind.wireNames[kind.nameProperty], `${noun}_id`];
  const [record, ...others] = findings.records.filter(
    (found) =>
      ownIdOf(found, noun) === id &&
      ownFields.some((name = "") => Object.hasOwn(found, name)),
  );
  if (record && others.length === 0) return { kind: "done", record };
  return unclear("it doesn't contain exactly this object");
}

/** Servers may treat a filter as a pattern or ignore it, so each record's mark is compared; only `[]` means none. */
export function classifySearch(
  answer: ParsedResponse,
  { noun }: Kind,
  field: string,
  mark: string,
): { kind: "listed"; objects: ReadonlyMap<string, Values> } | Trouble {
  const { findings, trouble } = evidenceIn(answer, noun);
  if (trouble) return trouble;
  const marked = findings.records.filter((record) => own(record, field) === mark);
  const objects = new Map(marked.map((record) => [ownIdOf(record, noun) ?? "", record]));
  if (objects.size > 0 || hasOnly(answer, noun, Array.isArray))
    return { kind: "listed", objects };
  return unclear(
    "it isn't a list of objects with this mark; check the filter in advertising:operations",
  );
}

function evidenceIn(answer: ParsedResponse, noun: string) {
  const findings = findingsIn(answer.data, noun);
  return { findings, trouble: troubleIn(answer, findings) };
}

function unclear(reason: string) {
  return { kind: "unclear", reason } as const;
}

/**
 * The trouble that the status, a flag or the kind of body shows, before the data is read. 202 and 207 only say that
 * something may have succeeded.
 */
function troubleIn(answer: ParsedResponse, findings: Findings): Trouble | undefined {
  const { kind, status, broken } = answer;
  const isSuccess = status === 200 || status === 201;
  // Assumption: a 4xx except 408 and 499 (the peer gave up) is a refusal.
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 499;
  if (isRefusal || (isSuccess && findings.isRefused) || leadsToLogin(answer))
    return { kind: "refused" };
  if (kind === "broken") return unclear(`its body is incomplete or unreadable (${broken})`);
  if (!isSuccess) return unclear("its status doesn't show the outcome");
  if (kind === "html") return unclear("it's an HTML page");
  if (kind !== "json") return unclear("it isn't JSON");
}

/** An HTML page may come from any server, so it proves nothing; nor does a 404 whose body contains an object. */
function isNotFound({ status, kind }: ParsedResponse, { records }: Findings) {
  if (kind === "html" || kind === "broken" || records.length > 0) return false;
  return status === 404 || status === 410;
}

/**
 * Finds a value, at any depth, that contradicts the success that the status reports. @returns a clause that names it.
 * @param sent a request's values, because the name of an event may begin with "ERROR".
 */
function objectionIn(
  { data, leaves }: ParsedResponse,
  done: RegExp,
  noun: string,
  sent: Values = {},
) {
  // In an object's record, the status is the object's own, such as "pending": it doesn't say how the request went.
  const isRecord = ownIdOf(data, noun) !== undefined;
  const echoes = leavesOf(sent).map(({ value }) => value);
  const objection = leaves.find(
    (leaf) =>
      saysNo(leaf, done, isRecord) ||
      (beginsWithError(leaf.value) && !echoes.includes(leaf.value)),
  );
  if (!objection) return undefined;
  const names = objection.path.filter((name) => FIELD.shown.test(name)).join(".");
  return `its body's ${names || "text"} reports no success`;
}

/** Whether a value says that something went wrong, or isn't finished, by its name and those around it. */
function saysNo({ path, value, parent }: Leaf, done: RegExp, isRecord: boolean) {
  const name = path.at(-1) ?? "";
  const text = String(value).trim();
  if (FIELD.flag.test(name)) return !VALUE.yes.test(text);
  if (done.test(name) && /^(0|false)$/.test(text)) return true;
  const isOuter = path.length === 1;
  if (FIELD.state.test(name))
    return VALUE.failed.test(text) || (isOuter && !isRecord && VALUE.unfinished.test(text));
  if (isOuter && name === "payload" && (value === null || Array.isArray(value)))
    return true;
  if (VALUE.warning.test(text) || VALUE.warning.test(String(own(parent, "message"))))
    return false;
  const isNothing = typeof value === "object" || /^(false|0|none|)$/.test(text);
  return path.some((part) => FIELD.error.test(part)) && !isNothing;
}

/**
 * Whether an answered value may stand for the sent one, like "25.00" for 25. A field that was sent as null may be
 * absent.
 */
function isSame(theirs: unknown, ours: unknown) {
  const plain = (value: unknown) => folded(canonicalJson(value).replaceAll('"', ""));
  return formsOf(theirs).some((form) => plain(form) === plain(ours));
}

/** Whether a 200 has nothing (as `isNothing` tests) in place of objects, and all else in it is harmless. */
function hasOnly(
  { status, leaves }: ParsedResponse,
  noun: string,
  isNothing: (value: unknown) => boolean,
) {
  const places = [...WRAPPERS, noun, `${noun}s`];
  const isInPlace = ({ path, value, parent }: Leaf) =>
    typeof value === "object" &&
    !Array.isArray(parent) &&
    path.length <= 3 &&
    path.every((name) => places.includes(name));
  const hasNothing = leaves.some((leaf) => isInPlace(leaf) && isNothing(leaf.value));
  const isAllHarmless = leaves.every((leaf) => isInPlace(leaf) || isHarmless(leaf));
  return status === 200 && hasNothing && isAllHarmless;
}

function isHarmless({ path, value }: Leaf) {
  const name = (path.at(-1) ?? "").toLowerCase().replace(/[_-]/g, "");
  const text = typeof value === "object" ? "" : folded(String(value));
  return HARMLESS.some((harmless) => harmless.test(`${name}=${text}`));
}
