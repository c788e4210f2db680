/**
 * What the product promises, a change of one line that breaks each promise, and the tests that then turn red. `test/package/controls.test.ts`
 * makes the changes in a copy of the source.
 */
export interface Control {
  /** What holds until it is taken away; rules and invariants by their numbers. */
  readonly promise: string;
  /** Below `provider/src`. */
  readonly file: string;
  /** It stands there once. */
  readonly from: string;
  readonly to: string;
  /** Below `test`, without its ending. */
  readonly test: string;
  /** A part of the name of each test that must turn red. */
  readonly named: string;
  /** Its test starts processes, which run what is built. @default false */
  readonly isBuilt?: boolean;
  /** It is tried by `npm test` too. @default false */
  readonly isQuick?: boolean;
}

type Row = readonly [promise: string, file: string, from: string, to: string, test: string, named: string];

const JOURNAL = "store/journal.ts";
const JOURNAL_FILE = "store/journal-file.ts";
const LIFE = "J1, J2, J5: a long life";

const rows: Row[] = [
  // The journal
  [
    "J1: a create is noted before it is sent",
    JOURNAL,
    "await this.#write(sentNote(record));",
    "void this.#write(sentNote(record)).catch(() => {});",
    "unit/disk",
    LIFE,
  ],
  [
    "J1: a note is synced before it counts",
    "files/append-file.ts",
    "await this.#handle.datasync();",
    "",
    "unit/disk",
    LIFE,
  ],
  [
    "J1: the journal's name is synced before anything is noted in it",
    JOURNAL_FILE,
    "syncFolder(dirname(this.path), disk);",
    "",
    "unit/disk",
    LIFE,
  ],
  [
    "J1: so is its folder's own name",
    "files/private-file.ts",
    "if (dirname(folder) !== folder) syncFolder(dirname(folder), disk);",
    "",
    "unit/disk",
    LIFE,
  ],
  [
    "J1: what is sent again is noted again, with its moment",
    "client/session.ts",
    "await beforeSend(new Date(notedAtMs).toISOString());",
    "if (!isResend) await beforeSend(new Date(notedAtMs).toISOString());",
    "unit/session",
    "S2",
  ],
  [
    "J2: an unresolved create stays in the journal",
    JOURNAL,
    "await this.#noteReported(sent.record);\n      return;",
    "return this.#forget(mark);",
    "unit/journal",
    "J3: a create that ended in doubt",
  ],
  [
    "J2: what a person has settled does not come back",
    "files/private-file.ts",
    "disk.renameSync(temporary, path);\n  syncFolder(dirname(path), disk);",
    "disk.renameSync(temporary, path);",
    "unit/disk",
    LIFE,
  ],
  [
    "J2: a file that is replaced for good is whole",
    "files/private-file.ts",
    "    disk.fsyncSync(file);\n  } finally {",
    "  } finally {",
    "unit/disk",
    LIFE,
  ],
  [
    "J2: a replacement that was sent is no history of what it was to replace",
    JOURNAL,
    " && record.replaces !== id",
    "",
    "unit/journal",
    "J2: a replacement with the same body",
  ],
  [
    "J3: nothing is sent while an earlier create of it is open",
    JOURNAL,
    "if (earlier === undefined) {",
    "if (earlier?.id === undefined) {",
    "unit/journal",
    "J3: a create that ended in doubt",
  ],
  [
    "J4: it asks before each write",
    "files/append-file.ts",
    "this.#confirm();\n        await this.#put",
    "await this.#put",
    "sandbox/journal-file",
    "has lost it: no note counts",
  ],
  [
    "J4: a journal that was removed is noticed",
    JOURNAL_FILE,
    "if (isInPlace(handle, this.path, disk)) return;",
    "return;",
    "sandbox/journal-file",
    "whose journal was removed",
  ],
  [
    "J5: a run that was overtaken sends nothing",
    JOURNAL_FILE,
    "if (this.#overtaking !== undefined) {",
    "if (this.#overtaking === null) {",
    "unit/disk",
    LIFE,
  ],
  [
    "J6: a damaged line stops every create",
    "store/notes.ts",
    "if (!note.success) throw",
    "if (!note.success) continue;\n    if (!note.success) throw",
    "unit/journal",
    "J6: is never silently passed over",
  ],
  [
    "J6: an empty journal is a damaged one",
    "store/notes.ts",
    `if (text === "" || `,
    "if (",
    "unit/journal",
    "J6: is never silently passed over",
  ],
  [
    "J7: what the engine saves last of all stays",
    JOURNAL,
    "const unseen = this.#savedLast ? handed : [];",
    "const unseen = handed.slice(0, 0);",
    "unit/journal",
    "J7: what the engine saves last of all",
  ],
  [
    "J7: what was not handed over stays at a clean end",
    JOURNAL,
    `["earlier", "sent"]);\n        const handed`,
    `["earlier"]);\n        const handed`,
    "unit/journal",
    "J7: what was created and not yet handed",
  ],
  [
    "J8: a record is not changed in place",
    JOURNAL,
    "this.#put({ ...sent.record, ...changed, id }, sent.fate);",
    "this.#put(Object.assign(sent.record, changed, { id }), sent.fate);",
    "unit/journal",
    "J8",
  ],
  [
    "an inventory that was torn is read on",
    "store/inventory.ts",
    "if (!this.#isWhole && !isWhole(readHints(this.#path, this.#disk))) this.#rewrite();",
    "",
    "unit/disk",
    LIFE,
  ],
  // One create
  [
    "C1: a create is sent only once its note is on the disk",
    "provider/create.ts",
    "await attempt.sending(at);",
    "await attempt.sending(at).catch(() => undefined);",
    "sandbox/journal-file",
    "a full disk when it is noted",
  ],
  [
    "C2: an earlier create of it is settled first",
    "provider/create.ts",
    `      return { kind: "created", id: begun.id, mark: begun.mark, isTakenOver: true };`,
    `      return send(kind, runtime, create, record, fields, { sending: async () => undefined, ended: async () => undefined }, expectMayBegin);`,
    "sandbox/lifecycle",
    "C2",
  ],
  [
    "C3: what is sent again carries the mark of before",
    "provider/create.ts",
    "{ ...create, mark: sent.mark, unsettled: undefined }",
    "{ ...create, unsettled: undefined }",
    "sandbox/search",
    "C2, C3",
  ],
  [
    "C4: a defect of ours after the sending leaves it unresolved",
    "provider/create.ts",
    "if (error instanceof AdvertisingError || sentAt === undefined) return undefined;",
    "if (error instanceof Error) return undefined;",
    "sandbox/lifecycle",
    "C4",
  ],
  [
    "C5: its end is noted",
    "provider/create.ts",
    `finish({ kind: "created", id }, \`\${label} was created as \${id}. \`),\n    });`,
    "Promise.resolve(),\n    });",
    "sandbox/search",
    "C5",
  ],
  [
    "C6: a create in doubt that the engine asks for again is not sent",
    JOURNAL,
    `const ANY_NOT_SETTLED: readonly Fate[] = ["earlier", "sent", "handed beside an error"];`,
    `const ANY_NOT_SETTLED: readonly Fate[] = ["earlier"];`,
    "unit/journal",
    "J3: a create that ended in doubt",
  ],
  [
    "C6: what was created beside an error is not sent when the engine asks again",
    JOURNAL,
    `if (!this.#savedLast) this.#settleAs(mark, "handed beside an error");`,
    "this.#drop(mark);",
    "sandbox/set",
    "as its error hooks do",
  ],
  // The session and the connection
  [
    "S1: what was about to be sent when the session ended is not sent on it",
    "client/session.ts",
    "if (!lease.hasEnded) return",
    "return",
    "unit/session",
    "S1",
  ],
  [
    "S3: one login for all",
    "client/session.ts",
    "if (this.#loggingIn !== undefined) {",
    "if (this.#hasFailed && this.#loggingIn !== undefined) {",
    "sandbox/session",
    "S3",
  ],
  [
    "S6: what is sent because of an answer waits for its cookies",
    "client/session.ts",
    "void kept.then(() =>",
    "void DONE.then(() =>",
    "unit/session",
    "S6",
  ],
  [
    "T2: what was written is not called unsent",
    "client/transport.ts",
    "    this.#sent = true;\n",
    "",
    "sandbox/faults",
    "row 6",
  ],
  [
    "T5: an idle connection is given up",
    "client/transport.ts",
    "const MAX_IDLE_MS = 1000;",
    "const MAX_IDLE_MS = 60_000;",
    "sandbox/faults",
    "T5",
  ],
  // The lock
  [
    "L2: a holder that lives keeps its lock",
    "files/lock.ts",
    `if (fate !== "elsewhere") return { kind: fate === "dead" ? "stale" : "held", content };`,
    `if (fate === "dead") return { kind: "stale", content };`,
    "sandbox/lock",
    "L2, L3",
  ],
  [
    "L3: a process number that was given out again is not taken for the holder's",
    "files/process-identity.ts",
    `if (isCertain && holder.started !== status.started) return { kind: "dead" };`,
    "",
    "sandbox/lock",
    "another process was given its number",
  ],
  [
    "L4: a heartbeat keeps another machine's lock",
    "files/lock.ts",
    `const sign = \`\${heartbeatMs} \${content}\`;`,
    "const sign = content;",
    "sandbox/lock",
    "keeps it with a heartbeat",
  ],
  [
    "L5: the heartbeat keeps nobody else's lock alive",
    "files/lock.ts",
    "if (!isHeld()) return clearInterval(timer);",
    "",
    "sandbox/lock",
    "L5",
  ],
  [
    "L5: another holder's lock is not released",
    "files/lock.ts",
    "        removeIfStill(path, content, disk);\n      } catch {",
    "        disk.rmSync(path, { force: true });\n      } catch {",
    "sandbox/lock",
    "L5",
  ],
  [
    "L6: a stale lock is looked at again before it is removed",
    "files/lock.ts",
    `if (seen.kind === "stale" && readNow(guard, disk) === this.content) removeIfStill`,
    `if (seen.kind === "stale") removeIfStill`,
    "sandbox/lock",
    "L6",
  ],
  [
    "L7: a lock is whole from its first moment on",
    "files/private-file.ts",
    "    writeNew(temporary, content, disk);\n",
    `    writeNew(temporary, "", disk);\n`,
    "sandbox/lock",
    "L7",
  ],
  // Rules
  [
    "R1: a bare 404 counts with a witness only",
    "client/evidence.ts",
    "isMissing(answer) && isBare(answer, noun),\n      needsWitness: true,",
    "isMissing(answer) && isBare(answer, noun),",
    "unit/evidence",
    "gone, of a read",
  ],
  [
    "R1: an empty list counts only where all else is harmless",
    "client/evidence.ts",
    "    else if (!isHarmless(leaf, status, noun)) return false;\n",
    "",
    "unit/evidence",
    "none, of a search",
  ],
  [
    "R1: 202 proves no create",
    "client/evidence.ts",
    "(answer.status === 200 || answer.status === 201) &&",
    "answer.status >= 200 && answer.status < 300 &&",
    "unit/evidence",
    "created",
  ],
  [
    "R1: an answer that says no anywhere proves no create",
    "client/evidence.ts",
    ` && !saysNoAnywhere(answer)`,
    "",
    "unit/evidence",
    "created",
  ],
  [
    "R2: an object is known by its kind and its id",
    "state/identity.ts",
    `return \`\${kind} \${id}\`;`,
    "return kind.slice(0, 0) + id;",
    "unit/holding",
    "an advertiser and an event of one id",
  ],
  [
    "R2: an adoption settles no create of the other kind",
    JOURNAL,
    " && aboutWhom(record.key).kind === kind",
    "",
    "unit/journal",
    "adopting an object settles no create",
  ],
  [
    "R2: who has an object does not depend on the order of the calls",
    "decision/holders.ts",
    "STRENGTH.indexOf(how) >= STRENGTH.indexOf(before.how)",
    "true",
    "unit/holding",
    "holders",
  ],
  [
    "R2: an id that a journal knows as another's is refused",
    "tools/pending-verdicts.ts",
    "return inJournal &&",
    "return undefined && inJournal &&",
    "unit/pending-verdicts",
    "is refused",
  ],
  [
    "R3: the stack is exported again before the import",
    "tools/change-stack.ts",
    "if (now === text) return",
    `if (now === text || text !== "") return`,
    "unit/change-stack",
    "it is judged again",
  ],
  [
    "R3: a command is refused while a run holds the journal",
    "tools/stack-journals.ts",
    "if (error instanceof LockHeld) throw underWay(error.holder);",
    "if (error instanceof LockHeld) return this.#hold(rest, work);",
    "unit/change-stack",
    "while a run holds the journal",
  ],
  [
    "R3: the journal is moved before the state",
    "tools/relocate.ts",
    "before: () => moveNotes(notes),",
    "before: () => moveNotes(notes.slice(0, 0)),",
    "unit/change-stack",
    "relocate",
  ],
  [
    "R4: an adoption settles a create of its own advertiser only",
    "decision/same-object.ts",
    " &&\n    Object.entries(sent.facts ?? {}).every(([property, then]) => agrees(property, then))",
    "",
    "sandbox/holding",
    "an adoption settles a create under a former name only",
  ],
  [
    "R5: what something else still holds is not deleted",
    "decision/holders.ts",
    "    if (this.isAdopted(kind, id) || this.rivalsOf(kind, id, but).length > 0) return true;\n",
    "",
    "unit/holding",
    "spares an object",
  ],
  [
    "R6: not made only after the last moment at which it could have been sent",
    "provider/search.ts",
    " && runtime.clock.wallMs() >= dueMs",
    "",
    "sandbox/search",
    "has left none",
  ],
  [
    "R7: of several records all marks are looked for",
    "tools/pending-search.ts",
    "recordsOf(create).map((record) => look",
    "recordsOf(create).slice(0, 1).map((record) => look",
    "sandbox/pending-search",
    "of several runs",
  ],
  [
    "R7: of several records found by any is found",
    "tools/pending-search.ts",
    "} else if (first !== undefined) found.push",
    "} else if (first !== undefined && those.length === 1) found.push",
    "sandbox/pending-search",
    "of several runs",
  ],
];

/** Tried by `npm test` too. */
const quick: Row[] = [
  [
    "doubt is never resolved by sending: an unresolved resource stops",
    "state/create-record.ts",
    `return typeof stored === "object" && stored !== null;`,
    "return stored === null;",
    "unit/lifecycle",
    "stops diff, read and update with the same advice",
  ],
  [
    "T7: nothing is written long after it was noted",
    "client/transport.ts",
    "this.#timedOut || this.isTooLate()",
    "this.#timedOut",
    "sandbox/faults",
    "while it connects: no byte leaves",
  ],
  [
    "S1: a create is not sent again after a reset",
    "client/patient.ts",
    "const mayRepeat = repeatable && ",
    "const mayRepeat = ",
    "unit/patient",
    "ECONNRESET after sending: never",
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

/** These run the command as it is built. */
const BUILT = new Set(["unit/change-stack"]);

const controlOf = ([promise, file, from, to, test, named]: Row): Control => ({
  promise,
  file,
  from,
  to,
  test,
  named,
  isBuilt: BUILT.has(test),
});

export const controls: readonly Control[] = [
  ...rows.map(controlOf),
  ...quick.map((row) => ({ ...controlOf(row), isQuick: true })),
  {
    promise: "L1: there is a lock between processes",
    file: "files/private-file.ts",
    from: "      disk.linkSync(temporary, path);",
    to: "      disk.rmSync(path, { force: true });\n      disk.linkSync(temporary, path);",
    test: "sandbox/lock-processes",
    named: "one holder at a time among 8 processes",
    isBuilt: true,
    isQuick: true,
  },
];
