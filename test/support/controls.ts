/**
 * Promises of the product, each with a change of one line that breaks it, and the test that must then fail.
 * `test/package/controls.test.ts` makes the changes in a copy of the source.
 */
import type { Mutation } from "./mutation.js";

export interface Control extends Mutation {
  /** The promise that the change breaks. */
  readonly promise: string;
  /** The test file's path below `test`, without its ending. */
  readonly test: string;
  /** A part of the name of each test that must fail. */
  readonly named: string;
}

type Row = readonly [
  promise: string,
  file: string,
  from: string,
  to: string,
  test: string,
  named: string,
];

const rows: Row[] = [
  // Never twice
  [
    "a create is noted before it is sent",
    "journal/journal.ts",
    'await this.#write({ ...entry, state: "sent" }, "Nothing was sent. ");',
    'void this.#write({ ...entry, state: "sent" }, "").catch(() => undefined);',
    "unit/disk",
    "M1, M2",
  ],
  [
    "a note is synced before it counts",
    "journal/journal.ts",
    "this.#disk.fsyncSync(file);",
    "",
    "unit/disk",
    "M1, M2",
  ],
  [
    "one run at a time writes a stack's journal",
    "journal/journal.ts",
    "    this.#lock.assertHeld();\n",
    "",
    "sandbox/journal-file",
    "a run whose lock was taken over",
  ],
  [
    "a damaged journal stops every create",
    "journal/journal-entry.ts",
    "if (!isLine(line)) throw",
    "if (!isLine(line) && index < 0) throw",
    "sandbox/journal-file",
    "M5",
  ],
  [
    "what an `up`'s preview has read counts in the `up`",
    "journal/engine-notes.ts",
    "return jsonIn(readPrivate(this.path, this.disk));",
    "return undefined;",
    "sandbox/record",
    "a killed update of a set: what its preview has read",
  ],
  [
    "a replacement doesn't lose a policy's remediation",
    "operations/plan-resource.ts",
    "if (planned && planned.remediated.length > 0)",
    "if (planned && planned.remediated.length > 99)",
    "sandbox/inputs",
    "that a policy remediates",
  ],
  [
    "what a search finds has the name and owner that were sent",
    "operations/create.ts",
    'if (other === undefined) return { kind: "found"',
    'return { kind: "found"',
    "sandbox/search",
    "is no find",
  ],
  [
    "what an earlier run made is taken over, and not sent",
    "plan/plan-create.ts",
    "if (made) return {",
    'if (made?.id === "") return {',
    "sandbox/set",
    "the next run takes over what was created",
  ],
  [
    "what may be an open create under another name is not sent",
    "plan/plan-create.ts",
    'if (namesake) return { do: "refused", namesake };',
    "",
    "sandbox/resolve-first",
    "one that was answered: the preview stops as the up does",
  ],
  [
    "an interrupted run's creates are known by Pulumi's record alone",
    "record/saved-state.ts",
    "pending.toReversed().map((each) => readOperation(each, byName))",
    "[] as ListedCreate[]",
    "sandbox/record",
    "without its disk, 1 times",
  ],
  [
    "of a journal that may be another state's, nothing is taken over",
    "plan/open-creates.ts",
    "isDoubtful = saved !== undefined && !isOfState(journal, saved)",
    "isDoubtful = false",
    "sandbox/record",
    "two states with the same guessed place",
  ],
  [
    "a run that repeats an interrupted one hides none of its creates",
    "plan/open-creates.ts",
    "isNeverSent = isFirstSending(create) && entriesOf",
    "isNeverSent = entriesOf",
    "sandbox/record",
    "without its disk, and again with its disk",
  ],
  [
    "an operation that sends a create again says so",
    "operations/plan-resource.ts",
    "[MARKS]: isSending && (isNew || isSet) ? await keptMarks(plan) : undefined,",
    "[MARKS]: undefined,",
    "sandbox/record",
    "is found by the mark of the first sending",
  ],
  [
    "an incomplete set's inputs name the run that sends what is missing",
    "operations/plan-resource.ts",
    "(isChanged || isSet)",
    "isChanged",
    "sandbox/record",
    "a set that is incomplete",
  ],
  [
    "what a machine knows never to have been sent is over on every machine",
    "operations/apply.ts",
    'if (!resolved.has(mark)) resolved.set(mark, "");',
    ";",
    "sandbox/record",
    "before it sent anything: its disk shows that",
  ],
  [
    "an id that another resource has proves nothing about a create",
    "operations/create.ts",
    "if (conflict === undefined) return created(answer.id);",
    "return created(answer.id);",
    "sandbox/resolve-first",
    "C7",
  ],
  [
    "a create that no search finds counts as not made only once it can no longer arrive",
    "operations/create.ts",
    "!wasJustSent && passedMs >= waitMs",
    "!wasJustSent",
    "sandbox/search",
    "the next run sends it, with its mark, once it can no longer arrive",
  ],
  [
    "an object that another machine has just made is not gone",
    "operations/execute.ts",
    "platformNow() ?? isoNow(clock)",
    "isoNow(clock)",
    "sandbox/operations",
    "soon after its create",
  ],
  [
    "a create that was about to be sent when the session ended is noted again",
    "client/session.ts",
    "await beforeSend(new Date(notedAtMs).toISOString());",
    "if (!isResend) await beforeSend(new Date(notedAtMs).toISOString());",
    "unit/session",
    "S2",
  ],
  // No id lost
  [
    "with checkpoints off, what a clean run has created is still known",
    "journal/journal.ts",
    "if (this.of.hasCheckpoints !== false) this.#needed.delete(mark);",
    "this.#needed.delete(mark);",
    "unit/journal",
    "made and returned, with checkpoints off",
  ],
  [
    "after a destroy, an earlier export says what is live",
    "cli/contents.ts",
    "return objectsIn(resources).map((each) => formerly(each, why));",
    "return objectsIn(resources).filter(isReplaced).map((each) => formerly(each, why));",
    "unit/tools",
    "after a destroy all ids are listed",
  ],
  // A preview finds all that is wrong
  [
    "one copy of the package in a program",
    "program/program.ts",
    "if (copies.size < 2) return;",
    "if (copies.size < 3) return;",
    "unit/copies",
    "of two, the error names both folders",
  ],
  // One login
  [
    "one login for all",
    "client/session.ts",
    "if (this.#loggingIn) return",
    "if (this.#hasFailed && this.#loggingIn) return",
    "sandbox/session",
    "S3",
  ],
  // Reads, deletes
  [
    "an object counts as gone only if the operation has found another one",
    "client/client.ts",
    'const isProved = verdict.kind === "gone" && proof.hasWorked;',
    'const isProved = verdict.kind === "gone";',
    "unit/witness",
    "a read that has found nothing yet proves nothing",
  ],
  [
    "an object that something goes on with is not deleted",
    "operations/deployment.ts",
    "return this.#after.has(object) || this.#adopted.has(object);",
    "return false;",
    "sandbox/holding",
    "an object moves to a new one",
  ],
  [
    "nothing is deleted that another resource has in the state",
    "operations/execute.ts",
    "if (others.size > 0) return alsoBelongsTo([...others]);",
    "if (others.size > 99) return alsoBelongsTo([...others]);",
    "sandbox/record",
    "a destroy of one of two",
  ],
  [
    "nothing is deleted without a record that shows this run's own",
    "operations/run-record.ts",
    "if (this.#isBelieved) return saved;",
    "return saved;",
    "sandbox/record",
    "without a record that shows the delete itself",
  ],
  // Of single functions
  [
    "nothing is written long after it was noted",
    "client/transport.ts",
    "!hasTimedOut && !isTooLate()",
    "!hasTimedOut",
    "sandbox/faults",
    "while it connects: no byte leaves",
  ],
  [
    "no connection is used again once the other side has closed one unannounced",
    "client/transport.ts",
    "agent = agentOf(0);",
    "agent = agentOf(1);",
    "sandbox/faults",
    "once seen, each request has its own connection",
  ],
  [
    "a create is not sent again after a reset",
    "client/decide-retry.ts",
    "const mayRepeat = idempotent && ",
    "const mayRepeat = ",
    "unit/retry",
    "ECONNRESET after sending: never",
  ],
  [
    "an answer that says no anywhere proves no create",
    "client/classify-response.ts",
    "objectionIn(answer, FIELD.created, noun, sent) ??\n",
    "",
    "unit/answers",
    "a create",
  ],
  [
    "secrets are masked",
    "base/secrets.ts",
    "scrubbed += text.slice(done, start) + MASK;",
    "scrubbed += text.slice(done, end);",
    "unit/secrets",
    "a secret is removed as it is",
  ],
];

export const controls: readonly Control[] = rows.map(
  ([promise, file, from, to, test, named]) => ({
    promise,
    file,
    from,
    to,
    test,
    named,
  }),
);
