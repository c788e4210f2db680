/**
 * The error of a failed request: what it was, what is known in the platform's own words, and what to do next. Words
 * where a refusal may have them are always shown, except values that were sent and all below names that sound secret.
 * Of other JSON only names show, of a page the visible text. Texts are scrubbed of secrets before they are cut. Pure.
 */
import {
  type AdvertisingError,
  BadAnswerError,
  excerpt,
  NotSentError,
  OutcomeUnknownError,
  printable,
  RateLimitedError,
  RefusedError,
  type Secrets,
  type Values,
} from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import { type Answer, folded, isSpoken, leavesOf } from "./answer.js";
import type { Trouble } from "./classify-response.js";
import { StopWaiting } from "./retry.js";
import type { LetThrough } from "./session-sign.js";
import { TransportFailure } from "./transport.js";

interface Reading {
  readonly answer: Answer;
  /** Its fields are names under which a refusal may have words about them. */
  readonly operation: Pick<Operation, "fields">;
  /** The request's fields by their names on the wire, to recognise echoes of their values. */
  readonly fields: Values;
  /** Also those that an answer echoes: they are removed before anything is cut, or half of one would be left. */
  readonly secrets: Pick<Secrets, "scrub">;
}

interface Answered extends Reading {
  readonly operation: Operation;
  /** Such as `ConversionEvent "purchase": POST https://…` */
  readonly what: string;
  readonly settings: Settings;
  readonly credentials: string;
  readonly session: LetThrough;
}

type Asked = Pick<Answered, "what" | "operation">;

export const NOTHING_CREATED = "Nothing was created.";

/** Advice for an event's refusal because of its advertiser, which the platform is known to make inactive. */
const ACTIVATE =
  "Activate that advertiser on the platform, by hand in its own interface, and run this again; leave the Advertiser's " +
  "arguments as they are, since a change of them makes another advertiser.";
const IS_INACTIVE = /^(the )?advertiser( (with id )?\d+)? is (not active|inactive)$/i;

/** A wrong "gone" makes a second object, so a person decides where the platform doesn't say it clearly. */
const IF_ABSENT =
  "Look in the account. If the object is there, check advertising:operations. If it is not there, correct the existingId " +
  "that names it, remove its key (an event of a set), or run:\n  pulumi state delete '<its URN>'";

export function refusal(answered: Answered): RefusedError {
  const { answer, what, operation } = answered;
  const { status } = answer;
  const words = wordsOf(answered);
  const sentences = [
    words.length === 0 ? "the response does not say why." : asSentence(words, MAX_REFUSAL_CHARACTERS),
    operation.repeatable ? "" : NOTHING_CREATED,
    status >= 300 && status < 400 ? "Redirects are never followed: check advertising:baseUrl." : "",
    adviceOn(answered, words),
  ];
  return new RefusedError(`${what} was refused with status ${status}: ${sentences.filter(Boolean).join(" ")}`);
}

function adviceOn(
  { answer, operation, fields, session, settings, credentials }: Answered,
  words: readonly string[],
): string {
  if (session !== "accepted" && settings.authMode === "basic")
    return `Check ${credentials}, and whether this installation takes Basic credentials.`;
  if (session !== "accepted")
    return "Another login would not help: the account may lack the permission, or the session may not be valid there.";
  const isNotFound = [404, 405, 410].includes(answer.status);
  // The words of a refused read or delete, which have no fields, may mean that there is no object. They decide nothing.
  if (operation.path.includes("{id}") && (isNotFound || Object.keys(fields).length === 0)) return IF_ABSENT;
  if (isNotFound && operation.repeatable) return "Check advertising:operations.";
  if (isNotFound) return "Check advertising:baseUrl, its path included.";
  const clauses = words.flatMap((word) => word.split(/[;:.](?=\s|$)\s*|advertiser_id (?=advertiser)/));
  const isInactive = operation.fields.includes("advertiser_id") && clauses.some((clause) => IS_INACTIVE.test(clause));
  return isInactive ? ACTIVATE : "";
}

export function troubled(trouble: Trouble | { readonly kind: "gone" }, answered: Answered): AdvertisingError {
  const { answer, what, operation } = answered;
  const { status } = answer;
  if (trouble.kind === "refused" || status === 404 || status === 410) return refusal(answered);
  const got = `${what} got no usable response (status ${status})`;
  if (trouble.kind === "gone")
    return new BadAnswerError(`${got}: it has no object, and nothing shows that this operation works. ${IF_ABSENT}`);
  // What a read or a search answered may be data of other objects, which is not to be quoted.
  const words = status < 300 && answer.kind === "json" && operation.method === "GET" ? "" : saidIn(answered);
  return new BadAnswerError(`${got}: ${trouble.reason}.${words} Run it again.`);
}

export function unanswered(error: unknown, { what, operation }: Asked, url: URL, sentAt: string): unknown {
  const otherwise = operation.repeatable ? "" : ` ${NOTHING_CREATED}`;
  if (error instanceof StopWaiting)
    return new RateLimitedError(`${what} was not carried out: ${error.message}.${otherwise} Run it again then.`);
  if (!(error instanceof TransportFailure)) return error;
  const happened = describeFailure(error, url);
  if (!error.sent) return new NotSentError(`${what} was not sent: ${happened}.${otherwise}`, { cause: error });
  const told = `${what} was sent at ${sentAt}, but ${happened}.`;
  return operation.repeatable
    ? new BadAnswerError(`${told} Run it again.`, { cause: error })
    : new OutcomeUnknownError(told, sentAt, { cause: error });
}

/** `{address}` stands for the settings that have the addresses. */
export const NO_CLIENT_CERTIFICATE =
  "which this package has none of: set {address} to a server that asks for none, such as a proxy on this machine that " +
  "adds it (http://localhost:…)";

/** What to do next, by what the failure says; `{address}` stands for the settings that have the addresses. */
const NEXT_STEPS: readonly (readonly [RegExp, string])[] = [
  [/wrong.version.number|packet length too long/i, "it does not speak TLS: check the scheme and the port of {address}"],
  [
    /NO_APPLICATION_PROTOCOL/i,
    "it offers no HTTP/1.1, perhaps HTTP/2 only: switch HTTP/1.1 on there, or set {address} to a server that has it",
  ],
  [/CERTIFICATE_REQUIRED/, `it asks for a client certificate, ${NO_CLIENT_CERTIFICATE}`],
  // In TLS 1.2 the alert is the same for two reasons.
  [
    /ALERT_HANDSHAKE_FAILURE/,
    `it has no cipher in common with Node.js, or asks for a client certificate, ${NO_CLIENT_CERTIFICATE}`,
  ],
  [/protocol.version|UNSUPPORTED_PROTOCOL|NO_SHARED_CIPHER|HANDSHAKE_FAILURE/i, "TLS 1.2 or newer is needed there"],
  [
    /CERT_HAS_EXPIRED|CERT_NOT_YET_VALID/,
    "check this machine's clock; if it is right, the certificate has to be renewed",
  ],
  [/ALTNAME_INVALID/, "the certificate is another host's: check {address}"],
  [
    /SELF_SIGNED|UNABLE_TO_(GET_ISSUER|VERIFY_LEAF)/,
    "its authority is not known here: put the authority's certificate into a file, and name that with NODE_EXTRA_CA_CERTS",
  ],
  [/UNRECOGNIZED_NAME/, "it does not serve this host: check {address}"],
  [/ALERT_ACCESS_DENIED/, "it denies access from here: ask who runs it, or check {address}"],
  [/certificate|SSL routines|^CERT_/i, "the certificate has to be fixed there"],
  [/ENOTFOUND|EAI_AGAIN/, "check {address} and the network: the name could not be looked up"],
  [/ECONNREFUSED/, "nothing listens there: check {address}"],
  [/UND_ERR_CONNECT_TIMEOUT/, "check the network and firewalls"],
];

/** Only of a connection that is being made: once a request was written, its cause is not the address. */
const RESET: (typeof NEXT_STEPS)[number] = [
  /ECONNRESET/,
  "a firewall or a server without TLS may do this: check {address} and the network",
];

/** One clause, without a full stop, such as `could not connect to x:443 (ECONNREFUSED …)`. */
export function describeFailure(failure: TransportFailure, url: URL): string {
  const { code, tunnel } = failure;
  const message = printable(failure.message);
  const isOwn = code.startsWith("ADVERTISING_"); // said in the message
  const detail = isOwn || message.includes(code) ? message : `${code}: ${message}`;
  const address = `${tunnel === undefined ? "" : `${tunnel.variable} and `}advertising:baseUrl`;
  const steps = failure.sent ? NEXT_STEPS : [...NEXT_STEPS, RESET];
  const known = steps.find(([says]) => says.test(detail))?.[1].replace("{address}", () => address);
  const next = known === undefined ? "" : `; ${known}`;
  if (failure.sent) return `the connection to ${url.host} failed after sending (${detail})${next}`;
  if (code === "ADVERTISING_TOO_LATE") return detail;
  const proxy = tunnel === undefined ? "" : `the proxy ${tunnel.host} (${tunnel.variable})`;
  if (tunnel?.status !== undefined) {
    const told = `${proxy} returned status ${tunnel.status} when asked for a connection to ${url.host}`;
    const isUnknown = tunnel.status === 407;
    return `${told}: ${isUnknown ? `set ${tunnel.variable} to http://user:password@host:port` : "check its rules"}`;
  }
  const host = `${url.host}${tunnel === undefined ? "" : ` through ${proxy}`}`;
  return `could not connect to ${host} (${detail})${next}`;
}

/** Enough for every problem of one request; a hostile answer can't fill the screen. */
const MAX_WORDS = 20;
const MAX_CHARACTERS = 500;
/** Enough room for a problem of each field. */
const MAX_REFUSAL_CHARACTERS = 4000;

/** Names that say nothing of what a sentence is about. */
const PLAIN =
  /^(messages?|msg|errors?|warnings?|detail|description|reason|title|non_field_errors|payload|data|result|\d+)$/i;

const NAME = /^[\p{L}\p{N}_.$@[\]-]{1,60}$/u;

/** @returns each sentence once, safe to show, after the field or path that it is about. */
export function wordsOf(reading: Reading): string[] {
  const { answer, secrets } = reading;
  // At its cut there may be half of a secret, which could not be recognised.
  if (answer.broken !== undefined || answer.kind === "empty") return [];
  if (answer.data !== undefined) return wordsIn(reading);
  const word = told(visibleText(reading), secrets);
  return word === "" ? [] : [word];
}

export function warningsOf(reading: Reading): string[] {
  if (!reading.answer.body.includes("WARNING")) return []; // as after nearly every create
  return wordsIn(reading).filter((word) => word.includes("WARNING"));
}

function wordsIn({ answer, operation, fields, secrets }: Reading): string[] {
  const known = [...operation.fields, ...Object.keys(fields)];
  const echoes = echoesOf(fields);
  const words = new Set<string>();
  for (const leaf of leavesOf(answer.data)) {
    const { path, value, isSecret } = leaf;
    if (words.size >= MAX_WORDS) break;
    if (typeof value !== "string" || isSecret || !/\p{L}/u.test(value)) continue;
    if (!isSpoken(leaf, known) || echoes.has(folded(value)) || /^\s*(true|false)\s*$/i.test(value)) continue;
    const about = path.filter((name) => !PLAIN.test(name) && NAME.test(name)).join(".");
    words.add(told(`${about === "" ? "" : `${about}: `}${value}`, secrets));
  }
  return [...words];
}

function echoesOf(sent: Values): ReadonlySet<string> {
  return new Set(leavesOf(sent).map(({ value }) => folded(String(value))));
}

/** `password=…`, `token: "…"` in a text: an unknown secret. A sentence ("password: is too short") stays. */
const NAMED =
  /((?:passw(?:or)?d|pwd|secret|(?<!unexpected )token|cookie|session[-_ ]?id|api[-_ ]?key|authorization)[\w-]{0,30}["']?\s{0,3}(?:=|:(?=\s{0,3}(?:["']|(?:basic|bearer) |[^\s,;]{0,99}[\d=])))\s{0,3})(?:"[^"]*"?|'[^']*'?|(?:basic |bearer )?[^\s,&<>"']+)/gi;

function told(text: string, secrets: Reading["secrets"]): string {
  return excerpt(printable(secrets.scrub(text).replace(NAMED, "$1[secret]")), MAX_CHARACTERS);
}

const MARKUP = /<\/[a-z]|^\s*<[a-z!?]/i;
const HIDDEN = /<(script|style|template|svg|textarea|select)\b[\s\S]*?(<\/\1\s*>|$)|<!--[\s\S]*?(-->|$)/gi;
/** A tag; an attribute's quoted value may contain `>`. */
const TAG = /<[a-z!?/](?:[^<>"']|"[^"<]*"|'[^'<]*'|["'])*>?/gi;

/** The text of a page, XML or plain lines. Secrets are masked first: one may hold a line's end, or look like a tag. */
function visibleText({ answer, fields, secrets }: Reading): string {
  const echoes = echoesOf(fields);
  const visible = secrets.scrub(answer.body.replace(/^\ufeff/, "")).replace(HIDDEN, " ");
  const isMarkup = answer.kind === "html" || MARKUP.test(visible);
  const parts = visible.split(isMarkup ? TAG : /\r?\n/).map((part) => part.trim());
  const text = [...new Set(parts.filter((part) => !echoes.has(folded(part))))].filter(Boolean).join(" ");
  return /<(html|head|body|title)\b|<!doctype/i.test(visible) ? `an HTML page${text && `: ${text}`}` : text;
}

/** The words of an unclear answer, which may be any server's, after a space; empty if there are none. */
export function saidIn(reading: Reading): string {
  const words = wordsOf(reading);
  return words.length === 0 ? "" : ` The platform said: ${asSentence(words, MAX_CHARACTERS)}`;
}

function asSentence(words: readonly string[], maxCharacters: number): string {
  return `${excerpt(words.join("; "), maxCharacters)}.`.replace(/([.!?])\.$/, "$1").replace(/([.!?:;,]); /g, "$1 ");
}
