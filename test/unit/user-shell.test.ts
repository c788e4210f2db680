/** The commands that `npm start` and `npm run new` print: what a user pastes does what it says. */
import { execFileSync } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { cliFolder } from "../../scripts/lib/base.mjs";
import { commandOf } from "../../scripts/lib/cli.mjs";
import { linesOf, shellWord } from "../../scripts/lib/user-shell.mjs";
import { newFolder } from "../support/folder.js";

const sh = (script: string) =>
  execFileSync("sh", ["-ec", script], { encoding: "utf8" }).trimEnd();

it.each(["../shop", "../with space/shop", "it's", "$HOME/`x`", "~/a", "a\\b", ""])(
  "a shell reads %j as one word",
  (text) => {
    expect(sh(`printf %s ${shellWord(text)}`)).toBe(text);
  },
);

it("a shell takes no comment for an argument", () => {
  const lines = linesOf([
    ["echo one", "a `comment`"],
    ["echo two"],
    [`echo ${"long ".repeat(20).trim()}`, "another"],
  ]);
  expect(sh(lines)).toBe(`one\ntwo\n${"long ".repeat(20).trim()}`);
  expect(lines.split("\n")[0]).toBe("  echo one    # a `comment`");
});

/** A folder with a CLI, or with the script that the npm package has. */
function folderWith(kind: "cli" | "npm"): string {
  const folder = newFolder();
  if (kind === "cli") writeFileSync(join(folder, "pulumi"), "");
  else {
    mkdirSync(join(folder, "package"));
    writeFileSync(join(folder, "package", "run.js"), "");
    symlinkSync(join(folder, "package", "run.js"), join(folder, "pulumi"));
  }
  return folder;
}

it.skipIf(process.platform === "win32")(
  "the CLI is named so that no other one is fetched or started",
  () => {
    const [npm, first, second] = [folderWith("npm"), folderWith("cli"), folderWith("cli")];
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv("PATH", [npm, first, second].join(delimiter));
    expect(commandOf(first)).toBe("pulumi");
    expect(commandOf(second)).toBe(join(second, "pulumi"));
    expect(commandOf(cliFolder)).toBe("npx pulumi");
  },
);
