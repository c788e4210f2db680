/**
 * The mark of a set in its inputs, from which those of its members follow.
 */
import { isDeepStrictEqual } from "node:util";
import type { Kind } from "../kinds/index.js";
import { MARK } from "../state/index.js";
import { argumentsIn, type Properties } from "./inputs.js";
import type { Runtime } from "./runtime.js";
import { markIn, newTrace } from "./unsettled.js";

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
