/**
 * The journals of one stack on this machine, where there are any: what a user says of a create settles its note as well, so that
 * the next `up` does not stumble over it. While a command changes the stack, it holds their locks, as a run does.
 */
import { randomUUID } from "node:crypto";
import type { Clock } from "../base/index.js";
import { holderNow, LockHeld } from "../files/index.js";
import { aboutWhom, type CreateRecord, splitMember } from "../state/index.js";
import {
  type Account,
  type HeldJournal,
  Inventory,
  type Live,
  pathsIn,
  placesOf,
  type Revise,
  recordsIn,
  reviseNow,
  type StorePaths,
  stackPathsHere,
  withJournal,
} from "../store/index.js";

const MAX_WAIT_MS = 5000;
const POLL_MS = 100;

/** The journals of one stack, of whichever account. */
export class StackJournals {
  readonly #cookieFile: string | undefined;
  readonly #folder: string;
  readonly #account: Account | undefined;
  /** By the journal's path. A stack that was renamed since its last run has its journals under the former name. */
  readonly #paths = new Map<string, StorePaths>();
  readonly #held = new Map<string, HeldJournal>();

  /**
   * @param stack `<organization>/<project>/<stack>`. @param cookieFile the setting, where it is set; the journals stand beside it.
   * @param account of the settings, where it is known: its journal is locked too, though no run has written it yet.
   */
  constructor(stack: string | undefined, cookieFile: string | undefined, folder: string, account?: Account) {
    this.#cookieFile = cookieFile;
    this.#folder = folder;
    this.#account = account;
    if (stack !== undefined) this.#add(stack);
  }

  #add(stack: string): void {
    for (const paths of stackPathsHere(stack, this.#cookieFile, this.#folder)) this.#paths.set(paths.journal, paths);
  }

  /** What is not settled. @throws Error about a journal that can't be read: then nobody can tell what is pending. */
  notes(): CreateRecord[] {
    return [...this.#paths.keys()].flatMap((journal) => {
      try {
        return recordsIn(journal);
      } catch (error) {
        throw new Error(
          `the journal ${journal} can't be read (${(error as Error).message}), so nobody can tell what is pending, and nothing was changed; ` +
            "the next `pulumi up` says what to do about it",
        );
      }
    });
  }

  /**
   * Waits a moment for a run that is under way, since one that was just killed may still be ending.
   * @returns whether there was one. @throws Error it goes on: what is in flight looks like what a killed run has left.
   */
  async waitForRun(clock: Clock): Promise<boolean> {
    const deadline = clock.monotonicMs() + MAX_WAIT_MS;
    for (let waited = false; ; waited = true) {
      const holder = [...this.#paths.keys()].map((path) => holderNow(`${path}.lock`, clock.wallMs())).find(Boolean);
      if (holder === undefined) return waited;
      if (clock.monotonicMs() > deadline) throw underWay(holder);
      await clock.sleep(POLL_MS);
    }
  }

  /** Holds all of them that are not held yet, while `work` runs. @param stack the name, or the former one. @throws Error in words. */
  async whileHeld<T>(stack: string | undefined, clock: Clock, work: () => Promise<T>): Promise<T> {
    if (stack === undefined) return work();
    this.#add(stack);
    const folder = this.#account && placesOf(this.#account, "", this.#cookieFile, this.#folder).journalFolder;
    const own = folder === undefined ? [] : [pathsIn(folder, stack).journal];
    return this.#hold([...new Set([...this.#paths.keys(), ...own])], clock, work);
  }

  async #hold<T>([journal, ...rest]: readonly string[], clock: Clock, work: () => Promise<T>): Promise<T> {
    if (journal === undefined) return work();
    if (this.#held.has(journal)) return this.#hold(rest, clock, work);
    let isHeld = false;
    try {
      return await withJournal(journal, { clock, unique: randomUUID(), maxWaitMs: MAX_WAIT_MS }, async (held) => {
        isHeld = true;
        this.#held.set(journal, held);
        return this.#hold(rest, clock, work).finally(() => this.#held.delete(journal));
      });
    } catch (error) {
      if (isHeld) throw error;
      if (error instanceof LockHeld) throw underWay(error.holder);
      // Where no journal can be written, no run can hold one either.
      if (!this.#paths.has(journal)) return this.#hold(rest, clock, work);
      throw new Error(`the journal ${journal} can't be locked (${(error as Error).message}), and nothing was changed`);
    }
  }

  /** Forgets the notes about these resources, and of sets those about their members; and about these attempts. @returns how many those were. */
  forget(urns: readonly string[], marks: ReadonlySet<string> = new Set()): number {
    const isAbout = ({ key, mark }: CreateRecord) => {
      const { urn, member } = aboutWhom(key);
      return marks.has(mark) || urns.includes(urn) || (member !== undefined && urns.includes(splitMember(urn).of));
    };
    const counts = [...this.#paths.keys()].map((path) =>
      this.#revise(path, (entry) => (isAbout(entry) ? undefined : entry)),
    );
    return counts.reduce((sum, amount) => sum + amount, 0);
  }

  /**
   * A user said what a create that only a journal knows has made: the next `up` takes that over.
   * @returns whether a journal has it now; none has where a run holds it.
   */
  noteCreated(urn: string, id: string): boolean {
    const about = (entry: CreateRecord) => aboutWhom(entry.key).urn === urn;
    return [...this.#paths.keys()]
      .map((path) => {
        const open = recordsIn(path).findLast((entry) => about(entry) && entry.id === undefined);
        this.#revise(path, (entry) => {
          if (!about(entry) || open === undefined) return entry;
          const { told: _, ...sent } = entry;
          return entry.mark === open.mark ? { ...sent, id } : undefined;
        });
        return recordsIn(path).some((entry) => about(entry) && entry.id === id);
      })
      .includes(true);
  }

  /** A user said that this object exists: from now on a rename of its resource is warned of. */
  noteLive(key: string, live: Live): void {
    for (const { objects } of this.#paths.values()) new Inventory(objects).note(key, live);
  }

  /** @returns how many notes were forgotten. */
  #revise(journal: string, revise: Revise): number {
    return this.#held.get(journal)?.revise(revise) ?? reviseNow(journal, revise);
  }
}

function underWay(holder: string): Error {
  return new Error(
    `a run of this stack is under way on this machine (${holder}), so nobody can tell yet what is pending, and nothing ` +
      "was changed; let that run end, and run this again",
  );
}
