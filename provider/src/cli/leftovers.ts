/** `pulumi-advertising leftovers`: what is live and no longer managed, by the state, this machine's journal, and exports. */
import { count, printable } from "../base/index.js";
import {
  backendIn,
  deletedObjects,
  everyJournal,
  isOpen,
  type JournalEntry,
  journalFolder,
} from "../journal/index.js";
import { parseKey } from "../state/index.js";
import {
  type ExportedStack,
  type Leftover,
  leftoversOf,
  stackNamesIn,
} from "./contents.js";
import {
  chosen,
  command,
  csvOf,
  type Formats,
  jsonOf,
  type StackChoice,
  write,
} from "./harness.js";
import { programFolder, STATE_HELP, STATE_OPTIONS, stackName, stateOf } from "./pulumi.js";

const LEFTOVERS_HELP = `Usage: pulumi-advertising leftovers [options]

Lists what this stack left live: objects that were replaced, or left a set, and what this
machine's journal knows; with --before also what left the state since then.

  --before EXPORT        an earlier export or a backend's checkpoint file; several times
  --format FORMAT        text (default), json or csv
  --out FILE             writes to FILE
${STATE_HELP}`;

export const leftoversCommand = command({
  help: LEFTOVERS_HELP,
  options: {
    before: { type: "string", multiple: true, default: [] as string[] },
    format: { type: "string", default: "text" },
    ...STATE_OPTIONS,
  },
  run: async ({ before, format, out, ...choice }) => {
    const inFormat = chosen(LEFTOVER_FORMATS, format, "format");
    const now = await stateOf(choice);
    const names: (string | undefined)[] = stackNamesIn(now);
    // A state that was destroyed does not say whose it is.
    if (names.length === 0 && choice.state === undefined)
      names.push(await stackName(choice));
    const earlier: ExportedStack[] = [];
    for (const file of before) {
      const state = await stateOf({ state: file }); // one by one: standard input is there once
      const [name] = stackNamesIn(state);
      // People deactivate what is listed, so another stack's state must not count as an earlier one of this stack.
      if (name !== undefined && names[0] !== undefined && !names.includes(name))
        throw new Error(`${file} is a state of the stack ${name}, not of ${names[0]}`);
      earlier.push(state);
    }
    const noted = choice.state === undefined ? notedHere(names, choice) : [];
    return write(inFormat(leftoversOf(now, earlier, noted)), out);
  },
});

/** What this machine's journals had in the state. They don't know what other machines have deleted. */
function notedHere(
  stacks: readonly (string | undefined)[],
  choice: StackChoice,
): JournalEntry[] {
  const folder = journalFolder();
  const backend = backendIn(process.env, programFolder(choice));
  const own = everyJournal(folder).filter(
    (each) => each.backend === backend && stacks.includes(each.stack),
  );
  const records = own.flatMap((each) => [...each.records.values()]);
  const byAccount = Map.groupBy(records, ({ account = "" }) => account);
  return [...byAccount].flatMap(([account, those]) => {
    const deleted = deletedObjects(folder, account, (each) => each === account);
    // What is open, `pending` lists.
    const known = those.filter((each) => each.state !== "closed" && !isOpen(each));
    return known.filter(({ key, id = "" }) => !deleted.has(parseKey(key).kind, id));
  });
}

const COLUMNS = ["kind", "id", "name", "key", "at", "why"] as const;

export const LEFTOVER_FORMATS: Formats<readonly Leftover[]> = {
  text: (leftovers) => {
    if (leftovers.length === 0)
      return "The state has no object that stays live and unmanaged.\n";
    const lines = leftovers.map(({ kind, id, name, key, at, why }) => {
      return `  ${printable(`${kind} ${id} "${name}" of ${key}: ${why} ${at}`)}\n`;
    });
    return (
      `${count(leftovers.length, "object")} that this stack no longer manages. Tags keep firing ` +
      "their ids: if no other stack manages them, deactivate them in the platform's own " +
      `interface.\n${lines.join("")}`
    );
  },
  json: (leftovers) => jsonOf({ leftovers }),
  csv: (leftovers) =>
    csvOf([COLUMNS, ...leftovers.map((each) => COLUMNS.map((name) => each[name]))]),
};
