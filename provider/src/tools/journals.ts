/**
 * The journals of this machine, where there are any: what a user says of a create settles its note as well, so that the next
 * `up` does not stumble over it.
 */
import { basename, dirname } from "node:path";
import type { Clock } from "../base/index.js";
import { holderNow, journalsOnThisMachine, readNow } from "../files/index.js";
import { aboutWhom, type CreateRecord, splitMember } from "../state/index.js";
import { Inventory, inventoryPath, journalPath, type Live, readNotes, reviseNotes } from "../store/index.js";

const MAX_WAIT_MS = 5000;
const POLL_MS = 100;

/** The journals of one stack, of whichever account. */
export class StackJournals {
  readonly #stack: string;
  readonly #paths: readonly string[];

  /** @param stack `<organization>/<project>/<stack>`. @param cookieFile the setting, where it is set; the journals stand beside it. */
  constructor(stack: string, cookieFile: string | undefined, folder: string) {
    this.#stack = stack;
    const name = basename(journalPath("", stack));
    this.#paths = journalsOnThisMachine(cookieFile, folder).filter((path) => basename(path) === name);
  }

  /** What is not settled. A journal that can't be read is left to the next `up`, which says what is wrong with it. */
  notes(): CreateRecord[] {
    return this.#each((path) => this.#read(path)).flat();
  }

  /**
   * Waits a moment for a run that is under way, since one that was just killed may still be ending.
   * @returns whether there was one. @throws Error it goes on: what is in flight looks like what a killed run has left.
   */
  async waitForRun(clock: Clock): Promise<boolean> {
    const deadline = clock.monotonicMs() + MAX_WAIT_MS;
    for (let waited = false; ; waited = true) {
      const [holder] = this.#each((path) => holderNow(`${path}.lock`, clock.wallMs()) ?? []).flat();
      if (holder === undefined) return waited;
      if (clock.monotonicMs() > deadline) {
        throw new Error(
          `a run of this stack is under way on this machine (${holder}), so nobody can tell yet what is pending, and nothing ` +
            "was changed; let that run end, and run this again",
        );
      }
      await clock.sleep(POLL_MS);
    }
  }

  /** Forgets the notes about these resources, and of sets those about their members; and about these attempts. @returns how many those were. */
  forget(urns: readonly string[], marks: ReadonlySet<string> = new Set()): number {
    const isAbout = ({ key, mark }: CreateRecord) => {
      const { urn, member } = aboutWhom(key);
      return marks.has(mark) || urns.includes(urn) || (member !== undefined && urns.includes(splitMember(urn).of));
    };
    const counts = this.#each((path) => reviseNotes(path, (entry) => (isAbout(entry) ? undefined : entry)));
    return counts.reduce((sum, amount) => sum + amount, 0);
  }

  /**
   * A user said what a create that only a journal knows has made: the next `up` takes that over.
   * @returns whether a journal has it now; none has where a run holds it.
   */
  noteCreated(urn: string, id: string): boolean {
    const about = (entry: CreateRecord) => aboutWhom(entry.key).urn === urn;
    const isNoted = (path: string) => this.#read(path).some((entry) => about(entry) && entry.id === id);
    return this.#each((path) => {
      const open = this.#read(path).findLast((entry) => about(entry) && entry.id === undefined);
      reviseNotes(path, (entry) => {
        if (!about(entry) || open === undefined) return entry;
        const { told: _, ...sent } = entry;
        return entry.mark === open.mark ? { ...sent, id } : undefined;
      });
      return isNoted(path);
    }).includes(true);
  }

  /** A user said that this object exists: from now on a rename of its resource is warned of. */
  noteLive(key: string, live: Live): void {
    for (const path of this.#paths) new Inventory(inventoryPath(dirname(path), this.#stack)).note(key, live);
  }

  #read(path: string): CreateRecord[] {
    return [...readNotes(readNow(path) ?? "").values()];
  }

  #each<T>(use: (path: string) => T): T[] {
    return this.#paths.flatMap((path) => {
      try {
        return [use(path)];
      } catch {
        return []; // see notes()
      }
    });
  }
}
