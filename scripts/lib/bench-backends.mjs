import { median, table } from "./bench-table.mjs";
import { startPostgres, whyNoPostgres } from "./postgres.mjs";
import { startS3, whyNoS3 } from "./s3-server.mjs";

const MODES = [
  { name: "saved after each step", environment: {} },
  { name: "the same, compressed", environment: { PULUMI_DIY_BACKEND_GZIP: "true" } },
  { name: "saved at the end", environment: { PULUMI_SKIP_CHECKPOINTS: "true" } },
];
const BACKENDS = [
  { name: "a file", start: async () => undefined },
  { name: "PostgreSQL", start: startPostgres, whyNot: whyNoPostgres },
  { name: "an S3-compatible store", start: startS3, whyNot: whyNoS3 },
];

/**
 * `up` in each backend that can be had here, in each way of saving the state, as a table.
 * @param apply applies the program to a new stack: a title, and where and how its state is kept
 */
export async function measureBackends({ apply, rounds }) {
  const rows = [];
  for (const { name, start, whyNot } of BACKENDS) {
    if (whyNot !== undefined) {
      console.log(`  ${name}: left out, since ${whyNot}.`);
      continue;
    }
    const backend = await start();
    try {
      const runs = MODES.map(() => []);
      for (let round = 0; round < rounds; round++) {
        for (const [index, { name: mode, environment }] of MODES.entries()) {
          runs[index].push(await apply(`${name}, ${mode}`, { backend, environment }));
        }
      }
      rows.push([name, ...runs.map(describe)]);
    } finally {
      await backend?.close();
    }
  }
  return table(["", ...MODES.map(({ name }) => name)], rows);
}

function describe(runs) {
  const seconds = median(runs.map((run) => run.seconds)).toFixed(2);
  const bytes = runs[0].checkpointBytes;
  return bytes === undefined ? `${seconds} s` : `${seconds} s, ${(bytes / 1000).toFixed(0)} kB`;
}
