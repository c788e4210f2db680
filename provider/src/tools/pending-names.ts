/**
 * What people mean by the words that they type as URNs: among thousands of creates, each word is found at once. Pure.
 */
import { perhapsMeant, plainShellWord } from "../base/index.js";
import { nameInUrn, namesInUrn, splitMember } from "../state/index.js";
import type { PendingCreate } from "./pending-facts.js";

export type Named = Pick<PendingCreate, "urn" | "formerly">;

type Find<T> = (text: string) => readonly T[];

/** By the names that they have now; if none fits, by those that they had. @param namesOf by a URN, all that it may be called. */
function finder<T extends Named>(among: readonly T[], namesOf: (urn: string) => readonly string[]): Find<T> {
  const indexed = (urnsOf: (each: T) => readonly string[]) => {
    const index = new Map<string, T[]>();
    for (const each of among) {
      for (const name of new Set(urnsOf(each).flatMap(namesOf))) {
        const those = index.get(name);
        if (those === undefined) index.set(name, [each]);
        else those.push(each);
      }
    }
    return index;
  };
  const [now, before] = [indexed(({ urn }) => [urn]), indexed(({ formerly = [] }) => formerly)];
  return (text) => now.get(text) ?? before.get(text) ?? [];
}

function namesOfSet(urn: string): string[] {
  const { of, key } = splitMember(urn);
  return key === undefined ? [] : namesInUrn(of);
}

export function themselves<T extends Named>(among: readonly T[]): Find<T> {
  return finder(among, namesInUrn);
}

/** The events of the set that is named. */
export function membersOfSet<T extends Named>(among: readonly T[]): Find<T> {
  return finder(among, namesOfSet);
}

/** What a word that was typed means. */
export interface Meant<T extends Named = Named> {
  readonly text: string;
  readonly all: readonly T[];
  /** The word is the name of several resources. */
  readonly fault: string | undefined;
}

/** A resource, or an event of a set, is meant by its URN or its name; all events of a set by the set's. */
export function meaningIn<T extends Named>(among: readonly T[]): (text: string) => Meant<T> {
  const find = finder(among, (urn) => [...namesInUrn(urn), ...namesOfSet(urn)]);
  return (text) => {
    const all = find(text);
    const isOfSeveral = new Set(all.map(({ urn }) => splitMember(urn).of)).size > 1;
    return { text, all, fault: isOfSeveral ? `"${text}" is the name of several: give the URN` : undefined };
  };
}

/** More are only counted. */
export const MAX_NAMED = 20;

/** @param before how many words before it fit nothing: with thousands, each would be compared with thousands of names. */
export function perhaps(wanted: string, among: readonly Named[], before: number): string {
  if (before >= MAX_NAMED) return "";
  const urns = new Map(among.flatMap(({ urn }) => [urn, splitMember(urn).of]).map((urn) => [nameInUrn(urn), urn]));
  // All URNs of a stack are much alike.
  const name = nameInUrn(wanted);
  return perhapsMeant(name || wanted, urns.keys(), (meant) =>
    plainShellWord(name === "" ? meant : (urns.get(meant) ?? meant)),
  );
}
