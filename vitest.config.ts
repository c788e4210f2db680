import { defineConfig } from "vitest/config";
import { keepCompiled } from "./test/support/keep-compiled.js";

const FIVE_MINUTES_IN_MS = 300_000;

/** Tests that start Pulumi or npm: slow, and each of them keeps about a core busy; so few at a time, after the quick ones. */
const heavy = {
  globalSetup: "test/support/stack-init.ts",
  testTimeout: FIVE_MINUTES_IN_MS,
  hookTimeout: FIVE_MINUTES_IN_MS,
  maxWorkers: 3,
  sequence: { groupOrder: 1 },
};

/** Quick by themselves, often waiting; what a busy machine makes of that must not decide. */
const light = { testTimeout: 60_000, hookTimeout: 60_000, maxWorkers: 3, setupFiles: "test/support/cheap-scrypt.mjs" };

/** For every process that tests start: a run of Pulumi compiles a thousand modules in each of two processes. */
const env = { NODE_OPTIONS: keepCompiled };

const project = (name: string, options: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], env, ...options },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", light),
      project("sandbox", light),
      project("model", light),
      project("engine", heavy),
      project("package", heavy),
    ],
  },
});
