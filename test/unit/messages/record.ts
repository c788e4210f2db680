/** Why what Pulumi has saved can't be read. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { LATE_RECORD } from "../../../provider/src/operations/messages.js";
import { RunRecord } from "../../../provider/src/operations/run-record.js";
import { readExport } from "../../../provider/src/record/export.js";
import { runPulumi } from "../../../provider/src/record/pulumi.js";
import { readRecord } from "../../../provider/src/record/read-record.js";
import { FakeClock } from "../../support/clock.js";
import { newFolder } from "../../support/folder.js";
import { type Examples, rejectionOf } from "./examples.js";

const MISSING = "/opt/pulumi/bin/pulumi";

/** A program that never ends. */
function endless() {
  const path = join(newFolder(), "pulumi");
  writeFileSync(path, "#!/bin/sh\nexec sleep 60\n", { mode: 0o755 });
  return path;
}

/** Why `pulumi stack export` fails. */
const failure = (executable: string, timeoutMs = 0) =>
  rejectionOf(runPulumi(["stack", "export"], { executable, timeoutMs }));

export const record: Examples = {
  "the engine's program was removed": () => failure(MISSING),
  "it may not be run": () => failure("/etc/passwd"),
  "it fails without a word": () => failure("/bin/false"),
  "it does not answer": () => failure(endless(), 100),
  "a run that can't read it": async () => {
    const said: string[] = [];
    const record = new RunRecord({
      isThisRun: () => false,
      isSameAccount: () => true,
      provider: undefined,
      read: () =>
        runPulumi(["stack", "export"], { executable: "/bin/false" }).then(readExport),
      journal: () => undefined,
      notes: undefined,
      isUp: () => false,
      hasCheckpoints: true,
      warn: (message) => void said.push(message),
      clock: new FakeClock(),
    });
    await record.state();
    return said.join("\n");
  },
  "it takes too long": () => LATE_RECORD,
  "it prints something else": () => rejectionOf(readRecord("dev", {}, async () => "Hello")),
};
