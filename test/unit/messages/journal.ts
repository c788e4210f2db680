/** The journal and its lock. */
import { DamagedJournal } from "../../../provider/src/journal/journal-entry.js";
import { journalErrorFrom } from "../../../provider/src/journal/journal-file.js";
import type { Examples } from "./examples.js";

const disk = (code: string) =>
  Object.assign(new Error(`${code}: it failed`), { code, path: "/cache/x" });

export const journal: Examples = {
  "a damaged journal": () =>
    journalErrorFrom("/cache/x.jsonl", new DamagedJournal("line 3 is not JSON")).message,
  "a journal on a full disk": () =>
    journalErrorFrom("/cache/x.jsonl", disk("ENOSPC")).message,
  "a journal of another user": () =>
    journalErrorFrom("/cache/x.jsonl", disk("EACCES")).message,
};
