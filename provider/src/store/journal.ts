/**
 * A run's use of its stack's journal: which creates were sent and what came back, until the engine's state holds what they made.
 * Before a create is sent its note is on the disk here. The provider of this run and of later ones reads it, and through `notes.ts` the
 * program's half, `pending`, and a provider that asks about every stack (`everyStack`). If there is a field for marks, `check` has
 * also put a mark into the resource's inputs (`__mark`): the provider sends it, and `pending` reads it in the engine's record of an
 * interrupted run.
 * `provider/create.ts` asks the journal before each POST; a `diff` says to it what the state holds. It keeps these promises, and the
 * tests name them by number.
 *
 * J1. Before each sending of a create its record, with the moment, is on the disk. Otherwise a kill leaves a live object that the
 *     next run makes again.
 * J2. A record stays until the engine has saved its object, until somebody has settled it, until its object was deleted, or until the
 *     create was certainly not carried out. Otherwise the same.
 * J3. Nothing is sent for a resource while a create of it is not settled: an earlier run's, or one of this run that the engine's
 *     error hooks ask for again. Otherwise each retry makes one more object.
 * J4. One run at a time writes a stack's journal. It asks whether it still is that run before and after each write and before
 *     each sending. Otherwise two runs send the same create.
 * J5. A run whose engine may have read the state before another run of the stack ended sends nothing, and writes into the journal
 *     again what that other run's engine was given. Otherwise it makes that again, or the next run does, since the older state is saved last.
 * J6. A journal that can't be read or written stops every create. Only an unfinished last line is ignored, because
 *     nothing was sent on its strength.
 * J7. What the engine was given is forgotten only at the run's clean end; if the engine saves the state after that, only when a later
 *     run sees it in the state, or has said that its object leaves it. Otherwise a kill between the two forgets a live object.
 * J8. A record is never changed in place, and holds nothing secret.
 *
 * The order of calls: `notSettled`, `notSettledOf`, `notSettledLike` and `reconcile` look at the journal as it is, without its lock.
 * The first `begin`, `settle`, `takeIn` or `expectNewest` takes the lock and reads it again. A create goes `begin`, then for each sending `sending`, then
 * `ended` one or more times, then `handOver` when the engine is given the outcome. `closeNow` or `release` is the last call.
 */
import { type CreateRecord, isUnresolvedId, resourceKeyIn } from "../state/index.js";
import { JournalFile, type JournalOptions } from "./journal-file.js";
import { type Note, notesFor, sentNote } from "./notes.js";

/** A create that is about to be sent. */
export type Unsent = Omit<CreateRecord, "at">;

export type Beginning =
  | ({ readonly kind: "send" } & Sending)
  /** An interrupted run has made just this: it is the engine's now, and nothing is sent. */
  | { readonly kind: "taken over"; readonly record: Made }
  /**
   * It was sent before, and the answer is not known, or the object is another than is wanted now. Nothing is sent. `wasReported`: an
   * earlier error has said that nobody knows what became of it.
   */
  | {
      readonly kind: "earlier";
      readonly record: CreateRecord;
      readonly wasReported: true | undefined;
      readonly ended: Sending["ended"];
    };

/** A create whose object is known. */
export type Made = CreateRecord & { readonly id: string };

/** One create of this run, from before it is sent to its outcome. */
export interface Sending {
  /**
   * Called before each sending; what it notes is on the disk when it resolves.
   * @param at the moment, ISO 8601.
   * @throws {JournalError} it can't be noted, or another run has taken over the journal: nothing may be sent.
   */
  sending(at: string): Promise<void>;
  /** Called before the engine gets this answer. @throws {JournalError} it can't be noted; the create has ended all the same. */
  ended(ending: Ending): Promise<void>;
}

/** How one create ended, as far as the journal cares. */
export type Ending =
  /** `isChanged`: with arguments that this record does not know, since it is about to be updated. */
  | { readonly kind: "created"; readonly id: string; readonly isChanged?: boolean }
  | { readonly kind: "not-created" }
  | { readonly kind: "unresolved" };

/** A record that the state may have made history of. */
interface Reconciled {
  readonly record: CreateRecord;
  /** It has no id and the same body, so most likely it is the object that the state holds: forgotten. */
  readonly isForgotten: boolean;
}

/**
 * What has become of a record in this run. `earlier`: an earlier run's, not settled. `sent`: this run's, and the engine was not given
 * its outcome. `handed beside an error`: the engine has it, and may ask for it again. `history`: the state holds it. Any other record
 * that the engine was given is kept in the file alone: a run may create tens of thousands.
 */
type Fate = "earlier" | "sent" | "handed beside an error" | "history";

interface Noted {
  readonly record: CreateRecord;
  readonly fate: Fate;
}

export class Journal {
  readonly #file: JournalFile;
  readonly #savedLast: boolean;
  /** By mark, in the order of sending. */
  readonly #remembered = new Map<string, Noted>();
  readonly #marksByKey = new Map<string, Set<string>>();
  /** Records of earlier runs by the fingerprint of their bodies; made when it is first asked for. */
  #earlierByBody: ReadonlyMap<string, readonly CreateRecord[]> | undefined;
  #reading: Promise<void> | undefined;
  #opening: Promise<void> | undefined;

  constructor(options: JournalOptions) {
    this.#file = new JournalFile(options);
    this.#savedLast = options.savedLast === true;
  }

  get path(): string {
    return this.#file.path;
  }

  /** Whether J5 will stop this run's creates, as far as the journal was read. */
  get isOvertaken(): boolean {
    return this.#file.isOvertaken;
  }

  /** The creates of earlier runs that nothing has settled. @throws {JournalError} it can't be read. */
  async notSettled(): Promise<CreateRecord[]> {
    await this.#read();
    return this.#withFate(this.#remembered.keys(), ["earlier"]);
  }

  /** As {@link notSettled}, of one resource: the one that must be settled first is the first. */
  async notSettledOf(key: string): Promise<CreateRecord[]> {
    await this.#read();
    return inOrder(this.#about(key, ["earlier"]));
  }

  /** As {@link notSettled}, of creates with this body. */
  async notSettledLike(fingerprint: string): Promise<CreateRecord[]> {
    await this.#read();
    this.#earlierByBody ??= Map.groupBy(
      this.#withFate(this.#remembered.keys(), ["earlier"]),
      (record) => record.fingerprint,
    );
    // Some may have been settled since.
    const marks = (this.#earlierByBody.get(fingerprint) ?? []).map(({ mark }) => mark);
    return this.#withFate(marks, ["earlier"]);
  }

  /** Before anything is changed on the platform: takes the lock, as a create does. @throws {JournalError} J4, J5, J6. */
  async expectNewest(): Promise<void> {
    await this.#open();
  }

  /** Begins a create, unless an earlier one of the same resource is not settled (J3). @throws {JournalError} J4, J5, J6. */
  async begin(create: Unsent): Promise<Beginning> {
    const { key, mark, fingerprint } = create;
    await this.#open();
    const [earlier] = inOrder(this.#about(key, ANY_NOT_SETTLED));
    if (earlier === undefined) {
      return {
        kind: "send",
        sending: (at) => this.#send({ ...create, at }),
        ended: (ending) => this.#end(mark, ending),
      };
    }
    const { id } = earlier;
    if (id !== undefined && earlier.fingerprint === fingerprint)
      return { kind: "taken over", record: { ...earlier, id } };
    const record = await this.#noteReported(earlier);
    return {
      kind: "earlier",
      record,
      wasReported: earlier.isReported,
      ended: (ending) => this.#end(record.mark, ending),
    };
  }

  /** A create of an earlier run has ended, as {@link Sending.ended} says. */
  ended(mark: string, ending: Ending): Promise<void> {
    return this.#end(mark, ending);
  }

  /** Takes in a record of the journal that the stack had under a former name. @throws {JournalError} J4, J5, J6. */
  async takeIn(record: CreateRecord): Promise<void> {
    await this.#open();
    if (this.#remembered.has(record.mark)) return;
    this.#put(record, "earlier");
    await Promise.all(notesFor(record).map((note) => this.#write(note)));
  }

  /** The engine is handed what this create made, and will have saved it when the run ends cleanly. */
  handOver(mark: string): void {
    this.#drop(mark);
  }

  /** As {@link handOver}, beside an error: the engine's error hooks may have this run asked for the same again. */
  handOverBesideError(mark: string): void {
    if (!this.#savedLast) this.#settleAs(mark, "handed beside an error");
  }

  /** A user said what became of these creates, or their objects were deleted: they are forgotten. @returns them. */
  async settle(isSettled: (record: CreateRecord) => boolean): Promise<CreateRecord[]> {
    await this.#open();
    const settled = this.#withFate(this.#remembered.keys(), ANY_NOT_SETTLED).filter(isSettled);
    for (const { mark } of settled) await this.#forget(mark);
    return settled;
  }

  /**
   * The state holds this resource with this id: what the journal says of it is history.
   * @param fingerprint of the body that the state's arguments make.
   * @returns what is not known to be about the object that the state holds.
   * @throws {JournalError} it can't be read.
   */
  async reconcile(key: string, id: string, fingerprint: () => string): Promise<Reconciled[]> {
    await this.#read();
    const noted = this.#about(key, [...ANY_NOT_SETTLED, "history"]);
    if (noted.length === 0) return [];
    const body = fingerprint();
    const found = noted.map((record) => {
      // A replacement was to take the place of what the state holds: that is another object, also where the body is the same.
      const isAsHeld = record.id === undefined && record.fingerprint === body && record.replaces !== id;
      const isHeld = isOf(record, id) || isAsHeld;
      return { record, isForgotten: isHeld && !isUnresolvedId(id) };
    });
    for (const { record, isForgotten } of found) {
      if (!isForgotten || this.#remembered.get(record.mark)?.fate === "history") continue;
      this.#settleAs(record.mark, "history");
      // If this does not reach the disk, the next run finds it out again.
      if (this.#file.use === "held") void this.#file.append({ note: "settled", mark: record.mark }).catch(() => {});
    }
    return found.filter(({ record }) => !isOf(record, id));
  }

  /** Lets another run have the journal, with all that is noted in it. */
  release(): void {
    this.#file.release();
  }

  /**
   * For the end of a run that the engine ends cleanly, when there is hardly any time: it has saved whatever it was handed (or is
   * about to, see `savedLast`), so only what it was not handed stays (J7). Synchronous.
   * @param declared the keys of all that the program declares; none where the run did not get to know them all.
   * @param isUp the run's engine has saved the state. @param isSaid whether this run has said that the object of a record leaves the state.
   */
  closeNow(
    declared: ReadonlySet<string> | undefined,
    isUp = false,
    isSaid: (record: CreateRecord) => boolean = () => false,
  ): void {
    let saved: ReadonlySet<string> | undefined;
    /** The engine had saved it, and in an `up` it leaves the state: no later run has anything to do with it. */
    const hasLeft = (record: CreateRecord) => {
      if (declared?.has(resourceKeyIn(record.key)) !== false || !isSaid(record)) return false;
      saved ??= this.#file.savedBefore();
      return saved.has(record.mark);
    };
    const atEnd = (record: CreateRecord): CreateRecord | undefined => {
      if (declared === undefined || declared.has(record.key)) return record;
      if (hasLeft(record)) return isUp ? undefined : record;
      return record.unclaimed ? record : { ...record, unclaimed: true };
    };
    try {
      if (this.#file.use === "held") {
        const kept = this.#withFate(this.#remembered.keys(), ["earlier", "sent"]);
        const handed = this.#file.recordsNow().filter(({ mark }) => {
          const fate = this.#remembered.get(mark)?.fate;
          return fate === undefined || fate === "handed beside an error";
        });
        const unseen = this.#savedLast ? handed.map((record): CreateRecord => ({ ...record, isHanded: true })) : [];
        this.#file.endNow([...kept.flatMap((record) => atEnd(record) ?? []), ...unseen], handed);
      } else if (this.#file.use === "none" && this.#reading !== undefined) {
        // Not opened, since nothing was created: what an interrupted run left may be held by the state by now.
        if (isUp) this.#file.putBackNow();
        this.#file.reviseNow((record) =>
          this.#remembered.get(record.mark)?.fate === "history" ? undefined : atEnd(record),
        );
      }
    } catch {
      // The notes stay, and the next run's diffs settle them.
    }
    this.#file.release();
  }

  async #send(record: CreateRecord): Promise<void> {
    this.#put(record, "sent");
    await this.#write(sentNote(record));
    this.#file.confirm(); // the note may have waited for others
  }

  async #end(mark: string, ending: Ending): Promise<void> {
    const sent = this.#remembered.get(mark);
    if (sent === undefined) return; // never noted, so never sent
    if (ending.kind === "not-created") return this.#forget(mark);
    if (ending.kind === "unresolved") {
      await this.#noteReported(sent.record);
      return;
    }
    const { id } = ending;
    const changed = ending.isChanged === true ? { fingerprint: "" } : {};
    this.#put({ ...sent.record, ...changed, id }, sent.fate);
    await this.#write({ note: "created", mark, id, ...changed });
  }

  async #noteReported(record: CreateRecord): Promise<CreateRecord> {
    const reported: CreateRecord = { ...record, isReported: true };
    this.#put(reported, this.#remembered.get(record.mark)?.fate ?? "sent");
    await this.#write({ note: "reported", mark: record.mark });
    return reported;
  }

  async #forget(mark: string): Promise<void> {
    const forgotten = this.#write({ note: "settled", mark });
    this.#drop(mark);
    await forgotten;
  }

  async #write(note: Note): Promise<void> {
    await this.#open();
    await this.#file.append(note);
  }

  #put(record: CreateRecord, fate: Fate): void {
    this.#remembered.set(record.mark, { record, fate });
    const marks = this.#marksByKey.get(record.key);
    if (marks === undefined) this.#marksByKey.set(record.key, new Set([record.mark]));
    else marks.add(record.mark);
  }

  #drop(mark: string): void {
    const key = this.#remembered.get(mark)?.record.key;
    this.#remembered.delete(mark);
    const marks = key === undefined ? undefined : this.#marksByKey.get(key);
    if (key === undefined || marks === undefined) return;
    marks.delete(mark);
    if (marks.size === 0) this.#marksByKey.delete(key);
  }

  #settleAs(mark: string, fate: Fate): void {
    const found = this.#remembered.get(mark);
    if (found !== undefined) this.#put(found.record, fate);
  }

  #about(key: string, fates: readonly Fate[]): CreateRecord[] {
    return this.#withFate(this.#marksByKey.get(key) ?? [], fates).filter((record) => record.key === key);
  }

  #withFate(marks: Iterable<string>, fates: readonly Fate[]): CreateRecord[] {
    return [...marks].flatMap((mark) => {
      const found = this.#remembered.get(mark);
      return found !== undefined && fates.includes(found.fate) ? [found.record] : [];
    });
  }

  /** What the file holds takes the place of what was read of it before. */
  #take(records: readonly CreateRecord[]): void {
    for (const [mark, { fate }] of this.#remembered) if (fate === "earlier") this.#remembered.delete(mark);
    for (const record of records) {
      if (this.#remembered.get(record.mark)?.fate !== "history") this.#put(record, "earlier");
    }
    this.#earlierByBody = undefined;
  }

  /** Once: a run may look for thousands. */
  #read(): Promise<void> {
    this.#reading ??= this.#file.read().then(
      (records) => {
        if (this.#file.use !== "held") this.#take(records);
      },
      (error: unknown) => {
        this.#reading = undefined;
        throw error;
      },
    );
    return this.#reading;
  }

  #open(): Promise<void> {
    this.#opening ??= this.#file
      .open((record) => this.#remembered.get(record.mark)?.fate !== "history")
      .then(
        (records) => this.#take(records),
        (error: unknown) => {
          this.#opening = undefined;
          throw error;
        },
      );
    return this.#opening;
  }
}

/** Of this run too. */
const ANY_NOT_SETTLED: readonly Fate[] = ["earlier", "sent", "handed beside an error"];

/** Of several records of a resource, those that nobody knows the outcome of come first, then the last that has an id. */
function inOrder(records: readonly CreateRecord[]): CreateRecord[] {
  return [...records.filter(({ id }) => id === undefined), ...records.filter(({ id }) => id !== undefined).reverse()];
}

/** Whether a record is about the object with this id, or about the unresolved resource of this id. */
function isOf(record: CreateRecord, id: string): boolean {
  return record.id === id || id.endsWith(record.mark);
}
