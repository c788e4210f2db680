import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import {
  cliVersion,
  inRoot,
  localFolder,
  Problem,
  programName,
  run,
  runMain,
} from "./base.mjs";
import { measureClient } from "./bench-client.mjs";
import { nothing, ours, set, throughPlugin, typed } from "./bench-programs.mjs";
import { forkSandbox } from "./bench-sandbox.mjs";

/** After an error; only failing runs have it. */
const GO_ON = "--continue-on-error";
const CHECKPOINTS_OFF = { PULUMI_SKIP_CHECKPOINTS: "true" };
const SINGLES = [100, 300, 1000];
const SIZES = [...SINGLES, 3000, 10_000];
/** Every way to declare so many events, by its name in the table. */
const WAYS = {
  "single events": { program: ours, counts: SINGLES },
  "a provider that does nothing": { program: nothing, counts: SINGLES },
  "single events, checkpoints off": {
    program: ours,
    counts: SINGLES,
    settings: CHECKPOINTS_OFF,
  },
  "a provider that does nothing, checkpoints off": {
    program: nothing,
    counts: SINGLES,
    settings: CHECKPOINTS_OFF,
  },
  "single events, through the plugin": { program: throughPlugin(ours), counts: SINGLES },
  "a set": { program: set, counts: [100, 1000, 3000, 10_000] },
  "a set, through the plugin": { program: throughPlugin(set), counts: [100, 1000, 10_000] },
};
/** The size at which a second `up`, a preview and the state are measured too. */
const REPEATED = 1000;
const PARTS = {
  start: measureStart,
  client: measureCreates,
  sizes: measureSizes,
  failures: measureFailures,
};
/** Every way in which the platform may fail all creates, by its name in the table. */
const FAILURES = {
  refused: { kind: "answer", status: 406, body: { errors: ["bad"] } },
  "not found": { kind: "answer", status: 404, body: { message: "no such page" } },
  unresolved: { kind: "answer", status: 500, body: { message: "internal" } },
};

let cli;
let folder;
let sandbox;

/** Measures and reports; see bench.mjs. First argument: the CLI's folder. */
await runMain(async () => {
  const { parts, rounds } = optionsFrom(process.argv.slice(3));
  cli = process.argv[2];
  const load = loadavg()[0].toFixed(1);
  mkdirSync(localFolder, { recursive: true });
  folder = mkdtempSync(join(localFolder, "bench-")); // in the repository, so that programs find its packages
  sandbox = await forkSandbox();
  try {
    await (await newStack(ours(5))).up(); // fills caches
    const sections = [];
    for (const part of parts) {
      console.log(`${part} …`);
      sections.push(await PARTS[part](rounds));
    }
    const machine = `${cpus().length} CPUs (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB`;
    console.log(`
Pulumi ${cliVersion}, \`file://\` backend, Node.js ${process.version}, ${machine}, load ${load} as it began. Medians of ${rounds}.

${sections.join("\n\n")}`);
  } finally {
    sandbox.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

function optionsFrom(args) {
  const names = Object.keys(PARTS);
  try {
    const options = {
      parts: { type: "string", default: names.join() },
      rounds: { type: "string", default: "3" },
    };
    const { values } = parseArgs({ args, options });
    const parts = values.parts.split(",");
    if (!parts.every((part) => names.includes(part)))
      throw new Error(`the parts are ${names.join()}`);
    if (!/^[1-9]\d?$/.test(values.rounds))
      throw new Error("--rounds takes a whole number from 1 up");
    return { parts, rounds: Number(values.rounds) };
  } catch ({ message }) {
    throw new Problem(
      `${message}\nUsage: npm run bench -- [--parts ${names.join()}] [--rounds 3]`,
    );
  }
}

/** A new stack of a program, with nothing applied and its own cache, after everything is forgotten at the platform. */
async function newStack(files, settings = {}) {
  await sandbox.reset();
  const stack = mkdtempSync(join(folder, "stack-"));
  const inStack = (...parts) => join(stack, ...parts);
  for (const name of ["backend", "program"]) mkdirSync(inStack(name));
  const manifest = JSON.stringify({ name: "bench", private: true });
  const plugins = `plugins: { providers: [{ name: advertising, path: ${inRoot("provider")} }] }`;
  const project = `name: bench\nruntime: nodejs\nmain: ${Object.keys(files)[0]}\n${plugins}\n`;
  const all = { "Pulumi.yaml": project, "package.json": manifest, ...files };
  for (const [name, text] of Object.entries(all))
    writeFileSync(inStack("program", name), text);
  const { url, email, password } = sandbox.address;
  const env = {
    ...process.env,
    PULUMI_BACKEND_URL: pathToFileURL(inStack("backend")).href,
    PULUMI_CONFIG_PASSPHRASE: "of a stack that holds nothing secret",
    XDG_CACHE_HOME: inStack("cache"),
    ADVERTISING_BASE_URL: url,
    ADVERTISING_EMAIL: email,
    ADVERTISING_PASSWORD: password,
    ...settings,
  };
  const options = { cwd: inStack("program"), env, capture: true };
  /** Answers the seconds that a command of Pulumi takes. */
  const measure = async (...args) => {
    const begin = performance.now();
    const { exitCode, output } = await run(
      join(cli, programName("pulumi")),
      [...args, "--non-interactive"],
      options,
    );
    if (exitCode !== 0 && !args.includes(GO_ON))
      throw new Problem(
        `${output}\n\`pulumi ${args.join(" ")}\` failed: see its message above.`,
      );
    return (performance.now() - begin) / 1000;
  };
  await measure("stack", "init", "dev");
  return {
    preview: () => measure("preview"),
    up: () => measure("up", "--yes", "--skip-preview"),
    failingUp: () => measure("up", "--yes", "--skip-preview", GO_ON),
    stateBytes: () =>
      statSync(inStack("backend", ".pulumi", "stacks", "bench", "dev.json")).size,
  };
}

/** What importing the package adds, and how long Pulumi takes to begin a program. */
async function measureStart(rounds) {
  const importing = (name) => {
    const code = `require("@pulumi/pulumi"); const begin = performance.now(); require("${name}"); console.log(performance.now() - begin)`;
    const took = () =>
      Number(execFileSync(process.execPath, ["-e", code], { cwd: inRoot("provider") }));
    return `${median(Array.from({ length: rounds * 3 }, took)).toFixed(0)} ms`;
  };
  const rows = ["pulumi-advertising", "pulumi-advertising/handlers"].map((name) => [
    `importing \`${name}\`, on top of @pulumi/pulumi`,
    importing(name),
  ]);
  for (const [name, files] of Object.entries({ JavaScript: ours(0), TypeScript: typed })) {
    const stack = await newStack(files);
    const seconds = [];
    for (let round = 0; round < rounds; round++) seconds.push(await stack.preview());
    rows.push([
      `a preview of one advertiser in ${name}`,
      `${median(seconds).toFixed(2)} s`,
    ]);
  }
  return `## The program's start\n\n${table(["", "median"], rows)}`;
}

async function measureCreates() {
  const { undici, client, ratio, pairs } = await measureClient(sandbox);
  const rows = [[undici.toFixed(0), client.toFixed(0), ratio.toFixed(3)]];
  return `## The client alone

Creates per second, against a sandbox that answers at once; the ratio is the median of ${pairs} pairs.

${table(["bare undici", "client", "client / undici"], rows)}`;
}

/** `up` at several sizes, and what runs cost that change nothing, in rounds: changes on the machine hit all alike. */
async function measureSizes(rounds) {
  const took = new Map();
  const note = (what, name, count, value) => {
    const key = `${what} ${name} ${count}`;
    took.set(key, [...(took.get(key) ?? []), value]);
  };
  for (let round = 0; round < rounds; round++) {
    for (const [name, { program, counts, settings }] of Object.entries(WAYS)) {
      for (const count of counts) {
        const stack = await newStack(program(count), settings);
        note("up", name, count, await stack.up());
        console.log(
          `  ${name}, ${count}: ${took.get(`up ${name} ${count}`).at(-1).toFixed(2)} s`,
        );
        if (count !== REPEATED) continue;
        note("again", name, count, await stack.up());
        note("preview", name, count, await stack.preview());
        note("bytes", name, count, stack.stateBytes());
      }
    }
  }
  const cell = (what, name, count, digits = 2) => {
    const all = took.get(`${what} ${name} ${count}`);
    return all === undefined ? "" : median(all).toFixed(digits);
  };
  const rows = Object.keys(WAYS).map((name) => [
    name,
    ...SIZES.map((count) => cell("up", name, count)),
  ]);
  const repeats = Object.keys(WAYS).map((name) => [
    name,
    ...["up", "again", "preview"].map((what) => cell(what, name, REPEATED)),
    cell("bytes", name, REPEATED, 0),
  ]);
  return `## By the number of events

Seconds of an \`up\`:

${table(["", ...SIZES.map(String)], rows)}

${table([`${REPEATED} events, s`, "first up", "second up", "preview", "bytes of state"], repeats)}`;
}

/** `up` of single events at several sizes, while the platform fails each create of an event. */
async function measureFailures(rounds) {
  const rows = [];
  for (const [name, fault] of Object.entries(FAILURES)) {
    const cells = [];
    for (const count of SINGLES) {
      const seconds = [];
      for (let round = 0; round < rounds; round++) {
        const stack = await newStack(ours(count), CHECKPOINTS_OFF);
        sandbox.fail({ on: "event", times: count, with: fault });
        seconds.push(await stack.failingUp());
      }
      cells.push(median(seconds).toFixed(2));
    }
    rows.push([name, ...cells]);
  }
  return `## Events that fail

Seconds of an \`up\` with checkpoints off and \`--continue-on-error\`:

${table(["", ...SINGLES.map(String)], rows)}`;
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)];
}

function table(head, rows) {
  const align = head.map((_, column) => (column === 0 ? "---" : "---:"));
  return [head, align, ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}
