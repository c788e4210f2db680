/** `record/`: reads and parses what Pulumi has saved about a stack. Decides nothing. */
export * from "./engine.js";
export * from "./engine-run.js";
export * from "./export.js";
export * from "./pulumi.js";
export * from "./read-record.js";
export * from "./saved-state.js";
export * from "./watch-engine.js";
