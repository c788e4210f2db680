/**
 * What the program has declared so far, to be asked about what earlier runs knew.
 */

import type { Kind, ResourceName } from "../kinds/index.js";
import { isPlatformId } from "../rules/index.js";
import { aboutWhom, resourceKeyIn } from "../state/index.js";
import { isAt, type Place } from "./place.js";

/** A resource that the program declares, or a member of a set. */
export interface DeclaredHere {
  /** Of the object; of a set, its members'. */
  readonly kind: Kind;
  /** Of the resource. */
  readonly name: string;
  readonly parentTypes: string | undefined;
  /** Under which the journal knows it. */
  readonly key: string;
  /** As it was given: perhaps not known yet. */
  readonly platformName: unknown;
  /** As it was given: the object that it adopts. */
  readonly existingId: unknown;
  readonly isRead: boolean;
  /** Whether it is a set whose members the program knows, and declares beside it. */
  readonly hasKnownMembers: boolean;
  /** Where it was before, as its aliases say. */
  readonly formerly: readonly Place[];
}

export class Declarations {
  readonly #keys = new Set<string>();
  /** By journal key: sets whose members are declared beside them. */
  readonly #knownSets = new Set<string>();
  /** By kind and id. */
  readonly #adopted = new Set<string>();
  /** Made once for all that are declared together. */
  readonly #adoptedOf = new Map<string, { readonly amount: number; readonly ids: string }>();
  readonly #formerly: { readonly resource: ResourceName; readonly place: Place }[] = [];
  /** By kind: journal keys of resources that adopt, or may adopt, what is not known yet. */
  readonly #adoptsUnknown = new Map<string, Set<string>>();
  readonly #byPlatformName = new Map<string, DeclaredHere[]>();

  add(declared: DeclaredHere): void {
    const { kind, key, platformName, existingId, hasKnownMembers, formerly } = declared;
    this.#keys.add(key);
    if (hasKnownMembers) this.#knownSets.add(key);
    if (existingId !== undefined) this.#adopted.add(`${kind.name} ${String(existingId)}`);
    if (mayAdoptUnknown(declared)) {
      const those = this.#adoptsUnknown.get(kind.name) ?? new Set();
      this.#adoptsUnknown.set(kind.name, those.add(resourceKeyIn(key)));
    }
    for (const place of formerly) this.#formerly.push({ resource: aboutWhom(key).resource, place });
    if (typeof platformName !== "string") return;
    const name = `${kind.name} ${platformName}`;
    const others = this.#byPlatformName.get(name);
    if (others === undefined) this.#byPlatformName.set(name, [declared]);
    else others.push(declared);
  }

  /**
   * Whether a resource that earlier runs knew is declared, under its name or by an alias; of a member, whether its set is: the
   * provider knows from the state which members a set has no longer.
   */
  covers(journalKey: string): boolean {
    return this.coversByName(journalKey) || this.#coversByAlias(journalKey);
  }

  /** As {@link covers}, under the name that it has in the journal. */
  coversByName(journalKey: string): boolean {
    return this.#keys.has(journalKey) || this.#keys.has(resourceKeyIn(journalKey));
  }

  #coversByAlias(journalKey: string): boolean {
    if (this.#formerly.length === 0) return false;
    const { resource, name, parentTypes } = aboutWhom(journalKey);
    return this.#formerly.some((each) => each.resource === resource && isAt(each.place, name, parentTypes));
  }

  /** Whether it is a member that its set, which is declared, has no longer. */
  hasLeftItsSet(journalKey: string): boolean {
    return !this.#keys.has(journalKey) && this.#knownSets.has(resourceKeyIn(journalKey));
  }

  /** The ids of objects of this kind that something adopts, with blanks between them: the same text until one more is declared. */
  adoptedOf(kind: string): string {
    const known = this.#adoptedOf.get(kind);
    if (known?.amount === this.#adopted.size) return known.ids;
    const prefix = `${kind} `;
    const those = [...this.#adopted].filter((each) => each.startsWith(prefix)).map((each) => each.slice(prefix.length));
    const ids = those.filter(isPlatformId).join(" ");
    this.#adoptedOf.set(kind, { amount: this.#adopted.size, ids });
    return ids;
  }

  /** Whether another resource than this one may adopt an object of this kind whose id is not known yet. */
  adoptsUnknown(kind: string, journalKey: string): boolean {
    return [...(this.#adoptsUnknown.get(kind) ?? [])].some((key) => key !== journalKey);
  }

  /** Whether something adopts this object. */
  adopts(kind: string, id: string): boolean {
    return this.#adopted.has(`${kind} ${id}`);
  }

  /** Those of one kind whose name on the platform is this one. */
  named(kind: string, platformName: string | undefined): readonly DeclaredHere[] {
    return platformName === undefined ? [] : (this.#byPlatformName.get(`${kind} ${platformName}`) ?? []);
  }
}

/** An id that is an Output, or a set whose members are. */
function mayAdoptUnknown({ key, existingId, hasKnownMembers, isRead }: DeclaredHere): boolean {
  if (isRead) return false;
  const { resource, kind, member } = aboutWhom(key);
  const isSet = resource !== kind && member === undefined;
  return isSet
    ? !hasKnownMembers
    : (typeof existingId === "object" && existingId !== null) || typeof existingId === "function";
}
