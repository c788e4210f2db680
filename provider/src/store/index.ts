/**
 * What this machine remembers of a stack, so that no create is sent twice over any number of runs and kills. `memory.ts` is a run's use of it, with
 * the promises; `memory-lines.ts` the format; `memory-file.ts` the file with its lock; `places.ts` where all this stands.
 */
export * from "./memory.js";
export { takeOverFormer, writeAnswers } from "./memory-file.js";
export type { Line, MemoryRecord, Records } from "./memory-lines.js";
export { everyMemory, isOpen, isPast, isTwiceIn, openMarkOf, openOfOthers, readMemory } from "./memory-lines.js";
export * from "./places.js";
