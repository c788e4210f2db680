import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, join, relative, resolve } from "node:path";
import {
  argumentsOf,
  calledFrom,
  inRoot,
  isWindows,
  languagesFolder,
  Problem,
  programName,
  readJson,
  run,
  runMain,
} from "./lib/base.mjs";
import { buildLanguages } from "./lib/cli-build.mjs";
import { linesOf, ownNode, pathCommand, shellWord } from "./lib/user-shell.mjs";
import { setUp } from "./setup.mjs";

const TEMPLATES = { typescript: "starter", yaml: "starter-yaml" };
const USAGE = `Usage: npm run new DIR [${Object.keys(TEMPLATES).join("|")}]

Makes a Pulumi project in DIR from examples/starter or examples/starter-yaml, with this repository's package, and a
stack for the sandbox.`;
const STACK = "dev";
const PASSPHRASE = "sandbox";
/** In the YAML project: the engine finds the plugin in the installed package. */
const PLUGIN = `plugins:
  providers:
    - name: advertising
      path: node_modules/pulumi-advertising
`;

/** What Pulumi notes in the project about the template, whose place is gone by then. */
const TEMPLATE_TAG = /^config:\n +pulumi:tags:\n +value:\n +pulumi:template: .*\n/m;

/** Set-up, then a project of one's own by `pulumi new`, with the package as packed here. */
await runMain(async () => {
  const { positionals } = argumentsOf(USAGE, { allowPositionals: true });
  const { folder, language } = readArguments(positionals);
  const { node, cli, env: runEnvironment } = await setUp({ forTests: false });
  const folders = [cli, ...(language === "yaml" ? await yamlHost(cli) : [])];
  const env = environmentFor(folder, folders, runEnvironment);
  console.log(`Project: making it in ${folder}, and installing its dependencies …`);
  const template = mkdtempSync(join(tmpdir(), "advertising-template-"));
  try {
    await copyTemplate(template, language, env);
    mkdirSync(folder, { recursive: true });
    const pulumi = (...args) =>
      succeed(join(cli, programName("pulumi")), args, { cwd: folder, env });
    // The template's project is named after the folder.
    const create = ["new", template, "--stack", STACK, "--yes", "--non-interactive"];
    if (language === "yaml") {
      // Without this option, it looks for the plugin in a registry, even if the project names its folder.
      await pulumi(...create, "--generate-only");
      await npm(["install", "--no-audit", "--no-fund", "--loglevel=error"], folder, env);
      edit(join(folder, "Pulumi.yaml"), /^(runtime: .*\n)/m, `$1${PLUGIN}`);
      await pulumi("stack", "init", STACK, "--non-interactive");
      await pulumi("config", "set-all", ...(await settingsIn(template)));
    } else await pulumi(...create);
    edit(join(folder, "Pulumi.yaml"), TEMPLATE_TAG, "");
  } finally {
    rmSync(template, { recursive: true, force: true });
  }
  showNext(folder, folders, ownNode(node));
});

function readArguments([given, language = "typescript", ...rest]) {
  if (!given || !Object.hasOwn(TEMPLATES, language) || rest.length > 0)
    throw new Problem(USAGE, 2);
  const folder = resolve(calledFrom, given);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Problem(`${folder} isn't empty. Name a new folder.`);
  if (!/^[\w.-]{1,100}$/.test(basename(folder)))
    throw new Problem(
      `The folder's name becomes the project's, so it may only have letters, digits, "-", "_" and "."; got "${basename(folder)}".`,
    );
  return { folder, language };
}

/** The folder with the language host for YAML, unless it's beside the CLI or on PATH. An official CLI brings it. */
async function yamlHost(cli) {
  const host = programName("pulumi-language-yaml");
  const places = [cli, ...(process.env.PATH ?? "").split(delimiter)];
  if (places.some((place) => place && existsSync(join(place, host)))) return [];
  await buildLanguages();
  return [languagesFolder];
}

/** The stack's state is in the project's folder. The home is the user's, where Pulumi notes which stack is selected. */
function environmentFor(folder, folders, { PATH, ...others }) {
  const isAboutThisRepository = (name) =>
    /^(npm_(package|lifecycle)_|npm_config_local_prefix)/.test(name);
  const kept = Object.entries(others).filter(([name]) => !isAboutThisRepository(name));
  return {
    ...Object.fromEntries(kept),
    PATH: [...folders, PATH].join(delimiter),
    PULUMI_HOME: process.env.PULUMI_HOME,
    PULUMI_BACKEND_URL: `file://${folder}`,
    PULUMI_CONFIG_PASSPHRASE: PASSPHRASE,
  };
}

/** Copies the template, without what runs in it have left, and makes the packed package its dependency. */
async function copyTemplate(template, language, env) {
  const isOwn = (path) =>
    !/^(Pulumi\..+\.yaml|node_modules|\.pulumi)$/.test(basename(path));
  const source = inRoot("examples", TEMPLATES[language]);
  cpSync(source, template, { recursive: true, filter: isOwn });
  await npm(["pack", "--silent", "--pack-destination", template], inRoot("provider"), env);
  const { name, version } = readJson(inRoot("provider", "package.json"));
  const file = join(template, "package.json");
  const manifest = existsSync(file) ? readJson(file) : { private: true };
  const dependencies = {
    ...manifest.dependencies,
    [name]: `file:./${name}-${version}.tgz`,
  };
  // Pulumi puts the project's name in place of its placeholder.
  const all = { name: ["$", "{PROJECT}"].join(""), ...manifest, dependencies };
  writeFileSync(file, `${JSON.stringify(all, undefined, 2)}\n`);
}

/** The template's settings with their defaults, as arguments of `pulumi config set-all`. */
async function settingsIn(template) {
  const { parse } = await import("yaml"); // installed by now
  const { config } = parse(readFileSync(join(template, "Pulumi.yaml"), "utf8")).template;
  return Object.entries(config).flatMap(([name, { default: value, secret }]) => [
    secret ? "--secret" : "--plaintext",
    `${name}=${value}`,
  ]);
}

function edit(file, pattern, replacement) {
  writeFileSync(file, readFileSync(file, "utf8").replace(pattern, replacement));
}

function npm(args, cwd, env) {
  return succeed("npm", args, { cwd, env, shell: isWindows });
}

async function succeed(program, args, options) {
  const { exitCode, output } = await run(program, args, { capture: true, ...options });
  if (exitCode === 0) return;
  throw new Problem(
    `${output.trim()}\n\`${basename(program)} ${args[0]}\` failed: see its message above. Before you try again, remove the project's folder.`,
  );
}

function showNext(folder, folders, own) {
  const usersPath = (process.env.PATH ?? "").split(delimiter);
  const missing = [...folders.filter((each) => !usersPath.includes(each)), ...own];
  const commands = [
    [`cd ${shellWord(relative(calledFrom, folder) || ".")}`],
    ...pathCommand(missing),
    [
      `export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=${PASSPHRASE}`,
      "the state stays in that folder",
    ],
    ["pulumi preview", "sends nothing"],
    ["npx advertising-sandbox --port 8787", "in a second terminal, before `pulumi up`"],
  ];
  console.log(`
The project is ready. Its stack "${STACK}" uses the sandbox. Next:
${linesOf(commands)}`);
}
