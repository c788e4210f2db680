/**
 * Whether an operation is one of this installation. A bare 404 is what a path answers that does not exist, and what one does
 * that has no such object: it counts as the latter only where the operation has worked for another object in this run.
 */
export class Witness {
  #unanswered = 0;
  #hasWorked = false;
  #change = Promise.withResolvers<void>();

  /** Runs one request, which others may wait for. */
  async during<T>(request: () => Promise<T>): Promise<T> {
    this.#unanswered++;
    try {
      return await request();
    } finally {
      this.#unanswered--;
      this.#changed();
    }
  }

  /** It has done what it is for. */
  works(): void {
    this.#hasWorked = true;
    this.#changed();
  }

  /** Waits for the requests that are under way, where that may tell more. */
  async hasWorked(): Promise<boolean> {
    while (!this.#hasWorked && this.#unanswered > 0) await this.#change.promise;
    return this.#hasWorked;
  }

  #changed(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }
}
