/**
 * The checks in the program's process. The engine stops at the first resource whose `check` fails, when others are
 * perhaps created already; so everything that is known in the program is checked here first, for the whole program.
 */
import * as pulumi from "@pulumi/pulumi";
import { describeSettingProblems, NAMESPACE, readSettings, type SettingsReading } from "../config/settings.js";
import type { ResourceSchema } from "../schema/resource.js";
import { type Problem, validate } from "../schema/validate.js";
import { count } from "../text.js";

interface Program {
  readonly reading: SettingsReading;
  readonly problems: { readonly resource: string; readonly problems: readonly Problem[] }[];
  /** Resolves once the program's resources were all looked at, if nothing was wrong; never otherwise. */
  readonly admitted: Promise<void>;
}

/** One a deployment: the automation API may run several programs in one process. */
const programs = new WeakMap<object, Program>();
const WITHOUT_STACK = {};

/**
 * Looks at one resource.
 * @param args its arguments; none where it is only read.
 * @returns a promise that its registration waits for. It stays pending where anything in the program is wrong: the
 *   program then ends with one `pulumi.RunError` that lists everything.
 */
export function examine(
  schema: ResourceSchema,
  name: string,
  args: Readonly<Record<string, unknown>> | undefined,
): Promise<void> {
  const program = currentProgram();
  if (args !== undefined) {
    const rules = schema.rules(program.reading.settings);
    const { values, problems } = validate(args, rules, { isUnknown: isNotPlain });
    if (problems.length > 0) program.problems.push({ resource: `${schema.kind} "${name}"`, problems });
    for (const { property, reason } of schema.warnings(values)) {
      warn(`${schema.kind} "${name}": ${property} ${reason}`);
    }
  }
  return program.admitted;
}

function currentProgram(): Program {
  const key = pulumi.runtime.getStackResource() ?? WITHOUT_STACK;
  const known = programs.get(key);
  if (known !== undefined) return known;
  const reading = settingsOfProgram();
  for (const warning of reading.warnings) warn(warning);
  const problems: Program["problems"] = [];
  const admitted = new Promise<void>((resolve) => {
    // After the program's own turn, promises included: all its resources have been looked at by then.
    setImmediate(() => {
      if (reading.problems.length === 0 && problems.length === 0) resolve();
      else throw new pulumi.RunError(describeProblems(reading, problems));
    });
  });
  const program = { reading, problems, admitted };
  programs.set(key, program);
  return program;
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

/** Exported by Pulumi's runtime, but not in its types. */
const { isConfigSecret } = pulumi.runtime as unknown as { isConfigSecret(key: string): boolean };

function describeProblems(reading: SettingsReading, resources: Program["problems"]): string {
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
