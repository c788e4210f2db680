/**
 * Objects and lists of which a part is not known yet: what of them can be checked already.
 */

/** Deeper than any request field; what zod and Pulumi do with a deeper value is to run out of stack. */
const MAX_DEPTH = 100;

/** Stands where a value can't be carried by JSON: no rule accepts a symbol. */
const NEVER_JSON = Symbol("not JSON");

/** A value that holds others and is known itself, as its names are: a list or a plain object, not an Output or a Promise. */
export function isContainer(value: unknown): value is object {
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  // One step below the end of the chain: an object literal, of this realm or another (a program run in a `vm`).
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * `value` as Pulumi will send it: fields that are `undefined` are left out at every depth, and are null in a list.
 * @param unknownAs what stands for a part that is not known yet.
 */
export function asSent(
  value: unknown,
  isUnknown: (value: unknown) => boolean,
  unknownAs: (part: unknown) => unknown,
): unknown {
  const copy = (part: unknown, holders: readonly object[]): unknown => {
    if (!isContainer(part)) return isUnknown(part) ? unknownAs(part) : part;
    if (holders.length >= MAX_DEPTH || holders.includes(part)) return NEVER_JSON;
    const inside = [...holders, part];
    if (Array.isArray(part)) return Array.from(part, (entry) => (entry === undefined ? null : copy(entry, inside)));
    // zod would drop such a field without a word.
    if (Object.hasOwn(part, "__proto__")) return NEVER_JSON;
    const given = Object.entries(part).filter(([, entry]) => entry !== undefined);
    return Object.fromEntries(given.map(([name, entry]) => [name, copy(entry, inside)]));
  };
  return copy(value, []);
}
