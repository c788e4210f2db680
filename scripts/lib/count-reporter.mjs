import { writeFileSync } from "node:fs";
import { relative } from "node:path";

/** The files that are worth a look when the whole takes too long. */
const SLOWEST = 12;

/**
 * A vitest reporter that writes `{ passed, failed, skipped }` into the file named by COUNT_FILE. What vitest reports beside its tests
 * is a failure too: a file that does not load, a hook that throws, an error nobody caught.
 */
export default class CountReporter {
  onTestRunEnd(modules, unhandledErrors, reason) {
    const counts = { passed: 0, failed: unhandledErrors.length, skipped: 0 };
    for (const module of modules) {
      for (const group of [module, ...module.children.allSuites()]) if (group.errors().length > 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state in counts) counts[state]++;
      }
    }
    if (reason !== "passed" && counts.failed === 0) counts.failed = 1; // interrupted, or for a reason that only vitest knows
    const files = modules.map((module) => ({ path: module.moduleId, seconds: module.diagnostic().duration / 1000 }));
    const slowest = files.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
    if (files.length > SLOWEST) {
      console.log("Slowest files, in seconds (several run at once):");
      for (const { path, seconds } of slowest)
        console.log(`  ${seconds.toFixed(0).padStart(4)} ${relative(".", path)}`);
    }
    writeFileSync(process.env.COUNT_FILE, JSON.stringify(counts));
  }
}
