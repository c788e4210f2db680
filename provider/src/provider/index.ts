/** The front door of `provider/`. */
export { debugLog } from "./debug-log.js";
export { engineLog } from "./engine-log.js";
export { engineStartedMs } from "./engine-start.js";
export { silenceShown } from "./failure.js";
export { watchEngine } from "./orphan.js";
export { createRuntime, type Runtime } from "./runtime.js";
export { isSearchable, lookFor, resendDueMs } from "./search.js";
export { createSetProvider } from "./set.js";
export { createProvider } from "./single.js";
