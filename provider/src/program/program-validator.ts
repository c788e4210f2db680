/**
 * Validates a program as a whole: what is wrong between its resources, the provider's context about each, and at the
 * end what this machine's journal has and nothing declares. A batch is what one turn of the event loop declares.
 * Nothing is decided from a journal here: what crosses to the provider process is what the program declares.
 */
import {
  agree,
  asTyped,
  count,
  cut,
  enumerate,
  idRanges,
  looksOf,
  natural,
  quoted,
  saidOnce,
} from "../base/index.js";
import { isOpen, type JournalEntry } from "../journal/index.js";
import { adoptedTwice, CATALOG_TYPE, type Kind } from "../kinds/index.js";
import {
  MAX_LISTED,
  memberOf,
  objectKey,
  type ProgramContext,
  parseKey,
  resourceKeyIn,
} from "../state/index.js";
import {
  type Declaration,
  type DeclaredObject,
  KNOWN_LATER,
  type ResourceDeclaration,
} from "./declaration.js";
import type { Finding } from "./findings.js";

export type ResourceContext = Omit<ProgramContext, "identity">;

interface Validation {
  /** With any, nothing may be registered. */
  readonly findings: readonly Finding[];
  readonly warnings: readonly string[];
  /** By the resource's key. */
  readonly contexts: ReadonlyMap<string, ResourceContext>;
}

/** All that a program has declared so far, and what follows from it. */
export class ProgramValidator {
  /** By type, the names of all resources and set members, those included that aliases say they had before. */
  readonly #names = new Set<string>();
  readonly #withUnknownMembers = new Set<string>();
  /** By kind and id: the key of the first object that adopts it. */
  readonly #adopters = new Map<string, string>();
  /** By kind and name on the platform: the keys of objects that nothing adopts. */
  readonly #named = new Map<string, string[]>();
  /** The first of the names on the platform that look alike. */
  readonly #looks = new Map<string, string>();
  /** By resource: a name on the platform that looks like an earlier one. */
  readonly #alike = new Map<string, string>();
  /** The kinds of objects that something adopts without their ids being known yet. */
  readonly #adoptedLater = new Set<Kind["name"]>();
  #resources = 0;

  add({ resource }: Declaration): void {
    if (resource === undefined) return;
    const { key, kind, isRead, objects, aliasNames } = resource;
    const parsed = parseKey(key);
    for (const name of [parsed.name, ...aliasNames])
      this.#addName(`${parsed.resource} ${name}`, resource);
    // What is only read takes nothing over.
    if (isRead) return;
    this.#resources++;
    if (objects === undefined) this.#adoptedLater.add(kind.name);
    for (const object of objects ?? []) this.#addObject(resource, object);
  }

  /** @param name of the resource, now or formerly. */
  #addName(name: string, { key, objects }: ResourceDeclaration): void {
    this.#names.add(name);
    if (objects === undefined) this.#withUnknownMembers.add(name);
    for (const object of objects ?? []) {
      for (const each of [object.key, object.formerKey ?? key]) {
        const { member } = parseKey(each);
        if (member !== undefined) this.#names.add(memberOf(name, member));
      }
    }
  }

  #addObject(resource: ResourceDeclaration, object: DeclaredObject): void {
    const { kind } = resource;
    const { key, adopts, platformName = "" } = object;
    // A catalog warns itself.
    if (!key.includes(CATALOG_TYPE)) {
      const looks = `${kind.name} ${looksOf(platformName)}`;
      const first = this.#looks.get(looks) ?? platformName;
      this.#looks.set(looks, first);
      const alike = `is named ${quoted(platformName)}, which looks like ${quoted(first)} and differs`;
      if (first !== platformName)
        this.#alike.set(resource.key, `${parseKey(key).label} ${alike}`);
    }
    if (adopts === KNOWN_LATER) {
      this.#adoptedLater.add(kind.name);
    } else if (adopts !== undefined) {
      const adopted = objectKey(kind.name, adopts);
      if (!this.#adopters.has(adopted)) this.#adopters.set(adopted, key);
    } else {
      const name = kindAndName(kind, object);
      const keys = this.#named.get(name) ?? [];
      keys.push(...keysOf(resource, object));
      this.#named.set(name, keys);
    }
  }

  /** @param batch was added before. */
  validate(batch: readonly Declaration[], isPreview: boolean): Validation {
    const adopted = [...this.#adopters.keys()].join();
    const run = { isUp: !isPreview, resources: this.#resources };
    const contexts = new Map<string, ResourceContext>();
    const warnings = declarationWarnings(batch);
    for (const { resource } of batch) {
      if (resource === undefined || resource.isRead) continue;
      const { key, kind, formerKeys } = resource;
      const alike = this.#alike.get(key);
      if (alike !== undefined) warnings.push(alike);
      const deletes = resource.deletes || undefined;
      // What may delete must know all adopted objects. The others have them for messages only, and not thousands.
      const isCarried = deletes || adopted.length <= MAX_CARRIED_CHARACTERS;
      contexts.set(key, {
        run,
        formerKeys,
        namesakes: this.#namesakesOf(resource),
        deletes,
        adopted: isCarried ? adopted : undefined,
        adoptsLater: this.#adoptedLater.has(kind.name),
      });
    }
    return {
      findings: batch.flatMap((declaration) => this.wrongIn(declaration)),
      warnings,
      contexts,
    };
  }

  /** Other objects of the program with the name of this one, or of a member: their own creates are theirs. */
  #namesakesOf(resource: ResourceDeclaration): string[] {
    const { kind, objects = [] } = resource;
    const own = new Set(objects.flatMap((object) => keysOf(resource, object)));
    const names = new Set(objects.map((object) => kindAndName(kind, object)));
    const namesakes: string[] = [];
    for (const name of names) {
      for (const key of this.#named.get(name) ?? []) {
        if (namesakes.length === MAX_NAMESAKES) return namesakes;
        if (!own.has(key)) namesakes.push(key);
      }
    }
    return namesakes;
  }

  /** What is wrong with one declaration, in itself and beside those before it. */
  wrongIn({ finding, resource }: Declaration): Finding[] {
    const objects = resource?.objects ?? [];
    const twice = objects.flatMap((object) => this.#adoptedTwice(object) ?? []);
    const lines = [...finding.lines, ...twice];
    if (lines.length === 0) return [];
    return [{ ...finding, lines, problems: finding.problems + twice.length }];
  }

  #adoptedTwice({ key, adopts }: DeclaredObject): string | undefined {
    if (typeof adopts !== "string") return undefined;
    const { kind, member } = parseKey(key);
    const adopter = this.#adopters.get(objectKey(kind, adopts)) ?? key;
    if (adopter === key) return undefined;
    const path = member === undefined ? "" : `${memberOf("events", member)}.`;
    return `${path}existingId ${adoptedTwice(adopts, `"${parseKey(adopter).short}"`)}`;
  }

  /** What nothing has declared when the program has ended. Whether the state has it, only the engine knows. */
  atEnd(records: readonly JournalEntry[], isPreview: boolean): string[] {
    // What goes on under another key does not leave.
    const named = records.filter(({ key, id }) => id !== undefined && this.#isNamed(key));
    const kept = new Set([...this.#adopters.keys(), ...named.map(objectOf)]);
    const unclaimed = records
      .filter((record) => !this.#isNamed(record.key) && !kept.has(objectOf(record)))
      .toSorted((one, other) => natural(entryName(one), entryName(other)));
    const leaving = unclaimed.filter(({ key, state, deletes }) => {
      const isThere = state === "confirmed" || state === "reported";
      // A set that is declared reports what left it.
      return isThere && deletes !== true && !this.#isNamed(resourceKeyIn(key));
    });
    const open = unclaimed.filter((record) => {
      // After a clean end with checkpoints off, the state mostly has what it created.
      const isInterrupted = isOpen(record) && record.state !== "reported";
      return isInterrupted && record.answered !== true;
    });
    const messages: string[] = [];
    // In a preview Pulumi's list shows it, and this machine's journal may be older than the state.
    if (leaving.length > 0 && !isPreview) messages.push(retainedMessage(leaving));
    if (open.length > 0) messages.push(undeclaredMessage(open));
    return messages;
  }

  /** Whether a resource or set member has this name, or had it by an alias. */
  #isNamed(key: string): boolean {
    const { resource, name, member } = parseKey(key);
    const named = `${resource} ${name}`;
    if (member === undefined || this.#withUnknownMembers.has(named))
      return this.#names.has(named);
    return this.#names.has(memberOf(named, member));
  }
}

/** How much each resource carries for its messages. */
const MAX_CARRIED_CHARACTERS = 500;
/** A catalog of many advertisers may have one name in all of them. */
const MAX_NAMESAKES = 20;

/** The keys under which the journal may have a create of an object. */
function keysOf({ key, formerKeys }: ResourceDeclaration, object: DeclaredObject): string[] {
  if (object.key === key) return [key, ...formerKeys];
  const { member = "" } = parseKey(object.key);
  const keys = [object.key, ...formerKeys.map((set) => memberOf(set, member))];
  if (object.formerKey !== undefined) keys.push(object.formerKey);
  return keys;
}

function kindAndName(kind: Kind, { platformName = "" }: DeclaredObject): string {
  return `${kind.name} ${platformName}`;
}

function objectOf({ key, id = "" }: JournalEntry): string {
  return objectKey(parseKey(key).kind, id);
}

function declarationWarnings(batch: readonly Declaration[]): string[] {
  const warnings = batch.flatMap(({ finding: { title }, warnings: texts }) =>
    texts.map((text) => ({ title, text })),
  );
  return saidOnce(
    warnings,
    ({ text }) => text,
    ({ title }) => title,
    ({ title, text }) => text.replace(title, ""),
  );
}

function entryNames(entries: readonly JournalEntry[]): string {
  const others = entries.slice(MAX_LISTED).map(({ id = "" }) => id);
  const names = cut(
    entries.map(entryName),
    MAX_LISTED,
    (more) => `and ${more} more: ${idRanges(others)}`,
  );
  return names.join(", ");
}

/** Another machine may have replaced an object since, or given its resource the option to delete. */
function retainedMessage(entries: readonly JournalEntry[]): string {
  const them = agree(entries.length, "it", "them");
  return (
    `No longer declared: ${entryNames(entries)}, as this machine last saw ${them}. ` +
    "What Pulumi doesn't delete stays live and unmanaged."
  );
}

function undeclaredMessage(open: readonly JournalEntry[]): string {
  const are = count(
    open.length,
    "create of an interrupted run is",
    "creates of interrupted runs are",
  );
  const names = enumerate(open.map(entryName), MAX_LISTED);
  const command = asTyped("npx pulumi-advertising pending");
  return `${are} not declared in this run: ${names}. To see what to do:\n  ${command}`;
}

/** `purchase (42)`, or without a known id `lead (outcome unknown)`. */
function entryName({ key, id = "outcome unknown" }: JournalEntry): string {
  return `${parseKey(key).short} (${id})`;
}
