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
    'await this.#write({ ...record, state: "sent" }, "Nothing was sent. ");',
    'void this.#write({ ...record, state: "sent" }).catch(() => undefined);',
    "unit/disk",
    "M1, M2",
  ],
  [
    "a note is synced before it counts",
    "journal/journal-file.ts",
    "this.#disk.fsyncSync(file);",
    "",
    "unit/disk",
    "M1, M2",
  ],
  [
    "one run at a time writes a stack's journal",
    "journal/journal-file.ts",
    "    this.#lock.assertHeld();\n",
    "",
    "sandbox/journal-file",
    "one that has lost it to another machine",
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
    "what an earlier run made is taken over, and not sent",
    "operations/create.ts",
    "if (entry?.id !== undefined) return takeOver(",
    "if (entry?.id === null) return takeOver(",
    "sandbox/set",
    "the next run takes over what was created",
  ],
  [
    "what may be an open create under another name is not sent",
    "operations/create.ts",
    "return open && {",
    "return undefined && {",
    "sandbox/resolve-first",
    "one that was answered: the preview stops as the up does",
  ],
  [
    "a stack that was renamed does not make again what it has sent",
    "operations/create.ts",
    "if (elsewhere) return true;",
    "if (elsewhere) return false;",
    "sandbox/resolve-first",
    "is stopped by its namesake of a killed run",
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
    "a search counts as not made only after the last moment at which it could have been sent",
    "operations/create.ts",
    " && searchContext.clock.wallMs() >= dueMs",
    "",
    "sandbox/search",
    "the next run sends it, with its mark, once it can no longer arrive",
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
    "({ ...common, key, id })",
    "closedLine(key)",
    "unit/journal",
    "at a clean end only what this engine was given is reported",
  ],
  [
    "after a destroy, an earlier export says what is live",
    "cli/contents.ts",
    "found.push(...objectsIn(resources).map((each) => formerly(each, why)));",
    "found.push(...objectsIn(resources).filter(isReplaced).map((each) => formerly(each, why)));",
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
  // Of single functions
  [
    "nothing is written long after it was noted",
    "client/transport.ts",
    "this.#timedOut || this.isTooLate()",
    "this.#timedOut",
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
    "objectionIn(data, SAYS_CREATED, noun, sent) ??\n",
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
