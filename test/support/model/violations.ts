/** Violations of promises, each a one-line change of the product that `test/model/violations.test.ts` puts back. */
import type { Mutation } from "../mutation.js";

const rows: readonly (readonly [what: string, file: string, from: string, to: string])[] = [
  [
    "no note before sending",
    "operations/create.ts",
    "await journal.recordSending({ ...record, ...ours, at });",
    "",
  ],
  [
    "what was made is not believed",
    "operations/create.ts",
    'entry.state === "confirmed"',
    `entry.state !== "sent"`,
  ],
  [
    "a lost answer: not created",
    "operations/create.ts",
    "if (error instanceof OutcomeUnknownError) return",
    "if (error instanceof OutcomeUnknownError && label === '') return",
  ],
  ["no guard by name", "operations/create.ts", "return open && {", "return undefined && {"],
  [
    "what another has is taken over",
    "operations/create.ts",
    "(id) => {\n      conflict = ownershipConflict(runtime, task, id);",
    "(id) => {\n      conflict = undefined;",
  ],
  [
    "two stacks share a journal",
    "journal/places.ts",
    "digestOf(backend, stack, provider)",
    "digestOf(backend, provider)",
  ],
  [
    "a note is not synced before it counts",
    "journal/journal-file.ts",
    "this.#disk.fsyncSync(file);",
    "",
  ],
  [
    "an answer about one is another's too",
    "operations/refresh.ts",
    "const id = answers[record.mark];",
    "const [id] = Object.values(answers);",
  ],
  [
    "what a clean run has made is forgotten at its end",
    "journal/journal.ts",
    "({ key, id }) => ({ ...common, key, id })",
    "({ key }) => closedLine(key)",
  ],
  [
    "a search that finds none: sent again at once",
    "operations/create.ts",
    "if (isDue) return",
    "if (ids.length === 0) return",
  ],
  [
    "Pulumi's record of an interrupted update is not read",
    "cli/pending-facts.ts",
    `!isNew && !(type === "updating" && isSet)`,
    "!isNew",
  ],
];

export const violations: readonly (Mutation & { readonly what: string })[] = rows.map(
  ([what, file, from, to]) => {
    return { what, file, from, to };
  },
);
