/**
 * Judges a program as a whole: what is wrong between its resources, the provider's context about each, and at the end
 * what this machine remembers and nothing declares. Asked for each batch: what one turn of the event loop declares.
 * It decides nothing from a journal: what crosses to the provider process is what the program declares.
 */
import { agree, asTyped, count, cut, enumerate, idRanges, lookAlike, natural, saidOnce } from "../base/index.js";
import { isOpen, type JournalEntry } from "../journal/index.js";
import { adoptedTwice, CATALOG_TYPE, type Kind } from "../kinds/index.js";
import { MAX_LISTED, memberOf, objectKey, type ProgramContext, parseKey, resourceKeyIn } from "../state/index.js";
import { type Declaration, type DeclaredObject, type DeclaredResource, LATER } from "./declaration.js";
import type { Finding } from "./findings.js";

export type ResourceContext = Omit<ProgramContext, "identity">;

/** All that a program has declared so far, and what follows from it. */
export class ProgramValidator {
  /** The keys of all objects created or adopted; of a set whose members the program does not know yet, its own. */
  readonly #declared = new Set<string>();
  /** By type, the names of all resources and set members, those included that aliases say they had before. */
  readonly #names = new Set<string>();
  readonly #withUnknownMembers = new Set<string>();
  /** By kind and id: the key of the first object that adopts it. */
  readonly #adopters = new Map<string, string>();
  /** By kind and name on the platform: the keys of objects that nothing adopts. */
  readonly #named = new Map<string, string[]>();
  /** The first of the names on the platform that look alike. */
  readonly #looks = new Map<string, string>();
  readonly #alike: string[] = [];
  /** The kinds of objects that something adopts without their ids being known yet. */
  readonly #adoptedLater = new Set<Kind["name"]>();
  #resources = 0;

  add({ finding, resource: declared }: Declaration): void {
    if (declared === undefined) return;
    const { key, kind, isRead, objects, aliasNames } = declared;
    const { resource, name } = parseKey(key);
    const keys = (objects ?? []).flatMap((object) => [object.key, object.formerKey ?? key]);
    for (const each of [name, ...aliasNames]) {
      const named = `${resource} ${each}`;
      this.#names.add(named);
      if (objects === undefined) this.#withUnknownMembers.add(named);
      for (const { member } of keys.map(parseKey)) if (member !== undefined) this.#names.add(memberOf(named, member));
    }
    // What is only read takes nothing over.
    if (isRead) return;
    this.#resources++;
    if (objects === undefined) this.#declared.add(key);
    if (objects === undefined || objects.some(({ adopts }) => adopts === LATER)) this.#adoptedLater.add(kind.name);
    for (const object of objects ?? []) {
      this.#declared.add(object.key);
      if (object.formerKey !== undefined) this.#declared.add(object.formerKey);
      const isOwn = object.key === key && !key.includes(CATALOG_TYPE); // sets and catalogs say it themselves
      const alike = isOwn && lookAlike(this.#looks, object.platformName ?? "", kind.name);
      if (alike) this.#alike.push(`${finding.title} is named ${alike}`);
      if (object.adopts === undefined) {
        const name = nameKey(kind, object);
        const same = this.#named.get(name) ?? [];
        this.#named.set(name, same);
        same.push(object.key, ...formerKeysOf(declared, object));
      }
      if (typeof object.adopts !== "string") continue;
      const adopted = objectKey(kind.name, object.adopts);
      if (!this.#adopters.has(adopted)) this.#adopters.set(adopted, object.key);
    }
  }

  /** @param batch all of it was added before. @returns contexts by key; with findings, nothing may be registered. */
  validate(batch: readonly Declaration[], isPreview: boolean) {
    const run = { isUp: !isPreview, resources: this.#resources };
    const adopted = [...this.#adopters.keys()].join();
    const contexts = batch.flatMap(({ resource }): [string, ResourceContext][] => {
      if (resource === undefined || resource.isRead) return [];
      const { key, kind, deletes, formerKeys } = resource;
      const namesakes = this.#namesakesOf(resource);
      const context = {
        run,
        formerKeys: formerKeys.length > 0 ? formerKeys : undefined,
        namesakes: namesakes.length > 0 ? namesakes : undefined,
      };
      // What may delete has to know all of them. Of thousands, not each resource carries all for the words alone.
      if (!deletes && adopted.length > MAX_CHARACTERS) return [[key, context]];
      const adoptsLater = this.#adoptedLater.has(kind.name) || undefined;
      return [[key, { ...context, deletes: deletes || undefined, adopted: adopted || undefined, adoptsLater }]];
    });
    const findings = batch.flatMap((declaration) => this.wrongIn(declaration));
    return { findings, warnings: [...warningsOf(batch), ...this.#alike.splice(0)], contexts: new Map(contexts) };
  }

  /** Other objects of the program with the name of this one, or of a member: their own creates are theirs. */
  #namesakesOf(resource: DeclaredResource): string[] {
    const { kind, objects = [] } = resource;
    const own = new Set(objects.flatMap((object) => [object.key, ...formerKeysOf(resource, object)]));
    const names = new Set(objects.map((object) => nameKey(kind, object)));
    const found: string[] = [];
    for (const name of names)
      for (const key of this.#named.get(name) ?? []) {
        if (found.length === MAX_NAMESAKES) return found;
        if (!own.has(key)) found.push(key);
      }
    return found;
  }

  #isDeclared(key: string): boolean {
    return this.#declared.has(key) || this.#declared.has(resourceKeyIn(key));
  }

  /** What is wrong with one declaration, in itself and beside those before it. */
  wrongIn({ finding, resource }: Declaration): Finding[] {
    const twice = (resource?.objects ?? []).flatMap(({ key, adopts }) => {
      if (typeof adopts !== "string") return [];
      const { kind, member } = parseKey(key);
      const adopter = this.#adopters.get(objectKey(kind, adopts)) ?? key;
      const path = member === undefined ? "" : `${memberOf("events", member)}.`;
      return adopter === key ? [] : [`${path}existingId ${adoptedTwice(adopts, `"${parseKey(adopter).short}"`)}`];
    });
    const lines = [...finding.lines, ...twice];
    return lines.length === 0 ? [] : [{ ...finding, lines, problems: finding.problems + twice.length }];
  }

  /** What nothing has declared when the program has ended. Whether the state has it, only the engine knows. */
  atEnd(records: readonly JournalEntry[], isPreview: boolean): string[] {
    const undeclared = records.filter(({ key }) => !this.#isDeclared(key));
    undeclared.sort((a, b) => natural(entryName(a), entryName(b)));
    // What goes on under another key does not leave.
    const declared = records.filter(({ key }) => this.#isDeclared(key)).map(objectOf);
    const kept = new Set([...this.#adopters.keys(), ...declared]);
    const isKept = (record: JournalEntry) => record.id !== undefined && kept.has(objectOf(record));
    const leaving = undeclared.filter((record) => {
      const isThere = record.state === "confirmed" || record.state === "reported";
      // What left a set that is declared, the set says itself.
      return isThere && record.deletes !== true && !isKept(record) && !this.#isNamed(resourceKeyIn(record.key));
    });
    const open = undeclared.filter((record) => {
      // Of a clean end with checkpoints off the state mostly has what it created.
      const isInterrupted = isOpen(record) && record.state !== "reported";
      return isInterrupted && record.answered !== true && !isKept(record) && !this.#isNamed(record.key);
    });
    return [
      // A preview says nothing of what leaves: the journal may be older than the state, which Pulumi's list goes by.
      ...(leaving.length === 0 || isPreview ? [] : [retainedLine(leaving)]),
      ...(open.length === 0 ? [] : [openLine(open)]),
    ];
  }

  /** Whether a resource or set member has this name, or had it by an alias. */
  #isNamed(key: string): boolean {
    const { resource, name, member } = parseKey(key);
    const named = `${resource} ${name}`;
    if (member === undefined || this.#withUnknownMembers.has(named)) return this.#names.has(named);
    return this.#names.has(memberOf(named, member));
  }
}

/** Of what each resource carries for its words. */
const MAX_CHARACTERS = 500;
/** A catalog of many advertisers may have one name in all of them. */
const MAX_NAMESAKES = 20;

/** Under these the journal may still have a create of an object. */
function formerKeysOf({ key, formerKeys }: DeclaredResource, object: DeclaredObject): string[] {
  if (object.key === key) return [...formerKeys];
  const { member = "" } = parseKey(object.key);
  const moved = formerKeys.map((set) => memberOf(set, member));
  return object.formerKey === undefined ? moved : [...moved, object.formerKey];
}

function nameKey(kind: Kind, { platformName = "" }: DeclaredObject): string {
  return `${kind.name} ${platformName}`;
}

function objectOf({ key, id = "" }: JournalEntry): string {
  return objectKey(parseKey(key).kind, id);
}

function warningsOf(batch: readonly Declaration[]): string[] {
  return saidOnce(
    batch.flatMap(({ finding, warnings }) => warnings.map((text) => ({ label: finding.title, text }))),
    ({ text }) => text,
    ({ label }) => label,
    ({ label, text }) => text.replace(label, ""),
  );
}

function listed(those: readonly JournalEntry[]): string {
  const others = those.slice(MAX_LISTED).map(({ id = "" }) => id);
  return cut(those.map(entryName), MAX_LISTED, (more) => `and ${more} more: ${idRanges(others)}`).join(", ");
}

function retainedLine(those: readonly JournalEntry[]): string {
  const stays = agree(those.length, "It stays", "They stay");
  return `No longer declared: ${listed(those)}. ${stays} live on the platform.`;
}

function openLine(open: readonly JournalEntry[]): string {
  const are = count(open.length, "create of an interrupted run is", "creates of interrupted runs are");
  const names = enumerate(open.map(entryName), MAX_LISTED);
  return `${are} declared by nothing: ${names}. To see what to do:\n  ${asTyped("npx pulumi-advertising pending")}`;
}

/** `purchase (42)`, or without a known id `lead (outcome unknown)`. */
function entryName({ key, id = "outcome unknown" }: JournalEntry): string {
  return `${parseKey(key).short} (${id})`;
}
