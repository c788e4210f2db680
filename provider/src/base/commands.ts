/** Commands that messages print, ready for a POSIX shell. Pure, but for what {@link commandsTake} keeps. */

/** One word of a shell's command. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The same, without quotes if it needs none. */
export function plainShellWord(text: string): string {
  if (/^[\w./:@-]+$/.test(text)) return text;
  return shellWord(text);
}

interface CommandOption {
  readonly option: string;
  readonly value: string;
}

let stackOptions = "";

/** From now on, each printed command has these options, so that it is about this process's stack. */
export function commandsTake(options: readonly CommandOption[]): void {
  const words = options.map(({ option, value }) => ` ${option} ${plainShellWord(value)}`);
  stackOptions = words.join("");
}

/** A command of Pulumi or of this package about a stack, as a user types it. */
export function asTyped(command: string): string {
  return `${command}${stackOptions}`;
}
