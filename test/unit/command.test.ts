/** The command `pulumi-advertising`, as far as it needs neither a stack nor Pulumi. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";

const provider = resolve(import.meta.dirname, "../../provider");
const { version } = JSON.parse(readFileSync(resolve(provider, "package.json"), "utf8")) as { version: string };

/** Nothing is on the PATH: whoever starts Pulumi here fails. */
function run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const file = resolve(provider, "dist/cli/command.js");
  return new Promise((resolved) => {
    execFile(process.execPath, [file, ...args], { env: { PATH: "" } }, (error, stdout, stderr) =>
      resolved({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

it.each([["--version"], ["-v"]])("%s prints the package's version", async (option) => {
  expect(await run(option)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

it.each([[["--help"]], [["-h"]], [["help"]], [["pending", "--help"]], [["login", "--help"]]])(
  "%j says what it takes",
  async (args) => {
    const { code, stdout } = await run(...args);
    expect(stdout).toMatch(/^Usage: pulumi-advertising/);
    if (args.length === 1) for (const part of ["--version", "relocate"]) expect(stdout).toContain(part);
    expect(code).toBe(0);
  },
);

describe("what is not known is refused with the nearest known name", () => {
  it.each([
    [["pendign"], 'there is no command "pendign"; did you mean pending?'],
    [["pend"], 'there is no command "pend"; did you mean pending?'],
    [["Pending"], 'there is no command "Pending"; did you mean pending?'],
    [["frobnicate"], 'there is no command "frobnicate"; known are login, pending, relocate and help'],
    [["\u001b[31mx"], 'there is no command "[31mx"; known are login, pending, relocate and help'],
    [["--verison"], "there is no option --verison; did you mean --version?"],
    [["-x"], "there is no option -x; known are --help and --version"],
    [["pending", "--creatd", "e=1"], "there is no option --creatd; did you mean --created?"],
    [["pending", "--not-create", "e"], "there is no option --not-create; did you mean --not-created?"],
    [["pending", "--notcreated=e"], "there is no option --notcreated; did you mean --not-created?"],
    [["login", "--stak", "dev"], "there is no option --stak; did you mean --stack?"],
    [["login", "--force"], "there is no option --force; known are --stack, --cwd and --help"],
    [["pending", "--stak", "dev"], "there is no option --stak; did you mean --stack?"],
    [
      ["pending", "--zzz"],
      "there is no option --zzz; known are --created, --not-created, --forget, --stack, --cwd, --file and --help",
    ],
  ])("%j", async (args, sentence) => {
    const { code, stdout, stderr } = await run(...args);
    expect(stderr).toBe(`pulumi-advertising: ${sentence}\nSee pulumi-advertising --help [ADVERTISING_COMMAND]\n`);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

it("no command at all is told", async () => {
  expect(await run()).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("a command is missing") });
});
