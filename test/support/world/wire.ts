/** The outside of the product in a world: its connections, and Pulumi's command line. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Transport } from "../../../provider/src/client/transport.js";

export interface Cli {
  readonly settings: Readonly<Record<string, string>>;
  readonly stack: string;
  exported(): Promise<string>;
  setTag(value: string): Promise<boolean>;
  tag(): Promise<string | undefined>;
  /** @throws Error with a message if Pulumi refuses it. */
  imported(text: string): Promise<void>;
}

/** A process that may be killed. */
export interface Process {
  readonly isDead: boolean;
  /** Called before and after a change of a file, when the process may be killed. @throws Error if it is dead. */
  meets(moment: "write" | "written"): void;
}

/** The outside for one process. Several may run at once. */
interface Outside {
  readonly process: Process;
  readonly transport: () => Transport;
  readonly cli?: Cli;
  /** Collects what it prints. */
  readonly printed?: string[];
}

const outside = new AsyncLocalStorage<Outside>();

export function inProcess<T>(its: Outside, work: () => Promise<T>): Promise<T> {
  return outside.run(its, work);
}

/** The calling process; none if it is the world itself. */
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

/** Collects what each process of a world prints. */
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
