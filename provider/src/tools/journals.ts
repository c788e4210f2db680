/**
 * The journals of this machine, where there are any: what a user says of a create settles its note as well, so that the next
 * `up` does not stumble over it.
 */
import type { Clock } from "../base/index.js";
import { holderNow } from "../files/index.js";
import { aboutWhom, type CreateRecord, splitMember } from "../state/index.js";
import { Inventory, type Live, look, reviseNow, type StorePaths, stackPathsHere } from "../store/index.js";

const MAX_WAIT_MS = 5000;
const POLL_MS = 100;

/** The journals of one stack, of whichever account. */
export class StackJournals {
  readonly #paths: readonly StorePaths[];

  /** @param stack `<organization>/<project>/<stack>`. @param cookieFile the setting, where it is set; the journals stand beside it. */
  constructor(stack: string, cookieFile: string | undefined, folder: string) {
    this.#paths = stackPathsHere(stack, cookieFile, folder);
  }

  /** What is not settled. A journal that can't be read is left to the next `up`, which says what is wrong with it. */
  notes(): CreateRecord[] {
    return this.#paths.flatMap((paths) => look(paths).creates);
  }

  /**
   * Waits a moment for a run that is under way, since one that was just killed may still be ending.
   * @returns whether there was one. @throws Error it goes on: what is in flight looks like what a killed run has left.
   */
  async waitForRun(clock: Clock): Promise<boolean> {
    const deadline = clock.monotonicMs() + MAX_WAIT_MS;
    for (let waited = false; ; waited = true) {
      const [holder] = this.#each(({ journal }) => holderNow(`${journal}.lock`, clock.wallMs()) ?? []).flat();
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
    const counts = this.#each(({ journal }) => reviseNow(journal, (entry) => (isAbout(entry) ? undefined : entry)));
    return counts.reduce((sum, amount) => sum + amount, 0);
  }

  /**
   * A user said what a create that only a journal knows has made: the next `up` takes that over.
   * @returns whether a journal has it now; none has where a run holds it.
   */
  noteCreated(urn: string, id: string): boolean {
    const about = (entry: CreateRecord) => aboutWhom(entry.key).urn === urn;
    const isNoted = (paths: StorePaths) => look(paths).creates.some((entry) => about(entry) && entry.id === id);
    return this.#each((paths) => {
      const open = look(paths).creates.findLast((entry) => about(entry) && entry.id === undefined);
      reviseNow(paths.journal, (entry) => {
        if (!about(entry) || open === undefined) return entry;
        const { told: _, ...sent } = entry;
        return entry.mark === open.mark ? { ...sent, id } : undefined;
      });
      return isNoted(paths);
    }).includes(true);
  }

  /** A user said that this object exists: from now on a rename of its resource is warned of. */
  noteLive(key: string, live: Live): void {
    for (const { objects } of this.#paths) new Inventory(objects).note(key, live);
  }

  #each<T>(use: (paths: StorePaths) => T): T[] {
    return this.#paths.flatMap((paths) => {
      try {
        return [use(paths)];
      } catch {
        return []; // see notes()
      }
    });
  }
}
