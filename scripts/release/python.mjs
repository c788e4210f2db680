/** A Python environment with the tools that pack and check, kept in `.pulumi-local`. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ask, isWindows, localFolder, Problem } from "../lib/base.mjs";
import { succeed } from "./run.mjs";

const TOOLS = ["build==1.6.1", "jsonschema==4.26.0", "setuptools==84.2.1", "twine==7.0.0"];

/** @returns the path of its Python. */
export async function pythonEnvironment() {
  const folder = join(localFolder, "release", "python");
  const python = isWindows
    ? join(folder, "Scripts", "python.exe")
    : join(folder, "bin", "python");
  const base = isWindows ? "python" : "python3";
  if (ask(base, ["--version"]) === undefined)
    throw new Problem("Python is needed to pack and check the SDK for Python.");
  // Written last, so that an interrupted installation is done again.
  const list = join(folder, "tools.txt");
  const tools = TOOLS.join("\n");
  if (existsSync(list) && readFileSync(list, "utf8") === tools) return python;
  if (!existsSync(python)) await succeed(base, ["-m", "venv", folder]);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
  await succeed(python, [...pip, "--no-compile", ...TOOLS]);
  writeFileSync(list, tools);
  return python;
}
