/** The command `pulumi-advertising`: the parts that need neither a stack nor Pulumi. */
import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { NEEDED_NODE, whyTooOld } from "../../provider/src/base/text.js";
import { folderWith } from "../support/catalogs.js";
import { keepCompiled } from "../support/keep-compiled.js";
import {
  CIPHERTEXT,
  EVENT,
  encrypted,
  exportOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
  urnOf,
} from "../support/stored.js";

const provider = resolve(import.meta.dirname, "../../provider");
const { version } = JSON.parse(readFileSync(resolve(provider, "package.json"), "utf8")) as { version: string };

/** The PATH is empty, so starting Pulumi fails. */
function run(...args: string[]) {
  return runIn(provider, {}, ...args);
}

function runIn(
  cwd: string,
  environment: Record<string, string>,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const file = resolve(provider, "dist/tools/command.js");
  return new Promise((resolved) => {
    execFile(
      process.execPath,
      [file, ...args],
      { cwd, env: { PATH: "", NODE_OPTIONS: keepCompiled, ...environment } },
      (error, stdout, stderr) => resolved({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

it("a Node.js that is too old is refused, and no other", () => {
  const { engines } = JSON.parse(readFileSync(resolve(provider, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  expect(engines.node).toBe(`>=${NEEDED_NODE}`);
  expect(whyTooOld("20.20.2")).toContain("Node.js 22.19.0 or later is needed; this is 20.20.2");
  expect(whyTooOld("22.18.9")).toBeDefined();
  for (const fits of ["22.19.0", "22.20.1", "23.0.0", "24.21.0", "100.0.0"]) expect(whyTooOld(fits)).toBe(undefined);
});

it.each([["--version"], ["-v"]])("%s prints the package's version", async (option) => {
  expect(await run(option)).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
});

it.each([[["--help"]], [["-h"]], [["help"]], [["pending", "--help"]], [["login", "--help"]]])(
  "%j prints how to call it",
  async (args) => {
    const { code, stdout } = await run(...args);
    expect(stdout).toMatch(/^Usage: pulumi-advertising/);
    if (args.length === 1) for (const part of ["--version", "validate", "leftovers"]) expect(stdout).toContain(part);
    expect(code).toBe(0);
  },
);

describe("an unknown name is refused", () => {
  it.each([
    [["pendign"], 'there is no command "pendign"; known are leftovers, login, pending, report and validate'],
    [["\u001b[31mx"], 'there is no command "[31mx"; known are leftovers, login, pending, report and validate'],
    [["-x"], 'there is no command "-x"; known are leftovers, login, pending, report and validate'],
    [["pending", "e"], "Unexpected argument 'e'. This command does not take positional arguments"],
    [["pending", "--created"], "Option '--created <value>' argument missing"],
    [["login", "--stak", "dev"], "Unknown option '--stak'"],
  ])("%j", async (args, sentence) => {
    const { code, stdout, stderr } = await run(...args);
    expect(stderr).toBe(`pulumi-advertising: ${sentence}\nSee \`npx pulumi-advertising --help\` [ADVERTISING_USAGE]\n`);
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });
});

it("without a command it says so", async () => {
  expect(await run()).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("a command is missing") });
});

describe("validate", () => {
  const files = {
    "good.csv": "key,advertiser,eventName,value\na,Acme,A,1\nb,Acme,a ,2\n",
    "bad, 100%.csv": "key,advertiser,eventName,value\na,Acme,A,10%\nb,Acme,B,2\n",
    "bad.yaml": "advertisers: { a: { advertiserNam: A } }",
    "wide.csv": "key,advertiser,eventName,value,clickWindow\na,Acme,A,1,31d\n",
  };
  const check = (args: string[], environment: Record<string, string> = {}) =>
    runIn(folderWith(files), environment, "validate", ...args);

  it("without errors: what the file declares and the warnings, exit code 0", async () => {
    expect(await check(["good.csv"])).toEqual({
      code: 0,
      stdout:
        'warning: good.csv:3:8 Acme/b: eventName "a" is also the name of "Acme/a", case and separators aside\n' +
        "good.csv: 1 advertiser, 2 conversion events; 0 errors, 1 warning\n",
      stderr: "",
    });
  });

  it("with errors: each with its place, exit code 1", async () => {
    expect(await check(["bad.yaml"])).toEqual({
      code: 1,
      stdout:
        "error: bad.yaml:1:16 a: advertiserName is required: expected a string of at least 1 character, not blank, without control characters\n" +
        "error: bad.yaml:1:21 a: advertiserNam is not a known argument; did you mean advertiserName?\n" +
        "bad.yaml: 2 errors, 0 warnings (docs/messages.md#advertising_arguments) [ADVERTISING_ARGUMENTS]\n",
      stderr: "",
    });
    expect(await check(["none.csv"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining("none.csv:1:1 is not there"),
    });
  });

  it("--format json: the same as JSON", async () => {
    const { code, stdout } = await check(["bad, 100%.csv", "--format", "json"]);
    expect(code).toBe(1);
    const message = 'expected a finite number; got the string "10%"; write a plain number, without a percent sign';
    const place = { file: "bad, 100%.csv", line: 2, column: 10 };
    expect(JSON.parse(stdout)).toEqual({
      ...{ file: "bad, 100%.csv", ok: false, advertisers: 1, events: 1 },
      findings: [{ level: "error", ...place, subject: "Acme/a", property: "value", message }],
    });
    expect(JSON.parse((await check(["good.csv", "--format=json"])).stdout)).toMatchObject({ ok: true, events: 2 });
  });

  it("--format github: annotations at the file in the repository", async () => {
    const { code, stdout } = await check(["bad, 100%.csv", "--format", "github"], { GITHUB_WORKSPACE: tmpdir() });
    const [annotation, summary] = stdout.split("\n");
    expect(annotation).toMatch(
      /^::error file=advertising-catalog-\w+\/bad%2C 100%25\.csv,line=2,col=10::Acme\/a: value expected a finite number; got the string "10%25"; write /,
    );
    expect(summary).toBe(
      "bad, 100%.csv: 1 error, 0 warnings (docs/messages.md#advertising_arguments) [ADVERTISING_ARGUMENTS]",
    );
    expect(code).toBe(1);
  });

  it("the installation's limit comes from the environment", async () => {
    expect((await check(["wide.csv"])).code).toBe(1);
    expect((await check(["wide.csv"], { ADVERTISING_MAX_WINDOW_SECONDS: "2678400" })).code).toBe(0);
    const wrong = await check(["wide.csv"], { ADVERTISING_MAX_WINDOW_SECONDS: "31d", ADVERTISING_EMAIL: "" });
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toMatch(
      /^pulumi-advertising: ADVERTISING_MAX_WINDOW_SECONDS expected whole seconds[^;]*; got the string "31d" \(docs\/messages\.md#advertising_usage\) \[ADVERTISING_USAGE\]\n$/,
    );
  });

  it.each([
    [[], "expected one file; got none"],
    [["a.csv", "b.csv"], "expected one file; got a.csv b.csv"],
    [["a.csv", "--format", "jsn"], 'there is no format "jsn"; known are text, json and github'],
    [
      ["a.csv", "--fromat", "json"],
      `Unknown option '--fromat'. To specify a positional argument starting with a '-', place it at the end of the command after '--', as in '-- "--fromat"`,
    ],
  ])("%j is refused", async (args, sentence) => {
    const { code, stderr } = await check(args);
    expect(stderr).toBe(`pulumi-advertising: ${sentence}\nSee \`npx pulumi-advertising --help\` [ADVERTISING_USAGE]\n`);
    expect(code).toBe(2);
  });
});

describe("report", () => {
  const resources = [storedAdvertiser("acme", 1), storedEvent("buy", 2)];
  const files = {
    "one.json": exportOf(resources),
    "two.json": exportOf([storedAdvertiser("acme", 9), storedEvent("buy", 3, { advertiserId: 9, value: 5 })]),
    "no.json": "no",
    "list.json": "[]",
    "other.json": '{"version":3,"checkpoint":{"stack":"dev"}}',
    "one.checkpoint.json": JSON.stringify({
      version: 3,
      checkpoint: { latest: JSON.parse(exportOf(resources)).deployment },
    }),
  };

  it.each(["ids", "page"])("%s reads a checkpoint of a file backend's history like an export", async (report) => {
    const [one, same] = await Promise.all(
      ["one.json", "one.checkpoint.json"].map((file) =>
        runIn(folderWith(files), {}, "report", report, "--state", file),
      ),
    );
    expect(same).toEqual(one);
    expect(one?.code).toBe(0);
  });

  it("writes to standard output, or to a file", async () => {
    const folder = folderWith(files);
    const printed = await runIn(folder, {}, "report", "ids", "--state", "one.json");
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(printed.stdout)).toEqual({ advertisers: { acme: 1 }, events: { buy: 2 } });
    expect(await runIn(folder, {}, "report", "ids", "--state", "one.json", "--out", "ids.json")).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(readFileSync(resolve(folder, "ids.json"), "utf8")).toBe(printed.stdout);
  });

  it.each([
    [["leftovers"], "the `pulumi` command is not on the PATH"],
    [["leftovers", "--format", "xml"], 'there is no format "xml"; known are text, json and csv'],
    [["leftovers", "--before", "none.json", "--state", "one.json"], "none.json could not be read: ENOENT"],
    [["leftovers", "--befor", "x"], "Unknown option '--befor'"],
    [["pending", "--state", "one.json", "--search"], "--state only looks; to settle, leave it out"],
    [
      ["report", "comment", "--fail-on", "renames"],
      'there is no reason to fail "renames"; known are rename and replace',
    ],
    [["report"], 'there is no report ""; known are ids, page and comment'],
    [["report", "idz"], 'there is no report "idz"; known are ids, page and comment'],
    [["report", "ids", "--format", "xml"], 'there is no format "xml"; known are json and csv'],
    [["report", "page", "--template", "x{id}"], "Unknown option '--template'"],
    [["report", "ids", "--state", "no.json"], "no.json is not what `pulumi stack export` prints: it is not JSON"],
    [
      ["leftovers", "--before", "one.json", "--state", "other.json"],
      "other.json is not what `pulumi stack export` prints: deployment is missing, or is not of the kind that Pulumi writes",
    ],
    [["pending", "--state", "list.json"], "list.json is not what `pulumi stack export` prints ("],
    [["report", "ids", "--state", "none.json"], "none.json could not be read: ENOENT"],
    [["report", "ids", "--state", "one.json", "--stack", "dev"], "--state already says which state: leave out --stack"],
    [["report", "ids"], "the `pulumi` command is not on the PATH"],
  ])("%j is refused, with exit code 2", async (args, expected) => {
    const { code, stdout, stderr } = await runIn(folderWith(files), {}, ...args);
    expect(stderr).toContain(expected);
    expect(stderr).toMatch(/\[ADVERTISING_USAGE\]\n$/);
    // A correct call that fails does not point to --help.
    expect(stderr.includes("--help")).toBe(!/not on the PATH|is not what|could not be read/.test(expected));
    expect(stdout).toBe("");
    expect(code).toBe(2);
  });

  it("comment --fail-on: exit code 1 if there is one, and the comment all the same", async () => {
    const [urn, type] = [urnOf("ConversionEvent", "buy"), "pulumi-nodejs:dynamic/advertising:ConversionEvent"];
    const [old, now] = [EVENT, { ...EVENT, value: 2 }].map((each) => ({ eventName: "Buy", advertiserId: 1, ...each }));
    const step = {
      op: "replace",
      urn,
      oldState: { type, id: "5", inputs: old, outputs: old },
      newState: { type, inputs: now },
    };
    const folder = folderWith({ "preview.json": JSON.stringify({ steps: [step] }) });
    const comment = (...args: string[]) => runIn(folder, {}, "report", "comment", "--preview", "preview.json", ...args);
    expect(await comment()).toMatchObject({ code: 0, stdout: expect.stringContaining("**1 to replace**") });
    expect(await comment("--fail-on", "rename")).toMatchObject({ code: 0 });
    const failed = await comment("--fail-on", "rename,replace");
    expect(failed).toMatchObject({ code: 1, stdout: expect.stringContaining("**1 to replace**") });
  });

  it.each([
    [["report", "ids"], "so its events are left out"],
    [["leftovers"], "so what is listed may be one of its events"],
    [["leftovers", "--before", "hidden.json"], "so its events can't be listed"],
  ])("%j warns about a set whose ids are secret", async (args, consequence) => {
    const folder = folderWith({ "hidden.json": exportOf([storedSet("all", { eventIds: encrypted })]) });
    const { stderr } = await runIn(folder, {}, ...args, "--state", "hidden.json");
    expect(stderr).toContain(`Warning: the ids of the set all are secret in the state, ${consequence}\n`);
    expect(stderr).not.toContain(CIPHERTEXT);
  });
});

describe("standard input and output through non-blocking pipes, as from npx or another Node.js program", () => {
  /** Passes its own standard input and output on, and switches them to non-blocking once the command runs. */
  const parent = `
    const { spawn } = require("node:child_process");
    const [, ...args] = process.argv;
    spawn(process.execPath, args, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 9));
    process.stdin;
    new (require("node:net").Socket)({ fd: 1, readable: false });
  `;
  /** Writes the text in two parts, so that the command also reads while nothing is there; and reads nothing meanwhile. */
  const piped = (cwd: string, text: string, ...args: string[]) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((resolved) => {
      const file = resolve(provider, "dist/tools/command.js");
      const child = spawn(process.execPath, ["-e", parent, file, ...args], { cwd, env: { PATH: "" } });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (part) => (stdout += part)).pause();
      child.stderr.on("data", (part) => (stderr += part));
      child.stdin.on("error", () => {}); // the command may end without having read all of it
      child.on("close", (code) => resolved({ code, stdout, stderr }));
      const half = Math.floor(text.length / 2);
      child.stdin.write(text.slice(0, half));
      setTimeout(() => {
        child.stdin.end(text.slice(half), () => setTimeout(() => child.stdout.resume(), 100));
      }, 400);
    });
  const state = exportOf([storedAdvertiser("acme", 1), storedEvent("buy", 2)]);
  const preview = JSON.stringify({ steps: [], diagnostics: [], padding: "x".repeat(3_000_000) });

  it.each([
    [["report", "comment"], preview, "**The preview shows no changes**"],
    [["report", "ids", "--state", "-"], state, '"buy": 2'],
    [["pending", "--state", "-"], state, "Nothing is pending"],
    [
      ["leftovers", "--state", "one.json", "--before", "-"],
      state,
      "Nothing that is live on the platform has left the state",
    ],
    [["leftovers", "--state", "-"], state, "Nothing is known"],
  ])("%j", async (args, text, expected) => {
    const { code, stdout, stderr } = await piped(folderWith({ "one.json": state }), text, ...args);
    expect(stderr).toBe("");
    expect(stdout).toContain(expected);
    expect(code).toBe(0);
  });

  it("megabytes each way arrive whole", async () => {
    const events = Array.from({ length: 3000 }, (_, n) => storedEvent(`${"k".repeat(1000)}${n}`, n + 1));
    const { code, stdout, stderr } = await piped(folderWith({}), exportOf(events), "report", "ids", "--state", "-");
    expect(stderr).toBe("");
    expect(code).toBe(0);
    expect(stdout.length).toBeGreaterThan(3_000_000);
    expect(Object.keys(JSON.parse(stdout).events)).toHaveLength(3000);
  });

  it("a second read finds it empty and does not wait", async () => {
    const { code, stderr } = await piped(folderWith({}), state, "leftovers", "--state", "-", "--before", "-");
    expect(stderr).toContain("this is not what `pulumi stack export` prints: it is not JSON");
    expect(code).toBe(2);
  });
});
