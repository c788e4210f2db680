/**
 * Applies every stack of fleet.json: `npm start -- [--preview] [--only de,fr] [--parallel 4]`, with the settings in the environment
 * (ADVERTISING_BASE_URL, ADVERTISING_EMAIL, ADVERTISING_PASSWORD). Logs in once, for all. A stack that fails stops no other one;
 * exits 1 if one did. What Pulumi printed for a stack is in logs/<stack>.log.
 *
 * Each stack is run in a process of its own, as `pulumi up` does, and not as a function in this one: Pulumi starts the provider in
 * the program's folder, where the package is installed.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";

interface Outcome {
  readonly name: string;
  readonly state: "done" | "failed" | "stopped" | "not begun";
  /** Numbers of resources, by what happens to them, such as `create`; or why it failed. */
  readonly changes?: Readonly<Record<string, number>>;
  readonly reason?: string;
  readonly seconds?: number;
}

/** Characters on a line; the log has the rest. */
const MAX_REASON = 300;

const folder = import.meta.dirname;
const fleet = JSON.parse(readFileSync(join(folder, "fleet.json"), "utf8")) as { stacks: Record<string, unknown> };
const { preview, names, parallel } = readOptions(Object.keys(fleet.stacks));

mkdirSync(join(folder, "logs"), { recursive: true });
const width = Math.max(...names.map((name) => name.length));

// The first Ctrl-C reaches the running stacks too, which finish what they have sent; no further one begins. A second one kills them.
// Not `once`: without a listener that stays, what starts the stacks would end them, and this process, at the first.
let isInterrupted = false;
process.on("SIGINT", () => {
  if (isInterrupted) process.exit(130);
  isInterrupted = true;
});

// Wrong credentials stop the fleet here, once, and not in each stack. A preview needs none.
if (!preview) await logIn(names[0] ?? "");

const waiting = [...names];
const outcomes: Outcome[] = [];
async function work(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const outcome: Outcome = isInterrupted ? { name, state: "not begun" } : await apply(name);
    outcomes.push(outcome);
    console.log(`${String(outcomes.length).padStart(3)}/${names.length}  ${lineOf(outcome)}`);
  }
}
await Promise.all(Array.from({ length: Math.min(parallel, names.length) }, work));
summarize();

function readOptions(all: readonly string[]): { preview: boolean; names: readonly string[]; parallel: number } {
  try {
    const { values } = parseArgs({
      options: {
        preview: { type: "boolean", default: false },
        only: { type: "string" },
        parallel: { type: "string", default: "4" },
      },
    });
    const names = [...new Set(values.only?.split(",").map((name) => name.trim()) ?? all)];
    const unknown = names.filter((name) => !all.includes(name)).map((name) => name || '""');
    if (unknown.length > 0) throw new Error(`fleet.json has no stack ${unknown.join(", ")}; it has ${all.join(", ")}`);
    const parallel = Number(values.parallel);
    if (!Number.isInteger(parallel) || parallel < 1) throw new Error("--parallel takes a whole number from 1 up");
    return { preview: values.preview, names, parallel };
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
}

/** Runs the package's own command, which npm puts on the PATH, with the settings of one stack: all have the same account. */
async function logIn(stackName: string): Promise<void> {
  try {
    await LocalWorkspace.createOrSelectStack({ stackName, workDir: folder });
  } catch (error) {
    console.error((error as Error).message);
    process.exit(1);
  }
  const { status, error } = spawnSync("pulumi-advertising", ["login", "--stack", stackName], {
    cwd: folder,
    shell: process.platform === "win32",
    stdio: "inherit",
  });
  if (error !== undefined)
    console.error(`pulumi-advertising could not be started (${error.message}): use \`npm start\``);
  if (status !== 0) process.exit(1); // it has said why
}

async function apply(name: string): Promise<Outcome> {
  const begin = performance.now();
  const seconds = () => (performance.now() - begin) / 1000;
  let log = "";
  const onOutput = (text: string) => {
    log += text;
  };
  try {
    const stack = await LocalWorkspace.createOrSelectStack({ stackName: name, workDir: folder });
    // The Automation API's `up` always has --skip-preview: `--preview` is the look before. The program declares its advertiser first, so
    // that a wrong account stops it before anything is sent.
    const changes = preview
      ? (await stack.preview({ onOutput, color: "never" })).changeSummary
      : (await stack.up({ onOutput, color: "never" })).summary.resourceChanges;
    return { name, state: "done", changes: changes ?? {}, seconds: seconds() };
  } catch (error) {
    const message = log === "" ? (error as Error).message : log;
    if (log === "") log = message;
    const reason = reasonIn(message);
    if (isInterrupted && (reason === undefined || reason.startsWith("update canceled"))) {
      return { name, state: "stopped", reason: "what was under way is saved", seconds: seconds() };
    }
    return { name, state: "failed", reason: reason ?? "see its log", seconds: seconds() };
  } finally {
    writeFileSync(join(folder, "logs", `${name}.log`), log);
  }
}

/** The first error under Pulumi's Diagnostics, with the lines that are indented below it, as one line. */
function reasonIn(log: string): string | undefined {
  const error = /^( *)error: (.+(?:\n\1 +.+)*)/m.exec(log)?.[2];
  return error?.replaceAll(/\s+/g, " ").slice(0, MAX_REASON);
}

function lineOf({ name, state, changes = {}, reason, seconds }: Outcome): string {
  const what =
    reason ??
    Object.entries(changes)
      .map(([kind, amount]) => `${amount} ${kind}`)
      .join(", ");
  const time = seconds === undefined ? "" : `  ${seconds.toFixed(1)} s`;
  return `${name.padEnd(width)}  ${state.padEnd(9)}${time}  ${what}`.trimEnd();
}

function summarize(): void {
  console.log(
    `\n${[...outcomes]
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(lineOf)
      .join("\n")}`,
  );
  const amountOf = (state: Outcome["state"]) => outcomes.filter((outcome) => outcome.state === state).length;
  const states = (["done", "failed", "stopped", "not begun"] as const)
    .filter((state) => state !== "stopped" || amountOf(state) > 0)
    .map((state) => `${amountOf(state)} ${state}`);
  console.log(`\nOf ${names.length}: ${states.join(", ")}.`);
  process.exitCode = amountOf("done") === names.length ? 0 : 1;
}
