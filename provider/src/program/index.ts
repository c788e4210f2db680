/**
 * The resource classes, and the check of the whole program before any of it is registered. A class calls `program.ts`,
 * which has each batch judged. It runs in the program process, loads no HTTP, and writes only that it ended well.
 */
export type { Finding } from "./declaration.js";
export { currentProgram, programError } from "./program.js";
