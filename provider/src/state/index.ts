/**
 * The front door of `state/`: what is stored or crosses between the two processes, and what follows from that alone: which resource is meant, how an
 * unresolved create, a set and an object that is left live look, the program's briefing, and shared sentences. It touches no file.
 */
export * from "./names.js";
export * from "./record.js";
export * from "./sentences.js";
export * from "./stored.js";
