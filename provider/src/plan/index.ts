/** `plan/`. It promises to decide what becomes of an object in one place, from facts. Pure. */
export * from "./decide.js";
