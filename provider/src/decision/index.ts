/** The front door of `decision/`, which promises that what becomes of an object is decided in one place, from facts. Everything here is pure. */
export * from "./decide.js";
