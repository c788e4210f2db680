/**
 * What a journal remembers, in memory: found by the create and by the resource. Pure.
 */
import type { Remembered } from "./notes.js";

export class Ledger {
  readonly #byMark = new Map<string, Remembered>();
  readonly #byKey = new Map<string, Remembered[]>();
  /** Made when it is asked for, of what is remembered then. */
  #byFingerprint: Map<string, Remembered[]> | undefined;

  constructor(entries: Iterable<Remembered> = []) {
    for (const entry of entries) this.add(entry);
  }

  get all(): Remembered[] {
    return [...this.#byMark.values()];
  }

  /** What is remembered of one resource, in the order of sending. */
  about(key: string): readonly Remembered[] {
    return this.#byKey.get(key) ?? [];
  }

  /** What is remembered of creates with this body. */
  like(fingerprint: string): readonly Remembered[] {
    this.#byFingerprint ??= Map.groupBy(this.#byMark.values(), (entry) => entry.fingerprint);
    return this.#byFingerprint.get(fingerprint) ?? [];
  }

  find(mark: string): Remembered | undefined {
    return this.#byMark.get(mark);
  }

  add(entry: Remembered): void {
    this.#byFingerprint = undefined;
    this.#byMark.set(entry.mark, entry);
    this.#byKey.set(entry.key, [...this.about(entry.key), entry]);
  }

  remove(mark: string): void {
    const entry = this.#byMark.get(mark);
    if (entry === undefined) return;
    this.#byMark.delete(mark);
    this.#byFingerprint = undefined;
    const others = this.about(entry.key).filter((other) => other !== entry);
    if (others.length > 0) this.#byKey.set(entry.key, others);
    else this.#byKey.delete(entry.key);
  }
}
