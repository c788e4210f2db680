/** The journal and its lock, and where they stand. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  backendIn,
  type Journal,
  journalErrorFrom,
  takeOverOpen,
} from "../../../provider/src/journal/index.js";
import { FakeClock } from "../../support/clock.js";
import { newFolder } from "../../support/folder.js";
import { aCreate, DEV, FOLDER, PROD, stackOn } from "../../support/journal.js";
import { type Examples, OLD, rejectionOf, thrownBy } from "./examples.js";

const disk = (code: string) =>
  Object.assign(new Error(`${code}: it failed`), { code, path: "/cache/x" });

/** The error of an `up` whose journal has this text. */
function errorWith(text: string): Promise<string> {
  const { append, newRun } = stackOn();
  append(text);
  return rejectionOf(newRun().assertUsable());
}

export const journal: Examples = {
  "a journal that is no journal": () => errorWith("garbage\n"),
  "a damaged journal": async () => {
    const { up, append, newRun } = stackOn();
    await up((run) => run.recordSending(aCreate(OLD)));
    append("garbage\n");
    return rejectionOf(newRun().assertUsable());
  },
  "a journal of a later version": () =>
    errorWith('{"journal":"pulumi-advertising","version":2}\n'),
  "a journal on a full disk": () =>
    journalErrorFrom("/cache/x.jsonl", disk("ENOSPC")).message,
  "a journal of another user": () =>
    journalErrorFrom("/cache/x.jsonl", disk("EACCES")).message,
  "a journal that another run uses": async () => {
    const { newRun, said } = stackOn();
    const first = newRun();
    await first.assertUsable();
    const error = await rejectionOf(newRun(30_000, new FakeClock()).assertUsable());
    first.release();
    return [...said, error].join("\n");
  },
  "a run that was ended": async () => {
    const run = stackOn().newRun();
    await run.assertUsable();
    run.release();
    return rejectionOf(run.recordSending(aCreate(OLD)));
  },
  "pending --take-over, but this stack has an open create of the name": async () => {
    const { disk, up } = stackOn();
    const sending = (mark: string) => (run: Journal) =>
      run.recordSending({ ...aCreate(OLD), mark }).then(() => run.release());
    await up(sending("one"));
    await stackOn(disk, PROD).up(sending("other"));
    return rejectionOf(takeOverOpen(PROD, DEV, { folder: FOLDER, disk }));
  },
  "a project file that can't be read": () => {
    const folder = newFolder();
    writeFileSync(join(folder, "Pulumi.yaml"), "backend: {\n");
    return thrownBy(() => backendIn({}, folder));
  },
  "a login that can't be read": () => {
    const folder = newFolder();
    writeFileSync(join(folder, "credentials.json"), '{"$pulumiSecureStore":1}');
    return thrownBy(() => backendIn({ PULUMI_HOME: folder }, folder));
  },
};
