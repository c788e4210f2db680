/**
 * A run's use of its stack's journal: which creates were sent and what came back, until a later run has seen the
 * objects in the state. `operations/create.ts` asks the journal before each POST; each `diff` tells it what the state
 * has. Tests name these promises:
 *
 * M1. A create's record, with the moment, is on the disk before each sending. Otherwise a kill could lead to two
 *     objects.
 * M2. A record counts until one of these, so the journal knows each object that the state has lost:
 *     - a later run sees the record's object in the state that the run began with;
 *     - after a clean end, a later run sees another object there (not the one that the create was to replace);
 *     - a run reports that the object leaves the state;
 *     - a person or a search resolves the create, or the create certainly wasn't carried out;
 *     - the object is deleted.
 * M3. A key has at most one record. While that record is open or reported, nothing is sent for the resource.
 *     Exceptions: a reported record of another account, and a record whose object was deleted or is to be replaced.
 * M4. Only one run at a time writes a stack's journal. It checks before and after each write that it still is that run.
 * M5. A journal that can't be read or written stops every create. Only an unfinished last line is ignored, since
 *     nothing is sent before its line is complete.
 * M6. A record is never changed in place, and has nothing secret in it.
 *
 * | from | event | to |
 * |---|---|---|
 * | none, closed, confirmed, sent (again), an exception of M3 | a POST begins ({@link Journal.recordSending}) | sent |
 * | sent; none if only the state had it | a response or search has the id ({@link Journal.recordCreated}) | created |
 * | sent | certainly not carried out ({@link Journal.recordNotCarriedOut}) | closed, or the replaced object confirmed |
 * | created, and returned to the engine | the run ends cleanly ({@link Journal.closeNow}) | reported |
 * | none, or one not about another object | a `diff` shows an object ({@link Journal.recordSeen}) | confirmed |
 * | open, under another key | the state names the create ({@link Journal.recordSeen}) | closed, or confirmed |
 * | any, none | the program adopts an object for the key ({@link Journal.recordAdopted}) | confirmed |
 * | any but closed | the key changes ({@link Journal.moveRecord}) | closed; the same record under the new key |
 * | reported, confirmed | the object leaves the state, as reported to the user ({@link Journal.closeNow}) | closed |
 * | any, none | an answer to `pending` (`cli/pending-answers.ts`) | created, confirmed or closed |
 */
import type { JournalError } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { IsSameAccount } from "../settings/index.js";
import { objectKey, parseKey, sendingId } from "../state/index.js";
import {
  applyLine,
  closedLine,
  confirmedLine,
  isOpen,
  isSuperseded,
  type JournalEntry,
  type JournalLine,
  readJournal,
} from "./journal-entry.js";
import { JournalFile, type JournalOptions, journalErrorFrom } from "./journal-file.js";
import type { StackPlace } from "./places.js";

/** The account of a run. Another account's records say nothing about this run's objects. */
export interface RunAccount {
  account: string;
  isSameAccount: IsSameAccount;
}

/** Things that a `diff` shows in the state for a key: an object (`id`), creates, or both. */
interface Seen extends Pick<JournalEntry, "key" | "id" | "name" | "facts" | "deletes"> {
  /** Creates that the state accounts for: an unresolved one by its mark, any other as `sendingId` names it. */
  creates?: readonly string[];
}

export class Journal {
  readonly #file: JournalFile;
  #records: Map<string, JournalEntry> | undefined;
  #openAtStart: readonly JournalEntry[] = [];
  /** By {@link objectKey}, for this account: the key that has the object, or else one that had it. */
  #holders: Map<string, string> | undefined;
  #opening: Promise<void> | undefined;
  #trouble: JournalError | undefined;
  /** Keys whose creates this run has sent or resolved. They don't count as an earlier run's open creates. */
  readonly #keysOfThisRun = new Set<string>();
  /** Lines about objects in the state and about renames, until they are written. */
  readonly #unwrittenLines: JournalLine[] = [];
  /** The former key of each record that {@link moveRecord} has moved. In a preview, the file keeps the former key. */
  readonly #formerKeys = new Map<string, string>();
  /** Keys of created objects that were returned to the engine, perhaps with an error. */
  readonly #returnedKeys = new Set<string>();

  constructor(private readonly options: JournalOptions & RunAccount) {
    this.#file = new JournalFile(options);
  }

  get place(): StackPlace {
    return this.options;
  }

  get path(): string {
    return this.#file.path;
  }

  /**
   * Acquires the journal's lock before anything else in an `up`. Never fails: {@link assertUsable}, which only creates
   * call, throws the error.
   */
  openOnce(): Promise<void> {
    this.#opening ??= this.#file.open().then(
      // Records that were read before, without the lock, may be out of date.
      ({ records }) => void this.#begin(records),
      (error: JournalError) => {
        this.#trouble = error;
      },
    );
    return this.#opening;
  }

  #begin(records: Map<string, JournalEntry>) {
    this.#records = records;
    const open = [...records.values()].filter(isOpen);
    this.#openAtStart = open;
    this.accountsOfOpen = new Map(open.map(({ account, key }) => [account, key]));
    this.#holders = undefined;
    // A plugin knows only at the first create, update or delete that this is an `up`: earlier diffs count too.
    for (const line of this.#unwrittenLines) this.#apply(line);
    return records;
  }

  /** @throws JournalError if the journal can't be used (M4, M5). */
  async assertUsable(): Promise<void> {
    await this.openOnce();
    if (this.#trouble) throw this.#trouble;
  }

  /** Why an `up` could not use the journal, for a preview; undefined if it could. */
  get trouble(): JournalError | undefined {
    // Reading the records may set #trouble.
    void this.records;
    this.#trouble ??= this.#file.writeProblem();
    return this.#trouble;
  }

  get records(): Map<string, JournalEntry> {
    if (this.#records) return this.#records;
    try {
      return this.#begin(readJournal(this.path, this.options.disk).records);
    } catch (error) {
      this.#trouble ??= journalErrorFrom(this.path, error);
      return this.#begin(new Map());
    }
  }

  /** The record of a key; undefined if it is closed. */
  of(key: string): JournalEntry | undefined {
    const record = this.records.get(key);
    return record?.state === "closed" ? undefined : record;
  }

  /** An earlier run's create with this mark, under any key, if it is still open. */
  createWithMark(mark: string | undefined): JournalEntry | undefined {
    return this.openAtStart.find(
      (record) => record.mark === mark && this.isStillOpen(record.key),
    );
  }

  /** The creates that were open when this run began. Some may have been resolved since. */
  get openAtStart(): readonly JournalEntry[] {
    // Reading the records sets #openAtStart.
    void this.records;
    return this.#openAtStart;
  }

  /** Whether an earlier run's create is still open. */
  isStillOpen(key: string): boolean {
    const record = this.of(key);
    return record !== undefined && isOpen(record) && !this.#keysOfThisRun.has(key);
  }

  /** This account's confirmed and reported records of objects with this name on the platform. */
  confirmedNamed(kind: Kind["name"], name: unknown): readonly JournalEntry[] {
    if (typeof name !== "string") return [];
    return this.#ours.filter((record) => {
      const isSeen = record.state === "confirmed" || record.state === "reported";
      return isSeen && record.name === name && parseKey(record.key).kind === kind;
    });
  }

  /** The records of this account. */
  get #ours() {
    const { isSameAccount } = this.options;
    return [...this.records.values()].filter(({ account }) => isSameAccount(account));
  }

  /** Each account that open creates were sent for, with the key of one of them. Empty until the records are read. */
  accountsOfOpen: ReadonlyMap<string | undefined, string> = new Map();

  /** The key that has, or else had, an object of this account, as far as this machine knows. */
  holderOf(kind: Kind["name"], id: string): string | undefined {
    if (!this.#holders) {
      const current = this.#ours.filter(({ state }) => state !== "closed");
      // Only now: reading the records for the first time, as above, resets #holders.
      this.#holders = new Map();
      for (const { key, replaces } of current) this.#noteHolder(key, replaces);
      for (const each of current) this.#noteHolder(each.key, each.id);
    }
    return this.#holders.get(objectKey(kind, id));
  }

  #noteHolder(key: string, id: string | undefined) {
    if (id !== undefined) this.#holders?.set(objectKey(parseKey(key).kind, id), key);
  }

  /** Notes a create before it is sent. Nothing may be sent until this resolves (M1). @throws JournalError */
  async recordSending(record: Omit<JournalEntry, "state" | "id">): Promise<void> {
    this.#keysOfThisRun.add(record.key);
    await this.#write({ ...record, state: "sent" }, "Nothing was sent. ");
    // Only after the write: if that fails, nothing is sent, and this run must not believe otherwise.
    this.#apply({ ...record, state: "sent" });
  }

  /**
   * Notes the id of a create's object. @param found the create itself, for a search's result: the journal may lack it.
   * @throws JournalError if the id can't be noted; the object exists all the same.
   */
  async recordCreated(
    key: string,
    id: string,
    found: Partial<JournalEntry> = {},
  ): Promise<void> {
    this.#keysOfThisRun.add(key);
    await this.#applyAndWrite({ ...found, key, state: "created", id });
  }

  /** Notes that a create was certainly not carried out. @throws JournalError */
  async recordNotCarriedOut(key: string): Promise<void> {
    const { replaces, account } = this.of(key) ?? {};
    if (replaces === undefined) await this.#applyAndWrite(closedLine(key));
    // Without the name and the fingerprint, which describe the object that was not made.
    else await this.#applyAndWrite(confirmedLine({ key, account }, replaces));
  }

  /** Notes that the program names this object for the key, which resolves an open create of it. @throws JournalError */
  async recordAdopted(key: string, id: string): Promise<void> {
    this.#confirmFormer(key, id);
    await this.#applyAndWrite(this.#confirmedLine(key, id));
  }

  /**
   * The program has given a resource or member another key. The record moves there, unless the new key has a record; an
   * open record replaces a confirmed one, though. Written like {@link recordSeen}.
   */
  moveRecord(formerKey: string, key: string): void {
    const record = this.of(formerKey);
    const own = this.of(key);
    if (!record) return;
    if (own && (own.state !== "confirmed" || !isOpen(record))) return;
    this.#applyUnwritten({ ...record, key });
    this.#applyUnwritten(closedLine(formerKey));
    this.#formerKeys.set(key, formerKey);
  }

  /** The key under which the file has the record, by which commands find it. In a preview that is the former key. */
  keyOnDisk(key: string): string {
    return this.#formerKeys.get(key) ?? key;
  }

  /** Notes what the state has. Written with the next line or at the end: if lost, the next `diff` notes it again. */
  recordSeen({ key, id, creates = [], deletes = false, name, facts }: Seen): void {
    for (const create of creates) this.#settleCreate(key, create, id);
    if (id === undefined) return;
    this.#confirmFormer(key, id);
    if (this.#keysOfThisRun.has(key)) return;
    const known = this.of(key);
    const isSame =
      (known?.deletes ?? false) === deletes && (name === undefined || known?.name === name);
    if (known?.state === "confirmed" && known.id === id && isSame) return;
    if (known && isOther(known, id, creates)) return;
    this.#confirm(key, id, {
      deletes: deletes || undefined,
      ...(name !== undefined && { name, facts }),
    });
  }

  /**
   * The state names, under `key`, a create whose record has another key: confirms that record with `id`, or closes it.
   */
  #settleCreate(key: string, create: string, id: string | undefined) {
    const record = this.openAtStart.find((each) => isCreate(each, create));
    if (!record || record.key === key || !this.isStillOpen(record.key)) return;
    if (id !== undefined) this.#confirm(record.key, id);
    else this.#applyUnwritten(closedLine(record.key));
  }

  /**
   * If another key's record has this object, an alias or `existingId` moved the object here: confirms that record too.
   */
  #confirmFormer(key: string, id: string) {
    const former = this.of(this.holderOf(parseKey(key).kind, id) ?? key);
    if (!former || former.key === key || former.id !== id) return;
    if (former.state !== "confirmed") this.#confirm(former.key, id);
  }

  #confirm(key: string, id: string, shown: Partial<JournalEntry> = {}) {
    this.#applyUnwritten({ ...this.#confirmedLine(key, id), ...shown });
  }

  #applyUnwritten(line: JournalLine) {
    this.#apply(line);
    this.#unwrittenLines.push(line);
  }

  #confirmedLine(key: string, id: string) {
    const account = this.options.account || undefined;
    return confirmedLine({ ...this.of(key), key, account }, id);
  }

  markReturned(key: string): void {
    this.#returnedKeys.add(key);
  }

  /**
   * Called when the engine ends the run: synchronous, since hardly any time is left. Never fails: the next run takes
   * over a record that stays `created`. @param left keys whose objects leave the state, as reported to the user.
   * @param hasCheckpoints if false, Pulumi has not saved the state yet.
   */
  closeNow(left: readonly string[], hasCheckpoints = true): void {
    const recordsOf = (keys: Iterable<string>) =>
      [...keys].flatMap((key) => this.of(key) ?? []);
    const reported = recordsOf(this.#returnedKeys).filter(isOpen);
    const leaving = recordsOf(left).filter((record) => !isOpen(record));
    const common = { state: "reported", unsaved: !hasCheckpoints };
    this.#file.endNow([
      ...this.#unwrittenLines,
      ...reported.map(({ key, id }) => ({ ...common, key, id })),
      ...leaving.map(({ key }) => closedLine(key)),
    ]);
  }

  release(): void {
    this.#file.release();
  }

  /** Applied first: the line is true for this run even if the write fails. @throws JournalError */
  async #applyAndWrite(line: JournalLine) {
    this.#apply(line);
    await this.#write(line);
  }

  #apply(line: JournalLine) {
    applyLine(this.records, line);
    this.#noteHolder(line.key, line.id);
  }

  async #write(line: JournalLine, before = "") {
    await this.assertUsable();
    await this.#file.append([...this.#unwrittenLines.splice(0), line], before);
  }
}

/** Whether a record is about a create. @param create a mark, or as `sendingId` names it. */
function isCreate(record: JournalEntry, create: string) {
  return create === record.mark || create === sendingId(record);
}

/** Whether a record is about another object than the state's. @param creates the ones that the state names. */
function isOther(record: JournalEntry, id: string, creates: readonly string[]) {
  if (record.state === "confirmed") return false;
  if (creates.some((create) => isCreate(record, create))) return false;
  // The record's create is known to have made another object.
  if (record.id !== undefined) return record.id !== id && !isSuperseded(record, id);
  // The state still has the object that the create was to replace.
  return record.replaces === id;
}
