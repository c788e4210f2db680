/** What the program process prints. */
import type { JournalEntry } from "../../../provider/src/journal/index.js";
import { ProgramValidator } from "../../../provider/src/program/program-validator.js";
import { type Examples, OLD, open } from "./examples.js";

const atEnd = (records: JournalEntry[], isPreview: boolean) =>
  new ProgramValidator(isPreview).atEnd(records).join("\n");

export const program: Examples = {
  "what leaves the state, in an up": () =>
    atEnd([{ ...open(OLD), state: "confirmed", id: "42" }], false),
  "an open create that nothing declares": () => atEnd([open(OLD)], true),
};
