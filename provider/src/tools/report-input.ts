/** Where reports read from and write to. */
import { readFileSync, writeFileSync } from "node:fs";
import { didYouMean, enumerate, own } from "../base/index.js";
import { pulumi, type StackOptions } from "./pulumi.js";
import { type ExportedStack, readExport } from "./stack-export.js";

/** The options that say which stack is meant. */
export const STACK_OPTIONS = {
  state: { type: "string" },
  stack: { type: "string" },
  cwd: { type: "string" },
} as const;

export interface StackChoice {
  /** A file, or `-` for standard input. */
  readonly state?: string | undefined;
  readonly stack?: string | undefined;
  readonly cwd?: string | undefined;
}

/** The state that is meant; of the selected stack where nothing else is said. Secrets stay encrypted. @throws Error in words. */
export async function stateOf({ state, stack, cwd }: StackChoice): Promise<ExportedStack> {
  if (state !== undefined) {
    const besides = [stack === undefined ? [] : "--stack", cwd === undefined ? [] : "--cwd"].flat();
    if (besides.length > 0) throw new Error(`--state names the state already: leave out ${besides.join(" and ")}`);
    return readExport(textOf(state));
  }
  return readExport(await pulumi(["stack", "export", ...passed({ stack, cwd })]));
}

/**
 * An earlier state, as `pulumi stack export` printed it, or as a file backend keeps it of each update
 * (`.pulumi/history/…/*.checkpoint.json`). @throws Error in words.
 */
export function earlierStateOf(file: string): ExportedStack {
  const text = textOf(file);
  const latest = checkpointIn(text);
  try {
    return readExport(latest === undefined ? text : JSON.stringify({ version: 3, deployment: latest }));
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`);
  }
}

function checkpointIn(text: string): unknown {
  try {
    return own(own(JSON.parse(text), "checkpoint"), "latest");
  } catch {
    return undefined; // told as what is no export
  }
}

/** For `pulumi`. */
export function passed({ stack, cwd }: StackChoice): StackOptions {
  return [...(stack === undefined ? [] : ["--stack", stack]), ...(cwd === undefined ? [] : ["--cwd", cwd])];
}

/** @param file or `-` for standard input. @throws Error in words. */
export function textOf(file: string): string {
  try {
    return readFileSync(file === "-" ? 0 : file, "utf8");
  } catch (error) {
    throw new Error(`${file === "-" ? "standard input" : file} could not be read: ${(error as Error).message}`);
  }
}

/** @param file none for standard output. @throws Error in words. */
export function write(text: string, file: string | undefined): void {
  if (file === undefined || file === "-") {
    process.stdout.write(text);
    return;
  }
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new Error(`the report could not be written to ${file}: ${(error as Error).message}`);
  }
}

/** @throws Error that names the nearest known one, or all. */
export function chosen<T>(known: Readonly<Record<string, T>>, name: string, noun: string): T {
  const found = Object.hasOwn(known, name) ? known[name] : undefined;
  if (found !== undefined) return found;
  const hint = didYouMean(name, Object.keys(known), { list: enumerate(Object.keys(known)) });
  throw new Error(`there is no ${noun} "${name}"; ${hint}`);
}
