/** Shared by all scripts. They start on Node.js 20 with nothing installed, so they use only Node.js itself. */
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A path below the repository's root. */
export const inRoot = (...parts) => join(root, ...parts);

/** Where the command was called: npm starts scripts in the repository's root. */
export const calledFrom = process.env.INIT_CWD ?? process.cwd();

/**
 * What runs of ours keep (git-ignored): their stack, their Pulumi home, the sandbox's objects. Safe to delete at any
 * time. LOCAL_FOLDER names another place, for tests that must not touch the usual one.
 */
export const localFolder = resolve(root, process.env.LOCAL_FOLDER || ".pulumi-local");

export const isWindows = process.platform === "win32";

/** A program's file name on this system. */
export const programName = (name) => (isWindows ? `${name}.exe` : name);

export const readJson = (path) => JSON.parse(readFileSync(path, "utf8"));

/** The exact version of the Pulumi CLI that this repository is written for. */
export const cliVersion = readJson(inRoot("package.json")).dependencies.pulumi;

/**
 * Where the CLI is that we fetched or built: the folder in which the npm package `pulumi` and Pulumi's Automation API
 * look too. Outside the repository, so that the next clone on this machine finds it.
 */
export const cliFolder = join(
  process.env.PULUMI_HOME || join(homedir(), ".pulumi"),
  "versions",
  cliVersion,
  "bin",
);

/** The programs built for other languages, beside the CLI. Our runs have another PULUMI_HOME, so they get this path. */
export const languagesFolder =
  process.env.LANGUAGES_FOLDER || join(dirname(cliFolder), "languages");

/**
 * Something the reader can fix: shown as a message, without a stack. Any other error is a defect of these scripts. With
 * exit code 0 it's what the reader has asked for.
 */
export class Problem extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Stops if a package is missing that only changes of this repository need: `npm start` leaves those out. */
export function expectInstalled(name) {
  if (!existsSync(inRoot("node_modules", name, "package.json")))
    throw new Problem(`The package ${name} isn't installed. Run \`npm run setup\` first.`);
}

/**
 * A script's options and other arguments. With `--help` the script only prints its usage; it also follows what's wrong.
 * @param config for Node's `parseArgs`.
 */
export function argumentsOf(usage, { options = {}, ...config } = {}) {
  const help = { type: "boolean", short: "h" };
  let parsed;
  try {
    parsed = parseArgs({ options: { ...options, help }, ...config });
  } catch ({ message }) {
    const [reason] = message.split(". To specify", 1);
    throw new Problem(`${reason}.\n${usage}`, 2);
  }
  if (parsed.values.help) throw new Problem(usage, 0);
  return parsed;
}

/** Runs a script's `main` and turns what it answers or throws into the exit code of this process. */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? 0;
  } catch (error) {
    if (error.exitCode === 0) console.log(error.message);
    else if (error.message !== "")
      console.error(error instanceof Problem ? `\n${error.message}` : error);
    process.exitCode = error.exitCode ?? 1;
  }
}

/**
 * Runs a program to its end and answers `{ exitCode, output }`; `output` is empty unless `capture` is set, and
 * `onOutput` sees it as it comes. Ctrl-C reaches the program by itself (the terminal sends it to the whole group), so
 * here it only waits: `finally` blocks of the callers run, and then the script ends with 130.
 */
export async function run(
  program,
  args,
  { capture = false, onOutput = () => {}, ...options } = {},
) {
  const stdio = capture ? ["ignore", "pipe", "pipe"] : "inherit";
  const child = spawn(program, args, { stdio, windowsHide: true, ...options });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (text) => {
      output += text;
      onOutput(text);
    });
  }
  let interrupted = false;
  const onSignal = (signal) => {
    interrupted = true;
    if (signal === "SIGTERM") child.kill(signal);
  };
  process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
  try {
    const exitCode = await new Promise((resolve, reject) => {
      child.once("error", reject).once("close", (code) => resolve(code ?? 1));
    });
    // A script of ours that was interrupted has said so itself.
    if (interrupted) throw new Problem(exitCode === 130 ? "" : "Interrupted.", 130);
    return { exitCode, output };
  } finally {
    process.off("SIGINT", onSignal).off("SIGTERM", onSignal);
  }
}

/** What a short-lived program prints, or undefined when it is missing, fails, or takes longer than 20 seconds. */
export function ask(program, args, options = {}) {
  const { status, stdout } = spawnSync(program, args, {
    encoding: "utf8",
    timeout: 20_000,
    windowsHide: true,
    ...options,
  });
  return status === 0 ? stdout.trim() : undefined;
}

/** Whether a text names a version (`v3.259.0`, `go1.26`) that is `floor` or later; a text without one never does. */
export function isAtLeast(text, floor) {
  const numbersIn = (version) =>
    /\d+\.\d+(\.\d+)?/
      .exec(version ?? "")?.[0]
      .split(".")
      .map(Number);
  const found = numbersIn(text);
  const wanted = numbersIn(floor);
  const differing = found?.findIndex((part, index) => part !== (wanted[index] ?? 0));
  return (
    found !== undefined && (differing === -1 || found[differing] > (wanted[differing] ?? 0))
  );
}
