/** Commands in messages, ready for a POSIX shell. Pure, except that {@link setCommandTarget} keeps the stack. */

/** Quotes a text as one word of a shell command. */
export function shellWord(text: string) {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Like {@link shellWord}, without quotes if the text needs none. */
export function plainShellWord(text: string) {
  if (/^[\w./:@-]+$/.test(text)) return text;
  return shellWord(text);
}

/** The stack that a printed command is about. */
interface CommandTarget {
  /** Options that select the stack, as shell words. */
  options?: readonly string[];
  /** Whether it is an inline program of the Automation API, which Pulumi's command line can't run. */
  isInline?: boolean;
}

let commandTarget = (): CommandTarget => ({});

/** Sets the stack of all commands that this process prints later. @param target called for each command. */
export function setCommandTarget(target: () => CommandTarget) {
  commandTarget = target;
}

/** A command of Pulumi or of this package about a stack, as a user types it. */
export function inStack(command: string) {
  const { options = [], isInline } = commandTarget();
  if (isInline && command === "pulumi up") return command;
  return [command, ...options.map(plainShellWord)].join(" ");
}
