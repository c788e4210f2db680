/**
 * How many requests may be under way on one login, or on credentials, whose worth is not known yet: no more than it has
 * let through, and at least one. So when a session ends after N requests, however small N is, no more than N are refused,
 * and the next has room for all of them; and a stored session that has died, wrong credentials, or a platform in trouble
 * are met with one create instead of many.
 */
export class Gate {
  readonly #most: number;
  #letThrough = 0;
  #isOpen = false;
  /** Sent, and neither answered for good, nor about to be tried once more, nor sent again on a later login. */
  readonly #pending = new Set<symbol>();
  /** Told whenever a request is decided, and when the login ends. */
  readonly #watchers = new Set<() => void>();

  /** @param most from so many on the sender's own limit keeps to it. */
  constructor(most: number) {
    this.#most = most;
  }

  /** Whether a request was ever let through, whatever became of it. */
  get hasLetThrough(): boolean {
    return this.#letThrough > 0;
  }

  get isIdle(): boolean {
    return this.#pending.size === 0;
  }

  get hasRoom(): boolean {
    return this.#isOpen || this.#letThrough >= this.#most || this.#pending.size < Math.max(1, this.#letThrough);
  }

  enter(ticket: symbol): void {
    this.#pending.add(ticket);
  }

  letThrough(): void {
    this.#letThrough++;
    this.#isOpen = false;
    this.wake();
  }

  /** Until one is let through, nobody need wait for what others are told: the trouble is another than this login. */
  open(): void {
    this.#isOpen = true;
    this.wake();
  }

  settle(ticket: symbol): void {
    if (this.#pending.delete(ticket)) this.wake();
  }

  /** All that wait look again. */
  wake(): void {
    for (const watcher of this.#watchers) watcher();
  }

  /** Resolves when the next request is decided, or the login ends. */
  decision(): Promise<void> {
    return new Promise((resolve) => {
      const watcher = () => {
        this.#watchers.delete(watcher);
        resolve();
      };
      this.#watchers.add(watcher);
    });
  }
}
