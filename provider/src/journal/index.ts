/**
 * What this machine remembers of a stack: no create is sent twice over any number of runs and kills. `journal.ts`: a
 * run's use, and the promises; `journal-entry.ts`: the format; `journal-file.ts`: the locked file; `places.ts`: where.
 */
export * from "./journal.js";
export * from "./journal-entry.js";
export * from "./journal-file.js";
export * from "./places.js";
