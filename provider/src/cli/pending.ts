/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. It brings this machine's journals up to
 * date with the state first. What the state has is resolved by a refresh of just those resources, whose `read` gets the
 * answers; what only a journal or Pulumi's record has, by lines of the journal, which the next `up` here goes by. No
 * state is written here: only Pulumi locks and saves.
 */
import { asTyped, commandsTake, count, plainShellWord, UsageError } from "../base/index.js";
import {
  appendLines,
  backendIn,
  closedLine,
  confirmedLine,
  isJournalInUse,
  journalErrorFrom,
  journalFolder,
  journalPath,
  type OpenCreate,
  openElsewhere,
  readJournal,
  type StackPlace,
  takeOverOpen,
} from "../journal/index.js";
import { ACCOUNT, stackOption } from "../state/index.js";
import { type ExportedStack, objectsIn, stackNamesIn } from "./contents.js";
import { command, isInline, type StackChoice, stackOptionsIn } from "./harness.js";
import {
  type Answer,
  droppedLine,
  isInState,
  journalLinesOf,
  type PlacedLine,
  readAnswers,
  recordedLines,
} from "./pending-answers.js";
import { type Create, type Facts, factsIn, type Note } from "./pending-facts.js";
import {
  forgottenMessage,
  heldMessage,
  isAsked,
  listing,
  resolvedMessage,
  UNDER_WAY,
} from "./pending-messages.js";
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
  run: async (values) => {
    const {
      created,
      "not-created": notCreated,
      forget,
      search,
      "take-over": former,
      ...choice
    } = values;
    const given = { created, notCreated, forget };
    const isAnswer = search || Object.values(given).some((texts) => texts.length > 0);
    const stack = await stateOf(choice);
    const place = await placeOfStack(stack, choice);
    if (place !== undefined) commandsAreAbout(place, choice);
    const isChange = isAnswer || former !== undefined;
    if (isChange && choice.state !== undefined)
      throw new UsageError("--state only looks; to resolve, leave it out");
    if (isChange && place === undefined)
      throw new Error("`pulumi stack --show-name` names no stack: select one, or add --stack");
    if (former !== undefined && place !== undefined) await takeOverStack(former, place, choice);
    const facts = await readFacts(stack, place, choice);
    if (place === undefined) return tell(facts, stack, choice);
    if (choice.state === undefined) await bringUpToDate(facts, place);
    if (await isJournalInUse(place, journalFolder())) console.log(UNDER_WAY);
    if (!isAnswer) return tell(facts, stack, choice);
    const { answers, forgotten, known } = readAnswers(given, facts);
    for (const sentence of known) console.log(sentence);
    const all = [...answers];
    if (search) {
      // Loaded here, since nothing else of this command needs the HTTP library.
      const { searchUnanswered } = await import("./pending-search.js");
      all.push(...(await searchUnanswered(answers, facts, choice)));
    }
    const after = await executeAnswers(all, forgotten, { stack, facts, place, choice });
    return tell(await readFacts(after, place, choice), after, choice);
  },
});

function tell(facts: Facts, { pending }: ExportedStack, choice: StackChoice): number {
  const isRecorded = pending.some(({ type }) => type === "creating");
  const lines = listing(facts, isRecorded ? clearingOf(choice) : undefined);
  console.log(lines.join("\n"));
  return Number(isAsked(facts));
}

function clearingOf(choice: StackChoice): string {
  if (isInline(choice)) return "await stack.refresh({ clearPendingCreates: true })";
  return asTyped("pulumi refresh --clear-pending-creates --yes");
}

/** Printed commands name the stack, so that they work whichever one is selected then. */
function commandsAreAbout(place: StackPlace, choice: StackChoice): void {
  const stack = choice.stack ?? stackOption(place.stack).value;
  const options = stackOptionsIn({ ...choice, stack });
  commandsTake(() => ({ options, isInline: isInline(choice) }));
}

/** @returns undefined if nobody says which stack it is. */
async function placeOfStack(
  stack: ExportedStack,
  choice: StateChoice,
): Promise<StackPlace | undefined> {
  let [name] = stackNamesIn(stack);
  if (choice.state === undefined) name = await stackName(choice);
  if (name === undefined) return undefined;
  return { backend: backendIn(process.env, programFolder(choice)), stack: name };
}

/** Reads only, so that it never waits for a run that is under way. */
async function readFacts(
  stack: ExportedStack,
  place: StackPlace | undefined,
  choice: StateChoice,
): Promise<Facts> {
  const nothing = { own: new Map(), runs: [], elsewhere: [], isGone: () => false };
  if (place === undefined) return factsIn(stack, nothing, place);
  const { records: own, runs } = ownJournal(place);
  let elsewhere: readonly OpenCreate[] = [];
  let existing: readonly string[] = [];
  if (choice.state === undefined) elsewhere = openElsewhere(place, journalFolder());
  if (elsewhere.length > 0) existing = await existingStacks(choice, place.stack);
  const isGone = (other: StackPlace) =>
    other.backend === place.backend && !existing.includes(other.stack);
  const journals = { own, runs, elsewhere, isGone };
  const stored = stack.resources.map(({ outputs = {} }) => outputs[ACCOUNT]);
  const accounts = [
    ...stored,
    ...[...own.values(), ...elsewhere].map(({ account }) => account),
  ];
  const different = new Set(accounts.filter((account) => typeof account === "string"));
  // Pulumi is asked for the settings only if there is anything to compare.
  return factsIn(
    stack,
    journals,
    place,
    different.size > 1 ? await accountComparer(choice) : undefined,
  );
}

/** @throws JournalError as an `up` has it. */
function ownJournal(place: StackPlace) {
  const path = journalPath(place);
  try {
    return readJournal(path);
  } catch (error) {
    throw journalErrorFrom(path, error, "");
  }
}

/** What the state has is open no longer. A run that is under way sees that itself. */
async function bringUpToDate({ outdated }: Facts, place: StackPlace): Promise<void> {
  const lines = outdated.map(({ ref, record, elsewhere, held = record.id }): PlacedLine => {
    if (elsewhere !== undefined || held === undefined)
      return { line: closedLine(ref.key), elsewhere };
    return { line: confirmedLine({ ...record, key: ref.key }, held) };
  });
  await writeLines(place, lines, 0).catch(() => undefined);
  for (const note of outdated) if (note.held !== undefined) console.log(heldMessage(note));
}

/** @param maxWaitMs for a run that uses a journal. @default as a run waits for another one */
async function writeLines(
  place: StackPlace,
  all: readonly PlacedLine[],
  maxWaitMs?: number,
): Promise<void> {
  const say = (message: string) => console.error(message);
  const here = { folder: journalFolder(), say, ...(maxWaitMs !== undefined && { maxWaitMs }) };
  const byJournal = Map.groupBy(all, ({ elsewhere = place }) => journalPath(elsewhere));
  for (const placed of byJournal.values()) {
    const lines = placed.map(({ line }) => line);
    await appendLines(placed[0]?.elsewhere ?? place, lines, here);
  }
}

/** What another stack's journal has open becomes this one's. @throws Error that stack still exists. */
async function takeOverStack(
  former: string,
  place: StackPlace,
  choice: StackChoice,
): Promise<void> {
  const folder = journalFolder();
  const isMeant = ({ stack }: StackPlace) => [stack, stackOption(stack).value].includes(former);
  const all = openElsewhere(place, folder).flatMap(({ elsewhere }) => elsewhere ?? []);
  const places = new Map(all.filter(isMeant).map((each) => [journalPath(each), each]));
  if (places.size === 0)
    throw new Error(`this machine's journal has nothing open of a stack ${former}`);
  const existing = await existingStacks(choice, place.stack);
  for (const { stack, backend } of places.values()) {
    if (backend !== place.backend || !existing.includes(stack)) continue;
    const still = `nothing was taken over: the stack ${former} still exists`;
    const up = `pulumi up --stack ${plainShellWord(former)}`;
    throw new Error(`${still}. Its next run handles its open creates:\n  ${up}`);
  }
  for (const each of places.values()) {
    const amount = await takeOverOpen(each, place, { folder });
    console.log(`Taken over from ${former}: ${count(amount, "create")}.`);
  }
}

interface Situation {
  readonly stack: ExportedStack;
  readonly facts: Facts;
  readonly place: StackPlace;
  readonly choice: StackChoice;
}

/** Carries out what was answered, and says so. @returns the state afterwards. */
async function executeAnswers(
  answers: readonly Answer[],
  forgotten: readonly (Create | Note)[],
  { stack, facts, place, choice }: Situation,
): Promise<ExportedStack> {
  const asked = answers.filter(({ create }) => isInState(create));
  const dropped = forgotten.filter(isInState);
  // Any refresh drops Pulumi's record of an interrupted update, and with it what only that record has.
  if (asked.length + dropped.length > 0)
    await writeLines(place, recordedLines(facts, stack.time));
  const { isUnresolved, after } = await resolveInState(asked, dropped, choice);
  const resolved = answers.filter(({ create }) => !isInState(create) || !isUnresolved(create));
  await writeLines(place, [
    ...resolved.flatMap((answer) => journalLinesOf(answer, facts)),
    ...forgotten.map(({ ref, elsewhere }) => droppedLine(ref, elsewhere)),
  ]);
  for (const answer of resolved) console.log(resolvedMessage(answer));
  if (resolved.some(({ id, managedAs }) => id !== undefined && managedAs === undefined))
    console.log("If an id was wrong, set existingId to the right one in the program.");
  for (const each of forgotten) console.log(forgottenMessage(each));
  return after;
}

/** What the provider's `read` reads: JSON, an id or null by mark. */
const ANSWERS = "ADVERTISING_ANSWERS";

/**
 * Hands the answers to a refresh of just those resources. What another resource manages, and what is dropped, leaves
 * the state's unresolved creates. @returns the state afterwards. @throws Error if none was resolved, as during a run.
 */
async function resolveInState(
  asked: readonly Answer[],
  dropped: readonly Create[],
  choice: StackChoice,
) {
  const creates = [...asked.map(({ create }) => create), ...dropped];
  const answers: Record<string, string | null> = {};
  for (const { create, id = null, managedAs } of asked)
    answers[create.record.mark] = managedAs === undefined ? id : null;
  for (const { record } of dropped) answers[record.mark] = null;
  let failure = "Pulumi's refresh has not changed them";
  if (creates.length > 0) {
    const urns = new Set(creates.map(({ ref }) => ref.resourceUrn));
    const refreshing = refresh([...urns], { [ANSWERS]: JSON.stringify(answers) }, choice);
    await refreshing.catch((error: Error) => {
      failure = error.message;
    });
  }
  const after = await stateOf(choice);
  // By name too: a resource that got another one's name may have the same create.
  const still = new Set(
    objectsIn(after.resources).map(({ ref, record }) => `${ref.urn} ${record?.mark}`),
  );
  const isUnresolved = ({ ref, record }: Create) => still.has(`${ref.urn} ${record.mark}`);
  const left = creates.filter(isUnresolved);
  if (left.length === 0) return { isUnresolved, after };
  const why =
    `${failure}\nIf Pulumi says that the stack is locked, let that run end. ` +
    `Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel --yes")}`;
  if (left.length === creates.length) throw new Error(`nothing was resolved: ${why}`);
  console.error(`Not all were resolved: ${why}`);
  return { isUnresolved, after };
}
