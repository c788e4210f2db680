/** A stack's journals on a simulated disk, as its runs use them one after the other. */
import { dirname } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import type { Disk } from "../../provider/src/files/index.js";
import {
  findJournals,
  Journal,
  type JournalEntry,
  type JournalOptions,
  journalPath,
  type RunJournal,
  readJournal,
  rewriteJournals,
  type StackPlace,
} from "../../provider/src/journal/index.js";
import { openCreates } from "../../provider/src/plan/index.js";
import { MemoryDisk } from "./disk.js";

export const FOLDER = "/state";
export const DEV: StackPlace = { backend: "file:///states", stack: "shop/dev" };
export const AT = "2026-01-01T00:00:00.000Z";

/** A create that is about to be sent. */
export const aCreate = (key: string, replaces?: string) => ({
  ...{ key, run: "a-run", at: AT, mark: markOf(key), body: "b" },
  ...(replaces !== undefined && { replaces }),
});
export const markOf = (key: string) => `mark of ${key}`;

export type Work = (run: Journal) => unknown;

/** Takes all entries out of journals, as the end of a run does. */
export function emptyJournals(journals: readonly RunJournal[], disk: Disk) {
  rewriteJournals(
    journals.map((each) => ({ ...each, entries: new Map() })),
    disk,
  );
}

/** An entry as `created 42`; `none` if there is no entry. */
export const entryLine = (entry: Pick<JournalEntry, "id" | "state"> | undefined) =>
  entry === undefined ? "none" : [entry.state, entry.id].filter(Boolean).join(" ");

/** @param name begins the names of its runs. */
export function stackOn(
  disk: Disk = new MemoryDisk(),
  place: StackPlace = DEV,
  folder = FOLDER,
  name = "run",
) {
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  let runs = 0;
  /** @param engine its address. */
  const newRun = (
    options: Partial<JournalOptions> = {},
    engine?: string,
    hasCheckpoints?: boolean,
  ) => {
    const run = `${name}-${++runs}`;
    return new Journal(
      { place, run, engine, ...(hasCheckpoints !== undefined && { hasCheckpoints }) },
      { folder, disk, say, maxWaitMs: 0, ...options },
    );
  };
  /** An `up`, which the engine ends cleanly unless `work` has let go of the journal. */
  const up = async (work: Work, hasCheckpoints = true) => {
    const run = newRun({}, undefined, hasCheckpoints);
    await run.assertUsable();
    await work(run);
    await turn(); // what nobody waits for
    run.closeNow();
    return run;
  };
  const append = (text: string, to = pathOf("run-0")) => {
    disk.mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    disk.writeFileSync(disk.openSync(to, "a", 0o600), text);
  };
  const pathOf = (run: string) => journalPath({ ...place, run }, folder);
  const paths = () => {
    const found = findJournals({ folder, disk }, place, new Set());
    return found.flatMap(({ path, isOurs }) => (isOurs ? path : []));
  };
  const journals = () => paths().flatMap((path) => readJournal(path, disk) ?? []);
  /** What all files have, as `a created 42`. */
  const words = () =>
    journals()
      .flatMap(({ entries }) => [...entries.values()])
      .map((each) => `${each.key.split("::")[1]} ${entryLine(each)}`);
  /** What is open by all of them together, if Pulumi can't be asked. */
  const open = () =>
    openCreates(undefined, journals()).open.map(({ key, id }) =>
      [key.split("::")[1], id ?? "sent"].join(" "),
    );
  return { disk, said, newRun, up, append, pathOf, paths, journals, words, open };
}
