/**
 * `operations/`, which carry out the engine's calls. It promises that each create is sent at most
 * once over all runs, that what is said is what is done, and that everything that leaves the process is scrubbed.
 */
export { check } from "./check.js";
export type { TellAt } from "./notices.js";
export { describeDefect, Incomplete } from "./outcome.js";
export { readSet, readSingle } from "./refresh.js";
export { createRuntime, type ResourceOperations, type Runtime } from "./runtime.js";
export { type Finding, type Looker, lookFor, resendDueMs } from "./search.js";
export { createSet, deleteSet, planSet, updateSet } from "./set.js";
export { createSingle, deleteSingle, planSingle, updateSingle } from "./single.js";
