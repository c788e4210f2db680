/**
 * The front door of `store/`: what this machine remembers of a stack. The journal promises that no create is sent twice over any
 * number of runs and kills; the hint file only helps to warn. `journal.ts` is a run's use of the journal: what is written before a create is
 * sent, and what later runs read; `notes.ts` is its format and how others read it, `journal-file.ts` the file with its lock. The
 * room imports base, files, kinds, settings and state, and knows nothing of requests.
 */

export {
  backendIn,
  forgetSettlements,
  joinedSettlements,
  readSettlements,
  type Settlement,
  writeSettlements,
} from "./beside-journal.js";
export { Inventory, joinedInventories, type Live, type Options } from "./inventory.js";
export { type Ending, Journal, type Made, type Sending, type Unsent } from "./journal.js";
export {
  forgetObjects,
  type HeldJournal,
  joinedJournals,
  joinedRecords,
  look,
  lookAround,
  recordsIn,
  type Snapshot,
  withJournal,
} from "./notes.js";
export {
  type Account,
  pathsIn,
  placesFor,
  placesOf,
  type StorePaths,
  seenIn,
  stackPathsHere,
} from "./places.js";
export { Seen, seenAt } from "./seen.js";
