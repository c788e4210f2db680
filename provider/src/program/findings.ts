/** What is wrong with a program, in words: the one error with which it ends. */
import { createRequire } from "node:module";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { ArgumentsError, count, cut, SettingsError, whyTooOld, withPage } from "../base/index.js";
import { inWords, type Problem } from "../rules/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";

/** What is wrong with one resource, or with a catalog: a section of the error. */
export interface Finding {
  readonly title: string;
  readonly lines: readonly string[];
  readonly problems: number;
}

/** @throws pulumi.RunError the program runs on a Node.js that lacks what this package needs. */
export function expectNodeFits(): void {
  const old = whyTooOld(process.versions.node);
  if (old !== undefined) throw unchanging(new pulumi.RunError(`pulumi-advertising: ${old} Nothing was sent.`));
}

/**
 * The reference in a state is evaluated in the program's folder, by another process: what a library or a bundle brings along is not found there.
 * @returns the file that it loads.
 * @throws pulumi.RunError
 */
export function expectFoundFrom(folder: string): string {
  try {
    return createRequire(join(folder, "index.js")).resolve("pulumi-advertising/handlers");
  } catch {
    const text = `pulumi-advertising: Pulumi's provider process looks for this package from ${folder}, and it is not installed there. Nothing was sent. Install it there, such as with \`npm install pulumi-advertising\`; a library that uses it declares it in peerDependencies.`;
    throw unchanging(new pulumi.RunError(text));
  }
}

/** The error that lists everything. @param consequence what was not done, such as `nothing was sent`. */
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
      findings.map(({ title, lines }) => [`  ${title}:`, ...lines.map((line) => `    ${line}`)].join("\n")),
      MAX_SECTIONS,
      (more) => `  and problems of ${more} more`,
    ),
  ].join("\n");
  const { code } = findings.length > 0 ? ArgumentsError : SettingsError;
  return unchanging(new pulumi.RunError(withPage(text, code)));
}

/** More are counted: a program makes thousands of events in a loop. */
const MAX_SECTIONS = 100;

/** Pulumi would put a property's name before the message, and shows the stack in some of its own, if there is one. */
function unchanging(error: pulumi.RunError): pulumi.RunError {
  const { message } = error;
  error.stack = "";
  return Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
}

export function findingOf(title: string, problems: readonly Problem[]): Finding {
  return { title, lines: inWords(problems), problems: problems.length };
}
