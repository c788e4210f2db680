/** The scripts that people run: `--help` prints how, and a wrong option is one line above that. */
import { spawnSync } from "node:child_process";
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { filesIn } from "../../scripts/release/sums.mjs";
import { newFolder } from "../support/folder.js";

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

/** A copy of the repository in which scripts start, and no more. */
function newClone() {
  const clone = join(newFolder(), "clone");
  for (const path of ["scripts", "package.json", "provider/package.json"])
    cpSync(resolve(scripts, "..", path), join(clone, path), { recursive: true });
  const inClone = (name: string, ...args: string[]) => {
    const file = join(clone, "scripts", `${name}.mjs`);
    const options = { cwd: clone, env: { ...process.env, INIT_CWD: clone } };
    return spawnSync(process.execPath, [file, ...args], { encoding: "utf8", ...options });
  };
  return { clone, inClone };
}

it("release and lint say what `npm start` has left out", () => {
  const { inClone } = newClone();
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

/** Writes an earlier release, made of these files, and the list of them. */
function writeRelease(folder: string, ...files: string[]) {
  mkdirSync(folder, { recursive: true });
  for (const file of ["README.md", ...files])
    writeFileSync(join(folder, file), "# pulumi-advertising 0.0.1\n");
  const lines = ["README.md", ...files].map((file) => `0123456789abcdef  ${file}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), lines.join(""));
}

it("a release replaces nothing but an earlier one", () => {
  const { clone, inClone } = newClone();
  const parent = resolve(clone, "..");
  writeFileSync(join(parent, "notes.txt"), "mine");
  mkdirSync(join(clone, "sub"));
  writeRelease(join(clone, "used"), "a.tgz");
  writeFileSync(join(clone, "used", "own.txt"), "mine");
  symlinkSync(clone, join(parent, "link"), "junction");
  const before = filesIn(parent);
  for (const [out, reason] of [
    [".", "holds this repository"],
    ["..", "holds this repository"],
    ["../link", "holds this repository"],
    ["scripts", "isn't empty, and isn't an earlier release"],
    ["package.json", "is a file"],
    ["used", "has files that its SHA256SUMS doesn't list (own.txt)"],
  ] as const) {
    const { status, stderr } = inClone("release", "--out", out);
    expect(stderr).toBe(
      `\n${resolve(clone, out)} ${reason}. Name a new folder, an empty one, or one with an earlier release.\n`,
    );
    expect(status).toBe(1);
  }
  expect(filesIn(parent)).toEqual(before);
});

it("a release names what isn't committed; if it fails, it leaves the former one", () => {
  const { clone, inClone } = newClone();
  writeRelease(join(clone, "out"), "a.tgz");
  mkdirSync(join(clone, "node_modules"));
  const bundler = join("node_modules", "rolldown");
  symlinkSync(resolve(scripts, "..", bundler), join(clone, bundler), "junction");
  const git = (...args: string[]) =>
    spawnSync("git", ["-c", "user.name=x", "-c", "user.email=x@example.com", ...args], {
      cwd: clone,
    });
  writeFileSync(join(clone, ".gitignore"), "node_modules\nout\n");
  for (const args of [["init"], ["add", "."], ["commit", "--message", "x"]]) git(...args);
  for (const file of ["draft.md", "scripts/lint.mjs"]) writeFileSync(join(clone, file), "");
  const before = filesIn(join(clone, "out"));
  const { status, stderr } = inClone("release", "--out", "out");
  expect(stderr).toContain("The package doesn't compile.");
  expect(stderr).toContain(`aren't committed. They are released too:
  M scripts/lint.mjs
  ?? draft.md
`);
  expect(status).toBe(1);
  expect(filesIn(join(clone, "out"))).toEqual(before);
  expect(readdirSync(clone).filter((name) => name.startsWith("out"))).toEqual(["out"]);
});
