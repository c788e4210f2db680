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
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";

/** What is wrong with a resource or catalog; no lines if nothing is. */
export interface Finding {
  title: string;
  lines: readonly string[];
}

/** @throws pulumi.RunError */
export function expectNodeFits(): void {
  const old = versionProblem(process.versions.node);
  if (old !== undefined) throw runError(`pulumi-advertising: ${old} Nothing was sent.`);
}

/**
 * The reference in a state is evaluated in the program's folder, by another process: what a library or a bundle brings
 * along is not found there. @returns the file that it loads. @throws pulumi.RunError
 */
export function expectFoundFrom(folder: string): string {
  try {
    return createRequire(join(folder, "index.js")).resolve("pulumi-advertising/handlers");
  } catch {
    throw runError(
      `pulumi-advertising: Pulumi's provider process does not find this package from ${folder}. Nothing was sent. ` +
        "Install it there: `npm install pulumi-advertising`. A library that uses it declares it in peerDependencies.",
    );
  }
}

/** A program makes thousands of events in a loop, and a catalog has thousands of rows. */
const MAX_LINES = 100;

/** @param consequence what was not done, such as `nothing was sent`. */
export function programError(
  { problems }: SettingsReading,
  findings: readonly Finding[],
  consequence: string,
): pulumi.RunError {
  const total = findings.reduce((sum, { lines }) => sum + lines.length, problems.length);
  const sections = findings.map(({ title, lines }) =>
    [`${title}:`, ...cut(lines, MAX_LINES)].join("\n    "),
  );
  const lines = [`${count(total, "problem")}; ${consequence}.`];
  if (problems.length > 0) lines.push(describeSettingProblems(problems));
  lines.push(...cut(sections, MAX_LINES).map((section) => `  ${section}`));
  const { code } = findings.length > 0 ? ArgumentsError : SettingsError;
  return runError(withPage(lines.join("\n"), code));
}

/**
 * Pulumi would put a property's name before the message, and shows an error's stack trace in some of its own messages.
 */
function runError(message: string): pulumi.RunError {
  const error = Object.assign(new pulumi.RunError(message), { stack: "" });
  return Object.defineProperty(error, "message", {
    get: () => message,
    set: () => undefined,
  });
}

/** Where any copy finds the folders of the others, whatever its version: so this form is a contract. */
const NOTED: unique symbol = Symbol.for("pulumi-advertising");
const here: { [NOTED]?: Set<string> } = globalThis as object;

/** @param folder of this copy. Loaded twice, it is one. */
export function noteCopy(folder: string): void {
  here[NOTED] ??= new Set();
  here[NOTED].add(folder);
}

/** @throws pulumi.RunError */
export function expectOneCopy(): void {
  const folders = [...(here[NOTED] ?? [])];
  if (folders.length < 2) return;
  const lines = [
    "The program and its provider load several copies of pulumi-advertising, and only one can know the whole program:",
    ...folders.map((folder) => `  ${folder}`),
    "Nothing was sent. Declare it in the program's dependencies, and in your libraries only in peerDependencies " +
      "(`npm ls pulumi-advertising`, `pnpm why` or `yarn why` shows what brings each copy). " +
      "For another's library, install a version that it accepts, and run `npm dedupe` (pnpm, yarn dedupe).",
  ];
  throw runError(withPage(lines.join("\n"), ArgumentsError.code));
}
