/** What the commands share: how they are declared, how they read standard input, and how they write reports. */
import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { commandsTake, enumerate, printable, UsageError } from "../base/index.js";
import { isProjectOf } from "../journal/index.js";

export interface Command {
  readonly help: string;
  /** @returns the exit code. @throws Error in words, for exit code 2; a UsageError where the call is wrong. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

type Values<O extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: O }>>["values"];

export function command<const O extends ParseArgsOptionsConfig>(declaration: {
  readonly help: string;
  /** All but `--help`, which each command takes. */
  readonly options: O;
  readonly takes?: string;
  readonly run: (values: Values<O>, word: string) => Promise<number>;
}): Command {
  const { help, takes, run } = declaration;
  const options = { ...declaration.options, help: { type: "boolean", short: "h" } } as const;
  return {
    help,
    run: async (args) => {
      const { values, positionals } = parsed({ args: [...args], options, allowPositionals: takes !== undefined });
      const { help: isHelpWanted, ...given } = values as { readonly help?: boolean };
      if (isHelpWanted === true) return say(help);
      commandsTake(() => ({ options: stackOptionsIn(given), isInline: isInline(given) }));
      const [word = "", ...more] = positionals;
      if (takes !== undefined && (word === "" || more.length > 0))
        throw new UsageError(`expected ${takes}; got ${positionals.join(" ") || "none"}`);
      return run(given as Values<O>, word);
    },
  };
}

const parsed: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
};

export interface StackChoice {
  readonly stack?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Of these options, as `pulumi` has them too, those that were given. */
export function stackOptionsIn({ stack, cwd }: StackChoice): { readonly option: string; readonly value: string }[] {
  const all = Object.entries({ "--stack": stack, "--cwd": cwd });
  return all.flatMap(([option, value]) => (value === undefined ? [] : [{ option, value }]));
}

/** Whether a stack is named in full where no project file is of its project, as for the Automation API's programs. */
export function isInline({ stack = "", cwd = "." }: StackChoice): boolean {
  return stack.split("/").length === 3 && !isProjectOf(stack, cwd);
}

export function say(sentence: string, code = 0): number {
  console.log(sentence);
  return code;
}

/** One of several that are known by their names: a command, a report, a format. @throws UsageError that names all. */
export function chosen<T>(known: Readonly<Record<string, T>>, name: string, noun: string): T {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  throw new UsageError(`there is no ${noun} "${printable(name)}"; known are ${enumerate(Object.keys(known))}`);
}

/**
 * The text of a file, or of standard input (`-`). That is read as a stream: behind another Node.js program, such as
 * npx, it does not block, and reading it at once would fail while the writer has nothing ready. @throws Error in words.
 */
export async function textOf(file: string): Promise<string> {
  try {
    if (file !== "-") return await readFile(file, "utf8");
    return process.stdin.readableEnded ? "" : await text(process.stdin);
  } catch (error) {
    throw new Error(`${file === "-" ? "standard input" : file} could not be read: ${(error as Error).message}`);
  }
}

/** Writes a report. @param file none or `-`: standard output. @returns the exit code. @throws Error of the system. */
export function write(report: string, file: string | undefined): number {
  if (file === undefined || file === "-") process.stdout.write(report);
  else writeFileSync(file, report);
  return 0;
}

export function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

/**
 * CSV as RFC 4180 has it, behind a byte order mark: without one, Excel does not read it as UTF-8. A spreadsheet carries out a cell that begins like a formula: an apostrophe keeps it text. In
 * many countries semicolons separate cells, even inside quotation marks, so each part of a text may begin a cell.
 * @param rows the first of them the header.
 */
export function csvOf(rows: readonly (readonly string[])[]): string {
  const cell = (text: string) => {
    const safe = text.replace(/(^|[;\t\r\n])(?=[=+\-@\t\r])/g, "$1'");
    return /[",;\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return `\ufeff${rows.map((cells) => `${cells.map(cell).join(",")}\r\n`).join("")}`;
}
