/**
 * What this machine remembers of a stack: no create is sent twice over any number of runs and kills. `journal.ts`: a
 * run's use, and the promises; `journal-entry.ts`: the format; `journal-file.ts`: the locked file; `places.ts` and `backend.ts`: where.
 */
export {
  backendIn,
  commandTargetOf,
  isProjectOf,
  parseProject,
  projectFileOf,
} from "./backend.js";
export * from "./journal.js";
export type { JournalEntry, JournalLine, OpenCreate, Records } from "./journal-entry.js";
export {
  CreatesByName,
  closedLine,
  confirmedLine,
  everyJournal,
  isOpen,
  isSuperseded,
  isTwiceIn,
  openElsewhere,
  readJournal,
} from "./journal-entry.js";
export {
  appendLines,
  isJournalInUse,
  journalErrorFrom,
  takeOverOpen,
} from "./journal-file.js";
export * from "./places.js";
