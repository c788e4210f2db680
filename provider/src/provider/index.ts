/**
 * The front door of `provider/`: what the engine calls, carried out. It promises that each create is sent at most once over all runs,
 * that what is said is what is done, and that whatever leaves the process is scrubbed. `dynamic.ts` is the face that Pulumi's dynamic
 * providers see; another front end, such as a provider plugin, stands beside it and calls the same functions. It has forms of its own for
 * errors, the log (`engine.ts`), the settings and the end of the process (`handlers.ts`), and what the state loads a provider by: the type
 * token (`kinds/kind.ts`) and the reference text (`PROVIDER`, written in `program/registration.ts`). The room may import every room before it.
 */

export { createProvider, createSetProvider, silenceShown } from "./dynamic.js";
export { debugLog, engineLog, engineStartedMs, watchEngine } from "./engine.js";
export { lookFor, resendDueMs } from "./search.js";
export { createRuntime, type Runtime } from "./services.js";
