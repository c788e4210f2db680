/** The command `pulumi-advertising`: the parts that need neither a stack nor Pulumi. */
import {
  type ExecFileOptionsWithStringEncoding,
  execFile,
  spawn,
} from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { describe, expect, it, vi } from "vitest";
import { inStack, NEEDED_NODE, versionProblem } from "../../provider/src/base/index.js";
import { command } from "../../provider/src/cli/harness.js";
import { programFolder, STACK_OPTIONS } from "../../provider/src/cli/pulumi.js";
import {
  Journal,
  type JournalLine,
  writeAnswers,
} from "../../provider/src/journal/index.js";
import { folderWith } from "../support/catalogs.js";
import { newFolder } from "../support/folder.js";
import { keepCompiled } from "../support/keep-compiled.js";
import {
  CIPHERTEXT,
  EVENT,
  encrypted,
  exportOf,
  senderOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
  urnOf,
} from "../support/stored.js";

const provider = resolve(import.meta.dirname, "../../provider");
const file = resolve(provider, "dist/cli/command.js");
const manifest = JSON.parse(readFileSync(resolve(provider, "package.json"), "utf8")) as {
  version: string;
  engines: { node: string };
};

/** The PATH is empty, so starting Pulumi fails. */
function runIn(cwd: string, environment: Record<string, string>, ...args: string[]) {
  const env = { PATH: "", NODE_OPTIONS: keepCompiled, ...environment };
  return runNode([file, ...args], { cwd, env, encoding: "utf8" });
}

function runNode(args: string[], options: ExecFileOptionsWithStringEncoding) {
  return new Promise<{ code: number; stdout: string; stderr: string }>((resolved) => {
    execFile(process.execPath, args, options, (error, stdout, stderr) =>
      resolved({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

it("a Node.js that is too old is refused, and no other", () => {
  expect(manifest.engines.node).toBe(`>=${NEEDED_NODE}`);
  const problemOf = (node: string) => {
    vi.stubGlobal("process", { versions: { node }, execPath: "/usr/bin/node" });
    try {
      return versionProblem();
    } finally {
      vi.unstubAllGlobals();
    }
  };
  expect(problemOf("20.20.2")).toContain(
    "Node.js 22.19.0 or later is needed; this is 20.20.2 (/usr/bin/node)",
  );
  expect(problemOf("22.18.9")).toBeDefined();
  for (const fits of ["22.19.0", "22.20.1", "23.0.0", "100.0.0"])
    expect(problemOf(fits)).toBe(undefined);
});

it.each([
  [["--version"], `${manifest.version}\n`],
  [["--help"], "       npx pulumi-advertising --help | --version\n"],
  [["-h"], "\nvalidate FILE "],
  [["pending", "-h"], "pending "],
  [["report", "--help"], "report ids"],
  [["pendign", "--help"], "validate FILE"],
])("%j says so", async (args, said) => {
  const { code, stdout, stderr } = await runIn(provider, {}, ...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toContain(said);
});

it("the plugin's executable runs commands too: `pulumi plugin run` passes them", async () => {
  const run = (executable: string, ...args: string[]) =>
    runNode([resolve(provider, executable), ...args], {
      encoding: "utf8",
      timeout: 20_000,
    });
  for (const executable of ["pulumi-resource-advertising", "pulumi-resource-"]) {
    const { code, stdout } = await run(executable, "--version");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${manifest.version}\n` });
  }
  const { code, stderr } = await run("pulumi-resource-advertising", "pendign");
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("there is no command"),
  });
});

it.each([
  ["login", ["--stack", "--cwd"]],
  [
    "pending",
    ["--created", "--not-created", "--forget", "--search", "--clear"],
    ["--stack", "--cwd", "--state"],
  ],
  ["leftovers", ["--before", "--format"], ["--stack", "--cwd", "--state", "--out"]],
  [
    "report",
    ["--format", "--template", "--preview", "--fail-on"],
    ["--stack", "--cwd", "--state", "--out"],
  ],
  ["validate", ["--ignore-column", "--format"]],
])("%s --help has its options only", async (name, ...expected) => {
  const { stdout } = await runIn(provider, {}, name, "--help");
  const options = stdout.match(/(?<=^ +)--[a-z-]+/gm);
  expect([...new Set(options)]).toEqual(expected.flat());
  expect(stdout.split(" ")[0]).toBe(name);
  expect(stdout).not.toContain("\n\n");
});

it("login without a stack names variables, and no command that needs a stack", async () => {
  const { code, stderr } = await runIn(newFolder(), {}, "login");
  expect(code).toBe(1);
  expect(stderr).toContain("ADVERTISING_BASE_URL");
  expect(stderr).not.toContain("pulumi config");
});

describe("standard output", () => {
  const events = Array.from({ length: 3000 }, (_, i) => storedEvent(`event-${i}`, i + 1));
  const folder = () => folderWith({ "state.json": exportOf(events) });
  const ids = ["report", "ids", "--state", "state.json"];
  const started = (stdout: "pipe" | number) =>
    spawn(process.execPath, [file, ...ids], {
      cwd: folder(),
      env: { PATH: "", NODE_OPTIONS: keepCompiled },
      stdio: ["ignore", stdout, "pipe"],
    });
  const ending = async (child: ReturnType<typeof started>) => {
    const [errors, [code]] = await Promise.all([
      text(child.stderr ?? Readable.from([])),
      once(child, "close"),
    ]);
    return { errors, code };
  };

  it("a reader that needs only the first lines is no error", async () => {
    const child = started("pipe");
    child.stdout?.destroy();
    expect(await ending(child)).toEqual({ errors: "", code: 0 });
  });

  it.skipIf(process.platform !== "linux")("a full disk is one, in one line", async () => {
    const full = openSync("/dev/full", "w");
    const { errors, code } = await ending(started(full));
    closeSync(full);
    expect(errors).toMatch(/^pulumi-advertising: ENOSPC.*\n$/);
    expect(code).toBe(2);
  });
});

it("commands that it prints are about the same stack and folder", async () => {
  const run = async () => 0;
  await command(STACK_OPTIONS, run)(["--stack", "acme/dev", "--cwd", "my shop"]);
  expect(inStack("pulumi up")).toBe("pulumi up --stack acme/dev --cwd 'my shop'");
});

const OF_PROD = { urn: urnOf("ConversionEvent", "b").replace(":dev:", ":prod:") };
const FILES = {
  "good.csv": "key,advertiser,eventName,value\na,Acme,A,1\nb,Acme,a ,2\n",
  "bad, 100%.csv": "key,advertiser,eventName,value\na,Acme,A,10%\nb,Acme,B,2\n",
  "bad.yaml": "advertisers: { a: { advertiserNam: A } }",
  "wide.csv": "key,advertiser,eventName,value,clickWindow\na,Acme,A,1,31d\n",
  "one.json": exportOf([storedAdvertiser("acme", 1), storedEvent("buy", 2)]),
  "no.json": "no",
  "list.json": "[]",
  "other.json": '{"version":3,"checkpoint":{"stack":"dev"}}',
  "theirs.json": exportOf([
    storedEvent("b", 2, {}, { ...OF_PROD, inputs: { __sender: senderOf("shop/prod::b") } }),
  ]),
  "ours.json": exportOf([
    storedEvent("b", 2, {}, { inputs: { __sender: senderOf("shop/dev::b") } }),
  ]),
};

describe("exit code 2, and in words why", () => {
  it.each([
    [[], 'there is no command ""; expected one of'],
    [
      ["pendign"],
      'there is no command "pendign"; expected one of leftovers, login, pending, report and validate',
    ],
    [
      ["pending", "e"],
      "Unexpected argument 'e'. This command does not take positional arguments",
    ],
    [["login", "--stak", "dev"], "Unknown option '--stak'"],
    [["validate"], "expected one file"],
    [["validate", ""], "expected one file"],
    [["validate", "a.csv", "b.csv"], "expected one file"],
    [
      ["validate", "a.csv", "--format", "jsn"],
      'there is no format "jsn"; expected one of text and json',
    ],
    [
      ["pending", "--state", "one.json", "--search"],
      "--state only lists; to resolve, leave it out",
    ],
    ...[
      ["pending", "--stack", ""],
      ["login", "--stack="],
      ["report", "page", "--state", "one.json", "--out", ""],
      ["report", "ids", "--state", "one.json", "--template", ""],
      ["leftovers", "--before", ""],
      ["pending", "--state", "one.json", "--not-created", ""],
    ].map((args): [string[], string] => {
      const [option = ""] =
        args.findLast((each) => each.startsWith("--"))?.split("=") ?? [];
      return [args, `${option} is empty`];
    }),
    [["report"], 'there is no report ""; expected one of ids, page and comment'],
    [
      ["report", "comment", "--fail-on", "renames"],
      'there is no --fail-on "renames"; expected one of rename and replace',
    ],
  ])("%j was called wrongly", async (args, sentence) => {
    const { code, stdout, stderr } = await runIn(folderWith(FILES), {}, ...args);
    expect(stderr).toContain(`pulumi-advertising: ${sentence}`);
    expect(stderr).toMatch(
      /\nSee `npx pulumi-advertising --help` \(.*\) \[ADVERTISING_USAGE\]\n$/,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it.each([
    [["leftovers"], "the command `pulumi` can't be run (ENOENT)"],
    [
      ["leftovers", "--before", "none.json", "--state", "one.json"],
      "ENOENT: no such file or directory, open 'none.json'",
    ],
    [
      ["leftovers", "--before", "theirs.json", "--state", "ours.json"],
      "theirs.json is a state of the stack organization/shop/prod, not of organization/shop/dev",
    ],
    [
      ["report", "ids", "--state", "no.json"],
      "no.json is not what `pulumi stack export` prints",
    ],
    [
      ["leftovers", "--state", "other.json"],
      "other.json is not what `pulumi stack export` prints",
    ],
    [
      ["pending", "--state", "list.json"],
      "list.json is not what `pulumi stack export` prints",
    ],
  ])("%j failed", async (args, sentence) => {
    const { code, stdout, stderr } = await runIn(folderWith(FILES), {}, ...args);
    expect(stderr).toContain(`pulumi-advertising: ${sentence}`);
    expect(stderr).not.toContain("--help");
    expect(stderr).toMatch(/\[ADVERTISING_USAGE\]\n$/);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });
});

describe("validate", () => {
  const check = (args: string[], environment: Record<string, string> = {}) =>
    runIn(folderWith(FILES), environment, "validate", ...args);

  it("text: each mistake with its place, and what the file declares; exit code 0 with warnings, 1 with errors", async () => {
    expect(await check(["good.csv"])).toEqual({
      code: 0,
      stdout:
        'warning: good.csv:3 Acme/b: eventName "a" is also the name of "Acme/a" (ignoring case, separators and invisible characters)\n' +
        "good.csv: 1 advertiser, 2 conversion events, 0 errors, 1 warning\n",
      stderr: "",
    });
    const { code, stdout } = await check(["bad.yaml"]);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^error: bad\.yaml:1:16 a: advertiserName is required: .*\nerror: bad\.yaml:1:21 a: advertiserNam is not a known argument.*\nbad\.yaml: 0 advertisers, 0 conversion events, 2 errors, 0 warnings \(.*\) \[ADVERTISING_ARGUMENTS\]\n$/,
    );
    expect(await check(["none.csv"])).toMatchObject({
      code: 1,
      stdout: expect.stringContaining(
        ": can't be read: ENOENT: no such file or directory, open '",
      ),
    });
  });

  it("json", async () => {
    const { code, stdout } = await check(["bad, 100%.csv", "--format", "json"]);
    expect(code).toBe(1);
    const reason =
      'expected a finite number; got the string "10%"; write a plain number: at most 15 digits, a decimal point, no thousands separator, percent or currency sign';
    const place = { file: "bad, 100%.csv", line: 2 };
    expect(JSON.parse(stdout)).toEqual({
      ...{ file: "bad, 100%.csv", ok: false, advertisers: 1, events: 1 },
      findings: [
        { level: "error", ...place, subject: "Acme/a", property: "value", message: reason },
      ],
    });
  });

  it("columns to ignore, as in a Catalog", async () => {
    const folder = folderWith({
      "e.csv": "key,advertiser,eventName,value,Preis\na,Acme,A,1,x\n",
    });
    const codeOf = async (...options: string[]) =>
      (await runIn(folder, {}, "validate", "e.csv", ...options)).code;
    expect(await codeOf("--ignore-column", "Notes", "--ignore-column", "Preis")).toBe(0);
    expect(await codeOf()).toBe(1);
  });

  it("the installation's limit comes from the environment", async () => {
    expect((await check(["wide.csv"])).code).toBe(1);
    expect(
      (await check(["wide.csv"], { ADVERTISING_MAX_WINDOW_SECONDS: "2678400" })).code,
    ).toBe(0);
    const wrong = await check(["wide.csv"], {
      ADVERTISING_MAX_WINDOW_SECONDS: "31d",
      ADVERTISING_EMAIL: "",
    });
    expect(wrong).toMatchObject({ code: 2, stdout: "" });
    expect(wrong.stderr).toMatch(
      /^pulumi-advertising: ADVERTISING_MAX_WINDOW_SECONDS expected whole seconds[^;]*; got the string "31d" /,
    );
  });
});

describe("pending", () => {
  const place = { backend: "file:///states", stack: "shop/dev" };
  const environment = { PULUMI_BACKEND_URL: place.backend };
  const run = "an-early-run";
  const sent = { state: "sent", run, at: "2026-01-01T00:00:00Z", body: "b" } as const;

  /** Lists what this machine's journal and Pulumi's record have, which names its run. */
  async function pending(lines: JournalLine[], ...recorded: object[]) {
    const home = newFolder();
    const options = { folder: join(home, "pulumi-advertising") };
    await writeAnswers({ place, run }, lines, options);
    const ours = JSON.parse(FILES["ours.json"]);
    ours.deployment.resources[0].inputs.__sender = senderOf("shop/dev::b", { run });
    const another = {
      type: "creating",
      resource: { urn: "urn:x", type: "another:index:Thing" },
    };
    ours.deployment.pending_operations = [another, ...recorded];
    const files = { ...FILES, "ours.json": JSON.stringify(ours) };
    const given = { ...environment, XDG_STATE_HOME: home };
    return runIn(folderWith(files), given, "pending", "--state", "ours.json");
  }

  it("lists what only this machine's journal has as made", async () => {
    const made = ["7", "8"].map((id): JournalLine => {
      return { ...sent, mark: id, state: "created", id, key: `Advertiser::a${id}` };
    });
    expect(await pending(made)).toEqual({
      code: 0,
      stdout:
        "No create is unresolved.\nCreated by earlier runs, but not in the state yet:\n  a7: created as 7\n  a8: created as 8\nThe next `pulumi up --stack dev` takes over those that the program declares unchanged. `npx pulumi-advertising pending --help` says how to drop those that the program no longer declares.\n",
      stderr: "",
    });
  });

  it("names 20 in commands, and says how many more there are", async () => {
    const open = await pending(
      Array.from({ length: 30 }, (_, n) => {
        return { ...sent, mark: `m${n}`, key: `ConversionEvent::e${n}` };
      }),
    );
    expect(open.code).toBe(1);
    for (const part of [
      /^30 creates are unresolved, and may .*\n {2}e0: look in the account for the ConversionEvent, sent at 2026/,
      "\n  e29: look",
      /\n {2}npx pulumi-advertising pending( --created '\w+=<its id>'){20} --stack dev\n/,
      "\nThen, for 10 more:\n  npx pulumi-advertising pending --stack dev\n",
    ])
      expect(open.stdout).toMatch(part);
  });

  it("lists what Pulumi's record has", async () => {
    const resource = {
      ...storedEvent("b", 2),
      inputs: { eventName: "c", advertiserId: 1, value: 1 },
    };
    const { stdout } = await pending([], { type: "creating", resource });
    expect(stdout).toMatch(/ {2}b: look .* \(not 2, the object that it replaces\)\n/);
  });

  it("reads a journal that a run is using; of a damaged one it says what an `up` says", async () => {
    const home = newFolder();
    const given = { ...environment, XDG_STATE_HOME: home };
    const list = () => runIn(folderWith(FILES), given, "pending", "--state", "ours.json");
    expect(await list()).toMatchObject({ code: 0, stdout: "No create is unresolved.\n" });
    const options = { folder: join(home, "pulumi-advertising") };
    const file = new Journal({ place, run }, options);
    await file.assertUsable();
    expect(await list()).toMatchObject({ code: 0, stdout: "No create is unresolved.\n" });
    file.release();
    writeFileSync(file.path, `${readFileSync(file.path, "utf8")}{}\n`);
    const damaged = await list();
    expect(damaged).toMatchObject({ code: 2, stdout: "" });
    expect(damaged.stderr).toMatch(
      /line 2 can't be read\..*set existingId.*\n {2}rm '.*'\n.*\[ADVERTISING_JOURNAL\]\n$/,
    );
  });
});

describe("reports", () => {
  it("of a checkpoint of a file backend's history as of an export; to standard output, or to a file", async () => {
    const checkpoint = { latest: JSON.parse(FILES["one.json"]).deployment };
    const folder = folderWith({
      ...FILES,
      "one.checkpoint.json": JSON.stringify({ version: 3, checkpoint }),
    });
    const ids = (...args: string[]) =>
      runIn(folder, {}, "report", "ids", "--state", ...args);
    const printed = await ids("one.json");
    expect(printed).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(printed.stdout)).toEqual({
      advertisers: { acme: 1 },
      events: { buy: 2 },
    });
    expect(await ids("one.checkpoint.json", "--out", "ids.json")).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(readFileSync(resolve(folder, "ids.json"), "utf8")).toBe(printed.stdout);
  });

  it("comment --fail-on: exit code 1 if there is one, and the comment all the same", async () => {
    const [urn, type] = [
      urnOf("ConversionEvent", "buy"),
      "pulumi-nodejs:dynamic/advertising:ConversionEvent",
    ];
    const [inputs, now] = [EVENT, { ...EVENT, value: 2 }].map((each) => ({
      eventName: "B",
      advertiserId: 1,
      ...each,
    }));
    const oldState = { type, id: "5", inputs, outputs: inputs };
    const steps = [{ op: "replace", urn, oldState, newState: { type, inputs: now } }];
    const folder = folderWith({ "preview.json": JSON.stringify({ steps }) });
    for (const [args, code] of [
      [[], 0],
      [["--fail-on", "rename"], 0],
      [["--fail-on", "rename,replace"], 1],
    ] as const) {
      const comment = await runIn(
        folder,
        {},
        "report",
        "comment",
        "--preview",
        "preview.json",
        ...args,
      );
      expect(comment).toMatchObject({
        code,
        stdout: expect.stringContaining("**1 to replace**"),
      });
    }
  });

  it("warns about what has no id yet, or a secret one", async () => {
    const resources = [
      storedSet("all", { events: { a: { eventName: "A" } }, eventIds: encrypted }),
      storedEvent("open", "unresolved-x"),
    ];
    const folder = folderWith({ "hidden.json": exportOf(resources) });
    const { code, stderr } = await runIn(
      folder,
      {},
      "report",
      "ids",
      "--state",
      "hidden.json",
    );
    expect(code).toBe(0);
    expect(stderr).toBe("Warning: left out, id missing or secret: all/a and open\n");
    expect(stderr).not.toContain(CIPHERTEXT);
  });
});

it("a state in and out through non-blocking pipes, as from npx: it arrives whole, and a second read does not wait", async () => {
  /** Passes its own standard input and output on, and switches them to non-blocking once the command runs. */
  const parent = `
    const { spawn } = require("node:child_process");
    const [, ...args] = process.argv;
    spawn(process.execPath, args, { stdio: "inherit" }).on("exit", (code) => process.exit(code ?? 9));
    process.stdin;
    new (require("node:net").Socket)({ fd: 1, readable: false });
  `;
  /** Writes a text in two parts, so that the command also reads while nothing is there; and reads nothing meanwhile. */
  const piped = (input: string, ...args: string[]) =>
    new Promise<{ code: number | null; stdout: string; stderr: string }>((resolved) => {
      const child = spawn(process.execPath, ["-e", parent, file, ...args, "--state", "-"], {
        env: { PATH: "" },
      });
      let [stdout, stderr] = ["", ""];
      child.stdout.on("data", (part) => (stdout += part)).pause();
      child.stderr.on("data", (part) => (stderr += part));
      child.stdin.on("error", () => {}); // the command may end without having read all of it
      child.on("close", (code) => resolved({ code, stdout, stderr }));
      child.stdin.write(input.slice(0, 9));
      setTimeout(
        () =>
          child.stdin.end(input.slice(9), () =>
            setTimeout(() => child.stdout.resume(), 100),
          ),
        400,
      );
    });
  const events = Array.from({ length: 3000 }, (_, n) =>
    storedEvent(`${"k".repeat(1000)}${n}`, n + 1),
  );
  const ids = await piped(exportOf(events), "report", "ids");
  expect(ids).toMatchObject({ code: 0, stderr: "" });
  expect(Object.keys(JSON.parse(ids.stdout).events)).toHaveLength(3000);
  const twice = await piped(FILES["one.json"], "leftovers", "--before", "-");
  expect(twice).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("is not what `pulumi stack export`"),
  });
});

it.each([
  ["leftovers --state -", JSON.parse(FILES["one.json"]), "What was read shows nothing"],
  ["report comment", { steps: [], diagnostics: [] }, "shows no changes"],
])(
  "%s behind `pulumi plugin run`, which never ends its plugin's input",
  async (line, input, said) => {
    const child = spawn(process.execPath, [file, ...line.split(" ")], {
      env: { PATH: "" },
    });
    const output = text(child.stdout);
    const printed = `${JSON.stringify(input, undefined, 4)}\n`;
    child.stdin.write(printed.slice(0, 30));
    setTimeout(() => child.stdin.write(printed.slice(30)), 100);
    const [code] = await once(child, "close");
    expect([code, await output]).toEqual([0, expect.stringContaining(said)]);
  },
);

const YAML = "name: shop\nruntime: nodejs\n";

// Each result is what Pulumi's engine does (pkg/engine/project.go, sdk/go/common/workspace/paths.go).
it.each<[string, Record<string, string>, string, string]>([
  ["no project", {}, "docs", "docs"],
  ["no main, from a folder in it", { "Pulumi.yaml": YAML }, "docs", "."],
  [
    "main is a file in a folder",
    { "Pulumi.yaml": `${YAML}main: src/index.js\n`, "src/index.js": "" },
    "docs",
    "src",
  ],
  [
    "main is a folder",
    { "Pulumi.yaml": `${YAML}main: ./src/\n`, "src/index.js": "" },
    ".",
    "src",
  ],
  [
    "main is outside",
    { "a/Pulumi.yaml": `${YAML}main: ../src\n`, "src/index.js": "" },
    "a",
    "src",
  ],
  [
    "JSON comes first",
    { "Pulumi.json": '{"main":"src"}', "Pulumi.yaml": YAML, "src/index.js": "" },
    ".",
    "src",
  ],
  ["a file that can't be read", { "Pulumi.yaml": "main: [" }, ".", "."],
])("the folder that a program runs in: %s", (_, files, from, expected) => {
  const top = newFolder();
  for (const [name, text] of Object.entries({ "docs/x": "", ...files })) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), text);
  }
  expect(programFolder({ cwd: join(top, from) })).toBe(join(top, expected));
});
