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

/** One request's hold on a login. Every way to give it back may be taken again, without effect. */
export interface Lease<Login> {
  readonly login: Login;
  readonly openedAtMs: number;
  /** True if any request was accepted on the login. */
  readonly hasAccepted: boolean;
  readonly hasEnded: boolean;
  /** Gives it back: the login was no obstacle. */
  accept(): void;
  /** Ends the login for all. The lease is held on until {@link release}. */
  refuse(): void;
  /**
   * Gives it back: there was no connection, which says nothing of the login. Until a request is accepted nobody waits for
   * what others learn, or those that wait for a time-out would do so one after the other.
   */
  unreachable(): void;
  /** Gives it back: nothing was learnt. */
  release(): void;
}

export class Leases<Login> {
  #current: Fate<Login> | undefined;
  /** On the current login, and on ended ones. */
  #held = 0;
  /** Absent while nobody waits. */
  #change: PromiseWithResolvers<void> | undefined;

  get hasLogin(): boolean {
    return this.#current !== undefined;
  }

  /** From now on leases are on this login. */
  begin(login: Login, openedAtMs: number): void {
    this.#current = { login, openedAtMs, accepted: 0, held: 0, isUnreachable: false };
    this.#changed();
  }

  /**
   * @param goesFirst for a request that an ended login refused.
   * @returns none where the request has to wait for a {@link change}.
   */
  take(goesFirst: boolean): Lease<Login> | undefined {
    const current = this.#current;
    if (current === undefined) return undefined;
    const hasRoom = current.isUnreachable || current.held < Math.max(1, current.accepted);
    const isItsTurn = goesFirst || this.#held === current.held;
    return hasRoom && isItsTurn ? this.#leaseOn(current) : undefined;
  }

  #leaseOn(fate: Fate<Login>): Lease<Login> {
    let isHeld = true;
    fate.held++;
    this.#held++;
    const release = () => {
      if (!isHeld) return;
      isHeld = false;
      fate.held--;
      this.#held--;
      this.#changed();
    };
    const hasEnded = () => this.#current !== fate;
    return {
      login: fate.login,
      openedAtMs: fate.openedAtMs,
      get hasAccepted() {
        return fate.accepted > 0;
      },
      get hasEnded() {
        return hasEnded();
      },
      accept: () => {
        if (isHeld) {
          fate.accepted++;
          fate.isUnreachable = false;
        }
        release();
      },
      refuse: () => {
        if (hasEnded()) return;
        this.#current = undefined;
        this.#changed();
      },
      unreachable: () => {
        if (isHeld) fate.isUnreachable = true;
        release();
      },
      release,
    };
  }

  /** Resolves when a request that could take no lease may try again. */
  change(): Promise<void> {
    this.#change ??= Promise.withResolvers();
    return this.#change.promise;
  }

  /** All that wait look again. */
  #changed(): void {
    this.#change?.resolve();
    this.#change = undefined;
  }
}
