/**
 * Notes in the state what is left live on the platform, so that somebody can tidy up there whatever becomes of the runner.
 */

import type { Values } from "../base/index.js";
import { type Kind, nameToTell } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { type LeftLive, leftLiveIn } from "../state/index.js";

/** What a replacement takes the place of: what that had left itself, and the object, where it is one. */
export interface Leaving {
  readonly before: readonly LeftLive[];
  readonly object: Omit<LeftLive, "at" | "why"> | undefined;
}

/** @param secret names of arguments that must not be told. @param isDeleted whether the engine deletes it. */
export function leavingIn(
  kind: Kind,
  id: string,
  olds: Values,
  secret: ReadonlySet<string>,
  isDeleted: boolean,
): Leaving {
  const isObject = isPlatformId(id) && !isDeleted;
  return { before: leftLiveIn(olds), object: isObject ? { id, ...toldOf(kind, olds, secret) } : undefined };
}

/** What the state of the new resource keeps. @param by its id; none where it has none of the platform's. */
export function leftAfter(leaving: Leaving | undefined, by: string | undefined, at: string): readonly LeftLive[] {
  if (leaving === undefined) return [];
  const { before, object } = leaving;
  if (object === undefined || object.id === by) return before;
  return [...before, { ...object, at, why: "replaced", ...(by === undefined ? {} : { by }) }];
}

/** What tells people which object it is. @param values its arguments. @param secret names of those that must not be told. */
export function toldOf(
  kind: Kind,
  values: Values,
  secret: ReadonlySet<string>,
): Pick<LeftLive, "name" | "advertiserId"> {
  const { advertiserId } = values;
  const name = nameToTell(kind, values, secret);
  const mayTell = kind.name === "ConversionEvent" && advertiserId !== undefined && !secret.has("advertiserId");
  return {
    ...(name === undefined ? {} : { name }),
    ...(mayTell && ["string", "number"].includes(typeof advertiserId) ? { advertiserId: String(advertiserId) } : {}),
  };
}
