/** The product's commands and stores, on the disk of the acting machine, with the model's engine. Imported first. */
import { vi } from "vitest";
import type { Clock } from "../../../provider/src/base/index.js";
import type { Disk } from "../../../provider/src/files/index.js";
import type * as store from "../../../provider/src/store/index.js";
import type * as pulumi from "../../../provider/src/tools/pulumi.js";

Object.assign(process.env, { XDG_CACHE_HOME: "/cache", PULUMI_BACKEND_URL: "file:///backend" });

/** Who acts now: set before each run and each command. */
export const acting: {
  here: { readonly folder: string; readonly disk: Disk; readonly clock: Clock };
  pulumi: Pick<typeof pulumi, "refresh" | "stateOf" | "stackName" | "existingStacks" | "sameAccountOf">;
} = { here: undefined as never, pulumi: undefined as never };

vi.mock("../../../provider/src/store/index.js", async (original) => {
  const all = await original<typeof store>();
  return {
    ...all,
    readMemory: (...[path, disk = acting.here.disk]: Parameters<typeof all.readMemory>) => all.readMemory(path, disk),
    writeAnswers: (...[place, lines, _, runs]: Parameters<typeof all.writeAnswers>) =>
      all.writeAnswers(place, lines, acting.here, runs),
    openElsewhere: (...[place, folder, disk = acting.here.disk]: Parameters<typeof all.openElsewhere>) =>
      all.openElsewhere(place, folder, disk),
    takeOverOpen: (...[former, now]: Parameters<typeof all.takeOverOpen>) => all.takeOverOpen(former, now, acting.here),
  };
});

vi.mock("../../../provider/src/tools/pulumi.js", async (original) => ({
  ...(await original<typeof pulumi>()),
  refresh: (...given: Parameters<typeof pulumi.refresh>) => acting.pulumi.refresh(...given),
  stateOf: (...given: Parameters<typeof pulumi.stateOf>) => acting.pulumi.stateOf(...given),
  existingStacks: (...given: Parameters<typeof pulumi.existingStacks>) => acting.pulumi.existingStacks(...given),
  sameAccountOf: (...given: Parameters<typeof pulumi.sameAccountOf>) => acting.pulumi.sameAccountOf(...given),
  stackName: (...given: Parameters<typeof pulumi.stackName>) => acting.pulumi.stackName(...given),
}));
