/** The scripts that people run: `--help` prints how, and a wrong option is one line above that. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";

const scripts = resolve(import.meta.dirname, "../../scripts");

function run(script: string, ...args: string[]) {
  const cwd = mkdtempSync(join(tmpdir(), "scripts-"));
  onTestFinished(() => rmSync(cwd, { recursive: true }));
  const file = join(scripts, `${script}.mjs`);
  const options = { cwd, encoding: "utf8" } as const;
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], options);
  expect(readdirSync(cwd)).toEqual([]);
  return { status, stdout, stderr };
}

const READERS = ["release", "new", "start", "setup", "bench", "sdks", "plain"];

it.each([...READERS, "test", "long-test"])("%s --help", (script) => {
  for (const help of ["--help", "-h"])
    expect(run(script, help)).toEqual({
      status: 0,
      stdout: expect.stringMatching(/^Usage: n/),
      stderr: "",
    });
});

it.each(READERS)("%s with an unknown option", (script) => {
  const { status, stdout, stderr } = run(script, "--nonsense");
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^\n?Unknown option '--nonsense'\.\nUsage: n/);
  expect(stderr).not.toMatch(/^\s+at /m);
});

it("release and lint say what `npm start` has left out", () => {
  const clone = mkdtempSync(join(tmpdir(), "clone-"));
  onTestFinished(() => rmSync(clone, { recursive: true }));
  for (const path of ["scripts", "package.json", "provider/package.json"])
    cpSync(resolve(scripts, "..", path), join(clone, path), { recursive: true });
  const inClone = (name: string, ...args: string[]) => {
    const file = join(clone, "scripts", `${name}.mjs`);
    return spawnSync(process.execPath, [file, ...args], { encoding: "utf8" });
  };
  expect(inClone("release", "--help")).toMatchObject({ status: 0, stderr: "" });
  for (const [script, missing] of [
    ["release", "rolldown"],
    ["lint", "@biomejs/biome"],
  ] as const)
    expect(inClone(script)).toMatchObject({
      status: 1,
      stderr: `\nThe package ${missing} isn't installed. Run \`npm run setup\` first.\n`,
    });
});
