/**
 * Who has which live object: an object, identified by its kind and its id, belongs to one resource or member at most. Everything
 * that names, adopts, settles, replaces, deletes or advises about an object asks here. Whoever knows something puts it in: the
 * state as each resource is looked at, the journal's notes of killed runs, the program's adoptions, and the inventory of this machine.
 * The answer does not depend on the order in which these come. Pure.
 */
import type { Kind } from "../kinds/index.js";

/** How it is known that somebody has an object, the strongest first. */
export type Knowledge =
  /** The state holds it, and goes on with it. */
  | "state"
  /** The program names it with `existingId`. */
  | "adopts"
  /** A killed run noted that this create made it. */
  | "journal"
  /** An earlier run on this machine did. Only a hint. */
  | "inventory";

export interface Holder {
  /** The journal key, or the URN, of the resource or member: all that put something in use the same. */
  readonly by: string;
  readonly how: Knowledge;
}

const STRENGTH: readonly Knowledge[] = ["state", "adopts", "journal", "inventory"];

export class Holders {
  /** Hardly ever more than one of an object, and a run may create thousands: so without a list for one. */
  readonly #byObject = new Map<string, Holder | readonly Holder[]>();
  /** Who lets go of which object in this run: what older knowledge says of them is over. */
  readonly #released = new Map<string, Set<string>>();

  add(kind: Kind["name"], id: string, by: string, how: Knowledge): void {
    const object = objectOf(kind, id);
    const known = this.#known(object);
    const before = known.find((each) => each.by === by);
    if (before !== undefined && STRENGTH.indexOf(how) >= STRENGTH.indexOf(before.how)) return;
    const others = known.filter((each) => each !== before);
    this.#byObject.set(object, others.length === 0 ? { by, how } : [...others, { by, how }]);
  }

  /** This run takes the object from whoever has it now: its place is taken by another one, or its key is gone. */
  release(kind: Kind["name"], id: string, by: string): void {
    const object = objectOf(kind, id);
    const known = this.#released.get(object) ?? new Set<string>();
    this.#released.set(object, known.add(by));
  }

  /** Whether something that was known to have the object lets go of it in this run. */
  hasLetGo(kind: Kind["name"], id: string): boolean {
    const object = objectOf(kind, id);
    return this.#known(object).some(({ by }) => this.#released.get(object)?.has(by) === true);
  }

  /**
   * @param but who asks: it is not its own rival.
   * @param how the kinds of knowledge that count. @default all
   * @returns who else has the object after this run, as far as is known; the strongest knowledge first.
   */
  of(kind: Kind["name"], id: string, but?: string, how: readonly Knowledge[] = STRENGTH): Holder[] {
    const object = objectOf(kind, id);
    const released = this.#released.get(object);
    const isAsked = ({ by, how: known }: Holder) =>
      by !== but && how.includes(known) && (known === "adopts" || released?.has(by) !== true);
    return this.#known(object)
      .filter(isAsked)
      .toSorted((a, b) => STRENGTH.indexOf(a.how) - STRENGTH.indexOf(b.how) || (a.by < b.by ? -1 : 1));
  }

  #known(object: string): readonly Holder[] {
    const known = this.#byObject.get(object) ?? [];
    return "by" in known ? [known] : known;
  }
}

function objectOf(kind: Kind["name"], id: string): string {
  return `${kind} ${id}`;
}
