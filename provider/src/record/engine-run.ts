/** Reads the engine's command line: the command, the stack, and the resources that it targets. Pure. */
import { parseArgs } from "node:util";
import { listIn } from "../base/index.js";

export interface EngineRun {
  /** `up` or `preview`, the commands that run a whole program, or `refresh`. Any other text is another command. */
  command: string;
  /** The stack, if the command line names it. */
  stack: string | undefined;
  /** URNs or patterns of `--target` and `--target-replace`. */
  targets: readonly string[];
  excludes: readonly string[];
  /** Whether the targets or excludes extend to their dependents. */
  hasDependents: boolean;
  /**
   * Whether it names policy packs, which may change a resource's arguments after its `check`. Pulumi Cloud has policies of
   * its own, which nobody here sees.
   */
  hasPolicies: boolean;
  /** Whether the program is an inline one of the Automation API, whose project file is gone after the run. */
  isInline: boolean;
}

/** The commands that a run needs to know, and their other names. */
const ENGINE_COMMANDS = new Map([
  ["up", "up"],
  ["update", "up"],
  ["preview", "preview"],
  ["pre", "preview"],
  ["refresh", "refresh"],
]);

const TEXTS = { type: "string", multiple: true } as const;
const SWITCH = { type: "boolean" } as const;
const OPTIONS = {
  stack: { ...TEXTS, short: "s" },
  target: { ...TEXTS, short: "t" },
  "target-replace": TEXTS,
  exclude: { ...TEXTS, short: "x" },
  "target-dependents": SWITCH,
  "exclude-dependents": SWITCH,
  "policy-pack": TEXTS,
  client: TEXTS,
  // Its value may look like an option.
  message: { ...TEXTS, short: "m" },
};

/** @param args the engine's, without its name. */
export function runOf(args: readonly string[]) {
  // Node.js doesn't know `-s=dev`.
  const words = args.map((word) => word.replace(/^-([a-z])=/i, "--$1="));
  const { values, positionals } = parseArgs({
    args: words.map((word) => word.replace(/^--([stx])=/, "-$1")),
    options: OPTIONS,
    strict: false,
    allowPositionals: true,
  });
  const texts = (name: keyof typeof OPTIONS) =>
    listIn<string>(values[name]).filter((value) => typeof value === "string");
  const isOn = (name: keyof typeof OPTIONS) =>
    !/^(undefined|0|f|false)$/i.test(String(values[name]));
  // The first one may be the value of an option.
  const [command = ""] = positionals.flatMap((word) => ENGINE_COMMANDS.get(word) ?? []);
  return {
    command,
    stack: texts("stack").at(-1),
    targets: [...texts("target"), ...texts("target-replace")],
    excludes: texts("exclude"),
    hasDependents: isOn("target-dependents") || isOn("exclude-dependents"),
    hasPolicies: texts("policy-pack").length > 0,
    isInline: texts("client").length > 0,
  };
}

/** Whether it runs a whole program, which may adopt what leaves the state; true if the run isn't known. */
export function isOfProgram(run: EngineRun | undefined) {
  return !run || run.command === "up" || run.command === "preview";
}

/** Whether a run of the program leaves some of its resources out. */
export function isPartial(run: EngineRun | undefined): run is EngineRun {
  if (!run || !isOfProgram(run)) return false;
  return run.targets.length + run.excludes.length > 0;
}

/** Whether the run's targets include a resource. */
export function isInRun(urn: string, { targets, excludes }: EngineRun) {
  if (matchesTarget(urn, excludes)) return false;
  return targets.length === 0 || matchesTarget(urn, targets);
}

/** Whether one of the patterns matches: `*` stands for text without a colon, `**` for any text. */
export function matchesTarget(urn: string, patterns: readonly string[]) {
  return patterns.some((pattern) => {
    if (!pattern.includes("*")) return pattern === urn;
    const literal = pattern.replace(/[\\^$.+?()[\]{}|/-]/g, "\\$&");
    const any = literal.replace(/\*\*|\*/g, (stars) => (stars === "*" ? "[^:]*" : ".*"));
    return new RegExp(`^${any}$`).test(urn);
  });
}
