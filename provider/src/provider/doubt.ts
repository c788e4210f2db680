/**
 * What is known of a create that was sent, and of which nobody knows what became.
 */

import { AdvertisingError, OutcomeUnknownError } from "../base/index.js";
import { isPlatformId } from "../rules/index.js";
import type { UnresolvedCreate } from "../state/index.js";
import type { Create } from "./create.js";
import { describeDefect } from "./failure.js";
import type { Outcome } from "./outcome.js";
import type { Runtime } from "./runtime.js";
import { isKnown } from "./subject.js";

/** What is not known after a failure; nothing where nothing was created. */
export function doubtIn(error: unknown, sentAt: string | undefined, label: string) {
  if (error instanceof OutcomeUnknownError) return { sentAt: error.sentAt, what: error.message };
  if (error instanceof AdvertisingError || sentAt === undefined) return undefined;
  // Of ours, in reading the answer, whatever it was: to send it again could make two.
  return {
    sentAt,
    what: `${label} was sent at ${sentAt}, and its answer could not be judged. ${describeDefect(error)}`,
  };
}

/** A create that was sent, and of which nobody knows what became. */
export interface Doubtful {
  readonly mark: string;
  readonly fingerprint: string;
  readonly since: string;
  readonly what: string;
  readonly replaces: string | undefined;
  /** The request field that its mark was sent in. */
  readonly trace: string | undefined;
  readonly sent?: Pick<UnresolvedCreate, "name" | "facts">;
}

export function unresolved(
  { secrets }: Runtime,
  { subject, secret }: Create,
  { mark, fingerprint, since, what, replaces, trace, sent }: Doubtful,
): Outcome {
  return {
    kind: "unresolved",
    mark,
    fingerprint,
    unresolved: {
      since,
      what: secrets.scrub(what),
      ...(isKnown(subject) ? { urn: subject.urn } : {}),
      ...(trace === undefined ? {} : { trace: { field: trace, value: mark } }),
      ...(replaces === undefined || idOf(replaces) === undefined ? {} : { replaces }),
      ...sent,
      ...(secret.size === 0 ? {} : { secret: [...secret] }),
    },
  };
}

/** Of the platform; an unresolved resource has none. */
export function idOf(id: string | undefined): string | undefined {
  return isPlatformId(id) ? id : undefined;
}
