/**
 * The front door of `decision/`, which promises that what becomes of an object is decided in one place, from facts: `decide.ts` for a single resource
 * and each member of a set, `compare.ts` with what differs. Everything here is pure.
 */
export * from "./compare.js";
export * from "./decide.js";
