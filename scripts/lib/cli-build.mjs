import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { cliFolder, cliVersion, inRoot, isWindows, programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask, run } from "./run.mjs";
import { isAtLeast, readVersion } from "./version.mjs";

const PULUMI = "github.com/pulumi/pulumi";
/** The programs to build. Each folder's go.mod and go.sum pin all of its source. */
const PROGRAMS = [
  { name: "pulumi-language-nodejs", module: `${PULUMI}/sdk/v3`, main: "nodejs/cmd/pulumi-language-nodejs" },
  { name: "pulumi", module: `${PULUMI}/pkg/v3`, main: "cmd/pulumi" },
];
/** Starters for Node.js that an official release holds too, and the place in the language host's module where they stand. */
const STARTERS = { folder: "nodejs/dist", names: ["pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"] };

// Nothing outside the tools' folders has a say, and no C compiler is needed, as for the official release.
const env = { ...process.env, CGO_ENABLED: "0", GOWORK: "off" };

/** Builds the CLI from Go modules into `cliFolder`. Whatever is there under its final name is complete: parts are moved in at the end. */
export async function buildCli() {
  checkGo();
  console.log("Pulumi CLI: building it from its Go source; once per machine, some minutes …");
  const building = makeFolder();
  try {
    for (const program of PROGRAMS) await build(program, building);
    copyStarters(building);
    moveAll(building, cliFolder);
  } finally {
    rmSync(building, { recursive: true, force: true });
  }
}

function checkGo() {
  const folder = inRoot("tools", "pulumi");
  const floor = readVersion(/^go (.+)$/m.exec(readFileSync(join(folder, "go.mod"), "utf8"))[1]);
  // Asked in the folder: a Go that may fetch the newer one that go.mod wants then answers as that one.
  const answer = ask("go", ["version"], { cwd: folder, env });
  if (isAtLeast(readVersion(answer), floor)) return;
  throw new Problem(
    `The Pulumi CLI ${cliVersion} is not on this machine, its download was not reachable, and to build it from source ` +
      `Go ${floor.join(".")} or later is needed (${answer ? `this is ${answer}` : "there is none on PATH"}).\n` +
      "Either install Go from https://go.dev/dl/ or the Pulumi CLI from https://www.pulumi.com/docs/install/; then run this command again.",
  );
}

/** A folder beside the final one, thus on the same disk, which lets `rename` move files at once. */
function makeFolder() {
  try {
    mkdirSync(cliFolder, { recursive: true });
    return mkdtempSync(`${cliFolder}-building-`);
  } catch (cause) {
    throw new Problem(`${cliFolder} cannot be written (${cause.code}). Set PULUMI_HOME to a folder that can.`, {
      cause,
    });
  }
}

async function build({ name, module, main }, folder) {
  const version = ask("go", ["list", "-m", "-f", "{{.Version}}", module], goOptions(name));
  const flags = `-s -w -X ${PULUMI}/sdk/v3/go/common/version.Version=${version}`;
  const args = [
    "build",
    "-mod=readonly",
    "-trimpath",
    "-ldflags",
    flags,
    "-o",
    join(folder, programName(name)),
    `${module}/${main}`,
  ];
  const started = Date.now();
  const seconds = () => Math.round((Date.now() - started) / 1000);
  const progress = setInterval(() => console.log(`  ${name}: ${seconds()} s …`), process.env.CI ? 60_000 : 15_000);
  try {
    const { exitCode, output } = await run("go", args, { capture: true, ...goOptions(name) });
    if (exitCode !== 0)
      throw new Problem(`${lastLines(output)}\nGo could not build ${name} ${version}: see its message above.`);
    console.log(`  ${name} ${version}: built in ${seconds()} s.`);
  } finally {
    clearInterval(progress);
  }
}

function copyStarters(folder) {
  const host = PROGRAMS[0];
  const source = ask("go", ["list", "-m", "-f", "{{.Dir}}", host.module], goOptions(host.name));
  for (const name of STARTERS.names.map((starter) => (isWindows ? `${starter}.cmd` : starter))) {
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

const goOptions = (name) => ({ cwd: inRoot("tools", name), env });

/** Go's last words, without its list of downloads. */
function lastLines(output) {
  return output
    .split("\n")
    .filter((line) => !line.startsWith("go: downloading "))
    .slice(-20)
    .join("\n")
    .trim();
}
