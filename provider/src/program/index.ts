/**
 * The resource classes, and the look at the whole program before anything of it is registered. A class calls `program.ts`, which makes a declaration
 * of the call, and has each batch judged. All this runs in the program's process: it loads no HTTP, and writes only that it ended well.
 */
export { type Finding, findingOf, programError } from "./findings.js";
export { currentProgram } from "./program.js";
