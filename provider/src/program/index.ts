/**
 * `program/`: the resource classes, and the validation of the whole program before any resource is registered. The
 * classes call `program.ts`, which validates one batch after the other. This module runs in the program process, loads
 * no HTTP library, and writes nothing except that the program has ended without an error.
 */
export type { Finding } from "./declaration.js";
export { currentProgram, programError } from "./program.js";
