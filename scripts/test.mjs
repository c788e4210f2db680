import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inRoot, localFolder, readJson } from "./lib/paths.mjs";
import { Problem, runMain } from "./lib/problem.mjs";
import { run } from "./lib/run.mjs";
import { setUp } from "./setup.mjs";

const scratch = mkdtempSync(join(tmpdir(), "count-"));
const total = { passed: 0, failed: 0, skipped: 0 };

/** Set-up, lint, types, then vitest with the arguments given here. The last line says how many passed and failed, whatever happens. */
await runMain(async () => {
  try {
    const { node, env } = await setUp();
    const runTool = async (title, ...args) => {
      console.log(`\n${title}`);
      return (await run(node, args.flat(), { cwd: inRoot(), env: { ...env, COUNT_FILE: countFile } })).exitCode;
    };
    const check = async (...command) => count((await runTool(...command)) === 0 ? { passed: 1 } : { failed: 1 });
    const modules = (...parts) => inRoot("node_modules", ...parts);
    const countFile = join(scratch, "counts.json");

    await check("Lint and format", modules("@biomejs", "biome", "bin", "biome"), "check", ".");
    // What it finds is kept: the next time it checks what has changed.
    const kept = join(localFolder, "types.tsbuildinfo");
    const types = ["--noEmit", "-p", "tsconfig.json", "--incremental", "--tsBuildInfoFile", kept];
    await check("Types", modules("typescript", "bin", "tsc"), ...types);

    const reporters = ["--reporter=default", `--reporter=${inRoot("scripts", "lib", "count-reporter.mjs")}`];
    const exitCode = await runTool("Tests", modules("vitest", "vitest.mjs"), "run", reporters, process.argv.slice(2));
    const counts = existsSync(countFile) ? readJson(countFile) : {};
    count(exitCode === 0 || counts.failed ? counts : { ...counts, failed: 1 });
  } catch (error) {
    count({ failed: 1 });
    console.error(error instanceof Problem ? `\n${error.message}` : error);
    if (error.exitCode) return error.exitCode;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
    console.log(`\n${total.passed} passed, ${total.failed} failed${total.skipped ? `, ${total.skipped} skipped` : ""}`);
  }
  return total.failed > 0 ? 1 : 0;
});

function count(counts) {
  for (const [state, number] of Object.entries(counts)) total[state] += number;
}
