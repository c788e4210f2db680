/** `plan/` decides, from facts alone, and does nothing else: what happens to an object, and what a create does. Pure. */
export * from "./decide.js";
export * from "./next-state.js";
export * from "./open-creates.js";
export * from "./plan-create.js";
