/** What the commands share: their declaration and options, the chosen stack, their input, and JSON output. */
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { enumerate, printable, setCommandTarget, UsageError } from "../base/index.js";
import { isProjectOf } from "../journal/index.js";

export interface Command {
  help: string;
  /**
   * @returns the exit code. @throws Error in words, for exit code 2; a UsageError, or Node's own, where the call is
   * wrong.
   */
  run: (args: readonly string[]) => Promise<number>;
}

/** Options: a text, and any number of texts. */
export const TEXT = { type: "string" } as const;
export const SEVERAL = { ...TEXT, multiple: true, default: [] as string[] } as const;

type ParsedValues<O extends ParseArgsOptionsConfig> = ReturnType<
  typeof parseArgs<{ options: O }>
>["values"];

export function command<const O extends ParseArgsOptionsConfig>({
  help,
  options,
  takesFile = false,
  run,
}: {
  help: string;
  /** Beside `--help`. */
  options: O;
  takesFile?: boolean;
  run: (values: ParsedValues<O>, file: string) => Promise<number>;
}): Command {
  return {
    help,
    run: async (args) => {
      if (args.includes("--help") || args.includes("-h")) return say(help);
      const call = { args, options, allowPositionals: takesFile };
      const { values, positionals } = parseArgs(call);
      setCommandStack(values);
      if (takesFile && positionals.length !== 1) throw new UsageError("expected one file");
      return run(values, String(positionals[0]));
    },
  };
}

export interface StackChoice {
  stack?: string | undefined;
  cwd?: string | undefined;
}

/** Of these options, as `pulumi` has them too, those that were given. */
export function stackOptionsIn({ stack, cwd }: StackChoice): string[] {
  const options = Object.entries({ stack, cwd });
  return options.flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
}

/** Makes all commands that are printed from now on name this stack. */
export function setCommandStack(choice: StackChoice): void {
  setCommandTarget(() => ({ options: stackOptionsIn(choice), isInline: isInline(choice) }));
}

/** Whether a stack is named in full where no project file is of its project, as for the Automation API's programs. */
export function isInline({ stack = "", cwd = "." }: StackChoice): boolean {
  return stack.split("/").length === 3 && !isProjectOf(stack, cwd);
}

export function say(sentence: string): number {
  console.log(sentence);
  return 0;
}

/** One of several that are known by their names: a command, a report, a format. @throws UsageError that names all. */
export function chosen<T>(
  known: Readonly<Record<string, T>>,
  name: string,
  noun: string,
): T {
  if (Object.hasOwn(known, name)) return known[name] as T;
  const names = enumerate(Object.keys(known));
  throw new UsageError(
    `there is no ${noun} "${printable(name)}"; expected one of ${names}`,
  );
}

/**
 * The text of a file, or of standard input (`-`). Standard input is read as a stream: behind another Node.js program,
 * such as npx, it doesn't block, and reading it at once would fail while the writer has nothing ready.
 * @throws Error of the system.
 */
export async function textOf(file: string): Promise<string> {
  if (file === "-") return process.stdin.readableEnded ? "" : text(process.stdin);
  return readFile(file, "utf8");
}

/** How a report is written, by the name that `--format` takes. */
export type Formats<T, More extends unknown[] = []> = Readonly<
  Record<string, (report: T, ...more: More) => string>
>;

export function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
