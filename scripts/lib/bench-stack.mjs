import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programName } from "./paths.mjs";
import { Problem } from "./problem.mjs";
import { run } from "./run.mjs";

const PROJECT = "bench";
const STACK = "dev";

/**
 * A new stack of its own, with an empty cache. `pulumi` runs a command and answers its output; `measure` the same, and answers the seconds and
 * CPU seconds that it took.
 * @param folder for everything that the stack needs; inside the repository, so that programs find its packages as installed ones.
 * @param backend where the state is kept, as `startS3` answers it; a folder where absent
 * @param environment more of Pulumi's settings
 */
export async function newStack({ cli, folder, files, address, backend, environment = {} }) {
  const stack = mkdtempSync(join(folder, "stack-"));
  const inStack = (...parts) => join(stack, ...parts);
  const home = join(folder, "home"); // holds nothing of a stack, so all may share it
  for (const path of [home, inStack("backend"), inStack("program")]) mkdirSync(path, { recursive: true });
  const all = {
    "Pulumi.yaml": `name: ${PROJECT}\nruntime: nodejs\nmain: ${Object.keys(files)[0]}\n`,
    "package.json": JSON.stringify({ name: PROJECT, private: true }),
    ...files,
  };
  for (const [name, text] of Object.entries(all)) writeFileSync(inStack("program", name), text);

  const inherited = Object.entries(process.env).filter(([name]) => !/^(ADVERTISING_|PULUMI_|NODE_OPTIONS)/i.test(name));
  const env = {
    ...Object.fromEntries(inherited),
    PULUMI_HOME: home,
    PULUMI_BACKEND_URL: backend?.backendUrl ?? pathToFileURL(inStack("backend")).href,
    ...backend?.env,
    ...environment,
    PULUMI_CONFIG_PASSPHRASE: "of a stack that holds nothing secret",
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
    XDG_CACHE_HOME: inStack("cache"),
    NO_COLOR: "1",
    ADVERTISING_BASE_URL: address.url,
    ADVERTISING_EMAIL: address.email,
    ADVERTISING_PASSWORD: address.password,
  };
  const pulumi = async (...args) => {
    const options = { cwd: inStack("program"), env, capture: true };
    const { exitCode, output } = await run(join(cli, programName("pulumi")), [...args, "--non-interactive"], options);
    if (exitCode !== 0) throw new Problem(`${output}\n\`pulumi ${args.join(" ")}\` failed: see its message above.`);
    return output;
  };
  const measure = async (...args) => {
    const cpuBefore = cpuSecondsOfChildren();
    const begin = performance.now();
    await pulumi(...args);
    return { seconds: (performance.now() - begin) / 1000, cpuSeconds: cpuSecondsOfChildren() - cpuBefore };
  };
  await pulumi("stack", "init", STACK);
  return {
    pulumi,
    measure,
    up: () => measure("up", "--yes", "--skip-preview"),
    /** Its resources, as exported. */
    resources: async () => JSON.parse(await pulumi("stack", "export")).deployment.resources,
    /** The size of the stored state, where the backend keeps files. */
    stateBytes: () => {
      const stored = backend === undefined ? (path) => inStack("backend", path) : backend.stored;
      const extension = environment.PULUMI_DIY_BACKEND_GZIP === undefined ? "json" : "json.gz";
      const file = stored?.(join(".pulumi", "stacks", PROJECT, `${STACK}.${extension}`));
      return file === undefined ? undefined : statSync(file).size;
    },
    // The next stack in the same backend has the same name.
    remove: () => (backend === undefined ? undefined : pulumi("stack", "rm", STACK, "--yes", "--force")),
  };
}

/** Applies a program to a new stack. Answers what that took and what it left: the events' entries in the exported state, and its size. */
export async function applyOnce(options) {
  const stack = await newStack(options);
  const took = await stack.up();
  const resources = await stack.resources();
  const checkpointBytes = stack.stateBytes();
  await stack.remove();
  return { ...took, events: resources.filter(({ type }) => type.endsWith(":ConversionEvent")), checkpointBytes };
}

/**
 * CPU time of this process's children that have ended, with theirs: far steadier than the clock on a busy machine. Only Linux tells;
 * NaN elsewhere.
 */
function cpuSecondsOfChildren() {
  if (!existsSync("/proc/self/stat")) return Number.NaN;
  // proc_pid_stat(5): behind the name in parentheses, fields 16 and 17 are the children's user and system time, in hundredths.
  const fields = readFileSync("/proc/self/stat", "utf8").split(") ").at(-1).split(" ");
  return (Number(fields[13]) + Number(fields[14])) / 100;
}
