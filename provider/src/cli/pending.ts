/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. It brings this machine's journals up to
 * date with the state first. What the state has is resolved by a refresh of just those resources, whose `read` gets the
 * answers; what only a journal or Pulumi's record has, by lines of the journal, which the next `up` here goes by. No
 * state is written here: only Pulumi locks and saves.
 */
import { asTyped, count, enumerate, plainShellWord, UsageError } from "../base/index.js";
import {
  appendLines,
  backendIn,
  closedLine,
  confirmedLine,
  everyJournal,
  isJournalInUse,
  journalErrorFrom,
  journalFolder,
  journalPath,
  openElsewhere,
  readJournal,
  type StackPlace,
  takeOverOpen,
} from "../journal/index.js";
import { MAX_LISTED, stackOption } from "../state/index.js";
import { objectsIn, stackNamesIn } from "./contents.js";
import { command, commandsAreAbout, isInline, type StackChoice } from "./harness.js";
import {
  type Answer,
  isCreated,
  journalLinesOf,
  type PlacedLine,
  readAnswers,
  recordedLines,
} from "./pending-answers.js";
import { type Facts, factsIn } from "./pending-facts.js";
import { heldMessage, isAsked, listing, resolvedMessage } from "./pending-messages.js";
import {
  accountComparer,
  existingStacks,
  programFolder,
  refresh,
  STACK_HELP,
  STACK_OPTIONS,
  type StateChoice,
  stackName,
  stateOf,
} from "./pulumi.js";

const PENDING_HELP = `Usage: pulumi-advertising pending [options]

Lists the unresolved creates: those in the state, those that only this machine's
journal has, and those that only Pulumi's record of an interrupted run has.

  --created X=ID         resolves X as created with the id ID; repeatable
  --not-created X        resolves X as not created: the next up creates it; repeatable
  --search               resolves what a search in advertising:operations finds or rules out
  --forget X             ends one without an answer: drops it from this machine's journal and from
                         the state's unresolved creates; the object, if there is one, is not touched
  --take-over STACK      takes over the open creates of STACK, the former name of this stack
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name as listed or as in a message, or a URN; for --not-created and --forget also the name of
a set, for all its events.

Exit codes: 0 nothing needs an answer, 1 something does, 2 failed (for example, during a run).`;

const SEVERAL = { type: "string", multiple: true, default: [] as string[] } as const;

export const pendingCommand = command({
  help: PENDING_HELP,
  options: {
    created: SEVERAL,
    "not-created": SEVERAL,
    search: { type: "boolean", default: false },
    forget: SEVERAL,
    "take-over": { type: "string" },
    ...STACK_OPTIONS,
    state: { type: "string" },
  },
  run: async ({
    created,
    "not-created": notCreated,
    forget,
    search,
    "take-over": former,
    ...choice
  }) => {
    const typed = { created, notCreated, forget };
    const isTyped = Object.values(typed).some((texts) => texts.length > 0);
    const isLooking = choice.state !== undefined;
    if (isLooking && (search || isTyped || former !== undefined))
      throw new UsageError("--state only looks; to resolve, leave it out");
    let facts = await readFacts(choice);
    const { place } = facts;
    // Printed commands name the stack, so that they work whichever one is selected then.
    const stack = choice.stack ?? stackOption(place.stack).value;
    if (place.stack !== "") commandsAreAbout({ ...choice, stack });
    if (await isJournalInUse(place, journalFolder()))
      console.log("A run of this stack is under way here. Let it end, then run this again.");
    else if (!isLooking) await bringUpToDate(facts);
    if (former !== undefined) {
      await takeOver(former, facts);
      facts = await readFacts(choice);
    }
    const { answers, known } = readAnswers(typed, facts);
    for (const sentence of known) console.log(sentence);
    if (search) {
      // Loaded here, since nothing else of this command needs the HTTP library.
      const { searchUnanswered } = await import("./pending-search.js");
      answers.push(...(await searchUnanswered(answers, facts, choice)));
    }
    if (answers.length > 0) {
      await execute(answers, facts, choice);
      facts = await readFacts(choice);
      await bringUpToDate(facts);
    }
    let clearing = asTyped("pulumi refresh --clear-pending-creates --yes");
    if (isInline(choice)) clearing = "await stack.refresh({ clearPendingCreates: true })";
    console.log(listing(facts, clearing).join("\n"));
    return Number(isAsked(facts));
  },
});

/** Reads only, so that it never waits for a run that is under way. */
async function readFacts(choice: StateChoice): Promise<Facts> {
  const [exported, selected, isSameAccount] = await Promise.all([
    stateOf(choice),
    stackName(choice),
    accountComparer(choice),
  ]);
  let stack = selected;
  if (choice.state !== undefined) [stack = ""] = stackNamesIn(exported);
  if (stack === undefined)
    throw new Error("`pulumi stack --show-name` names no stack: select one, or add --stack");
  const place = { backend: backendIn(process.env, programFolder(choice)), stack };
  const { records: own, runs } = ownJournal(place);
  const others = everyJournal(journalFolder());
  const elsewhere = choice.state === undefined ? openElsewhere(place, journalFolder()) : [];
  const journals = {
    own,
    runs: [...runs, ...others.flatMap((other) => other.runs)],
    elsewhere,
    existing: elsewhere.length > 0 ? await existingStacks(choice, stack) : [],
  };
  return factsIn(exported, journals, place, isSameAccount);
}

/** @throws JournalError as an `up` has it. */
function ownJournal(place: StackPlace) {
  const path = journalPath(place);
  try {
    return readJournal(path) ?? { records: new Map(), runs: [] };
  } catch (error) {
    throw journalErrorFrom(path, error, "");
  }
}

/** What the state has is open no longer. If that can't be noted, the next run sees it. */
async function bringUpToDate({ outdated, place }: Facts): Promise<void> {
  const lines = outdated.map(({ ref, record, elsewhere, held = record.id }): PlacedLine => {
    if (elsewhere !== undefined || held === undefined)
      return { line: closedLine(ref.key), elsewhere };
    return { line: confirmedLine({ ...record, key: ref.key }, held) };
  });
  await writeLines(place, lines).catch(() => undefined);
  for (const note of outdated) if (note.held !== undefined) console.log(heldMessage(note));
}

async function writeLines(place: StackPlace, all: readonly PlacedLine[]): Promise<void> {
  const here = { folder: journalFolder(), say: (message: string) => console.error(message) };
  const byJournal = Map.groupBy(all, ({ elsewhere = place }) => journalPath(elsewhere));
  for (const placed of byJournal.values()) {
    const lines = placed.map(({ line }) => line);
    await appendLines(placed[0]?.elsewhere ?? place, lines, here);
  }
}

/** What another stack's journal has open becomes this one's. @throws Error that stack still exists. */
async function takeOver(former: string, { elsewhere, existing, place }: Facts): Promise<void> {
  const all = elsewhere.flatMap((create) => create.elsewhere ?? []);
  const meant = all.filter(({ stack }) => [stack, stackOption(stack).value].includes(former));
  const places = new Map(meant.map((each) => [journalPath(each), each]));
  if (places.size === 0)
    throw new Error(`this machine's journal has nothing open of a stack ${former}`);
  const isThere = ({ backend, stack }: StackPlace) =>
    backend === place.backend && existing.includes(stack);
  if (meant.some(isThere)) {
    const still = `nothing was taken over: the stack ${former} still exists`;
    const up = `pulumi up --stack ${plainShellWord(former)}`;
    throw new Error(`${still}. Its next run handles its open creates:\n  ${up}`);
  }
  for (const each of places.values()) {
    const { moved, kept } = await takeOverOpen(each, place, { folder: journalFolder() });
    console.log(`Taken over from ${former}: ${count(moved.length, "create")}.`);
    if (kept.length === 0) continue;
    const names = enumerate(kept, MAX_LISTED);
    console.log(`Resolve this stack's own ${names} first, then run this again for the others.`);
  }
}

/** Carries out what was answered, and says so. @throws Error with what the state still has as unresolved. */
async function execute(
  all: readonly Answer[],
  facts: Facts,
  choice: StackChoice,
): Promise<void> {
  const { place } = facts;
  await writeLines(place, recordedLines(facts));
  const asked = all.filter(({ create }) => create.known === "state");
  const { left, failure } = await refreshWith(asked, choice);
  const resolved = all.filter((answer) => !left.includes(answer));
  await writeLines(
    place,
    resolved.flatMap((answer) => journalLinesOf(answer, facts)),
  );
  for (const answer of resolved) console.log(resolvedMessage(answer));
  if (left.length === 0) return;
  const names = enumerate(
    left.map(({ create }) => create.ref.short),
    MAX_LISTED,
  );
  throw new Error(
    `not resolved: ${names}: ${failure}\nIf Pulumi says that the stack is locked, let that run end. ` +
      `Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel --yes")}`,
  );
}

/** What the provider's `read` reads: JSON, an id or null by mark. */
const ANSWERS = "ADVERTISING_ANSWERS";

/**
 * Hands the answers to a refresh of just those resources. What another resource manages, and what is dropped, leaves
 * the state's unresolved creates. @returns those that it has not resolved, as during a run, and why.
 */
async function refreshWith(all: readonly Answer[], choice: StackChoice) {
  let failure = "Pulumi's refresh has not changed them";
  if (all.length === 0) return { left: [], failure };
  const entries = all.map((answer) => {
    return [answer.create.record.mark, isCreated(answer) ? answer.id : null];
  });
  const answers = JSON.stringify(Object.fromEntries(entries));
  const urns = new Set(all.map(({ create }) => create.ref.resourceUrn));
  await refresh([...urns], { [ANSWERS]: answers }, choice).catch((error: Error) => {
    failure = error.message;
  });
  // By name too: a resource that got another one's name may have the same create.
  const { resources } = await stateOf(choice);
  const still = objectsIn(resources).map(({ ref, record }) => `${ref.urn} ${record?.mark}`);
  const open = new Set(still);
  const left = all.filter(({ create: { ref, record } }) =>
    open.has(`${ref.urn} ${record.mark}`),
  );
  return { left, failure };
}
