/**
 * The front door of `provider/`: what the engine calls, carried out. It promises that each create is sent at most once over all runs,
 * that what is said is what is done, and that whatever leaves the process is scrubbed. `dynamic-single.ts` and `dynamic-set.ts` are the
 * faces that Pulumi's dynamic providers see, put together in `handlers.ts`. Another front end, such as a provider plugin, stands beside
 * them and calls the same `check.ts`, `single-run.ts`, `set-plan.ts`, `set-run.ts` and `refresh.ts`, and for `check` also
 * `before.ts` and `search.ts` (marks). It has forms of its own for errors (`failure.ts`), the log (`engine.ts`), and what the state
 * loads a provider by: the type token (`kinds/kind.ts`) and the reference text (`PROVIDER`, written in `program/registration.ts`). The
 * room may import every room before it.
 */

export { createSetProvider } from "./dynamic-set.js";
export { createProvider } from "./dynamic-single.js";
export { debugLog, engineLog, engineStartedMs, watchEngine } from "./engine.js";
export { silenceShown } from "./failure.js";
export { lookFor, resendDueMs } from "./search.js";
export { createRuntime, type Runtime } from "./services.js";
