/**
 * What replacements and sets have left live on the platform, as the state of what took its place keeps it: field names are
 * contracts with every stored state. Nothing secret. Pure.
 */
import type { Values } from "../base/index.js";
import { type Kind, kindOfType, setOfType } from "../kinds/index.js";
import { LEFT_LIVE } from "./properties.js";

/** An object that nothing manages any more. */
export interface LeftLive {
  /** The platform's, in digits. */
  readonly id: string;
  /** When the state let go of it, ISO 8601. */
  readonly at: string;
  /** `removed`: its key left a set. */
  readonly why: "replaced" | "removed";
  /** The set that held it could not delete it: the next `up` tries again. */
  readonly toDelete?: boolean;
  /** The id of what took its place, where that is known. */
  readonly by?: string;
  /** On the platform; absent where it is secret. */
  readonly name?: string;
  readonly advertiserId?: string;
  /** Of a set's member. */
  readonly key?: string;
  /** When somebody said that it is tidied up, ISO 8601: it is on no list from then on. */
  readonly done?: string;
}

/** Of what kind the objects are that a resource of this type has left; none where it is no resource of ours. */
export function leftLiveKind(type: string): Kind["name"] | undefined {
  return (setOfType(type)?.member ?? kindOfType(type))?.name;
}

/** Reads what any version may have written. */
export function leftLiveIn(outputs: Values): readonly LeftLive[] {
  const list = outputs[LEFT_LIVE];
  return Array.isArray(list) ? (list as LeftLive[]).filter((each) => typeof each?.id === "string") : [];
}

/** The output that holds them; none where there are none. */
export function writeLeftLive(list: readonly LeftLive[]): Record<string, unknown> {
  return list.length === 0 ? {} : { [LEFT_LIVE]: list };
}
