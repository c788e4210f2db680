/**
 * A stack's files under its account's former address go on under the current one. Where both addresses have a file, as after an `up
 * --target` of something new, the two become one: the current one's word is the later one. A process that is killed meanwhile loses nothing:
 * a former file is removed last, and joining it once more adds nothing.
 */
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { type Disk, readNow, removeNow, replaceNow, systemDisk } from "../files/index.js";
import { joinedSettlements } from "./beside-journal.js";
import { joinedInventories } from "./inventory.js";
import { joinedJournals } from "./notes.js";
import { type Account, pathsIn, placesOf, type StorePaths } from "./places.js";

/** The files of a stack under one address, and where they belong. */
interface Move {
  readonly from: StorePaths;
  readonly to: StorePaths;
}

/**
 * What a stack has under its account's former address.
 * @param from `<host>[:<port>][/<path>] <e-mail>`.
 */
export function notesToMove(
  from: string,
  to: Account,
  stack: string,
  cookieFile: string | undefined,
  folder: string,
): Move[] {
  const [place = "", typed = ""] = from.split(" ");
  // `from` has it in lower case; most often it is the same as now.
  const email = typed === to.email.toLowerCase() ? to.email : typed;
  const pathsOf = (account: Account) => pathsIn(placesOf(account, "", cookieFile, folder).journalFolder, stack);
  const current = pathsOf(to);
  return ["https", "http"]
    .map((scheme) => pathsOf({ baseUrl: `${scheme}://${place}`, email }))
    .filter((former) => former.journal !== current.journal && Object.values(former).some((path) => existsSync(path)))
    .map((former) => ({ from: former, to: current }));
}

const joined: Readonly<Record<keyof StorePaths, (former: string, current: string | undefined, move: Move) => string>> =
  {
    // Alone it stays as it is: one that can't be read stops every create there, too.
    journal: (former, current) => (current === undefined ? former : joinedJournals(former, current)),
    objects: (former, current = "") => joinedInventories(former, current),
    runEnd: (former, current = "") => former + current,
    settlements: (former, current = "", { from, to }) => joinedSettlements(former, current, from.journal, to.journal),
  };

/** Only while both journals are held. @returns what takes it back. @throws Error in words, where nothing was changed. */
export function moveNotes(moves: readonly Move[], disk: Disk = systemDisk): () => void {
  const before = new Map<string, string | undefined>();
  const takeBack = () => {
    for (const [path, text] of before) {
      if (text === undefined) removeNow(path, disk);
      else replaceNow(path, text, disk);
    }
  };
  for (const move of moves) {
    const { from, to } = move;
    for (const file of Object.keys(joined) as (keyof StorePaths)[]) {
      try {
        const former = readNow(from[file], disk);
        if (former === undefined) continue;
        const current = readNow(to[file], disk);
        const text = joined[file](former, current, move);
        before.set(from[file], former);
        if (!before.has(to[file])) before.set(to[file], current);
        disk.mkdirSync(dirname(to[file]), { recursive: true, mode: 0o700 });
        replaceNow(to[file], text, disk);
        removeNow(from[file], disk);
      } catch (error) {
        takeBack();
        const why = (error as Error).message;
        throw new Error(
          `${from[file]} can't be joined with ${to[file]} (${why}), and nothing was changed. If one can't be read, look into the ` +
            "account for objects that an interrupted run may have created, set existingId for those, remove that file, and run this again",
        );
      }
    }
  }
  return takeBack;
}
