import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { availableParallelism, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout } from "node:timers/promises";
import {
  ask,
  cliFolder,
  cliVersion,
  inRoot,
  isAtLeast,
  isWindows,
  languagesFolder,
  Problem,
  programName,
  run,
} from "./base.mjs";

const PULUMI = "github.com/pulumi/pulumi";
/** The programs to build. Each has a go.mod and go.sum in scripts/cli-build that pin all source: versions of one module differ. */
const LANGUAGE_HOST = {
  name: "pulumi-language-nodejs",
  module: `${PULUMI}/sdk/v3`,
  main: `${PULUMI}/sdk/v3/nodejs/cmd/pulumi-language-nodejs`,
  tags: "",
};
const ENGINE = {
  name: "pulumi",
  module: `${PULUMI}/pkg/v3`,
  main: `${PULUMI}/pkg/v3/cmd/pulumi`,
  // Leaves out what Google's storage client needs for gRPC (cloud.google.com/go/storage, doc.go), 135 of 1,685
  // packages. The engine speaks to gs:// backends without gRPC.
  tags: "disable_grpc_modules",
};
/** Starters for Node.js that an official release holds too, and where they are in the language host's module. */
const STARTERS = {
  folder: "nodejs/dist",
  names: ["pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"],
};
const PACKAGES_A_LINE = 200;
const TEN_MINUTES_IN_MS = 600_000;

const GIB = 2 ** 30;
const cores = availableParallelism();
const memory = Math.min(
  totalmem(),
  process.constrainedMemory?.() || Number.POSITIVE_INFINITY,
); // a container's limit
const env = {
  // Collects garbage only from 1 GiB on (10% less work), if two such processes a core, and one more, fit into memory.
  ...(memory >= 2 * GIB * (cores + 1) ? { GOGC: "off", GOMEMLIMIT: "1GiB" } : {}),
  ...process.env,
  // No C compiler is needed, as for the official release, and no workspace outside has a say.
  CGO_ENABLED: "0",
  GOWORK: "off",
};
const inFolderOf = ({ name, folder = name }) => ({
  cwd: inRoot("scripts", "cli-build", folder),
  env,
});

/**
 * Starts to build the CLI from Go modules into `cliFolder`. Whatever has its final name there is complete: parts are
 * moved in at the end. Answers `{ finished, stop }`: `finished` resolves when it is there. Throws when it cannot start.
 */
export function startCliBuild() {
  checkGo();
  const minutes = Math.ceil((40 + 400 / cores) / 60); // measured, from empty caches: 400 s of one core, and 40 s of waiting
  const often = `once per machine, ${minutes} to ${2 * minutes} minutes on ${cores} cores, 0.3 GB of downloads`;
  console.log(`Pulumi CLI: building it from its Go source (${often}) …`);
  const controller = new AbortController();
  const finished = build(controller.signal);
  finished.catch(() => {}); // whoever waits for it is told; until then its failure must not end this process
  return { finished, stop: () => controller.abort() };
}

async function build(signal) {
  const building = makeFolder();
  const programs = join(building, "bin");
  mkdirSync(programs);
  const compileInto = (program, packages) =>
    compile(program, {
      packages,
      file: join(programs, programName(program.name)),
      building,
      signal,
    });
  try {
    // The small program is compiled while the large one is downloaded. After that one at a time: each of them keeps all
    // cores busy, and the second finds the standard library compiled.
    const [, ofEngine] = await settled([
      download(LANGUAGE_HOST, signal).then((packages) =>
        compileInto(LANGUAGE_HOST, packages),
      ),
      download(ENGINE, signal),
    ]);
    await compileInto(ENGINE, ofEngine);
    copyStarters(programs);
    moveAll(programs, cliFolder);
  } finally {
    // Compilers outlive a Go that was stopped by some seconds, and write here.
    rmSync(building, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** What the plugin's tests and SDKs need beside the CLI. The Python host is the last one that can be built, as for Node.js. */
const LANGUAGES = [
  {
    name: "sdk-build",
    folder: "languages",
    module: `${PULUMI}/pkg/v3`,
    main: ".",
    tags: "disable_grpc_modules",
  },
  {
    name: "pulumi-language-yaml",
    folder: "languages",
    module: "github.com/pulumi/pulumi-yaml",
    main: "github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml",
    tags: "disable_grpc_modules",
  },
  {
    name: "pulumi-language-python",
    folder: LANGUAGE_HOST.name,
    module: LANGUAGE_HOST.module,
    main: `${LANGUAGE_HOST.module}/python/cmd/pulumi-language-python`,
    tags: "",
  },
];
const PYTHON_STARTER = "pulumi-language-python-exec";

const isMissing = ({ name }) => !existsSync(join(languagesFolder, programName(name)));

/**
 * Builds what is missing of {@link LANGUAGES} into `languagesFolder`, once per machine (two minutes on two cores).
 * Throws a `Problem` without a Go that can.
 */
export async function buildLanguages() {
  if (!LANGUAGES.some(isMissing)) return;
  checkGo();
  const turn = `${languagesFolder}-turn`;
  mkdirSync(dirname(turn), { recursive: true });
  await takeTurn(turn);
  try {
    await buildMissingLanguages();
  } finally {
    rmSync(turn, { recursive: true, force: true });
  }
}

/** Waits while another process builds them, as tests side by side do. One that has had ten minutes was killed. */
async function takeTurn(turn) {
  for (;;) {
    try {
      mkdirSync(turn);
      return;
    } catch (error) {
      if (error.code !== "EEXIST") throw error;
    }
    const since = statSync(turn, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    if (Date.now() - since > TEN_MINUTES_IN_MS) return;
    await setTimeout(500);
  }
}

async function buildMissingLanguages() {
  const missing = LANGUAGES.filter(isMissing);
  if (missing.length === 0) return;
  console.log(`Languages: building ${missing.map(({ name }) => name).join(", ")} …`);
  mkdirSync(languagesFolder, { recursive: true });
  const building = mkdtempSync(`${languagesFolder}-building-`);
  const fileOf = ({ name }) => programName(name);
  try {
    for (const program of missing)
      await go(program, ["build", "-o", join(building, fileOf(program))], {
        more: { GOTMPDIR: building },
      });
    const source = ask("go", ["mod", "download", "-json", LANGUAGE_HOST.module], {
      ...inFolderOf(LANGUAGE_HOST),
      timeout: TEN_MINUTES_IN_MS,
    });
    const starter = join(languagesFolder, PYTHON_STARTER);
    copyFileSync(join(JSON.parse(source).Dir, "python", "cmd", PYTHON_STARTER), starter);
    chmodSync(starter, 0o755);
    for (const program of missing)
      renameSync(join(building, fileOf(program)), join(languagesFolder, fileOf(program)));
  } finally {
    rmSync(building, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

/** The results of both jobs. If one fails, the other isn't left running. */
async function settled(jobs) {
  await Promise.allSettled(jobs);
  return Promise.all(jobs);
}

function checkGo() {
  const [, floor] = /^go (.+)$/m.exec(
    readFileSync(join(inFolderOf(ENGINE).cwd, "go.mod"), "utf8"),
  );
  // Asked in the folder: a Go that may fetch the newer one that go.mod wants then answers as that one.
  const answer = ask("go", ["version"], inFolderOf(ENGINE));
  if (isAtLeast(answer, floor)) return;
  throw new Problem(
    `The Pulumi CLI ${cliVersion} is not on this machine, its download was not reachable, and to build it from source ` +
      `Go ${floor} or later is needed (${answer ? `this is ${answer}` : "there is none on PATH"}).\n` +
      "Either install Go from https://go.dev/dl/ or the Pulumi CLI from https://www.pulumi.com/docs/install/; then run this command again.",
  );
}

/** A folder beside the final one, thus on the same disk, which lets `rename` move files at once. */
function makeFolder() {
  try {
    mkdirSync(cliFolder, { recursive: true });
    return mkdtempSync(`${cliFolder}-building-`);
  } catch ({ code }) {
    throw new Problem(
      `${cliFolder} cannot be written (${code}). Set PULUMI_HOME to a folder that can.`,
    );
  }
}

/** Answers how many packages the program has, with Go's own. */
async function download(program, signal) {
  console.log(`  ${program.name}: downloading its source`);
  // Go downloads as many modules at once as it has processors; waiting for a network takes none.
  const more = { GOMAXPROCS: String(Math.max(16, cores)) };
  const output = await go(program, ["list", "-deps"], { more, signal });
  return output.split("\n").filter((line) => !line.startsWith("go: ")).length;
}

/** Compiles and links a program into `file`. Go leaves its files in `building` where it is stopped. */
async function compile(program, { packages, file, building, signal }) {
  console.log(`  ${program.name}: compiling what Go has not kept of ${packages} packages`);
  let started = 0;
  const onOutput = (text) => {
    const before = started;
    started += text.split("\n").length - 1; // Go names each package on a line as it starts with it
    const [from, to] = [before, started].map((count) =>
      Math.floor(count / PACKAGES_A_LINE),
    );
    if (to > from)
      console.log(`  ${program.name}: ${to * PACKAGES_A_LINE} of ${packages} packages`);
  };
  await go(program, ["build", "-v", "-o", file], {
    more: { GOTMPDIR: building },
    onOutput,
    signal,
  });
  console.log(`  ${program.name}: built`);
}

/** Runs Go for a program's main package with the flags of the build, since its cache tells packages apart by them. */
async function go(program, command, { more, ...options }) {
  const { cwd } = inFolderOf(program);
  const version = ask(
    "go",
    ["list", "-m", "-f", "{{.Version}}", program.module],
    inFolderOf(program),
  );
  const flags = [
    "-mod=readonly",
    "-trimpath",
    `-tags=${program.tags}`,
    // The linker leaves debug information out (-s -w), so the compilers need not write it either: 6% less work.
    "-gcflags=all=-dwarf=false",
    `-ldflags=-s -w -X ${PULUMI}/sdk/v3/go/common/version.Version=${version}`,
  ];
  const args = [...command, ...flags, program.main];
  const { exitCode, output } = await run("go", args, {
    capture: true,
    cwd,
    env: { ...env, ...more },
    ...options,
  });
  if (exitCode === 0) return output;
  const message = output.trim().split("\n").slice(-20).join("\n");
  throw new Problem(
    `${message}\n\`go ${command[0]}\` failed for ${program.name}: see its message above.`,
  );
}

function copyStarters(folder) {
  const source = ask(
    "go",
    ["list", "-m", "-f", "{{.Dir}}", LANGUAGE_HOST.module],
    inFolderOf(LANGUAGE_HOST),
  );
  for (const name of STARTERS.names.map((starter) =>
    isWindows ? `${starter}.cmd` : starter,
  )) {
    copyFileSync(join(source, STARTERS.folder, name), join(folder, name));
    chmodSync(join(folder, name), 0o755);
  }
}

/** Moves the files in, the CLI itself last: others take the folder for complete once that is there. */
function moveAll(from, to) {
  const cli = programName("pulumi");
  for (const name of [...readdirSync(from).filter((other) => other !== cli), cli]) {
    try {
      renameSync(join(from, name), join(to, name));
    } catch (error) {
      // Windows: another set-up was faster, and its copy, the same as ours, is running.
      if (!isWindows) throw error;
    }
  }
}
