/**
 * The marks that members of a set are sent with. They follow from one text in the set's inputs, so that the engine's record of a
 * killed run is enough to look for each of them: how they follow is a contract.
 */
import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../../kinds/kind.js";
import { MARK } from "../../state/properties.js";
import { argumentsIn, type Properties } from "../inputs.js";
import { markIn, newTrace } from "../known/unsettled.js";
import type { Runtime } from "../runtime.js";

/**
 * As it stands in the inputs: a new one with other arguments, so that a run which changes nothing leaves the state as it is.
 * @param kind of the members. @param olds the inputs of before. @param values the checked arguments of now.
 * @returns none where the installation has no known search.
 */
export function traceOfSet(kind: Kind, runtime: Runtime, olds: Properties, values: Properties): string | undefined {
  const trace = newTrace(kind, runtime);
  if (trace === undefined) return undefined;
  const isOfNow = markIn(olds, runtime) !== undefined && isDeepStrictEqual(argumentsIn(olds), values);
  return isOfNow ? String(olds[MARK]) : trace;
}

/** @param mark the set's. @returns in the form of a UUID, as other marks have it. */
export function memberMark(mark: string, key: string): string {
  const hash = createHash("sha256").update(`${mark} ${key}`).digest("hex");
  return [hash.slice(0, 8), hash.slice(8, 12), hash.slice(12, 16), hash.slice(16, 20), hash.slice(20, 32)].join("-");
}
