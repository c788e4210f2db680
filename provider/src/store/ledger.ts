/**
 * What a journal remembers, in memory: found by the create and by the resource. Pure.
 */
import type { CreateRecord } from "../state/index.js";

export class Ledger {
  readonly #byMark = new Map<string, CreateRecord>();
  readonly #byKey = new Map<string, CreateRecord[]>();
  /** Made when it is asked for, of what is remembered then. */
  #byFingerprint: Map<string, CreateRecord[]> | undefined;

  constructor(entries: Iterable<CreateRecord> = []) {
    for (const entry of entries) this.add(entry);
  }

  get all(): CreateRecord[] {
    return [...this.#byMark.values()];
  }

  /** What is remembered of one resource, in the order of sending. */
  about(key: string): readonly CreateRecord[] {
    return this.#byKey.get(key) ?? [];
  }

  /** What is remembered of creates with this body. */
  like(fingerprint: string): readonly CreateRecord[] {
    this.#byFingerprint ??= Map.groupBy(this.#byMark.values(), (entry) => entry.fingerprint);
    return this.#byFingerprint.get(fingerprint) ?? [];
  }

  find(mark: string): CreateRecord | undefined {
    return this.#byMark.get(mark);
  }

  /** In the place of the one with the same mark, where there is one. */
  add(entry: CreateRecord): void {
    const about = this.about(entry.key);
    const isKnown = about.some(({ mark }) => mark === entry.mark);
    this.#byFingerprint = undefined;
    this.#byMark.set(entry.mark, entry);
    this.#byKey.set(
      entry.key,
      isKnown ? about.map((other) => (other.mark === entry.mark ? entry : other)) : [...about, entry],
    );
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
