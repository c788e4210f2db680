/** `pulumi-advertising pending`: lists and settles creates of unknown outcome. */
import { randomUUID } from "node:crypto";
import { agree, asTyped, count, cut, enumerate, idRanges, momentOf, systemClock, UsageError } from "../base/index.js";
import { aboutWhom, describe, forgetCommands, nameInUrn, reopenCommand, splitMember, waysOut } from "../state/index.js";
import { changeStack, type Decided, journalsOf, StackJournals } from "./change-stack.js";
import { heldIn, livesIn } from "./contents.js";
import { command, say, type Values } from "./harness.js";
import {
  expectOfStack,
  type Known,
  notesAfter,
  readForgotten,
  readVerdicts,
  reopen,
  settledIn,
  slicesOf,
  type Verdict,
} from "./pending-answers.js";
import { idOf, namesNow, type Pending, type PendingCreate, pendingIn, recordsOf } from "./pending-facts.js";
import { settle } from "./pending-settle.js";
import { exportIn, exportOf, programFolder, STACK_HELP, STACK_OPTIONS, settingInEnvironment } from "./pulumi.js";
import {
  type ExportedStack,
  expectNothingPending,
  othersInFlight,
  readExport,
  stateIn,
  underNewNames,
} from "./stack-export.js";

const HELP = `Usage: pulumi-advertising pending [options]

Lists the creates whose outcome nobody knows: the unresolved ones in the state, those in Pulumi's record of an interrupted
run (an \`up\` could send them again), and those that only a journal on this machine has.

  --created URN=ID       settles one: it was created as ID; leave out =ID if the journal has the id (with a set's URN:
                         each event whose id the journal has)
  --not-created URN      settles one: it was not created, and the next up creates it (with a set's URN: each event whose
                         id nobody knows)
  --search               searches for each by its mark, and settles it if the result is clear; needs a search in
                         advertising:operations, and creates nothing
  --forget URN           removes what interrupted runs noted about a resource: from this machine's journal, from Pulumi's
                         record, and from the state if the create's id is known; the next up creates the resource if it is
                         declared
  --reopen URN           takes an answer back, on the machine where it was given, until an up of the whole program has
                         succeeded
${STACK_HELP}
  --state FILE           only lists, from what \`pulumi stack export\` printed (- for standard input)

URN may be a name, as in the program or \`report ids\`, if only one create has it. An event of a set is URN["key"];
--forget and --reopen take the set's URN for all its events (--forget only if no outcome among them is unknown). Options
with a URN may be repeated.

Exit codes: 0 nothing is pending, 1 something is, 2 failed (for example, during a run).`;

const NOTHING =
  "Nothing is pending: neither the engine, nor the state, nor a journal on this machine has a create of unknown outcome.";

/** What the engine keeps listing until it is cleared needs nobody. */
const historyInWords = (amount: number) =>
  [
    `Pulumi still lists pending creates of ${count(amount, "resource")} that are already settled: the state has ${agree(amount, "it", "them")}.`,
    "If the interrupted run used `--replace`, look in the account for one more object of each, of a set for one more of each event.",
    "To clear Pulumi's list, which drops the pending creates of all providers in this stack (optional):",
    `  ${asTyped("pulumi refresh --clear-pending-creates --yes")}`,
  ].join("\n");

const SEVERAL = { type: "string", multiple: true, default: [] as string[] } as const;

const OPTIONS = {
  created: SEVERAL,
  "not-created": SEVERAL,
  forget: SEVERAL,
  reopen: SEVERAL,
  search: { type: "boolean", default: false },
  ...STACK_OPTIONS,
  state: { type: "string" },
} as const;
type Options = Values<typeof OPTIONS>;

export const pendingCommand = command({
  help: HELP,
  options: OPTIONS,
  run: async (options) => {
    const settles = [...options.created, ...options["not-created"], ...options.forget].length > 0 || options.search;
    const isReopening = options.reopen.length > 0;
    if (options.state !== undefined && (settles || isReopening))
      throw new UsageError("--state only looks; to settle, leave it out");
    if (isReopening && settles) throw new UsageError("--reopen takes answers back: give no new answers with it");
    if (!settles && !isReopening) return lookOnly(options);
    const { created, "not-created": notCreated, forget, reopen } = options;
    return changeStack(options, (stack, journals) => {
      expectOfStack([...created, ...notCreated, ...forget, ...reopen], journals.names);
      const now = underNewNames(stack);
      return isReopening ? takeBack(now, journals, reopen) : judge(now, journals, options);
    });
  },
});

/** @returns the exit code. */
async function lookOnly(options: Options): Promise<number> {
  const { state, ...choice } = options;
  const given = state === undefined ? undefined : await exportIn(state); // standard input can be read once
  const read = async () => given ?? readExport(await exportOf(choice));
  let stack = await read();
  const journals = (await journalsBeside(options)).andThoseOf(stack);
  // What a run has saved meanwhile is read again.
  if (await journals.waitForRun()) stack = await read();
  if (state === undefined) {
    await journals.forgetAnswered(settledIn(stack, journals.settlements()));
    await journals.settleFormerNames(heldIn(stateIn(stack).resources));
  }
  return tell(pendingIn(underNewNames(stack), journals.notes(), journals.isSettled), true);
}

/** Of an export, only the environment says where its journals are. */
async function journalsBeside({ state, ...choice }: Options): Promise<StackJournals> {
  if (state === undefined) return journalsOf(choice);
  const cookieFile = settingInEnvironment("cookieFile");
  return new StackJournals({ cookieFile, folder: programFolder(choice) });
}

/** What is to be done with one look at the stack: the answers that were given, and what a search finds out about the others. */
async function judge(stack: ExportedStack, journals: StackJournals, options: Options): Promise<Decided<number>> {
  await journals.forgetAnswered(settledIn(stack, journals.settlements()));
  const notes = journals.notes();
  const pending = pendingIn(stack, notes, journals.isSettled);
  const known: Known = { pending: pending.open, stack, notes, answered: journals.settlements() };
  const given = readVerdicts({ created: options.created, notCreated: options["not-created"] }, known);
  // Loaded here, since nothing else of this command needs the HTTP library.
  const searched = async () => (await import("./pending-search.js")).searched(known, given, options);
  const verdicts = [...given, ...(options.search ? await searched() : [])];
  const answered = new Set(verdicts.map(({ urn }) => urn));
  const forgotten = readForgotten(options.forget, answered, known);
  const byUrn = new Map(pending.open.map((create) => [create.urn, create]));
  const isInState = (urn: string) => !["journal", undefined].includes(byUrn.get(urn)?.known);
  // What Pulumi's record has of it goes too: otherwise it would still be pending, as if no run here had sent it.
  const isRecorded = (urn: string) => pending.inFlight.has(urn) || pending.newSets.has(splitMember(urn).of);
  // What was searched for in vain, and only the engine's record knows, is saved: the next `up` would know nothing of it.
  const isToSave = options.search && pending.open.some(isKnownByRecordAlone);
  const urns = [...new Set([...answered, ...forgotten.urns])];
  const isToImport = isToSave || urns.some(isInState) || [...forgotten.urns].some(isRecorded);
  const surroundings = { now: momentOf(systemClock), newMark: randomUUID, account: () => journals.accountSentTo() };
  const remembered = { ...pending, created: pending.created.filter(({ urn }) => !forgotten.urns.has(urn)) };
  const dropped = urns.flatMap((urn): Verdict[] => (answered.has(urn) ? [] : [{ urn, createdAs: undefined }]));
  const settled = isToImport ? settle(stack, remembered, [...verdicts, ...dropped], surroundings) : undefined;
  // Nobody has answered: what is reopened is that again.
  const before = slicesOf(settled === undefined ? stack : settle(stack, pending, [], surroundings));
  const after = slicesOf(settled ?? stack);
  const answers = urns.map((urn) => ({ urn, before: before(urn), after: after(urn) }));
  let isNoted = false;
  return {
    stack: settled,
    before: () => {
      const takeBackNotes = journals.noteSettlements(answers, namesNow(pending.open));
      isNoted = takeBackNotes !== undefined && answers.length > 0;
      return takeBackNotes ?? (() => undefined);
    },
    after: async () => {
      const made = new Set(verdicts.flatMap(({ urn, createdAs }) => (createdAs === undefined ? [] : [urn])));
      if (settled !== undefined) journals.noteLives(livesIn(stateIn(settled).resources, made), true);
      const answered = notesAfter(verdicts, byUrn);
      journals.settle(new Map([...[...forgotten.marks].map((mark) => [mark, undefined] as const), ...answered]));
      const held = heldIn(stateIn(settled ?? stack).resources);
      await journals.settleFormerNames(new Set([...held, ...answered.map(([mark]) => mark)]));
      for (const [of, those] of Map.groupBy(verdicts, ({ urn }) => splitMember(urn).of)) tellVerdicts(of, those, byUrn);
      for (const text of options.forget) console.log(`Forgotten: what an interrupted run noted about ${text}`);
      if (settled !== undefined) tellOthers(othersInFlight(stack.deployment));
      if (isNoted) {
        console.log("If an answer was wrong, take it back before the next `pulumi up`:");
        for (const [of, those] of Map.groupBy(answers, ({ urn }) => splitMember(urn).of)) {
          const [only, ...others] = those;
          console.log(`  ${reopenCommand(others.length === 0 && only !== undefined ? only.urn : of)}`);
        }
      }
      const now = pendingIn(settled ?? stack, journals.notes(), journals.isSettled);
      const stillNoted = new Set(now.created.map(({ record }) => record.mark));
      const saved = remembered.created.filter(({ record }) => !stillNoted.has(record.mark));
      if (saved.length > 0) console.log(`In the state now, by what a journal on this machine has: ${idsOf(saved)}`);
      return tell(now, settled === undefined);
    },
  };
}

/** Pulumi's import has dropped these: nothing of this package looks for what they made. */
function tellOthers(urns: readonly string[]): void {
  if (urns.length === 0) return;
  const [creates, them] = [count(urns.length, "create"), agree(urns.length, "it", "them")];
  console.log(
    `Pulumi no longer lists ${creates} of other packages that ${agree(urns.length, "was", "were")} in flight. Look for what ${them} made before the next \`pulumi up\`:`,
  );
  for (const urn of cut(urns, MAX_KNOWN)) console.log(`  ${urn}`);
}

/** What is to be done where answers are taken back. */
function takeBack(stack: ExportedStack, journals: StackJournals, wanted: readonly string[]): Decided<number> {
  const { settlements, stack: reopened } = reopen(stack, wanted, journals.settlements());
  if (reopened !== stack) expectNothingPending(stack.deployment); // of runs since the answer
  const restore = journals.restoring(settlements);
  const urns = new Set(settlements.map(({ urn }) => urn));
  const lives = livesIn(stateIn(stack).resources, urns);
  return {
    stack: reopened === stack ? undefined : reopened,
    after: () => {
      restore();
      const gone = new Map(lives.map(({ key, live }) => [aboutWhom(key).urn, live.id]));
      journals.noteLives(lives, false);
      for (const urn of urns) {
        console.log(`Reopened, as if it had not been answered: ${urn}`);
        if (gone.has(urn)) console.log(`  ${gone.get(urn)} is no longer in the state.`);
      }
      return tell(pendingIn(reopened, journals.notes(), journals.isSettled), true);
    },
  };
}

/** One that the state can hold as unresolved, with the mark that it is looked for by. */
function isKnownByRecordAlone({ known, record, also = [] }: PendingCreate): boolean {
  return known === "engine" && record.field !== undefined && also.length === 0;
}

/** @param of the URN of a resource, or of the set that has these. */
function tellVerdicts(of: string, verdicts: readonly Verdict[], creates: ReadonlyMap<string, PendingCreate>): void {
  const not = verdicts.filter(({ createdAs }) => createdAs === undefined);
  const [only, ...others] = not;
  if (others.length > 0) {
    const keys = not.map(({ urn }) => String(splitMember(urn).key));
    console.log(`Settled as not created: ${count(not.length, "event")} of ${of}: ${enumerate(keys, MAX_KNOWN)}`);
  } else if (only !== undefined) console.log(`Settled as not created: ${only.urn}`);
  for (const verdict of verdicts) if (verdict.createdAs !== undefined) tellCreated(verdict, creates.get(verdict.urn));
}

function tellCreated({ urn, createdAs }: Verdict, create: PendingCreate | undefined): void {
  console.log(`Settled as created with id ${createdAs}: ${urn}`);
  if (create?.held === undefined || create.known === "journal") return;
  const { id, isDeleted } = create.held;
  const becomes = isDeleted ? "is deleted by the next `pulumi up`" : "stays live on the platform";
  console.log(`  It replaces ${id}, which ${becomes}.`);
}

/** Lists what is left: what needs somebody first. @param tellsHistory nothing was imported, which drops the engine's list. @returns the exit code. */
function tell({ open, created: known, history: settled }: Pending, tellsHistory: boolean): number {
  const created = describeCreated(known);
  const isNotedHere = [...open, ...known].some(({ record }) => record.key !== "");
  if (open.length > 0) return say([describeOpen(open, isNotedHere), ...created].join("\n"), 1);
  const history = tellsHistory && settled > 0 ? [historyInWords(settled)] : [];
  return say([NOTHING, ...created, ...history].join("\n"));
}

/** @param isNotedHere a journal of this machine has notes of this stack's creates: so each that a run here sent is among them. */
function describeOpen(open: Pending["open"], isNotedHere: boolean): string {
  const ofRecordAlone = open.filter(({ known, record }) => known === "engine" && record.key === "");
  const notNoted = isNotedHere ? ofRecordAlone : [];
  const ofJournal = open.filter(({ known, held }) => known === "journal" && held === undefined);
  const namesOf = (those: Pending["open"]) =>
    enumerate(
      those.map(({ urn }) => nameInUrn(urn)),
      MAX_KNOWN,
    );
  const line = ({ urn, kind, record, also = [], held, known }: PendingCreate) => {
    const butNot =
      held === undefined || held.id === record.replaces
        ? ""
        : ` (not ${held.id}: that one is in the state, with different or secret arguments)`;
    const sought = `${describe(kind, record)}${butNot}`;
    // Other interrupted runs may have sent it with other arguments.
    const others = [...new Set(also.map((each) => describe(kind, each)))];
    const id = idOf(record);
    const differs = known !== "engine" ? "" : ", with different arguments than the program has now";
    const lines =
      id === undefined
        ? [
            `look in the account for ${sought}`,
            ...others.filter((other) => other !== sought).map((other) => `or for ${other}`),
          ]
        : [`was created as ${id}${differs}: ${sought}`, ...others.map(besideKnown)];
    return [`  ${urn}`, ...lines].join("\n    ");
  };
  const under = (those: Pending["open"], heading: string) =>
    those.length === 0 ? [] : [`${count(those.length, "create")} ${heading}:`, ...those.map(line)];
  const answerable = open.map(({ urn, record }) => ({ urn, id: idOf(record) }));
  const isKnown = (create: PendingCreate) => recordsOf(create).every((record) => idOf(record) !== undefined);
  return [
    ...under(
      open.filter((each) => !isKnown(each)),
      "may or may not have reached the platform",
    ),
    ...under(open.filter(isKnown), "reached the platform, and your answer is missing"),
    ...(notNoted.length === 0
      ? []
      : [
          `The journal on this machine has no note of ${namesOf(notNoted)}: if the interrupted run was on this machine, it did not send ${agree(notNoted.length, "it", "them")}.`,
        ]),
    ...(ofRecordAlone.length === 0
      ? []
      : ["A run that is still under way on another machine looks the same: let it end, then run this again."]),
    ...(ofJournal.length === 0
      ? []
      : [
          `Only the journal on this machine has ${namesOf(ofJournal)}: the state does not. If you settled ${agree(ofJournal.length, "it", "them")} on another machine:`,
          ...forgetCommands(ofJournal.map(({ urn }) => urn)).map((line) => `  ${line}`),
        ]),
    open.length === 1 ? "Settle it." : "Settle each; leave out of a command what has another answer.",
    ...[...Map.groupBy(answerable, ({ id }) => id !== undefined).values()].flatMap((those) =>
      waysOut(those, "perhaps declared"),
    ),
  ].join("\n");
}

const besideKnown = (sought: string) =>
  `another run sent it too, and the outcome of that is unknown: look in the account for ${sought}, and keep one of the two`;

/** Where the state has another object, somebody may have something to do; all others are one line. */
function describeCreated(created: Pending["created"]): string[] {
  const beside = created.filter(({ held }) => held !== undefined);
  const alone = created.filter(({ held }) => held === undefined);
  const takesOver = (those: Pending["created"]) => {
    const it = agree(those.length, "it", "them");
    return `a journal on this machine has ${it}, and the next \`pulumi up\` takes ${it} over if the program declares ${it} with the same arguments`;
  };
  const lines = [...Map.groupBy(beside, ({ urn }) => splitMember(urn).of)].map(([of, those]) => {
    const held = cut(
      those.flatMap((each) => each.held?.id ?? []),
      MAX_KNOWN,
      (others) => `${others} more`,
    );
    const [only] = those;
    const ids = those.length === 1 && only?.urn === of ? only.record.id : idsOf(those);
    return [
      `${of}\n  was created as ${ids}: ${takesOver(those)}.`,
      `  The state has ${enumerate(held)} under this name. If your program uses that one again, nothing manages what was created; to drop the note:`,
      ...forgetCommands(those.map(({ urn }) => urn)).map((line) => `    ${line}`),
    ].join("\n");
  });
  if (alone.length === 0) return lines;
  const them = agree(alone.length, "it", "them");
  const here = `A journal on this machine has ${count(alone.length, "create")} of interrupted runs: ${idsOf(alone)}.`;
  return [
    ...lines,
    `${here} The next \`pulumi up\` takes ${them} over if the program declares ${them} with the same arguments; with others, it says what to do.`,
  ];
}

/** An interrupted run may leave thousands. */
function idsOf(created: Pending["created"]): string {
  const all = created.map(({ urn, record }) => `${nameInUrn(urn)} (${record.id})`);
  const rest = idRanges(created.slice(MAX_KNOWN).flatMap(({ record }) => record.id ?? []));
  return enumerate(cut(all, MAX_KNOWN, (others) => `${others} more (${rest})`));
}

const MAX_KNOWN = 20;
