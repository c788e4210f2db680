/**
 * What the program has removed, judged when it can be known: after the whole program has been run, timers and other waits
 * included.
 */
import * as pulumi from "@pulumi/pulumi";
import { isEmbedded } from "./embedding.js";
import type { Program } from "./program.js";
import { programError, sectionOfOpen } from "./program-error.js";
import { removalWarnings, undeclaredIn } from "./undeclared.js";

/**
 * A process of the program's own runs out of work at its end, and has not ended yet for the engine, which takes nothing out
 * of the state before.
 */
export function judgeRemovalsAtEnd(program: Program): void {
  if (!isEmbedded()) {
    process.once("beforeExit", () => judge(program));
    return;
  }
  const stack = pulumi.runtime.getStackResource();
  stack?.outputs.apply(() => setImmediate(() => judge(program)));
}

/** @throws pulumi.RunError where a create of unknown outcome has lost its resource. */
function judge({ reading, history, declarations }: Program): void {
  const { open } = undeclaredIn(history, declarations);
  if (open.length > 0) {
    throw programError(reading, open.map(sectionOfOpen), "nothing was sent for it, and it stays in the state");
  }
  for (const warning of removalWarnings(history, declarations, reading.settings)) void pulumi.log.warn(warning);
}
