/** `pulumi-advertising pending`: lists and settles creates of unknown outcome. */
import { agree, asTyped, count, cut, enumerate, idRanges, momentOf, systemClock, UsageError } from "../base/index.js";
import { describe, MAX_LISTED, pendingCommand as typed, waysOut } from "../state/index.js";
import {
  backendIn,
  isOpen,
  type Line,
  memoryFolder,
  memoryPath,
  openOfOthers,
  type Records,
  readMemory,
  type StackPlace,
  takeOverFormer,
} from "../store/index.js";
import { type ExportedStack, stackNamesIn } from "./contents.js";
import { command, say } from "./harness.js";
import { note, readAnswers, settle } from "./pending-answers.js";
import { type Create, type Facts, factsIn, type Note, refOfKey } from "./pending-facts.js";
import { programFolder, STACK_HELP, STACK_OPTIONS, type StateChoice, stackName, stateOf } from "./pulumi.js";

const HELP = `Usage: pulumi-advertising pending [options]

Lists the creates whose outcome nobody knows: the unresolved ones in the state, those that only this machine's memory has,
and those that only Pulumi's record of an interrupted run has.

  --created X=ID         settles one: it was created, as ID; several times
  --not-created X        settles one: it was not created, and the next up creates it; several times
  --search               settles each other one that a search in advertising:operations finds or rules out
  --forget X             drops what this machine's memory has of a resource; several times
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name as listed, or a URN; for --not-created and --forget also the name of a set, for all its events.

Exit codes: 0 nothing is pending, 1 something is, 2 failed (for example, during a run).`;

const SEVERAL = { type: "string", multiple: true, default: [] as string[] } as const;

const OPTIONS = {
  created: SEVERAL,
  "not-created": SEVERAL,
  search: { type: "boolean", default: false },
  forget: SEVERAL,
  ...STACK_OPTIONS,
  state: { type: "string" },
} as const;

export const pendingCommand = command({
  help: HELP,
  options: OPTIONS,
  run: async ({ created, "not-created": notCreated, forget, search, ...choice }) => {
    const stack = await stateOf(choice);
    const place = await placeOf(stack, choice);
    const look = lookAt(stack, place);
    if (created.length + notCreated.length + forget.length === 0 && !search) return tell(look);
    if (choice.state !== undefined) throw new UsageError("--state only looks; to settle, leave it out");
    const { facts, formerly, elsewhere } = look;
    // The stack was renamed since its last run: its memory comes along, as in an `up`.
    for (const former of formerly) if (place) await takeOverFormer(former, place, { folder: memoryFolder() });
    // Otherwise an `up` that no longer declares these would ask for answers that this command does not take.
    const settledBefore = facts.settled.map(({ key, id, name }): Line => ({ key, state: "live", id, at: "", name }));
    await note(settledBefore, place);
    const { answers, forgotten } = readAnswers(
      { created, notCreated, forget },
      { ...facts, open: [...facts.open, ...elsewhere] },
    );
    const left = facts.open.filter((create) => !answers.some((answer) => answer.create === create));
    // Loaded here, since nothing else of this command needs the HTTP library.
    const searched = search ? await (await import("./pending-search.js")).searched(left, facts, choice) : [];
    const { settled, failed, after } = await settle([...answers, ...searched], facts, place, choice);
    for (const { of, ref } of elsewhere.filter((each) => settled.some(({ create }) => create === each)))
      await note([dropped(ref.key)], of);
    const dropping = forgotten.map(({ ref }) => dropped(ref.key));
    await note(dropping, place);
    for (const { create, id } of settled)
      console.log(`Settled as ${id === undefined ? "not created" : `created with id ${id}`}: ${create.ref.short}`);
    if (settled.some(({ id }) => id !== undefined))
      console.log("If an id was wrong, set existingId to the right one in the program.");
    for (const { ref, record } of forgotten)
      console.log(
        `Forgotten: ${ref.short}, ${record.id === undefined ? `sent at ${record.at}` : `created as ${record.id}`}`,
      );
    const code = tell(lookAt(after ?? stack, place));
    if (failed === undefined) return code;
    console.error(`Not all were settled: ${failed}`);
    return 2;
  },
});

interface Elsewhere extends Create {
  readonly of: StackPlace;
  readonly id: string | undefined;
  readonly isOpen: boolean;
}

interface Look {
  readonly facts: Facts;
  /** Whether the state has nothing of this package: only then may another stack be this one under its former name. */
  readonly isEmpty: boolean;
  /** The names under which the state's resources were registered, if the stack has another one now. */
  readonly formerly: readonly StackPlace[];
  /** Creates that are open in another stack, which may be this one under the name that it had: only an answer by name means them. */
  readonly elsewhere: readonly Elsewhere[];
}

/** Where this machine's memory of the stack is; none if nobody says which stack it is. */
async function placeOf(stack: ExportedStack, choice: StateChoice): Promise<StackPlace | undefined> {
  const name = choice.state === undefined ? await stackName(choice) : stackNamesIn(stack)[0];
  return name === undefined ? undefined : { backend: backendIn(process.env, programFolder(choice)), stack: name };
}

/** Reads only, so that it never waits for a run that is under way. */
function lookAt(stack: ExportedStack, place: StackPlace | undefined): Look {
  const names = stackNamesIn(stack);
  const isEmpty = names.length === 0;
  if (place === undefined) return { facts: factsIn(stack, undefined, undefined), isEmpty, formerly: [], elsewhere: [] };
  const formerly = names.filter((each) => each !== place.stack).map((each) => ({ ...place, stack: each }));
  const memories = [...formerly.toReversed(), place].flatMap((each) => memoryAt(each) ?? []);
  const memory = memories.length === 0 ? undefined : new Map(memories.flatMap((records) => [...records]));
  const facts = factsIn(stack, memory, place);
  // What this stack has by now is not meant.
  const held = [...facts.holders.values()].map(({ key }) => key);
  const known = new Set([...facts.open.map(({ ref }) => ref.key), ...held]);
  const elsewhere = openOfOthers(place, memoryFolder())
    .filter(({ key }) => !known.has(key))
    .map(({ stack: other, backend, ...record }): Elsewhere => {
      const [ref, of] = [refOfKey(record.key, place), { stack: other, backend }];
      return { ref, record, known: "record", formerIds: [], of, id: record.id, isOpen: isOpen(record) };
    });
  return { facts, isEmpty, formerly, elsewhere };
}

function memoryAt(place: StackPlace): Records | undefined {
  const path = memoryPath(place);
  try {
    return readMemory(path)?.records;
  } catch (error) {
    throw new Error(`the memory of this machine, ${path}, can't be used: ${(error as Error).message}`);
  }
}

/** The moment makes it an answer to Pulumi's record of an interrupted run too. */
function dropped(key: string): Line {
  return { key, state: "none", at: momentOf(systemClock) };
}

/** Lists what is pending. @returns the exit code. */
function tell({ facts: { open, made, notes }, isEmpty, elsewhere }: Look): number {
  const names = namesOf(open);
  const recorded = open.flatMap((each, index) => (each.known === "record" ? (names[index] ?? []) : []));
  const isHere = recorded.length > 0 && notes !== undefined;
  const isNone = open.length + (isEmpty ? elsewhere.length : 0) === 0;
  const lines = [
    isNone && "Nothing is pending.",
    open.length > 0 && `${count(open.length, "create")} may or may not have reached the platform:`,
    ...open.map(({ ref, record, or }, index) => {
      const other = or === undefined ? "" : `, or for ${describe(ref.kind, or)}`;
      return `  ${names[index]}: look in the account for ${describe(ref.kind, record)}${other}`;
    }),
    isHere && `If the interrupted run was on this machine, it did not send ${enumerate(recorded, MAX_LISTED)}.`,
    recorded.length > 0 && "A run that is still under way on another machine looks the same: let it end first.",
    ...(open.length > 0 ? waysOut(names) : []),
    made.length > 0 && tellMade(made),
    ...tellElsewhere(elsewhere.filter((each) => isEmpty || each.isOpen)),
  ];
  return say(lines.filter((line) => line !== false).join("\n"), isNone ? 0 : 1);
}

/** What an `up` stops at if it declares it: the stack may have had another name. */
function tellElsewhere(elsewhere: readonly Elsewhere[]): string[] {
  return [...Map.groupBy(elsewhere, ({ of }) => of.stack)].flatMap(([stack, all]) => {
    const names = namesOf(all);
    const answers = all.map(({ id = "<its id>" }, index) => `${names[index]}=${id}`);
    return [
      `Open in the stack ${stack}:`,
      ...all.map(({ ref, record, id }, index) => {
        const what = id === undefined ? `look in the account for ${describe(ref.kind, record)}` : `created as ${id}`;
        return `  ${names[index]}: ${what}`;
      }),
      "If that is this stack under its former name, answer for each here, as created or with --not-created:",
      `  ${typed("created", answers)}`,
    ];
  });
}

/** As short as it is clear, for lines and commands. */
function namesOf(open: readonly Create[]): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  return open.map(({ ref }) => (byShort.get(ref.short)?.length === 1 ? ref.short : ref.urn));
}

/** Every id is said: an interrupted run may leave thousands, which a range tells. */
function tellMade(made: readonly Note[]): string {
  const told = made.map(({ ref, record }) => `${ref.short} (${record.id})`);
  const rest = idRanges(made.slice(MAX_LISTED).flatMap(({ record }) => record.id ?? []));
  const names = enumerate(cut(told, MAX_LISTED, (others) => `${others} more (${rest})`));
  const accounts = [...new Set(made.flatMap(({ record }) => record.account || []))];
  const [where, others] =
    accounts.length === 0 ? ["", ""] : [` at ${enumerate(accounts)}`, "; with another account it does not"];
  const up = `The next \`${asTyped("pulumi up")}\`${where} takes ${agree(made.length, "it", "them")} over${others}.`;
  return `Created by earlier runs, and not in the state yet: ${names}. ${up}`;
}
