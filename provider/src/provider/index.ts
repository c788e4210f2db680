/**
 * The front door of `provider/`, which carries out the engine's calls. It promises that each create is sent at most
 * once over all runs, that what is said is what is done, and that everything that leaves the process is scrubbed.
 */
export { createProvider, silenceShown } from "./dynamic.js";
export { engineLog, watchEngine } from "./engine.js";
export { createRuntime, type Runtime } from "./runtime.js";
export { type Finding, type Looker, lookFor, resendDueMs } from "./search.js";
