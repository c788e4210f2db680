/** Where a response says no, or makes one doubt, though its status is that of a success. Pure. */
import type { Values } from "../base/index.js";
import {
  beginsWithError,
  isFilled,
  type Leaf,
  leavesOf,
  ownIdOf,
  type ParsedResponse,
} from "./answer.js";

/** What was to be done, with the names under which a response may say whether it was. */
const DONE = {
  created: /^(is_?)?(created|saved)$|^count$|^affected/i,
  changed: /^(is_?)?(updated|changed|modified|saved)$|^count$|^affected/i,
  deleted: /^(is_?)?(deleted|removed)$|^count$|^affected/i,
} as const;
export type Act = keyof typeof DONE;

const FLAG = /^(is_?)?(success(ful)?|ok)$/i;
const STATE = /^(status|result|outcome)(_?code)?$/i;
const FAILED =
  /^(nok|ko|no|false|err(or)?|fail(ed|ure)?|denied|refused|rejected|unsuccessful|[45]\d\d)$/i;
const UNFINISHED = /^(0|queued|pending|accepted|scheduled|processing|in[ _]progress)$/i;
const ERROR = /^(errors?(_?(code|message|description))?|failed|failures?)$/i;

export function isYes(value: unknown): boolean {
  return /^\s*(true|1)\s*$/i.test(String(value));
}

export function isNullOrEmpty(value: unknown): boolean {
  return typeof value === "object" && !isFilled(value);
}

/** Whether a value says that something went wrong, by its name and those around it. */
function saysNo({ path, value, isWarned }: Leaf): boolean {
  const name = path.at(-1) ?? "";
  if (FLAG.test(name)) return !isYes(value);
  if (STATE.test(name)) return FAILED.test(String(value).trim());
  const isWarning = (isWarned && path.includes("errors")) || /^\s*WARNING/i.test(String(value));
  const isNothing = /^(false|0|none|null|)$/.test(String(value)) || isNullOrEmpty(value);
  return path.some((part) => ERROR.test(part)) && !isNothing && !isWarning;
}

/** Whether a value casts doubt on the act: a count of nothing, a wrapper with nothing, a state that is not the end. */
function isDoubtful({ path, value }: Leaf, act: Act, isRecord: boolean): boolean {
  const name = path.at(-1) ?? "";
  if (DONE[act].test(name)) return /^(0|false)$/.test(String(value));
  if (path.length > 1) return false;
  if (name === "payload" && act !== "created")
    return value === null || (Array.isArray(value) && isNullOrEmpty(value));
  // Of an object, the state is its own, such as "pending".
  return STATE.test(name) && !isRecord && UNFINISHED.test(String(value));
}

/**
 * Where a response says no, or makes one doubt, at any depth.
 * @param sent a request's values, because the name of an event may begin with "ERROR".
 */
export function objectionIn(
  { data }: ParsedResponse,
  act: Act,
  noun: string,
  sent: Values,
): string | undefined {
  const isRecord = ownIdOf(data, noun) !== undefined;
  const isEcho = (value: unknown) => leavesOf(sent).some((leaf) => leaf.value === value);
  const objection = leavesOf(data).find(
    (leaf) =>
      saysNo(leaf) ||
      isDoubtful(leaf, act, isRecord) ||
      (beginsWithError(leaf.value) && !isEcho(leaf.value)),
  );
  if (objection === undefined) return undefined;
  const names = objection.path.filter((name) => /^\w{1,40}$/.test(name)).join(".");
  return names === "" ? "its text says no" : `its ${names} says no`;
}
