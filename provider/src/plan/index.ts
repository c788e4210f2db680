/** `plan/` promises that the action for an object is decided in one place, from facts alone. Pure. */
export * from "./decide.js";
