import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measureBackends } from "./bench-backends.mjs";
import { measureJournal } from "./bench-journal.mjs";
import { documented, nothing, ours } from "./bench-programs.mjs";
import { forkSandbox } from "./bench-sandbox.mjs";
import { applyOnce } from "./bench-stack.mjs";
import { bytesOf, describeRatios, differences, median, table } from "./bench-table.mjs";
import { cliVersion, localFolder } from "./paths.mjs";
import { Problem, runMain } from "./problem.mjs";

const WARM_UP_EVENTS = 5;
const BACKEND_ROUNDS = 3;
const reportFile = join(localFolder, "bench.md");

/** Measures and reports; see bench.mjs. First argument: the CLI's folder. */
await runMain(async () => {
  const [cli, ...args] = process.argv.slice(2);
  const { pairs, events } = optionsFrom(args);
  mkdirSync(localFolder, { recursive: true });
  const folder = mkdtempSync(join(localFolder, "bench-"));
  let sandbox;
  try {
    sandbox = await forkSandbox();
    const apply = async (title, files, where = {}) => {
      await sandbox.reset();
      const applied = await applyOnce({ cli, folder, files, address: sandbox.address, ...where });
      const received = await sandbox.received();
      console.log(`  ${title}: ${applied.seconds.toFixed(2)} s, CPU ${applied.cpuSeconds.toFixed(2)} s`);
      return { ...applied, ...received };
    };

    console.log(`\nBench: ${pairs} pairs of \`pulumi up\` with 1 advertiser and ${events} events; warming up …`);
    for (const program of [ours, nothing, documented]) await apply("warm-up", program(WARM_UP_EVENTS));
    const loadBefore = loadavg()[0];
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
    console.log("The journal …");
    const journal = await measureJournal({ folder, sandbox, rounds: pairs });

    console.log("The backends …");
    const backends = await measureBackends({
      apply: (title, where) => apply(title, ours(events), where),
      rounds: Math.min(pairs, BACKEND_ROUNDS),
    });

    const report = reportOn({ runs, journal, backends, events, loadBefore });
    writeFileSync(reportFile, report);
    console.log(`\n${report}\nWritten to ${reportFile}.`);
  } finally {
    sandbox?.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
});

function optionsFrom(args) {
  const options = { pairs: { type: "string", default: "5" }, events: { type: "string", default: "300" } };
  try {
    const { values } = parseArgs({ args, options });
    return { pairs: countFrom("pairs", values.pairs), events: countFrom("events", values.events) };
  } catch (cause) {
    const message = `${cause.message}\nUsage: npm run bench -- [--pairs 5] [--events 300]`;
    throw new Problem(message, { cause });
  }
}

function countFrom(name, text) {
  if (!/^[1-9]\d{0,5}$/.test(text)) throw new Problem(`--${name} takes a whole number from 1 up; got ${text}.`);
  return Number(text);
}

function reportOn({ runs, journal, backends, events, loadBefore }) {
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
  return `# What the provider costs

\`pulumi up --skip-preview\` of 1 advertiser and ${events} events; Pulumi ${cliVersion}, \`file://\` backend, Node.js ${process.version}, ${cpus().length} CPUs, load ${loadBefore.toFixed(1)}.
Compare the columns, never quote them: the machine decides about seconds.

${table(
  [
    "",
    "median s",
    "median CPU s",
    "state, B/event (export, compact)",
    "state, B/event (checkpoint file)",
    "logins",
    "creates",
  ],
  [
    rowOf("pulumi-advertising", runs.ours),
    rowOf("a provider that does nothing", runs.nothing),
    rowOf("the documented way (once)", runs.documented),
  ],
)}

- Time, ours / nothing, per pair: ${perPair(secondsOf)}
- CPU time of all of Pulumi's processes, likewise: ${Number.isNaN(cpuOf(runs.ours)[0]) ? "not known on this system." : perPair(cpuOf)}
- State, ours / nothing: ${exported.toFixed(3)} exported, ${checkpoint.toFixed(3)} in the checkpoint file.

## Where the state differs

An event's entry in the exported state, bytes without indentation:

${table(["part", "ours", "nothing", "difference"], differences(runs.ours[0].events.at(-1), runs.nothing[0].events.at(-1)))}

## The journal

${journal.creates} creates through the client alone, ${journal.inFlight} in flight; medians of ${journal.withNotes.length} rounds:

${table(
  ["", "creates per second", "ms per create"],
  [
    ["without notes", journal.withoutNotes],
    ["with notes, each on the disk", journal.withNotes],
  ].map(([title, perSecond]) => [title, median(perSecond).toFixed(0), (1000 / median(perSecond)).toFixed(2)]),
)}

## Backends

The same \`up\` with the state kept elsewhere, on servers of this machine: medians of ${Math.min(runs.ours.length, BACKEND_ROUNDS)}, and the size of the stored state.

${backends}
`;
}
