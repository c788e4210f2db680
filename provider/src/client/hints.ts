/**
 * What to do about a refusal, where the platform says in words that are documented or were observed what it is about;
 * otherwise nothing, since advice that does not fit is followed too. No advice may replace what is live: another argument of
 * an `Advertiser` makes another advertiser. Pure.
 */
import type { Values } from "../base/index.js";
import type { Operation } from "../kinds/index.js";
import type { Settings } from "../settings/index.js";
import type { Answer } from "./answer.js";
import { documented } from "./said.js";
import type { SessionAnswer } from "./session.js";

interface Hint {
  readonly advice: string;
  /** One clause of a statement, in full. */
  readonly clause: RegExp;
  /** Codes that say the same. */
  readonly codes: RegExp;
  /** Only for an object that belongs to an advertiser. */
  readonly ofOwned?: true;
}

export const HINTS = {
  inactive: {
    advice:
      "Activate that advertiser on the platform, by hand in its own interface, and run this again; leave the Advertiser's " +
      "arguments as they are, since a change of them makes another advertiser.",
    clause: /^(advertiser_id:? )?(the )?advertiser( (with id )?\d+)? is (not active|inactive)$/i,
    codes: /^advertiser_(not_active|inactive)$/i,
    ofOwned: true,
  },
  taken: {
    advice:
      "If the object exists already, adopt it with existingId; nothing is sent then. (If it is this resource's own former object, change it by hand " +
      "on the platform first.)",
    clause:
      /^((the )?([a-z]+[ _])?name (is |has )?)?((already )?(been )?taken|already exists|exists already)$|^(is|has) (already )?(been )?taken$/i,
    codes: /^name_taken$/i,
  },
  unknownField: {
    advice:
      "This installation does not know that field: take it out of additionalFields, or write its name as the installation does.",
    clause:
      /^(\w+ is (not a known|an unknown) field|is (not a known|an unknown) field|unknown field:? \w+|unknown field)$/i,
    codes: /^unknown_field$/i,
  },
} satisfies Readonly<Record<string, Hint>>;

const ADDRESS = "Check advertising:baseUrl, its path included.";

/** @param sent the request's fields: the name of an event is nothing that the platform says. */
export function hintsFor(answer: Answer, operation: Pick<Operation, "fields">, sent: Values): string[] {
  const values = Object.values(sent).filter((value) => typeof value === "string");
  const statements = documented(answer);
  const clauses = statements
    .flatMap(({ text }) => text.replace(/^ERROR:\s*/i, "").split(/(?:[;:]|\.(?=\s|$))\s*/))
    .filter((clause) => !values.some((value) => value.includes(clause)));
  const codes = statements.flatMap(({ code }) => code?.value ?? []);
  const isOwned = operation.fields.includes("advertiser_id");
  const fitting = Object.values<Hint>(HINTS).filter(
    (hint) =>
      (hint.ofOwned !== true || isOwned) &&
      (clauses.some((clause) => hint.clause.test(clause.trim())) || codes.some((code) => hint.codes.test(code))),
  );
  const { status } = answer;
  return [...(status === 404 || status === 405 ? [ADDRESS] : []), ...fitting.map(({ advice }) => advice)];
}

/** Advises what to do about a request that the session refused. */
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
