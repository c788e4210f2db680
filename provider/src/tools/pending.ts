/** `pulumi-advertising pending`: lists and settles creates of unknown outcome. */
import { agree, asTyped, count, cut, enumerate, idRanges, UsageError } from "../base/index.js";
import { describe, MAX_LISTED, toGoOnWith, waysOut } from "../state/index.js";
import {
  backendIn,
  memoryFolder,
  memoryPath,
  openOfOthers,
  type Records,
  readMemory,
  type StackPlace,
  takeOverFormer,
} from "../store/index.js";
import { command, type StackChoice, say } from "./harness.js";
import { type Answer, readAnswers } from "./pending-answers.js";
import { type Create, type Facts, factsIn, type Note, refOfKey } from "./pending-facts.js";
import { programFolder, STACK_HELP, STACK_OPTIONS, stackName, stateOf } from "./pulumi.js";
import { note, settle } from "./settle.js";
import { type ExportedStack, stackNamesIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising pending [options]

Lists the creates whose outcome nobody knows: the unresolved ones in the state, those that only this machine's memory has,
and those that only Pulumi's record of an interrupted run has.

  --created X=ID         settles one: it was created, as ID
  --not-created X        settles one: it was not created, and the next up creates it
  --search               searches for each other one by its mark, and settles it if the result is clear; needs a search in
                         advertising:operations, and creates nothing
  --forget X             drops what this machine's memory has of a resource
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name as listed, or a URN; for --not-created and --forget also the name of a set, for all its events. All but --search
may be given several times. What the state has is settled by \`pulumi refresh\` of those resources, the rest in this
machine's memory.

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
    const isAnswering = created.length + notCreated.length + forget.length > 0 || search;
    if (!isAnswering) return tell(await look(choice));
    if (choice.state !== undefined) throw new UsageError("--state only looks; to settle, leave it out");
    const { facts, place, formerly } = await look(choice);
    const others = elsewhere(facts, place);
    const known = { ...facts, open: [...facts.open, ...others] };
    const { answers, forgotten } = readAnswers({ created, notCreated, forget }, known);
    const left = facts.open.filter((create) => !answers.some((answer) => answer.create === create));
    // Loaded here, since nothing else of this command needs the HTTP library.
    const searched = async () => (await import("./pending-search.js")).searched(left, facts, choice);
    const all = [...answers, ...(search ? await searched() : [])];
    // After a rename of the stack, until its next run.
    for (const former of formerly) if (place) await takeOverFormer(former, place, { folder: memoryFolder() });
    const { settled, failed } = await settle(all, facts, place, choice);
    for (const { of, ref } of others)
      if (settled.some(({ create }) => create.ref.key === ref.key))
        await note([{ key: ref.key, state: "none", at: "" }], of);
    await note(
      forgotten.map(({ ref }) => ({ key: ref.key, state: "none", at: "" })),
      place,
    );
    const after = await look(choice);
    const still = new Set(after.facts.open.map(({ record }) => record.mark)); // a run that ended meanwhile may have saved it
    tellSettled(settled.filter(({ create }) => !still.has(create.record.mark)));
    for (const each of forgotten) tellForgotten(each, facts);
    const code = tell(after);
    if (failed === undefined) return code;
    console.error(`Not all were settled: ${failed}`);
    return 2;
  },
});

interface Look {
  readonly facts: Facts;
  readonly place: StackPlace | undefined;
  /** The names under which the state's resources were registered, if the stack has another one now. */
  readonly formerly: readonly StackPlace[];
}

async function look(choice: StackChoice & { readonly state?: string | undefined }): Promise<Look> {
  const stack: ExportedStack = await stateOf(choice);
  const names = stackNamesIn(stack);
  const now = choice.state === undefined ? await stackName(choice) : names[0];
  if (now === undefined) return { facts: factsIn(stack, undefined, undefined), place: undefined, formerly: [] };
  const backend = backendIn(process.env, programFolder(choice));
  const [place, ...formerly] = [...new Set([now, ...names])].map((name) => ({ backend, stack: name }));
  const memories = [place as StackPlace, ...formerly].flatMap((each) => memoryAt(each) ?? []);
  const memory = memories.length === 0 ? undefined : new Map(memories.toReversed().flatMap((records) => [...records]));
  return { facts: factsIn(stack, memory, place), place, formerly };
}

/** Creates that are open in another stack, which may be this one under the name that it had: only an answer by name means them. */
function elsewhere({ open }: Facts, place: StackPlace | undefined) {
  if (place === undefined) return [];
  const known = new Set(open.map(({ ref }) => ref.key));
  return openOfOthers(place, memoryFolder())
    .filter(({ key }) => !known.has(key))
    .map(({ key, id, stack, backend, ...record }) => {
      return { ref: refOfKey(key, place), record, known: "record" as const, formerIds: [], of: { stack, backend }, id };
    });
}

function memoryAt(place: StackPlace): Records | undefined {
  const path = memoryPath(place);
  try {
    return readMemory(path)?.records;
  } catch (error) {
    throw new Error(`the memory of this machine, ${path}, can't be used: ${(error as Error).message}`);
  }
}

function tellSettled(settled: readonly Answer[]): void {
  const not = settled.filter(({ id }) => id === undefined).map(({ create }) => create.ref.short);
  if (not.length > 0) console.log(`Settled as not created: ${enumerate(not, MAX_LISTED)}`);
  const made = settled.filter(({ id }) => id !== undefined);
  for (const { create, id } of made) console.log(`Settled as created with id ${id}: ${create.ref.short}`);
  if (made.length > 0)
    console.log(
      `If an id was wrong, set existingId to the right one in the program, and run \`${asTyped("pulumi up")}\`.`,
    );
}

function tellForgotten({ ref, record: { id } }: Note, { made }: Facts): void {
  const isInState = !made.some((each) => each.ref.key === ref.key);
  const stays = id === undefined || isInState ? "" : `; ${id} stays live. ${toGoOnWith(id)}`;
  console.log(`Forgotten, what this machine's memory had of ${ref.short}${stays}`);
}

/** Lists what is pending. @returns the exit code. */
function tell({ facts, place }: Look): number {
  const { open, made, notes } = facts;
  const created = [...(made.length === 0 ? [] : [tellMade(made)]), ...tellElsewhere(facts, place)];
  if (open.length === 0) return say(["Nothing is pending.", ...created].join("\n"));
  const names = namesOf(open);
  const recorded = open.flatMap((each, index) => (each.known === "record" ? (names[index] ?? []) : []));
  const them = agree(recorded.length, "it", "them");
  const lines = [
    `${count(open.length, "create")} may or may not have reached the platform:`,
    ...open.map(({ ref, record }, index) => `  ${names[index]}: look in the account for ${describe(ref.kind, record)}`),
    ...(recorded.length === 0 || notes === undefined
      ? []
      : [
          `If the interrupted run was on this machine, it did not send ${enumerate(recorded, MAX_LISTED)}: the memory of this machine has no line about ${them}.`,
        ]),
    ...(recorded.length === 0
      ? []
      : ["A run that is still under way on another machine looks the same: let it end, and run this again."]),
    ...waysOut(names),
    ...created,
  ];
  return say(lines.join("\n"), 1);
}

/** What an `up` stops at if it declares it: the stack may have had another name. What this one has by now is not meant. */
function tellElsewhere(facts: Facts, place: StackPlace | undefined): string[] {
  const held = new Set([...facts.holders.values()].map(({ key }) => key));
  const those = elsewhere(facts, place).filter(({ ref }) => !held.has(ref.key));
  const told = ({ ref, id }: (typeof those)[number]) => `${ref.short} (${id ?? "outcome unknown"})`;
  return [...Map.groupBy(those, ({ of }) => of.stack)].map(
    ([stack, all]) =>
      `Open in the stack ${stack}: ${enumerate(all.map(told), MAX_LISTED)}. If that is this stack under its former name, answer for each here, with --created or --not-created.`,
  );
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
  const [it, names] = [agree(made.length, "it", "them"), cut(told, MAX_LISTED, (others) => `${others} more (${rest})`)];
  return `Created by earlier runs, and not in the state yet: ${enumerate(names)}. The next \`${asTyped("pulumi up")}\` takes ${it} over where the program declares ${it}.`;
}
