/**
 * Creates of unknown outcome that are looked for instead of being left to a person: what has to be remembered for it.
 */
import { fingerprintOfBody, type Kind } from "../kinds/index.js";
import { knownOperations } from "../settings/index.js";
import { MARK, markOf, readTrace, soughtIn, type UnresolvedCreate, writeTrace } from "../state/index.js";
import type { Properties } from "./inputs.js";
import type { Learned } from "./learned.js";
import type { Runtime } from "./runtime.js";
import { isSearchable } from "./search.js";
import type { KnownSubject } from "./subject.js";

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
  const { trace, since } = unresolved;
  if (!isSearchable(kind, runtime, { trace: trace?.field })) return false;
  // Where these stand there, it was sent with other arguments than the state's.
  const isOfState = unresolved.name === undefined && unresolved.facts === undefined;
  const fingerprint = isOfState ? fingerprintOfBody(kind, properties) : "";
  runtime.learned.of(key).unsettled = toLookFor(kind, { ...unresolved, mark: markOf(id), fingerprint }, properties);
  if (runtime.run.isUp !== true) {
    runtime.tellAt(
      "warn",
      at,
      `${label} was sent at ${since}, and its outcome is unknown: \`pulumi up\` looks for it by its mark.`,
    );
  }
  return true;
}

/** @param properties what the state holds beside it. */
export function toLookFor(
  kind: Kind,
  unresolved: UnresolvedCreate & { readonly mark: string; readonly fingerprint?: string },
  properties: Properties = {},
): Learned["unsettled"] {
  const { trace, since, what, replaces, mark, fingerprint } = unresolved;
  const { name, facts } = soughtIn(kind, properties, unresolved);
  return {
    mark: trace?.value ?? mark,
    at: since,
    trace: trace?.field,
    fingerprint: fingerprint ?? "",
    what: withoutSearch(what),
    name,
    facts: facts as UnresolvedCreate["facts"],
    replaces,
  };
}

/** What happened, without what the last search has told: the next one tells it anew. */
function withoutSearch(what: string): string {
  return what.split(" Searched for ", 1)[0] ?? what;
}
