/**
 * A run's use of its stack's journal: which creates were sent and what came back, until a later run has seen the objects
 * in the state. Each POST in `operations/create.ts` asks it; a `diff` says what the state holds. Tests name the promises:
 *
 * M1. A create's record, with the moment, is on the disk before each sending. Otherwise a kill can lead to two objects.
 * M2. A record is believed until a later run has seen its object in the state that it began with (or, if its run ended
 *     cleanly, one that came later), or has said that it leaves the state, a person or a search has resolved it, its
 *     object was deleted, or the create was certainly not carried out. So what the state lost has a record.
 * M3. One record for an exact key at any time: nothing is sent for a resource while its own record is open or reported.
 * M4. One run at a time writes a stack's journal, and asks before and after each write whether it still is that run.
 * M5. A journal that can't be read or written stops every create. Only an unfinished last line is ignored: nothing was
 *     sent on its strength.
 * M6. A record is never changed in place, and holds nothing secret.
 *
 * | from | event | to |
 * |---|---|---|
 * | closed, confirmed | a POST is about to begin ({@link Journal.recordSending}) | sent |
 * | sent | an answer or a search with an id ({@link Journal.recordCreated}) | created |
 * | sent | surely not made ({@link Journal.recordNotCarriedOut}) | what it was before |
 * | created, and the engine was given it | the run ends cleanly ({@link Journal.closeNow}) | reported |
 * | any | the `diff` of an `up` shows its id or its mark ({@link Journal.recordSeen}) | confirmed |
 * | any | a person names an object for it ({@link Journal.recordAdopted}) | confirmed |
 * | any | it has another key now ({@link Journal.moveRecord}) | closed, and the same under that key |
 * | reported, confirmed | its object leaves the state, which was said ({@link Journal.closeNow}) | closed |
 */
import type { JournalError } from "../base/index.js";
import type { Kind } from "../kinds/index.js";
import type { IsSameAccount } from "../settings/index.js";
import { objectKey, parseKey, sendingOf } from "../state/index.js";
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

/** The account of a run. A record of another one says nothing about this one's objects. */
export interface RunAccount {
  account: string;
  isSameAccount: IsSameAccount;
}

/** What a `diff` shows of an object in the state; without an id, of a create of unknown outcome. */
interface Sight extends Pick<JournalEntry, "key" | "id" | "name" | "facts" | "deletes"> {
  /** Creates that the state looks after, or knows the outcome of: by mark, or as `sendingOf` names them. */
  creates?: readonly string[];
}

export class Journal {
  readonly #file: JournalFile;
  #records: Map<string, JournalEntry> | undefined;
  #openAtStart: readonly JournalEntry[] = [];
  /** By object of this account: the resource or member that has it, or else had it. */
  #holders: Map<string, string> | undefined;
  #opening: Promise<void> | undefined;
  #trouble: JournalError | undefined;
  /** What this run has sent, or resolved: its own creates are open for no other one. */
  readonly #keysOfThisRun = new Set<string>();
  /** What the state was seen to hold, until it is written. */
  readonly #unwrittenLines: JournalLine[] = [];
  /** Where {@link moveRecord} found the records of these keys: a preview leaves them there. */
  readonly #formerKeys = new Map<string, string>();
  /** What the engine was given, perhaps beside an error. */
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

  /** Acquires the journal's lock before anything else in an `up`. A failure waits for {@link assertUsable}, which only creates ask. */
  openOnce(): Promise<void> {
    this.#opening ??= this.#file.open().then(
      // What was read before, without the lock, may be out of date.
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
    // What a plugin's diffs saw before the first create showed that this is an `up`.
    for (const line of this.#unwrittenLines) this.#apply(line);
    return records;
  }

  /** @throws JournalError M4, M5. */
  async assertUsable(): Promise<void> {
    await this.openOnce();
    if (this.#trouble) throw this.#trouble;
  }

  /** Why nothing is known, for a preview. */
  get trouble(): JournalError | undefined {
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

  of(key: string): JournalEntry | undefined {
    const record = this.records.get(key);
    return record?.state === "closed" ? undefined : record;
  }

  /** An earlier run's open create with this mark, under whatever key. */
  openWithMark(mark: string | undefined): JournalEntry | undefined {
    return this.openAtStart.find(
      (record) => record.mark === mark && this.isStillOpen(record.key),
    );
  }

  /** Creates of earlier runs, as they were open when this run began. Some may have been resolved since. */
  get openAtStart(): readonly JournalEntry[] {
    // Reads them, and with them what is open.
    void this.records;
    return this.#openAtStart;
  }

  /** Whether an earlier run's create is still open. */
  isStillOpen(key: string): boolean {
    const record = this.of(key);
    return record !== undefined && isOpen(record) && !this.#keysOfThisRun.has(key);
  }

  /** What runs here have seen live under this platform name, for this account. */
  confirmedNamed(kind: Kind["name"], name: unknown): readonly JournalEntry[] {
    if (typeof name !== "string") return [];
    return this.#ours.filter((record) => {
      const isSeen = record.state === "confirmed" || record.state === "reported";
      return isSeen && record.name === name && parseKey(record.key).kind === kind;
    });
  }

  /** Those of this account. */
  get #ours() {
    const { isSameAccount } = this.options;
    return [...this.records.values()].filter(({ account }) => isSameAccount(account));
  }

  /** The accounts that open creates were sent for, each with one of these. */
  accountsOfOpen: ReadonlyMap<string | undefined, string> = new Map();

  /** The resource or member that has or had an object of this account, as far as runs here know. */
  holderOf(kind: Kind["name"], id: string): string | undefined {
    if (!this.#holders) {
      const current = this.#ours.filter(({ state }) => state !== "closed");
      // Not before, since a first reading begins anew.
      this.#holders = new Map();
      for (const { key, replaces } of current) this.#noteHolder(key, replaces);
      for (const each of current) this.#noteHolder(each.key, each.id);
    }
    return this.#holders.get(objectKey(kind, id));
  }

  #noteHolder(key: string, id: string | undefined) {
    if (id !== undefined) this.#holders?.set(objectKey(parseKey(key).kind, id), key);
  }

  /** Nothing may leave before it resolves (M1). @throws JournalError */
  async recordSending(record: Omit<JournalEntry, "state" | "id">): Promise<void> {
    this.#keysOfThisRun.add(record.key);
    await this.#write({ ...record, state: "sent" }, "Nothing was sent. ");
    // Not before: what the disk did not take was not sent.
    this.#apply({ ...record, state: "sent" });
  }

  /** @param found of a create that only the state knew. @throws JournalError it can't be noted; the create is done. */
  async recordCreated(
    key: string,
    id: string,
    found: Partial<JournalEntry> = {},
  ): Promise<void> {
    this.#keysOfThisRun.add(key);
    await this.#applyAndWrite({ ...found, key, state: "created", id });
  }

  /** It was surely not carried out. @throws JournalError */
  async recordNotCarriedOut(key: string): Promise<void> {
    const { replaces, account } = this.of(key) ?? {};
    if (replaces === undefined) await this.#applyAndWrite(closedLine(key));
    // Without the name and the body of what was not made.
    else await this.#applyAndWrite(confirmedLine({ key, account }, replaces));
  }

  /** A person names this object for the resource, or adopts it: what was open is resolved. @throws JournalError */
  async recordAdopted(key: string, id: string): Promise<void> {
    this.#seeFormer(key, id);
    await this.#applyAndWrite(this.#confirmedLine(key, id));
  }

  /**
   * The program says that what had this key has another one now: so does its record, unless that key has its own. An
   * open record replaces a confirmed one under the new key.
   * Written as in {@link recordSeen}.
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

  /** The key by which a command finds a record before this run has written anything. */
  keyOnDisk(key: string): string {
    return this.#formerKeys.get(key) ?? key;
  }

  /** The state holds this. Written with the next line or at the end: if lost, the next `diff` says it again. */
  recordSeen({ key, id, creates = [], deletes = false, name, facts }: Sight): void {
    for (const create of creates) this.#sawCreate(key, create, id);
    if (id === undefined) return;
    this.#seeFormer(key, id);
    if (this.#keysOfThisRun.has(key)) return;
    const known = this.of(key);
    const isSame =
      (known?.deletes ?? false) === deletes && (name === undefined || known?.name === name);
    if (known?.state === "confirmed" && known.id === id && isSame) return;
    if (known && isOther(known, id, creates)) return;
    this.#see(key, id, {
      deletes: deletes || undefined,
      ...(name !== undefined && { name, facts }),
    });
  }

  /** A create under another key is this object, or the unresolved create that the state has under this key. */
  #sawCreate(key: string, create: string, id: string | undefined) {
    const record = this.openAtStart.find((each) => isCreate(each, create));
    if (!record || record.key === key || !this.isStillOpen(record.key)) return;
    if (id !== undefined) this.#see(record.key, id);
    else this.#applyUnwritten(closedLine(record.key));
  }

  /** If another key's record has this object, an alias or `existingId` moved it here: that record is confirmed too. */
  #seeFormer(key: string, id: string) {
    const former = this.of(this.holderOf(parseKey(key).kind, id) ?? key);
    if (!former || former.key === key || former.id !== id) return;
    if (former.state !== "confirmed") this.#see(former.key, id);
  }

  #see(key: string, id: string, shown: Partial<JournalEntry> = {}) {
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
   * For the end that the engine gives a run, with hardly any time. Never fails: what stays `created` is asked for again.
   * @param left keys that a run of the whole program has not declared: their objects leave the state, and it said so.
   * @param hasCheckpoints if not, Pulumi has not saved the state yet.
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

  /** This is so, and this run goes by it, even if the disk does not take it. @throws JournalError */
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

/** @param create its mark, or as `sendingOf` names it. */
function isCreate(record: JournalEntry, create: string) {
  return create === record.mark || create === sendingOf(record);
}

/** Whether a record is about another object than the state's. @param creates that the state names. */
function isOther(record: JournalEntry, id: string, creates: readonly string[]) {
  if (record.state === "confirmed") return false;
  if (creates.some((create) => isCreate(record, create))) return false;
  // It is known to have made something else.
  if (record.id !== undefined) return record.id !== id && !isSuperseded(record, id);
  // What it was to replace is still there.
  return record.replaces === id;
}
