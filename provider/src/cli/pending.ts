/**
 * `pulumi-advertising pending`: lists and resolves creates of unknown outcome. It brings this machine's journals up to
 * date with the state first. What the state has is resolved by a refresh of just those resources, whose `read` gets the
 * answers; what only a journal or Pulumi's record has, by lines of the journal, which the next `up` here goes by. No
 * state is written here: only Pulumi locks and saves.
 */
import {
  agree,
  asTyped,
  count,
  cut,
  enumerate,
  idRanges,
  momentOf,
  plainShellWord,
  systemClock,
  UsageError,
} from "../base/index.js";
import {
  backendIn,
  gone,
  isJournalInUse,
  type JournalLine,
  journalErrorFrom,
  journalFolder,
  journalPath,
  openElsewhere,
  readJournal,
  type StackPlace,
  takeOverOpen,
  writeAnswers,
} from "../journal/index.js";
import { LIVE_ID } from "../rules/index.js";
import {
  ACCOUNT,
  describe,
  MAX_LISTED,
  nameInUrn,
  objectKey,
  pendingCommand as printed,
  resolveCommands,
  stackOption,
} from "../state/index.js";
import { type ExportedStack, objectsIn, stackNamesIn } from "./contents.js";
import { command, isInline, type StackChoice, say } from "./harness.js";
import {
  type Answer,
  type Create,
  type CreateRef,
  type Facts,
  factsIn,
  type Note,
  verdictOn,
} from "./pending-facts.js";
import {
  existingStacks,
  programFolder,
  refresh,
  STACK_HELP,
  STACK_OPTIONS,
  type StateChoice,
  sameAccountOf,
  stackName,
  stateOf,
} from "./pulumi.js";

const HELP = `Usage: pulumi-advertising pending [options]

Lists the creates whose outcome nobody knows: the unresolved ones in the state, those that only this machine's journal has,
and those that only Pulumi's record of an interrupted run has. Says what the next up here does without an answer.

  --created X=ID         resolves one: it was created, as ID; several times
  --not-created X        resolves one: it was not created, and the next up creates it; several times
  --search               resolves each other one that a search in advertising:operations finds or rules out
  --forget X             ends one without an answer: drops it from this machine's journal and from the state's unresolved
                         creates; the object, if there is one, is not touched; several times
  --take-over STACK      this stack was named STACK before: goes on with what was open there
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

X is a name as listed or as in a message, or a URN; for --not-created and --forget also the name of a set, for all its events.

Exit codes: 0 nothing needs an answer, 1 something does, 2 failed (for example, during a run).`;

const SEVERAL = { type: "string", multiple: true, default: [] as string[] } as const;

export const pendingCommand = command({
  help: HELP,
  options: {
    created: SEVERAL,
    "not-created": SEVERAL,
    search: { type: "boolean", default: false },
    forget: SEVERAL,
    "take-over": { type: "string" },
    ...STACK_OPTIONS,
    state: { type: "string" },
  },
  run: async ({ created, "not-created": notCreated, forget, search, "take-over": former, ...choice }) => {
    const stack = await stateOf(choice);
    const place = await placeOf(stack, choice);
    const isAnswer = created.length + notCreated.length + forget.length > 0 || search || former !== undefined;
    if (choice.state !== undefined && isAnswer) throw new UsageError("--state only looks; to resolve, leave it out");
    if (former !== undefined) await takeOver(former, place, choice);
    const facts = await factsOf(stack, place, choice);
    if (choice.state === undefined) await bringUpToDate(facts, place);
    if (place !== undefined && (await isJournalInUse(place, journalFolder()))) console.log(UNDER_WAY);
    if (created.length + notCreated.length + forget.length === 0 && !search) return tell(facts, stack, choice);
    if (place === undefined) throw new Error(NO_STACK);
    const { answers, forgotten, known } = readAnswers({ created, notCreated, forget }, facts);
    for (const sentence of known) console.log(sentence);
    // Loaded here, since nothing else of this command needs the HTTP library.
    const searched = search ? await (await import("./pending-search.js")).searched(answers, facts, choice) : [];
    // Any refresh drops Pulumi's record of an interrupted update, and with it what only that record has.
    if ([...answers, ...searched].some(isInState) || forgotten.some(({ inState }) => inState !== undefined))
      await writeLines(place, recordedLines(facts, stack.time));
    const { resolved, after } = await resolveInState([...answers, ...searched], forgotten, choice);
    await writeLines(place, [
      ...resolved.flatMap((answer) => linesOf(answer, facts)),
      ...forgotten.map((each): PlacedLine => ({ line: dropped(each.ref.key), elsewhere: each.elsewhere })),
    ]);
    for (const answer of resolved) console.log(resolvedMessage(answer));
    if (resolved.some(({ id, managedAs }) => id !== undefined && managedAs === undefined))
      console.log("If an id was wrong, set existingId to the right one in the program.");
    for (const each of forgotten) console.log(forgottenSentence(each));
    return tell(await factsOf(after, place, choice), after, choice);
  },
});

const UNDER_WAY =
  "A run of this stack is under way on this machine. Let it end, then run this again: it may resolve what is listed here.";

const NO_STACK = "`pulumi stack --show-name` does not say whose journal this is";

function resolvedMessage({ create: { ref }, id, managedAs }: Answer): string {
  if (id === undefined) return `Resolved as not created: ${ref.short}`;
  if (managedAs !== undefined) return `Resolved: ${ref.short} is ${id}, which is managed as ${managedAs}`;
  return `Resolved as created with id ${id}: ${ref.short}`;
}

function forgottenSentence({ ref, id, at }: Forgotten): string {
  const what = id === undefined ? `sent at ${at || "an unknown time"}` : `created as ${id}`;
  return `Forgotten: ${ref.short}, ${what}. The object, if there is one, is not touched.`;
}

/** @returns undefined if nobody says which stack it is. */
async function placeOf(stack: ExportedStack, choice: StateChoice): Promise<StackPlace | undefined> {
  const name = choice.state === undefined ? await stackName(choice) : stackNamesIn(stack)[0];
  return name === undefined ? undefined : { backend: backendIn(process.env, programFolder(choice)), stack: name };
}

/** Reads only, so that it never waits for a run that is under way. */
async function factsOf(stack: ExportedStack, place: StackPlace | undefined, choice: StateChoice): Promise<Facts> {
  if (place === undefined)
    return factsIn(stack, { own: new Map(), runs: [], elsewhere: [], isGone: () => false }, place);
  const path = journalPath(place);
  let own: ReturnType<typeof readJournal>;
  try {
    own = readJournal(path);
  } catch (error) {
    throw journalErrorFrom(path, error, "");
  }
  const elsewhere = choice.state === undefined ? openElsewhere(place, journalFolder()) : [];
  const existing = elsewhere.length === 0 ? [] : await existingStacks(choice, place.stack);
  const isGone = ({ backend, stack: name }: StackPlace) => backend === place.backend && !existing.includes(name);
  const journals = { own: own?.records ?? new Map(), runs: own?.runs ?? [], elsewhere, isGone };
  const accounts = accountsIn(stack, [...journals.own.values(), ...elsewhere]);
  // Pulumi is asked for the settings only if there is anything to compare.
  return factsIn(stack, journals, place, accounts.size > 1 ? await sameAccountOf(choice) : undefined);
}

function accountsIn({ resources }: ExportedStack, records: readonly { readonly account?: string | undefined }[]) {
  const stored = resources.map(({ outputs = {} }) => outputs[ACCOUNT]);
  const all = [...stored, ...records.map(({ account }) => account)];
  return new Set(all.filter((account) => typeof account === "string"));
}

/** What the state has is open no longer. A run that is under way sees that itself. */
async function bringUpToDate({ outdated }: Facts, place: StackPlace | undefined): Promise<void> {
  if (place === undefined) return;
  const lines = outdated.map(({ ref, record, elsewhere, held = record.id }): PlacedLine => {
    const { account, name, body } = record;
    const isHere = elsewhere === undefined && held !== undefined;
    return {
      line: isHere ? { key: ref.key, state: "confirmed", id: held, account, name, body } : gone(ref.key),
      elsewhere,
    };
  });
  await writeLines(place, lines, 0).catch(() => undefined);
  for (const { ref, record, held } of outdated)
    if (held !== undefined)
      console.log(
        `${ref.short}: an earlier run sent it at ${record.at}, and the state has ${held}. If the account has a second one, nothing manages that.`,
      );
}

interface PlacedLine {
  readonly line: JournalLine;
  readonly elsewhere?: StackPlace | undefined;
}

/** @param maxWaitMs for a run that uses a journal. @default as a run waits for another one */
async function writeLines(place: StackPlace, all: readonly PlacedLine[], maxWaitMs?: number): Promise<void> {
  const here = { folder: journalFolder(), ...(maxWaitMs !== undefined && { maxWaitMs }) };
  for (const placed of Map.groupBy(all, ({ elsewhere = place }) => journalPath(elsewhere)).values()) {
    const lines = placed.map(({ line }) => line);
    await writeAnswers(placed[0]?.elsewhere ?? place, lines, here);
  }
}

/** What another stack's journal has open becomes this one's. */
async function takeOver(former: string, place: StackPlace | undefined, choice: StackChoice): Promise<void> {
  if (place === undefined) throw new Error(NO_STACK);
  const folder = journalFolder();
  const open = openElsewhere(place, folder).flatMap(({ elsewhere }) => elsewhere ?? []);
  const isMeant = ({ stack }: StackPlace) => [stack, stackOption(stack).value].includes(former);
  const places = [...new Map(open.filter(isMeant).map((each) => [journalPath(each), each])).values()];
  if (places.length === 0) throw new Error(`this machine's journal has nothing open of a stack ${former}`);
  const existing = await existingStacks(choice, place.stack);
  if (places.some(({ stack, backend }) => backend === place.backend && existing.includes(stack)))
    throw new Error(
      `nothing was taken over: the stack ${former} still exists, and its own next run looks after what is open there:\n  pulumi up --stack ${plainShellWord(former)}`,
    );
  for (const each of places) {
    const { moved, kept } = await takeOverOpen(each, place, { folder });
    console.log(`Taken over from ${former}: ${count(moved.length, "create")}.`);
    if (kept.length > 0)
      console.log(
        `Not taken over, because this stack has open creates of these names too: ${enumerate(kept, MAX_LISTED)}.`,
      );
  }
}

function tell(facts: Facts, { pending }: ExportedStack, choice: StackChoice): number {
  const { open, made, known } = facts;
  const names = namesOf(open);
  const recorded = open.filter(({ known }) => known === "record");
  const others = tellElsewhere(facts);
  const nothing = others.isAsked ? "Nothing of this stack is pending." : "Nothing is pending.";
  const lines = [
    open.length === 0 ? nothing : `${count(open.length, "create")} may or may not have reached the platform:`,
    ...open.map((create, index) => openLine(create, names[index] ?? "")),
    ...(recorded.some(({ record: { replaces } }) => replaces !== undefined)
      ? ["If an update is known, what was to replace an object was an update of it: it was not created."]
      : []),
    ...(recorded.length > 0
      ? ["A run that is still under way on another machine looks the same: let it end first."]
      : []),
    ...(open.length > 0 ? resolveCommands(names) : []),
    ...(made.length > 0 ? [madeSentence(made)] : []),
    ...(known.length > 0 ? [knownSentence(known)] : []),
    ...others.lines,
    // It keeps it over any number of runs, and says nothing of when the interrupted one was.
    ...(pending.some(({ type }) => type === "creating") ? [clearSentence(choice)] : []),
  ];
  return say(lines.join("\n"), open.length === 0 && !others.isAsked ? 0 : 1);
}

function clearSentence(choice: StackChoice): string {
  const command = isInline(choice)
    ? "await stack.refresh({ clearPendingCreates: true })"
    : asTyped("pulumi refresh --clear-pending-creates --yes");
  return `Pulumi keeps its record of the interrupted run, and this command may ask about it again. Once nothing is open and \`pulumi up\` has ended, drop it:\n  ${command}`;
}

function openLine({ ref, record, or }: Create, name: string): string {
  const other = or === undefined ? "" : `, or for ${describe(ref.kind, or)}`;
  return `  ${name}: look in the account for ${describe(ref.kind, record)}${other}`;
}

/** What other stacks of the project have open. One that does not exist any more is perhaps this one's former name. */
function tellElsewhere({ elsewhere }: Facts) {
  const byPlace = Map.groupBy(elsewhere, (create) => `${create.elsewhere?.stack} in ${create.elsewhere?.backend}`);
  const lines = [...byPlace.values()].flatMap((creates) => {
    const there = creates[0]?.elsewhere;
    const { value: name } = stackOption(there?.stack ?? "");
    const are = `The stack ${name} (backend ${there?.backend || "unknown"}) has ${count(creates.length, "open create")} of an interrupted run on this machine`;
    if (creates[0]?.isOfGone !== true)
      return [`${are}. The next \`pulumi up\` of that stack looks after ${agree(creates.length, "it", "them")}.`];
    return [
      `${are}, and does not exist any more:`,
      ...cut(creates.map(elsewhereLine), MAX_LISTED, (more) => `  and ${more} more`),
      "If it was renamed, and is this one now:",
      `  ${asTyped(`npx pulumi-advertising pending --take-over ${plainShellWord(name)}`)}`,
      "If it was removed:",
      `  ${printed(
        "forget",
        creates.map(({ ref }) => ref.urn),
      )}`,
    ];
  });
  return { lines, isAsked: elsewhere.some(({ isOfGone }) => isOfGone === true) };
}

function elsewhereLine({ ref, record }: Create): string {
  if (record.id !== undefined) return `  ${ref.urn}: created as ${record.id}`;
  return `  ${ref.urn}: look in the account for ${describe(ref.kind, record)}`;
}

function namesOf(open: readonly Create[]): string[] {
  const byShort = Map.groupBy(open, ({ ref }) => ref.short);
  return open.map(({ ref }) => (byShort.get(ref.short)?.length === 1 ? ref.short : ref.urn));
}

/** Every id is said: an interrupted run may leave thousands, which a range tells. */
function madeSentence(made: readonly Note[]): string {
  const told = made.map(({ ref, record }) => `${ref.short} (${record.id})`);
  const rest = idRanges(made.slice(MAX_LISTED).flatMap(({ record }) => record.id ?? []));
  const names = enumerate(cut(told, MAX_LISTED, (others) => `${others} more (${rest})`));
  const them = agree(made.length, "it", "them");
  return `Created by earlier runs, and not in the state yet: ${names}. The next \`${asTyped("pulumi up")}\` on this machine with the same account takes ${them} over, if the program declares ${them}.`;
}

/** Which of both it was, the journal does not tell: it forgets what the state has. */
function knownSentence(known: readonly CreateRef[]): string {
  const names = enumerate(
    known.map(({ short }) => short),
    MAX_LISTED,
  );
  return `Not in doubt, though Pulumi's record of the interrupted run has ${agree(known.length, "it", "them")}: ${names}. This machine has not sent ${agree(known.length, "it", "them")}, or knows what became of ${agree(known.length, "it", "them")}.`;
}

/** What is dropped without an answer. */
interface Forgotten {
  readonly ref: CreateRef;
  readonly id: string | undefined;
  readonly at: string;
  /** Its mark, if the state has it as unresolved. */
  readonly inState?: Create | undefined;
  readonly elsewhere?: StackPlace | undefined;
}

/** @param given as typed; of `created`, `X=ID`. @throws Error with all that is wrong; then none of them counts. */
export function readAnswers(
  given: Readonly<Record<"created" | "notCreated" | "forget", readonly string[]>>,
  facts: Facts,
): { readonly answers: Answer[]; readonly forgotten: Forgotten[]; readonly known: string[] } {
  const known: string[] = [];
  const faults: string[] = [];
  const answers = new Map<string, Answer>();
  const forgotten = new Map<string, Forgotten>();
  const creates = [...facts.open, ...facts.elsewhere];

  const meant = <T extends Named>(text: string, all: readonly T[], none: string) => {
    const found = all.filter((each) => isCalled(each, text));
    // Its own stack's counts before another one's.
    const own = found.filter(({ elsewhere }) => elsewhere === undefined);
    const those = own.length > 0 ? own : found;
    const resources = new Set(those.map(({ ref }) => ref.resourceUrn)).size;
    const urns = those.map(({ ref }) => ref.urn);
    if (resources > 1) faults.push(`"${text}" is the name of several, so give the URN: ${enumerate(urns, MAX_LISTED)}`);
    const isKnown = facts.outdated.some((note) => isCalled(note, text));
    if (resources === 0 && isKnown) known.push(`${text} is resolved already: the state has what became of it.`);
    else if (resources === 0) faults.push(`"${text}" ${none}`);
    return resources === 1 ? those : [];
  };
  const answer = (create: Create, id: string | undefined) => {
    const { urn, short } = create.ref;
    const { conflict, managedAs } = id === undefined ? {} : verdictOn(create, id, facts, [...answers.values()]);
    if (answers.has(urn)) faults.push(`"${short}" is given two answers`);
    else if (conflict !== undefined) faults.push(conflict);
    else answers.set(urn, { create, id, managedAs });
  };
  const NONE = "is not a pending create (`pending` lists them; --forget drops what this machine remembers)";

  for (const text of given.created) {
    const [, name = text, id = ""] = /^(.+)=(.*)$/s.exec(text) ?? [];
    if (!LIVE_ID.test(id)) faults.push(`--created takes X=ID with a number from 1 up as ID; got "${text}"`);
    else if (!creates.some((each) => isCalled(each, name)) && isHeldAs(name, id, facts))
      known.push(`${name} is ${id} already: the state has it.`);
    else for (const create of meant(name, creates, NONE)) answer(create, id);
  }
  for (const text of given.notCreated) for (const create of meant(text, creates, NONE)) answer(create, undefined);
  const droppable: (Named & { readonly what: Forgotten })[] = [
    ...creates.map((create) => ({ ...create, what: forgottenCreate(create) })),
    ...[...facts.notes.values()].map((note) => ({ ...note, what: { ref: note.ref, ...idAndTime(note.record) } })),
  ];
  for (const text of given.forget) {
    for (const { what } of meant(
      text,
      droppable,
      "is nothing that this machine's journal or the state's unresolved creates have",
    )) {
      const { urn, short } = what.ref;
      if (answers.has(urn)) faults.push(`"${short}" is given two answers`);
      else forgotten.set(urn, { ...what, inState: what.inState ?? forgotten.get(urn)?.inState });
    }
  }
  if (faults.length > 0) throw new Error(`nothing was resolved: ${faults.join("; ")}`);
  return { answers: [...answers.values()], forgotten: [...forgotten.values()], known };
}

/** Somebody else has answered it, or a run has found it. */
function isHeldAs(name: string, id: string, { inState }: Facts): boolean {
  return [...inState].some(([object, ref]) => object === objectKey(ref.kind, id) && isCalled({ ref }, name));
}

interface Named {
  readonly ref: CreateRef;
  readonly otherRefs?: readonly CreateRef[];
  readonly elsewhere?: StackPlace | undefined;
}

function forgottenCreate(create: Create): Forgotten {
  const { ref, record, known, elsewhere } = create;
  return { ref, ...idAndTime(record), elsewhere, inState: known === "state" ? create : undefined };
}

function idAndTime(record: { readonly at: string; readonly id?: string | undefined }) {
  return { id: record.id, at: record.at };
}

/** What people may call it: by its own names, by former ones, and by those of its set. */
function isCalled({ ref, otherRefs = [] }: Named, name: string): boolean {
  return [ref, ...otherRefs].some(({ urn, short, resourceUrn }) =>
    [urn, nameInUrn(urn), short, resourceUrn, nameInUrn(resourceUrn)].includes(name),
  );
}

/** What the provider's `read` reads: JSON, an id or null by mark. */
const ANSWERS = "ADVERTISING_ANSWERS";

/**
 * Hands the answers for what the state has to a refresh of that; those for others count at once.
 * @returns the answers that count, and the state afterwards. @throws Error if the refresh resolved none, as in a run.
 */
async function resolveInState(answers: readonly Answer[], forgotten: readonly Forgotten[], choice: StackChoice) {
  const others = answers.filter((answer) => !isInState(answer));
  const asked = answers.filter(isInState);
  const drops = forgotten.flatMap(({ inState }) => inState ?? []);
  const creates = [...asked.map(({ create }) => create), ...drops];
  const urns = [...new Set(creates.map(({ ref }) => ref.resourceUrn))];
  // What another resource manages, and what is dropped, leaves the state's unresolved creates.
  const idOf = ({ id, managedAs }: Answer) => (managedAs === undefined ? (id ?? null) : null);
  const byMark = Object.fromEntries([
    ...asked.map((answer) => [answer.create.record.mark, idOf(answer)]),
    ...drops.map(({ record }) => [record.mark, null]),
  ]);
  const refreshed = async () => refresh(urns, { [ANSWERS]: JSON.stringify(byMark) }, choice);
  const failed = creates.length === 0 ? undefined : await refreshed().catch((error: Error) => error.message);
  const after = await stateOf(choice);
  // By name too: a resource that got another one's name may have the same create.
  const unresolved = objectsIn(after.resources).map(({ ref, record }) => `${ref.urn} ${record?.mark}`);
  const still = new Set(unresolved);
  const isStill = ({ ref, record }: Create) => still.has(`${ref.urn} ${record.mark}`);
  const resolved = asked.filter(({ create }) => !isStill(create));
  const isLeft = creates.filter(isStill).length;
  const unlock = `If Pulumi says that the stack is locked, let that run end. Only if you are sure that none is under way:\n  ${asTyped("pulumi cancel --yes")}`;
  const why = `${failed ?? "Pulumi's refresh has not changed them"}\n${unlock}`;
  if (isLeft === creates.length && isLeft > 0) throw new Error(`nothing was resolved: ${why}`);
  if (isLeft > 0) console.error(`Not all were resolved: ${why}`);
  return { resolved: [...others, ...resolved], after };
}

const isInState = ({ create }: Answer) => create.known === "state";

/** What only Pulumi's record has becomes this machine's to ask about. @param time of the record. */
export function recordedLines({ open }: Facts, time: string): PlacedLine[] {
  return open.flatMap(({ ref, record, or, known }): PlacedLine[] => {
    if (known !== "record") return [];
    const { key } = ref;
    const body = or === undefined ? record.body : "";
    return [{ line: { ...record, body, key, state: "sent", at: record.at || time } }];
  });
}

function linesOf({ create, id, managedAs }: Answer, { notes }: Facts): PlacedLine[] {
  const { ref, otherRefs, record, known, elsewhere } = create;
  const { key } = ref;
  const { replaces } = record;
  const at = momentOf(systemClock);
  const former = otherRefs.map((other): PlacedLine => ({ line: dropped(other.key) }));
  if (known === "state") {
    if (notes.get(key)?.record.state !== "sent") return former;
    if (id !== undefined && managedAs === undefined)
      return [...former, { line: { key, state: "confirmed", id, at, name: record.name } }];
    // What the create was to replace is still live: the next run says so.
    const before: JournalLine = replaces === undefined ? dropped(key) : { key, state: "confirmed", id: replaces, at };
    return [...former, { line: before }];
  }
  if (id === undefined || managedAs !== undefined) return [{ line: dropped(key), elsewhere }];
  // Of two that differ, nobody knows which it is: it is taken for what the program has.
  const sent = create.or === undefined ? record : { mark: record.mark, body: "" };
  const isNew = known === "record" || create.or !== undefined;
  const lines: JournalLine[] = [
    ...(isNew ? [{ ...sent, key, state: "sent", at } as const] : []),
    { key, state: "created", id, answered: true },
  ];
  return lines.map((line) => ({ line, elsewhere }));
}

function dropped(key: string): JournalLine {
  return gone(key, momentOf(systemClock));
}
