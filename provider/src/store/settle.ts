/**
 * What is written into a stack's memory outside its runs: the answers of people and of searches, by the command; and its new name after `pulumi stack
 * rename`. Each holds the file's lock from beginning to end.
 */
import { dirname } from "node:path";
import { type Clock, systemClock } from "../base/index.js";
import { type Disk, syncFolder, systemDisk, withLock } from "../files/index.js";
import { aboutWhom } from "../state/index.js";
import { inWords, MemoryFile } from "./memory-file.js";
import { everyMemory, type Line, MemoryDamaged, type MemoryRecord, readMemory } from "./memory-lines.js";
import { memoryPath, type StackPlace } from "./places.js";

export interface Here {
  readonly folder: string;
  readonly clock?: Clock;
  readonly disk?: Disk | undefined;
}

const maxWaitMs = 30_000;

/** All are on the disk when it resolves. @throws JournalError a run is using the memory, or it is damaged. */
export async function writeAnswers(place: StackPlace, lines: readonly Line[], here: Here): Promise<void> {
  const { folder, clock = systemClock, disk } = here;
  const path = memoryPath(place, folder);
  const file = new MemoryFile({ ...place, path, clock, maxWaitMs, disk });
  await file.open();
  await file.append(lines).finally(() => file.release());
}

/**
 * The stack has another name since its last run: what its former name's memory has is this one's. Killed in between, both have it, and the former one
 * is joined again.
 * @param write into this one's, which a run has open already. @throws JournalError a run is using one of them, or it is damaged.
 */
export async function takeOverFormer(
  former: StackPlace,
  now: StackPlace,
  here: Here,
  write = (lines: readonly Line[]) => writeAnswers(now, lines, here),
): Promise<void> {
  const { folder, clock = systemClock, disk = systemDisk } = here;
  const path = memoryPath(former, folder);
  const recordsOf = (place: StackPlace) => readMemory(memoryPath(place, folder), disk)?.records;
  try {
    if (recordsOf(former) === undefined) return;
    await withLock(`${path}.lock`, { clock, maxWaitMs, disk }, async (lock) => {
      const known = recordsOf(now) ?? new Map<string, MemoryRecord>();
      // Of a removed stack that had this name before, the new one may have records.
      const lines = [...(recordsOf(former)?.values() ?? [])].filter((each) => isUnseen(each) || !known.has(each.key));
      const other = lines.find(({ key, at, id }) => {
        const had = known.get(key);
        return had !== undefined && isUnseen(had) && (had.at !== at || had.id !== id);
      });
      if (other !== undefined)
        throw new MemoryDamaged(`it and that of ${now.stack} have different creates of ${aboutWhom(other.key).label}`);
      await write(lines);
      lock.confirm();
      disk.rmSync(path, { force: true });
      syncFolder(dirname(path), disk);
    });
  } catch (error) {
    throw inWords(path, error);
  }
}

function isUnseen({ state }: MemoryRecord): boolean {
  return state !== "live" && state !== "none";
}

/**
 * What the other stacks of a project have made, or may have, and no later run has seen in their state: one of these may be this stack, under the name
 * that it had. Without checkpoints, even a run that ended cleanly may have been killed before its state was saved.
 */
export function openOfOthers(here: StackPlace, folder: string, disk?: Disk) {
  const projectOf = (name: string) => name.split("/").slice(0, -1).join("/");
  return everyMemory(folder, disk)
    .filter(({ stack }) => stack !== here.stack && projectOf(stack) === projectOf(here.stack))
    .flatMap(({ stack, backend, records }) =>
      [...records.values()].filter(isUnseen).map((each) => ({ ...each, stack, backend })),
    );
}
