import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { keepCompiled } from "./test/support/keep-compiled.js";
import { inMemory } from "./test/support/memory.js";
import { mutating } from "./test/support/mutation.js";

const FIVE_MINUTES_IN_MS = 300_000;
/** On a busy machine, a release and what it downloads have taken more than five minutes. */
const FIFTEEN_MINUTES_IN_MS = 900_000;

/** Tests that start Pulumi or npm: slow, and each of them keeps about a core busy; so few at a time, after the quick ones. */
const heavy = {
  globalSetup: "test/support/stack-init.ts",
  testTimeout: FIVE_MINUTES_IN_MS,
  hookTimeout: FIFTEEN_MINUTES_IN_MS,
  maxWorkers: 4,
  sequence: { groupOrder: 1 },
};

/** Quick by themselves, often waiting; what a busy machine makes of that must not decide. */
const light = {
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxWorkers: 3,
  setupFiles: "test/support/cheap-scrypt.mjs",
};

/** These take longest, of those of their group. A fresh clone's vitest knows no durations, and would go by the files' sizes. */
const LONGEST = [
  ...["unit/end-of-run", "model/lives", "sandbox/session-processes", "sandbox/soak"],
  "sandbox/model",
  ...["sandbox/record", "unit/command", "unit/scale", "unit/messages", "unit/workflows"],
  ...["package/installed", "package/release", "package/pipelines", "engine/plugin"],
  ...["engine/record", "engine/resolve", "engine/states", "package/new", "engine/main-job"],
  ...["engine/interruption", "engine/leaving", "engine/comment", "engine/policy"],
  ...["package/page", "package/published", "engine/killed-then", "engine/retaining"],
  ...["engine/former-key", "engine/languages", "engine/stand-in"],
];

/** Long files first, of whichever project: one that begins last keeps one core busy at the end, and the others idle. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ project, moduleId }: TestSpecification) => {
      const index = LONGEST.findIndex((name) => moduleId.endsWith(`/test/${name}.test.ts`));
      return (
        project.config.sequence.groupOrder * 100 + (index < 0 ? LONGEST.length : index)
      );
    };
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

/**
 * For every process that tests start. A run of Pulumi compiles a thousand modules in each of two processes; and its Go
 * programs end before it pays to collect their garbage (a tenth of a run's CPU).
 */
const env = {
  ...{ NODE_OPTIONS: keepCompiled, GOGC: "off", GOMEMLIMIT: "512MiB" },
  ...inMemory(),
};

const project = (name: string, options: object = {}) => ({
  test: { name, include: [`test/${name}/**/*.test.ts`], env, ...options },
});

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    projects: [
      ...["unit", "sandbox", "model"].map((name) => ({
        ...project(name, light),
        plugins: mutating(),
      })),
      project("engine", heavy),
      project("package", heavy),
    ],
  },
});
