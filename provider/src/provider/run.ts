/**
 * What one run knows so far: the facts that `check` and `diff` note for `create`, `update` and `delete`, and which resource has which object.
 *
 * The engine calls for each resource, and for many of them at once:
 * 1. `check` with the old inputs, or with none for a new resource;
 * 2. `diff` if the resource is in the state;
 * 3. if it is replaced, `check` again, without old inputs: what the first one learned from the state stays;
 * 4. `create` or `update`; after a failed `create` perhaps `create` again (its error hooks);
 * 5. `delete` at the end of the run, for replaced and removed resources; in a `destroy` there is nothing else.
 * A preview ends after 3. Facts that another resource may need are noted before anything is awaited.
 */
import type { Values } from "../base/index.js";
import { type Former, Holders, holdsUnknown, type Member } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { type Briefing, type CreateRecord, objectKey, type Ref, resourceKeyIn } from "../state/index.js";
import type { Leaving } from "./outcome.js";

interface Checked {
  readonly briefing: Briefing;
  /** The names of the arguments that were secret when the state was written. */
  readonly wasSecret: ReadonlySet<string>;
  /** Whether `retainOnDelete` was off when the state was written, by which the engine deletes a replaced object. */
  readonly wasDeleting: boolean;
  /** As the state has it, if `pulumi stack rename` has changed the stack's name since. */
  readonly formerIdentity?: string | undefined;
}

/** What `diff` decides about a single resource. A set decides again in `update`, when all values are known. */
export interface Decided {
  readonly member: Member;
  /** The object that leaves the state if a `create` follows, which `--replace` may cause too. */
  readonly former: Former | undefined;
  readonly leaves: Leaving;
}

export class Run {
  /** Whether it is an `up`, as a briefing says; `undefined` before the first one. */
  isUp: boolean | undefined;
  /** The program's own id; `undefined` before the first briefing. */
  program: string | undefined;
  /** The identity of any resource that was looked at, for its stack. */
  identity: string | undefined;
  /** How many resources the program declares, by the briefings so far. */
  #declares = 0;
  hasFailed = false;
  /** Settled once the journal and the inventory of this machine are in {@link holders}. */
  holdersLearned: Promise<void> | undefined;
  /** The journal keys of declared resources and members that were looked at so far. */
  readonly declared = new Set<string>();
  /** Those of them that the engine creates without a `diff`: they are new, or it was asked to replace them. */
  readonly #withoutOld = new Set<string>();
  readonly holders = new Holders(
    (key) => this.declared.has(key),
    (key) => this.#withoutOld.has(key),
  );
  readonly #resources = new Set<string>();
  /** The kinds of objects that the program adopts without knowing their ids yet. */
  adoptsLater = new Set<string>();
  /** Whether the program has ended without a failure, so that its briefings are complete. */
  hasProgramEnded = false;
  readonly #checked = new Map<string, Checked>();
  readonly #decided = new Map<string, Decided>();
  /** Objects that were said to stay live after a replacement, by {@link objectKey}. */
  readonly #staying = new Set<string>();
  readonly #gone = new Set<string>();
  readonly #unseen = new Set<string>();
  /** By the journal keys of members: unresolved creates that their sets keep until another resource has the object. */
  readonly kept = new Map<string, CreateRecord>();
  /** By mark: the ids of the objects that resources have adopted for these in this run. */
  readonly settled = new Map<string, string>();
  /** Objects that the engine asked to delete, by {@link objectKey}. */
  readonly removed = new Set<string>();
  readonly #begun = new Set<string>();
  /** By the journal key of an undeclared create: what adopts other objects than it made. */
  readonly #othersAdopted = new Map<string, Set<string>>();
  /** Suspected former resources of those that the state already has: reported once no other resource can have the object. */
  readonly taken: { readonly kind: Kind; readonly subject: Ref; readonly former: string }[] = [];

  /**
   * Notes that a resource or member adopts another object than an undeclared create made.
   * @returns whether nothing else of the program may adopt what it made.
   */
  noteOtherAdopted(former: string, key: string): boolean {
    const those = this.#othersAdopted.get(former) ?? new Set();
    this.#othersAdopted.set(former, those.add(key));
    return those.size >= (this.briefingOf(resourceKeyIn(key)).adopters?.[former] ?? 1);
  }

  /** For what happens once a run. @returns true for the first call. */
  beginOnce(what: string): boolean {
    const isFirst = !this.#begun.has(what);
    this.#begun.add(what);
    return isFirst;
  }

  /** Whether all declared resources were looked at, which is not so in a targeted run or a `destroy`. */
  get isWhole(): boolean {
    return this.#declares > 0 && !this.hasMore;
  }

  /** Whether the engine still has to ask about a declared resource, by the briefings so far. */
  get hasMore(): boolean {
    return this.#resources.size < this.#declares;
  }

  /** Whether the program may adopt an object of this kind with an id that the run does not know yet. */
  mayAdoptMore(kind: Kind): boolean {
    return this.adoptsLater.has(kind.name) && !(this.isUp === true && this.isWhole);
  }

  /**
   * @param isNew whether the engine gave no old inputs: a new resource, or the second `check` of a replacement.
   * @param members for a set, the journal keys of its objects.
   */
  noteChecked(key: string, checked: Checked, isNew: boolean, members: readonly string[] = []): void {
    const before = isNew ? this.#checked.get(key) : undefined;
    if (!isNew) this.#decided.delete(key);
    const { wasSecret, wasDeleting, formerIdentity } = before ?? checked;
    // Most resources have nothing to remember, and a run may have tens of thousands.
    const { run, ...briefing } = checked.briefing;
    const isOfState = wasSecret.size > 0 || wasDeleting || formerIdentity !== undefined;
    const isPlain = !isOfState && Object.keys(briefing).length === 1;
    if (isPlain) this.#checked.delete(key);
    else this.#checked.set(key, { briefing, wasSecret, wasDeleting, formerIdentity });
    this.identity ??= briefing.identity;
    this.#resources.add(key);
    const isWithoutOld = isNew && !this.#decided.has(key);
    for (const each of [key, ...members]) {
      this.declared.add(each);
      if (isWithoutOld) this.#withoutOld.add(each);
      else this.#withoutOld.delete(each);
    }
    if (run === undefined) return;
    this.isUp = run.isUp;
    this.program = run.program;
    this.noteDeclares(run.resources);
  }

  /** Notes that the program declares at least so many resources. */
  noteDeclares(resources: number): void {
    this.#declares = Math.max(this.#declares, resources);
  }

  /**
   * Whether the engine calls `diff` only to learn if a resource would be replaced with a target that it depends on: the program has not
   * registered it, and the target's id is not known. Nothing is replaced then.
   */
  isSupposed(key: string, news: Values): boolean {
    return !this.declared.has(key) && holdsUnknown(news);
  }

  briefingOf(key: string): Partial<Briefing> {
    return this.#checked.get(key)?.briefing ?? {};
  }

  checked(key: string): Omit<Checked, "briefing"> {
    return this.#checked.get(key) ?? { wasSecret: new Set(), wasDeleting: false };
  }

  noteDecided(kind: Kind, key: string, decided: Decided): void {
    this.#decided.set(key, decided);
    const { former } = decided;
    // The option of a resource that the program has not registered yet is not known.
    if (former === undefined || !this.declared.has(key) || this.checked(key).wasDeleting) return;
    this.#staying.add(objectKey(kind.name, former.id));
  }

  /** Whether `diff` said that the object stays live, because it saw no `retainOnDelete: false`: only the engine knows a transformation's. */
  isStaying(kind: Kind, id: string): boolean {
    return this.#staying.has(objectKey(kind.name, id));
  }

  decided(key: string): Decided | undefined {
    return this.#decided.get(key);
  }

  /** A read has just not found the object, and said that this proves nothing yet. */
  noteUnseen(kind: Kind, id: string): void {
    this.#unseen.add(objectKey(kind.name, id));
  }

  isUnseen(kind: Kind, id: string): boolean {
    return this.#unseen.has(objectKey(kind.name, id));
  }

  /** Notes that this run deleted the object or found it gone, so that no stack of this machine has it. */
  noteGone(kind: Kind, id: string): void {
    this.#gone.add(objectKey(kind.name, id));
  }

  /** By {@link objectKey}. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  isGone(kind: Kind, id: string): boolean {
    return this.#gone.has(objectKey(kind.name, id));
  }
}
