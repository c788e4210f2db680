/**
 * Which resource has which live object: an object, identified by its kind and its id, belongs to at most one resource or member. The code
 * that knows the state asks here before it adopts, settles, replaces, deletes or advises: the provider (through `provider/holding.ts`), the
 * comment on a preview, and `pending`. Two resources of the program that name one object are refused earlier, in `program/batch.ts` and
 * `catalog/judge.ts`. The facts come from the state as each resource is looked at, the journal's notes of interrupted runs, the program's
 * adoptions, and this machine's inventory. The answer does not depend on their order. Pure.
 */
import type { Values } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import { aboutWhom, type CreateRecord, objectKey } from "../state/index.js";
import { matchesCreate } from "./changes.js";

/** How it is known that a resource has an object, the strongest first. */
export type Knowledge =
  /** The state has it, and keeps it. */
  | "state"
  /** The program names it with `existingId`. */
  | "adopts"
  /** An interrupted run noted that this create made it. */
  | "journal"
  /** By this machine's notes, the program of a run that is under way names it with `existingId`; it may not have it yet. */
  | "is to adopt"
  /** An earlier run on this machine did. Only a hint. */
  | "inventory";

export interface Holder {
  /** The journal key or the URN of the resource or member; all callers use the same of the two. */
  readonly by: string;
  readonly how: Knowledge;
  /** The object's arguments there, as far as they are known. */
  readonly values?: Values | undefined;
}

/** The object that another resource of the program adopts for an unresolved create. */
export interface Adopted {
  readonly id: string;
  /** True once that resource has it, or had it, which settles the create. Until then the create stays in the state. */
  readonly isHeld: boolean;
}

const STRENGTH: readonly Knowledge[] = ["state", "adopts", "journal", "is to adopt", "inventory"];

/** The key of a holder of which only the adoption is known. */
export const SOMEBODY = "";

export class Holders {
  /** An object hardly ever has more than one holder, and a run may create thousands: so a single one has no list. */
  readonly #byObject = new Map<string, Holder | readonly Holder[]>();
  /** Which holders give up which object in this run: older knowledge about them no longer counts. */
  readonly #released = new Map<string, Set<string>>();
  /** How often an object was to be deleted and was not; each time one of its holders had given it up. */
  readonly #spared = new Map<string, number>();

  /**
   * @param isDeclared whether the program declares a resource or member: mere notes count only for those.
   * @param isWithoutOld whether the engine creates it without having shown its state: it is new, or to be replaced.
   */
  constructor(
    private readonly isDeclared: (by: string) => boolean = () => true,
    private readonly isWithoutOld: (by: string) => boolean = () => false,
  ) {}

  /** @param values the object's arguments, in the state or in the program. */
  add(kind: Kind["name"], id: string, by: string, how: Knowledge, values?: Values): void {
    const object = objectKey(kind, id);
    const known = this.#known(object);
    const before = known.find((each) => each.by === by);
    if (before !== undefined && STRENGTH.indexOf(how) >= STRENGTH.indexOf(before.how)) return;
    const others = known.filter((each) => each !== before);
    const holder = { by, how, values };
    this.#byObject.set(object, others.length === 0 ? holder : [...others, holder]);
  }

  /** In this run, `by` gives the object up: another one takes its place, or its key is gone. */
  release(kind: Kind["name"], id: string, by: string): void {
    const object = objectKey(kind, id);
    const known = this.#released.get(object) ?? new Set<string>();
    this.#released.set(object, known.add(by));
  }

  /**
   * @param but the asking resource, which is left out.
   * @param how the kinds of knowledge that count. @default all
   * @returns the other known holders of the object after this run, with the strongest knowledge first.
   */
  of(kind: Kind["name"], id: string, but?: string, how: readonly Knowledge[] = STRENGTH): Holder[] {
    const object = objectKey(kind, id);
    const released = this.#released.get(object);
    const isAsked = ({ by, how: known }: Holder) =>
      by !== but && how.includes(known) && (known === "adopts" || released?.has(by) !== true);
    return this.#known(object)
      .filter(isAsked)
      .toSorted((a, b) => STRENGTH.indexOf(a.how) - STRENGTH.indexOf(b.how) || (a.by < b.by ? -1 : 1));
  }

  isAdopted(kind: Kind["name"], id: string): boolean {
    return this.of(kind, id, undefined, ["adopts"]).length > 0;
  }

  /** Whether the program names it, according to notes only. */
  isToBeAdopted(kind: Kind["name"], id: string): boolean {
    return this.of(kind, id, undefined, ["is to adopt"]).length > 0;
  }

  /** Whether a resource that the engine has asked about has or names this object, which a set gives up. */
  isManaged(kind: Kind["name"], id: string): boolean {
    return this.of(kind, id, undefined, ["state", "adopts"]).length > 0;
  }

  /**
   * Whether another resource has or names the object that the program adopted for a create whose key its set no longer declares. One with
   * different facts does not count (R4).
   * @param by the create's own resource. @param mayKnowMore whether a resource that this run has not looked at may adopt it.
   */
  adoptedFor(kind: Kind, record: CreateRecord, by: string, mayKnowMore = false): Adopted | undefined {
    const { adoptedAs: id } = record;
    if (id === undefined) return undefined;
    const all = this.of(kind.name, id, by, ["state", "adopts"]);
    const known = all.filter((each) => each.by !== SOMEBODY);
    const sent = { ...record, kind: kind.name };
    const fits = ({ values = {} }: Holder) => matchesCreate(kind, id, values, sent);
    // A resource that had it as the run began settled it, whatever becomes of that resource.
    const had = this.#known(objectKey(kind.name, id)).filter((each) => each.how === "state" && each.by !== by);
    if (had.some(fits)) return { id, isHeld: true };
    const isAdopted = known.length === 0 ? mayKnowMore || all.length > 0 : known.some(fits);
    return isAdopted ? { id, isHeld: false } : undefined;
  }

  /** Which resources and members give an object up in this run. */
  whoGaveUp(kind: Kind["name"], id: string): string[] {
    return [...(this.#released.get(objectKey(kind, id)) ?? [])];
  }

  /** Whether a resource that this run has looked at has this object, names it or gives it up, and so reports what becomes of it. */
  isAccountedFor(kind: Kind["name"], id: string): boolean {
    return this.isManaged(kind, id) || this.#released.has(objectKey(kind, id));
  }

  /** The other holders of an object after this run. Mere notes count only for declared resources. */
  rivalsOf(kind: Kind["name"], id: string, but?: string): Holder[] {
    return this.of(kind, id, but).filter((holder) => isCertain(holder) || this.isDeclared(holder.by));
  }

  /**
   * Whether another resource keeps an object, by the state, the program and this machine's notes. Asked when a delete is decided, and right
   * before it. A targeted run sees only its targets, and a `destroy` sees nothing, so mere notes count as well.
   * @param but the resource that gives it up, if that is known; its own adoption still prevents a delete. If it is not known, it may be one
   *   that the engine replaces without a `diff`, whose notes are about the object that it gives up. And if this run has seen no resource
   *   give the object up, one note that may be its own is not counted.
   * @param member its key in its set, if it has one, which is known even if `but` is not.
   */
  goesOn(kind: Kind["name"], id: string, but?: string, member?: string): boolean {
    const counts = (holder: Holder) => but !== undefined || isCertain(holder) || !this.isWithoutOld(holder.by);
    if (this.isAdopted(kind, id) || this.rivalsOf(kind, id, but).some(counts)) return true;
    const object = objectKey(kind, id);
    const isKnown = but !== undefined || this.#released.has(object);
    const mayBeItself = ({ by }: Holder) => !isKnown && aboutWhom(by).member === member;
    const spared = this.#spared.get(object) ?? 0;
    const byStack = Map.groupBy(this.of(kind, id, but), ({ by }) => by.split("::", 2)[1]);
    return [...byStack.values()].some((those) => those.length > spared + Number(those.some(mayBeItself)));
  }

  /** Notes that an object was not deleted because another resource has it, and that one of its holders has given it up. */
  noteSpared(kind: Kind["name"], id: string): void {
    const object = objectKey(kind, id);
    this.#spared.set(object, (this.#spared.get(object) ?? 0) + 1);
  }

  wasSpared(kind: Kind["name"], id: string): boolean {
    return this.#spared.has(objectKey(kind, id));
  }

  #known(object: string): readonly Holder[] {
    const known = this.#byObject.get(object) ?? [];
    return "by" in known ? [known] : known;
  }
}

function isCertain({ how }: Holder): boolean {
  return how === "state" || how === "adopts";
}
