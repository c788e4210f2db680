/**
 * Which requests may be in flight on a login. A request has a lease on it from right before it is sent until it is known whether the
 * login let it through. Two rules:
 *
 * - A login has at most as many leases as it has accepted requests, and at least one. So a stored login, and Basic credentials,
 *   are tested with one request; and the requests that a session refuses at its end fit into the next one, however few requests
 *   it lasts for (session.test.ts, "ends after every …": with 16 at once on sessions of ten requests, a fixed limit refuses some
 *   of them twice).
 * - Refused requests go first: nothing new is sent while a lease on an ended login exists. A refused request keeps its lease
 *   until it is answered on the next login.
 */

/** One login and its history. */
interface Fate<Login> {
  readonly login: Login;
  readonly openedAtMs: number;
  accepted: number;
  held: number;
  isUnreachable: boolean;
}

/** The state that all leases share. */
interface Books<Login> {
  current: Fate<Login> | undefined;
  /** The number of leases on the current login and on ended ones. */
  held: number;
  /** Absent while no request waits. */
  change: PromiseWithResolvers<void> | undefined;
}

/** Wakes all waiting requests. */
function changed(books: Books<unknown>): void {
  books.change?.resolve();
  books.change = undefined;
}

/** One request's lease on a login. Giving it back a second time has no effect. */
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

  /** Gives it back after the login let the request through. */
  accept(): void {
    if (this.#isHeld) {
      this.fate.accepted++;
      this.fate.isUnreachable = false;
    }
    this.release();
  }

  /** Ends the login for all requests. The lease stays until {@link release}. */
  refuse(): void {
    if (this.hasEnded) return;
    this.books.current = undefined;
    changed(this.books);
  }

  /**
   * Gives it back after a failed connection, which says nothing about the login. Until a request is accepted, none waits for others,
   * or time-outs would be waited for one after the other.
   */
  unreachable(): void {
    if (this.#isHeld) this.fate.isUnreachable = true;
    this.release();
  }

  /** Gives it back without a result. */
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
   * @returns none if the request has to wait for a {@link change}.
   */
  take(goesFirst: boolean): Lease<Login> | undefined {
    const { current, held } = this.#books;
    if (current === undefined) return undefined;
    const hasRoom = current.isUnreachable || current.held < Math.max(1, current.accepted);
    const isItsTurn = goesFirst || held === current.held;
    return hasRoom && isItsTurn ? new Lease(current, this.#books) : undefined;
  }

  /** Resolves when a request without a lease may try again. */
  change(): Promise<void> {
    this.#books.change ??= Promise.withResolvers();
    return this.#books.change.promise;
  }
}
