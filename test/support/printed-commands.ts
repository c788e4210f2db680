/** The parts of messages that people copy, and repeated sentences. */
import { resolve } from "node:path";
import { type RunResult, runProcess, type TestStack } from "./stack.js";

const COMMAND = resolve(import.meta.dirname, "../../provider/dist/cli/command.js");

/** Runs a printed command, as somebody who copies it into a shell. */
export function typed(stack: TestStack, command: string): Promise<RunResult> {
  const words = command.replace("npx pulumi-advertising", `node ${COMMAND}`);
  return runProcess("sh", ["-c", words], stack.programFolder, stack.environment);
}

/** The lines of a message that consist of a command. */
export function commandsIn(message: string): string[] {
  const lines = message.split("\n").map((line) => line.trim());
  return lines.filter((line) => /^(?:npx|pulumi|export|unset|rm) /.test(line));
}

/** The report at a run's end, without the same messages that Pulumi has printed during the run. */
function reportIn(output: string): string {
  const [, diagnostics = ""] = output.split(/^Diagnostics:$/m);
  return diagnostics.split(/^(?:Outputs|Resources|Duration):?/m)[0] ?? "";
}

/** The sentences that one run prints more than once. */
export function saidTwice(output: string): string[] {
  const sentences = reportIn(output)
    .split("\n")
    .flatMap((line) => line.trim().split(/(?<=\.) /))
    .filter(
      (text) =>
        text.length > 24 &&
        !/^(?:pulumi:pulumi:Stack|pulumi-nodejs:|error: update failed)/.test(text),
    );
  return [...Map.groupBy(sentences, (text) => text)].flatMap(([text, all]) =>
    all.length > 1 ? [text] : [],
  );
}
