/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. An answer is kept where each machine's next
 * run finds it: in the state, by a refresh whose `read` gets the answer. Only if no resource of the state can keep it, or
 * this machine's journal asks for it too, the journal keeps it. Only Pulumi writes the state.
 */
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { count, enumerate, inStack, joined, UsageError } from "../base/index.js";
import { stateFolder } from "../files/index.js";
import {
  awaitEnd,
  findJournals,
  journalErrorFrom,
  passAnswers,
  type RefreshAnswers,
  readFound,
  readJournal,
  rewriteJournals,
  stackPlace,
  writeAnswers,
} from "../journal/index.js";
import { resourceOfType } from "../kinds/index.js";
import { startOf } from "../plan/index.js";
import { type Resource, savedStateOf, stackNamesIn } from "../record/index.js";
import {
  forgetNames,
  MAX_LISTED,
  noteNames,
  objectKey,
  stackOption,
  UNRESOLVED,
} from "../state/index.js";
import { command, SEVERAL, type StackChoice, setCommandStack, TEXT } from "./harness.js";
import { type Answer, type Known, lineOf, readAnswers } from "./pending-answers.js";
import {
  DROP_OTHERS,
  interruptedCreates,
  listing,
  resolvedMessage,
  unaccounted,
} from "./pending-texts.js";
import {
  projectFolder,
  refresh,
  STACK_OPTIONS,
  type StateChoice,
  stackName,
  stateOf,
} from "./pulumi.js";
import { type Create, type StackCreates, stackCreatesIn } from "./stack-creates.js";

export const pendingCommand = command(
  {
    created: SEVERAL,
    "not-created": SEVERAL,
    search: { type: "boolean", default: false },
    forget: SEVERAL,
    clear: { type: "boolean", default: false },
    ...STACK_OPTIONS,
    state: TEXT,
  },
  async ({ search, clear, stack, cwd, state, ...typed }) => {
    const choice = { stack, cwd, state };
    const isChange = search || clear || Object.values(typed).flat().length > 0;
    if (state !== undefined && isChange)
      throw new UsageError("--state only lists; to resolve, leave it out");
    let creates = await readStackCreates(choice);
    // Printed commands name the stack, so that they work whichever stack is selected then.
    if (creates.stack !== "")
      setCommandStack({ stack: stack ?? stackOption(creates.stack), cwd });
    const { answers, unknown } = readAnswers(typed, creates);
    for (const sentence of unknown) console.log(sentence);
    creates = await execute(answers, creates, choice);
    if (search) {
      // Loaded here, since nothing else of this command needs the HTTP library.
      const { searchOpen } = await import("./platform.js");
      const found = await searchOpen(creates, choice);
      const now = await readStackCreates(choice);
      // A search takes up to 30 seconds. Meanwhile a run may have sent the same create again.
      const isSame = isDeepStrictEqual(
        [now.saved.time, now.journals],
        [creates.saved.time, creates.journals],
      );
      creates = isSame ? await execute(found, now, choice) : now;
    }
    if (clear) creates = await clearRecord(creates, choice);
    console.log(listing(creates).join("\n"));
    return Math.min(creates.open.length + unknown.length, 1);
  },
);

/**
 * Never waits for a run that is going on. @throws JournalError if the journal can't be read.
 * @param before the creates before this command's refresh, which gives the state another time.
 */
async function readStackCreates(choice: StateChoice, before?: StackCreates) {
  const [exported, selected] = await Promise.all([stateOf(choice), stackName(choice)]);
  let stack = selected;
  if (choice.state !== undefined) [stack = ""] = stackNamesIn(exported);
  if (stack === undefined)
    throw new Error("no stack is selected: select one, or add --stack");
  const saved = savedStateOf(exported);
  for (const { path, from } of before?.journals ?? [])
    if (from === before?.saved.time) await renew(path, saved.time).catch(() => undefined);
  const place = stackPlace(stack, process.env, projectFolder(choice));
  const folder = stateFolder();
  const found = findJournals({ folder }, place, saved.runs).map((each) =>
    readFound(each, saved.runs, { folder }).catch((error) => {
      throw journalErrorFrom(each.path, error, "");
    }),
  );
  const journals = (await Promise.all(found)).filter((each) => each !== undefined);
  const creates = stackCreatesIn(saved, journals, stack);
  forgetNames();
  for (const { ref } of [...creates.open, ...creates.created])
    noteNames(ref, ref.urn, ref.resourceUrn);
  return creates;
}

/**
 * Notes the state's new time in a journal that was known as its own by the former one.
 * @throws JournalError if its run still writes it; Error if it can't be read.
 */
async function renew(path: string, from: string) {
  // A killed run has left its lock.
  await awaitEnd(path, { folder: stateFolder(), maxWaitMs: 0 });
  const journal = readJournal(path);
  if (journal?.entries.size) rewriteJournals([{ ...journal, from }]);
}

/** Applies the answers, and reports them. @returns the creates afterwards. @throws Error with Pulumi's message. */
async function execute(all: readonly Answer[], before: StackCreates, choice: StackChoice) {
  if (all.length === 0) return before;
  const { resources } = before.saved;
  const carrier = carrierIn(resources, all);
  const outcomes: Record<string, string> = {};
  const urns = new Set([carrier?.urn ?? ""]);
  for (const { create, id } of all) {
    if (create.knownBy !== "journal")
      outcomes[create.record.mark] = id && objectKey(create.ref.kind, id);
    if (create.knownBy === "state") urns.add(create.ref.resourceUrn);
  }
  // Pulumi's save drops interrupted updates: their resources keep in the refresh what they have sent.
  const updates = before.open.filter(({ record: { isOfUpdate }, knownBy }) => {
    return isOfUpdate && knownBy === "record";
  });
  const holderOf = ({ record }: Create) => before.saved.listed(record.mark)?.stateUrn;
  for (const update of updates) urns.add(holderOf(update) ?? "");
  for (const { kind, id = "", resource } of before.saved.objects)
    if (before.saved.interrupted.has(objectKey(kind.name, id))) urns.add(resource.urn);
  urns.delete("");
  // Also if no resource has to be changed: Pulumi refuses it while a run is going on.
  if (urns.size === 0) urns.add(rootOf(resources));
  const answers: RefreshAnswers = { outcomes, carrier: carrier?.id ?? "" };
  // The state may have their set no more: then this machine's journal asks from now on, and keeps the answer.
  const left = updates.filter((each) => holderOf(each) === undefined);
  const start = await keepHere(
    left.map((create) => ({ create })),
    before,
    choice,
  );
  await passAnswers(answers, (environment) =>
    refresh([...urns], environment, choice),
  ).catch(({ message }: Error) => {
    const names = all.map(({ create }) => create.ref.shownName);
    throw new Error(`not resolved: ${enumerate(names, MAX_LISTED)}: ${message}`);
  });
  let creates = await readStackCreates(choice, start);
  const asked = all.filter((answer) => isStillAsked(answer, creates));
  creates = await keepHere(asked, creates, choice);
  rewriteJournals(creates.settled);
  const open = creates.open.map(({ record }) => record.mark);
  // Pulumi's refresh may have saved nothing: the create is listed again then.
  const resolved = all.filter(({ create }) => !open.includes(create.record.mark));
  const messages = resolved.map((answer) => resolvedMessage(answer, before, creates));
  const here = asked.flatMap(({ create, isForgotten }) => {
    return create.knownBy === "state" || isForgotten ? [] : create;
  });
  if (left.length + here.length > 0) {
    const kept = [...left, ...here].map(({ ref }) => ref.shownName);
    messages.push(
      `Only this machine knows ${enumerate(kept, MAX_LISTED)} now: run \`${inStack("pulumi up")}\` here.`,
    );
  }
  for (const message of new Set(messages)) console.log(message);
  return creates;
}

/** Notes answers, or what has none yet, in this machine's journal. @returns the creates afterwards. @throws JournalError */
async function keepHere(all: readonly Known[], creates: StackCreates, choice: StackChoice) {
  if (all.length === 0) return creates;
  const place = stackPlace(creates.stack, process.env, projectFolder(choice));
  const options = { folder: stateFolder(), maxWaitMs: 0 };
  for (const [of, answers] of Map.groupBy(all, ({ create }) => create.record.run)) {
    // The sending run's name leads to it, even if the backend is guessed otherwise then.
    const run = joined(".", of, randomBytes(9).toString("base64url"));
    await writeAnswers(
      { place, run, ...startOf(creates.saved) },
      answers.map(lineOf),
      options,
    );
  }
  return readStackCreates(choice);
}

/**
 * Whether a journal or Pulumi's record still asks what was answered: then only this machine's journal can keep it. The next
 * run may not be able to read the record, and the state may not name a journal's run any more.
 */
function isStillAsked({ create, id }: Answer, { open, created, ended }: StackCreates) {
  const asking = [...open, ...ended];
  if (id === "") asking.push(...created);
  return asking.some(
    ({ record, knownBy }) => knownBy !== "state" && record.mark === create.record.mark,
  );
}

/** A resource of ours that can keep answers about other creates in its outputs; undefined if there is none. */
function carrierIn(resources: readonly Resource[], answers: readonly Answer[]) {
  return resources.find(({ urn, type, external, outputs, ...resource }) => {
    const isOld = resource.delete || resource.pendingReplacement;
    if (!resourceOfType(type) || external || isOld) return false;
    const isResolved = answers.some(({ create, id }) => {
      return id !== "" && create.ref.resourceUrn === urn;
    });
    return isResolved || outputs?.[UNRESOLVED] === undefined;
  });
}

/** The stack's own resource, whose refresh asks no provider. */
function rootOf(resources: readonly Resource[]) {
  return resources.find(({ type }) => type === "pulumi:pulumi:Stack")?.urn ?? "";
}

/**
 * Takes the pending creates out of Pulumi's record. @returns the creates afterwards.
 * @throws Error with what stands against it; then nothing has changed.
 */
async function clearRecord(creates: StackCreates, choice: StackChoice) {
  const { length } = interruptedCreates(creates);
  if (length === 0) {
    console.log("Pulumi's record has nothing to clear.");
    return creates;
  }
  const against = unaccounted(creates);
  const ours = creates.open.length + creates.created.length;
  if (against.length > 0)
    throw new Error(
      [
        "nothing was cleared: the state doesn't have these. Resolve what pending lists, and run pulumi up; Pulumi resolves those of other packages.",
        ...(ours > 0 ? [DROP_OTHERS] : []),
        ...against.map((urn) => `  ${urn}`),
      ].join("\n"),
    );
  await refresh([rootOf(creates.saved.resources)], {}, choice, "clear");
  // Nothing in them is open, and the record no longer says that they are this state's.
  rewriteJournals(creates.journals.map((each) => ({ ...each, entries: new Map() })));
  console.log(`Cleared from Pulumi's record: ${count(length, "create")}.`);
  return readStackCreates(choice);
}
