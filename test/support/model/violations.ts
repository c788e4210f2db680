/** Violations of promises, each a one-line change of the product that `test/model/violations.test.ts` puts back. */
import type { Mutation } from "../mutation.js";

const rows: readonly (readonly [what: string, file: string, from: string, to: string])[] = [
  // What people met before each run read Pulumi's record
  [
    "after a kill with a lost disk, creates are sent again",
    "plan/open-creates.ts",
    "(saved?.sent ?? []).filter(",
    "(saved?.sent ?? []).slice(1e9).filter(",
  ],
  [
    "a create whose journal is gone counts as never sent",
    "plan/open-creates.ts",
    "entriesOf.get(run)?.has(mark) === false;",
    "entriesOf.get(run)?.has(mark) !== true;",
  ],
  [
    "Pulumi's record of an interrupted update is not read",
    "record/saved-state.ts",
    'if (type !== "creating" && !(isUpdate && isSet)) return',
    'if (type !== "creating") return',
  ],
  [
    "an unchanged set forgets its interrupted update",
    "operations/plan-resource.ts",
    "if (isUnchanged && !isSet) return plan;",
    "if (isUnchanged) return plan;",
  ],
  [
    "a refresh forgets a set's interrupted update",
    "operations/answers.ts",
    "if (sent.length === 0) return undefined;",
    "if (sent.length >= 0) return undefined;",
  ],
  [
    "one backend's stack takes over what another's has made",
    "plan/open-creates.ts",
    "if (hasCheckpoints) return false;",
    "if (hasCheckpoints) return true;",
  ],
  [
    "an answer about one backend's stack closes another's create",
    "plan/open-creates.ts",
    "const reports = sure.length > 0 ? sure : given;",
    "const reports = given;",
  ],
  [
    "a later life has its former life's mark",
    "state/stored.ts",
    "JSON.stringify([run, key])",
    "JSON.stringify([key])",
  ],
  [
    "an answer about one is another's too",
    "operations/answers.ts",
    "const object = outcomes[mark];",
    "const [object] = Object.values(outcomes);",
  ],
  [
    "a machine's own clock says whether a new object is gone",
    "operations/execute.ts",
    "platformNow() ?? isoNow(clock)",
    "isoNow(clock)",
  ],
  [
    "ids leave the state unnamed",
    "operations/end-of-run.ts",
    "if (!isComplete && !isPartial(command)) return;",
    "return;",
  ],
  [
    "a preview does not stop where the up does",
    "operations/preview.ts",
    "await tellCreates(plan, mayChange);",
    "void mayChange;",
  ],
  [
    "a repeated run's create is another one than the interrupted run's",
    "operations/check.ts",
    "if (earlier) marks.set(object.key, earlier.mark);",
    "",
  ],
  // What has always been promised
  [
    "no note before sending",
    "operations/create.ts",
    "await journal.recordSending({ ...record, key, run, account, at });",
    "",
  ],
  [
    "a lost answer: not created",
    "operations/create.ts",
    "if (error instanceof OutcomeUnknownError) return error.message;",
    "if (error instanceof OutcomeUnknownError) return undefined;",
  ],
  [
    "no guard by name",
    "operations/decide-create.ts",
    "return open.findNamed(",
    "return (() => undefined)(",
  ],
  [
    "what another has is taken over",
    "operations/create.ts",
    "conflict = ownershipConflict(runtime, task, id);",
    "conflict = undefined;",
  ],
  [
    "a note is not synced before it counts",
    "journal/journal.ts",
    "this.#disk.fsyncSync(file);",
    "",
  ],
  [
    "what a clean run has made is forgotten though nothing was saved",
    "journal/journal.ts",
    "if (this.of.hasCheckpoints === false || !this.#needed.delete(mark)) return;",
    "if (!this.#needed.delete(mark)) return;",
  ],
  [
    "a search that finds none: sent again at once",
    "operations/search.ts",
    "if (!wasJustSent && passedMs >= waitMs)",
    "if (ids.length === 0)",
  ],
];

export const violations: readonly (Mutation & { readonly what: string })[] = rows.map(
  ([what, file, from, to]) => {
    return { what, file, from, to };
  },
);
