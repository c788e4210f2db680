/**
 * The statements of an answer, made once from its flat list of values. Judges, the session and hints look at the
 * `documented` ones alone, since the name of an event could otherwise change what becomes of it; `words.ts` tells people
 * all of them. Nothing is formatted here. Pure.
 */
import { own } from "../base/index.js";
import { type Answer, type Leaf, leavesOf, namesTo } from "./answer.js";

export interface Statement {
  /** The names on the way to it, the outermost first: the innermost {@link MAX_NAMES} of them. */
  readonly path: readonly string[];
  /** The field that the object around it names beside it. */
  readonly subject?: string;
  /** A code, alone or beside the text, with the name that it stands under. */
  readonly code?: { readonly name: string; readonly value: string };
  /** Empty for a code alone. */
  readonly text: string;
  /** `documented` if it stands where the platform is known to put what it says of a request. */
  readonly where: "documented" | "elsewhere";
  /** It stands under a name that sounds secret: it may be looked at, and is never shown. */
  readonly isSecret: boolean;
}

const MAX_NAMES = 6;
/** JSON in a string is read so many times. */
const STRINGS = 2;

/** Fields that hold what an answer says, or a list of it. */
const SENTENCES = ["message", "detail", "error", "error_description", "description", "reason", "title"];
/** Below these each string says something, under whatever name. */
const LISTS = ["errors", "error", "messages", "warnings", "non_field_errors", "detail"];
const CODES = ["error_code", "code", "errorCode", "errorcode"];
/** In an object with a sentence these name the field that the sentence is about. */
const SUBJECTS = ["field", "field_name", "param", "parameter", "property"];

const read = new WeakMap<Answer, readonly Statement[]>();

/** All statements of an answer, in the order in which they stand; none of a page, and of a body that is not whole. */
export function said(answer: Answer): readonly Statement[] {
  const known = read.get(answer);
  if (known !== undefined) return known;
  const statements = statementsOf(answer);
  read.set(answer, statements);
  return statements;
}

/** The statements that may decide something. */
export function documented(answer: Answer): readonly Statement[] {
  return said(answer).filter(({ where }) => where === "documented");
}

/** The names that tell what a statement is about: without those under which any statement may stand. */
export function aboutOf({ path, subject }: Statement): string[] {
  const names = path.filter((name) => !PLAIN.has(name) && !/^\d+$/.test(name));
  return subject === undefined ? names : [...names, subject];
}

const PLAIN: ReadonlySet<string> = new Set([
  ...SENTENCES,
  ...LISTS,
  ...CODES,
  "msg",
  "text",
  "payload",
  "data",
  "result",
]);

function statementsOf({ broken, kind, body, data }: Answer): Statement[] {
  if (broken !== undefined) return []; // Half of a sentence may say the opposite.
  if (kind === "text" && data === undefined) return [{ path: [], text: body, where: "documented", isSecret: false }];
  const statements: Statement[] = [];
  for (const leaf of leavesOf(data, STRINGS)) {
    const statement = statementIn(leaf);
    if (statement === undefined) continue;
    statements.push(kind === "json" ? statement : { ...statement, where: "elsewhere" });
  }
  return statements;
}

function statementIn({ place, value, holder }: Leaf): Statement | undefined {
  const name = place?.name ?? "";
  const isCode = CODES.includes(name) && /^[\w.:-]{1,60}$/.test(String(value));
  if (typeof value !== "string" && !(isCode && typeof value === "number")) return undefined;
  const text = String(value);
  const path = namesTo(place, MAX_NAMES);
  const isDocumented = (place?.depth ?? 0) <= MAX_NAMES && isWhereAnswersSpeak(path);
  const common = {
    path,
    isSecret: place?.isSecret === true,
    where: isDocumented ? ("documented" as const) : ("elsewhere" as const),
  };
  const main = SENTENCES.find((each) => typeof own(holder, each) === "string");
  if (isCode) return main === undefined ? { ...common, text: "", code: { name, value: text } } : undefined;
  const subject = subjectIn(holder);
  if (name === main) {
    const code = codeIn(holder);
    return { ...common, text, ...(subject === undefined ? {} : { subject }), ...(code === undefined ? {} : { code }) };
  }
  // What stands beside the sentence of an object says where, of what sort or in which language.
  const isBeside = main !== undefined && !SENTENCES.includes(name) && !LISTS.includes(name);
  return isBeside ? { ...common, text, where: "elsewhere" } : { ...common, text };
}

/** `message`, `payload.message`, everything below `errors`; in the payload itself, texts alone. */
function isWhereAnswersSpeak(path: readonly string[]): boolean {
  const [first, ...below] = path.slice(path.findIndex((name) => name !== "payload"));
  if (first === undefined || first === "payload") return true;
  return LISTS.includes(first) || (below.length === 0 && (SENTENCES.includes(first) || CODES.includes(first)));
}

function subjectIn(holder: object | undefined): string | undefined {
  const subjects = SUBJECTS.map((name) => own(holder, name));
  return subjects.find((each): each is string => typeof each === "string" && /^[\w.[\]-]{1,60}$/.test(each));
}

function codeIn(holder: object | undefined): Statement["code"] {
  const name = CODES.find((each) => /^[\w.:-]{1,60}$/.test(String(own(holder, each) ?? "")));
  return name === undefined ? undefined : { name, value: String(own(holder, name)) };
}
