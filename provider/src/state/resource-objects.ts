/**
 * A resource's objects by key, as the engine's state and inputs have them. A single resource is read as a set of one
 * under the empty key, so that everything between reading and writing exists once. Pure.
 */
import type { Values } from "../base/index.js";
import type { Kind, SetKind } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { memberRef, type ResourceRef } from "./names.js";
import {
  commonOutputsIn,
  type DeclaredSet,
  readDeclaredSet,
  readStoredSet,
  SENT_AS,
  type StoredSet,
  sentAsIn,
  sentAsText,
  UNRESOLVED,
  unresolvedIn,
  writeCommonOutputs,
  writeStoredSet,
} from "./stored.js";

/** The key of a single resource's object. */
export const SINGLE = "";

/** The kind of a resource's objects. */
export function kindOf(resource: Kind | SetKind): Kind {
  if ("member" in resource) return resource.member;
  return resource;
}

export function objectRef(
  resource: Kind | SetKind,
  ref: ResourceRef,
  key: string,
): ResourceRef {
  if ("member" in resource) return memberRef(ref, key);
  return ref;
}

/** Without hidden properties, whose names begin with two underscores. */
export function argumentsIn(inputs: Values): Values {
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.startsWith("__")));
}

/** @param id of the resource; the objects of a set have their own. @param outputs empty for a new resource. */
export function readStored(
  resource: Kind | SetKind,
  id: string | undefined,
  outputs: Values,
): StoredSet {
  if ("member" in resource) return readStoredSet(outputs);
  return {
    advertiserId: undefined,
    defaults: undefined,
    events: only(outputs),
    eventIds: only(isPlatformId(id) ? id : undefined),
    sentAs: only(sentAsIn(outputs[SENT_AS])),
    unresolved: only(unresolvedIn(outputs)),
    ...commonOutputsIn(outputs),
  };
}

/** @param inputs undefined if the program does not declare the resource any more. */
export function readDeclared(
  resource: Kind | SetKind,
  inputs: Values | undefined,
): DeclaredSet {
  if ("member" in resource) return readDeclaredSet(inputs ?? {});
  const events = only(inputs && argumentsIn(inputs));
  return { advertiserId: undefined, defaults: undefined, events, formerKeys: new Map() };
}

function only<T>(value: T | undefined): Map<string, T> {
  return value === undefined ? new Map() : new Map([[SINGLE, value]]);
}

/**
 * The outputs that {@link readStored} reads; undefined where there is nothing.
 * @param asId makes an output of an id. @param account empty if it is not known.
 */
export function writeStored(
  resource: Kind | SetKind,
  stored: StoredSet,
  asId: (digits: string) => number | string,
  account: string,
): Values {
  if ("member" in resource) return writeStoredSet(stored, asId, account);
  const id = stored.eventIds.get(SINGLE);
  const sentAs = stored.sentAs.get(SINGLE);
  const entry = Object.entries(stored.events.get(SINGLE) ?? {});
  return {
    ...Object.fromEntries(entry.map(([name, value]) => [name, value ?? undefined])),
    [resource.idProperty]: id && asId(id),
    [SENT_AS]: sentAs && sentAsText(sentAs),
    [UNRESOLVED]: stored.unresolved.get(SINGLE),
    ...writeCommonOutputs(stored, account),
  };
}
