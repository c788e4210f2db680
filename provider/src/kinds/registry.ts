/**
 * Every kind of resource that there is.
 */
import { advertiser } from "./advertiser-kind.js";
import { conversionEvent } from "./event-kind.js";
import { type Kind, type SetKind, typeTokenOf } from "./kind.js";
import { conversionEventSet } from "./set-kind.js";

export const KINDS: readonly Kind[] = [advertiser, conversionEvent];

/** @param token a resource's type token; none for a resource of another package. */
export function kindOfType(token: string): Kind | undefined {
  return KINDS.find(({ name }) => typeTokenOf(name) === token);
}

/** @param token a resource's type token; none for a resource that is no set. */
export function setOfType(token: string): SetKind | undefined {
  return token === typeTokenOf(conversionEventSet.name) ? conversionEventSet : undefined;
}

export function kindNamed(name: Kind["name"]): Kind {
  return KINDS.find((kind) => kind.name === name) as Kind;
}

/** The argument that owns a request field, as `eventName of ConversionEvent`; none where the field is free. */
export function ownerOf(wireName: string): string | undefined {
  for (const { name, wireNames } of KINDS) {
    const owner = Object.entries(wireNames).find(([, field]) => field === wireName);
    if (owner !== undefined) return `${owner[0]} of ${name}`;
  }
  return undefined;
}
