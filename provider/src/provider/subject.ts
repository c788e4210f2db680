/**
 * Whom a message, a note of the journal or a command is about: a resource, or one member of a set.
 */
import { type ResourceName, typeTokenOf } from "../kinds/index.js";
import { journalKeyOf, labelOf, memberLabel, memberOf, nameOf, urnOf } from "../state/index.js";

export interface Subject {
  /** Of the resource; none where the program's half did not say. */
  readonly identity: string | undefined;
  /** Under which the journal knows it. */
  readonly key: string;
  /** For commands that people are told; of a member, with its key behind it. */
  readonly urn: string;
  /** The resource's URN: where the engine shows messages. */
  readonly at: string;
  /** For messages. */
  readonly label: string;
}

/** One whose identity is known. */
export interface KnownSubject extends Subject {
  readonly identity: string;
}

export function isKnown(subject: Subject): subject is KnownSubject {
  return subject.identity !== undefined;
}

/** @param otherwise names the resource where its identity is not known. */
export function subjectOf(resource: ResourceName, identity: unknown, otherwise = "(without a name)"): Subject {
  if (typeof identity !== "string") {
    return { identity: undefined, key: "", urn: "", at: "", label: labelOf(resource, otherwise) };
  }
  const urn = urnOf(identity, typeTokenOf(resource));
  return {
    identity,
    key: journalKeyOf(resource, identity),
    urn,
    at: urn,
    label: labelOf(resource, nameOf(identity)),
  };
}

/** One member of a set. */
export function memberSubject({ identity, key, urn, at, label }: Subject, member: string): Subject {
  return {
    identity,
    key: identity === undefined ? "" : memberOf(key, member),
    urn: memberOf(urn, member),
    at,
    label: memberLabel(label, member),
  };
}
