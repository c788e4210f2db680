/**
 * Commands to a running sandbox: one language for what is typed at it and for what is sent to its control address.
 */
import type { ControlAnswer } from "./control-address.js";
import { FAULT_LANGUAGE, NotUnderstood, parseFaults } from "./fault-language.js";
import type { FaultRule } from "./options.js";
import type { Sandbox } from "./server.js";
import { tableOf } from "./shown.js";
import { didYouMean, printable } from "./text.js";

export interface Controls {
  readonly sandbox: Pick<Sandbox, "fail" | "endFaults" | "expireSessions" | "reset" | "snapshot">;
  /** Ends the sandbox as a signal does. */
  readonly quit: () => void;
}

type Command = (controls: Controls, words: readonly string[]) => Omit<ControlAnswer, "isOk">;

const COMMANDS = new Map<string, Command>([
  ["fail", fail],
  ["list", list],
  ["expire", ({ sandbox }, words) => done(words, "Every session has ended.", () => sandbox.expireSessions())],
  ["reset", ({ sandbox }, words) => done(words, "Nothing lives here any more.", () => sandbox.reset())],
  ["help", (_, words) => done(words, CONTROL_HELP)],
  ["quit", ({ quit }, words) => ({ ...done(words, "The sandbox ends."), afterwards: quit })],
]);

export const COMMAND_NAMES: readonly string[] = [...COMMANDS.keys()];

export const CONTROL_HELP = `fail TARGET:FAULT[:TIMES] …   makes the next requests fail; \`fail none\` ends that
list [--json]                 what lives there
expire                        ends every session
reset                         forgets what lives there, and faults, sessions and counts
help                          this text
quit                          ends the sandbox`;

/** @param line one command with its words. */
export function carryOut(controls: Controls, line: string): ControlAnswer {
  const [name = "", ...words] = line.split(/\s+/).filter((word) => word !== "");
  if (name === "") return { isOk: true, text: "" };
  try {
    const command = COMMANDS.get(name);
    if (command === undefined) {
      const nearest = didYouMean(name, COMMAND_NAMES);
      throw new NotUnderstood(`there is no command ${quoted(name)}${nearest}; known: ${COMMAND_NAMES.join(", ")}`);
    }
    return { isOk: true, ...command(controls, words) };
  } catch (error) {
    if (error instanceof NotUnderstood) return { isOk: false, text: error.message };
    throw error;
  }
}

function fail({ sandbox }: Controls, words: readonly string[]): Omit<ControlAnswer, "isOk"> {
  if (words.length === 0) {
    throw new NotUnderstood(
      `fail takes <target>:<fault>[:<times>], or none\n${FAULT_LANGUAGE}`.replaceAll("\n", "\n  "),
    );
  }
  if (words.length === 1 && words[0] === "none") {
    sandbox.endFaults();
    return { text: "No request fails any more." };
  }
  const rules = parseFaults(words);
  for (const rule of rules) sandbox.fail(rule);
  return { text: rules.map(inWords).join("\n") };
}

/** A rule of the fault language, as a sentence. */
export function inWords({ on, with: fault, times = 1, act }: FaultRule): string {
  const requests =
    times === 1 ? "The next request" : Number.isFinite(times) ? `The next ${times} requests` : "All requests";
  const name = fault.kind === "answer" ? `status-${fault.status}` : fault.kind;
  return `${requests} to ${on}: ${name}${act ? ", after it was carried out" : ""}.`;
}

function list({ sandbox }: Controls, words: readonly string[]): Omit<ControlAnswer, "isOk"> {
  const [option] = words;
  if (option === undefined) return { text: tableOf(sandbox.snapshot()) };
  if (words.length === 1 && option === "--json") return { text: JSON.stringify(sandbox.snapshot(), undefined, 2) };
  throw new NotUnderstood(
    `list takes nothing but --json; got ${quoted(words.join(" "))}${didYouMean(option, ["--json"])}`,
  );
}

function done(words: readonly string[], text: string, act?: () => void): Omit<ControlAnswer, "isOk"> {
  if (words.length > 0) throw new NotUnderstood(`nothing may follow here; got ${quoted(words.join(" "))}`);
  act?.();
  return { text };
}

function quoted(text: string): string {
  return `"${printable(text, 80)}"`;
}
