/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. It brings this machine's journals up to
 * date with the state first. What the state has is resolved by a refresh of just those resources, whose `read` gets the
 * answers; what only a journal or Pulumi's record has, by lines of the journal, which the next `up` here goes by. No
 * state is written here: only Pulumi locks and saves.
 */
import { asTyped, count, enumerate, plainShellWord, UsageError } from "../base/index.js";
import {
  backendIn,
  closedLine,
  confirmedLine,
  everyJournal,
  JournalFile,
  journalErrorFrom,
  journalFolder,
  journalPath,
  readJournal,
  takeOverOpen,
} from "../journal/index.js";
import {
  ACCOUNT,
  describe,
  MAX_LISTED,
  otherStackAdvice,
  resolveCommands,
  stackOption,
  whatHappened,
} from "../state/index.js";
import { stackNamesIn } from "./contents.js";
import {
  command,
  isInline,
  SEVERAL,
  type StackChoice,
  setCommandStack,
  TEXT,
} from "./harness.js";
import {
  type Answer,
  isCreated,
  journalLinesOf,
  type PlacedLine,
  readAnswers,
  recordedLines,
} from "./pending-answers.js";
import { type Create, type Facts, factsIn } from "./pending-facts.js";
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

export const pendingCommand = command({
  help: `Usage: pulumi-advertising pending [options]

Lists the unresolved creates, and resolves any number of them:

  --created X=ID         it was created, with the id ID
  --not-created X        it was not created: the next up creates it
  --forget X             drops it from this machine's journal and from the state's unresolved
                         creates; the object, if there is one, is not touched
  --search               resolves what a search in advertising:operations finds or rules out
  --take-over STACK      takes over the open creates of STACK, the former name of this stack
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name as in a message, or a URN; for --not-created and --forget also the name of a set.`,
  options: {
    created: SEVERAL,
    "not-created": SEVERAL,
    search: { type: "boolean", default: false },
    forget: SEVERAL,
    "take-over": TEXT,
    ...STACK_OPTIONS,
    state: TEXT,
  },
  run: async ({ search, "take-over": former, stack, cwd, state, ...typed }) => {
    const choice = { stack, cwd, state };
    const isChange =
      search || former !== undefined || Object.values(typed).flat().length > 0;
    if (state !== undefined && isChange)
      throw new UsageError("--state only looks; to resolve, leave it out");
    let facts = await readFacts(choice);
    const { place } = facts;
    // Printed commands name the stack, so that they work whichever one is selected then.
    if (place.stack !== "")
      setCommandStack({ stack: stack ?? stackOption(place.stack), cwd });
    if (state === undefined) {
      await bringUpToDate(facts);
      if (former !== undefined) {
        await takeOver(former, facts, choice);
        facts = await readFacts(choice);
      }
      // What is listed stops the next up on this machine until somebody has answered.
      const recorded = recordedLines(facts);
      await writeLines(recorded);
      if (recorded.length > 0) facts = await readFacts(choice);
    }
    const { answers, unknown } = readAnswers(typed, facts);
    for (const sentence of unknown) console.log(sentence);
    facts = await execute(answers, facts, choice);
    if (search) {
      // Loaded here, since nothing else of this command needs the HTTP library.
      const { searchOpen } = await import("./platform.js");
      facts = await execute(await searchOpen(facts, choice), facts, choice);
    }
    console.log(listing(facts).join("\n"));
    // Pulumi keeps it over any number of runs, and this command may ask about it again.
    if (facts.isRecorded && !isInline(choice))
      console.log(
        "Once nothing is open and an up has ended, drop Pulumi's record of the interrupted run:\n" +
          `  ${asTyped("pulumi refresh --clear-pending-creates --yes")}`,
      );
    const { open, elsewhere } = facts;
    if (open.length > 0) return 1;
    if (elsewhere.length === 0 || state !== undefined) return 0;
    const existing = await existingStacks(choice, place.stack);
    return Number(
      elsewhere.some(({ journal: { backend, stack } }) => {
        // This backend may have another spelling.
        if (backend !== place.backend) return stack === place.stack;
        // No run of a stack that is gone handles what it has open. This one may be it, renamed.
        return !existing.includes(stack);
      }),
    );
  },
});

/** Reads only, so that it never waits for a run that is under way. @throws JournalError as an `up` has it. */
async function readFacts(choice: StateChoice) {
  const [exported, selected] = await Promise.all([stateOf(choice), stackName(choice)]);
  let stack = selected;
  if (choice.state !== undefined) [stack = ""] = stackNamesIn(exported);
  if (stack === undefined)
    throw new Error("no stack is selected: select one, or add --stack");
  const backend = backendIn(process.env, programFolder(choice));
  const place = { backend, stack };
  const path = journalPath(place);
  try {
    readJournal(path);
  } catch (error) {
    throw journalErrorFrom(path, error, "");
  }
  const journals = everyJournal(journalFolder());
  const records = journals.flatMap((each) => [...each.records.values()]);
  const accounts = new Set<unknown>(records.map(({ account }) => account));
  for (const { outputs } of exported.resources) accounts.add(outputs?.[ACCOUNT]);
  accounts.delete(undefined);
  // Pulumi is asked for the settings only if there is anything to compare.
  const isSameAccount = accounts.size > 1 ? await accountComparer(choice) : undefined;
  return factsIn(exported, journals, place, isSameAccount);
}

/** What the state has is open no longer. If that can't be noted, the next run sees it. */
async function bringUpToDate({ outdated }: Facts) {
  const lines = outdated.map(({ ref, record, journal, knownBy, held = record.id }) => {
    let line = closedLine(ref.key);
    if (knownBy === "journal" && held !== undefined)
      line = confirmedLine({ ...record, key: ref.key }, held);
    return { line, journal };
  });
  await writeLines(lines).catch(() => undefined);
  for (const note of outdated) if (note.held !== undefined) console.log(heldMessage(note));
}

const noWait = () => ({ folder: journalFolder(), maxWaitMs: 0 });

/**
 * A run that is under way may be sending what is listed or answered, so it is never waited for.
 * @param act is called when their journals are locked; if it fails, nothing is written. @throws JournalError
 */
async function writeLines(lines: readonly PlacedLine[], act = async () => {}) {
  const [first] = lines;
  if (!first) return act();
  const file = new JournalFile({ ...first.journal, ...noWait() });
  const isOwn = ({ journal }: PlacedLine) => journalPath(journal) === file.path;
  const own = lines.filter(isOwn).map(({ line }) => line);
  const others = lines.filter((each) => !isOwn(each));
  await file.open();
  try {
    await writeLines(others, act);
    await file.append(own);
  } finally {
    file.release();
  }
}

/** What another stack's journal has open becomes this one's. @throws Error if that stack still exists. */
async function takeOver(former: string, facts: Facts, choice: StackChoice) {
  const { elsewhere, outdated, place } = facts;
  // All creates of one journal have it as the same object.
  const journals = new Set(elsewhere.map(({ journal }) => journal));
  const meant = [...journals].filter(({ stack }) =>
    [stack, stackOption(stack)].includes(former),
  );
  // Naming a stack whose creates this command has just closed is no mistake.
  if (meant.length + outdated.length === 0)
    throw new Error(`this machine's journal has nothing open of a stack ${former}`);
  const existing = await existingStacks(choice, place.stack);
  if (meant.some((each) => each.backend === place.backend && existing.includes(each.stack)))
    throw new Error(
      `the stack ${former} still exists. Its next run handles its open creates:\n` +
        `  pulumi up --stack ${plainShellWord(former)}`,
    );
  for (const each of meant) {
    const amount = await takeOverOpen(each, { ...each, ...place }, noWait());
    console.log(`Taken over from ${former}: ${count(amount, "create")}.`);
  }
}

/**
 * Carries out what was answered, and says so. @returns the facts that follow.
 * @throws Error a run has changed what the answers rest on.
 */
async function execute(all: readonly Answer[], before: Facts, choice: StackChoice) {
  if (all.length === 0) return before;
  const lines = all.flatMap((answer) => journalLinesOf(answer, before));
  await writeLines(lines, async () => {
    const { version } = await readFacts(choice);
    if (version !== before.version)
      throw new Error("nothing was resolved: a run began meanwhile. Run this again");
    await resolveInState(all, choice);
  });
  for (const answer of all) console.log(resolvedMessage(answer));
  const facts = await readFacts(choice);
  await bringUpToDate(facts);
  return facts;
}

/**
 * Refreshes just the resources that the state has as unresolved: what another one manages, and what is dropped, leaves
 * its unresolved creates. @throws Error in Pulumi's words, as during a run.
 */
async function resolveInState(all: readonly Answer[], choice: StackChoice) {
  const asked = all.filter(({ create }) => create.knownBy === "state");
  // Without a target it would be a refresh of everything.
  if (asked.length === 0) return;
  const ids = asked.map((answer) => {
    return [answer.create.record.mark, isCreated(answer) ? answer.id : null];
  });
  // The provider's `read` reads it.
  const answers = { ADVERTISING_ANSWERS: JSON.stringify(Object.fromEntries(ids)) };
  const urns = new Set(asked.map(({ create }) => create.ref.resourceUrn));
  await refresh([...urns], answers, choice).catch(({ message }: Error) => {
    const names = asked.map(({ create }) => create.ref.short);
    throw new Error(
      `not resolved: ${enumerate(names, MAX_LISTED)}: ${message}\n` +
        "If Pulumi says that the stack is locked, let that run end. " +
        `Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel --yes")}`,
    );
  });
}

export function resolvedMessage({ create, id, managedAs, isForgotten }: Answer): string {
  const { short } = create.ref;
  if (isForgotten)
    return `Forgotten: ${short} (${whatIsKnown(create)}). The object, if there is one, is not touched.`;
  if (id === undefined) return `Resolved as not created: ${short}`;
  if (managedAs !== undefined)
    return `Resolved: ${short} is ${id}, which is managed as ${managedAs}. If the program still declares ${short}, \`pulumi up\` creates it.`;
  return `Resolved as created with id ${id}: ${short}`;
}

/** What a journal had as open, and the state has by another create. */
export function heldMessage({ ref, record, held }: Create): string {
  return (
    `${whatHappened(ref.short, record)} The state has the object ${held}. Look in the account ` +
    "for a second one. If there is one, adopt it, or deactivate it by hand."
  );
}

export function listing({ open, made, elsewhere }: Facts): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  const nameOf = ({ ref: { short, urn } }: Create) =>
    byShort.get(short)?.length === 1 ? short : urn;
  const lines: string[] = [];
  if (open.length + elsewhere.length === 0) lines.push("Nothing is pending.");
  if (open.length > 0) {
    lines.push(
      `${count(open.length, "create")} may or may not have reached the platform:`,
      ...open.map((create) => `  ${nameOf(create)}: ${whatIsKnown(create)}`),
      "A run that is still under way looks the same: let it end first.",
      ...resolveCommands(open.map(nameOf)),
    );
  }
  if (made.length > 0)
    lines.push(
      "Created by earlier runs, and not in the state yet:",
      ...made.map((create) => `  ${create.ref.short}: ${whatIsKnown(create)}`),
      `The next \`${asTyped("pulumi up")}\` on this machine with the same account takes over ` +
        "what the program still declares as sent.",
    );
  const byJournal = Map.groupBy(elsewhere, ({ journal }) => journal);
  for (const [{ stack, backend }, creates] of byJournal)
    lines.push(
      `The stack ${stack} (backend ${backend}) has ${count(creates.length, "open create")}:`,
      ...creates.map((create) => `  ${create.ref.urn}: ${whatIsKnown(create)}`),
      ...otherStackAdvice(stack),
    );
  return lines;
}

function whatIsKnown({ ref, record }: Create) {
  if (record.id !== undefined) return `created as ${record.id}`;
  return `look in the account for ${describe(ref.kind, record)}`;
}
