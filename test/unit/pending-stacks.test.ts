/** What `pending` says about open creates of other stacks, and by its exit code. */
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { readExport } from "../../provider/src/cli/contents.js";
import { pendingCommand } from "../../provider/src/cli/pending.js";
import type * as pulumi from "../../provider/src/cli/pulumi.js";
import { appendLines, backendIn } from "../../provider/src/journal/index.js";
import { newFolder } from "../support/folder.js";
import { exportOf } from "../support/stored.js";

const nameOf = (stack: string) => `organization/shop/${stack}`;
const stacks = vi.hoisted(() => ({ existing: [] as string[] }));

vi.mock("../../provider/src/cli/pulumi.js", async (original) => ({
  ...(await original<typeof pulumi>()),
  stackName: async () => nameOf("prod"),
  stateOf: async () => readExport(exportOf([])),
  existingStacks: async () => stacks.existing.map(nameOf),
}));

it.each([
  { what: "is gone", stack: "dev", existing: ["prod"], code: 1 },
  { what: "exists", stack: "dev", existing: ["dev", "prod"], code: 0 },
  {
    what: "is another backend's",
    stack: "dev",
    existing: ["prod"],
    backend: "s3://x",
    code: 0,
  },
  {
    what: "may be this one",
    stack: "prod",
    existing: ["prod"],
    backend: "s3://x",
    code: 1,
  },
])("the state is empty, and a stack with an open create $what: $code", async (given) => {
  const cache = newFolder();
  vi.stubEnv("XDG_CACHE_HOME", cache);
  vi.stubEnv("PULUMI_BACKEND_URL", "file:///states");
  const print = vi.spyOn(console, "log").mockReturnValue();
  onTestFinished(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });
  stacks.existing = given.existing;
  const { backend = backendIn(process.env, process.cwd()) } = given;
  const sent = {
    key: "ConversionEvent::buy",
    state: "sent",
    mark: "m",
    body: "b",
  } as const;
  const folder = join(cache, "pulumi-advertising/stacks");
  await appendLines({ backend, stack: nameOf(given.stack) }, [sent], { folder });
  expect(await pendingCommand.run([])).toBe(given.code);
  expect(print.mock.calls.join("\n")).toContain(
    `pending --take-over ${given.stack} --stack prod`,
  );
});
