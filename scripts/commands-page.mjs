/** Writes docs/commands.md from what `--help` of the commands prints, as they were built last; with --print it only prints the page. */

import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { inRoot } from "./lib/paths.mjs";

const helpOf = (room) =>
  execFileSync(process.execPath, [inRoot("provider", "dist", room, "command.js"), "--help"], {
    encoding: "utf8",
  }).trim();

/** Each usage with its options, under the command's name. */
const sections = helpOf("tools")
  .split(/\n\n(?=Usage: )/)
  .flatMap((text) => {
    const name = /^Usage: pulumi-advertising ([a-z]+)/.exec(text)?.[1];
    return name === undefined ? [] : [section(`pulumi-advertising ${name}`, text)];
  });

function section(name, text) {
  return `## ${name}\n\n\`\`\`text\n${text}\n\`\`\`\n`;
}

const page = `# Commands

What \`--help\` prints for each command (\`npm run commands\` writes this page).

In a project that has the package, run \`npx pulumi-advertising <command>\`. Only these change anything: \`login\`, and
\`pending\` with an option that settles or forgets.

${[...sections, section("advertising-sandbox", helpOf("sandbox"))].join("\n")}`;

if (process.argv.includes("--print")) process.stdout.write(page);
else writeFileSync(inRoot("docs", "commands.md"), page);
