/**
 * Judges a program as a whole: what is wrong between its resources, the provider's briefing about each, and at the end
 * what this machine remembers and nothing declares. Asked for each batch: what one turn of the event loop declares.
 */
import { agree, asTyped, count, cut, enumerate, idRanges, lookAlike, natural, saidOnce } from "../base/index.js";
import { adoptedTwice, CATALOG_TYPE, type Kind } from "../kinds/index.js";
import { aboutWhom, type Briefing, MAX_LISTED, memberOf, objectKey, resourceKeyIn } from "../state/index.js";
import { isOpen, type MemoryRecord, openMarkOf, type Records } from "../store/index.js";
import { type Declaration, LATER } from "./declaration.js";
import type { Finding } from "./findings.js";

export type Brief = Omit<Briefing, "identity">;

/** All that a program has declared so far, and what follows from it. */
export class Judge {
  /** The keys of all objects created or adopted; of a set whose members the program does not know yet, its own. */
  readonly #declared = new Set<string>();
  /** By type, the names of all resources, those included that aliases say they had before. */
  readonly #names = new Set<string>();
  /** By kind and id: the key of the first object that adopts it. */
  readonly #adopters = new Map<string, string>();
  /** By kind and name on the platform: the keys of objects that nothing adopts. */
  readonly #named = new Map<string, string>();
  /** The first of the names on the platform that look alike. */
  readonly #looks = new Map<string, string>();
  readonly #alike: string[] = [];
  /** The kinds of objects that something adopts without their ids being known yet. */
  readonly #adoptedLater = new Set<Kind["name"]>();
  #resources = 0;

  add({ finding, resource: declared }: Declaration): void {
    if (declared === undefined) return;
    const { key, kind, isRead, objects, aliasNames } = declared;
    const { resource, name } = aboutWhom(key);
    for (const each of [name, ...aliasNames]) this.#names.add(`${resource} ${each}`);
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
      if (object.adopts === undefined) this.#named.set(`${kind.name} ${object.platformName}`, object.key);
      if (typeof object.adopts !== "string") continue;
      const adopted = objectKey(kind.name, object.adopts);
      if (!this.#adopters.has(adopted)) this.#adopters.set(adopted, object.key);
    }
  }

  /** @param batch all of it was added before. @returns briefings by key; with findings, nothing may be registered. */
  judge(batch: readonly Declaration[], records: Records, isPreview: boolean) {
    const open = [...records.values()].filter(isOpen);
    const unclaimed = open.flatMap((each) => (this.#isClaimed(each) ? [] : each.key)).slice(0, MAX_LISTED);
    const run = { isUp: !isPreview, resources: this.#resources, open: openMarkOf(records), unclaimed };
    const adopted = [...this.#adopters.keys()].join();
    const briefings = batch.flatMap(({ resource }): [string, Brief][] => {
      if (resource === undefined || resource.isRead) return [];
      const { key, kind, deletes } = resource;
      // What may delete has to know all of them. Of thousands, not each resource carries all for the words alone.
      if (!deletes && adopted.length > MAX_CHARACTERS) return [[key, { run }]];
      const adoptsLater = this.#adoptedLater.has(kind.name) || undefined;
      return [[key, { run, deletes: deletes || undefined, adopted: adopted || undefined, adoptsLater }]];
    });
    const findings = batch.flatMap((declaration) => this.wrongIn(declaration));
    return { findings, warnings: [...warningsOf(batch), ...this.#alike.splice(0)], briefings: new Map(briefings) };
  }

  /** Whether an open create is declared under its own name, or by its id. */
  #isClaimed(record: MemoryRecord): boolean {
    return this.#isDeclared(record.key) || this.#adopters.has(objectOf(record));
  }

  #isDeclared(key: string): boolean {
    return this.#declared.has(key) || this.#declared.has(resourceKeyIn(key));
  }

  /** What is wrong with one declaration, in itself and beside those before it. */
  wrongIn({ finding, resource }: Declaration): Finding[] {
    const twice = (resource?.objects ?? []).flatMap(({ key, adopts }) => {
      if (typeof adopts !== "string") return [];
      const { kind, member } = aboutWhom(key);
      const adopter = this.#adopters.get(objectKey(kind, adopts)) ?? key;
      const path = member === undefined ? "" : `${memberOf("events", member)}.`;
      return adopter === key ? [] : [`${path}existingId ${adoptedTwice(adopts, `"${aboutWhom(adopter).short}"`)}`];
    });
    const lines = [...finding.lines, ...twice];
    return lines.length === 0 ? [] : [{ ...finding, lines, problems: finding.problems + twice.length }];
  }

  /** What nothing has declared when the program has ended. Whether it leaves the state, only the engine knows. */
  atEnd(records: Records): string[] {
    const all = [...records.values()];
    const undeclared = all.filter(({ key }) => !this.#isDeclared(key));
    undeclared.sort((a, b) => natural(inWords(a), inWords(b)));
    // What goes on under another key does not leave.
    const kept = new Set([...this.#adopters.keys(), ...all.filter(({ key }) => this.#isDeclared(key)).map(objectOf)]);
    const leaving = undeclared.filter((record) => {
      const { resource, name } = aboutWhom(record.key);
      const isThere = record.state === "live" || record.state === "handed";
      // What left a set that is declared, the set says itself.
      return isThere && !kept.has(objectOf(record)) && !this.#names.has(`${resource} ${name}`);
    });
    const open = undeclared.filter((each) => isOpen(each) && !this.#isClaimed(each));
    return [
      ...(leaving.length === 0 ? [] : [leavingLine(leaving) + this.#renamesIn(leaving, records)]),
      ...(open.length === 0 ? [] : [openLine(open)]),
    ];
  }

  /** A new object with the platform name of one that leaves may be just that. Nothing is decided by it. */
  #renamesIn(leaving: readonly MemoryRecord[], records: Records): string {
    const hints = leaving.flatMap(({ key, name = "" }) => {
      const now = this.#named.get(`${aboutWhom(key).kind} ${name}`);
      const isNew = now !== undefined && (records.get(now)?.state ?? "none") === "none";
      return isNew ? [`\n"${aboutWhom(key).short}" has the platform name of the new "${aboutWhom(now).short}".`] : [];
    });
    return hints.slice(0, MAX_HINTS).join("");
  }
}

const MAX_HINTS = 3;
/** Of what each resource carries for its words. */
const MAX_CHARACTERS = 500;

function objectOf({ key, id = "" }: MemoryRecord): string {
  return objectKey(aboutWhom(key).kind, id);
}

function warningsOf(batch: readonly Declaration[]): string[] {
  return saidOnce(
    batch.flatMap(({ finding, warnings }) => warnings.map((text) => ({ label: finding.title, text }))),
    ({ text }) => text,
    ({ label }) => label,
    ({ label, text }) => text.replace(label, ""),
  );
}

function leavingLine(those: readonly MemoryRecord[]): string {
  const others = those.slice(MAX_LISTED).map(({ id = "" }) => id);
  const names = cut(those.map(inWords), MAX_LISTED, (more) => `and ${more} more: ${idRanges(others)}`).join(", ");
  return `No longer declared: ${names}. What leaves the state without a delete stays live on the platform. If you renamed it, add an alias or set existingId.`;
}

function openLine(open: readonly MemoryRecord[]): string {
  const are = count(open.length, "create of an interrupted run is", "creates of interrupted runs are");
  const names = enumerate(open.map(inWords), MAX_LISTED);
  const own = agree(open.length, "its own name", "their own names");
  return `${are} not declared under ${own}: ${names}. To settle that:\n  ${asTyped("npx pulumi-advertising pending")}`;
}

/** `purchase (42)`, or without a known id `lead (outcome unknown)`. */
function inWords({ key, id = "outcome unknown" }: MemoryRecord): string {
  return `${aboutWhom(key).short} (${id})`;
}
