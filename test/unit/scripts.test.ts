/** The scripts that people run: `--help` prints how, and a wrong option is one line above that. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
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
