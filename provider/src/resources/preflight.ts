/**
 * The checks in the program's process. The engine stops at the first resource whose `check` fails, when others are
 * perhaps created already; so everything that is known in the program is checked here first, for the whole program.
 */
import * as pulumi from "@pulumi/pulumi";
import { describeSettingProblems, NAMESPACE, readSettings, type SettingsReading } from "../config/settings.js";
import type { ResourceSchema } from "../schema/resource.js";
import { type Problem, validate } from "../schema/validate.js";
import { count } from "../text.js";

interface Problems {
  readonly resource: string;
  readonly problems: readonly Problem[];
}

/** The resources of one turn of the program: all of it, but for what comes after a wait for a timer, a file or the like. */
interface Turn {
  readonly problems: Problems[];
  /** Settles once all resources of the turn were looked at: rejected where anything was wrong. */
  readonly admitted: Promise<void>;
}

interface Program {
  readonly reading: SettingsReading;
  turn: Turn | undefined;
}

/** One a deployment: the automation API may run several programs in one process. */
const programs = new WeakMap<object, Program>();
const WITHOUT_STACK = {};

/**
 * Looks at one resource.
 * @param args its arguments; none where it is only read.
 * @param imports whether it has Pulumi's option `import`.
 * @returns a promise that its registration waits for. Where anything in the program is wrong, it is rejected with the one
 *   `pulumi.RunError` that lists everything, and with which the program ends.
 */
export function examine(
  schema: ResourceSchema,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
  imports: boolean,
): Promise<void> {
  const program = currentProgram();
  program.turn ??= beginTurn(program);
  if (args !== undefined) {
    const rules = schema.rules(program.reading.settings);
    const { values, problems } = validate(args, rules, { isUnknown: isNotPlain });
    const all = imports ? [...problems, IMPORT_PROBLEM] : problems;
    if (all.length > 0) program.turn.problems.push({ resource: `${schema.kind} "${name}"`, problems: all });
    for (const { property, reason } of schema.warnings(values)) {
      warn(`${schema.kind} "${name}": ${property} ${reason}`);
    }
  }
  return program.turn.admitted;
}

/** Pulumi's dynamic providers can't import: they are not told which provider the id belongs to. */
const IMPORT_PROBLEM: Problem = {
  property: "import",
  reason: "is an option that does not work here: name the live object with the argument existingId",
};

function currentProgram(): Program {
  const key = pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  const known = programs.get(key);
  if (known !== undefined) return known;
  const reading = settingsOfProgram();
  for (const warning of reading.warnings) warn(warning);
  const program: Program = { reading, turn: undefined };
  programs.set(key, program);
  return program;
}

function beginTurn(program: Program): Turn {
  const { reading } = program;
  const problems: Problems[] = [];
  const admitted = new Promise<void>((resolve, reject) => {
    // After the program's own turn, promises included: all its resources have been looked at by then.
    setImmediate(() => {
      program.turn = undefined;
      if (reading.problems.length === 0 && problems.length === 0) return resolve();
      const error = unchanging(new pulumi.RunError(describeProblems(reading, problems)));
      // Ends each resource's wait, which an inline program of the automation API would else sit out for ever.
      reject(error);
      throw error;
    });
  });
  return { problems, admitted };
}

function settingsOfProgram(): SettingsReading {
  const config = new pulumi.Config(NAMESPACE);
  const prefix = `${NAMESPACE}:`;
  const all = Object.keys(pulumi.runtime.allConfig());
  return readSettings({
    config: (key) => config.get(key),
    environment: process.env,
    keys: all.filter((key) => key.startsWith(prefix)).map((key) => key.slice(prefix.length)),
    isSecret: (key) => isConfigSecret(`${prefix}${key}`),
    mayLackPassword: pulumi.runtime.isDryRun(),
  });
}

/** Pulumi puts a property's name in front of an error's message, and shows an error that comes for each resource once. */
function unchanging(error: pulumi.RunError): pulumi.RunError {
  const { message } = error;
  error.stack = ""; // some of its ways to the user show the stack where there is one
  return Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
}

/** Exported by Pulumi's runtime, but not in its types. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

function describeProblems(reading: SettingsReading, resources: readonly Problems[]): string {
  const total = resources.reduce((sum, { problems }) => sum + problems.length, reading.problems.length);
  const sections = resources.map(({ resource, problems }) =>
    [`  ${resource}:`, ...problems.map(({ property, reason }) => `    ${property} ${reason}`)].join("\n"),
  );
  return [
    `${count(total, "problem")}; nothing was registered and nothing was sent.`,
    ...(reading.problems.length > 0 ? [describeSettingProblems(reading.problems)] : []),
    ...sections,
  ].join("\n");
}

function warn(message: string): void {
  void pulumi.log.warn(message);
}

/** Outputs and promises, or anything that holds one: not known in the program yet. */
export function isNotPlain(value: unknown, depth = 0): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  // Deeper than any request field: a value that holds itself ends here and is refused by its rule.
  return depth < 20 && Object.values(value).some((entry) => isNotPlain(entry, depth + 1));
}
