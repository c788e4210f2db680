/**
 * What follows from a program as a whole: what is wrong between its resources, the provider's context about each, and
 * at the end what this machine's journal has and nothing declares. Nothing is decided from a journal here: what crosses
 * to the provider process is what the program declares.
 */
import { asTyped, count, cut, idRanges, joined, natural } from "../base/index.js";
import type { JournalEntry } from "../journal/index.js";
import { adoptedTwice, type Kind } from "../kinds/index.js";
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

/** All that a program has declared so far, and what follows from it. */
export class ProgramValidator {
  /** The labels of all resources, also as aliases name them: an alias may say that the parents have changed. */
  readonly #resourceLabels = new Set<string>();
  /** Those of their objects, also as former keys name them; of a set whose members are not known yet, its own. */
  readonly #objectLabels = new Set<string>();
  /** The key of the first object that adopts another, by {@link objectKey}; the id may not be known yet. */
  readonly #adopters = new Map<string, string>();
  /** Their names in this map, separated by commas. */
  #adopted = "";
  /** By kind and name on the platform: the keys of objects that adopt nothing. */
  readonly #keysByKindAndName = new Map<string, string[]>();
  #resources = 0;

  constructor(private readonly isPreview: boolean) {}

  /** @returns what is wrong between this resource and those before it. */
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
    return `${path}existingId ${adoptedTwice(adopts, `"${parseKey(adopter).short}"`)}`;
  }

  /** What the provider is told about a resource, and about the whole program as far as it is declared by now. */
  contextOf(resource: ResourceDeclaration): Omit<ProgramContext, "identity"> {
    const { formerKeys, deletes } = resource;
    const adopted = this.#adopted;
    // What may delete must know all adopted objects. The others have them for messages only, and not thousands.
    const isCarried = deletes || adopted.length <= MAX_CARRIED_CHARACTERS;
    return {
      run: { isUp: !this.isPreview, resources: this.#resources },
      formerKeys,
      sameNamed: this.#sameNamedAs(resource),
      deletes: deletes || undefined,
      adopted: isCarried ? adopted : undefined,
    };
  }

  /** Other objects of the program with the name of this one, or of a member: their own creates are theirs. */
  #sameNamedAs({ objects }: ResourceDeclaration) {
    const own = new Set(objects.flatMap(({ key, formerKeys }) => [key, ...formerKeys]));
    const names = new Set(objects.map(({ kindAndName }) => kindAndName));
    const named = [...names].flatMap((name) => this.#keysByKindAndName.get(name) ?? []);
    return named.filter((key) => !own.has(key)).slice(0, MAX_SAME_NAMED);
  }

  /** What nothing has declared when the program has ended. Whether the state has it, only the engine knows. */
  atEnd(records: readonly JournalEntry[]): string[] {
    // What goes on under another key does not leave.
    const goingOn = records.filter(
      ({ key, id }) => id !== undefined && this.#isDeclared(key),
    );
    const kept = new Set([...this.#adopters.keys(), ...goingOn.map(objectOf)]);
    const unclaimed = records
      .filter((record) => !this.#isDeclared(record.key) && !kept.has(objectOf(record)))
      .toSorted((one, other) => natural(entryName(one), entryName(other)));
    const leaving = unclaimed.filter(({ key, state, deletes }) => {
      const isThere = state === "confirmed" || state === "reported";
      // A set that is declared reports what left it.
      const isOfSet = this.#resourceLabels.has(parseKey(resourceKeyIn(key)).label);
      return isThere && deletes !== true && !isOfSet;
    });
    const open = unclaimed.filter(({ state, answered }) => {
      return (state === "sent" || state === "created") && answered !== true;
    });
    const messages: string[] = [];
    // In a preview Pulumi's list shows it, and this machine's journal may be older than the state.
    if (leaving.length > 0 && !this.isPreview)
      // Another machine may have replaced an object since, or given its resource the option to delete.
      messages.push(
        `No longer declared, but in this machine's journal: ${entryNames(leaving)}. Each stays live and unmanaged, ` +
          "unless Pulumi deletes it; once nothing uses it, deactivate it by hand.",
      );
    if (open.length > 0)
      messages.push(
        `An interrupted run sent ${count(open.length, "create")} that the program does not declare: ` +
          `${entryNames(open)}. To see what to do:\n  ${asTyped("npx pulumi-advertising pending")}`,
      );
    return messages;
  }

  #isDeclared(key: string) {
    return [key, resourceKeyIn(key)].some((each) =>
      this.#objectLabels.has(parseKey(each).label),
    );
  }
}

/** How much each resource carries for its messages. */
const MAX_CARRIED_CHARACTERS = 500;
/** A catalog of many advertisers may have one name in all of them. */
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
