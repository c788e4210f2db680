/** The programs in the resources' descriptions and in the SDKs' READMEs: whole programs in examples/resources. */
import { readFileSync } from "node:fs";
import { inRoot } from "./base.mjs";

const ENDINGS = { typescript: "ts", python: "py", yaml: "yaml", go: "go" };
/** Those that have a program for each resource. */
export const EXAMPLE_LANGUAGES = ["typescript", "python", "yaml"];

/** @param resource its name, such as `Advertiser`. @returns a path in the repository. */
export const examplePath = (language, resource) =>
  inRoot("examples", "resources", language, `${resource}.${ENDINGS[language]}`);

/** @returns the program as a block of Markdown. */
export function exampleOf(language, resource) {
  const program = readFileSync(examplePath(language, resource), "utf8");
  return `\`\`\`${language}\n${program}\`\`\``;
}
