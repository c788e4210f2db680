/**
 * A file that grows by whole lines, each on the disk before its writer goes on. Writers that come while one write is
 * under way share the next one, so that many creates in flight cost few syncs.
 */
import type { FileHandle } from "node:fs/promises";

export class AppendFile {
  readonly #handle: FileHandle;
  #waiting: { readonly line: string; readonly done: (error?: unknown) => void }[] = [];
  #writing = false;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  /** Resolves once `line` is on the disk. @throws the system's error where it could not be written. */
  append(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, done: (error) => (error === undefined ? resolve() : reject(error as Error)) });
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      let failure: unknown;
      try {
        await this.#handle.appendFile(batch.map(({ line }) => line).join(""));
        await this.#handle.datasync();
      } catch (error) {
        failure = error;
      }
      for (const { done } of batch) done(failure);
    }
    this.#writing = false;
  }
}
