/** The product's commands and stores, on the disk of the acting machine, with the model's engine. Imported first. */
import { AsyncLocalStorage } from "node:async_hooks";
import type * as crypto from "node:crypto";
import { vi } from "vitest";
import type { Clock } from "../../../provider/src/base/index.js";
import type * as pulumi from "../../../provider/src/cli/pulumi.js";
import type { Disk } from "../../../provider/src/files/index.js";
import type * as store from "../../../provider/src/journal/index.js";

Object.assign(process.env, { XDG_STATE_HOME: "/state" });

interface Here {
  readonly folder: string;
  readonly disk: Disk;
  readonly clock: Clock;
}

type Pulumi = Pick<typeof pulumi, "refresh" | "stateOf" | "stackName">;

const commands = new AsyncLocalStorage<{ readonly here: Here; readonly pulumi: Pulumi }>();

/** The acting command, which stays on its machine after a kill. */
export const acting = {
  get here(): Here {
    return commands.getStore()?.here as Here;
  },
  within<T>(command: { readonly here: Here; readonly pulumi: Pulumi }, work: () => T): T {
    return commands.run(command, work);
  },
  get pulumi(): Pulumi {
    return commands.getStore()?.pulumi as Pulumi;
  },
};

/** Random names are the same in each repetition of a life. */
export const random = { names: 0 };

vi.mock("node:crypto", async (original) => {
  const all = await original<typeof crypto>();
  const next = () =>
    all
      .createHash("sha256")
      .update(String(++random.names))
      .digest();
  return {
    ...all,
    randomBytes: (size: number) => next().subarray(0, size),
    randomUUID: () => next().toString("hex").slice(0, 36),
  };
});

vi.mock("../../../provider/src/journal/index.js", async (original) => {
  const all = await original<typeof store>();
  return {
    ...all,
    readJournal: (path: string) => all.readJournal(path, acting.here.disk),
    readFound: (...[found, runs, options]: Parameters<typeof all.readFound>) =>
      all.readFound(found, runs, { ...options, ...acting.here }),
    findJournals: (...[_, ...others]: Parameters<typeof all.findJournals>) =>
      all.findJournals(acting.here, ...others),
    rewriteJournals: (...[journals, disk]: Parameters<typeof all.rewriteJournals>) =>
      all.rewriteJournals(journals, disk ?? acting.here.disk),
    writeAnswers: (...[of, lines, options]: Parameters<typeof all.writeAnswers>) =>
      all.writeAnswers(of, lines, { ...options, ...acting.here }),
  };
});

vi.mock("../../../provider/src/cli/pulumi.js", async (original) => ({
  ...(await original<typeof pulumi>()),
  refresh: (...given: Parameters<typeof pulumi.refresh>) => acting.pulumi.refresh(...given),
  stateOf: (...given: Parameters<typeof pulumi.stateOf>) => acting.pulumi.stateOf(...given),
  stackName: (...given: Parameters<typeof pulumi.stackName>) =>
    acting.pulumi.stackName(...given),
}));
