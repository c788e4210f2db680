/**
 * `pulumi-advertising pending`: lists and settles creates of unknown outcome. What the state has is settled by a
 * refresh of just those resources, whose `read` gets the answers; what only this machine's memory or Pulumi's record
 * has, by lines of the memory, which the next `up` here goes by. No state is written here: only Pulumi locks and saves.
 */
import { agree, asTyped, count, cut, enumerate, idRanges, momentOf, systemClock, UsageError } from "../base/index.js";
import { LIVE_ID } from "../rules/index.js";
import { describe, MAX_LISTED, nameInUrn, waysOut } from "../state/index.js";
import {
  backendIn,
  type Line,
  memoryFolder,
  memoryPath,
  readMemory,
  type StackPlace,
  takeOverFormer,
  writeAnswers,
} from "../store/index.js";
import { type ExportedStack, objectsIn, stackNamesIn } from "./contents.js";
import { command, type StackChoice, say } from "./harness.js";
import { type Answer, type Create, type Facts, factsIn, type Note, whyNotIts } from "./pending-facts.js";
import { programFolder, refresh, STACK_HELP, STACK_OPTIONS, type StateChoice, stackName, stateOf } from "./pulumi.js";

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

export const pendingCommand = command({
  help: HELP,
  options: {
    created: SEVERAL,
    "not-created": SEVERAL,
    search: { type: "boolean", default: false },
    forget: SEVERAL,
    ...STACK_OPTIONS,
    state: { type: "string" },
  },
  run: async ({ created, "not-created": notCreated, forget, search, ...choice }) => {
    const stack = await stateOf(choice);
    const places = await placesOf(stack, choice);
    const facts = factsOf(stack, places);
    if (created.length + notCreated.length + forget.length === 0 && !search) return tell(facts, stack);
    if (choice.state !== undefined) throw new UsageError("--state only looks; to settle, leave it out");
    const [place, ...formerly] = places;
    if (place === undefined) throw new Error("`pulumi stack --show-name` does not say whose memory this is");
    // The stack was renamed since its last run: its memory comes along, as in an `up`.
    for (const former of formerly) await takeOverFormer(former, place, { folder: memoryFolder() });
    const { answers, forgotten } = readAnswers({ created, notCreated, forget }, facts);
    // Loaded here, since nothing else of this command needs the HTTP library.
    const searched = search ? await (await import("./pending-search.js")).searched(answers, facts, choice) : [];
    const { settled, after } = await settleInState([...answers, ...searched], choice);
    const lines = [...settled.flatMap((each) => linesOf(each, facts)), ...forgotten.map(({ ref }) => dropped(ref.key))];
    if (lines.length > 0) await writeAnswers(place, lines, { folder: memoryFolder() });
    for (const { create, id } of settled)
      console.log(`Settled as ${id === undefined ? "not created" : `created with id ${id}`}: ${create.ref.short}`);
    if (settled.some(({ id }) => id !== undefined))
      console.log("If an id was wrong, set existingId to the right one in the program.");
    for (const { ref, record } of forgotten)
      console.log(
        `Forgotten: ${ref.short}, ${record.id === undefined ? `sent at ${record.at}` : `created as ${record.id}`}`,
      );
    return tell(factsOf(after, places), after);
  },
});

/** Where this machine's memory of the stack is, and that under its former names; none if nobody says which stack. */
async function placesOf(stack: ExportedStack, choice: StateChoice): Promise<StackPlace[]> {
  const registered = stackNamesIn(stack);
  const name = choice.state === undefined ? await stackName(choice) : registered[0];
  if (name === undefined) return [];
  const backend = backendIn(process.env, programFolder(choice));
  return [...new Set([name, ...registered])].map((each) => ({ backend, stack: each }));
}

/** Reads only, so that it never waits for a run that is under way. */
function factsOf(stack: ExportedStack, places: readonly StackPlace[]): Facts {
  const memories = places.toReversed().flatMap((place) => {
    const path = memoryPath(place);
    try {
      return readMemory(path)?.records ?? [];
    } catch (error) {
      throw new Error(`the memory of this machine, ${path}, can't be used: ${(error as Error).message}`);
    }
  });
  return factsIn(stack, new Map(memories.flatMap((records) => [...records])), places[0]);
}

function tell({ open, made, notes }: Facts, { pending }: ExportedStack): number {
  const names = namesOf(open);
  const recorded = open.flatMap((each, index) => (each.known === "record" ? (names[index] ?? []) : []));
  const isHere = recorded.length > 0 && notes.size > 0;
  const lines = [
    open.length === 0
      ? "Nothing is pending."
      : `${count(open.length, "create")} may or may not have reached the platform:`,
    ...open.map(({ ref, record, or }, index) => {
      const other = or === undefined ? "" : `, or for ${describe(ref.kind, or)}`;
      return `  ${names[index]}: look in the account for ${describe(ref.kind, record)}${other}`;
    }),
    isHere &&
      `If the interrupted run was the last one on this machine, it did not send ${enumerate(recorded, MAX_LISTED)}.`,
    open.some(({ known, record: { replaces } }) => known === "record" && replaces !== undefined) &&
      "If an update is known, what was to replace an object was an update of it: it was not created.",
    recorded.length > 0 && "A run that is still under way on another machine looks the same: let it end first.",
    ...(open.length > 0 ? waysOut(names) : []),
    made.length > 0 && tellMade(made),
    // It keeps it over any number of runs, and says nothing of when the interrupted one was.
    pending.some(({ type }) => type === "creating") &&
      `Pulumi keeps its record of the interrupted run, and this command may ask about it again. Once nothing is open and \`pulumi up\` has ended, drop it:\n  ${asTyped("pulumi refresh --clear-pending-creates --yes")}`,
  ];
  return say(lines.filter((line) => line !== false).join("\n"), open.length === 0 ? 0 : 1);
}

function namesOf(open: readonly Create[]): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  return open.map(({ ref }) => (byShort.get(ref.short)?.length === 1 ? ref.short : ref.urn));
}

/** Every id is said: an interrupted run may leave thousands, which a range tells. */
function tellMade(made: readonly Note[]): string {
  const told = made.map(({ ref, record }) => `${ref.short} (${record.id})`);
  const rest = idRanges(made.slice(MAX_LISTED).flatMap(({ record }) => record.id ?? []));
  const names = enumerate(cut(told, MAX_LISTED, (others) => `${others} more (${rest})`));
  const up = `The next \`${asTyped("pulumi up")}\` with the same account takes ${agree(made.length, "it", "them")} over, if the program declares ${agree(made.length, "it", "them")}.`;
  return `Created by earlier runs, and not in the state yet: ${names}. ${up}`;
}

/** @param given as typed; of `created`, `X=ID`. @throws Error with all that is wrong; then none of them counts. */
export function readAnswers(
  given: Readonly<Record<"created" | "notCreated" | "forget", readonly string[]>>,
  facts: Facts,
): { readonly answers: Answer[]; readonly forgotten: Note[] } {
  const faults: string[] = [];
  const answers = new Map<string, Answer>();
  const forgotten = new Map<string, Note>();

  const meant = <T extends Pick<Create, "ref">>(text: string, all: readonly T[], none: string) => {
    const found = all.filter(({ ref }) => isCalled(ref, text));
    const resources = new Set(found.map(({ ref }) => ref.resourceUrn)).size;
    const urns = found.map(({ ref }) => ref.urn);
    if (resources > 1) faults.push(`"${text}" is the name of several, so give the URN: ${enumerate(urns, MAX_LISTED)}`);
    if (resources === 0) faults.push(`"${text}" ${none}`);
    return resources === 1 ? found : [];
  };
  const answer = (create: Create, id: string | undefined) => {
    const { key, short } = create.ref;
    const why = id === undefined ? undefined : whyNotIts(create, id, facts, [...answers.values()]);
    if (answers.has(key)) faults.push(`"${short}" is given two answers`);
    else if (why !== undefined) faults.push(why);
    else answers.set(key, { create, id });
  };
  const NONE = "is not a pending create (`pending` lists them; --forget drops what this machine remembers)";

  for (const text of given.created) {
    const [, name = text, id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (!LIVE_ID.test(id)) faults.push(`--created takes X=ID with a number from 1 up as ID; got "${text}"`);
    else for (const create of meant(name, facts.open, NONE)) answer(create, id);
  }
  for (const text of given.notCreated) for (const create of meant(text, facts.open, NONE)) answer(create, undefined);
  for (const text of given.forget) {
    for (const note of meant(text, [...facts.notes.values()], "is nothing that the memory of this machine has")) {
      const { key, short } = note.ref;
      if (answers.has(key)) faults.push(`"${short}" is given two answers`);
      else forgotten.set(key, note);
    }
  }
  if (faults.length > 0) throw new Error(`nothing was settled: ${faults.join("; ")}`);
  return { answers: [...answers.values()], forgotten: [...forgotten.values()] };
}

/** What people may call it: by its own names, and by those of its set. */
function isCalled({ urn, short, resourceUrn }: Create["ref"], name: string): boolean {
  return [urn, nameInUrn(urn), short, resourceUrn, nameInUrn(resourceUrn)].includes(name);
}

/** What the provider's `read` reads: JSON, an id or null by mark. */
const ANSWERS = "ADVERTISING_ANSWERS";

/**
 * Hands the answers for what the state has to a refresh of that; those for others count at once.
 * @returns the answers that count, and the state afterwards. @throws Error if the refresh settled none, as in a run.
 */
async function settleInState(answers: readonly Answer[], choice: StackChoice) {
  const others = answers.filter(({ create }) => create.known !== "state");
  const asked = answers.filter(({ create }) => create.known === "state");
  const urns = [...new Set(asked.map(({ create }) => create.ref.resourceUrn))];
  const byMark = Object.fromEntries(asked.map(({ create, id }) => [create.record.mark, id ?? null]));
  const refreshed = async () => refresh(urns, { [ANSWERS]: JSON.stringify(byMark) }, choice);
  const failed = asked.length === 0 ? undefined : await refreshed().catch((error: Error) => error.message);
  const after = await stateOf(choice);
  const still = new Set(objectsIn(after.resources).map(({ record }) => record?.mark));
  const settled = asked.filter(({ create }) => !still.has(create.record.mark));
  const unlock = `If Pulumi says that the stack is locked, let that run end. Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel")}`;
  const why = `${failed ?? "Pulumi's refresh has not changed them"}\n${unlock}`;
  if (settled.length === 0 && asked.length > 0) throw new Error(`nothing was settled: ${why}`);
  if (settled.length < asked.length) console.error(`Not all were settled: ${why}`);
  return { settled: [...others, ...settled], after };
}

function linesOf({ create: { ref, record, known, or }, id }: Answer, { notes }: Facts): Line[] {
  const [{ key }, { replaces }, at] = [ref, record, momentOf(systemClock)];
  const isInState = known === "state";
  if (isInState && notes.get(key)?.record.state !== "sent") return [];
  // What the create was to replace is still live: the next run says so.
  if (id === undefined && isInState && replaces !== undefined) return [{ key, state: "live", id: replaces, at }];
  if (id === undefined) return [dropped(key)];
  if (isInState) return [{ key, state: "live", id, at, name: record.name }];
  // Of two that differ, nobody knows which it is: it is taken for what the program has.
  const sent = or === undefined ? record : { mark: record.mark, body: "" };
  const isNew = known === "record" || or !== undefined;
  return [...(isNew ? [{ ...sent, key, state: "sent", at } as const] : []), { key, state: "made", id }];
}

/** The moment makes it an answer to Pulumi's record of an interrupted run too. */
function dropped(key: string): Line {
  return { key, state: "none", at: momentOf(systemClock) };
}
