/**
 * Validates the program as a whole: finds conflicts between its resources, and makes each resource's context for the
 * provider process. The contexts have only what the program declares: nothing about earlier runs.
 */
import { adoptionClash } from "../kinds/index.js";
import {
  memberOf,
  objectKey,
  type ProgramContext,
  parseKey,
  UNKNOWN,
} from "../state/index.js";
import type { ResourceDeclaration } from "./declaration.js";

/** Collects all that a program has declared so far, and checks it. */
export class ProgramValidator {
  /**
   * By {@link objectKey} of an adopted object (the id may not be known yet), the key of the first object to adopt it.
   */
  readonly #adopters = new Map<string, string>();
  /** The keys of `#adopters`, separated by commas, as the context carries them. */
  #adopted = "";
  /** By kind and name on the platform, the keys of objects that adopt nothing, former keys included. */
  readonly #keysByKindAndName = new Map<string, string[]>();
  #resources = 0;
  /** The characters of long lists of adopted objects that are still left. */
  #mayCarry = MAX_LONG_CHARACTERS;

  /** @param inherited see {@link ProgramContext}. */
  constructor(
    private readonly isPreview: boolean,
    private readonly inherited?: readonly string[],
  ) {}

  /** @returns the conflicts between this resource and earlier ones. */
  add({ kind, objects }: ResourceDeclaration) {
    this.#resources++;
    return objects.flatMap(({ key, formerKeys, kindAndName, adopts }) => {
      if (adopts === undefined) {
        const keys = this.#keysByKindAndName.get(kindAndName) ?? [];
        keys.push(key, ...formerKeys);
        this.#keysByKindAndName.set(kindAndName, keys);
        return [];
      }
      const adopted = objectKey(kind.name, adopts);
      const adopter = this.#adopters.get(adopted);
      if (adopter === undefined) {
        if (this.#adopted !== "") this.#adopted += ",";
        this.#adopted += adopted;
        this.#adopters.set(adopted, key);
      }
      if (adopter === undefined || adopts === UNKNOWN) return [];
      const { member } = parseKey(key);
      const path = member === undefined ? "" : `${memberOf("events", member)}.`;
      return `${path}existingId ${adoptionClash(adopts, `"${parseKey(adopter).shownName}"`)}`;
    });
  }

  /** The context of a resource for the provider process, with facts about all that the program has declared so far. */
  contextOf(resource: ResourceDeclaration) {
    // The provider process needs the list once, from whichever resource it checks first.
    const isShort = this.#adopted.length <= MAX_SHORT_CHARACTERS;
    if (!isShort) this.#mayCarry -= this.#adopted.length;
    const { objects, formerKeys } = resource;
    // Other objects with the same name on the platform: their creates are theirs, and block nothing.
    const own = new Set(objects.flatMap((each) => [each.key, ...each.formerKeys]));
    const names = new Set(objects.map(({ kindAndName }) => kindAndName));
    // Lazily: thousands of objects may have one name.
    const sameNamed = names
      .values()
      .flatMap((name) => this.#keysByKindAndName.get(name) ?? [])
      .filter((key) => !own.has(key))
      .take(MAX_SAME_NAMED)
      .toArray();
    return {
      run: {
        isUp: !this.isPreview,
        resources: this.#resources,
        inherited: this.inherited,
      },
      formerKeys,
      sameNamed,
      adopts: this.#adopters.size,
      adopted: isShort || this.#mayCarry >= 0 ? this.#adopted : undefined,
    };
  }
}

/** The longest list of adopted objects that each resource carries. */
const MAX_SHORT_CHARACTERS = 500;
/** How many characters of longer lists all resources together carry. */
const MAX_LONG_CHARACTERS = 1_000_000;
/** How many keys a resource carries at most: a catalog may use one event name for each of many advertisers. */
const MAX_SAME_NAMED = 20;
