/**
 * Creates of unknown outcome that are looked for instead of being left to a person: what has to be remembered for it.
 */
import { requestFields } from "../api/request.js";
import { knownOperations } from "../config/operations.js";
import { fingerprintOf } from "../journal/fingerprint.js";
import type { Kind } from "../kinds/kind.js";
import { markOf, soughtIn, type UnresolvedMark } from "../state/unresolved.js";
import type { Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";
import { isSearchable } from "./search.js";
import type { KnownSubject } from "./subject.js";

/** The mark of a create that could be searched for, to stand in its inputs: the engine's record of a killed run holds those. */
export function searchableMark(kind: Kind, { reading: { settings }, newMark }: Runtime): string | undefined {
  return knownOperations(kind, settings).search === undefined || settings.traceField === undefined
    ? undefined
    : newMark();
}

/**
 * Remembers what the state holds of an unresolved create, for the create that is to settle it.
 * @returns whether it can be looked for.
 */
export function noteUnsettled(
  kind: Kind,
  runtime: Runtime,
  { key, at, label }: KnownSubject,
  id: string,
  properties: Properties,
  unresolved: UnresolvedMark,
): boolean {
  const { trace, since, what, replaces } = unresolved;
  if (!isSearchable(kind, runtime, { trace: trace?.field })) return false;
  const { name, facts } = soughtIn(kind, properties, unresolved);
  // Where these stand there, it was sent with other arguments than the state's.
  const isOfState = unresolved.name === undefined && unresolved.facts === undefined;
  runtime.unsettled.set(key, {
    mark: trace?.value ?? markOf(id),
    at: since,
    trace: trace?.field,
    fingerprint: isOfState ? fingerprintOf(requestFields(kind, properties)) : "",
    what: what.split(SEARCHED)[0] ?? "",
    name,
    facts: facts as UnresolvedMark["facts"],
    replaces,
  });
  if (runtime.run.isUp !== true) {
    runtime.tellAt(
      "warn",
      at,
      `${label} was sent at ${since}, and its outcome is unknown: \`pulumi up\` looks for it by its mark.`,
    );
  }
  return true;
}

/** How what the last search has told begins. */
const SEARCHED = " Searched for ";
