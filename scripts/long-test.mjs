import { argumentsOf, inRoot, Problem, run, runMain } from "./lib/base.mjs";
import { setUp } from "./setup.mjs";

/** The long versions of tests that `npm test` runs in short; a variable that is set already wins. */
const LONG = {
  kill: {
    files: [
      "test/engine/kill.test.ts",
      "test/engine/record.test.ts",
      "test/engine/states.test.ts",
    ],
    variables: { EVENTS: "60", KILLS: "10" },
  },
  model: {
    files: ["test/model", "test/sandbox/model.test.ts", "test/unit/disk.test.ts"],
    variables: { LONG_LIVES: "10000", RUNS: "50000", CRASHES: "2000" },
  },
  control: { files: ["test/package/controls.test.ts"], variables: { CONTROLS: "all" } },
};

const USAGE = `Usage: npm run kill-test|model-test|control-test -- [vitest's options]`;

await runMain(async () => {
  argumentsOf(USAGE, { strict: false, allowPositionals: true });
  const long = LONG[process.argv[2]];
  if (long === undefined) throw new Problem(`Which one? ${Object.keys(LONG).join(" or ")}`);
  const { node, env } = await setUp();
  const args = [
    inRoot("node_modules", "vitest", "vitest.mjs"),
    "run",
    ...long.files,
    ...process.argv.slice(3),
  ];
  return (await run(node, args, { cwd: inRoot(), env: { ...long.variables, ...env } }))
    .exitCode;
});
