/**
 * The front door of `decision/`, which promises that what becomes of an object is decided in one place, from facts: `decide.ts` for every object,
 * `members.ts` with the facts of a single resource or of each member of a set, `compare.ts` with what differs. Everything here is pure.
 */
export * from "./compare.js";
export * from "./decide.js";
export * from "./members.js";
