/** What a release publishes, used as strangers do: nothing of this repository, an empty Pulumi home, no Node.js on PATH. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { arch } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, expect, it, type TestContext } from "vitest";
import { parse } from "yaml";
import { RESOURCES } from "../../provider/src/kinds/index.js";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { languagesFolder } from "../../scripts/lib/base.mjs";
import { examplePath } from "../../scripts/lib/examples.mjs";
import { factsOf } from "../../scripts/release/facts.mjs";
import { pythonEnvironment } from "../../scripts/release/python.mjs";
import { writeReadme } from "../../scripts/release/readme.mjs";
import { writeSums } from "../../scripts/release/sums.mjs";
import { upAndKill } from "../support/killing.js";
import { manifestIn, projectEnvironment, useTemporaryFolder } from "../support/packed.js";
import { codeBlocksOf } from "../support/pages.js";
import { idOf, objectsOf } from "../support/recovery.js";
import { inheritedProxies, runProcess, useSandbox, well } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const { version } = manifestIn(join(repository, "provider"));
const { pulumi: PULUMI } = manifestIn(repository).dependencies;
const PLATFORM = `linux-${arch() === "arm64" ? "arm64" : "amd64"}`;
const ARCHIVE = `pulumi-resource-advertising-v${version}-${PLATFORM}.tar.gz`;
/** What the commands of a README need. */
const SHELL = ["sh", "cat"];
const EVENTS = 12;
/** The events, the set's event, and the advertiser. */
const OBJECTS = EVENTS + 2;

const committedSchema = () =>
  JSON.parse(readFileSync(join(repository, "provider", "schema.json"), "utf8"));

const temporary = useTemporaryFolder();
const release = () => join(temporary(), "release");
/** The home folder of all machines: at first it doesn't exist. */
const home = () => join(temporary(), "home");
const installedPage = () =>
  join(home(), `.pulumi/plugins/resource-advertising-v${version}/docs/messages.md`);
const withoutMore = () => ({ HOME: home(), PULUMI_HOME: join(home(), ".pulumi") });

beforeAll(async () => {
  const parts = ["--parts", "npm,plugin,python,nodejs", "--platforms", PLATFORM];
  const script = join(repository, "scripts", "release.mjs");
  const environment = { ...projectEnvironment(), ...inheritedProxies() };
  await well(
    runProcess("node", [script, "--out", release(), ...parts], repository, {
      ...environment,
      LOCAL_FOLDER: join(repository, ".pulumi-local"),
    }),
  );
  const install = ["plugin", "install", "resource", "advertising", version];
  const archive = ["--file", join(release(), ARCHIVE), "--non-interactive"];
  const [pulumi, PATH] = [pathOf("pulumi"), join(temporary(), "nothing")];
  const alone = { ...withoutMore(), PATH };
  await well(runProcess(pulumi, [...install, ...archive], temporary(), alone));
});

const YAML = `runtime: yaml
resources:
  a:
    type: advertising:Advertiser
    properties: { advertiserName: A }
${Array.from(
  { length: EVENTS },
  (_, i) => `  e${i}:
    type: advertising:ConversionEvent
    properties: { eventName: E${i}, advertiserId: "\${a.advertiserId}", value: 1 }
`,
).join("")}  s:
    type: advertising:ConversionEventSet
    properties:
      advertiserId: \${a.advertiserId}
      defaults: { countUnique: true }
      events: { cart: { eventName: CART, value: 1 } }
`;

const PYTHON = `import pulumi_advertising as advertising

a = advertising.Advertiser("a", advertiser_name="A")
for i in range(${EVENTS}):
    advertising.ConversionEvent(
        f"e{i}",
        event_name=f"E{i}",
        advertiser_id=a.advertiser_id,
        value=1,
        attribution=advertising.Attribution.WHITELIST,
        event_type_id=advertising.EventType.LANDING_PAGE if i == 0 else 7,
    )
advertising.ConversionEventSet(
    "s",
    advertiser_id=a.advertiser_id,
    defaults={"count_unique": True},
    events={"cart": {"event_name": "CART", "value": 1}},
)
`;

/** A machine with Pulumi, one language host and some programs, and nothing else. */
class Machine {
  readonly programFolder: string;
  readonly environment: Record<string, string>;

  constructor(name: string, sandbox: Sandbox, programs: readonly string[]) {
    const inFolder = (path: string) => join(temporary(), name, path);
    this.programFolder = inFolder("shop");
    for (const path of ["shop", "bin", "states"])
      mkdirSync(inFolder(path), { recursive: true });
    for (const program of programs)
      symlinkSync(pathOf(program), inFolder(`bin/${program}`));
    this.environment = {
      PATH: inFolder("bin"),
      ...withoutMore(),
      PULUMI_BACKEND_URL: `file://${inFolder("states")}?metadata=skip`,
      PULUMI_CONFIG_PASSPHRASE: "x",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      NO_COLOR: "1",
      ADVERTISING_BASE_URL: sandbox.url,
      ADVERTISING_EMAIL: sandbox.email,
      ADVERTISING_PASSWORD: sandbox.password,
    };
  }

  run(command: string, ...args: string[]) {
    return runProcess(command, args, this.programFolder, this.environment);
  }

  pulumi(...args: string[]) {
    return this.run("pulumi", ...args, "--non-interactive");
  }

  write(file: string, text: string): void {
    writeFileSync(join(this.programFolder, file), text);
  }
}

function pathOf(program: string): string {
  const folders = [languagesFolder, ...(process.env.PATH ?? "").split(delimiter)];
  const found = folders.map((folder) => join(folder, program)).find(existsSync);
  if (found === undefined) throw new Error(`there is no ${program}`);
  return found;
}

/** A run is killed after some creates; then its user does what the messages say. Each object is created once. */
async function killAndRecover(machine: Machine, sandbox: Sandbox): Promise<void> {
  await expect(machine.run("node", "--version")).rejects.toThrow("ENOENT");
  const reached = async () => {
    while (sandbox.creates < EVENTS / 2) await sleep(2);
  };
  expect(await upAndKill(machine, reached(), "tree")).toBe(true);
  await well(machine.pulumi("cancel", "--yes"));
  for (let runs = 1; ; runs++) {
    const up = await machine.pulumi("up", "--yes", "--skip-preview", "--continue-on-error");
    if (up.code === 0) break;
    expect(runs, up.output).toBeLessThan(4);
    expect(up.output).not.toContain("node_modules");
    expect(up.output).not.toContain("npx");
    expect(up.output).toContain(`(${installedPage()}#`);
    await answer(machine, sandbox, up.output);
  }
  expect(objectsOf(sandbox)).toHaveLength(OBJECTS);
  expect(sandbox.creates).toBe(OBJECTS);
  expect(await well(machine.pulumi("preview"))).toContain(`${OBJECTS + 1} unchanged`);
}

/** Runs the command that the messages print, with the ids that the account shows. */
async function answer(machine: Machine, sandbox: Sandbox, output: string): Promise<void> {
  const found = output.matchAll(/--created '([\w/]+)=/g);
  const names = new Set([...found].map(([, name = ""]) => name));
  expect(names.size, output).toBeGreaterThan(0);
  const answers = [...names].flatMap((name) => {
    const id = idOf(sandbox, name);
    return id ? ["--created", `${name}=${id}`] : ["--not-created", name];
  });
  const command = `plugin run --kind resource advertising@${version} -- pending`;
  expect(output).toContain(`  pulumi ${command} --created`);
  await well(machine.run("pulumi", ...command.split(" "), ...answers));
}

/** The first preview as README.md in the release's folder describes it, but for what is installed already. */
async function followReadme(machine: Machine, sandbox: Sandbox, language: string) {
  const text = readFileSync(join(release(), "README.md"), "utf8");
  const [own = ""] = text.split(`**${language}`).slice(1);
  const [program, ...others] = codeBlocksOf({ path: "README.md", text: own });
  const last = others.find(({ code }) => code.includes("pulumi preview"))?.code ?? "";
  const written = program?.code.replace(/^[\s\S]*?(?=cat >)/, "");
  const script = `${written}${last.replace("http://127.0.0.1:8787", sandbox.url)}`;
  expect(await well(machine.run("sh", "-ec", script))).toContain("3 to create");
  expect(sandbox.requests).toEqual([]);
}

function needsHost(language: string, { skip }: TestContext): string {
  const host = `pulumi-language-${language}`;
  skip(!existsSync(join(languagesFolder, host)), `${host} is not built: it needs Go`);
  return host;
}

it("an archive is flat but for its pages, has no link, and fits its SHA256SUMS", () => {
  const archive = join(release(), ARCHIVE);
  const names = execFileSync("tar", ["-tzf", archive], { encoding: "utf8" })
    .trim()
    .split("\n");
  expect(names).toEqual([
    ...["pulumi-resource-advertising", "node", "plugin.cjs"],
    ...["LICENSE", "LICENSE.node", "LICENSES.txt"],
    ...readdirSync(join(repository, "docs"))
      .sort()
      .map((page) => `docs/${page}`),
  ]);
  expect(existsSync(installedPage())).toBe(true);
  execFileSync("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: release() });
});

/** The release's files that its README.md names, but for those that aren't made here. */
function namedIn(folder: string) {
  const text = readFileSync(join(folder, "README.md"), "utf8");
  const named = text.match(/\b(?:python\/|nodejs\/)?pulumi[-_]\w[\w.-]*\.(whl|gz|tgz)\b/g);
  // The Go module isn't made here; and the archive is named for one system.
  const others = /^pulumi-advertising-sdk-go-|-linux-amd64\.tar\.gz$/;
  return { text, names: new Set(named?.filter((name) => !others.test(name))) };
}

it("README.md names files that are there", () => {
  const { names } = namedIn(release());
  expect([...names].filter((name) => !existsSync(join(release(), name)))).toEqual([]);
  expect(names.size).toBe(3);
});

it("as on a release's page, README.md names files of one folder, and checks those that are there", () => {
  const folder = join(temporary(), "downloaded");
  const all = readdirSync(release(), { withFileTypes: true, recursive: true });
  const files = all.filter((file) => file.isFile() && file.name !== "SHA256SUMS");
  for (const { parentPath, name } of files)
    cpSync(join(parentPath, name), join(folder, name));
  writeReadme({ facts: factsOf({}), out: folder, isFlat: true });
  writeSums(folder);
  const { text, names } = namedIn(folder);
  expect([...names].filter((name) => !existsSync(join(folder, name)))).toEqual([]);
  expect(names.size).toBe(3);
  for (const { name } of files)
    if (!["README.md", ARCHIVE].includes(name)) rmSync(join(folder, name));
  const [, check = ""] = /`(sha256sum .*?)`/.exec(text) ?? [];
  const output = execFileSync("sh", ["-c", check], { cwd: folder, encoding: "utf8" });
  expect(output).toBe(`README.md: OK\n${ARCHIVE}: OK\n`);
});

it("YAML with nothing but Pulumi and the archive: is killed, and recovers", async (context) => {
  const programs = [...SHELL, "pulumi", needsHost("yaml", context)];
  const sandbox = await useSandbox({ latencyMs: 100 });
  const machine = new Machine("yaml", sandbox, programs);
  await followReadme(machine, sandbox, "YAML");
  machine.write("Pulumi.yaml", `name: shop\n${YAML}`);
  await killAndRecover(machine, sandbox);
});

/** A virtual environment with Pulumi's SDK and the wheel, made once. @returns the folder of its programs. */
async function virtualEnvironment({ skip }: TestContext): Promise<string> {
  const folder = join(temporary(), "venv");
  if (existsSync(folder)) return join(folder, "bin");
  const packages = readdirSync(join(release(), "python"));
  const wheel = packages.find((name) => name.endsWith(".whl")) ?? "";
  try {
    // The release's own pip installs into it, which is quicker than a pip of its own.
    execFileSync("python3", ["-m", "venv", "--without-pip", folder]);
    const python = join(folder, "bin", "python");
    const pip = ["-m", "pip", "--python", python, "install", "--quiet", "--no-compile"];
    const wanted = ["pip", `pulumi==${PULUMI}`, join(release(), "python", wheel)];
    execFileSync(await pythonEnvironment(), [...pip, ...wanted]);
  } catch (error) {
    skip(`Python, or its package pulumi, is not to be had: ${error}`);
  }
  return join(folder, "bin");
}

it("Python with a virtual environment, the wheel and the archive: is killed, and recovers", async (context) => {
  const host = needsHost("python", context);
  const programs = [...SHELL, "pulumi", host, `${host}-exec`];
  const sandbox = await useSandbox({ latencyMs: 100 });
  const machine = new Machine("python", sandbox, programs);
  machine.environment.PATH = [
    await virtualEnvironment(context),
    machine.environment.PATH,
  ].join(delimiter);
  await followReadme(machine, sandbox, "Python");
  machine.write("__main__.py", PYTHON);
  await killAndRecover(machine, sandbox);
  expect(sandbox.events.map(({ attribution }) => attribution)).toContain("WHITELIST");
  const types = sandbox.events.map(({ event_type_id }) => event_type_id);
  expect(new Set(types)).toEqual(new Set([undefined, 1, 7]));
  expect(sandbox.events.filter(({ count_unique }) => count_unique)).toHaveLength(1);
});

/** Pulumi calls the mocks in several threads, whose prints would mix. So what they got is printed once, at the end. */
const MOCKS = `import json, runpy, sys
import pulumi

declared = []

class Mocks(pulumi.runtime.Mocks):
    def new_resource(self, args):
        declared.append([args.typ, args.inputs])
        return "1", {**args.inputs, "advertiserId": 1}

    def call(self, args):
        return {}

@pulumi.runtime.test
def declare():
    for path in sys.argv[1:]:
        runpy.run_path(path)

pulumi.runtime.set_mocks(Mocks())
declare()
print(json.dumps(declared))
`;

it("the Python programs in the resources' descriptions declare what the YAML ones do", async (context) => {
  const folder = await virtualEnvironment(context);
  const paths = RESOURCES.map(({ name }) => examplePath("python", name));
  const python = join(folder, "python");
  const output = execFileSync(python, ["-c", MOCKS, ...paths], { encoding: "utf8" });
  const yaml = RESOURCES.flatMap(({ name }) => {
    const text = readFileSync(examplePath("yaml", name), "utf8");
    const { resources } = parse(text.replaceAll(`\${acme.advertiserId}`, "1"));
    return Object.values<{ type: string; properties: object }>(resources);
  });
  const declared = JSON.parse(output);
  const expected = yaml.map(({ type, properties }) => [
    type.replace(":", ":index:"),
    properties,
  ]);
  expect(declared).toHaveLength(expected.length);
  expect(declared).toEqual(expect.arrayContaining(expected));
});

const CONFIG = `import ast, json, pathlib
import pulumi, pulumi_advertising as a

pulumi.runtime.set_all_config({"advertising:maxWindowSeconds": "60"})
types = pathlib.Path(a.config.__file__ + "i").read_text()
names = [each.target.id for each in ast.parse(types).body if isinstance(each, ast.AnnAssign)]
print(json.dumps({name: getattr(a.config, name) for name in names}))
`;

it("the SDK for Python has the stack's settings, by the names that its types have", async (context) => {
  const python = join(await virtualEnvironment(context), "python");
  const output = execFileSync(python, ["-c", CONFIG], { encoding: "utf8" });
  const values = JSON.parse(output);
  expect(values).toMatchObject({ max_window_seconds: 60, base_url: null });
  const settings = Object.keys(committedSchema().config.variables);
  expect(Object.keys(values)).toHaveLength(settings.length);
});

/** All texts for readers: doc strings, and the strings below fields. */
const DOCS = `import ast, sys

for path in sys.argv[1:]:
    for node in ast.walk(ast.parse(open(path, encoding="utf-8").read())):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            print(node.value.value)
`;

it("the docs of the SDK for Python have Python's values", async (context) => {
  const folder = join(await virtualEnvironment(context), "../lib");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  const own = files.filter((path) => /\/pulumi_advertising\/.*\.pyi?$/.test(path));
  expect(own.length).toBeGreaterThan(8);
  const paths = own.map((path) => join(folder, path));
  const docs = execFileSync("python3", ["-c", DOCS, ...paths], { encoding: "utf8" });
  expect(docs).toContain("as an `Attribution`");
  expect(docs).toContain("Expected: session or basic.");
  expect(docs).not.toContain("_expected");
  expect(
    docs.match(/.*(?<!Attribution\.)\b(true|false|null|ALL|WHITELIST)\b.*/g),
  ).toBeNull();
});

it("the SDK for Python speaks no other language", () => {
  const path = join(release(), "python", `pulumi_advertising-${version}.tar.gz`);
  const text = execFileSync("tar", ["-xzOf", path], { encoding: "utf8" });
  expect(text).toContain("class EventType(_builtins.int, Enum)");
  const readme = readFileSync(join(release(), "README.md"), "utf8");
  const [, lowest] = /^Requires-Python: >=(.*)$/m.exec(text) ?? [];
  expect(readme).toContain(`**Python** ${lowest} or later`);
  const { resources } = committedSchema();
  const names = Object.values<{ inputProperties: object }>(resources).flatMap(
    ({ inputProperties }) => Object.keys(inputProperties),
  );
  const camelCase = names.filter((name) => /[A-Z]/.test(name)).join("|");
  const others = new RegExp(
    `.*(\\bundefined\\b|\\bdays\\(|EventType\\.[A-Z][a-z]|\\bnpm\\b|TypeScript|\`(${camelCase})\`).*`,
    "g",
  );
  expect(text.match(others)).toBeNull();
});

it("the SDK for Node.js loads, and knows its version", () => {
  const folder = join(temporary(), "sdk");
  const sdk = join(release(), "nodejs", `pulumi-advertising-sdk-${version}.tgz`);
  mkdirSync(folder);
  execFileSync("tar", ["-xzf", sdk, "-C", folder]);
  symlinkSync(join(repository, "node_modules"), join(folder, "node_modules"));
  const script = `const sdk = require("./package");
const { getVersion } = require("./package/bin/utilities.js");
console.log(typeof sdk.ConversionEventSet, getVersion())`;
  const options = { cwd: folder, encoding: "utf8" } as const;
  const output = execFileSync("node", ["--eval", script], options);
  expect(output).toBe(`function ${version}\n`);
});
