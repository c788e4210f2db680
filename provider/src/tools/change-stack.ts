/**
 * {@link changeStack} is the one way in which a command changes a stack. It holds the lock of the stack's journals on this machine from
 * beginning to end, judges what it finds, and looks again right before it changes anything. So two commands at once are done one after the
 * other, and what a run saved meanwhile is not overwritten. A command that is killed between any two steps finishes when it is called again.
 * Of two on two machines, which share no lock, one is refused: see {@link claim}.
 *
 * {@link StackJournals} are the journals of one stack on this machine, of whichever account, where there are any: found, read, held and
 * changed. What a user says of a create settles its note as well, so that the next `up` does not stumble over it; and what was known before
 * is noted, so that it can be taken back.
 */
import { randomUUID } from "node:crypto";
import { dirname } from "node:path";
import { asTyped, systemClock } from "../base/index.js";
import { holderNow, LockHeld } from "../files/index.js";
import {
  accountOf,
  describeSettingProblem,
  describeSettingProblems,
  readSettings,
  type SettingsReading,
} from "../settings/index.js";
import { aboutWhom, type CreateRecord, keyInStack, objectKey } from "../state/index.js";
import {
  type Account,
  type HeldJournal,
  Inventory,
  joinedRecords,
  type Live,
  look,
  pathsIn,
  placesOf,
  readSettlements,
  recordsIn,
  Seen,
  type Settlement,
  type StorePaths,
  seenIn,
  stackPathsHere,
  withJournal,
  writeSettlements,
} from "../store/index.js";
import type { StackChoice } from "./harness.js";
import { exportOf, importInto, programFolder, setTag, settingsOf, stackName, tagOf } from "./pulumi.js";
import { type ExportedStack, readExport, stackNamesIn } from "./stack-export.js";

/** The journals of a stack, beside the cookie file that its settings name. */
export async function journalsOf(choice: StackChoice): Promise<StackJournals> {
  const [given, name] = await Promise.all([settingsOf(["baseUrl", "email", "cookieFile"], choice), stackName(choice)]);
  const reading = readSettings({
    config: (key) => (key === "cookieFile" ? undefined : given[key]),
    environment: {},
    mayLackPassword: true,
  });
  const place = { cookieFile: given.cookieFile, folder: programFolder(choice), reading };
  return new StackJournals(place, name);
}

interface Place {
  /** The setting, where it is set: the journals stand beside that file. */
  readonly cookieFile: string | undefined;
  /** The program's. */
  readonly folder: string;
  /** The address and the account, where they are known. */
  readonly reading?: SettingsReading;
}

const MAX_WAIT_MS = 5000;
const POLL_MS = 100;

export class StackJournals {
  readonly #place: Place;
  /** By the journal's path. */
  readonly #paths = new Map<string, StorePaths>();
  readonly #held = new Map<string, HeldJournal>();
  readonly #names = new Set<string>();
  readonly #now: string | undefined;

  /** @param name none where nobody knows it. */
  constructor(place: Place, name?: string) {
    this.#place = place;
    this.#now = name;
    this.#add(name === undefined ? [] : [name]);
  }

  /** A stack that was renamed after a run has journals under its former name too, which its resources say. */
  andThoseOf(stack: ExportedStack): this {
    this.#add(stackNamesIn(stack));
    return this;
  }

  /** `<organization>/<project>/<stack>`: the name of now first, then the one before it was renamed. */
  get names(): ReadonlySet<string> {
    return this.#names;
  }

  #add(names: Iterable<string>): void {
    const { cookieFile, folder } = this.#place;
    for (const name of names) {
      this.#names.add(name);
      for (const paths of stackPathsHere(name, cookieFile, folder)) this.#paths.set(paths.journal, paths);
    }
  }

  /** The address and account that the settings name. @throws Error in words. */
  account(): Account {
    const { settings, problems = [] } = this.#place.reading ?? {};
    if (settings !== undefined && problems.length === 0) return settings;
    throw new Error(problems.map((problem) => describeSettingProblem(problem)).join("\n"));
  }

  /** The account that creates were sent to, if no resource says it. @throws Error in words, if that is not certain. */
  accountSentTo(): string {
    const unknown = "nothing was settled: no resource in the state says which account the creates were sent to, and";
    const { settings, problems = [] } = this.#place.reading ?? {};
    if (settings === undefined || problems.length > 0)
      throw new Error(`${unknown} the settings do not either:\n${describeSettingProblems(problems)}`);
    const account = accountOf(settings);
    const own = this.#ownPaths().map(({ journal }) => journal);
    const noted = [...this.#paths.keys()].filter((journal) => recordsIn(journal).length > 0);
    if (noted.length === 0 || noted.some((journal) => own.includes(journal))) return account;
    throw new Error(
      [
        `${unknown} on this machine only a journal of another account has notes of them, not that of '${account}'.`,
        "Set advertising:baseUrl and advertising:email back as they were in the interrupted run, and settle the creates.",
        `If the account has a new address, change the settings after that, and run \`${asTyped("npx pulumi-advertising relocate")}\`.`,
      ].join("\n"),
    );
  }

  /** Where the stack's files stand at this account: by each of its names, the one of now first. */
  pathsAt(account: Account): StorePaths[] {
    const { cookieFile, folder } = this.#place;
    const { journalFolder } = placesOf(account, "", cookieFile, folder);
    return [...this.#names].map((name) => pathsIn(journalFolder, name));
  }

  /** What is not settled. @throws Error about a journal that can't be read: then nobody can tell what is pending. */
  notes(): CreateRecord[] {
    const read = (journal: string) => {
      try {
        return recordsIn(journal);
      } catch (error) {
        throw new Error(
          `the journal ${journal} can't be read (${(error as Error).message}), so it is not known what is pending, and nothing was changed; ` +
            "the next `pulumi up` says what to do about it",
        );
      }
    };
    return joinedRecords(...[...this.#paths.keys()].map(read));
  }

  /**
   * Waits a moment for a run that is under way, since one that was just killed may still be ending.
   * @returns whether there was one. @throws Error it goes on: what is in flight looks like what an interrupted run has left.
   */
  async waitForRun(): Promise<boolean> {
    const deadline = systemClock.monotonicMs() + MAX_WAIT_MS;
    for (let waited = false; ; waited = true) {
      const [holder] = [...this.#paths.keys()].flatMap((path) => holderNow(`${path}.lock`, systemClock.wallMs()) ?? []);
      if (holder === undefined) return waited;
      if (systemClock.monotonicMs() > deadline) throw underWay(holder);
      await systemClock.sleep(POLL_MS);
    }
  }

  /** Holds all of them that are not held yet, while `work` runs. @throws Error in words. */
  async whileHeld<T>(work: () => Promise<T>): Promise<T> {
    this.#add(this.#names);
    // Those of the account are locked too, though no run has written them yet, and those that an answer may have left nothing of.
    const own = this.#ownPaths().map(({ journal }) => journal);
    const now = this.#now;
    const ofNow = [...this.#paths.keys()].flatMap((path) =>
      now === undefined ? [] : pathsIn(dirname(path), now).journal,
    );
    const answered = this.settlements().flatMap(({ notes }) => [...notes.keys()]);
    return this.#hold([...new Set([...this.#paths.keys(), ...ofNow, ...own, ...answered])], work);
  }

  /** Those of the account that the settings name; none if they are not whole. */
  #ownPaths(): StorePaths[] {
    const { reading } = this.#place;
    return reading?.problems.length === 0 ? this.pathsAt(reading.settings) : [];
  }

  /** Where the next `up` looks for what was answered. */
  get #settlements(): string | undefined {
    return [...this.#ownPaths(), ...this.#paths.values()][0]?.settlements;
  }

  /** Whether an adoption has settled a create, as this machine remembers it: its set may still have it as unresolved. */
  isSettled = (record: CreateRecord): boolean => {
    const folders = [...this.#ownPaths(), ...this.#paths.values()].map(({ journal }) => dirname(journal));
    return [...new Set(folders)].some((folder) => new Seen(seenIn(folder), systemClock).isSettled(record));
  };

  /** What was answered since the last `up` that went through. */
  settlements(): Settlement[] {
    return this.#settlements === undefined ? [] : readSettlements(this.#settlements);
  }

  /**
   * Notes what was known before these answers. @param urnOf what a record is about.
   * @returns what takes that back; none where it can't be noted.
   */
  noteSettlements(answers: readonly Omit<Settlement, "notes">[], urnOf: (record: CreateRecord) => string) {
    const path = this.#settlements;
    if (path === undefined) return undefined;
    const before = readSettlements(path);
    const noted = [...this.#paths.keys()].map((journal) => [journal, Map.groupBy(recordsIn(journal), urnOf)] as const);
    const notesOf = (urn: string) =>
      noted.flatMap(([journal, byUrn]) => (byUrn.has(urn) ? [[journal, byUrn.get(urn) ?? []] as const] : []));
    const added = answers.map((answer) => ({ ...answer, notes: new Map(notesOf(answer.urn)) }));
    const urns = new Set(added.map(({ urn }) => urn));
    try {
      writeSettlements(path, [...before.filter(({ urn }) => !urns.has(urn)), ...added]);
    } catch {
      return undefined;
    }
    return () => writeSettlements(path, before);
  }

  /** @returns what has the journals know of these creates what they knew before, and forgets the answers. @throws Error a journal is not held. */
  restoring(settlements: readonly Settlement[]): () => void {
    const noted = settlements.flatMap(({ notes }) => [...notes]);
    const journals = [...Map.groupBy(noted, ([path]) => path)].map(([journal, those]) => {
      const held = this.#held.get(journal);
      if (held !== undefined) return { held, records: joinedRecords(...those.map(([, records]) => records)) };
      throw new Error(
        `the journal ${journal} can't be written, and nothing was changed; make its folder writable, and run this again`,
      );
    });
    const named = new Set(journals.map(({ held }) => held));
    const marks = new Set(journals.flatMap(({ records }) => records.map(({ mark }) => mark)));
    return () => {
      for (const { held, records } of journals) held.restore(records);
      // After a rename of the stack, an answer may have moved on to the journal of the new name.
      for (const held of this.#held.values())
        if (!named.has(held)) held.revise((record) => (marks.has(record.mark) ? undefined : record));
      const urns = new Set(settlements.map(({ urn }) => urn));
      const path = this.#settlements;
      const others = this.settlements().filter(({ urn }) => !urns.has(urn));
      if (path !== undefined) writeSettlements(path, others);
      this.#add(this.#names);
    };
  }

  async #hold<T>([journal, ...rest]: readonly string[], work: () => Promise<T>): Promise<T> {
    if (journal === undefined) return work();
    if (this.#held.has(journal)) return this.#hold(rest, work);
    let isHeld = false;
    const options = { clock: systemClock, unique: randomUUID(), maxWaitMs: MAX_WAIT_MS };
    try {
      return await withJournal(journal, options, async (held) => {
        isHeld = true;
        this.#held.set(journal, held);
        return this.#hold(rest, work).finally(() => this.#held.delete(journal));
      });
    } catch (error) {
      if (isHeld) throw error;
      if (error instanceof LockHeld) throw underWay(error.holder);
      // Where no journal can be written, no run can hold one either.
      if (!this.#paths.has(journal)) return this.#hold(rest, work);
      throw new Error(`the journal ${journal} can't be locked (${(error as Error).message}), and nothing was changed`);
    }
  }

  /** Creates were settled. @param settled by mark: the id of what one made, which the next `up` takes over; without one it is forgotten. */
  settle(settled: ReadonlyMap<string, string | undefined>): void {
    for (const held of this.#held.values()) {
      held.revise((record) => {
        if (!settled.has(record.mark)) return record;
        const { isReported: _, ...sent } = record;
        const id = settled.get(record.mark);
        return id === undefined ? undefined : { ...sent, id };
      });
    }
  }

  /** Finishes what a killed command has left: these creates are settled in the state. What was sent again since then stays. */
  async forgetAnswered(creates: readonly CreateRecord[]): Promise<void> {
    const sentAt = new Map(creates.map(({ mark, at }) => [mark, at]));
    const left = this.notes().filter(({ mark, at }) => sentAt.get(mark) === at);
    if (left.length > 0)
      await this.whileHeld(async () => this.settle(new Map(left.map(({ mark }) => [mark, undefined]))));
  }

  /**
   * Notes under a former name of what the stack has go on under its name of now, or are settled if the state has the object: otherwise a new
   * stack of the former name would take over what this one has. Holds them only if there are any. @param held as `heldIn` says it.
   */
  async settleFormerNames(held: ReadonlySet<string>): Promise<void> {
    if (this.#ofFormerNames(held).length === 0) return;
    await this.whileHeld(async () => {
      for (const { from, to, stack, records, lives } of this.#ofFormerNames(held)) {
        const [former, current] = [this.#held.get(from.journal), this.#held.get(to.journal)];
        if (former === undefined || current === undefined) continue;
        const unsaved = records.filter(({ mark }) => held.has(mark));
        current.restore(unsaved.map((record) => ({ ...record, key: keyInStack(record.key, stack) })));
        const marks = new Set(records.map(({ mark }) => mark));
        former.revise((record) => (marks.has(record.mark) ? undefined : record));
        const [before, now] = [new Inventory(from.objects), new Inventory(to.objects)];
        for (const [key, live] of lives) {
          const next = keyInStack(key, stack);
          if (!now.asItBegan.has(next)) now.note(next, live);
          before.noteGone(key);
        }
      }
    });
  }

  /** Where a former name has such notes; nothing if it is not certain which name the stack has now. */
  #ofFormerNames(held: ReadonlySet<string>) {
    const stack = this.#now;
    if (stack === undefined) return [];
    const all = new Map([...this.#paths.values(), ...this.#ownPaths()].map((paths) => [paths.journal, paths]));
    const isHeld = (key: string, id = "") => held.has(objectKey(aboutWhom(key).kind, id));
    return [...all.values()].flatMap((from) => {
      const to = pathsIn(dirname(from.journal), stack);
      if (to.journal === from.journal) return [];
      const { creates, objects } = look(from);
      const records = creates.filter(({ key, mark, id }) => held.has(mark) || isHeld(key, id));
      const lives = [...objects].filter(([key, { id }]) => isHeld(key, id));
      return records.length + lives.length === 0 ? [] : [{ from, to, stack, records, lives }];
    });
  }

  /** A user said of these objects whether they exist: if they do, a rename of their resources is warned of from now on. */
  noteLives(lives: readonly { readonly key: string; readonly live: Live }[], exist: boolean): void {
    for (const { objects } of this.#paths.values()) {
      const inventory = new Inventory(objects);
      for (const { key, live } of lives) exist ? inventory.note(key, live) : inventory.noteGone(key);
    }
  }
}

function underWay(holder: string): Error {
  return new Error(
    `a run of this stack is under way on this machine (${holder}), so it is not known yet what is pending, and nothing ` +
      "was changed; let that run end, and run this again",
  );
}

export interface Decided<T> {
  /** The state as it is to be; none where it stays as it is. */
  readonly stack?: ExportedStack | undefined;
  /** Done before the state is imported. @returns what takes it back, for an import that fails. */
  readonly before?: () => () => void;
  /** Done once the state is imported. @returns what the command goes on with. */
  readonly after: () => T | Promise<T>;
}

const MAX_TURNS = 3;

/**
 * @param judge shown the stack and the journals of this machine; asked again where the stack is another one by then.
 * @throws Error in words; then nothing was changed, unless `after` threw.
 */
export async function changeStack<T>(
  choice: StackChoice,
  judge: (stack: ExportedStack, journals: StackJournals) => Promise<Decided<T>> | Decided<T>,
): Promise<T> {
  const journals = await journalsOf(choice);
  const turn = (text: string, left: number): Promise<T> => {
    const stack = readExport(text);
    return journals.andThoseOf(stack).whileHeld(async () => {
      const decided = await judge(stack, journals);
      const check = decided.stack === undefined ? NO_CHECK : await claim(choice);
      const now = await exportOf(choice);
      if (now === text) return carryOut(choice, decided, check);
      if (left > 1) return turn(now, left - 1);
      throw new Error(
        "other runs kept changing the stack, so nothing was changed here; wait until they end, and run this again",
      );
    });
  };
  return journals.whileHeld(async () => turn(await exportOf(choice), MAX_TURNS));
}

/** More than the 200 ms that an import takes from its check on: Pulumi has started by then. */
const CLAIM_MS = 300;

const NO_CHECK = async () => undefined;

/**
 * Keeps commands on several machines apart. Each claims the stack before its last export, and checks its claim right before its import. Of two,
 * - the first ends at its check if the second has claimed the stack by then;
 * - otherwise it imports at once. The second waits for that, exports the stack, finds it changed, and starts over.
 *
 * So the last one to claim goes on, and nobody waits for another's claim: a killed command leaves nothing that blocks. An answer is still lost
 * if the first one's import takes longer than the second one's wait and export, or if the stack can have no tag.
 * @returns the check. @throws Error in words, from the check: another command has claimed the stack.
 */
async function claim(choice: StackChoice): Promise<() => Promise<void>> {
  const own = randomUUID();
  if (!(await setTag(choice, own))) return NO_CHECK;
  await systemClock.sleep(CLAIM_MS);
  return async () => {
    const last = (await tagOf(choice)) ?? own;
    if (last === own) return;
    throw new Error(
      "another `pulumi-advertising` command is changing this stack, so nothing was changed here; run this again",
    );
  };
}

async function carryOut<T>(
  choice: StackChoice,
  { stack, before, after }: Decided<T>,
  check: () => Promise<void>,
): Promise<T> {
  const takeBack = before?.();
  if (stack !== undefined) {
    try {
      await importInto(choice, stack, check);
    } catch (error) {
      takeBack?.();
      throw error;
    }
  }
  return after();
}
