/** Commands that messages print, ready for a POSIX shell. Pure, but for what {@link setCommandTarget} keeps. */

/** One word of a shell's command. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes if it needs none. */
export function plainShellWord(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  return shellWord(text);
}

/** Which stack a printed command is about. */
export interface CommandTarget {
  /** As words. */
  options: readonly string[];
  /** An inline program of the Automation API, which Pulumi's command line can't run. */
  isInline: boolean;
}

let commandTarget = (): CommandTarget => ({ options: [], isInline: false });

/** From now on, each command that this process prints is about this. @param target called when one is printed. */
export function setCommandTarget(target: () => CommandTarget): void {
  commandTarget = target;
}

/** A command of Pulumi or of this package about a stack, as a user types it. */
export function asTyped(command: string): string {
  const { options, isInline } = commandTarget();
  if (isInline && command === "pulumi up") return command;
  return [command, ...options.map(plainShellWord)].join(" ");
}
