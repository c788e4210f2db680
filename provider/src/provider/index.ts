/**
 * The front door of `provider/`: what the engine calls, carried out. It promises that each create is sent at most once over all runs,
 * that what is said is what is done, and that whatever leaves the process is scrubbed. It may import every room before it; what
 * becomes of an object it asks of `decision/`.
 */
export { debugLog, engineLog } from "./engine.js";
export { engineStartedMs } from "./engine-start.js";
export { silenceShown } from "./failure.js";
export { lookFor, resendDueMs } from "./search.js";
export { createRuntime, type Runtime } from "./services.js";
export { createSetProvider } from "./set.js";
export { createProvider } from "./single.js";
export { watchEngine } from "./under-way.js";
