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

/** What the provider is told with each resource about the whole program, as far as it is declared by now. */
export type WholeProgram = Required<Pick<ProgramContext, "run">> & {
  adopted: string;
};

/** All that a program has declared so far, and what follows from it. */
export class ProgramValidator {
  /** All resources and set members, also as aliases and former keys name them, in the form of {@link nameWithoutParents}. */
  readonly #declaredNames = new Set<string>();
  /** The sets among them whose members are not known yet. */
  readonly #openSets = new Set<string>();
  /** The key of the first object that adopts another, by {@link objectKey}; the id may not be known yet. */
  readonly #adopters = new Map<string, string>();
  /** By kind and name on the platform: the keys of objects that adopt nothing. */
  readonly #keysByKindAndName = new Map<string, string[]>();
  #resources = 0;

  /** @returns what is wrong between this resource and those before it. */
  add(resource: ResourceDeclaration): string[] {
    const { key, formerKeys, kind, objects } = resource;
    for (const each of [key, ...formerKeys]) {
      this.#declaredNames.add(nameWithoutParents(each));
      if (objects === undefined) this.#openSets.add(nameWithoutParents(each));
    }
    this.#resources++;
    if (objects === undefined) this.#adopters.set(objectKey(kind.name, UNKNOWN), key);
    return (objects ?? []).flatMap((object) => this.#addObject(kind, object) ?? []);
  }

  #addObject(kind: Kind, object: DeclaredObject): string | undefined {
    const { key, formerKeys, kindAndName, adopts } = object;
    for (const each of [key, ...formerKeys])
      this.#declaredNames.add(nameWithoutParents(each));
    if (adopts === undefined) {
      const keys = this.#keysByKindAndName.get(kindAndName) ?? [];
      keys.push(key, ...formerKeys);
      this.#keysByKindAndName.set(kindAndName, keys);
      return undefined;
    }
    const adopted = objectKey(kind.name, adopts);
    const adopter = this.#adopters.get(adopted);
    this.#adopters.set(adopted, adopter ?? key);
    if (adopter === undefined || adopts === UNKNOWN) return undefined;
    const { member } = parseKey(key);
    const path = member === undefined ? "" : `${memberOf("events", member)}.`;
    return `${path}existingId ${adoptedTwice(adopts, `"${parseKey(adopter).short}"`)}`;
  }

  whole(isPreview: boolean): WholeProgram {
    const run = { isUp: !isPreview, resources: this.#resources };
    return { run, adopted: [...this.#adopters.keys()].join() };
  }

  contextOf(
    resource: ResourceDeclaration,
    { run, adopted }: WholeProgram,
  ): Omit<ProgramContext, "identity"> {
    const { formerKeys, deletes } = resource;
    // What may delete must know all adopted objects. The others have them for messages only, and not thousands.
    const isCarried = deletes || adopted.length <= MAX_CARRIED_CHARACTERS;
    return {
      run,
      formerKeys,
      sameNamed: this.#sameNamedAs(resource),
      deletes: deletes || undefined,
      adopted: isCarried ? adopted : undefined,
    };
  }

  /** Other objects of the program with the name of this one, or of a member: their own creates are theirs. */
  #sameNamedAs({ objects = [] }: ResourceDeclaration): string[] {
    const own = new Set(objects.flatMap(({ key, formerKeys }) => [key, ...formerKeys]));
    const sameNamed: string[] = [];
    for (const name of new Set(objects.map(({ kindAndName }) => kindAndName)))
      for (const key of this.#keysByKindAndName.get(name) ?? []) {
        if (sameNamed.length === MAX_SAME_NAMED) return sameNamed;
        if (!own.has(key)) sameNamed.push(key);
      }
    return sameNamed;
  }

  /** What nothing has declared when the program has ended. Whether the state has it, only the engine knows. */
  atEnd(records: readonly JournalEntry[], isPreview: boolean): string[] {
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
      return isThere && deletes !== true && !this.#isDeclared(resourceKeyIn(key));
    });
    const open = unclaimed.filter(({ state, answered }) => {
      return (state === "sent" || state === "created") && answered !== true;
    });
    const messages: string[] = [];
    // In a preview Pulumi's list shows it, and this machine's journal may be older than the state.
    if (leaving.length > 0 && !isPreview) messages.push(retainedMessage(leaving));
    if (open.length > 0) messages.push(undeclaredMessage(open));
    return messages;
  }

  #isDeclared(key: string): boolean {
    return (
      this.#declaredNames.has(nameWithoutParents(key)) ||
      this.#openSets.has(nameWithoutParents(resourceKeyIn(key)))
    );
  }
}

/** How much each resource carries for its messages. */
const MAX_CARRIED_CHARACTERS = 500;
/** A catalog of many advertisers may have one name in all of them. */
const MAX_SAME_NAMED = 20;

/** A resource or set member without its parents, since an alias may say that these have changed. */
function nameWithoutParents(key: string): string {
  const { resource, name, member = "" } = parseKey(key);
  return JSON.stringify([resource, name, member]);
}

function objectOf({ key, id = "" }: JournalEntry): string {
  return objectKey(parseKey(key).kind, id);
}

function entryNames(entries: readonly JournalEntry[]): string {
  const others = entries.slice(MAX_LISTED).flatMap(({ id }) => id ?? []);
  const andMore = (more: number) => joined(": ", `and ${more} more`, idRanges(others));
  return cut(entries.map(entryName), MAX_LISTED, andMore).join(", ");
}

/** Another machine may have replaced an object since, or given its resource the option to delete. */
function retainedMessage(entries: readonly JournalEntry[]): string {
  return (
    `No longer declared, by this machine's journal: ${entryNames(entries)}. Each stays live and unmanaged, ` +
    "unless Pulumi deletes it; once nothing uses it, deactivate it by hand."
  );
}

function undeclaredMessage(open: readonly JournalEntry[]): string {
  const creates = count(open.length, "create");
  const command = asTyped("npx pulumi-advertising pending");
  return `An interrupted run sent ${creates} that the program does not declare: ${entryNames(open)}. To see what to do:\n  ${command}`;
}

/** `purchase (42)`, or without a known id `lead (outcome unknown)`. */
function entryName({ key, id = "outcome unknown" }: JournalEntry): string {
  return `${parseKey(key).short} (${id})`;
}
