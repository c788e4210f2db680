/**
 * The front door of `program/`: the resource classes, and the look at the whole program before anything of it is registered. A program with anything
 * wrong registers and sends nothing, and ends with one error that lists everything; what this machine remembers and the program does not declare is
 * said, with ids. It runs in the program's process: it loads no HTTP, and writes only that it ended well. It may import every room before it except
 * `client/` and `provider/`.
 *
 * A class calls `registration.ts`, which makes a declaration of the call (`declaration.ts`) and adds it to the program (`program.ts`), which has each
 * batch judged (`judge.ts`), and reports what is wrong (`findings.ts`).
 */
export { type Finding, findingOf, programError } from "./findings.js";
export { currentProgram } from "./program.js";
