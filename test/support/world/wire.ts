/** Where the product meets the outside in a world: its connections, and Pulumi's command line. The tests put these in its place. */
import type { Transport } from "../../../provider/src/client/transport.js";

interface Cli {
  readonly settings: Readonly<Record<string, string>>;
  readonly stack: string;
  exported(): string;
  imported(text: string): void;
}

export const theWire: { transport: () => Transport; cli: Cli | undefined } = {
  transport: () => {
    throw new Error("no world");
  },
  cli: undefined,
};

export const cliNow = (): Cli => {
  if (theWire.cli === undefined) throw new Error("no world");
  return theWire.cli;
};
