import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg, totalmem } from "node:os";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { measureBackends } from "./bench-backends.mjs";
import { measureClient } from "./bench-client.mjs";
import { measureMemory } from "./bench-memory.mjs";
import { peerOn } from "./bench-peer.mjs";
import { documented, nothing, ours } from "./bench-programs.mjs";
import { forkSandbox } from "./bench-sandbox.mjs";
import { measureRepeats, measureSizes } from "./bench-sizes.mjs";
import { applyOnce, newStack } from "./bench-stack.mjs";
import { measureStart } from "./bench-start.mjs";
import { bytesOf, describeRatios, differences, median, table } from "./bench-table.mjs";
import { cliVersion, inRoot, localFolder } from "./paths.mjs";
import { Problem, runMain } from "./problem.mjs";

const WARM_UP_EVENTS = 5;
const BACKEND_ROUNDS = 3;
const loadAtStart = loadavg()[0];
/** In the repository, so that a change of the figures is a change that is looked at. */
const reportFile = inRoot("bench", "RESULTS.md");

/** What can be measured by itself. */
const PARTS = ["floor", "sizes", "repeats", "client", "start", "memory", "backends"];
const SLOW_PLATFORM_MS = 50;

/** Measures and reports; see bench.mjs. First argument: the CLI's folder. */
await runMain(async () => {
  const [cli, ...args] = process.argv.slice(2);
  const { pairs, events, rounds, parts, peer: withPeer } = optionsFrom(args);
  mkdirSync(localFolder, { recursive: true });
  const folder = mkdtempSync(join(localFolder, "bench-"));
  const sandboxes = [];
  try {
    const sandbox = await forkSandbox();
    sandboxes.push(sandbox);
    const { address } = sandbox;
    const apply = async (title, files, where = {}) => {
      await sandbox.reset();
      const applied = await applyOnce({ cli, folder, files, address, ...where });
      const received = await sandbox.received();
      console.log(`  ${title}: ${applied.seconds.toFixed(2)} s, CPU ${applied.cpuSeconds.toFixed(2)} s`);
      return { ...applied, ...received };
    };
    const open = async (files, environment) => {
      await sandbox.reset();
      return newStack({ cli, folder, files, address, environment });
    };
    const peer = withPeer ? peerOn(process.env.PATH ?? "", { sandbox, folder }) : undefined;
    console.log("Warming up …");
    for (const program of [ours, nothing, documented]) await apply("warm-up", program(WARM_UP_EVENTS));

    const measures = {
      floor: async () => floorReport(await measureFloor({ apply, pairs, events }), events),
      sizes: async () => `## By the number of events\n\n${await measureSizes({ open, peer, rounds })}`,
      repeats: async () => `## Runs that change nothing\n\n${await measureRepeats({ open, rounds })}`,
      client: async () => {
        const slow = await forkSandbox({ latencyMs: SLOW_PLATFORM_MS });
        sandboxes.push(slow);
        const byLatency = new Map([
          [0, sandbox],
          [SLOW_PLATFORM_MS, slow],
        ]);
        return `## The client alone\n\n${await measureClient({ sandboxes: byLatency })}`;
      },
      start: async () => `## The program's start\n\n${await measureStart({ cli, folder, address, rounds: pairs })}`,
      memory: async () => memoryReport(await measureMemory({ folder, sandbox, rounds: pairs })),
      backends: async () => {
        const backends = await measureBackends({
          apply: (title, where) => apply(title, ours(events), where),
          rounds: Math.min(pairs, BACKEND_ROUNDS),
        });
        return backendsReport(backends, events, Math.min(pairs, BACKEND_ROUNDS));
      },
    };
    const sections = [];
    for (const part of parts) {
      console.log(`${part} …`);
      sections.push(await measures[part]());
    }
    const report = [header(parts), ...sections].join("\n\n");
    mkdirSync(dirname(reportFile), { recursive: true });
    writeFileSync(reportFile, `${report}\n`);
    console.log(`\n${report}\n\nWritten to ${reportFile}.`);
  } finally {
    for (const sandbox of sandboxes) sandbox.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

/** Pairs of the same program with our provider and one that does nothing; the documented way once. */
async function measureFloor({ apply, pairs, events }) {
  const runs = { ours: [], nothing: [] };
  for (let pair = 0; pair < pairs; pair++) {
    console.log(`Pair ${pair + 1} of ${pairs}:`);
    const order = [
      ["ours", ours],
      ["nothing", nothing],
    ];
    // Alternating: whatever changes on the machine from run to run hits both alike.
    for (const [name, program] of pair % 2 === 0 ? order : order.toReversed()) {
      runs[name].push(await apply(name, program(events)));
    }
  }
  console.log("Once, for comparison:");
  runs.documented = [await apply("the documented way", documented(events))];
  return runs;
}

function optionsFrom(args) {
  const options = {
    pairs: { type: "string", default: "5" },
    events: { type: "string", default: "300" },
    rounds: { type: "string", default: "3" },
    parts: { type: "string", default: PARTS.join(",") },
    peer: { type: "boolean", default: false },
  };
  try {
    const { values } = parseArgs({ args, options });
    const parts = values.parts.split(",");
    const unknown = parts.filter((part) => !PARTS.includes(part));
    if (unknown.length > 0) throw new Error(`there is no part ${unknown.join(", ")}; known are ${PARTS.join(", ")}`);
    const counts = Object.fromEntries(
      ["pairs", "events", "rounds"].map((name) => [name, countFrom(name, values[name])]),
    );
    return { ...counts, parts, peer: values.peer };
  } catch (cause) {
    const message = `${cause.message}\nUsage: npm run bench -- [--parts ${PARTS.join(",")}] [--pairs 5] [--events 300] [--rounds 3] [--peer]`;
    throw new Problem(message, { cause });
  }
}

function countFrom(name, text) {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Problem(`--${name} takes a whole number from 1 up; got ${text}.`);
  return Number(text);
}

function header(parts) {
  const whole = parts.length === PARTS.length ? "" : `\n\nOf all parts, these: ${parts.join(", ")}.`;
  return `# What the provider costs

Written by \`npm run bench\`. Pulumi ${cliVersion}, \`file://\` backend where nothing else is said, Node.js ${process.version}, ${cpus().length} CPUs (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, load ${loadAtStart.toFixed(1)} as it began.
Compare what stands side by side: the seconds depend on the machine.${whole}`;
}

function floorReport(runs, events) {
  const secondsOf = (those) => those.map(({ seconds }) => seconds);
  const cpuOf = (those) => those.map(({ cpuSeconds }) => cpuSeconds);
  const shown = (number) => (Number.isNaN(number) ? "–" : number.toFixed(2));
  const perPair = (of) => describeRatios(of(runs.ours).map((value, pair) => value / of(runs.nothing)[pair]));
  const totalBytes = ([{ events: resources }]) => resources.reduce((sum, each) => sum + bytesOf(each), 0);
  const rowOf = (title, those) => {
    const [{ checkpointBytes, logins, posts }] = those;
    return [
      title,
      median(secondsOf(those)).toFixed(2),
      shown(median(cpuOf(those))),
      (totalBytes(those) / events).toFixed(0),
      (checkpointBytes / events).toFixed(0),
      String(logins),
      String(posts),
    ];
  };
  const exported = totalBytes(runs.ours) / totalBytes(runs.nothing);
  const checkpoint = runs.ours[0].checkpointBytes / runs.nothing[0].checkpointBytes;
  const head = [
    "",
    "median s",
    "median CPU s",
    "state, B/event (export, compact)",
    "state, B/event (checkpoint file)",
    "logins",
    "creates",
  ];
  const parts = differences(runs.ours[0].events.at(-1), runs.nothing[0].events.at(-1));
  return `## Beside a provider that does nothing

\`pulumi up --skip-preview\` of 1 advertiser and ${events} events, ${runs.ours.length} pairs.

${table(head, [
  rowOf("pulumi-advertising", runs.ours),
  rowOf("a provider that does nothing", runs.nothing),
  rowOf("the documented way (once)", runs.documented),
])}

- Time, ours / nothing, per pair: ${perPair(secondsOf)}
- CPU time of all of Pulumi's processes, per pair: ${Number.isNaN(cpuOf(runs.ours)[0]) ? "not known on this system." : perPair(cpuOf)}
- State, ours / nothing: ${exported.toFixed(3)} exported, ${checkpoint.toFixed(3)} in the checkpoint file.

Where the state differs: an event's entry in the exported state, bytes without indentation.

${table(["part", "ours", "nothing", "difference"], parts)}`;
}

function memoryReport({ creates, inFlight, withoutRecords, withRecords }) {
  const rows = [
    ["without records", withoutRecords],
    ["with records, each on the disk", withRecords],
  ].map(([title, perSecond]) => [title, median(perSecond).toFixed(0), (1000 / median(perSecond)).toFixed(2)]);
  return `## The memory of creates

${creates} creates through the client alone, ${inFlight} in flight; medians of ${withRecords.length} rounds:

${table(["", "creates per second", "ms per create"], rows)}`;
}

function backendsReport(backends, events, rounds) {
  return `## Backends

\`up\` of ${events} events with the state kept elsewhere, on servers of this machine: medians of ${rounds}, and the size of the stored state.

${backends}`;
}
