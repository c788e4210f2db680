/**
 * The one error with which a program ends when anything in it is wrong: it lists everything.
 */
import * as pulumi from "@pulumi/pulumi";
import { ArgumentsError, count, SettingsError, whyTooOld, withCode } from "../base/index.js";
import type { Problem } from "../rules/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";
import type { Open } from "./undeclared.js";

/** What is wrong with one resource. */
export interface Section {
  readonly title: string;
  readonly lines: readonly string[];
  readonly problems: number;
}

export function sectionOf(title: string, problems: readonly Problem[]): Section {
  return { title, lines: problems.map(({ property, reason }) => `${property} ${reason}`), problems: problems.length };
}

export function sectionOfOpen({ title, lines }: Open): Section {
  return { title, lines, problems: 1 };
}

/** @throws pulumi.RunError the program runs on a Node.js that lacks what this package needs. */
export function expectNodeFits(): void {
  const old = whyTooOld(process.versions.node);
  if (old !== undefined) throw unchanging(new pulumi.RunError(`pulumi-advertising: ${old} Nothing was sent.`));
}

/** @param consequence what was not done, such as `nothing was sent`. */
export function programError(
  reading: SettingsReading,
  sections: readonly Section[],
  consequence: string,
): pulumi.RunError {
  const total = sections.reduce((sum, { problems }) => sum + problems, reading.problems.length);
  const text = [
    `${count(total, "problem")}; ${consequence}.`,
    ...(reading.problems.length > 0 ? [describeSettingProblems(reading.problems)] : []),
    ...sections.map(({ title, lines }) => [`  ${title}:`, ...lines.map((line) => `    ${line}`)].join("\n")),
  ].join("\n");
  const code = sections.length > 0 ? ArgumentsError.code : SettingsError.code;
  return unchanging(new pulumi.RunError(withCode(text, code)));
}

/** Pulumi puts a property's name in front of an error's message, and shows an error that comes for each resource once. */
function unchanging(error: pulumi.RunError): pulumi.RunError {
  const { message } = error;
  error.stack = ""; // some of its ways to the user show the stack where there is one
  return Object.defineProperty(error, "message", { get: () => message, set: () => undefined });
}
