/**
 * With `--continue-on-error` Pulumi's Node.js side makes an error of its own for each resource that failed to register, and
 * prints it with a stack trace of places in Pulumi alone. The reason stands at the resource itself.
 */
import { NAMESPACE } from "../settings/index.js";
import { isEmbedded } from "./embedding.js";

/** Pulumi's words (3.259.0), perhaps behind the names of the properties that were to take an output of the resource. */
const FAILED = new RegExp(`resource .+ \\[pulumi-nodejs:dynamic/${NAMESPACE}:\\w+\\] failed to register$`, "s");

/** Leaves such an error its message alone. Other errors, and those of other packages' resources, stay as they are. */
export function hideStackTracesOfFailures(): void {
  // In a process of somebody else's, a listener would keep Node.js from ending at a rejection that nobody handles.
  if (isEmbedded()) return;
  // Before Pulumi's own listener, which prints the stack trace where there is one.
  process.prependListener("unhandledRejection", (reason) => {
    if (reason instanceof Error && FAILED.test(reason.message)) reason.stack = "";
  });
}
