/**
 * Applies every stack of fleet.json: `npm start -- [--preview] [--only de,fr]`, with the settings in the environment
 * (ADVERTISING_BASE_URL, ADVERTISING_EMAIL, ADVERTISING_PASSWORD). Logs in once, for all. A stack that fails stops no other one;
 * exits 1 if one did. What Pulumi printed for a stack is in logs/<stack>.log.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { LocalWorkspace, PulumiCommand } from "@pulumi/pulumi/automation/index.js";

const PARALLEL = 4;
const folder = import.meta.dirname;
const all = Object.keys(
  JSON.parse(readFileSync(join(folder, "fleet.json"), "utf8")).stacks,
);
const { values } = parseArgs({
  options: { preview: { type: "boolean" }, only: { type: "string" } },
});
const names = values.only?.split(",") ?? all;
const unknown = names.filter((name) => !all.includes(name));
if (unknown.length > 0)
  stop(`fleet.json has no stack ${unknown.join(", ")}; it has ${all.join(", ")}`);

function stop(message: string): never {
  console.error(message);
  process.exit(2);
}

// One for all: each would ask Pulumi for its version.
const pulumiCommand = await PulumiCommand.get();
const open = (stackName: string) =>
  LocalWorkspace.createOrSelectStack({ stackName, workDir: folder }, { pulumiCommand });

let opened: Awaited<ReturnType<typeof open>> | undefined;
// Wrong credentials stop the fleet here, once, and not in each stack. A preview needs none.
if (!values.preview) {
  const [first = stop("fleet.json has no stacks")] = names;
  opened = await open(first);
  const options = {
    cwd: folder,
    shell: process.platform === "win32",
    stdio: "inherit",
  } as const;
  const { status } = spawnSync("pulumi-advertising", ["login", "--stack", first], options);
  if (status !== 0)
    stop("No stack was begun: see the message above. (`npm start` finds the command.)");
}

// Ctrl-C reaches the running stacks too, which finish what they have sent; no further one begins.
let isInterrupted = false;
process.on("SIGINT", () => {
  isInterrupted = true;
});

mkdirSync(join(folder, "logs"), { recursive: true });
const waiting = [...names];
async function work(): Promise<void> {
  for (
    let name = waiting.shift();
    name !== undefined && !isInterrupted;
    name = waiting.shift()
  ) {
    let log = "";
    const onOutput = (text: string) => {
      log += text;
    };
    const options = { color: "never", onOutput } as const;
    try {
      const stack = opened?.name === name ? opened : await open(name);
      await (values.preview ? stack.preview(options) : stack.up(options));
      console.log(`${name}: done`);
    } catch (error) {
      log ||= (error as Error).message;
      process.exitCode = 1;
      console.log(
        `${name}: failed. ${/^ *error: (.+)/m.exec(log)?.[1] ?? ""} See logs/${name}.log`,
      );
    }
    writeFileSync(join(folder, "logs", `${name}.log`), log);
  }
}
await Promise.all(Array.from({ length: PARALLEL }, work));
if (isInterrupted) stop("Interrupted. Not all stacks were begun, or ended: run it again.");
