/** The names of creates in commands. A process keeps those that it knows, so that no printed command is ambiguous. */
import { type ObjectRef, type ParsedKey, resourceKeyIn } from "./names.js";

/** By name, the object that has it, or the set for whose events it stands; empty if several have it. */
const owners = new Map<string, string>();

/** Another run begins. */
export function forgetNames() {
  owners.clear();
}

/** @param id tells the object from others. @param ofResource the same for its resource. */
export function noteNames(
  { key, name, shownName }: ParsedKey,
  id = key,
  ofResource = resourceKeyIn(key),
) {
  const note = (each: string, owner: string) => {
    const isShared = (owners.get(each) ?? owner) !== owner;
    owners.set(each, isShared ? "" : owner);
  };
  note(name, ofResource);
  note(shownName, id);
  note(key, id);
}

/** A create, as printed commands name it. */
export type Answerable = Partial<ObjectRef> & Pick<ObjectRef, "shownName">;

/** The first of a create's names that is no other's. */
export function commandName({ shownName, key = shownName, urn }: Answerable) {
  const isOwn = (name: string) => [undefined, key, urn].includes(owners.get(name));
  return [shownName, key].find(isOwn) ?? urn ?? key;
}
