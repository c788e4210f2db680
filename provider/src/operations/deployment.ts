/**
 * A run's knowledge: facts that `check` and `diff` note for `create`, `update` and `delete`, and which resource has
 * which object.
 *
 * For each resource, and for many resources at once, the engine calls:
 * 1. `check` with the old inputs, or with none for a new resource;
 * 2. `diff` if the resource is in the state;
 * 3. if it is replaced, `check` again, without old inputs: what the first one learned from the state stays;
 * 4. `create` or `update`; after a failed `create` perhaps `create` again (its error hooks);
 * 5. `delete` at the end of the run, for replaced and removed resources; in a `destroy` there is nothing else.
 *
 * A preview ends after 3. Facts that another resource may need are noted before anything is awaited.
 */
import { ArgumentsError, type Values } from "../base/index.js";
import { adoptionClash, type Kind } from "../kinds/index.js";
import type { Fate, OpenCreate, PlannedObject } from "../plan/index.js";
import {
  catalogIn,
  objectKey,
  type ProgramContext,
  parseKey,
  type ResourceRef,
  resourceKeyIn,
  type StoredSet,
  UNKNOWN,
} from "../state/index.js";
import type { Outcome } from "./outcome.js";

/** Facts about a resource that its `check` has learned from the state and the program. */
export interface Checked {
  /** The arguments that it has returned. */
  values: Values;
  /** The arguments that were secret in the state. */
  wasSecret: ReadonlySet<string>;
  /** Whether the program asks to delete. */
  deletes: boolean;
  /** The resource's former keys, by its aliases. */
  formerKeys?: readonly string[] | undefined;
  /** The resource under its former name, if the state still has that: commands name resources as the state does. */
  inState?: ResourceRef | undefined;
  /**
   * Names the resource of the state that this one is: by its key, since an alias may change its URN. A new one is only
   * that with its own URN, of which the engine gives no state under `up --replace`.
   */
  stateName: string;
  /** The plan of a single resource's `diff`, once there was one. */
  planned?: {
    stored: StoredSet;
    object: PlannedObject;
    fateOf(id: string): Fate;
    /** The arguments that a policy has changed since `check` returned them. */
    remediated: readonly string[];
  };
}

/** The `stateName` that the resource of the state which lists an unresolved create may have. */
export function listersOf({ key, urn = "" }: OpenCreate) {
  return [resourceKeyIn(key), urn];
}

/** Objects of any kind, by {@link objectKey}. */
class ObjectSet {
  readonly #keys = new Set<string>();

  add(kind: Kind, id: string) {
    this.#keys.add(objectKey(kind.name, id));
  }

  has(kind: Kind, id: string) {
    return this.#keys.has(objectKey(kind.name, id));
  }
}

export class Deployment {
  /**
   * True in an `up`, false in a preview, in a `destroy`, and before the first check; undefined if a plugin can't know.
   */
  isUp: boolean | undefined = false;
  hasFailed = false;
  /** Whether a check, create or update has failed: a resource that depends on it may not have been declared. */
  isIncomplete = false;
  /** Whether a refresh has read anything. */
  hasRead = false;
  /**
   * Whether this process may have the settings of the last `up` only. With `--refresh`, the engine then reads with it, and
   * runs the program with another one.
   */
  mayBeFormer = false;
  /** The label of the first object that was not created because of an open create. Nothing new is sent after that. */
  firstRefused: string | undefined;
  /** The marks of creates that this run's errors name. */
  readonly named = new Set<string>();
  /** The outcomes of this run's creates with which the engine's call fails, by key: the engine may ask again. */
  readonly failed = new Map<string, Outcome>();
  /**
   * Objects that this run has announced as staying live. The engine may call `delete` for one nevertheless, as a
   * transformation may have changed the option: then it is refused.
   */
  readonly staying = new ObjectSet();
  /** Objects that the program only reads (`.get`). */
  readonly onlyRead = new ObjectSet();
  /** In a refresh: the answers of people are compared with the platform. */
  comparing: Promise<void> | undefined;
  /** Objects that this run has deleted, or found to be gone. */
  readonly deleted = new ObjectSet();
  /** The deletes that are under way, by {@link objectKey}: a state may have an object twice. */
  readonly deleting = new Map<string, Promise<void>>();
  /** Whether an advertiser's delete waits for those of its events. */
  awaitsEvents = true;
  /**
   * By {@link objectKey}, the key of the set that deletes the object: noted in a preview, before later resources can adopt
   * it.
   */
  readonly toDelete = new Map<string, string>();
  /** By {@link objectKey}, the key of the resource or member that has the object after this run. */
  readonly #after = new Map<string, string>();
  /** Objects that the program adopts, by {@link objectKey}; the id may not be known yet. */
  readonly #adopted = new Set<string>();
  readonly #checked = new Map<string, Checked>();
  /** By catalog ({@link catalogIn}), whether any of its resources asks to delete: then the catalog does. */
  readonly #catalogs = new Map<string | undefined, boolean>();
  /** By `stateName`, the resources' keys. */
  readonly #stateNames = new Map<string, string>();
  /** The keys of all objects that were checked; for a set whose events are not known yet, the set's key. */
  readonly declared = new Set<string>();
  /** By the {@link objectKey} of an owner, the label of an object that the program declares for it. */
  readonly owners = new Map<string, string>();
  /** The keys of all objects that this run has come to. After an error the engine stops, though it has checked more. */
  readonly reached = new Set<string>();
  /** How many objects the program adopts. */
  #adopts = 0;
  #declares = 0;

  /** @param isNew if the engine gave no old inputs: for a new resource, or in the second `check` of a replacement. */
  noteChecked(key: string, isNew: boolean, was: Checked) {
    if (isNew && this.#checked.has(key)) return;
    this.#checked.set(key, was);
    const catalog = catalogIn(key);
    if (catalog !== undefined && !this.#catalogs.get(catalog))
      this.#catalogs.set(catalog, was.deletes);
    this.#stateNames.set(was.stateName, key);
  }

  /** Notes what the program says about a resource, and about itself as a whole. */
  noteContext({ run, adopts = 0, adopted = "", sameNamed = [] }: ProgramContext) {
    this.#adopts = Math.max(this.#adopts, adopts);
    for (const each of adopted.split(",").filter(Boolean)) this.#adopted.add(each);
    for (const each of sameNamed) this.declared.add(each);
    if (!run) return;
    this.isUp = run.isUp;
    this.#declares = Math.max(this.#declares, run.resources);
  }

  get hasChecked() {
    return this.#checked.size > 0;
  }

  isChecked(key: string) {
    return this.#checked.has(key);
  }

  /** Whether a resource was checked that the state has under this key, or a member's. The program's may be another. */
  isInProgram(key: string) {
    const resource = resourceKeyIn(key);
    return this.#checked.has(resource) || this.#stateNames.has(resource);
  }

  /** Whether a checked resource is the one of the state that lists an unresolved create. */
  hasLister(create: OpenCreate) {
    return listersOf(create).some((name) => this.#stateNames.has(name));
  }

  /** @param key of the program, or as the state has it. */
  checked(key: string): Partial<Checked> {
    const now = this.#stateNames.get(key) ?? "";
    return this.#checked.get(key) ?? this.#checked.get(now) ?? {};
  }

  /** The checked resources, by key, that the state has under their own names. */
  get unchangedNames() {
    return [...this.#checked].filter(([key, { stateName }]) => stateName === key);
  }

  /** Whether the program asks to delete a resource's objects; undefined if it declares neither it nor its catalog. */
  asksToDelete(key: string) {
    return this.checked(key).deletes ?? this.#catalogs.get(catalogIn(key));
  }

  /** Whether all declared resources were checked. False in a `--target` run and in a `destroy`. */
  get isWhole() {
    return this.#declares > 0 && this.#checked.size >= this.#declares;
  }

  isDeclared(key: string) {
    return this.declared.has(key) || this.declared.has(resourceKeyIn(key));
  }

  /**
   * Notes that a resource or member has this object after the run. One that gives an object up doesn't claim it, so
   * objects can be moved or swapped in any order. @returns the key of another that has claimed the object.
   */
  claim(kind: Kind, id: string, key: string) {
    const object = objectKey(kind.name, id);
    const other = this.#after.get(object) ?? key;
    this.#after.set(object, other);
    if (other !== key) return other;
  }

  /** Claims the object. @throws ArgumentsError if another resource or member has claimed it. */
  assertClaim(kind: Kind, id: string, { key, label }: ResourceRef) {
    const other = this.claim(kind, id, key);
    if (other !== undefined)
      throw new ArgumentsError(`${label}: ${adoptionClash(id, parseKey(other).label)}`);
  }

  /** Another object has taken this one's place after all, for example one that a search has found. */
  unclaim(kind: Kind, id: string, key: string) {
    const object = objectKey(kind.name, id);
    if (this.#after.get(object) === key) this.#after.delete(object);
  }

  holderOf(kind: Kind, id: string) {
    return this.#after.get(objectKey(kind.name, id));
  }

  /** Whether the program adopts the object; false in the plugin. */
  isAdopted(kind: Kind, id: string) {
    return this.#adopted.has(objectKey(kind.name, id));
  }

  /** Whether a resource or member has the object after this run, or adopts it. */
  isClaimedOrAdopted(kind: Kind, id: string) {
    const object = objectKey(kind.name, id);
    return this.#after.has(object) || this.#adopted.has(object);
  }

  /**
   * Like {@link isClaimedOrAdopted}; also true if any `existingId` of the kind is not known, to the program or (in a
   * `--target` run, from a long list) to this process: it may name this object.
   */
  mayBeClaimed(kind: Kind, id: string) {
    if (this.#adopted.size < this.#adopts && !this.isWhole) return true;
    return this.isClaimedOrAdopted(kind, id) || this.isClaimedOrAdopted(kind, UNKNOWN);
  }

  /** The key of the set that deletes the object in the `up`. With an id that isn't known, of any set that deletes. */
  deleterOf(kind: Kind, id: string) {
    if (id === UNKNOWN) return this.toDelete.values().next().value;
    return this.toDelete.get(objectKey(kind.name, id));
  }
}
