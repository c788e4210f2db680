/**
 * Violations of the nine rules of docs/guarantees.md that were once seen where features meet, each as a change of a line that puts it
 * back. `test/model/violations.test.ts` checks that the model of a whole stack finds them.
 */
import type { Mutation } from "./mutation.js";

export interface Violation extends Mutation {
  readonly rule: string;
  /** What the product does with the change. */
  readonly what: string;
  /** `npm test` tries it too. @default false */
  readonly isQuick?: boolean;
}

type Row = readonly [rule: string, what: string, file: string, from: string, to: string];

const EVIDENCE = "client/evidence.ts";
const HOLDERS = "decision/holders.ts";

const rows: Row[] = [
  [
    "R1",
    "a read answered with an empty list and a warning: gone",
    EVIDENCE,
    "    else if (!isHarmless(leaf, status, noun)) return false;\n",
    "",
  ],
  [
    "R1",
    "`success: 0` counts as true",
    EVIDENCE,
    `new Set([true, 1, "true", "1"])`,
    `new Set([true, 1, "true", "1", 0])`,
  ],
  [
    "R1",
    "a 410 about something else: gone",
    EVIDENCE,
    "return recordsIn(answer.data, noun).length === 0 && spoken(answer).every((each) => isWord(each, answer, noun));",
    "return recordsIn(answer.data, noun).length === 0;",
  ],
  [
    "R1",
    "a bare 404 without a witness: gone",
    EVIDENCE,
    "isMissing(answer) && isBare(answer, noun),\n      needsWitness: true,",
    "isMissing(answer) && isBare(answer, noun),",
  ],
  [
    "R1",
    "`Could not load event 1001: you are not allowed to see it`: gone",
    EVIDENCE,
    String.raw`found| exists)?)\\.?$`,
    "found| exists)?)",
  ],
  [
    "R1",
    "`can not be deleted: pixel 7 was not found`: gone",
    EVIDENCE,
    `absence.test(text.trim().replaceAll("_", " ")) &&`,
    "(/ was not found$/.test(text.trim()) || absence.test(text.trim())) &&",
  ],
  [
    "R1",
    "a search answered with an empty list and a warning: none",
    "client/judgement.ts",
    `if (proves("none", answer, { noun }) !== undefined) return`,
    "if (records.length === 0) return",
  ],
  [
    "R1",
    "202 or 207 count as done",
    EVIDENCE,
    "(answer.status === 200 || answer.status === 201) &&",
    "answer.status >= 200 && answer.status < 300 &&",
  ],
  ["R1", "a change answered about another object: done", EVIDENCE, " && idsIn(answer.data, noun).length === 0", ""],
  ["R1", "a create answered with `success: 0` and an id: created", EVIDENCE, " && !saysNoAnywhere(answer)", ""],
  ["R1", "`Could not load object 1003 to delete` is not understood", EVIDENCE, "( to (delete|update|load|read))?", ""],
  [
    "R1",
    "created a short time ago and not found: gone",
    "decision/decide.ts",
    "createdMs + (operations?.createdVisibleAfterSeconds ?? 0) * 1000",
    "createdMs",
  ],
  [
    "R1",
    "an object of which a delete was sent counts as live",
    "provider/known-operations.ts",
    "!isDeclared || former !== undefined || !seen.isDeleteSent(kind.name, id) || run.isUnseen(kind, id)",
    "true",
  ],
  [
    "R1",
    "an object of which an update was sent counts as unchanged",
    "provider/holding.ts",
    "const names = seen.unsureOf(kind.name, id, fingerprint);",
    "const names: string[] = [];",
  ],
  [
    "R2",
    "an object is known by its id alone",
    "state/identity.ts",
    `return \`\${kind} \${id}\`;`,
    "return kind.slice(0, 0) + id;",
  ],
  [
    "R2",
    "an adoption settles a create of the other kind",
    "provider/known-operations.ts",
    "aboutWhom(sent.key).kind === kind.name &&",
    'aboutWhom(sent.key).kind !== "" &&',
  ],
  [
    "R2",
    "an id that a journal knows as another's is taken",
    "tools/pending-answers.ts",
    "return inJournal &&",
    "return undefined && inJournal &&",
  ],
  [
    "R2",
    "an object that another resource manages is adopted",
    HOLDERS,
    ".filter(isAsked)",
    ".filter((each) => isAsked(each) && but === undefined)",
  ],
  [
    "R2",
    "an object that a search finds is taken over, even if another resource has it",
    "provider/create.ts",
    "if (owner === undefined) id = finding.id;",
    `if (owner !== "") id = finding.id;`,
  ],
  [
    "R2, R5",
    "a set deletes what another resource has adopted",
    "decision/decide.ts",
    "isAsked && !holders.goesOn(kind.name, id, by(key));",
    "isAsked && id !== by(key);",
  ],
  [
    "R3",
    "a command imports without exporting a second time",
    "tools/change-stack.ts",
    "if (now === text) return",
    `if (now !== "") return`,
  ],
  [
    "R3",
    "two commands at once",
    "tools/change-stack.ts",
    "if (error instanceof LockHeld) throw underWay(error.holder);",
    "if (error instanceof LockHeld) return this.#hold(rest, work);",
  ],
  [
    "R3",
    "two commands at once, on two machines",
    "tools/change-stack.ts",
    "if (last === own) return;",
    `if (last !== "") return;`,
  ],
  [
    "R3",
    "`relocate` leaves the journal under the old address",
    "tools/relocate.ts",
    "before: () => moveNotes(moves),",
    "before: () => moveNotes(moves.slice(0, 0)),",
  ],
  [
    "R3",
    "`relocate` leaves the journal under the old address if the new one has one",
    "tools/relocate.ts",
    "(current === undefined ? former : joinedJournals(former, current))",
    "current ?? former",
  ],
  [
    "R4",
    "an adoption settles a create with the same name of any advertiser",
    "decision/changes.ts",
    ", ...sent.facts });",
    " });",
  ],
  [
    "R4",
    "an adoption of a different object settles a create",
    "decision/changes.ts",
    "return isPlain(now) && now",
    "return !isPlain(then) && isPlain(now) && now",
  ],
  [
    "R5",
    "the engine's delete is sent even if another resource has the object",
    "provider/holding.ts",
    "if (mayBeNamed || isNamed || run.holders.goesOn(kind.name, id, undefined, member)) {",
    "if (mayBeNamed) {",
  ],
  [
    "R5",
    "a set deletes objects with retainOnDelete",
    "provider/set-run.ts",
    "const isDeleting = inputs[DELETES] === true && ",
    "const isDeleting = inputs[DELETES] !== false && ",
  ],
  [
    "R6",
    "what was sent again counts by its first sending",
    "state/create-record.ts",
    "return { ...first, at: latest.at(-1) ?? first.at, ...(isEarliest && { isEarliest }) };",
    "return first;",
  ],
  [
    "R7",
    "two runs of a set with an edit in between send different marks",
    "provider/search.ts",
    'before ? "next" : keys',
    "JSON.stringify(values)",
  ],
  ["R6", "not found counts as not made at once", "provider/search.ts", " && runtime.clock.wallMs() >= dueMs", ""],
  [
    "R6",
    "the time for not made starts at the engine's note, before the waits",
    "state/create-record.ts",
    "return isEarliest === true || Number.isNaN(sentMs) ? nowMs : sentMs;",
    "return Number.isNaN(sentMs) ? nowMs : sentMs;",
  ],
  [
    "R7",
    "only one of several records' marks is searched for",
    "tools/pending-search.ts",
    "recordsOf(create).map((record) => look",
    "recordsOf(create).slice(0, 1).map((record) => look",
  ],
  [
    "R7",
    "several records of one resource count as several resources",
    "tools/pending-facts.ts",
    "Map.groupBy(left, ({ urn }) => urn).values()",
    "Map.groupBy(left, (each) => each).values()",
  ],
  [
    "R8",
    "events of two advertisers have the same arguments",
    "program/declaration.ts",
    `\`\${kind.name} \${textOf(values)}\``,
    `\`\${kind.name} \${platformName}\``,
  ],
  [
    "R1",
    "an object that was deleted elsewhere is taken over",
    "provider/create.ts",
    ": isFound || !(await isProvenGone(kind, runtime, named));",
    ": true;",
  ],
  [
    "R5",
    "an object that its resource had adopted is deleted, although the program names it for another one",
    "provider/holding.ts",
    "if (isToBeAdopted && !isNamed && runtime.rememberedOf(kind.name, id).length === 0)",
    `if (isToBeAdopted && id === "")`,
  ],
  ["R9", "a removed object is not reported", "program/batch.ts", "...removalWarnings(unused, becomes),", ""],
  [
    "R9",
    "objects that a failed program did not declare are forgotten",
    "provider/services.ts",
    "const isWhole = learnLater() && run.isWhole && !run.hasFailed;",
    "const isWhole = run.isWhole && !run.hasFailed;",
  ],
  [
    "R9",
    "objects that the engine refused to remove are forgotten",
    "store/inventory.ts",
    "const isOver = decisive.every(",
    "const isOver = decisive.slice(0, 0).every(",
  ],
];

/** Found within a few lives. */
const QUICK = new Set(["an object is known by its id alone", "events of two advertisers have the same arguments"]);

export const violations: readonly Violation[] = rows.map(([rule, what, file, from, to]) => ({
  rule,
  what,
  file,
  from,
  to,
  isQuick: QUICK.has(what),
}));
