/** What people copy out of a message. */

/** The lines of a message that are a command, and nothing else. */
export function commandsIn(message: string): string[] {
  const lines = message.split("\n").map((line) => line.trim());
  return lines.filter((line) => /^(?:npx|pulumi|export|unset|rm) /.test(line));
}

/** What a run tells at its end: before, Pulumi prints the same as it comes. */
export function reportIn(output: string): string {
  const [, diagnostics = ""] = output.split(/^Diagnostics:$/m);
  return diagnostics.split(/^(?:Outputs|Resources|Duration):?/m)[0] ?? "";
}

/** The sentences that one run tells more than once. */
export function saidTwice(output: string): string[] {
  const sentences = reportIn(output)
    .split("\n")
    .flatMap((line) => line.trim().split(/(?<=\.) /))
    .filter((text) => text.length > 24 && !/^(?:pulumi:pulumi:Stack|pulumi-nodejs:|error: update failed)/.test(text));
  return [...Map.groupBy(sentences, (text) => text)].flatMap(([text, all]) => (all.length > 1 ? [text] : []));
}
