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

/** One login, and how it has fared. */
interface Fate<Login> {
  readonly login: Login;
  readonly openedAtMs: number;
  accepted: number;
  held: number;
  isUnreachable: boolean;
}

/** What all leases change. */
interface Books<Login> {
  current: Fate<Login> | undefined;
  /** On the current login, and on ended ones. */
  held: number;
  /** Absent while nobody waits. */
  change: PromiseWithResolvers<void> | undefined;
}

/** All that wait look again. */
function changed(books: Books<unknown>): void {
  books.change?.resolve();
  books.change = undefined;
}

/** One request's hold on a login. Every way to give it back may be taken again, without effect. */
export class Lease<Login> {
  #isHeld = true;

  constructor(
    private readonly fate: Fate<Login>,
    private readonly books: Books<Login>,
  ) {
    fate.held++;
    books.held++;
  }

  get login(): Login {
    return this.fate.login;
  }

  get openedAtMs(): number {
    return this.fate.openedAtMs;
  }

  get hasAccepted(): boolean {
    return this.fate.accepted > 0;
  }

  get hasEnded(): boolean {
    return this.books.current !== this.fate;
  }

  /** Gives it back: the login was no obstacle. */
  accept(): void {
    if (this.#isHeld) {
      this.fate.accepted++;
      this.fate.isUnreachable = false;
    }
    this.release();
  }

  /** Ends the login for all. The lease is held on until {@link release}. */
  refuse(): void {
    if (this.hasEnded) return;
    this.books.current = undefined;
    changed(this.books);
  }

  /**
   * Gives it back: there was no connection, which says nothing of the login. Until a request is accepted nobody waits for
   * what others learn, or those that wait for a time-out would do so one after the other.
   */
  unreachable(): void {
    if (this.#isHeld) this.fate.isUnreachable = true;
    this.release();
  }

  /** Gives it back: nothing was learnt. */
  release(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.fate.held--;
    this.books.held--;
    changed(this.books);
  }
}

export class Leases<Login> {
  readonly #books: Books<Login> = { current: undefined, held: 0, change: undefined };

  get hasLogin(): boolean {
    return this.#books.current !== undefined;
  }

  begin(login: Login, openedAtMs: number): void {
    this.#books.current = { login, openedAtMs, accepted: 0, held: 0, isUnreachable: false };
    changed(this.#books);
  }

  /**
   * @param goesFirst for a request that an ended login refused.
   * @returns none where the request has to wait for a {@link change}.
   */
  take(goesFirst: boolean): Lease<Login> | undefined {
    const { current, held } = this.#books;
    if (current === undefined) return undefined;
    const hasRoom = current.isUnreachable || current.held < Math.max(1, current.accepted);
    const isItsTurn = goesFirst || held === current.held;
    return hasRoom && isItsTurn ? new Lease(current, this.#books) : undefined;
  }

  /** Resolves when a request that could take no lease may try again. */
  change(): Promise<void> {
    this.#books.change ??= Promise.withResolvers();
    return this.#books.change.promise;
  }
}
