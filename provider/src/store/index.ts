/**
 * What this machine remembers of a stack: no create is sent twice over any number of runs and kills. `memory.ts`: a
 * run's use, and the promises; `memory-lines.ts`: the format; `memory-file.ts`: the locked file; `places.ts` and `backend.ts`: where.
 */
export { backendIn, parseProject, projectFileOf } from "./backend.js";
export * from "./memory.js";
export { takeOverOpen, writeAnswers } from "./memory-file.js";
export type { Line, MemoryRecord, OpenCreate, Records } from "./memory-lines.js";
export {
  CreatesByName,
  everyMemory,
  gone,
  isOpen,
  isPast,
  isTwiceIn,
  openElsewhere,
  readMemory,
} from "./memory-lines.js";
export * from "./places.js";
