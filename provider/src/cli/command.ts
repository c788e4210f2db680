#!/usr/bin/env node
/** `pulumi-advertising`: what is needed beside `pulumi up`. */
import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { count, enumerate, printable } from "../text.js";
import { settleJournals } from "./journals.js";
import { countHistory, type OpenCreate, openCreates, readExport, settle, type Verdict } from "./pending.js";
import { refuseUnknownOptions, unknownCommand } from "./unknown.js";

const COMMANDS = ["pending", "help"];

const HELP = `Usage: pulumi-advertising pending [options]
       pulumi-advertising --version

Lists the creates of advertisers and conversion events whose outcome nobody knows: those that were in flight when a run of
this stack was killed, from the engine's own record (an \`up\` could send them again), and those that the state holds as
unresolved. Exits 1 where there are any, so that a pipeline stops before an \`up\`.

  --created URN=ID       settles one: it was created as ID, and is taken into the state
  --not-created URN      settles one: it was not created, and the next up creates it
  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder
  --file FILE            looks at what \`pulumi stack export\` printed into FILE (- for standard input); can't settle
  --help                 this text

URN may be the resource's name in the program, where only one pending create has it. Both may be given several times.

  --forget URN           takes out of the journal on this machine what an interrupted run noted of a resource, as previews
                         tell it; the state is not touched, and the next up creates the resource where it is declared
Exit codes: 0 nothing pending (any more), 1 something is pending, 2 it could not be found out.`;

const NOTHING = "Nothing is pending: neither the engine nor the state has a create of unknown outcome.";
const HISTORY =
  "the engine still lists as pending stand in the state with the same arguments: settled since, unless `--replace` had asked for one " +
  "more. To clear the engine's list: pulumi refresh --clear-pending-creates --yes";

const FLAG = { type: "boolean" } as const;

interface Options {
  readonly created: readonly string[];
  readonly notCreated: readonly string[];
  readonly forget: readonly string[];
  readonly file: string | undefined;
  readonly cwd: string | undefined;
  /** For `pulumi`. */
  readonly passed: readonly string[];
}

async function main(args: readonly string[]): Promise<number> {
  const [command, ...rest] = args;
  if (command === undefined) throw new Error("a command is missing");
  if (["--help", "-h", "help"].includes(command)) return say(HELP, 0);
  if (["--version", "-v"].includes(command)) return say(packageVersion(), 0);
  if (command.startsWith("-")) refuseUnknownOptions([command], { help: FLAG, version: FLAG });
  if (command !== "pending") throw unknownCommand(command, COMMANDS);
  const options = readOptions(rest);
  if (options === undefined) return say(HELP, 0);

  const stack = readExport(await exported(options));
  const pending = openCreates(stack);
  const verdicts = readVerdicts(options, pending);
  const settlesAny = verdicts.length + options.forget.length > 0;
  const cookieFile = settlesAny ? await cookieFileSetting(options) : undefined;
  const forgetNotes = (urns: readonly string[]) => settleJournals(urns, cookieFile, options.cwd ?? process.cwd());
  if (verdicts.length > 0) {
    await pulumi(["stack", "import", ...options.passed], JSON.stringify(settle(stack, verdicts, randomUUID)));
    forgetNotes(verdicts.map(({ urn }) => urn));
    for (const { urn, createdAs } of verdicts) {
      console.log(
        createdAs === undefined ? `Settled as not created: ${urn}` : `Settled as created with id ${createdAs}: ${urn}`,
      );
    }
  }
  const unknown: string[] = [];
  for (const urn of options.forget) {
    if (forgetNotes([urn]) === 0) unknown.push(`"${urn}"`);
    else console.log(`Forgotten: what an interrupted run noted of ${urn}`);
  }
  if (unknown.length > 0) {
    throw new Error(
      `no journal on this machine has a note about ${enumerate(unknown)}, or the lock beside it (*.jsonl.lock) is held by a run`,
    );
  }
  const left = pending.filter(({ urn }) => !verdicts.some((verdict) => verdict.urn === urn));
  if (left.length === 0) {
    const history = verdicts.length > 0 ? 0 : countHistory(stack); // settling drops them
    return say(history === 0 ? NOTHING : `${NOTHING} ${count(history, "create")} that ${HISTORY}`, 0);
  }
  return say(describe(left), 1);
}

function readOptions(args: readonly string[]): Options | undefined {
  const several = { type: "string", multiple: true, default: [] as string[] } as const;
  const one = { type: "string" } as const;
  const options = {
    created: several,
    "not-created": several,
    forget: several,
    stack: one,
    cwd: one,
    file: one,
    help: FLAG,
  } as const;
  refuseUnknownOptions(args, options);
  const { values } = parseArgs({ args: [...args], options });
  if (values.help) return undefined;
  const settles = [...values.created, ...values["not-created"], ...values.forget];
  if (values.file !== undefined && settles.length > 0) {
    throw new Error("--file only looks; to settle, leave it out");
  }
  const passed = (["stack", "cwd"] as const).flatMap((name) =>
    values[name] === undefined ? [] : [`--${name}`, values[name]],
  );
  const { created, "not-created": notCreated, forget, file, cwd } = values;
  return { created, notCreated, forget, file, cwd, passed };
}

/** All that is wrong with them at once. */
function readVerdicts(options: Options, pending: readonly OpenCreate[]): Verdict[] {
  const faults: string[] = [];
  const verdicts: Verdict[] = [];
  const add = (wanted: string, createdAs: string | undefined) => {
    const found = pending.filter(({ urn, name }) => urn === wanted || name === wanted);
    const [only] = found;
    if (only === undefined) faults.push(`"${wanted}" is no pending create`);
    else if (found.length > 1) faults.push(`"${wanted}" is the name of ${found.length} pending creates: give the URN`);
    else if (verdicts.some(({ urn }) => urn === only.urn)) faults.push(`"${wanted}" is settled twice`);
    else if (createdAs !== undefined && createdAs === only.heldAs)
      faults.push(`${createdAs} is not the id of "${wanted}", but of what the state holds already`);
    else verdicts.push({ urn: only.urn, createdAs });
  };
  for (const text of options.created) {
    const [, urn, id] = /^(.+)=(\d{1,30})$/.exec(text) ?? [];
    if (urn === undefined || id === undefined) faults.push(`--created takes URN=ID with a number as ID; got "${text}"`);
    else add(urn, id);
  }
  for (const urn of options.notCreated) add(urn, undefined);
  if (faults.length > 0) throw new Error(`nothing was settled: ${faults.join("; ")}`);
  return verdicts;
}

function describe(pending: readonly OpenCreate[]): string {
  const lines = pending.map(({ urn, kind, platformName, heldAs }) => {
    const named = platformName === undefined ? "" : ` named "${printable(platformName)}"`;
    const besides =
      heldAs === undefined ? "" : ` besides ${heldAs}, which the state holds with other or secret arguments`;
    return `  ${urn}\n    look into the account for the ${kind}${named}${besides}`;
  });
  return [
    `${count(pending.length, "create")} may or may not have reached the platform:`,
    ...lines,
    "Settle each of them, and then run `pulumi up`:",
    "  it is there:      pulumi-advertising pending --created <urn>=<id>",
    "  it is not there:  pulumi-advertising pending --not-created <urn>",
  ].join("\n");
}

/** Journals stand beside the cookie file. Set nowhere, `pulumi config get` fails. */
async function cookieFileSetting({ passed }: Options): Promise<string | undefined> {
  const configured = await pulumi(["config", "get", "advertising:cookieFile", ...passed]).catch(() => undefined);
  return configured?.trim() ?? process.env.ADVERTISING_COOKIE_FILE;
}

async function exported({ file, passed }: Options): Promise<string> {
  if (file !== undefined) return readFileSync(file === "-" ? 0 : file, "utf8");
  return pulumi(["stack", "export", ...passed]);
}

/** Runs the Pulumi CLI. @throws Error with what it said. */
async function pulumi(args: readonly string[], input = ""): Promise<string> {
  const running = promisify(execFile)("pulumi", [...args, "--non-interactive"], {
    maxBuffer: 1024 ** 3,
    encoding: "utf8",
  });
  // Where it ends without having read all of it, its exit code and what it said tell why.
  running.child.stdin?.on("error", () => {}).end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === "ENOENT") throw new Error("the `pulumi` command was not found; install it, or give --file");
    throw new Error(`\`pulumi ${args.slice(0, 2).join(" ")}\` failed: ${printable(stderr ?? String(error))}`);
  }
}

/** As its package.json says, two folders above the compiled file. */
function packageVersion(): string {
  const manifest = readFileSync(join(__dirname, "../../package.json"), "utf8");
  return (JSON.parse(manifest) as { version: string }).version;
}

function say(text: string, code: number): number {
  console.log(text);
  return code;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: Error) => {
    console.error(`pulumi-advertising: ${error.message}\nSee pulumi-advertising --help`);
    process.exitCode = 2;
  },
);
