/**
 * What the commands have in common: they are declared with their help, their options and what they do. `command.ts` calls them;
 * everything that they read from standard input or write to a file passes through here.
 */

import { writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { commandsTake, didYouMean, enumerate, printable, UsageError } from "../base/index.js";

export interface Command {
  readonly help: string;
  /** @returns the exit code. @throws Error in words, for exit code 2; a UsageError where the call is wrong. */
  readonly run: (args: readonly string[]) => Promise<number>;
}

export type Values<O extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: O }>>["values"];

interface Declaration<O extends ParseArgsOptionsConfig> {
  readonly help: string;
  /** All but `--help`, which each command takes. */
  readonly options: O;
  /** The words that belong to no option: how many it takes, and what they are. @default none */
  readonly takes?: {
    readonly amount: number | readonly number[] | ((values: Values<O>) => number);
    readonly words: string;
  };
  readonly run: (values: Values<O>, ...words: string[]) => Promise<number>;
}

export function command<const O extends ParseArgsOptionsConfig>(declaration: Declaration<O>): Command {
  const { help, takes, run } = declaration;
  const options = { ...declaration.options, help: { type: "boolean", short: "h" } } as const;
  return {
    help,
    run: async (args) => {
      refuseUnknownOptions(args, options);
      const { values, positionals } = parsed({ args: [...args], options, allowPositionals: takes !== undefined });
      const { help: isHelpWanted, ...given } = values as { readonly help?: boolean };
      if (isHelpWanted === true) return say(help);
      commandsTake(stackOptionsIn(given as StackChoice));
      const amount = typeof takes?.amount === "function" ? takes.amount(given as Values<O>) : takes?.amount;
      if (takes !== undefined && ![amount].flat().includes(positionals.length)) {
        throw new UsageError(`expected ${takes.words}; got ${positionals.join(" ") || "none"}`);
      }
      return run(given as Values<O>, ...positionals);
    },
  };
}

/** Which stack a command is about. */
export interface StackChoice {
  readonly stack?: string | undefined;
  readonly cwd?: string | undefined;
}

/** Of these options, as `pulumi` has them too, those that were given. */
export function stackOptionsIn(choice: StackChoice): { readonly option: string; readonly value: string }[] {
  return (["stack", "cwd"] as const).flatMap((name) => {
    const value = choice[name];
    return value === undefined ? [] : [{ option: `--${name}`, value }];
  });
}

const parsed: typeof parseArgs = (config) => {
  try {
    return parseArgs(config);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
};

/** Prints it. @returns the exit code. */
export function say(sentence: string, code = 0): number {
  console.log(sentence);
  return code;
}

/** @throws UsageError about the first of `args` that is none of `options`; `parseArgs` itself would not name a near one. */
export function refuseUnknownOptions(args: readonly string[], options: ParseArgsOptionsConfig): void {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const known = Object.keys(options).map((name) => `--${name}`);
  for (const token of tokens) {
    if (token.kind === "option" && !Object.hasOwn(options, token.name)) {
      throw new UsageError(`there is no option ${printable(token.rawName)}; ${hintFor(token.rawName, known)}`);
    }
  }
}

/** @throws UsageError about options that were given and mean nothing to `asked`, such as `report page`. */
export function refuseForeignOptions(asked: string, given: object, known: readonly string[]): void {
  const foreign = Object.keys(given).filter((option) => !known.includes(option));
  if (foreign.length === 0) return;
  throw new UsageError(`\`${asked}\` takes no ${enumerate(foreign.map((option) => `--${option}`))}`);
}

/**
 * One of several that are known by their names: a command, a report, a format.
 * @param others names that are known as well, for the hint. @throws UsageError that names the nearest known one, or all.
 */
export function chosen<T>(
  known: Readonly<Record<string, T>>,
  name: string,
  noun: string,
  others: readonly string[] = [],
): T {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  throw new UsageError(
    `there is no ${noun} "${printable(name)}"; ${hintFor(name, [...Object.keys(known), ...others])}`,
  );
}

function hintFor(typed: string, known: readonly string[]): string {
  return didYouMean(typed, known, { list: enumerate(known) });
}

/**
 * The text of a file. Standard input is read as a stream: behind another Node.js program, such as npx, it does not block, and
 * reading it at once would fail while the writer has nothing ready.
 * @param file or `-` for standard input. @throws Error in words.
 */
export async function textOf(file: string): Promise<string> {
  try {
    if (file !== "-") return await readFile(file, "utf8");
    return process.stdin.readableEnded ? "" : await text(process.stdin);
  } catch (error) {
    throw new Error(`${file === "-" ? "standard input" : file} could not be read: ${(error as Error).message}`);
  }
}

/** Writes a report. @param file none, or `-`, for standard output. @throws Error in words. */
export function write(report: string, file: string | undefined): void {
  if (file === undefined || file === "-") {
    process.stdout.write(report);
    return;
  }
  try {
    writeFileSync(file, report);
  } catch (error) {
    throw new Error(`the report could not be written to ${file}: ${(error as Error).message}`);
  }
}
