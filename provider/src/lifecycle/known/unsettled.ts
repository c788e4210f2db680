/**
 * Creates of unknown outcome that are looked for instead of being left to a person: what has to be remembered for it.
 */
import { requestFields } from "../../api/request.js";
import { knownOperations } from "../../config/operations.js";
import { fingerprintOf } from "../../journal/fingerprint.js";
import type { Kind } from "../../kinds/kind.js";
import { MARK } from "../../state/properties.js";
import { markOf, readTrace, soughtIn, type UnresolvedCreate, writeTrace } from "../../state/unresolved.js";
import type { Properties } from "../inputs.js";
import type { Runtime } from "../runtime.js";
import type { KnownSubject } from "../subject.js";
import { isSearchable } from "./search.js";

/** What a create can be searched for by, as it stands in its inputs; none where it can't. */
export function newTrace(kind: Kind, { reading: { settings }, newMark }: Runtime): string | undefined {
  const { traceField: field } = settings;
  const isKnown = knownOperations(kind, settings).search !== undefined && field !== undefined;
  return isKnown ? writeTrace({ field, value: newMark() }) : undefined;
}

/** The mark to send, where the inputs hold one for the field that is used now. */
export function markIn(inputs: Properties, { reading: { settings } }: Runtime): string | undefined {
  const trace = readTrace(inputs[MARK]);
  return trace?.field === settings.traceField ? trace?.value : undefined;
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
  unresolved: UnresolvedCreate,
): boolean {
  const { trace, since, what, replaces } = unresolved;
  if (!isSearchable(kind, runtime, { trace: trace?.field })) return false;
  const { name, facts } = soughtIn(kind, properties, unresolved);
  // Where these stand there, it was sent with other arguments than the state's.
  const isOfState = unresolved.name === undefined && unresolved.facts === undefined;
  runtime.learned.of(key).unsettled = {
    mark: trace?.value ?? markOf(id),
    at: since,
    trace: trace?.field,
    fingerprint: isOfState ? fingerprintOf(requestFields(kind, properties)) : "",
    what: withoutSearch(what),
    name,
    facts: facts as UnresolvedCreate["facts"],
    replaces,
  };
  if (runtime.run.isUp !== true) {
    runtime.tellAt(
      "warn",
      at,
      `${label} was sent at ${since}, and its outcome is unknown: \`pulumi up\` looks for it by its mark.`,
    );
  }
  return true;
}

/** What happened, without what the last search has told: the next one tells it anew. */
export function withoutSearch(what: string): string {
  return what.split(" Searched for ", 1)[0] ?? what;
}
