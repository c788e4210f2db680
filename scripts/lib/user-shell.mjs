/** Commands that scripts print for the user's own shell. */
import { delimiter, dirname } from "node:path";
import { ask, inRoot, isAtLeast, readJson } from "./base.mjs";

/** One word of a command, quoted if it has to be. */
export function shellWord(text) {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const LONGEST_ALIGNED = 40;

/** @param commands each with a comment, or alone. @returns lines to paste, the comments of short ones below each other. */
export function linesOf(commands) {
  const lengths = commands.filter(([, comment]) => comment).map(([{ length }]) => length);
  const width = Math.max(...lengths.filter((length) => length <= LONGEST_ALIGNED));
  const lines = commands.map(([command, comment]) =>
    comment ? `${command.padEnd(width)}    # ${comment}` : command,
  );
  return lines.map((line) => `  ${line}`).join("\n");
}

/** The folder of the Node.js that this repository brings, with a warning, if the user's is older than the package needs. */
export function ownNode(node) {
  // While npm runs a script, the first `node` on PATH is this repository's. npm names the one that runs it.
  const version = ask(process.env.npm_node_execpath ?? process.execPath, ["--version"]);
  const needed = readJson(inRoot("provider", "package.json")).engines.node;
  if (isAtLeast(version, needed)) return [];
  console.warn(`
Your Node.js is ${version}. The project needs ${needed.slice(2)} or later, so the \`export PATH\` below puts this repository's
${ask(node, ["--version"])} first. In the long run, install your own: https://nodejs.org/`);
  return [dirname(node)];
}

/** @param folders that come first. @returns the command for {@link linesOf}, if there are any. */
export const pathCommand = (folders) =>
  folders.length === 0 ? [] : [[`export PATH="${folders.join(delimiter)}:$PATH"`]];
