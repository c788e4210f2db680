/**
 * What a sentence is about: the path in front of it, the code behind. Pure.
 */
import { excerpt, own } from "../base/index.js";
import type { Leaf, Place } from "./leaves.js";
import { isNamed } from "./names.js";
import type { IsEcho } from "./redact.js";

export interface Naming {
  /** The resource's name on the wire. */
  readonly noun?: string | undefined;
  /** Names of fields of the request. */
  readonly known: ReadonlySet<string>;
  readonly isEcho: IsEcho;
}

const MAX_CHARACTERS = 150;
const MAX_NAMES = 6;
/** A name that may be told. */
const NAME = /^[\p{L}\p{N}_.$@[\]-]{1,60}$/u;
const POINTER = /^(\/[\w.$@-]{1,60}){2,6}$/;

/** Where an object says what is wrong. */
const MAIN_NAMES = ["message", "msg", "detail", "error", "error_description", "description", "reason", "title"];
/** Where it says with what. */
const SUBJECT_NAMES = [
  ...["field", "fieldName", "field_name", "param", "parameter", "property", "propertyPath", "property_path"],
  ...["attribute", "loc", "pointer", "path", "name"],
];
const CODE_NAMES = ["error_code", "code", "errorCode", "errorcode"];

/** `text` with what it is about in front, and with the code that stands beside it. */
export function labelled({ place, holder, isInEntry }: Leaf, text: string, naming: Naming): string {
  const name = place?.name ?? "";
  const label = labelOf(place, naming, isNamed(name, "message") ? subjectOf(holder, naming.isEcho) : "");
  const code = isInEntry && name === mainNameOf(holder) ? codeOf(holder) : "";
  return `${label === "" ? "" : `${label}: `}${text}${code === "" ? "" : ` (code ${code})`}`;
}

/** Whether it is a code that {@link labelled} puts behind the sentence beside it. */
export function isToldBehind({ place, holder, isInEntry }: Leaf): boolean {
  return isInEntry && CODE_NAMES.includes(place?.name ?? "") && mainNameOf(holder) !== undefined;
}

/** The names on the way to a text that tell something. @param subject what the text is about, below that place. */
export function labelOf(place: Place | undefined, { noun, known, isEcho }: Naming, subject = ""): string {
  const names = subject === "" ? [] : [subject];
  for (let at = place; at !== undefined && names.length < MAX_NAMES; at = at.parent) {
    const { name, parent } = at;
    // A field may be called `description`; but at the top that is what the answer says.
    const isPlain = isNamed(name, "message", "wrapper") && (parent === undefined || !known.has(name));
    if (!isPlain && NAME.test(name) && !/^\d+$/.test(name) && !isEcho(name)) names.unshift(name);
  }
  const label = excerpt(names.join("."), MAX_CHARACTERS);
  const isNoun = noun !== undefined && (label === noun || label === `${noun}s`);
  return isNoun && place?.name !== label ? "" : label;
}

/** The property in which an object says what is wrong. */
export function mainNameOf(holder: object | undefined): string | undefined {
  return holder === undefined ? undefined : MAIN_NAMES.find((name) => typeof own(holder, name) === "string");
}

/** The field that an object with a message names. */
function subjectOf(holder: object | undefined, isEcho: IsEcho): string {
  if (mainNameOf(holder) === undefined) return "";
  for (const from of [holder, own(holder, "source")]) {
    for (const name of SUBJECT_NAMES) {
      const value = own(from, name);
      const parts = Array.isArray(value) ? value.slice(0, MAX_NAMES) : [value];
      const subject = parts.filter((part) => typeof part === "string").join(".");
      if (NAME.test(subject) && !isEcho(subject)) return subject;
      if (name === "pointer" && POINTER.test(subject)) return subject.slice(1).replaceAll("/", ".");
    }
  }
  return "";
}

function codeOf(holder: object | undefined): string {
  const codes = CODE_NAMES.map((name) => String(own(holder, name) ?? ""));
  return codes.find((code) => /^[\w.:-]{1,60}$/.test(code)) ?? "";
}
