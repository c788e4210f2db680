/** The SDKs of the plugin's schema: Pulumi's generators write them, each language's own tools pack and check them. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import {
  ask,
  inRoot,
  languagesFolder,
  Problem,
  programName,
  readJson,
} from "../lib/base.mjs";
import { buildLanguages } from "../lib/cli-build.mjs";
import { addressesOf, packFolder } from "./npm-package.mjs";
import { pythonEnvironment } from "./python.mjs";
import { GO_FOLDER, goArchive, goProgram, readmeOf } from "./readme.mjs";
import { succeed } from "./run.mjs";
import { filesIn } from "./sums.mjs";
import { tarOf } from "./tar.mjs";

/** Of the generator's version, see `scripts/cli-build/languages`. */
const GO_SDK = "github.com/pulumi/pulumi/sdk/v3@v3.206.0";
/** The lowest version of Go that this SDK can be used with. */
const GO = "1.23.11";
const PYTHON_PACKAGE = "pulumi_advertising";
/** How each language writes an argument's name. */
const SPELLINGS = {
  python: (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  go: (name) => name[0].toUpperCase() + name.slice(1),
  dotnet: (name) => name[0].toUpperCase() + name.slice(1),
  nodejs: (name) => name,
};

async function generateSdks({ schema, scratch }) {
  const folder = join(scratch, "sdks");
  if (!existsSync(folder)) await writeSdks(schema, folder);
  return folder;
}

/** Writes the SDK of each language in a folder of its own. @param schema as text. */
export async function writeSdks(schema, folder) {
  await buildLanguages();
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "schema.json");
  writeFileSync(file, schema);
  await succeed(join(languagesFolder, programName("sdk-build")), [file, folder]);
  const names = argumentNames(JSON.parse(schema));
  for (const [language, spell] of Object.entries(SPELLINGS))
    respell(join(folder, language), names, spell);
  repairImports(folder);
  repairConfigTypes(folder, JSON.parse(schema).config.variables);
}

function argumentNames({ resources, types }) {
  const all = [...Object.values(resources), ...Object.values(types)];
  return new Set(
    all.flatMap(({ inputProperties, properties }) =>
      Object.keys({ ...inputProperties, ...properties }),
    ),
  );
}

/** In texts, arguments have the language's names. */
function respell(folder, names, spell) {
  editFiles(folder, /\.(pyi?|go|cs|ts)$/, (text) =>
    text.replace(/`(\w+)`/g, (whole, name) =>
      names.has(name) ? `\`${spell(name)}\`` : whole,
    ),
  );
}

/** The generators, built by Go 1.26 or later, leave out one `.` or `..` in files of a folder. */
function repairImports(folder) {
  for (const name of ["types", "config"])
    editFiles(join(folder, "nodejs", name), /\.ts$/, (text) =>
      text.replace(/from "\.\/(utilities|types\/)/g, 'from "../$1'),
    );
  editFiles(join(folder, "python", PYTHON_PACKAGE, "config"), /\.pyi?$/, (text) =>
    text.replace(/^from \. import _utilities$/m, "from .. import _utilities"),
  );
}

/** Settings are properties with Python's names; the generator's types have the schema's. */
function repairConfigTypes(folder, settings) {
  editFiles(join(folder, "python", PYTHON_PACKAGE, "config"), /\.pyi$/, (text) =>
    text.replace(/^\w+(?=: )/gm, (name) =>
      name in settings ? SPELLINGS.python(name) : name,
    ),
  );
}

function editFiles(folder, pattern, edit) {
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!pattern.test(name)) continue;
    const path = join(folder, name);
    const text = readFileSync(path, "utf8");
    const edited = edit(text);
    if (edited !== text) writeFileSync(path, edited);
  }
}

/** A wheel and a source archive. */
export async function packPython({ facts, schema, out, scratch }) {
  const folder = join(await generateSdks({ schema, scratch }), "python");
  writeFileSync(join(folder, "README.md"), readmeOf("python", facts));
  cpSync(inRoot("LICENSE"), join(folder, "LICENSE"));
  const python = await pythonEnvironment();
  const packed = join(scratch, "python-packages");
  await succeed(python, ["-m", "build", "--no-isolation", "--outdir", packed, folder]);
  const packages = readdirSync(packed).map((name) => join(packed, name));
  await succeed(python, ["-m", "twine", "check", "--strict", ...packages]);
  cpSync(packed, out, { recursive: true });
}

/** The npm package of plain resources for the plugin, beside the one with the classes. */
export async function packNode({ facts, schema, out, scratch }) {
  const folder = join(await generateSdks({ schema, scratch }), "nodejs");
  symlinkSync(inRoot("node_modules"), join(folder, "node_modules"), "junction");
  const tsc = inRoot("node_modules", "typescript", "bin", "tsc");
  const options = [
    "--ignoreDeprecations",
    "6.0",
    "--types",
    "node",
    "--sourceMap",
    "false",
  ];
  await succeed(process.execPath, [tsc, "-p", folder, "--skipLibCheck", ...options]);
  const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const published = join(scratch, "nodejs-package");
  cpSync(join(folder, "bin"), join(published, "bin"), { recursive: true });
  // The generator expects package.json beside the compiled files.
  const utilities = join(published, "bin", "utilities.js");
  const compiled = readFileSync(utilities, "utf8");
  writeFileSync(utilities, compiled.replace("./package.json", "../package.json"));
  writeFileSync(join(published, "README.md"), readmeOf("nodejs", facts));
  cpSync(inRoot("LICENSE"), join(published, "LICENSE"));
  const { scripts: _, devDependencies: __, ...kept } = manifest;
  const { engines } = readJson(inRoot("provider", "package.json"));
  const entry = { main: "./bin/index.js", types: "./bin/index.d.ts", files: ["bin"] };
  const own = { type: "commonjs", ...entry, engines, ...addressesOf(facts) };
  const text = JSON.stringify({ ...kept, ...own }, undefined, 2);
  writeFileSync(join(published, "package.json"), text);
  await loadPacked(await packFolder(published, out), scratch);
}

/** Loads a packed SDK as a program does, with this repository's dependencies. */
async function loadPacked(tarball, scratch) {
  const cwd = join(scratch, "nodejs-loaded");
  mkdirSync(cwd);
  await succeed("tar", ["-xzf", tarball], { cwd });
  symlinkSync(inRoot("node_modules"), join(cwd, "node_modules"), "junction");
  await succeed(process.execPath, ["--eval", 'require("./package")'], { cwd });
}

/** The Go module's folder, packed. */
export async function writeGo({ facts, schema, out, scratch }) {
  const target = join(await generateSdks({ schema, scratch }), "go", "advertising");
  cpSync(inRoot("LICENSE"), join(target, "LICENSE"));
  writeFileSync(join(target, "README.md"), readmeOf("go", facts));
  const go = (...args) => succeed("go", args, { cwd: target });
  await go("mod", "init", facts.goModule);
  await go("mod", "edit", `-go=${GO}`, `-require=${GO_SDK}`);
  await go("mod", "tidy");
  if (!readFileSync(join(target, "go.mod"), "utf8").includes(`\ngo ${GO}\n`))
    throw new Problem(`The Go module needs another version of Go than ${GO}.`);
  await go("build", "./...");
  await checkGoProgram({ facts, target, scratch });
  const entries = filesIn(target).map((file) => ({
    name: `${GO_FOLDER}/${file}`,
    content: readFileSync(join(target, file)),
  }));
  writeFileSync(join(out, goArchive(facts)), gzipSync(tarOf(entries)));
}

/** The README's program, in a module that has the SDK as the README says. */
async function checkGoProgram({ facts, target, scratch }) {
  const cwd = join(scratch, "go-program");
  mkdirSync(cwd);
  writeFileSync(join(cwd, "main.go"), goProgram(facts));
  const go = (...args) => succeed("go", args, { cwd });
  await go("mod", "init", "shop");
  await go("mod", "edit", `-replace=${facts.goModule}=${target}`);
  await go("mod", "tidy");
  await go("build");
}

/** A NuGet package, where `dotnet` is. */
export async function packDotnet({ schema, out, scratch }) {
  if (ask("dotnet", ["--version"]) === undefined) {
    console.log("  left out: there is no dotnet on this machine");
    return;
  }
  const folder = join(await generateSdks({ schema, scratch }), "dotnet");
  await succeed("dotnet", ["pack", folder, "--configuration", "Release", "--output", out]);
}
