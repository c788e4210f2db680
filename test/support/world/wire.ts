/** Where the product meets the outside in a world: its connections, and Pulumi's command line. The tests put these in its place. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Transport } from "../../../provider/src/client/transport.js";

export interface Cli {
  readonly settings: Readonly<Record<string, string>>;
  readonly stack: string;
  exported(): Promise<string>;
  /** @throws Error in words, where Pulumi refuses it. */
  imported(text: string): Promise<void>;
}

/** A process that may be killed. */
export interface Process {
  readonly isDead: boolean;
  /** It meets a moment at which it may be killed: before and after a change of a file. @throws Error where it is dead, before or by then. */
  meets(moment: "write" | "written"): void;
}

/** What one process sees of the outside: several may be under way at once. */
interface Outside {
  readonly process: Process;
  readonly transport: () => Transport;
  readonly cli?: Cli;
  /** What it prints is kept here. */
  readonly printed?: string[];
}

const outside = new AsyncLocalStorage<Outside>();

export function inProcess<T>(its: Outside, work: () => Promise<T>): Promise<T> {
  return outside.run(its, work);
}

/** The process that asks; none where the world itself does. */
export function processNow(): Process | undefined {
  return outside.getStore()?.process;
}

export function transportNow(): Transport {
  const its = outside.getStore();
  if (its === undefined) throw new Error("no world");
  return its.transport();
}

export function cliNow(): Cli {
  const cli = outside.getStore()?.cli;
  if (cli === undefined) throw new Error("no world");
  return cli;
}

/** Has what a process of a world prints kept with it. */
export function keepWhatIsPrinted(): void {
  for (const name of ["log", "error"] as const) {
    const original = console[name];
    console[name] = (...words: unknown[]) => {
      const printed = outside.getStore()?.printed;
      if (printed === undefined) original(...words);
      else printed.push(words.join(" "));
    };
  }
}
