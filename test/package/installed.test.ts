/** The package as npm, pnpm and yarn install it: how it is loaded, its commands, and real runs with it. */
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown"; // as vitest brings it
import { beforeAll, expect, it, onTestFinished } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import {
  InstalledProject,
  installTool,
  type Manager,
  manifestIn,
  packAsVersion,
  packProvider,
  useTemporaryFolder,
  versions,
} from "../support/packed.js";
import { throughPlugin } from "../support/plugin.js";
import {
  failed,
  inheritedEnvironment,
  newStack,
  program,
  resetCounts,
  type TestStack,
  UNCHECKED,
  useSandbox,
  well,
} from "../support/stack.js";

const temporary = useTemporaryFolder();
let tarball: string;
let project: InstalledProject;

beforeAll(async () => {
  tarball = await packProvider(temporary());
  project = await InstalledProject.create(tarball, temporary());
});

/** What a script in the project prints as JSON. It has to end by itself. */
async function answerOf(file: string, text: string): Promise<unknown> {
  const { code, output } = await project.node(file, text);
  expect(output).not.toMatch(/warning|error/i);
  expect(code).toBe(0);
  return JSON.parse(output);
}

const NAMES = [
  ...[
    "Advertiser",
    "Attribution",
    "Catalog",
    "ConversionEvent",
    "ConversionEventSet",
    "EventType",
  ],
  ...["days", "hours", "validate"],
];

it("by require: the public names and nothing else, without anything that sends requests", async () => {
  const script = `
const advertising = require("pulumi-advertising");
const loaded = [...Object.keys(require.cache), ...process.moduleLoadList];
const inner = ["dist/index.js", "session"].map((path) => {
  try { return typeof require("pulumi-advertising/" + path); } catch (error) { return error.code; }
});
console.log(JSON.stringify({ names: Object.keys(advertising).sort(), inner: [...new Set(inner)],
  heavy: loaded.filter((name) => /undici|tough-cookie|node_modules.(yaml|csv-parse)|pulumi-advertising.dist.(handlers|client|provider|sandbox|tools)/.test(name)) }));`;
  const inner = ["ERR_PACKAGE_PATH_NOT_EXPORTED"];
  expect(await answerOf("required.js", script)).toEqual({ names: NAMES, inner, heavy: [] });
});

it("by import: the same classes, and each other entry works and leaves nothing running", async () => {
  project.write("events.csv", "key,advertiser,eventName,value\nbuy,4711,Buy,1\n");
  const script = `
import { createRequire } from "node:module";
import { ${NAMES.join(", ")} } from "pulumi-advertising";
import { conversionEvent } from "pulumi-advertising/handlers";
import { startSandbox } from "pulumi-advertising/sandbox";
import { outputOf, setMocks } from "pulumi-advertising/testing";
const require = createRequire(import.meta.url);
const required = require("pulumi-advertising");
const differing = Object.entries({ ${NAMES.join(", ")} }).filter(([name, value]) => value !== required[name]);
const entries = ["handlers", "sandbox", "testing", "catalog.schema.json"].map((name) => typeof require("pulumi-advertising/" + name));
const sandbox = await startSandbox();
const { status } = await fetch(sandbox.url);
await sandbox.close();
await setMocks();
const ids = await outputOf(new Catalog("shop", { file: "events.csv" }).eventIds);
console.log(JSON.stringify({ differing, entries, status, ids, create: typeof conversionEvent.create }));`;
  expect(await answerOf("imported.mjs", script)).toEqual({
    differing: [],
    entries: ["object", "object", "object", "object"],
    status: expect.any(Number),
    ids: { buy: expect.any(Number) },
    create: "function",
  });
});

/** Jest's own `require` loads nothing but CommonJS, so each dependency has to be CommonJS too. */
it("Jest loads each entry and dependency, and runs the program again for each test", async () => {
  project.write("program.js", COMMONJS);
  const test = `
beforeEach(async () => {
  jest.resetModules();
  await require("pulumi-advertising/testing").setMocks();
});
it.each([1, 2])("the program exports the ids, run %i", async () => {
  const { outputOf } = require("pulumi-advertising/testing");
  expect(await outputOf(require("./program").eventIds)).toEqual([2, 3]);
});
it("a sandbox answers", async () => {
  const sandbox = await require("pulumi-advertising/sandbox").startSandbox();
  expect((await fetch(sandbox.url)).status).toBe(404);
  await sandbox.close();
});
it.each(["handlers", "sandbox", "testing"])("%s", (name) => void require("pulumi-advertising/" + name));
const manifest = require.resolve("pulumi-advertising/package.json");
it.each(Object.keys(require(manifest).dependencies))("%s", (name) => {
  require(require.resolve(name, { paths: [require("node:path").dirname(manifest)] }));
});`;
  project.write("program.test.js", test);
  const jest = await installTool("jest", "jest@30.5.2", temporary());
  const config = JSON.stringify({ rootDir: project.folder, transform: {} });
  const { code, output } = await project.run(jest, "--config", config);
  const { dependencies } = manifestIn(project.packageFolder);
  expect(output).toMatch(
    new RegExp(`^Tests: +${6 + Object.keys(dependencies).length} passed, `, "m"),
  );
  expect(code).toBe(0);
});

it("type-checks strictly, its declarations too; and with the compiler that Pulumi brings for programs that have none", async () => {
  const typed = readFileSync(resolve(import.meta.dirname, "../types/programs.ts"), "utf8");
  for (const file of ["typed.ts", "typed.mts"]) project.write(file, typed);
  project.write("old.ts", FOR_PULUMIS_COMPILER);
  const { version } = manifestIn(join(project.folder, "node_modules", "typescript"));
  expect(await answerOf("compilers.js", COMPILING)).toEqual([
    { version, readsOurs: true, faults: [] },
    { version: "3.8.3", readsOurs: true, faults: [] },
  ]);
});

const FOR_PULUMIS_COMPILER = `
import * as pulumi from "@pulumi/pulumi";
import * as advertising from "pulumi-advertising";
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
const args: advertising.ConversionEventArgs = { eventName: "P", advertiserId: acme, value: 25, eventTypeId: advertising.EventType.Purchase };
export const eventId: pulumi.Output<number> = new advertising.ConversionEvent("purchase", args).eventId;
`;

/** What the compilers find wrong in programs and in what they read of this package. Others' declarations aren't ours to check. */
const COMPILING = `
const { dirname, join } = require("node:path");
const pulumi = dirname(require.resolve("@pulumi/pulumi/package.json"));
const { devDependencies } = require("@pulumi/pulumi/package.json");
const ours = require("typescript");
const pulumis = require(join(pulumi, "vendor", "typescript@" + devDependencies.typescript, "typescript.js"));
const faultsIn = (ts, names, options) => {
  const program = ts.createProgram(names, { noEmit: true, strict: true, ...options });
  const files = program.getSourceFiles().filter(({ fileName }) =>
    names.includes(fileName) || /[\\\\/]pulumi-advertising[\\\\/]/.test(fileName));
  const found = files.flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]);
  const faults = [...program.getOptionsDiagnostics(), ...found].map(({ file, messageText }) =>
    (file ? file.fileName : "options") + ": " + ts.flattenDiagnosticMessageText(messageText, " "));
  return { version: ts.version, readsOurs: files.length > names.length, faults };
};
const nodenext = { module: ours.ModuleKind.NodeNext, moduleResolution: ours.ModuleResolutionKind.NodeNext };
const strict = { exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
const target = ours.ScriptTarget.ES2023;
const old = pulumis.ScriptTarget.ES2020;
const commonjs = { module: pulumis.ModuleKind.CommonJS, moduleResolution: pulumis.ModuleResolutionKind.NodeJs };
console.log(JSON.stringify([
  faultsIn(ours, ["typed.ts", "typed.mts"], { ...strict, ...nodenext, target, types: ["node"] }),
  faultsIn(pulumis, ["old.ts"], { ...commonjs, target: old, types: [] }),
]));`;

it("its commands run by npx, and keep their exit codes", async () => {
  const { version } = manifestIn(project.packageFolder);
  project.write(
    "catalog.yaml",
    "advertisers: { acme: { advertiserName: Acme } }\neventsFile: events.csv\n",
  );
  project.write("events.csv", "key;advertiser;event name;value\r\nbuy;acme;Buy;1\r\n");
  for (const [args, said, expected] of [
    [["pulumi-advertising", "--help"], /^Usage: npx pulumi-advertising/m, 0],
    [
      ["pulumi-advertising", "--version"],
      new RegExp(`^${version.replaceAll(".", "\\.")}\n$`),
      0,
    ],
    [
      ["pulumi-advertising", "validate", "catalog.yaml"],
      /1 advertiser, 1 conversion event, 0 errors, 0 warnings/,
      0,
    ],
    [["advertising-sandbox", "--help"], /^Usage: advertising-sandbox/m, 0],
    [["advertising-sandbox", "--port", "abc"], /port should be >= 0/, 2],
  ] as const) {
    const { code, output } = await project.exec(
      ...(args as readonly [string, ...string[]]),
    );
    expect(output).toMatch(said);
    expect(code, args.join(" ")).toBe(expected);
  }
});

it("an error names a page in the program's folder, and the section about its code", async () => {
  project.write("wrong.csv", "key,advertiser,event name,value\nbuy,acme,Buy,much\n");
  const { output } = await project.exec("pulumi-advertising", "validate", "wrong.csv");
  const [, path = "", anchor = ""] =
    /\(([^()#]+\.md)#(\w+)\) \[ADVERTISING_ARGUMENTS\]/.exec(output) ?? [];
  const page = readFileSync(join(project.folder, path), "utf8");
  expect(page).toContain(`\n## \`${anchor.toUpperCase()}\`\n`);
});

it("advertising-sandbox serves, and ends at SIGTERM", async () => {
  const listens = /listens on (http:\/\/127\.0\.0\.1:\d+)/;
  const { pid, match, ended } = await project.start("advertising-sandbox", [], listens);
  const body = JSON.stringify({ email: "ops@example.com", password: "sandbox-password" });
  const headers = { "content-type": "application/json" };
  expect(
    (await fetch(`${match[1]}/rest/authenticate`, { method: "POST", headers, body }))
      .status,
  ).toBe(200);
  process.kill(pid, "SIGTERM");
  const end = await ended;
  expect(end.output).toContain("POST /rest/authenticate 200");
  expect(end.code).toBe(0);
});

const BODY = `
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
const events = ["Landing", "Basket"].map((eventName, value) =>
  new advertising.ConversionEvent(eventName, { eventName, advertiserId: acme, value, clickWindow: advertising.days(7) }));`;
const EXPORTS = "export const eventIds = events.map((event) => event.eventId);";
const COMMONJS = `const advertising = require("pulumi-advertising");${BODY}${EXPORTS.replace("export const ", "exports.")}`;
const PROGRAMS = {
  "index.js": COMMONJS,
  "index.mjs": `import * as advertising from "pulumi-advertising";${BODY}${EXPORTS}`,
  "index.ts": `import * as advertising from "pulumi-advertising";${BODY}${EXPORTS}`,
};

/** @param more the program with what it needs of the package inside of it, in place of the plain one. */
async function upIn(
  file: keyof typeof PROGRAMS,
  sandbox: Sandbox,
  text = PROGRAMS[file],
): Promise<TestStack> {
  // What an earlier test left: programs, and the stack's settings.
  for (const name of readdirSync(project.folder))
    if (/^(index\.|Pulumi\.|tsconfig)/.test(name)) rmSync(join(project.folder, name));
  const stack = await newStack(text, {
    file,
    sandbox,
    programFolder: project.folder,
    project: "shop",
  });
  const { code, output } = await stack.up();
  expect(output).toContain("4 created");
  expect(output).not.toMatch(/warning|error/i);
  expect(code).toBe(0);
  return stack;
}

it.each(["index.mjs", "index.js"] as const)(
  "%s (CommonJS: in a bundle): one login, each object once, its id in the outputs",
  async (file) => {
    const sandbox = await useSandbox();
    const stack = await upIn(
      file,
      sandbox,
      file === "index.js" ? await bundled(PROGRAMS[file]) : PROGRAMS[file],
    );
    expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 2 });
    const idOf = (name: string) =>
      sandbox.events.find(({ event_name }) => event_name === name)?.id;
    expect(await stack.outputs()).toEqual({ eventIds: [idOf("Landing"), idOf("Basket")] });
  },
);

/** One file, with this package's half of the program inside of it. */
async function bundled(text: string): Promise<string> {
  project.write("unbundled.js", text);
  const isOther = (id: string) => !/^[./]|^pulumi-advertising$/.test(id);
  const bundle = await rolldown({
    input: join(project.folder, "unbundled.js"),
    platform: "node",
    external: isOther,
  });
  const { output } = await bundle.generate({ format: "cjs" });
  expect(output[0].code).not.toContain('require("pulumi-advertising")');
  return output[0].code;
}

const guide = readFileSync(resolve(import.meta.dirname, "../../docs/guide.md"), "utf8");
/** What these package managers need in a workspace. */
const SETTINGS: Readonly<Record<string, string>> = {
  pnpm: 'packages: ["apps/*", "libs/*"]\n',
  "yarn, Plug'n'Play": `${/packageExtensions: [^`]*/.exec(guide)?.[0]}\n`,
};

const LIBRARY = `
const pulumi = require("@pulumi/pulumi");
const advertising = require("pulumi-advertising");
exports.Tracking = class extends pulumi.ComponentResource {
  constructor(name, options) {
    super("acme:tracking:Tracking", name, {}, options);
    this.advertiser = new advertising.Advertiser(name, { advertiserName: "Acme" }, { parent: this });
  }
};`;
const NEXT = "9.0.0";

/** @param isNext whether it has the next version, and what a program in TypeScript needs. */
async function makeWorkspace(manager: Manager, isNext = false) {
  const packed = isNext ? await packAsVersion(NEXT, tarball, temporary()) : tarball;
  return InstalledProject.workspace(manager, packed, temporary(), {
    ...{ library: LIBRARY, settings: SETTINGS[manager] ?? "", project },
    devDependencies: isNext ? versions("typescript", "@types/node") : {},
  });
}
/** pnpm's, which is made once. */
let ofNextVersion: ReturnType<typeof makeWorkspace> | undefined;
function workspaceOf(manager: Manager) {
  if (manager !== "pnpm") return makeWorkspace(manager);
  ofNextVersion ??= makeWorkspace(manager, true);
  return ofNextVersion;
}

it.each(["npm", "pnpm", "yarn", "yarn, Plug'n'Play"] as const)(
  "%s: a library in the workspace shares the program's copy, as a peer dependency",
  async (manager) => {
    const workspace = await workspaceOf(manager);
    const text = `
const { Tracking } = require("tracking");
const { ConversionEvent } = require("pulumi-advertising");
const { advertiser } = new Tracking("web");
new ConversionEvent("buy", { eventName: "Buy", advertiserId: advertiser, value: 1 });`;
    const sandbox = await useSandbox();
    const stack = await newStack(text, { sandbox, project: "shop", ...workspace });
    expect(await well(stack.up())).toContain("4 created");
    expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 1 });
  },
);

it("a program that reaches the package through a library alone is told in one sentence what to install where", async () => {
  const library = join(project.folder, "node_modules", "analytics");
  const { packageFolder } = project;
  const nested = join(library, "node_modules", "pulumi-advertising");
  mkdirSync(join(library, "node_modules"), { recursive: true });
  renameSync(packageFolder, nested);
  onTestFinished(() => renameSync(nested, packageFolder));
  project.write(
    "node_modules/analytics/index.js",
    'module.exports = require("pulumi-advertising");',
  );
  const sandbox = await useSandbox();
  const text = PROGRAMS["index.js"].replace('"pulumi-advertising"', '"analytics"');
  const stack = await newStack(text, {
    sandbox,
    programFolder: project.folder,
    project: "shop",
  });
  const output = await failed(stack.preview());
  expect(output).toContain(
    `can't find pulumi-advertising from ${project.folder}. Nothing was sent. Install it there: `,
  );
  expect(output).not.toMatch(/Cannot find module|MODULE_NOT_FOUND/);
});

it.each([
  ["in the folder that Pulumi.yaml names", "node_modules/pulumi-advertising"],
  ["on npm's PATH", ""],
])("the plugin is found %s", async (_, plugin) => {
  const sandbox = await useSandbox();
  const text = throughPlugin(
    program(`new advertising.Advertiser("a", { advertiserName: "A" });`),
  );
  const { PATH } = inheritedEnvironment();
  const commands = join(project.folder, "node_modules", ".bin");
  const stack = await newStack(text, {
    sandbox,
    programFolder: project.folder,
    project: "shop",
    plugin,
    environment: { PATH: plugin === "" ? `${commands}:${PATH}` : `${PATH}` },
  });
  expect(await well(stack.up())).toContain("2 created");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1 });
});

it("a TypeScript program's state is the next version's, installed by pnpm in another folder", async () => {
  const sandbox = await useSandbox();
  const stack = await upIn("index.ts", sandbox);
  stack.setEnvironment(UNCHECKED); // from here on, as its types were checked
  const { version } = manifestIn(project.packageFolder);
  const stored = async () =>
    (await stack.resources()).map(({ urn, id, inputs, outputs }) => ({
      urn,
      id,
      inputs,
      outputs,
    }));
  const before = await stored();
  for (const place of [temporary(), "node_modules", version])
    expect(JSON.stringify(before)).not.toContain(place);
  resetCounts(sandbox);

  const { programFolder: elsewhere } = await workspaceOf("pnpm");
  const installed = manifestIn(join(elsewhere, "node_modules", "pulumi-advertising"));
  expect(installed.version).toBe(NEXT);
  for (const name of ["Pulumi.yaml", "Pulumi.dev.yaml", "tsconfig.json", "index.ts"])
    copyFileSync(join(project.folder, name), join(elsewhere, name)); // what one commits
  renameSync(project.folder, `${project.folder}-hidden`);
  onTestFinished(() => renameSync(`${project.folder}-hidden`, project.folder));
  stack.programFolder = elsewhere;
  await stack.select();

  expect(await well(stack.up("--refresh", "--expect-no-changes"))).toContain("4 unchanged");
  expect(await stored()).toEqual(before);
  expect(sandbox.requests).toEqual([]);
});
