/** What a program has declared so far, indexed by what a batch is judged by. `program.ts` adds to it, `batch.ts` asks it. */
import { randomUUID } from "node:crypto";
import type { Kind, ResourceName } from "../kinds/index.js";
import { aboutWhom, memberOf, objectKey, resourceKeyIn } from "../state/index.js";
import { type Declaration, type DeclaredObject, LATER } from "./declaration.js";
import { ANY, isAt, type Place } from "./place.js";

/**
 * What the program says of a resource, or of a set's member, that an earlier run knew: it is declared, perhaps as a member of a
 * set whose members the program does not know yet; it has moved here from there, as an alias says; its set is declared without
 * it; or it is gone.
 */
export type Standing = "declared" | "moved" | "left its set" | "gone";

/**
 * All that a program has declared so far, by what a batch is judged by: the journal's key, the name on the platform, the
 * arguments, and what is adopted. `program.ts` alone adds to it.
 */
export class Declared {
  /** Unlike that of any other run. */
  readonly program = randomUUID();
  readonly #keys = new Set<string>();
  /** The journal keys of sets whose members are declared beside them. */
  readonly #knownSets = new Set<string>();
  /** By {@link formerKey}: the places at which resources stood before, each with the journal key of now. */
  readonly #formerly = new Map<string, { readonly place: Place; readonly now: string }[]>();
  readonly #named = new Map<string, DeclaredObject[]>();
  readonly #same = new Map<string, DeclaredObject[]>();
  /** By {@link objectKey}: the first object that adopts it. */
  readonly #adopters = new Map<string, DeclaredObject>();
  /** By {@link objectKey}: what other objects refer to by its id. */
  readonly #used = new Set<string>();
  /** By kind: the ids of the objects that something adopts. */
  readonly #adopted = new Map<string, { ids: string[]; text: string | undefined }>();
  /** By kind: the journal keys of resources that may adopt an object whose id is not known yet. */
  readonly #adoptingLater = new Map<string, Set<string>>();
  #resources = 0;

  add({ key, isRead, setOf, objects, formerly }: Declaration): void {
    if (key === undefined) return;
    if (!isRead) this.#resources++;
    this.#keys.add(key);
    if (setOf !== undefined && objects !== undefined) this.#knownSets.add(key);
    if (setOf !== undefined && objects === undefined) this.#addAdoptingLater(setOf, key);
    for (const place of formerly)
      addTo(this.#formerly, formerKey(aboutWhom(key).resource, place.name), { place, now: key });
    for (const object of objects ?? []) this.#addObject(object);
  }

  #addObject(object: DeclaredObject): void {
    const { kind, key, platformName, facts, adopts, sameAs } = object;
    this.#keys.add(key);
    for (const [property, owner] of Object.entries(kind.refersTo)) {
      if (facts[property] !== undefined) this.#used.add(objectKey(owner.name, String(facts[property])));
    }
    if (platformName !== undefined) addTo(this.#named, `${kind.name} ${platformName}`, object);
    if (sameAs !== undefined) addTo(this.#same, sameAs, object);
    if (adopts === LATER) this.#addAdoptingLater(kind, resourceKeyIn(key));
    else if (adopts !== undefined) this.#addAdopter(kind, adopts, object);
  }

  #addAdopter(kind: Kind, id: string, object: DeclaredObject): void {
    const adopted = objectKey(kind.name, id);
    if (this.#adopters.has(adopted)) return;
    this.#adopters.set(adopted, object);
    const ofKind = this.#adopted.get(kind.name) ?? { ids: [], text: undefined };
    this.#adopted.set(kind.name, ofKind);
    ofKind.ids.push(id);
    ofKind.text = undefined;
  }

  #addAdoptingLater(kind: Kind, resourceKey: string): void {
    const those = this.#adoptingLater.get(kind.name) ?? new Set();
    this.#adoptingLater.set(kind.name, those.add(resourceKey));
  }

  /** How many resources there are, without those that are only read. */
  get resources(): number {
    return this.#resources;
  }

  standingOf(journalKey: string): Standing {
    if (this.#keys.has(journalKey)) return "declared";
    const resourceKey = resourceKeyIn(journalKey);
    if (this.#knownSets.has(resourceKey)) return "left its set";
    if (this.#keys.has(resourceKey)) return "declared";
    return this.movedTo(journalKey) === undefined ? "gone" : "moved";
  }

  /** The journal key that a resource or member, known by another one to an earlier run, has now: as an alias says. */
  movedTo(journalKey: string): string | undefined {
    if (this.#formerly.size === 0 || this.#keys.has(resourceKeyIn(journalKey))) return undefined;
    const { resource, name, parentTypes, member } = aboutWhom(journalKey);
    const at = (known: Place["name"]) =>
      this.#formerly.get(formerKey(resource, known))?.find(({ place }) => isAt(place, name, parentTypes));
    const found = at(name) ?? at(ANY);
    return found === undefined || member === undefined ? found?.now : memberOf(found.now, member);
  }

  /** The objects of one kind that have this name on the platform; none for a name that is not known. */
  named(kind: Kind["name"], platformName: string | undefined): readonly DeclaredObject[] {
    return platformName === undefined ? [] : (this.#named.get(`${kind} ${platformName}`) ?? []);
  }

  /** All objects with the arguments of this one: always the same list for the same arguments. Empty if it is not to be compared. */
  sameAs({ sameAs }: DeclaredObject): readonly DeclaredObject[] {
    return (sameAs === undefined ? undefined : this.#same.get(sameAs)) ?? NONE;
  }

  adopterOf(kind: Kind["name"], id: string): DeclaredObject | undefined {
    return this.#adopters.get(objectKey(kind, id));
  }

  /** Whether an object of the program names this one, as its advertiser, by its id. */
  isUsed(kind: Kind["name"], id: string): boolean {
    return this.#used.has(objectKey(kind, id));
  }

  /** The ids of objects of this kind that something adopts, with blanks between them: the same text until one more is declared. */
  adoptedIds(kind: Kind["name"]): string {
    const adopted = this.#adopted.get(kind);
    if (adopted === undefined) return "";
    adopted.text ??= adopted.ids.filter((id) => /^\d+$/.test(id)).join(" ");
    return adopted.text;
  }

  /** Whether another resource than this one may adopt an object of this kind whose id is not known yet. */
  othersAdoptLater(kind: Kind["name"], journalKey: string): boolean {
    const those = this.#adoptingLater.get(kind);
    return those !== undefined && those.size > (those.has(journalKey) ? 1 : 0);
  }
}

/** Thousands of rows of a catalog may have moved with it. */
function formerKey(resource: ResourceName, name: Place["name"]): string {
  return name === ANY ? resource : `${resource} ${name}`;
}

const NONE: readonly DeclaredObject[] = [];

/** Adds to the values of one key. */
export function addTo<Key, Value>(map: Map<Key, Value[]>, key: Key, ...more: Value[]): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, more);
  else values.push(...more);
}
