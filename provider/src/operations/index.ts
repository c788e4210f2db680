/**
 * `operations/` carries out the engine's calls. It promises that each create is sent at most once over all runs, that a
 * preview and its `up` decide alike, and that everything that leaves the process is scrubbed.
 */
export { applyResource } from "./apply.js";
export { check, diffResource } from "./check.js";
export { createRuntime } from "./create-runtime.js";
export { deleteResource } from "./deletes.js";
export { foundOtherwiseMessage, NO_READ } from "./messages.js";
export { describeError, ResourceFailure } from "./outcome.js";
export { previewResource } from "./preview.js";
export { type ReadResult, readResource } from "./refresh.js";
export type { Change, Runtime, TellAt } from "./runtime.js";
export { searchByMark } from "./search.js";
export { endBySignals } from "./signals.js";
