/**
 * Remembers on the disk which creates were sent and what came back, until the engine's state holds it: for runs that are
 * killed in between, and for outcomes that nobody knows. One file for each stack, in use by one run at a time.
 */
import type { CreateRecord } from "../state/index.js";
import type { Attempt, Beginning, Ending, Reconciled, Unsent } from "./attempt.js";
import { JournalFile, type JournalOptions } from "./journal-file.js";
import { Ledger } from "./ledger.js";
import { type Note, sentNote } from "./notes.js";
import { keepOnly, reviseNotes } from "./revise.js";

export class Journal {
  readonly #file: JournalFile;
  /** ISO 8601. */
  readonly #now: () => string;
  /** What the state holds of the resources that earlier runs left notes about. */
  readonly #held = new Map<string, { readonly id: string; readonly fingerprint: string }>();
  /** What the engine will have saved when the run ends cleanly, and may ask for again until then. */
  readonly #savedAtEnd = new Set<string>();
  /** What the engine was handed, where it saves the state last of all. */
  readonly #handed: CreateRecord[] = [];
  readonly #savedLast: boolean;
  /** As the run began, read without a lock. */
  #leftovers: Promise<Ledger> | undefined;
  /** What the file remembers and the engine was not handed, once this run has opened it. */
  #ledger = new Ledger();
  #opening: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#file = new JournalFile(options);
    this.#savedLast = options.savedLast === true;
    this.#now = () => new Date(options.clock.wallMs()).toISOString();
  }

  get path(): string {
    return this.#file.path;
  }

  /**
   * What earlier runs have left, as this run began, without what the state is known to hold. No lock: for previews.
   * @throws {JournalError} it can't be read.
   */
  async leftovers(): Promise<CreateRecord[]> {
    return (await this.#readOnce()).all.filter((entry) => !this.#isHistory(entry));
  }

  /** As {@link leftovers}, of one resource: the one that must be settled first. */
  async leftover(key: string): Promise<CreateRecord | undefined> {
    return decisive((await this.#readOnce()).about(key).filter((entry) => !this.#isHistory(entry)));
  }

  /** As {@link leftovers}, of creates with this body. */
  async leftoversLike(fingerprint: string): Promise<CreateRecord[]> {
    return (await this.#readOnce()).like(fingerprint).filter((entry) => !this.#isHistory(entry));
  }

  /**
   * Begins a create, unless an earlier one of the same resource is not settled: an earlier run's, or this run's own, since
   * the engine may ask again for a create that ended in doubt (its error hooks do).
   * @throws {JournalError} damaged, not writable, or in use by another run.
   */
  async begin(create: Unsent): Promise<Beginning> {
    const { key, fingerprint } = create;
    await this.#open();
    const entry = decisive(this.#ledger.about(key));
    if (entry === undefined) return (await this.#takeOverFromOthers(create)) ?? this.#newAttempt(create);
    if (entry.id !== undefined && entry.fingerprint === fingerprint)
      return { kind: "taken-over", id: entry.id, mark: entry.mark };
    return {
      kind: "unresolved",
      entry: await this.#noteTold(entry),
      finish: (ending) => this.#finish(entry.mark, ending),
    };
  }

  /** The engine is handed what this create made, and will have saved it when the run ends cleanly. (The file keeps it until then.) */
  handOver(mark: string): void {
    const entry = this.#savedLast ? this.#ledger.find(mark) : undefined;
    if (entry !== undefined) this.#handed.push(entry);
    this.#ledger.remove(mark);
  }

  /** As {@link handOver}, beside an error: the engine's error hooks may have this run asked for the same again. */
  handOverBesideError(mark: string): void {
    if (!this.#savedLast) this.#savedAtEnd.add(mark);
  }

  /**
   * Forgets all notes about `key`, and those that are about the same object or create under another key: a user said what
   * became of it.
   * @param id the object's. @param mark the create's, where it is known.
   * @returns the ids that were noted for it.
   */
  async settle(key: string, id: string, mark?: string): Promise<string[]> {
    await this.#open();
    const about = this.#ledger.about(key);
    const elsewhere = this.#ledger.all.filter((entry) => entry.id === id || entry.mark === mark);
    for (const entry of new Set([...about, ...elsewhere])) await this.#forget(entry);
    return about.flatMap((entry) => entry.id ?? []);
  }

  /**
   * The state holds this resource with this id: what the journal says of it is history.
   * @param fingerprint of the body that the state's arguments make.
   * @returns what is not known to be about the object that the state holds.
   * @throws {JournalError} it can't be read.
   */
  async reconcile(key: string, id: string, fingerprint: () => string): Promise<Reconciled[]> {
    const noted = (await this.#readOnce()).about(key);
    if (noted.length === 0) return [];
    this.#held.set(key, { id, fingerprint: fingerprint() });
    for (const entry of this.#ledger.about(key)) {
      // Should this not reach the disk, the next run finds it out again.
      if (this.#isHistory(entry)) void this.#forget(entry).catch(() => undefined);
    }
    return noted.filter((entry) => !isOf(entry, id)).map((entry) => ({ entry, isForgotten: this.#isHistory(entry) }));
  }

  /** Lets another run have the journal, with all that is noted in it. */
  release(): Promise<void> {
    return this.#file.release();
  }

  /**
   * For the end of a run that the engine ends cleanly, when there is hardly any time: it has saved whatever it was handed
   * (or is about to, in the fast mode), so only what it was not handed stays. Synchronous.
   * @param declared the keys of all that the program declares; none where the run did not get to know them all.
   */
  closeNow(declared: ReadonlySet<string> | undefined): void {
    const marked = (entry: CreateRecord): CreateRecord =>
      entry.unclaimed || declared === undefined || declared.has(entry.key) ? entry : { ...entry, unclaimed: true };
    try {
      if (this.#file.use === "open") {
        const open = this.#ledger.all.filter(({ mark }) => !this.#savedAtEnd.has(mark));
        keepOnly(this.path, [...open.map(marked), ...this.#handed]);
      } else if (this.#file.use === "none" && this.#leftovers !== undefined) {
        // Not opened, since nothing was created: what an interrupted run left may be held by the state by now.
        reviseNotes(this.path, (entry) => (this.#isHistory(entry) ? undefined : marked(entry)));
      }
    } catch {
      // The notes stay, and the next run's diffs settle them.
    }
    this.#file.closeNow();
  }

  #newAttempt(create: Unsent): Beginning {
    const { mark } = create;
    let noted: Promise<void> | undefined;
    const attempt: Attempt = {
      mark,
      sending: async (at) => {
        noted ??= this.#noteSent({ ...create, at });
        await noted;
        this.#file.confirm(); // the note may be older than a long wait
      },
      finish: (ending) => this.#finish(mark, ending),
    };
    return { kind: "attempt", attempt };
  }

  /** What a run that ended meanwhile has created of the resource, with the same arguments: this run's engine does not know it. */
  async #takeOverFromOthers(create: Unsent): Promise<Beginning | undefined> {
    const id = this.#file.others.made(create);
    if (id === undefined) return undefined;
    const { mark } = create;
    // Should this run be killed, the next one takes it over from here.
    await this.#noteSent({ ...create, at: this.#now() });
    await this.#finish(mark, { kind: "created", id });
    return { kind: "taken-over", id, mark };
  }

  async #finish(mark: string, ending: Ending): Promise<void> {
    const sent = this.#ledger.find(mark);
    if (sent === undefined) return; // never noted, so never sent
    if (ending.kind === "not-created") return this.#forget(sent);
    if (ending.kind === "unresolved") {
      await this.#noteTold(sent);
      return;
    }
    const changed = ending.isChanged === true ? { fingerprint: "" } : {};
    this.#ledger.add({ ...sent, ...changed, id: ending.id });
    await this.#write({ note: "created", mark, id: ending.id, ...changed });
  }

  #noteSent(entry: CreateRecord): Promise<void> {
    this.#ledger.add(entry);
    return this.#write(sentNote(entry));
  }

  async #noteTold(entry: CreateRecord): Promise<CreateRecord> {
    const told: CreateRecord = { ...entry, told: true };
    this.#ledger.add(told);
    await this.#write({ note: "reported", mark: entry.mark });
    return told;
  }

  async #forget({ mark }: CreateRecord): Promise<void> {
    const forgotten = this.#write({ note: "settled", mark });
    this.#ledger.remove(mark);
    await forgotten;
  }

  #isHistory(entry: CreateRecord): boolean {
    const held = this.#held.get(entry.key);
    if (held === undefined || held.id.startsWith(UNRESOLVED_ID)) return false;
    // A note of a replacement has another body than the resource that it replaces.
    return isOf(entry, held.id) || (entry.id === undefined && held.fingerprint === entry.fingerprint);
  }

  async #write(note: Note): Promise<void> {
    await this.#open();
    await this.#file.append(note);
  }

  #open(): Promise<void> {
    this.#opening ??= this.#file
      .open((entry) => !this.#isHistory(entry))
      .then(
        (entries) => {
          // The state may have been found to hold more of them meanwhile.
          this.#ledger = new Ledger(entries.filter((entry) => !this.#isHistory(entry)));
        },
        (error: unknown) => {
          this.#opening = undefined;
          throw error;
        },
      );
    return this.#opening;
  }

  #readOnce(): Promise<Ledger> {
    // Read once: a run may look for thousands.
    this.#leftovers ??= this.#file.read().then(
      (entries) => new Ledger(entries),
      (error: unknown) => {
        this.#leftovers = undefined;
        throw error;
      },
    );
    return this.#leftovers;
  }
}

/** How ids of resources begin that the state holds as unresolved: nothing is settled by that. */
const UNRESOLVED_ID = "unresolved-";

/** Of several notes about a resource, the one that must be settled first. */
function decisive(noted: readonly CreateRecord[]): CreateRecord | undefined {
  return noted.find(({ id }) => id === undefined) ?? noted.at(-1);
}

/** Whether a note is about the object with this id, or about the unresolved resource of this id. */
function isOf(entry: CreateRecord, id: string): boolean {
  return entry.id === id || id.endsWith(entry.mark);
}
