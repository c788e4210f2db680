/**
 * The front door of `provider/`, which carries out the engine's calls. It promises that each create is sent at most once over all runs, that
 * what is said is what is done, and that everything that leaves the process is scrubbed. `dynamic.ts` is the interface for Pulumi's dynamic
 * providers. Another front end, such as a provider plugin, would exist beside it and call the same functions. It would need its own form of
 * errors, the log (`engine.ts`), the settings and the end of the process (`handlers.ts`), and of what the state finds its provider by: the type
 * token (`kinds/kind.ts`) and the reference text (`PROVIDER`, written in `program/registration.ts`). The room may import every room before it.
 */

export { createProvider, createSetProvider, silenceShown } from "./dynamic.js";
export { engineLog, watchEngine } from "./engine.js";
export { createRuntime, type Runtime } from "./runtime.js";
export { type Finding, type Looker, lookFor, memberMark, resendDueMs } from "./search.js";
