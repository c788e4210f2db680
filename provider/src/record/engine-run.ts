/** What the engine's command line says about the run. Pure. */
import { parseArgs } from "node:util";
import { type Environment, listIn } from "../base/index.js";

export interface EngineRun {
  /** `up`, `preview`, `destroy`, `refresh`, or another command of Pulumi; empty if there is none. */
  command: string;
  /** The stack, if the command line names it. */
  stack: string | undefined;
  /** URNs or patterns of `--target` and `--target-replace`. */
  targets: readonly string[];
  excludes: readonly string[];
  /** Whether the targets or excludes extend to their dependents. */
  hasDependents: boolean;
  /** Whether no preview was shown before. */
  skipsPreview: boolean;
}

/** The commands that run a program or change a state, and their other names. */
const ENGINE_COMMANDS: Readonly<Record<string, string>> = {
  up: "up",
  update: "up",
  preview: "preview",
  pre: "preview",
  destroy: "destroy",
  down: "destroy",
  dn: "destroy",
  refresh: "refresh",
  import: "import",
  watch: "watch",
};

const TEXTS = { type: "string", multiple: true } as const;
const SWITCH = { type: "boolean" } as const;
const OPTIONS = {
  stack: { ...TEXTS, short: "s" },
  target: { ...TEXTS, short: "t" },
  "target-replace": TEXTS,
  exclude: { ...TEXTS, short: "x" },
  "target-dependents": SWITCH,
  "exclude-dependents": SWITCH,
  "skip-preview": { ...SWITCH, short: "f" },
  // Its value may look like an option.
  message: { ...TEXTS, short: "m" },
};

/** @param args the engine's, without its name. @param environment the engine's, which a provider process inherits. */
export function runOf(
  args: readonly string[],
  environment: Environment = process.env,
): EngineRun {
  const all = [...optionsIn(environment), ...args];
  // Node.js doesn't know `-s=dev`.
  const words = all.map((word) => word.replace(/^-([a-z])=/i, "--$1="));
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
  const command = positionals.find((word) => Object.hasOwn(ENGINE_COMMANDS, word));
  return {
    command: ENGINE_COMMANDS[command ?? ""] ?? "",
    stack: texts("stack").at(-1),
    targets: [...texts("target"), ...texts("target-replace")],
    excludes: texts("exclude"),
    hasDependents: isOn("target-dependents") || isOn("exclude-dependents"),
    skipsPreview: isOn("skip-preview"),
  };
}

/** Pulumi takes each option from the environment too. */
function optionsIn(environment: Environment) {
  return Object.keys(OPTIONS).flatMap((name) => {
    const variable = `PULUMI_OPTION_${name.replaceAll("-", "_").toUpperCase()}`;
    const values = (environment[variable] ?? "").split(",").filter((value) => value !== "");
    return values.map((value) => (value === "true" ? `--${name}` : `--${name}=${value}`));
  });
}

/** Whether the run's targets include a resource. */
export function isInRun(
  urn: string,
  { targets, excludes }: Pick<EngineRun, "targets" | "excludes">,
): boolean {
  if (matchesTarget(urn, excludes)) return false;
  return targets.length === 0 || matchesTarget(urn, targets);
}

/** Whether one of the patterns matches: `*` stands for text without a colon, `**` for any text. */
export function matchesTarget(urn: string, patterns: readonly string[]): boolean {
  return patterns.some((pattern) => {
    if (!pattern.includes("*")) return pattern === urn;
    const literal = pattern.replace(/[\\^$.+?()[\]{}|/-]/g, "\\$&");
    const any = literal.replace(/\*\*|\*/g, (stars) => (stars === "*" ? "[^:]*" : ".*"));
    return new RegExp(`^${any}$`).test(urn);
  });
}
