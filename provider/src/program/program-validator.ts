/**
 * Validates the program as a whole: finds conflicts between its resources, makes each resource's context for the
 * provider process, and at the end lists journal records that nothing declares. The contexts have only what the
 * program declares: nothing in them comes from a journal.
 */
import { count, cut, idRanges, inStack, joined, natural } from "../base/index.js";
import type { JournalEntry } from "../journal/index.js";
import { adoptionClash, type Kind } from "../kinds/index.js";
import {
  MAX_LISTED,
  memberOf,
  objectKey,
  type ProgramContext,
  parseKey,
  resourceKeyIn,
  UNKNOWN,
} from "../state/index.js";
import type { DeclaredObject, ResourceDeclaration } from "./declaration.js";

/** Collects all that a program has declared so far, and checks it. */
export class ProgramValidator {
  /** The labels of all resources, former ones included. Labels have no parents, which an alias may have changed. */
  readonly #resourceLabels = new Set<string>();
  /** The labels of all objects, former ones included; for a set whose members are not known yet, the set's label. */
  readonly #objectLabels = new Set<string>();
  /**
   * By {@link objectKey} of an adopted object (the id may not be known yet), the key of the first object to adopt it.
   */
  readonly #adopters = new Map<string, string>();
  /** The keys of `#adopters`, separated by commas, as the context carries them. */
  #adopted = "";
  /** By kind and name on the platform, the keys of objects that adopt nothing, former keys included. */
  readonly #keysByKindAndName = new Map<string, string[]>();
  #resources = 0;

  constructor(private readonly isPreview: boolean) {}

  /** @returns the conflicts between this resource and earlier ones. */
  add({ key, formerKeys, kind, objects }: ResourceDeclaration): string[] {
    this.#resources++;
    for (const each of [key, ...formerKeys]) this.#resourceLabels.add(parseKey(each).label);
    return objects.flatMap((object) => this.#addObject(kind, object) ?? []);
  }

  #addObject(kind: Kind, object: DeclaredObject): string | undefined {
    const { key, formerKeys, kindAndName, adopts } = object;
    for (const each of [key, ...formerKeys]) this.#objectLabels.add(parseKey(each).label);
    if (adopts === undefined) {
      const keys = this.#keysByKindAndName.get(kindAndName) ?? [];
      keys.push(key, ...formerKeys);
      this.#keysByKindAndName.set(kindAndName, keys);
      return undefined;
    }
    const adopted = objectKey(kind.name, adopts);
    const adopter = this.#adopters.get(adopted);
    if (adopter === undefined) {
      if (this.#adopted !== "") this.#adopted += ",";
      this.#adopted += adopted;
      this.#adopters.set(adopted, key);
    }
    if (adopter === undefined || adopts === UNKNOWN) return undefined;
    const { member } = parseKey(key);
    const path = member === undefined ? "" : `${memberOf("events", member)}.`;
    return `${path}existingId ${adoptionClash(adopts, `"${parseKey(adopter).short}"`)}`;
  }

  /** The context of a resource for the provider process, with facts about all that the program has declared so far. */
  contextOf(resource: ResourceDeclaration): Omit<ProgramContext, "identity"> {
    const { formerKeys, deletes } = resource;
    const adopted = this.#adopted;
    // A resource that may delete needs all adopted objects. For others, which use them in messages, a long list is left
    // out.
    const isCarried = deletes || adopted.length <= MAX_CARRIED_CHARACTERS;
    return {
      run: { isUp: !this.isPreview, resources: this.#resources },
      formerKeys,
      sameNamed: this.#sameNamedAs(resource),
      deletes: deletes || undefined,
      adopted: isCarried ? adopted : undefined,
    };
  }

  /** The keys of other objects with the same name on the platform: their creates are theirs, and block nothing. */
  #sameNamedAs({ objects }: ResourceDeclaration) {
    const own = new Set(objects.flatMap(({ key, formerKeys }) => [key, ...formerKeys]));
    const names = new Set(objects.map(({ kindAndName }) => kindAndName));
    const named = [...names].flatMap((name) => this.#keysByKindAndName.get(name) ?? []);
    return named.filter((key) => !own.has(key)).slice(0, MAX_SAME_NAMED);
  }

  /**
   * Warnings about records that nothing declares when the program has ended. Only the engine knows whether the state
   * has their objects.
   */
  atEnd(records: readonly JournalEntry[]): string[] {
    // An object that a declared key has too is not leaving.
    const goingOn = records.filter(
      ({ key, id }) => id !== undefined && this.#isDeclared(key),
    );
    const kept = new Set([...this.#adopters.keys(), ...goingOn.map(objectOf)]);
    const unclaimed = records
      .filter((record) => !this.#isDeclared(record.key) && !kept.has(objectOf(record)))
      .toSorted((one, other) => natural(entryName(one), entryName(other)));
    const leaving = unclaimed.filter(({ key, state, deletes }) => {
      const isThere = state === "confirmed" || state === "reported";
      // A declared set itself reports the objects that leave it.
      const isOfSet = this.#resourceLabels.has(parseKey(resourceKeyIn(key)).label);
      return isThere && deletes !== true && !isOfSet;
    });
    const open = unclaimed.filter(({ state, answered }) => {
      return (state === "sent" || state === "created") && answered !== true;
    });
    const messages: string[] = [];
    // Pulumi's preview lists removed resources, and this machine's journal may be older than the state.
    if (leaving.length > 0 && !this.isPreview)
      // Worded with care: another machine may have replaced an object, or set `retainOnDelete: false` for its resource.
      messages.push(
        `No longer declared, says this machine's journal: ${entryNames(leaving)}. Each stays live and unmanaged, ` +
          "unless Pulumi deletes it; once nothing uses it, deactivate it by hand.",
      );
    if (open.length > 0)
      messages.push(
        `An interrupted run sent ${count(open.length, "create")} that the program does not declare: ` +
          `${entryNames(open)}. To see what to do:\n  ${inStack("npx pulumi-advertising pending")}`,
      );
    return messages;
  }

  #isDeclared(key: string) {
    return [key, resourceKeyIn(key)].some((each) =>
      this.#objectLabels.has(parseKey(each).label),
    );
  }
}

/** The longest list of adopted objects in a resource that needs it only for messages. */
const MAX_CARRIED_CHARACTERS = 500;
/** How many keys a resource carries at most: a catalog may use one event name for each of many advertisers. */
const MAX_SAME_NAMED = 20;

function objectOf({ key, id = "" }: JournalEntry) {
  return objectKey(parseKey(key).kind, id);
}

function entryNames(entries: readonly JournalEntry[]) {
  const others = entries.slice(MAX_LISTED).flatMap(({ id }) => id ?? []);
  const andMore = (more: number) => joined(": ", `and ${more} more`, idRanges(others));
  return cut(entries.map(entryName), MAX_LISTED, andMore).join(", ");
}

/** `purchase (42)`, or without a known id `lead (outcome unknown)`. */
function entryName({ key, id = "outcome unknown" }: JournalEntry) {
  return `${parseKey(key).short} (${id})`;
}
