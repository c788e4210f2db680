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
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { BuildProgress, estimate } from "./build-progress.mjs";
import { compile, download, goOptions } from "./go-build.mjs";
import { cliFolder, cliVersion, inRoot, isWindows, programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { ask, together } from "./run.mjs";
import { isAtLeast, readVersion } from "./version.mjs";

const PULUMI = "github.com/pulumi/pulumi";
const versionVariable = `${PULUMI}/sdk/v3/go/common/version.Version`;
/** The programs to build. Each folder's go.mod and go.sum pin all of its source. */
const LANGUAGE_HOST = {
  name: "pulumi-language-nodejs",
  module: `${PULUMI}/sdk/v3`,
  main: "nodejs/cmd/pulumi-language-nodejs",
  versionVariable,
};
const ENGINE = {
  name: "pulumi",
  module: `${PULUMI}/pkg/v3`,
  main: "cmd/pulumi",
  versionVariable,
  // Leaves out what Google's storage client needs for gRPC (cloud.google.com/go/storage, doc.go), 135 of 1,685 packages. The engine
  // speaks to gs:// backends without gRPC.
  tags: ["disable_grpc_modules"],
};
/** Starters for Node.js that an official release holds too, and the place in the language host's module where they stand. */
const STARTERS = { folder: "nodejs/dist", names: ["pulumi-resource-pulumi-nodejs", "pulumi-analyzer-policy"] };

/**
 * Starts to build the CLI from Go modules into `cliFolder`. Whatever is there under its final name is complete: parts are moved in at
 * the end. Answers `{ show, finished, stop }`: progress is drawn on a terminal from `show()` on, `finished` resolves when the CLI is
 * there, and `stop()` ends the build early. Throws when it cannot start.
 */
export function startCliBuild() {
  checkGo();
  console.log(
    `Pulumi CLI: building it from its Go source; once per machine, ${estimate(availableParallelism())}, longer where they are busy (0.3 GB of downloads) …`,
  );
  const progress = new BuildProgress({
    write: (text) => process.stdout.write(text),
    isTerminal: Boolean(process.stdout.isTTY) && !process.env.CI,
    columns: process.stdout.columns,
  });
  const controller = new AbortController();
  const finished = build({ progress, controller, signal: controller.signal }).finally(() => progress.end());
  finished.catch(() => {}); // whoever waits for it is told; until then its failure must not end this process
  const stop = async () => {
    controller.abort();
    await Promise.allSettled([finished]);
  };
  return { show: () => progress.show(), finished, stop };
}

async function build(context) {
  const building = makeFolder();
  const programs = join(building, "bin");
  const temporary = join(building, "tmp");
  for (const folder of [programs, temporary]) mkdirSync(folder);
  const compileInto = (program) =>
    compile(program, { ...context, temporary, file: join(programs, programName(program.name)) });
  try {
    // The small program is compiled while the large one is downloaded. After that one at a time: each of them keeps all cores busy,
    // and the second finds the standard library compiled.
    await together(context.controller, [
      () => download(LANGUAGE_HOST, context).then(() => compileInto(LANGUAGE_HOST)),
      () => download(ENGINE, context),
    ]);
    await compileInto(ENGINE);
    copyStarters(programs);
    moveAll(programs, cliFolder);
  } finally {
    // Compilers outlive a Go that was stopped by some seconds, and write here.
    rmSync(building, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  }
}

function checkGo() {
  const floor = readVersion(/^go (.+)$/m.exec(readFileSync(inRoot("tools", ENGINE.name, "go.mod"), "utf8"))[1]);
  // Asked in the folder: a Go that may fetch the newer one that go.mod wants then answers as that one.
  const answer = ask("go", ["version"], goOptions(ENGINE.name));
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

function copyStarters(folder) {
  const source = ask("go", ["list", "-m", "-f", "{{.Dir}}", LANGUAGE_HOST.module], goOptions(LANGUAGE_HOST.name));
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
