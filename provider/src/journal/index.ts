/**
 * `journal/`: what this machine remembers about creates that are still open. `journal.ts` has the promises and a run's
 * use, `journal-entry.ts` the format, `journal-file.ts` what others may meet, `places.ts` the paths.
 */
export * from "./engine-notes.js";
export * from "./journal.js";
export * from "./journal-entry.js";
export * from "./journal-file.js";
export * from "./places.js";
export * from "./refresh-answers.js";
