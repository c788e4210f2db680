/**
 * The front door of `program/`: the resource classes, and the look at the whole program before anything of it is registered.
 *
 * It promises that a program with anything wrong registers and sends nothing, and ends with one error that lists everything; that
 * renames and removals which this machine can know are reported; and that the state has the line of the user's program. It runs in the
 * program's process, so it loads no HTTP and no cookies: it may import every room before it except `client/` and `provider/`.
 *
 * The way through it: a class (`advertiser.ts`, `conversion-event.ts`, `conversion-event-set.ts`, `catalog.ts`) calls
 * `registration.ts`, which makes a declaration of the call (`declaration.ts`) and adds it to the program (`program.ts`), which has
 * each batch judged by all that is declared (`batch.ts`), and reports what is wrong (`findings.ts`). Then the engine asks.
 */
export { type Finding, findingOf, programError } from "./findings.js";
export { currentProgram } from "./program.js";
