/**
 * What is told of a command or an option that there is not: the nearest known one, or all.
 */
import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { didYouMean, enumerate, printable } from "../base/index.js";

/** @param commands the known ones. */
export function unknownCommand(typed: string, commands: readonly string[]): Error {
  return new Error(`there is no command "${printable(typed)}"; ${hint(typed, commands)}`);
}

/** @throws Error about the first of `args` that is none of `options`; `parseArgs` itself would not name a near one. */
export function refuseUnknownOptions(args: readonly string[], options: ParseArgsOptionsConfig): void {
  const { tokens } = parseArgs({ args: [...args], options, strict: false, tokens: true });
  const known = Object.keys(options).map((name) => `--${name}`);
  for (const token of tokens) {
    if (token.kind === "option" && !Object.hasOwn(options, token.name)) {
      throw new Error(`there is no option ${printable(token.rawName)}; ${hint(token.rawName, known)}`);
    }
  }
}

function hint(typed: string, known: readonly string[]): string {
  return didYouMean(typed, known, { list: enumerate(known) });
}
