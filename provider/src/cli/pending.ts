/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. First it brings this machine's journals
 * up to date with the state. A create in the state is resolved by a refresh of its resource, whose `read` gets the
 * answer. A create that only a journal or a pending operation has is resolved by a line in the journal, which the next
 * `up` on this machine reads. Only Pulumi writes the state.
 */
import { count, enumerate, inStack, plainShellWord, UsageError } from "../base/index.js";
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

  --created X=ID         X was created, with the id ID
  --not-created X        X was not created: the next up creates it
  --forget X             drops X from this machine's journal and from the state's unresolved
                         creates; nothing changes on the platform
  --search               resolves what the search in advertising:operations finds or rules out
  --take-over STACK      takes over the open creates of STACK, this stack's former name
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name from a message, or a URN; for --not-created and --forget also the name of a set.`,
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
      throw new UsageError("--state only lists; to resolve, leave it out");
    let facts = await readFacts(choice);
    const { place } = facts;
    // Printed commands name the stack, so that they work whichever stack is selected then.
    if (place.stack !== "")
      setCommandStack({ stack: stack ?? stackOption(place.stack), cwd });
    if (state === undefined) {
      await bringUpToDate(facts);
      if (former !== undefined) {
        await takeOver(former, facts, choice);
        facts = await readFacts(choice);
      }
      // Once in the journal, a listed create stops the next up on this machine until somebody has answered.
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
    // Pulumi keeps pending operations over any number of runs, so this command may ask about them again.
    if (facts.isRecorded && !isInline(choice))
      console.log(
        "Once nothing is pending and an up has succeeded, clear Pulumi's record of the interrupted run:\n" +
          `  ${inStack("pulumi refresh --clear-pending-creates --yes")}`,
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

/** Only reads, so it never waits for a run that is going on. @throws JournalError if the journal can't be read. */
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
  // Pulumi is asked for the settings only if there are accounts to compare.
  const isSameAccount = accounts.size > 1 ? await accountComparer(choice) : undefined;
  return factsIn(exported, journals, place, isSameAccount);
}

/** Updates the journal's records of creates that the state accounts for. If that fails, the next run does it. */
async function bringUpToDate({ outdated }: Facts) {
  const lines = outdated.map(({ ref, record, journal, knownBy, held = record.id }) => {
    let line = closedLine(ref.key);
    if (knownBy === "journal" && held !== undefined)
      line = confirmedLine({ ...record, key: ref.key }, held);
    return { line, journal };
  });
  await writeLines(lines).catch(() => undefined);
  // The journal had a create as open, while the state has another create's object.
  for (const { ref, held } of outdated)
    if (held !== undefined)
      console.log(
        `${ref.short}: the state has the object ${held}, but an earlier run also sent a create. If the account has a second object, adopt it, or deactivate it by hand.`,
      );
}

const noWait = () => ({ folder: journalFolder(), maxWaitMs: 0 });

/**
 * @param act is called once the lines' journals are locked. If it fails, nothing is written.
 * @throws JournalError at once if a run is using a journal: that run may be sending the creates of these lines.
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

/** Moves the open creates of another stack's journal to this stack's. @throws Error if that stack still exists. */
async function takeOver(former: string, facts: Facts, choice: StackChoice) {
  const { elsewhere, outdated, place } = facts;
  // All creates of one journal share one `journal` object, so the set has each journal once.
  const journals = new Set(elsewhere.map(({ journal }) => journal));
  const meant = [...journals].filter(({ stack }) =>
    [stack, stackOption(stack)].includes(former),
  );
  // Naming a stack whose creates this command has just closed is no mistake.
  if (meant.length + outdated.length === 0)
    throw new Error(`this machine's journal has no open create of the stack ${former}`);
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
 * Applies the answers, and reports them. @returns the facts afterwards.
 * @throws Error if a run has changed the facts that the answers are about.
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
  const facts = await readFacts(choice);
  const open = facts.open.map(({ record }) => record.mark);
  // Pulumi's refresh may have saved nothing: the create is listed again then.
  for (const answer of all)
    if (!open.includes(answer.create.record.mark)) console.log(resolvedMessage(answer));
  await bringUpToDate(facts);
  return facts;
}

/**
 * Resolves creates in the state by a refresh of only their resources. An answer without an id, or with an id that another
 * resource manages, just removes the create from the unresolved ones. @throws Error with Pulumi's message.
 */
async function resolveInState(all: readonly Answer[], choice: StackChoice) {
  const asked = all.filter(({ create }) => create.knownBy === "state");
  // Without a target, Pulumi would refresh all resources.
  if (asked.length === 0) return;
  const ids = asked.map((answer) => {
    return [answer.create.record.mark, isCreated(answer) ? answer.id : null];
  });
  // The provider's `read` gets the answers from this variable.
  const answers = { ADVERTISING_ANSWERS: JSON.stringify(Object.fromEntries(ids)) };
  const urns = new Set(asked.map(({ create }) => create.ref.resourceUrn));
  await refresh([...urns], answers, choice).catch(({ message }: Error) => {
    const names = asked.map(({ create }) => create.ref.short);
    throw new Error(
      `not resolved: ${enumerate(names, MAX_LISTED)}: ${message}\n` +
        "If Pulumi says that the stack is locked, let that run end. " +
        `Only if you are sure that no run is in progress:\n  ${inStack("pulumi cancel --yes")}`,
    );
  });
}

function resolvedMessage({ create, id, managedAs, isForgotten }: Answer): string {
  const { short } = create.ref;
  if (isForgotten)
    return `Forgotten: ${short} (id ${create.record.id ?? "unknown"}). Nothing changes on the platform.`;
  if (id === undefined) return `Resolved as not created: ${short}`;
  if (managedAs !== undefined)
    return `Resolved: ${short} was created as ${id}, which ${managedAs} manages. If the program still declares ${short}, \`pulumi up\` creates another one.`;
  return `Resolved as created with id ${id}: ${short}`;
}

function listing({ open, made, elsewhere }: Facts): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  const nameOf = ({ ref: { short, urn } }: Create) =>
    byShort.get(short)?.length === 1 ? short : urn;
  const lines: string[] = [];
  if (open.length + elsewhere.length === 0) lines.push("Nothing is pending.");
  if (open.length > 0) {
    lines.push(
      `${count(open.length, "create")} may or may not have reached the platform:`,
      ...open.map((create) => `  ${nameOf(create)}: ${whatIsKnown(create)}`),
      "If a run is in progress, these may be its creates: let it end first.",
      ...resolveCommands(open.map(nameOf)),
    );
  }
  if (made.length > 0)
    lines.push(
      "Created by earlier runs, but not in the state yet:",
      ...made.map((create) => `  ${create.ref.short}: ${whatIsKnown(create)}`),
      `The next \`${inStack("pulumi up")}\` on this machine with the same account takes over ` +
        "those that the program declares unchanged.",
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
