/** What is wrong with a program, in the one error that ends it; and its copies of this package: only one is allowed. */
import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import {
  ArgumentsError,
  count,
  cut,
  SettingsError,
  versionProblem,
  withPage,
} from "../base/index.js";
import { type Problem, problemMessages } from "../rules/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";

export interface Finding {
  readonly title: string;
  readonly lines: readonly string[];
  readonly problems: number;
}

/** @throws pulumi.RunError */
export function expectNodeFits(): void {
  const old = versionProblem(process.versions.node);
  if (old !== undefined) throw runError(`pulumi-advertising: ${old} Nothing was sent.`);
}

/**
 * The reference in a state is evaluated in the program's folder, by another process: what a library or a bundle brings
 * along is not found there. Under Yarn's Plug'n'Play Pulumi's own code asks for it, which may load only what is
 * declared for Pulumi. @returns the file that it loads. @throws pulumi.RunError
 */
export function expectFoundFrom(folder: string): string {
  const program = createRequire(join(folder, "index.js"));
  const isPlugged = process.versions.pnp !== undefined;
  try {
    const asking = isPlugged ? createRequire(program.resolve("@pulumi/pulumi")) : program;
    return asking.resolve("pulumi-advertising/handlers");
  } catch {
    const cure = isPlugged
      ? `Yarn's Plug'n'Play keeps it from it. Nothing was sent. Add this to .yarnrc.yml, and run \`yarn install\`:\n  packageExtensions: { "@pulumi/pulumi@*": { peerDependencies: { pulumi-advertising: "*" } } }`
      : "it is not installed there. Nothing was sent. Install it there, such as with `npm install pulumi-advertising`; a library that uses it declares it in peerDependencies.";
    throw runError(
      `pulumi-advertising: Pulumi's provider process looks for this package from ${folder}, and ${cure}`,
    );
  }
}

/** @param consequence what was not done, such as `nothing was sent`. */
export function programError(
  reading: SettingsReading,
  findings: readonly Finding[],
  consequence: string,
): pulumi.RunError {
  const total = findings.reduce((sum, { problems }) => sum + problems, reading.problems.length);
  const text = [
    `${count(total, "problem")}; ${consequence}.`,
    ...(reading.problems.length > 0 ? [describeSettingProblems(reading.problems)] : []),
    ...cut(
      findings.map(({ title, lines }) =>
        [`  ${title}:`, ...lines.map((line) => `    ${line}`)].join("\n"),
      ),
      MAX_SECTIONS,
      (more) => `  and problems of ${more} more`,
    ),
  ].join("\n");
  const { code } = findings.length > 0 ? ArgumentsError : SettingsError;
  return runError(withPage(text, code));
}

/** A program makes thousands of events in a loop. */
const MAX_SECTIONS = 100;

/** Pulumi would put a property's name before the message, and shows the stack in some of its own, if there is one. */
function runError(message: string): pulumi.RunError {
  const error = Object.assign(new pulumi.RunError(message), { stack: "" });
  return Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
}

export function findingOf(title: string, problems: readonly Problem[]): Finding {
  return { title, lines: problemMessages(problems), problems: problems.length };
}

/** Where any copy finds what the others noted, whatever its version: so this form is a contract. */
const NOTED: unique symbol = Symbol.for("pulumi-advertising");
const here: { [NOTED]?: { readonly folders: Set<string> } } = globalThis as object;

/** One copy has to know the whole program: two are refused. @param folder of this copy. Loaded twice, it is one. */
export function noteCopy(folder: string): void {
  here[NOTED] ??= { folders: new Set() };
  here[NOTED].folders.add(folder);
}

export function severalCopies(): Finding[] {
  const folders = [...(here[NOTED]?.folders ?? [])];
  if (folders.length < 2) return [];
  return [
    {
      title: `The program and its provider load ${folders.length} copies of pulumi-advertising, and each knows nothing of the others' resources`,
      lines: [
        ...folders,
        "The whole program needs one copy: the program has it in dependencies, and a library in peerDependencies alone.",
        "These show who brings which: `npm ls pulumi-advertising`, `pnpm why pulumi-advertising`, `yarn why pulumi-advertising`.",
        "npm: run `npm uninstall pulumi-advertising` in the library's folder, and write it into its peerDependencies after that.",
        "pnpm: move it there, give all the same versions of @pulumi/pulumi and typescript, and run `pnpm install`.",
        "yarn: move it there, and run `yarn install`.",
        "If the library is not yours: install a version that it accepts, then run `npm dedupe`, `pnpm dedupe` or `yarn dedupe`.",
      ],
      problems: 1,
    },
  ];
}
