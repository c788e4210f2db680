/**
 * What to do about a refusal, where its own words show what it is about; otherwise nothing: advice that does not fit is
 * followed too. None may replace what is live: another argument of an `Advertiser` makes another advertiser. Pure.
 */

import type { Values } from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import { everyLeafOf } from "./leaves.js";
import type { SessionAnswer } from "./session.js";
import type { HttpAnswer } from "./transport.js";

export interface Refused {
  readonly answer: Pick<HttpAnswer, "status">;
  readonly operation: Pick<Operation, "noun" | "fields">;
  /** The request's fields: the name of an event is nothing that the platform says. */
  readonly sent: Values;
}

/** A sentence in small letters, without what it quotes and what was sent, codes as words. */
interface Sentence {
  /** The last name of the path in front of it, or an empty string. */
  readonly about: string;
  readonly text: string;
}

interface Hint {
  readonly advice: string;
  readonly fits: (sentence: Sentence, refused: Refused) => boolean;
}

/** `advertiser`, `advertiser id 3`, `advertiser with id 3`, then directly what is said of it. */
const ADVERTISER_IS =
  "\\badvertisers?(?: id| with (?:this |that |the |an? )?id)?" +
  "(?: (?!(?:name|event|segment|campaign|line|item|user|account|type|tag|with|of|has|have|for|in|whose|and|or)\\b|\\S*'s\\b)[\\w#().,:-]+){0,2}?" +
  "(?: (?:is|was|are|were|has been|seems|appears|could|can)(?: currently| still| yet)?)?";
const INACTIVE =
  "(?:(?:not|isn't|aren't|wasn't)(?: yet| currently| an?)? (?:active|activated|enabled)\\b|in-?active|non-?active|never activated" +
  "|deactivated|disabled|paused|suspended|(?:must|should|has to|have to|needs? to) be (?:an? )?(?:valid and )?(?:active|activated|enabled))";
const NOT_KNOWN =
  "(?:not (?:be )?found|can(?:not|'t) be found|couldn't be found|not (?:an? )?(?:valid|known|recogni[sz]ed)|isn't (?:valid|known)|unknown" +
  "|invalid(?! (?:type|format|integer|number))|non-?existent|(?:does not|doesn't|do not|don't|not) exist|no longer exists" +
  "|(?:does not|doesn't|not) belong|belongs to (?:another|a different)|not yours|not (?:owned by|in) (?:this|your) account" +
  "|must be an? valid(?! (?:integer|number)))";

const advertiserIsInactive = new RegExp(
  `${ADVERTISER_IS} ${INACTIVE}|\\b(?:inactive|non-?active|deactivated|disabled|paused|suspended) advertiser(?! name)` +
    "|\\b(?:needs?|requires?|no|not|must be|must have)(?: an?)?(?: valid(?: and|,))? active advertiser",
);
const advertiserIsUnknown = new RegExp(
  `${ADVERTISER_IS} ${NOT_KNOWN}|\\b(?:(?:unknown|invalid|non-?existent|no such|no valid|find(?: an| the)?)` +
    "|(?:not|must be|needs?|requires?) an? (?:valid|known)) (?:and active )?advertiser(?!s? name)" +
    "|\\bthere(?: is|'s) no (?:such )?advertiser(?! name)|\\bno advertiser (?:with|found|exists|id|\\d)",
);
const saidOfAdvertiser = {
  inactive: new RegExp(INACTIVE),
  unknown: new RegExp(`${NOT_KNOWN}|\\bthere(?: is|'s) no\\b|\\bno such\\b`),
};
const taken = new RegExp(
  "(?<!not )\\balready (?:been )?(?:taken|in use|used|exists?|existing|registered|defined|present|created)\\b|\\bexists already\\b" +
    "|(?:^|\\b(?:is|are|been|name) )taken\\b|(?<!\\b(?:action|steps?|measures?) )\\bwas taken\\b" +
    "|\\bnot unique\\b|\\b(?:must|should|has to|needs to) be unique\\b" +
    "|\\bduplicated?\\b(?! (?:fields?|param\\w*|headers?|propert\\w+|keys? in))|\\bconflicts? with an? existing\\b|^exists\\W*$",
);
const OF_ANOTHER_OBJECT = /^(advertiser|segment|event type|campaign|account|user|line item)( ids?)?$/;

export const HINTS = {
  inactive: {
    advice:
      "Activate that advertiser on the platform, by hand in its own interface, and run this again; leave the Advertiser's " +
      "arguments as they are, since a change of them makes another advertiser.",
    fits: ({ about, text }, { operation }) =>
      operation.fields.includes("advertiser_id") &&
      (advertiserIsInactive.test(text) || (isAdvertiser(about) && saidOfAdvertiser.inactive.test(text))),
  },
  unknown: {
    advice: "Check advertiserId, and that the advertiser belongs to this account.",
    fits: ({ about, text }, { operation }) =>
      operation.fields.includes("advertiser_id") &&
      (advertiserIsUnknown.test(text) || (isAdvertiser(about) && saidOfAdvertiser.unknown.test(text))),
  },
  taken: {
    advice:
      "If the object exists already, adopt it with existingId; nothing is sent then. (If it is this resource's own former object, change it by hand " +
      "on the platform first.)",
    fits: ({ about, text }, { operation: { noun } }) =>
      (taken.test(text) ||
        new RegExp(`(?<!\\bno (?:such )?)\\b(?:name|object|record|entry|${noun}) exists\\b`).test(text)) &&
      (!OF_ANOTHER_OBJECT.test(about) || about.startsWith(noun)),
  },
} satisfies Readonly<Record<string, Hint>>;

const ADDRESS = "Check advertising:baseUrl, its path included.";

/** @param words what the platform said, as it is told. */
export function hintsFor(words: readonly string[], refused: Refused): string[] {
  const sentences = words.map((word) => sentenceOf(word, refused.sent));
  const fitting = Object.values<Hint>(HINTS).filter((hint) =>
    sentences.some((sentence) => hint.fits(sentence, refused)),
  );
  const { status } = refused.answer;
  return [...(status === 404 || status === 405 ? [ADDRESS] : []), ...fitting.map(({ advice }) => advice)];
}

/** What a sentence quotes is somebody else's. */
const QUOTED = /"[^"]*"|\u201c[^\u201d]*\u201d|`[^`]*`|(?<!\w)'[^']*'(?!\w)/g;
const PATH = /^([\p{L}\p{N}_.$@[\]-]+): (?=.)/u;
const MAX_SENT = 100;

function sentenceOf(word: string, sent: Values): Sentence {
  const path = PATH.exec(word)?.[1] ?? "";
  const said = path === "" ? word : word.slice(path.length + 2);
  const text = spelledOut(
    withoutSent(said, sent)
      .replaceAll(QUOTED, " ")
      .replace(/^code |\(code /, " "),
  );
  return { about: spelledOut(path.slice(path.lastIndexOf(".") + 1)), text };
}

function withoutSent(text: string, sent: Values): string {
  let rest = text;
  let seen = 0;
  for (const { value } of everyLeafOf(sent)) {
    if (seen++ === MAX_SENT) break;
    if (typeof value !== "string" || !/\p{L}/u.test(value) || value.length > rest.length) continue;
    const literally = value.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
    rest = rest.replace(new RegExp(`(?<![\\p{L}\\p{N}_])${literally}(?![\\p{L}\\p{N}_])`, "giu"), " ");
  }
  return rest;
}

/** `ADVERTISER_NOT_ACTIVE`, `advertiserId`, as words in small letters. */
function spelledOut(text: string): string {
  return text
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .replaceAll("\u2019", "'")
    .toLowerCase()
    .replace(/\s+/g, " ")
    .trim();
}

function isAdvertiser(about: string): boolean {
  return /^advertisers?( id)?$/.test(about);
}

/** What to do where the session refused a request. */
export function sessionHint(session: SessionAnswer["session"], settings: Settings): string | undefined {
  if (session === "accepted") return undefined;
  if (settings.authMode === "basic") {
    return "Check advertising:email, advertising:password and whether this installation takes Basic credentials.";
  }
  return session === "refused-again"
    ? "It was sent again on a new session and refused again: the account may lack the permission, or the login may not be valid there" +
        (settings.keepLoggedIn
          ? "; or each answer ends the session before it, and advertising:maxConcurrentRequests must be 1."
          : ".")
    : "The session is new; another login would not help: the account may lack the permission.";
}
