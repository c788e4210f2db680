/**
 * Creates of unknown outcome that are looked for instead of being left to a person: what has to be remembered for it.
 */
import type { Kind } from "../kinds/index.js";
import { knownOperations } from "../settings/index.js";
import { type CreateRecord, MARK, readMark, writeMark } from "../state/index.js";
import type { Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";
import { isSearchable } from "./search.js";
import type { KnownSubject } from "./subject.js";

/** What a create can be searched for by, as it stands in its inputs; none where it can't. */
export function newTrace(kind: Kind, { reading: { settings }, newMark }: Runtime): string | undefined {
  const { traceField: field } = settings;
  const isKnown = knownOperations(kind, settings).search !== undefined && field !== undefined;
  return isKnown ? writeMark({ field, mark: newMark() }) : undefined;
}

/** The mark to send, where the inputs hold one for the field that is used now. */
export function markIn(inputs: Properties, { reading: { settings } }: Runtime): string | undefined {
  const sent = readMark(inputs[MARK]);
  return sent?.field === settings.traceField ? sent?.mark : undefined;
}

/**
 * Remembers what the state holds of an unresolved create, for the create that is to settle it.
 * @returns whether it can be looked for.
 */
export function noteUnsettled(
  kind: Kind,
  runtime: Runtime,
  { key, at, label }: KnownSubject,
  record: CreateRecord,
): boolean {
  if (!isSearchable(kind, runtime, record)) return false;
  runtime.learned.of(key).unsettled = toLookFor(record);
  if (runtime.run.isUp !== true) {
    runtime.tellAt(
      "warn",
      at,
      `${label} was sent at ${record.at}, and its outcome is unknown: \`pulumi up\` looks for it by its mark.`,
    );
  }
  return true;
}

/** Without what the last search has told: the next one tells it again. */
export function toLookFor(record: CreateRecord): CreateRecord {
  return { ...record, what: record.what?.split(" Searched for ", 1)[0] };
}
