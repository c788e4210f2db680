import { writeFileSync } from "node:fs";

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
    writeFileSync(process.env.COUNT_FILE, JSON.stringify(counts));
  }
}
