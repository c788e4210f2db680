/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. An answer is kept where each machine's next
 * run finds it: in the state, by a refresh whose `read` gets the answer. Only if no resource of the state can keep it, or
 * only this machine's journal knows the create, the journal keeps it. Only Pulumi writes the state.
 */
import { randomBytes } from "node:crypto";
import { count, enumerate, inStack, UsageError } from "../base/index.js";
import { stateFolder } from "../files/index.js";
import {
  journalErrorFrom,
  journalPaths,
  readJournal,
  removeJournals,
  stackPlace,
  writeAnswers,
} from "../journal/index.js";
import { resourceOfType } from "../kinds/index.js";
import type { RefreshAnswers } from "../operations/index.js";
import { startOf } from "../plan/index.js";
import { type Resource, savedStateOf, stackNamesIn } from "../record/index.js";
import {
  describe,
  MAX_LISTED,
  resolveCommands,
  stackOption,
  UNRESOLVED,
} from "../state/index.js";
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
  answeredId,
  isCreated,
  lineOfAnswer,
  readAnswers,
} from "./pending-answers.js";
import { type Create, type Facts, factsIn, openUpdates } from "./pending-facts.js";
import {
  clearPendingCreates,
  projectFolder,
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
  --clear                takes the interrupted run's creates out of Pulumi's record, once the
                         saved state accounts for all of them
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name from a message, or a URN; for --not-created and --forget also the name of a set.`,
  options: {
    created: SEVERAL,
    "not-created": SEVERAL,
    search: { type: "boolean", default: false },
    forget: SEVERAL,
    clear: { type: "boolean", default: false },
    ...STACK_OPTIONS,
    state: TEXT,
  },
  run: async ({ search, clear, stack, cwd, state, ...typed }) => {
    const choice = { stack, cwd, state };
    const isChange = search || clear || Object.values(typed).flat().length > 0;
    if (state !== undefined && isChange)
      throw new UsageError("--state only lists; to resolve, leave it out");
    let facts = await readFacts(choice);
    // Printed commands name the stack, so that they work whichever stack is selected then.
    if (facts.stack !== "")
      setCommandStack({ stack: stack ?? stackOption(facts.stack), cwd });
    if (state === undefined) removeJournals(facts.finished);
    const { answers, unknown } = readAnswers(typed, facts);
    for (const sentence of unknown) console.log(sentence);
    facts = await execute(answers, facts, choice);
    if (search) {
      // Loaded here, since nothing else of this command needs the HTTP library.
      const { searchOpen } = await import("./platform.js");
      const found = await searchOpen(facts, choice);
      const now = await readFacts(choice);
      // A search takes up to 30 seconds. Meanwhile a run may have sent the same create again.
      facts = isAsBefore(now, facts) ? await execute(found, now, choice) : now;
    }
    if (clear) facts = await clearRecord(facts, choice);
    console.log(listing(facts, isInline(choice)).join("\n"));
    return facts.open.length > 0 ? 1 : 0;
  },
});

/** Only reads, so it never waits for a run that is going on. @throws JournalError if the journal can't be read. */
async function readFacts(choice: StateChoice): Promise<Facts> {
  const [exported, selected] = await Promise.all([stateOf(choice), stackName(choice)]);
  let stack = selected;
  if (choice.state !== undefined) [stack = ""] = stackNamesIn(exported);
  if (stack === undefined)
    throw new Error("no stack is selected: select one, or add --stack");
  const saved = savedStateOf(exported);
  const place = stackPlace(stack, process.env, projectFolder(choice));
  const paths = journalPaths({ folder: stateFolder() }, place, saved.runs);
  const journals = paths.flatMap((path) => {
    try {
      return readJournal(path) ?? [];
    } catch (error) {
      throw journalErrorFrom(path, error, "");
    }
  });
  return factsIn(saved, journals, stack);
}

/** Whether no run has begun or noted anything since. */
function isAsBefore(...facts: Facts[]) {
  const signs = facts.map(({ saved, journals }) =>
    JSON.stringify([saved.time, journals.map((each) => [each.path, ...each.entries])]),
  );
  return new Set(signs).size === 1;
}

/** Applies the answers, and reports them. @returns the facts afterwards. @throws Error with Pulumi's message. */
async function execute(
  all: readonly Answer[],
  before: Facts,
  choice: StackChoice,
): Promise<Facts> {
  if (all.length === 0) return before;
  const { saved, stack } = before;
  const carrier = carrierIn(saved.resources);
  if (!carrier) {
    const made = all.filter((answer) => {
      return isCreated(answer) && answer.create.knownBy === "state";
    });
    // Their resources can keep the other answers.
    if (made.length > 0 && made.length < all.length) {
      const others = all.filter((answer) => !made.includes(answer));
      return execute(others, await execute(made, before, choice), choice);
    }
  }
  const isKept = (answer: Answer) => {
    const { knownBy, ref } = answer.create;
    // A single resource that wasn't created leaves the state, and its answer with it.
    const isLeaving = answeredId(answer) === "" && ref.member === undefined;
    if (knownBy === "state" && !isLeaving) return true;
    return knownBy !== "journal" && carrier !== undefined;
  };
  const outcomes = all
    .filter(({ create }) => create.knownBy !== "journal")
    .map((answer) => [answer.create.record.mark, answeredId(answer)]);
  const answers: RefreshAnswers = {
    outcomes: Object.fromEntries(outcomes),
    carrier: carrier?.id ?? "",
    open: openUpdates(before),
  };
  const changed = all.flatMap(({ create: { knownBy, ref } }) =>
    knownBy === "state" ? ref.resourceUrn : [],
  );
  const sets = saved.resources.filter(({ id = "" }) => answers.open[id]);
  const urns = new Set([...changed, ...sets.map(({ urn }) => urn)]);
  if (carrier) urns.add(carrier.urn);
  // Also if no resource has to be changed: Pulumi refuses it while a run is going on.
  if (urns.size === 0) urns.add(rootOf(saved.resources));
  await refresh([...urns], { ADVERTISING_ANSWERS: JSON.stringify(answers) }, choice).catch(
    ({ message }: Error) => {
      const names = all.map(({ create }) => create.ref.short);
      throw new Error(
        `not resolved: ${enumerate(names, MAX_LISTED)}: ${message}\n` +
          "If Pulumi says that the stack is locked, let that run end. " +
          `Only if you are sure that no run is in progress:\n  ${inStack("pulumi cancel --yes")}`,
      );
    },
  );
  const lines = all.filter((answer) => !isKept(answer)).map(lineOfAnswer);
  if (lines.length > 0) {
    const place = stackPlace(stack, process.env, projectFolder(choice));
    const run = randomBytes(9).toString("base64url");
    const { saved: now } = await readFacts(choice);
    const header = { place, run, ...startOf(now) };
    await writeAnswers(header, lines, { folder: stateFolder(), maxWaitMs: 0 });
  }
  const facts = await readFacts(choice);
  removeJournals(facts.finished);
  const open = facts.open.map(({ record }) => record.mark);
  // Pulumi's refresh may have saved nothing: the create is listed again then.
  const resolved = all.filter(({ create }) => !open.includes(create.record.mark));
  for (const message of new Set(resolved.map(resolvedMessage))) console.log(message);
  return facts;
}

/** A resource of ours that can keep answers about other creates in its outputs; undefined if there is none. */
function carrierIn(resources: readonly Resource[]): Resource | undefined {
  return resources.find(({ type, external, outputs, ...resource }) => {
    const isLeaving = resource.delete === true || resource.pendingReplacement === true;
    const isUnresolved = outputs?.[UNRESOLVED] !== undefined;
    return resourceOfType(type) && external !== true && !isLeaving && !isUnresolved;
  });
}

/** The stack's own resource, whose refresh asks no provider. */
function rootOf(resources: readonly Resource[]) {
  return resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.urn ?? "";
}

/** The creates in Pulumi's record, and those that are not of this package. */
function interruptedCreates({ saved: { pending } }: Facts) {
  const creating = pending.filter(({ type }) => type === "creating");
  const foreign = creating.filter(({ resource }) => !resourceOfType(resource.type));
  return { creating, foreign };
}

/**
 * Takes the pending creates out of Pulumi's record. @returns the facts afterwards.
 * @throws Error with what stands against it; then nothing has changed.
 */
async function clearRecord(facts: Facts, choice: StackChoice): Promise<Facts> {
  const { saved, open, made } = facts;
  const { creating, foreign } = interruptedCreates(facts);
  if (creating.length === 0) {
    console.log("Pulumi's record has no interrupted creates.");
    return facts;
  }
  const against = [
    ...foreign.map(({ resource }) => `${resource.urn}: not a resource of this package`),
    ...open.map(({ ref }) => `${ref.urn}: not resolved yet`),
    ...made.map(
      ({ ref }) =>
        `${ref.urn}: not in the state yet; run \`${inStack("pulumi up")}\` first`,
    ),
  ];
  if (against.length > 0)
    throw new Error(`nothing was cleared:\n  ${against.join("\n  ")}`);
  await clearPendingCreates(rootOf(saved.resources), choice);
  // Nothing in them is open, and the record no longer says that they are this state's.
  removeJournals(facts.journals);
  console.log(`Cleared from Pulumi's record: ${count(creating.length, "create")}.`);
  return readFacts(choice);
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

function listing(facts: Facts, isOfInline: boolean): string[] {
  const { open, made } = facts;
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  const nameOf = ({ ref: { short, urn } }: Create) =>
    byShort.get(short)?.every(({ ref }) => ref.urn === urn) ? short : urn;
  const lines: string[] = [];
  if (open.length === 0) lines.push("Nothing is pending.");
  if (open.length > 0) {
    lines.push(
      `${count(open.length, "create")} may or may not have reached the platform:`,
      ...open.map((create) => `  ${nameOf(create)}: ${whatIsKnown(create)}`),
      "If a run is in progress, these may be its creates: let it end first.",
      ...resolveCommands([...new Set(open.map(nameOf))]),
    );
  }
  if (made.length > 0)
    lines.push(
      "Created by earlier runs, but not in the state yet:",
      ...made.map((create) => `  ${create.ref.short}: ${whatIsKnown(create)}`),
      `The next \`${inStack("pulumi up")}\` takes over those that the program declares unchanged.`,
    );
  const { creating, foreign } = interruptedCreates(facts);
  const isClearable = creating.length > 0 && foreign.length === 0;
  if (isClearable && open.length + made.length === 0 && !isOfInline)
    lines.push(
      "Pulumi's record still lists creates of interrupted runs. To clear it:",
      `  ${inStack("npx pulumi-advertising pending --clear")}`,
    );
  return lines;
}

function whatIsKnown({ ref, record }: Create) {
  if (record.id !== undefined && record.isDoubtful === true)
    return `created as ${record.id} according to this machine's journal, but Pulumi's record doesn't name that run`;
  if (record.id !== undefined) return `created as ${record.id}`;
  return `look in the account for ${describe(ref.kind, record)}`;
}
