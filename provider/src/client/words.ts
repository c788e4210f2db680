/**
 * Finds the platform's own words in a response, to show them. Messages are shown, except values that were sent and
 * anything below a name that sounds secret. Other JSON values are never shown, and of an HTML page its visible text.
 * Texts are scrubbed of secrets before they are cut. Pure.
 */
import { excerpt, joined, printable, type Secrets, type Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { FIELD, folded, leavesOf, messagesIn, type ParsedResponse } from "./answer.js";

export interface Quotable {
  answer: ParsedResponse;
  /** A refusal may have messages under the names of the kind's fields, also of one that wasn't sent. */
  kind: Pick<Kind, "wireNames">;
  /** The request's fields in wire names, to recognise echoes of their values. */
  fields: Values;
  /** Removes secrets before a text is cut: a cut could leave half of a secret. */
  secrets: Pick<Secrets, "scrub">;
}

/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_WORDS = 20;
const MAX_WORD_CHARACTERS = 500;
const MAX_PAGE_CHARACTERS = 20_000;

/** @returns each message once, safe to show, preceded by the field or path that it is about. */
export function wordsOf({ answer, kind, fields, secrets }: Quotable) {
  let { leaves } = answer;
  // Of a broken body nothing is shown: it may end within a secret, which then can't be recognised.
  if (answer.kind === "html" || answer.kind === "text")
    leaves = leavesOf(visibleText(secrets.scrub(answer.body)));
  const echoes = new Set(leavesOf(fields).map(({ value }) => folded(String(value))));
  const known = [...Object.values(kind.wireNames), ...Object.keys(fields)];
  const spoken = messagesIn(leaves, known).filter(({ path, text }) => {
    if (!/\p{L}/u.test(text) || /^(true|false)$/i.test(text)) return false;
    return !path.some((name) => FIELD.secret.test(name)) && !echoes.has(folded(text));
  });
  const sentences = spoken.slice(0, MAX_WORDS).map(({ path, text }) => {
    const names = path.filter((name) => !FIELD.plain.test(name) && FIELD.shown.test(name));
    const scrubbed = secrets.scrub(joined(": ", names.join("."), text));
    const masked = scrubbed.replace(NAMED_SECRET, "$1[secret]");
    return excerpt(printable(masked), MAX_WORD_CHARACTERS);
  });
  return [...new Set(sentences)];
}

export function warningsOf(quotable: Quotable) {
  return wordsOf(quotable).filter((word) => word.includes("WARNING"));
}

/** The words of an unclear response, after a space; empty if there are none. */
export function quoteFor(quotable: Quotable) {
  const words = wordsOf(quotable);
  return words.length === 0 ? "" : ` The platform said: ${asSentence(words)}`;
}

export function asSentence(words: readonly string[]) {
  return `${words.join("; ")}.`.replace(/([.!?])\.$/, "$1").replace(/([.!?:;,]); /g, "$1 ");
}

/** Finds secrets that aren't known, such as `password=…` and `token: "…"`. "password: is too short" isn't one. */
const NAMED_SECRET =
  /((?:passw(?:or)?d|pwd|secret|(?<!unexpected )token|cookie|session[-_ ]?id|api[-_ ]?key|authorization)[\w-]{0,30}["']?\s{0,3}(?:=|:(?=\s{0,3}(?:["']|(?:basic|bearer) |[^\s,;]{0,99}[\d=])))\s{0,3})(?:"[^"]*"?|'[^']*'?|(?:basic |bearer )?[^\s,&<>"']+)/gi;

/** Comments, scripts, styles, tags and spaces. */
const INVISIBLE = /(?:<!--.*?-->|<(script|style)\b.*?<\/\1>|<[^<>]*>|\s)+/gis;

const ENTITIES: Values = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " " };

/** @param text must be scrubbed: a secret may look like a tag. Only its beginning counts, which a pattern reads in time. */
function visibleText(text: string) {
  const all = text.slice(0, MAX_PAGE_CHARACTERS).replaceAll(INVISIBLE, " ");
  // The title is often the heading too.
  const visible = all.replace(/^( .{1,200})\1(?= )/, "$1");
  return visible.replace(
    /&(?:#(\d{1,6}|x[\da-f]{1,5})|(\w{2,4}));/gi,
    (entity, code?: string, name = "") => {
      if (code) return String.fromCodePoint(Number(`0${code}`));
      return String(ENTITIES[name] ?? entity);
    },
  );
}
