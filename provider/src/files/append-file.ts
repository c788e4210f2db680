/**
 * A file that grows by whole lines, each on the disk before its writer goes on. Writers that come while one write is
 * under way share the next one, so that many creates in flight cost few syncs.
 */
import type { OpenFile } from "./disk.js";

export class AppendFile {
  readonly #handle: OpenFile;
  readonly #confirm: () => void;
  #bytes: number;
  #waiting: { readonly line: string; readonly done: (error?: unknown) => void }[] = [];
  #writing = false;

  /**
   * @param bytes the file's length.
   * @param confirm throws where the file is not this writer's any more: called before each write, so that nothing is
   *   written then, and after it, since what was written meanwhile may be where nobody reads it.
   */
  constructor(handle: OpenFile, bytes: number, confirm: () => void = () => undefined) {
    this.#handle = handle;
    this.#confirm = confirm;
    this.#bytes = bytes;
  }

  /** Resolves once `line` is on the disk. @throws the system's error where it could not be written; what `confirm` throws. */
  append(line: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ line, done: (error) => (error === undefined ? resolve() : reject(error as Error)) });
      if (!this.#writing) void this.#write();
    });
  }

  /** What is appended from now on fails; what is under way ends. */
  close(): void {
    this.#handle.close().catch(() => undefined); // the end of the process does it too
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      let failure: unknown;
      try {
        this.#confirm();
        await this.#put(batch.map(({ line }) => line).join(""));
        this.#confirm();
      } catch (error) {
        failure = error;
      }
      for (const { done } of batch) done(failure);
    }
    this.#writing = false;
  }

  async #put(text: string): Promise<void> {
    try {
      await this.#handle.appendFile(text);
      await this.#handle.datasync();
      this.#bytes += Buffer.byteLength(text);
    } catch (error) {
      // A full disk may have taken half a line, and what is noted after it must stay readable.
      await this.#handle.truncate(this.#bytes).catch(() => undefined);
      throw error;
    }
  }
}
