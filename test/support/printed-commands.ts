/** What people copy out of a message. */

/** The lines of a message that are a command, and nothing else. */
export function commandsIn(message: string): string[] {
  const lines = message.split("\n").map((line) => line.trim());
  return lines.filter((line) => /^(?:npx|pulumi|export|unset) /.test(line));
}
