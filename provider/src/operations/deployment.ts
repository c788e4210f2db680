/**
 * What a run knows: what `check` and `diff` note for `create`, `update`, `delete`, and which resource has which object.
 *
 * The engine calls for each resource, and for many of them at once:
 * 1. `check` with the old inputs, or with none for a new resource;
 * 2. `diff` if the resource is in the state;
 * 3. if it is replaced, `check` again, without old inputs: what the first one learned from the state stays;
 * 4. `create` or `update`; after a failed `create` perhaps `create` again (its error hooks);
 * 5. `delete` at the end of the run, for replaced and removed resources; in a `destroy` there is nothing else.
 *
 * A preview ends after 3. Facts that another resource may need are noted before anything is awaited.
 */
import type { JournalEntry } from "../journal/index.js";
import type { Kind } from "../kinds/index.js";
import type { PlannedObject } from "../plan/index.js";
import {
  objectKey,
  type ProgramContext,
  parseKey,
  type ResourceRef,
  resourceKeyIn,
  type StoredSet,
  sendingOf,
  UNKNOWN,
  type Unresolved,
} from "../state/index.js";

/** What a resource's `check` has learned from the state and from the program. */
export interface Checked {
  /** The arguments that were secret in the state. */
  wasSecret: ReadonlySet<string>;
  /** Whether `retainOnDelete` was off in the state, and still is in the program. */
  deletesInStateAndProgram: boolean;
  /** Whether it is off in the program. */
  deletes: boolean;
  /** The keys that it had before, by its aliases. */
  formerKeys?: readonly string[] | undefined;
  /** Its former name, if the state still has it under that: commands go by the state. */
  inState?: ResourceRef | undefined;
  /** What `diff` has seen of a single resource since. */
  planned?: { stored: StoredSet; object: PlannedObject };
}

export class Deployment {
  /** Whether it is an `up`, as a context says; undefined while nothing says it, as of a plugin's checks and diffs. */
  isUp: boolean | undefined = false;
  hasFailed = false;
  /** The first object that was not created for an open create of its name. Nothing new is sent after it. */
  firstBlocked: string | undefined;
  /** What this run has sent with an unknown outcome, by key. */
  readonly unresolved = new Map<string, Unresolved>();
  /** Objects that `diff` said stay live: only the engine knows what a transformation gave. By {@link objectKey}. */
  readonly #staying = new Set<string>();
  /** Objects that the engine's deletes are about. By {@link objectKey}. */
  readonly #leaving = new Set<string>();
  /** The resource or member that each object has after this run. */
  readonly #after = new Map<string, string>();
  /** What the program adopts, by {@link objectKey}; the id may not be known yet. */
  readonly #adopted = new Set<string>();
  readonly #checked = new Map<string, Checked>();
  /** The keys of all objects that were asked about; of a set whose events are not known yet, its own. */
  readonly declared = new Set<string>();
  #adoptedText = "";
  /** Objects and creates that a `diff` has shown in the state. */
  readonly #seen = new Set<string>();
  #declares = 0;

  /** @param isNew whether the engine gave no old inputs: a new resource, or the second `check` of a replacement. */
  noteChecked(key: string, isNew: boolean, was: Checked) {
    if (isNew && this.#checked.has(key)) return;
    this.#checked.set(key, was);
  }

  /** What the program says of a resource, and of the whole. */
  noteContext({ run, adopted = "", sameNamed = [] }: ProgramContext) {
    if (adopted !== this.#adoptedText)
      for (const each of adopted.split(",")) this.#adopted.add(each);
    this.#adoptedText = adopted;
    for (const each of sameNamed) this.declared.add(each);
    if (!run) return;
    this.isUp = run.isUp;
    this.#declares = Math.max(this.#declares, run.resources);
  }

  /** The state has an object, as `objectKey` names it, or looks after a create: its mark, or as `sendingOf` names it. */
  noteSeen(name: string) {
    this.#seen.add(name);
  }

  hasSeen(kind: Kind, record: JournalEntry) {
    const { id = "", mark } = record;
    return [objectKey(kind.name, id), mark, sendingOf(record)].some((each) =>
      this.#seen.has(each),
    );
  }

  isChecked(key: string) {
    return this.#checked.has(key);
  }

  checked(key: string): Partial<Checked> {
    return this.#checked.get(key) ?? {};
  }

  /** Whether all declared resources were looked at, which is not so in a targeted run or a `destroy`. */
  get isWhole(): boolean {
    return this.#declares > 0 && this.#checked.size >= this.#declares;
  }

  isDeclared(key: string) {
    return this.declared.has(key) || this.declared.has(resourceKeyIn(key));
  }

  /**
   * A resource or member has this object after the run. What gives one up claims nothing: so moves and swaps work,
   * whatever the order. @returns what else has it.
   */
  claim(kind: Kind, id: string, key: string): string | undefined {
    const object = objectKey(kind.name, id);
    const other = this.#after.get(object) ?? key;
    this.#after.set(object, other);
    return other === key ? undefined : other;
  }

  holderOf(kind: Kind, id: string): string | undefined {
    return this.#after.get(objectKey(kind.name, id));
  }

  /** Whether something goes on with an object that a resource or member gives up. */
  isClaimedOrAdopted(kind: Kind, id: string) {
    const object = objectKey(kind.name, id);
    return this.#after.has(object) || this.#adopted.has(object);
  }

  /** As {@link isClaimedOrAdopted}, and also while any `existingId` of the kind is not known: it may name this object. */
  mayBeClaimed(kind: Kind, id: string) {
    return this.isClaimedOrAdopted(kind, id) || this.isClaimedOrAdopted(kind, UNKNOWN);
  }

  /** The engine takes it out of the state. */
  noteLeaving(kind: Kind, id: string) {
    this.#leaving.add(objectKey(kind.name, id));
  }

  /** Whether an object has left this resource or member, and the state with it or for another one. */
  hasLeft(key: string, id: string) {
    const object = objectKey(parseKey(key).kind, id);
    return this.#leaving.has(object) && this.#after.get(object) !== key;
  }

  noteStaying(kind: Kind, id: string) {
    this.#staying.add(objectKey(kind.name, id));
  }

  isStaying(kind: Kind, id: string) {
    return this.#staying.has(objectKey(kind.name, id));
  }
}
