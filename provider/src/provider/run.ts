/**
 * What one run knows so far: the facts that `check` and `diff` leave for `create`, `update` and `delete`, and who has which object.
 *
 * The engine calls for each resource, and for many of them at once:
 * 1. `check` with the old inputs, or with none for a resource that is new;
 * 2. `diff` where the state holds the resource;
 * 3. where it is replaced, `check` once more, with no old inputs: what the first one knew of the state stays;
 * 4. `create` or `update`; after a failed `create` perhaps `create` again (its error hooks);
 * 5. `delete` at the end of the run, for what was replaced or removed; in a `destroy` that is all.
 * A preview ends after 3. What another resource may ask for is noted before anything is awaited.
 */
import { own, type Values } from "../base/index.js";
import { type Former, Holders, holdsUnknown, type Member } from "../decision/index.js";
import type { Kind } from "../kinds/index.js";
import { type Briefing, objectKey, type Ref, UNKNOWN } from "../state/index.js";
import type { Leaving } from "./outcome.js";

interface Checked {
  readonly briefing: Briefing;
  /** The names of the arguments that were secret when the state was written. */
  readonly wasSecret: ReadonlySet<string>;
  /** `retainOnDelete` was off when the state was written: by that the engine deletes what is replaced. */
  readonly wasDeleting: boolean;
}

/** What `diff` decides of a single resource. A set decides again in `update`, when all values are known. */
export interface Decided {
  readonly member: Member;
  /** The object that leaves the state if a `create` follows, which people may ask the engine for (`--replace`). */
  readonly former: Former | undefined;
  readonly leaves: Leaving;
}

export class Run {
  /** Whether it is an `up`, as the program said; none before it did. */
  isUp: boolean | undefined;
  /** The program that this is a run of; none before it said so. */
  program: string | undefined;
  /** Of any resource that was looked at, and so of its stack. */
  identity: string | undefined;
  /** How many resources the program declares, as far as it said. */
  #declares = 0;
  hasFailed = false;
  /** Settled once the journal and the inventory of this machine are in {@link holders}. */
  holdersLearned: Promise<void> | undefined;
  /** The journal keys of what the program declares, members of sets too, as far as it was looked at. */
  readonly declared = new Set<string>();
  /** Those of them that the engine creates although it has asked for no `diff`: they are new, or it was asked to replace them. */
  readonly #withoutOld = new Set<string>();
  readonly holders = new Holders(
    (key) => this.declared.has(key),
    (key) => this.#withoutOld.has(key),
  );
  readonly #resources = new Set<string>();
  /** The kinds of which the program adopts objects whose ids it does not know. */
  adoptsLater = new Set<string>();
  /** The program has come to its end, and nothing in it has failed: what it does not know by now, it will not in this run. */
  hasProgramEnded = false;
  readonly #checked = new Map<string, Checked>();
  readonly #decided = new Map<string, Decided>();
  /** Journal keys of what is replaced although `diff` saw no need: the engine was asked to. */
  readonly #askedAgain = new Set<string>();
  /** What stays live if something takes its place, as was said. Each as {@link objectKey} makes it. */
  readonly #staying = new Set<string>();
  readonly #gone = new Set<string>();
  /** What the engine asked to delete, each as {@link objectKey} makes it. */
  readonly removed = new Set<string>();
  readonly #begun = new Set<string>();
  /** What the program's half took resources for that the state has already: to be said once nothing is left that may have its object. */
  readonly taken: { readonly kind: Kind; readonly subject: Ref; readonly former: string }[] = [];

  /** Once a run. @returns whether nothing else has begun it. */
  beginOnce(what: string): boolean {
    const isFirst = !this.#begun.has(what);
    this.#begun.add(what);
    return isFirst;
  }

  /** Whether all that the program declares was looked at: not in a run of some targets, nor in a `destroy`. */
  get isWhole(): boolean {
    return this.#declares > 0 && !this.hasMore;
  }

  /** Whether the engine is still to ask about something that the program declares, as far as the program said. */
  get hasMore(): boolean {
    return this.#resources.size < this.#declares;
  }

  /** Whether the program may adopt an object of this kind whose id the run does not know yet. */
  mayAdoptMore(kind: Kind): boolean {
    return this.adoptsLater.has(kind.name) && !(this.isUp === true && this.isWhole);
  }

  /**
   * @param isNew whether the engine named no old inputs: a resource that is new, or the second `check` of a replacement.
   * @param members of a set, the journal keys of its objects.
   */
  noteChecked(key: string, checked: Checked, isNew: boolean, members: readonly string[] = []): void {
    const before = isNew ? this.#checked.get(key) : undefined;
    if (!isNew) this.#decided.delete(key);
    if (isNew && this.#decided.has(key)) this.#askedAgain.add(key);
    else this.#askedAgain.delete(key);
    const { wasSecret, wasDeleting } = before ?? checked;
    // Most resources leave nothing to remember, and a run may have tens of thousands.
    const { run, ...briefing } = checked.briefing;
    const isPlain = wasSecret.size === 0 && !wasDeleting && Object.keys(briefing).length === 1;
    if (isPlain) this.#checked.delete(key);
    else this.#checked.set(key, { briefing, wasSecret, wasDeleting });
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

  /** The program declares so many resources, or more. */
  noteDeclares(resources: number): void {
    this.#declares = Math.max(this.#declares, resources);
  }

  /**
   * Whether `diff` is only to say if a resource would go with a target that it depends on: the program has not registered it, and the
   * target's id is not known. Nothing is replaced then.
   */
  isSupposed(key: string, news: Values): boolean {
    return !this.declared.has(key) && holdsUnknown(news);
  }

  briefingOf(key: string): Partial<Briefing> {
    return this.#checked.get(key)?.briefing ?? {};
  }

  checked(key: string): Pick<Checked, "wasSecret" | "wasDeleting"> {
    return this.#checked.get(key) ?? { wasSecret: new Set(), wasDeleting: false };
  }

  noteDecided(kind: Kind, key: string, decided: Decided): void {
    this.#decided.set(key, decided);
    const { former } = decided;
    // Of what the program has not registered yet, the option is not known.
    if (former === undefined || !this.declared.has(key) || this.checked(key).wasDeleting) return;
    this.#staying.add(objectKey(kind.name, former.id));
  }

  /** Whether `diff` has found no `retainOnDelete: false`, and said that the object stays live: only the engine knows what a transformation gave. */
  isStaying(kind: Kind, id: string): boolean {
    return this.#staying.has(objectKey(kind.name, id));
  }

  decided(key: string): Decided | undefined {
    return this.#decided.get(key);
  }

  /** This run has deleted the object, or found that it is not on the platform any more: no stack of this machine has it. */
  noteGone(kind: Kind, id: string): void {
    this.#gone.add(objectKey(kind.name, id));
  }

  /** Each as {@link objectKey} makes it. */
  get gone(): ReadonlySet<string> {
    return this.#gone;
  }

  isGone(kind: Kind, id: string): boolean {
    return this.#gone.has(objectKey(kind.name, id));
  }

  /**
   * The inputs with the ids of those of their owners that this run has seen and that keep their ids. In a preview the engine takes
   * an updated resource's outputs for unknown, although its id stays; it asks about an owner first.
   */
  withKeptOwners(briefing: Briefing | undefined, given: Values): Values {
    const known = Object.entries(briefing?.owners ?? {}).flatMap(([property, key]) => {
      const id = own(given, property) === UNKNOWN ? this.#keptId(key) : undefined;
      return id === undefined ? [] : [[property, id] as const];
    });
    return known.length === 0 ? given : { ...given, ...Object.fromEntries(known) };
  }

  #keptId(key: string): string | undefined {
    const { action, id } = this.#decided.get(key)?.member ?? {};
    const isKept = (action?.do === "keep" || action?.do === "update") && !this.#askedAgain.has(key);
    return isKept ? id : undefined;
  }
}
