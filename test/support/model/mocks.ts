/** The product's commands and stores, on the disk of the acting machine, with the model's engine. Imported first. */
import { AsyncLocalStorage } from "node:async_hooks";
import { vi } from "vitest";
import type { Clock } from "../../../provider/src/base/index.js";
import type * as pulumi from "../../../provider/src/cli/pulumi.js";
import type { Disk } from "../../../provider/src/files/index.js";
import type * as store from "../../../provider/src/journal/index.js";

Object.assign(process.env, {
  XDG_CACHE_HOME: "/cache",
  PULUMI_BACKEND_URL: "file:///backend",
});

interface Here {
  readonly folder: string;
  readonly disk: Disk;
  readonly clock: Clock;
}

type Pulumi = Pick<
  typeof pulumi,
  "refresh" | "stateOf" | "stackName" | "existingStacks" | "accountComparer"
>;

const commands = new AsyncLocalStorage<{ readonly here: Here; readonly pulumi: Pulumi }>();
let run: Here | undefined;

/** The acting process. Set before each run, and for each command, which stays on its machine after a kill. */
export const acting: {
  here: Here;
  within<T>(command: { readonly here: Here; readonly pulumi: Pulumi }, work: () => T): T;
  readonly pulumi: Pulumi;
} = {
  get here() {
    return commands.getStore()?.here ?? (run as Here);
  },
  set here(here) {
    run = here;
  },
  within: (command, work) => commands.run(command, work),
  get pulumi() {
    return commands.getStore()?.pulumi as Pulumi;
  },
};

vi.mock("../../../provider/src/journal/index.js", async (original) => {
  const all = await original<typeof store>();
  return {
    ...all,
    readJournal: (...[path, disk = acting.here.disk]: Parameters<typeof all.readJournal>) =>
      all.readJournal(path, disk),
    JournalFile: class extends all.JournalFile {
      constructor(options: store.JournalOptions) {
        super({ ...options, ...acting.here });
      }
    },
    everyJournal: (
      ...[folder, disk = acting.here.disk]: Parameters<typeof all.everyJournal>
    ) => all.everyJournal(folder, disk),
    takeOverOpen: (...[former, now]: Parameters<typeof all.takeOverOpen>) =>
      all.takeOverOpen(former, now, acting.here),
  };
});

vi.mock("../../../provider/src/cli/pulumi.js", async (original) => ({
  ...(await original<typeof pulumi>()),
  refresh: (...given: Parameters<typeof pulumi.refresh>) => acting.pulumi.refresh(...given),
  stateOf: (...given: Parameters<typeof pulumi.stateOf>) => acting.pulumi.stateOf(...given),
  existingStacks: (...given: Parameters<typeof pulumi.existingStacks>) =>
    acting.pulumi.existingStacks(...given),
  accountComparer: (...given: Parameters<typeof pulumi.accountComparer>) =>
    acting.pulumi.accountComparer(...given),
  stackName: (...given: Parameters<typeof pulumi.stackName>) =>
    acting.pulumi.stackName(...given),
}));
