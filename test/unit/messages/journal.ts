/** The journal and its lock. */
import { journalErrorFrom } from "../../../provider/src/journal/index.js";
import { FakeClock } from "../../support/clock.js";
import { aCreate, stackOn } from "../../support/journal.js";
import { type Examples, OLD, rejectionOf } from "./examples.js";

const disk = (code: string) =>
  Object.assign(new Error(`${code}: it failed`), { code, path: "/state/x" });

/** The error of an `up` that finds a journal with this text. */
async function errorWith(text: string): Promise<string> {
  const { append, newRun } = stackOn();
  append(text);
  const run = newRun();
  await run.readEarlier(new Set(), () => false);
  return rejectionOf(run.assertUsable());
}

export const journal: Examples = {
  "a journal that is no journal": () => errorWith("garbage\n"),
  "a damaged journal": () =>
    errorWith('{"journal":"pulumi-advertising","version":1}\ngarbage\n'),
  "a journal of a later version": () =>
    errorWith('{"journal":"pulumi-advertising","version":2}\n'),
  "a journal on a full disk": () =>
    journalErrorFrom("/state/x.jsonl", disk("ENOSPC")).message,
  "a journal of another user": () =>
    journalErrorFrom("/state/x.jsonl", disk("EACCES")).message,
  "an earlier run that is still ending": async () => {
    const { newRun, said } = stackOn();
    const first = newRun();
    await first.assertUsable();
    const later = newRun({ maxWaitMs: 30_000, clock: new FakeClock() });
    await later.readEarlier(new Set(), () => true);
    const error = await rejectionOf(later.assertUsable());
    first.release();
    return [...said, error].join("\n");
  },
  "a journal that was removed": async () => {
    const { newRun, disk } = stackOn();
    const run = newRun();
    await run.assertUsable();
    disk.rmSync(run.path, { force: true });
    return rejectionOf(run.recordSending(aCreate(OLD)));
  },
  "a run that was ended": async () => {
    const run = stackOn().newRun();
    await run.assertUsable();
    run.release();
    return rejectionOf(run.recordSending(aCreate(OLD)));
  },
};
