import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import {
  argumentsOf,
  inRoot,
  localFolder,
  Problem,
  readJson,
  run,
  runMain,
} from "./lib/base.mjs";
import { setUp } from "./setup.mjs";

const USAGE = `Usage: npm test -- [vitest's options and files]

Set-up, lint, types, then the tests: \`npm test -- --project unit\` for those that need no Pulumi.`;
/** The number of slowest files that are listed. */
const SLOWEST = 15;
const total = { passed: 0, failed: 0, skipped: 0 };

/** Set-up, lint, types, vitest with this command's arguments. The last line always says how many passed and failed. */
await runMain(async () => {
  argumentsOf(USAGE, { strict: false, allowPositionals: true });
  const scratch = mkdtempSync(join(tmpdir(), "count-"));
  try {
    const { node, env } = await setUp();
    const start = (tool, args, options = {}) =>
      run(node, [inRoot("node_modules", tool), ...args], {
        cwd: inRoot(),
        env,
        ...options,
      });
    const check = async (title, tool, ...args) => {
      return { title, ...(await start(tool, args, { capture: true })) };
    };
    // What it finds is kept: the next time it checks what has changed.
    const kept = [
      "--incremental",
      "--tsBuildInfoFile",
      join(localFolder, "types.tsbuildinfo"),
    ];
    const tsc = ["--noEmit", "-p", "tsconfig.json", ...kept];
    // Beside the first tests, which often wait. What they say comes at the end.
    const checks = Promise.all([
      check("Lint and format", "@biomejs/biome/bin/biome", "check", "."),
      check("Types", "typescript/bin/tsc", ...tsc),
    ]);

    const report = join(scratch, "report.json");
    const reporters = ["--reporter=default", "--reporter=json", `--outputFile=${report}`];
    console.log("Tests");
    const args = ["run", ...reporters, ...process.argv.slice(2)];
    const [{ exitCode }, checked] = await Promise.all([
      start("vitest/vitest.mjs", args),
      checks,
    ]);
    if (existsSync(report)) countTests(readJson(report));
    for (const { title, output, ...ended } of checked) {
      console.log(`\n${title}\n${output}`);
      total[ended.exitCode === 0 ? "passed" : "failed"]++;
    }
    // A file that does not load, a hook that throws, an error that nobody caught: vitest fails without a failed test.
    if (exitCode !== 0 && total.failed === 0) total.failed = 1;
  } catch (error) {
    total.failed++;
    console.error(error instanceof Problem ? `\n${error.message}` : error);
    if (error.exitCode) return error.exitCode;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    console.log(
      `\n${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ""}`,
    );
  }
  return total.failed > 0 ? 1 : 0;
});

function countTests({ numPassedTests, numFailedTests, numPendingTests, testResults }) {
  total.passed += numPassedTests;
  total.failed += numFailedTests;
  total.skipped += numPendingTests;
  const files = testResults.map(({ name, startTime, endTime }) => [
    (endTime - startTime) / 1000,
    relative(".", name),
  ]);
  if (files.length <= SLOWEST) return;
  console.log("\nSlowest files, in seconds (several run at once):");
  const slowest = files.toSorted(([one], [other]) => other - one).slice(0, SLOWEST);
  for (const [seconds, name] of slowest)
    console.log(`  ${seconds.toFixed(0).padStart(4)} ${name}`);
}
