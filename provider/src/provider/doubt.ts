/**
 * What is known of a create that was sent, and of which nobody knows what became.
 */

import { AdvertisingError, OutcomeUnknownError } from "../base/index.js";
import { isPlatformId } from "../rules/index.js";
import type { CreateRecord } from "../state/index.js";
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

/** The outcome that nobody knows. @param record what was sent, and what happened. */
export function unresolved({ secrets }: Runtime, { subject, secret }: Create, record: CreateRecord): Outcome {
  const { what = "", replaces } = record;
  return {
    kind: "unresolved",
    record: {
      ...record,
      what: secrets.scrub(what),
      urn: isKnown(subject) ? subject.urn : undefined,
      replaces: idOf(replaces),
      secret: [...secret],
    },
  };
}

/** Of the platform; an unresolved resource has none. */
export function idOf(id: string | undefined): string | undefined {
  return isPlatformId(id) ? id : undefined;
}
