/** `pulumi-advertising pending`: lists and settles creates of unknown outcome. */
import { randomUUID } from "node:crypto";
import { count, cut, enumerate, systemClock } from "../base/index.js";
import { describeSettingProblems } from "../settings/index.js";
import { describe, forgetCommand, splitMember } from "../state/index.js";
import { command, say, textOf } from "./harness.js";
import { StackJournals } from "./journals.js";
import { countHistory, liveIn, type Pending, pendingIn, sentUntil, type Verdict } from "./pending.js";
import type { PendingCreate } from "./pending-sets.js";
import { settle } from "./pending-settle.js";
import { type Given, readVerdicts } from "./pending-verdicts.js";
import { passed, pulumi, readingOf, STACK_OPTIONS, type StackChoice, settingOf, stackName } from "./pulumi.js";
import { type ExportedStack, readExport, stackIn } from "./stack-export.js";

const HELP = `Usage: pulumi-advertising pending [options]

Lists the creates of advertisers and conversion events whose outcome nobody knows: those that were in flight when a run of
this stack was killed, from the engine's own record (an \`up\` could send them again), those that the state holds as
unresolved, and those that only a journal on this machine remembers. Exits 1 where there are any, so that a pipeline stops
before an \`up\`.

  --created URN=ID       settles one: it was created as ID, and is taken into the state (or over by the next up, where only a
                         journal on this machine knows of it)
                         (without =ID: those whose id a journal of this machine knows; also of a whole set)
  --not-created URN      settles one: it was not created, and the next up creates it
  --search               looks for each by the mark that it was sent with, and settles what that tells; needs the setting
                         advertising:operations with a search, and sends nothing but that
  --forget URN           takes out of the journal on this machine what an interrupted run noted of a resource, as previews
                         tell it; the state is not touched, and the next up creates the resource where it is declared
  --stack NAME           another stack than the selected one
  --cwd FOLDER           the Pulumi program's folder
  --file FILE            looks at what \`pulumi stack export\` printed into FILE (- for standard input); can't settle

URN may be the resource's name in the program, where only one pending create has it. Of a set's event it has the key behind
it, as URN["key"]; --not-created and --forget take the set's own URN for all of its events. The first three may be given several
times. Exit codes: 0 nothing pending (any more), 1 something is pending, 2 it could not be found out, as while a run is under
way on this machine.`;

const NOTHING =
  "Nothing is pending: neither the engine, nor the state, nor a journal on this machine has a create of unknown outcome.";
const HISTORY =
  "the engine still lists as pending stand in the state with the same arguments: settled since, unless `--replace` had asked for one " +
  "more. To clear the engine's list: pulumi refresh --clear-pending-creates --yes";

interface Options extends Given, StackChoice {
  readonly forget: readonly string[];
  readonly search: boolean;
  readonly file?: string | undefined;
}

const SEVERAL = { type: "string", multiple: true, default: [] as string[] } as const;

export const pendingCommand = command({
  help: HELP,
  options: {
    created: SEVERAL,
    "not-created": SEVERAL,
    forget: SEVERAL,
    search: { type: "boolean", default: false },
    ...STACK_OPTIONS,
    file: { type: "string" },
  },
  run: async ({ "not-created": notCreated, ...values }) => {
    const settles = [...values.created, ...notCreated, ...values.forget];
    if (values.file !== undefined && (settles.length > 0 || values.search)) {
      throw new Error("--file only looks; to settle, leave it out");
    }
    return lookAndSettle({ ...values, notCreated });
  },
});

/** @returns the exit code. @throws Error in words, for exit code 2. */
async function lookAndSettle(options: Options): Promise<number> {
  const stack = readExport(await exported(options));
  const journals = await journalsOf(stack, options);
  // What a run has saved meanwhile is read anew.
  if (await journals?.waitForRun(systemClock)) return lookAndSettle(options);
  const pending = pendingIn(stack, journals?.notes() ?? []);
  const isForgotten = (urn: string) => options.forget.includes(urn) || options.forget.includes(splitMember(urn).of);
  const given = readVerdicts(options, pending.open, stack);
  const search = options.search ? await searched(pending.open, given, stack, options) : { verdicts: [] };
  const verdicts = [...given, ...search.verdicts];
  // What was searched for in vain, and only the engine's record knows, is saved: the next `up` would know nothing of it.
  const isToSave = options.search && pending.open.some(isKnownByRecordAlone);
  if (verdicts.length > 0 || isToSave)
    await settleAll(stack, pending.open, verdicts, journals, search.sentUntil, options);

  const open = pending.open
    .filter(({ urn, known }) => known === "state" && isForgotten(urn))
    .map(({ urn }) => `"${urn}"`);
  if (open.length > 0) {
    throw new Error(
      `nothing was forgotten: the outcome of ${enumerate(open)} is unknown; settle it with --created or --not-created`,
    );
  }
  const unknown: string[] = [];
  for (const urn of options.forget) {
    if ((journals?.forget([urn]) ?? 0) === 0) unknown.push(`"${urn}"`);
    else console.log(`Forgotten: what an interrupted run noted of ${urn}`);
  }
  if (unknown.length > 0) {
    throw new Error(
      `no journal of this stack on this machine has a note about ${enumerate(unknown)}, or the lock beside it (*.jsonl.lock) is held by a run`,
    );
  }
  const isSettled = (urn: string) => isForgotten(urn) || verdicts.some((verdict) => verdict.urn === urn);
  const left = pending.open.filter(({ urn }) => !isSettled(urn));
  for (const line of describeCreated(pending.created.filter(({ urn }) => !isSettled(urn)))) console.log(line);
  if (left.length === 0) {
    const history = verdicts.length > 0 ? 0 : countHistory(stack); // settling drops them
    return say(history === 0 ? NOTHING : `${NOTHING} ${count(history, "create")} that ${HISTORY}`, 0);
  }
  return say(describeOpen(left), 1);
}

/** What a search tells of those that nobody has decided on; each finding passes the checks of a user's verdict. */
async function searched(
  open: readonly PendingCreate[],
  given: readonly Verdict[],
  stack: ExportedStack,
  options: Options,
): Promise<{ readonly verdicts: readonly Verdict[]; readonly sentUntil?: string | undefined }> {
  const left = open.filter(({ urn }) => !given.some((verdict) => verdict.urn === urn));
  if (left.length === 0) return { verdicts: [] };
  const { reading, origin } = await readingOf(options);
  if (reading.problems.length > 0) {
    throw new Error(`nothing was searched (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
  }
  // Loaded here: whoever does not search needs no HTTP library.
  const { searchFor } = await import("./pending-search.js");
  const { found, notMade, told } = await searchFor(left, reading, options.cwd ?? process.cwd(), stack);
  for (const line of told) console.log(line);
  const created = found.map(({ urn, id }) => `${urn}=${id}`);
  return {
    verdicts: readVerdicts({ ...options, created, notCreated: notMade }, left, stack),
    sentUntil: sentUntil(stack, reading.settings.maxWaitSeconds, systemClock.wallMs()),
  };
}

function isKnownByRecordAlone({ known, record }: PendingCreate): boolean {
  return known === "engine" && record.field !== undefined;
}

async function settleAll(
  stack: ExportedStack,
  open: readonly PendingCreate[],
  verdicts: readonly Verdict[],
  journals: StackJournals | undefined,
  sentUntil: string | undefined,
  options: Options,
): Promise<void> {
  const isInState = ({ urn }: Verdict) => open.some((create) => create.urn === urn && create.known !== "journal");
  if (verdicts.some(isInState) || (options.search && open.some(isKnownByRecordAlone))) {
    const times = { now: new Date(systemClock.wallMs()).toISOString(), sentUntil };
    const settled = settle(stack, verdicts.filter(isInState), randomUUID, times, journals?.notes() ?? []);
    await pulumi(["stack", "import", ...passed(options)], JSON.stringify(settled));
    for (const { urn, createdAs } of verdicts) {
      const known = createdAs === undefined ? undefined : liveIn(settled, urn);
      if (known !== undefined) journals?.noteLive(known.key, known.live);
    }
  }
  // What the state can't hold stays in the journal, with its id: forgotten, the next `up` would create it again.
  const isToTakeOver = (verdict: Verdict) => verdict.createdAs !== undefined && !isInState(verdict);
  const lost = verdicts.filter(
    (verdict) => isToTakeOver(verdict) && !journals?.noteCreated(verdict.urn, String(verdict.createdAs)),
  );
  const urns = new Set(verdicts.filter((verdict) => !isToTakeOver(verdict)).map(({ urn }) => urn));
  const marks = open.flatMap(({ urn, record }) => (urns.has(urn) ? [record.mark] : []));
  journals?.forget([...urns], new Set(marks));
  if (lost.length > 0) {
    throw new Error(
      `the journal can't be written, so this is not settled: ${enumerate(lost.map(({ urn }) => `"${urn}"`))}; ` +
        "let a run that uses it (*.jsonl.lock) end, and run this again",
    );
  }
  for (const verdict of verdicts) {
    const { urn, createdAs } = verdict;
    if (createdAs === undefined) console.log(`Settled as not created: ${urn}`);
    else if (isInState(verdict)) {
      console.log(`Settled as created with id ${createdAs}: ${urn}`);
      const { held } = open.find((create) => create.urn === urn) ?? {};
      const becomes = held?.isDeleted === true ? "is deleted by the next `pulumi up`" : "stays live on the platform";
      if (held !== undefined) console.log(`  It takes the place of ${held.id}, which ${becomes}.`);
    } else {
      console.log(
        `Settled as created with id ${createdAs}: ${urn}\n  The journal on this machine has it: the next \`pulumi up\` here takes it over where the program declares it with the arguments that were sent.`,
      );
    }
  }
}

function describeOpen(open: Pending["open"]): string {
  const lines = open.map(({ urn, kind, record, held }) => {
    const besides =
      held === undefined || held.id === record.replaces
        ? ""
        : `, besides ${held.id}, which the state holds with other or secret arguments`;
    const sought = `${describe(kind, record)}${besides}`;
    return record.id === undefined
      ? `  ${urn}\n    look into the account for ${sought}`
      : `  ${urn}\n    a journal on this machine knows it as ${record.id}, with other arguments than are wanted now: ${sought}`;
  });
  return [
    `${count(open.length, "create")} may or may not have reached the platform:`,
    ...lines,
    "Settle each of them, and then run `pulumi up`:",
    "  it is there:      npx pulumi-advertising pending --created '<urn>=<id>'",
    "  it is not there:  npx pulumi-advertising pending --not-created '<urn>'",
  ].join("\n");
}

/** Those of a set together: a killed run may leave thousands. */
function describeCreated(created: Pending["created"]): string[] {
  const takesOver =
    "a journal on this machine knows it, and the next `pulumi up` takes it over where the program declares it with the same arguments.";
  return [...Map.groupBy(created, ({ urn }) => splitMember(urn).of)].map(([of, those]) => {
    const [first] = those;
    const held = those.flatMap(({ held }) => held?.id ?? []).slice(0, MAX_KNOWN);
    const otherwise =
      held.length === 0
        ? ""
        : `\n  The state holds ${enumerate(held)} there. Where the program went back to that, nothing manages what was created: ${forgetCommand(of)}`;
    if (first === undefined) return "";
    if (those.length === 1) return `${first.urn}\n  was created as ${first.record.id}: ${takesOver}${otherwise}`;
    const all = those.map(({ urn, record }) => `${splitMember(urn).key ?? urn} (${record.id})`);
    const shown = enumerate(cut(all, MAX_KNOWN, (others) => `${others} more`));
    return `${of}\n  ${those.length} of its events were created, ${shown}: ${takesOver.replaceAll(" it", " them")}${otherwise}`;
  });
}

const MAX_KNOWN = 20;

/** None where it is not known which stack it is, as of an exported file without resources. */
async function journalsOf(stack: ExportedStack, options: Options): Promise<StackJournals | undefined> {
  const { file, cwd = process.cwd() } = options;
  const name = stackIn(stack) ?? (file === undefined ? await stackName(passed(options)) : undefined);
  if (name === undefined) return undefined;
  const cookieFile =
    file === undefined ? await settingOf("cookieFile", passed(options)) : process.env.ADVERTISING_COOKIE_FILE;
  return new StackJournals(name, cookieFile, cwd);
}

async function exported({ file, ...choice }: Options): Promise<string> {
  return file === undefined ? pulumi(["stack", "export", ...passed(choice)]) : textOf(file);
}
