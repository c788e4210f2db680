/** A stack's journal on a simulated disk, as its runs use it one after the other. */
import { dirname } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { type Clock, systemClock } from "../../provider/src/base/index.js";
import type { Disk } from "../../provider/src/files/index.js";
import {
  Journal,
  type JournalEntry,
  journalPath,
  type RunAccount,
  readJournal,
  type StackPlace,
} from "../../provider/src/journal/index.js";
import { MemoryDisk } from "./disk.js";

export const FOLDER = "/cache/stacks";
export const DEV = { backend: "file:///states", stack: "organization/shop/dev" };
export const PROD = { ...DEV, stack: "organization/shop/prod" };
export const AT = "2026-01-01T00:00:00.000Z";

/** A run whose settings name no account. */
export const ANY_ACCOUNT: RunAccount = { account: "", isSameAccount: () => true };

export const OURS: RunAccount = {
  account: "platform.example a@example.com",
  isSameAccount: (recorded) =>
    recorded === undefined || recorded === "platform.example a@example.com",
};

/** A create that is about to be sent. */
export const aCreate = (key: string, replaces?: string) => ({
  key,
  at: AT,
  mark: `mark of ${key}`,
  body: "b",
  ...(replaces !== undefined && { replaces }),
});

export type Work = (run: Journal) => Promise<void> | void;

/** A record as `created 42`; `none` if there is no record. */
export const entryLine = (record: JournalEntry | undefined) =>
  record === undefined ? "none" : [record.state, record.id].filter(Boolean).join(" ");

export function stackOn(
  disk: Disk = new MemoryDisk(),
  place: StackPlace = DEV,
  folder = FOLDER,
) {
  const path = journalPath(place, folder);
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const newRun = (
    maxWaitMs = 0,
    clock: Clock = systemClock,
    account: RunAccount = ANY_ACCOUNT,
  ) => new Journal({ ...place, ...account, folder, clock, maxWaitMs, disk, say });
  /** An `up`, which the engine ends cleanly unless `work` has let go of the journal. */
  const up = async (work: Work, left: string[] = [], account = ANY_ACCOUNT) => {
    const run = newRun(0, systemClock, account);
    await run.assertUsable();
    await work(run);
    await turn(); // what nobody waits for
    run.closeNow(left);
  };
  const append = (text: string, to = path) => {
    disk.mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    disk.writeFileSync(disk.openSync(to, "a", 0o600), text);
  };
  const all = () => [...readJournal(path, disk).records.values()];
  const words = () => all().map((each) => `${each.key.split("::")[1]} ${entryLine(each)}`);
  return { disk, path, said, newRun, up, append, all, words };
}
