import { documented, nothing, ours, set } from "./bench-programs.mjs";
import { median, table } from "./bench-table.mjs";

const CHECKPOINTS_OFF = { PULUMI_SKIP_CHECKPOINTS: "true" };
const SINGLES = [100, 300, 1000];
const SETS = [100, 1000, 3000, 10_000];
/** Pulumi's own start, without anything to do. */
const NO_EVENTS = 0;

/** Every way to declare so many events, with its seconds at each count. */
const WAYS = [
  { name: "single events", program: ours, counts: SINGLES },
  { name: "single events, checkpoints off", program: ours, counts: SINGLES, environment: CHECKPOINTS_OFF },
  { name: "a provider that does nothing", program: nothing, counts: SINGLES },
  {
    name: "a provider that does nothing, checkpoints off",
    program: nothing,
    counts: SINGLES,
    environment: CHECKPOINTS_OFF,
  },
  { name: "a set", program: set, counts: [NO_EVENTS, ...SETS] },
];

/**
 * `up` at several sizes, and what runs cost that change nothing, as tables.
 * @param open begins a stack of a program, after everything is forgotten at the platform
 * @param peer `{ name, open }`: the same by another tool, where there is one
 */
export async function measureSizes({ open, peer, rounds }) {
  const ways = WAYS.map(({ name, program, counts, environment }) => ({
    name,
    counts,
    open: (count) => open(program(count), environment),
  }));
  if (peer !== undefined) ways.push({ ...peer, counts: SINGLES });
  const seconds = new Map();
  const bytes = new Map();
  const note = (name, count, took) => {
    const key = `${name} ${count}`;
    seconds.set(key, [...(seconds.get(key) ?? []), took]);
  };
  for (let round = 0; round < rounds; round++) {
    for (const { name, counts, open: begin } of ways) {
      for (const count of counts) {
        const stack = await begin(count);
        const { seconds: took } = await stack.up();
        console.log(`  ${name}, ${count}: ${took.toFixed(2)} s`);
        note(name, count, took);
        bytes.set(`${name} ${count}`, stack.stateBytes());
      }
    }
  }
  const once = await open(documented(300));
  const documentedSeconds = (await once.up()).seconds;
  const of = (name, count) => {
    const all = seconds.get(`${name} ${count}`);
    return all === undefined ? undefined : median(all);
  };
  const shown = (value) => (value === undefined ? "" : value.toFixed(2));
  const counts = [...new Set([...SINGLES, ...SETS])].sort((a, b) => a - b);
  const rows = ways.map(({ name }) => [name, ...counts.map((count) => shown(of(name, count)))]);
  rows.push(["the documented way (once)", ...counts.map((count) => (count === 300 ? shown(documentedSeconds) : ""))]);
  const perEvent = (name, count, fewer) =>
    ((bytes.get(`${name} ${count}`) - bytes.get(`${name} ${fewer}`)) / (count - fewer)).toFixed(0);
  const above = (count) => of("a set", count) - of("a set", NO_EVENTS);
  const ratio = (a, b) => (a / b).toFixed(3);
  return `Seconds of an \`up\`, medians of ${rounds}:

${table(["", ...counts.map(String)], rows)}

- A set of 1,000 / single events: ${ratio(of("a set", 1000), of("single events", 1000))}. A set of 3,000 / three times 1,000 single events: ${ratio(of("a set", 3000), 3 * of("single events", 1000))}; single events cost more than in proportion.
- A set of 10,000 / one of 1,000, each above Pulumi's own start (${of("a set", NO_EVENTS).toFixed(2)} s): ${ratio(above(10_000), above(1000))}.
- Bytes of state an event: ${perEvent("a set", 3000, 1000)} in a set, ${perEvent("single events", 1000, 100)} as single ones${peer === undefined ? "" : `, ${perEvent(peer.name, 1000, 100)} by ${peer.name}`}.`;
}

/** A second `up`, a preview and a destroy at 1,000 events. */
export async function measureRepeats({ open, rounds, count = 1000 }) {
  const ways = [
    { name: "single events", program: ours },
    { name: "single events, checkpoints off", program: ours, environment: CHECKPOINTS_OFF },
    { name: "a set", program: set },
  ];
  const rows = [];
  for (const { name, program, environment } of ways) {
    const took = { up: [], again: [], preview: [], destroy: [] };
    for (let round = 0; round < rounds; round++) {
      const stack = await open(program(count), environment);
      took.up.push((await stack.up()).seconds);
      took.again.push((await stack.up()).seconds);
      took.preview.push((await stack.measure("preview")).seconds);
      took.destroy.push((await stack.measure("destroy", "--yes", "--skip-preview")).seconds);
      console.log(
        `  ${name}: ${Object.values(took)
          .map((all) => all.at(-1).toFixed(2))
          .join(", ")} s`,
      );
    }
    const [up, again, preview, destroy] = Object.values(took).map(median);
    rows.push([name, ...[up, again, preview, destroy, up / again].map((value) => value.toFixed(2))]);
  }
  return table([`${count} events, s`, "first up", "second up", "preview", "destroy", "first / second"], rows);
}
