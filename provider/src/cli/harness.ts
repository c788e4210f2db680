/** Shared by the commands: their declaration and options, the chosen stack, input and output. */
import { readFile } from "node:fs/promises";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { enumerate, printable, setCommandTarget, UsageError } from "../base/index.js";
import { isProjectOf } from "../journal/index.js";

/** @returns the exit code. @throws Error for exit code 2; for a wrong call UsageError, or Node's own. */
export type Command = (args: readonly string[]) => Promise<number>;

/** The types of options: one text, or any number of texts. */
export const TEXT = { type: "string" } as const;
export const SEVERAL = { ...TEXT, multiple: true, default: [] as string[] } as const;

export function command<const O extends ParseArgsOptionsConfig>(
  options: O,
  run: (
    values: ReturnType<typeof parseArgs<{ options: O }>>["values"],
    file: string,
  ) => Promise<number>,
  takesFile = false,
): Command {
  return async (args) => {
    const { values, positionals } = parseArgs({
      args,
      options,
      allowPositionals: takesFile,
    });
    for (const [name, value] of Object.entries(values))
      if ([value].flat().includes("")) throw new UsageError(`--${name} is empty`);
    setCommandStack(values);
    const [file = "", ...others] = positionals;
    if (takesFile && (file === "" || others.length > 0))
      throw new UsageError("expected one file");
    return run(values, file);
  };
}

export interface StackChoice {
  stack?: string | undefined;
  cwd?: string | undefined;
}

/** The given ones of these options, as arguments for `pulumi`, which has them too. */
export function stackOptionsIn({ stack, cwd }: StackChoice) {
  return Object.entries({ stack, cwd }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
}

/** From now on, the commands in messages name this stack. */
export function setCommandStack(choice: StackChoice) {
  setCommandTarget(() => ({ options: stackOptionsIn(choice), isInline: isInline(choice) }));
}

/** Whether the stack is named in full, and the folder has no project file for it, as with the Automation API. */
export function isInline({ stack = "", cwd = "." }: StackChoice) {
  return stack.split("/").length === 3 && !isProjectOf(stack, cwd);
}

/** The command, report or format with this name. @throws UsageError that lists the known names. */
export function chosen<T>(known: Readonly<Record<string, T>>, name: string, noun: string) {
  if (Object.hasOwn(known, name)) return known[name] as T;
  throw new UsageError(
    `there is no ${noun} "${printable(name)}"; expected one of ${enumerate(Object.keys(known))}`,
  );
}

/**
 * The text of a file, or of standard input (`-`). Standard input is read as a stream: behind another Node.js program,
 * such as npx, it doesn't block, and reading it at once would fail while the writer has nothing ready.
 * @throws the system's errors.
 */
export async function textOf(file: string) {
  if (file !== "-") return readFile(file, "utf8");
  const { stdin } = process;
  if (stdin.isTTY) throw new UsageError("standard input is a terminal");
  let all = "";
  if (stdin.readableDidRead) return all;
  for await (const chunk of stdin.setEncoding("utf8")) {
    all += chunk;
    // `pulumi plugin run` doesn't end a plugin's input, but what Pulumi prints is indented: its last brace stands alone.
    if (all.trimEnd().endsWith("\n}")) break;
  }
  return all;
}

/** The function that writes a report, by the name that `--format` takes. */
export type Formats<T, More extends unknown[] = []> = Readonly<
  Record<string, (report: T, ...more: More) => string>
>;

export function jsonOf(value: unknown) {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}
