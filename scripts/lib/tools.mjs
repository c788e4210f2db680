import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { inRoot, isWindows, Problem, run } from "./base.mjs";

/** npm packages that only a single test or a release needs. */
const TOOLS = {
  "@arethetypeswrong/cli": "0.18.5",
  "@sparticuz/chromium": "153.0.0",
  publint: "0.3.25",
};
const folder = inRoot(".pulumi-local", "tools");
const QUIET = ["--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error"];

/** Installs a tool when it's first needed. @returns its package's folder. */
export async function fetchTool(name) {
  const place = join(folder, `${name}@${TOOLS[name]}`);
  const installed = join(place, "node_modules", name);
  if (existsSync(place)) return installed;
  mkdirSync(dirname(place), { recursive: true });
  const fetching = mkdtempSync(join(folder, "fetching-"));
  try {
    writeFileSync(join(fetching, "package.json"), '{ "private": true }');
    const args = ["install", ...QUIET, "--prefix", fetching, `${name}@${TOOLS[name]}`];
    const options = { cwd: fetching, capture: true, shell: isWindows };
    const { exitCode, output } = await run("npm", args, options);
    if (exitCode !== 0) throw new Problem(`${output}\nnpm could not install ${name}.`);
    if (!existsSync(place)) renameSync(fetching, place);
    return installed;
  } finally {
    rmSync(fetching, { recursive: true, force: true });
  }
}
