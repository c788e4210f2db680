/**
 * Which requests may be in flight on a login. A request holds a lease on it from just before it is sent until it is known
 * how it fared there. Two rules:
 *
 * - No more leases are held on a login than it has accepted requests, and one at least. So a login that was found rather
 *   than made is proven by one request, and so are Basic credentials; and what a session refuses at its end fits into the
 *   next one, however few requests it lasts for (session.test.ts, "ends after every …": with 16 at once on sessions of ten
 *   requests, a fixed limit refuses some of them twice).
 * - What was refused goes first: nothing new is sent while a lease on an ended login is held. The request that was refused
 *   holds its lease until it is answered on the next login.
 */

/** The history of one login. */
interface Fate<Login> {
  readonly login: Login;
  readonly openedAtMs: number;
  accepted: number;
  held: number;
  isUnreachable: boolean;
}

/** All leases share one of these. */
class Book<Login> {
  current: Fate<Login> | undefined;
  /** On the current login, and on ended ones. */
  held = 0;
  /** Absent while nobody waits. */
  #change: PromiseWithResolvers<void> | undefined;

  change(): Promise<void> {
    this.#change ??= Promise.withResolvers();
    return this.#change.promise;
  }

  /** All that wait look again. */
  changed(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }
}

/** One request's hold on a login. Every way to give it back may be taken again, without effect. */
export class Lease<Login> {
  readonly #book: Book<Login>;
  readonly #fate: Fate<Login>;
  #isHeld = true;

  constructor(book: Book<Login>, fate: Fate<Login>) {
    this.#book = book;
    this.#fate = fate;
    fate.held++;
    book.held++;
  }

  get login(): Login {
    return this.#fate.login;
  }

  get openedAtMs(): number {
    return this.#fate.openedAtMs;
  }

  /** True if any request was accepted on the login. */
  get hasAccepted(): boolean {
    return this.#fate.accepted > 0;
  }

  get hasEnded(): boolean {
    return this.#book.current !== this.#fate;
  }

  /** Gives it back: the login was no obstacle. */
  accept(): void {
    if (this.#isHeld) {
      this.#fate.accepted++;
      this.#fate.isUnreachable = false;
    }
    this.release();
  }

  /** Ends the login for all. The lease is held on until {@link release}. */
  refuse(): void {
    if (this.hasEnded) return;
    this.#book.current = undefined;
    this.#book.changed();
  }

  /**
   * Gives it back: there was no connection, which says nothing of the login. Until a request is accepted nobody waits for
   * what others learn, or those that wait for a time-out would do so one after the other.
   */
  unreachable(): void {
    if (this.#isHeld) this.#fate.isUnreachable = true;
    this.release();
  }

  /** Gives it back: nothing was learnt. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.#fate.held--;
    this.#book.held--;
    this.#book.changed();
  }
}

export class Leases<Login> {
  readonly #book = new Book<Login>();

  get hasLogin(): boolean {
    return this.#book.current !== undefined;
  }

  /** From now on leases are on this login. */
  begin(login: Login, openedAtMs: number): void {
    this.#book.current = { login, openedAtMs, accepted: 0, held: 0, isUnreachable: false };
    this.#book.changed();
  }

  /**
   * @param goesFirst for a request that an ended login refused.
   * @returns none where the request has to wait for a {@link change}.
   */
  take(goesFirst: boolean): Lease<Login> | undefined {
    const { current, held } = this.#book;
    if (current === undefined) return undefined;
    const hasRoom = current.isUnreachable || current.held < Math.max(1, current.accepted);
    const isItsTurn = goesFirst || held === current.held;
    return hasRoom && isItsTurn ? new Lease(this.#book, current) : undefined;
  }

  /** Resolves when a request that could take no lease may try again. */
  change(): Promise<void> {
    return this.#book.change();
  }
}
