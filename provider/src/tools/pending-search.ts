/**
 * Looks on the platform for creates of unknown outcome, by the marks that they were sent with. `pending --search` loads this
 * file, and with it the HTTP library, when it is asked for.
 */

import { count, enumerate } from "../base/index.js";
import { Client, systemSurroundings } from "../client/index.js";
import { abilitiesOf } from "../decision/index.js";
import { type Kind, kindNamed } from "../kinds/index.js";
import { KEEP_ONE, lookFor, noneFound, resendDueMs } from "../provider/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";
import { type CreateRecord, describe, lastMomentSent } from "../state/index.js";
import { placesFor, Seen, seenIn } from "../store/index.js";
import type { StackChoice } from "./harness.js";
import { checkVerdicts, type Known, type Verdict } from "./pending-answers.js";
import { type PendingCreate, recordsOf } from "./pending-facts.js";
import { programFolder, readingOf } from "./pulumi.js";

interface Searched {
  readonly found: readonly {
    readonly urn: string;
    readonly id: string;
    readonly mark: string;
  }[];
  /** URNs of what was certainly not carried out. */
  readonly notMade: readonly string[];
  /** Of the others, in words. */
  readonly told: readonly string[];
}

/** What a search finds out about those that nobody has decided on; each finding passes the checks of a user's verdict. */
export async function searched(
  known: Known,
  given: readonly Verdict[],
  choice: StackChoice,
): Promise<readonly Verdict[]> {
  const left = known.pending.filter(({ urn }) => !given.some((verdict) => verdict.urn === urn));
  if (left.length === 0) return [];
  const { reading, origin } = await readingOf(choice);
  if (reading.problems.length > 0) {
    throw new Error(`nothing was searched (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
  }
  const { found, notMade, told } = await searchFor(left, reading, programFolder(choice));
  for (const line of told) console.log(line);
  const created = found.map(({ urn, id }) => `${urn}=${id}`);
  const markOf = new Map(found.map(({ urn, mark }) => [urn, mark]));
  const { verdicts, faults } = checkVerdicts({ created, notCreated: notMade }, { ...known, pending: left });
  for (const fault of faults) console.log(`Found, but not settled: ${fault}`);
  return verdicts.map((verdict) => ({ ...verdict, mark: markOf.get(verdict.urn) }));
}

interface Look {
  readonly create: PendingCreate;
  readonly record: CreateRecord;
  /** The id of what was found; the ids of what was found and is gone, if nothing else was made; or in words, what was asked and what came back. */
  readonly finding: { readonly id: string } | { readonly gone: readonly string[] } | { readonly words: string };
}

/** @param folder the program's. */
export async function searchFor(
  open: readonly PendingCreate[],
  reading: SettingsReading,
  folder: string,
): Promise<Searched> {
  const { cookieFile, journalFolder } = placesFor(reading.settings, folder);
  const surroundings = systemSurroundings(reading, cookieFile, (message) => console.error(message));
  const { transport, clock, secrets } = surroundings;
  const client = new Client(reading.settings, surroundings);
  const seen = new Seen(seenIn(journalFolder), clock);
  const searcher = { reading, clock, client: () => client, seen, rememberedOf: () => [] };
  const startedMs = clock.wallMs();

  const look = async (create: PendingCreate, record: CreateRecord): Promise<Look> => {
    const kind = kindNamed(create.kind);
    if (!abilitiesOf(kind, reading.settings).search(record.field)) {
      return { create, record, finding: { words: `can't be searched for: ${whyNot(record.field, kind)}.` } };
    }
    const sent = { ...record, at: new Date(lastMomentSent(record, startedMs)).toISOString() };
    const isSaved = (create.also ?? []).length === 0;
    const how = { wasJustSent: false, isOnce: isWaitedFor(create, record), isSaved, formerIds: create.formerIds };
    const finding = await lookFor(kind, searcher, create.urn, sent, how);
    if (finding.kind === "open") return { create, record, finding: { words: secrets.scrub(finding.words) } };
    return { create, record, finding };
  };
  /** Nobody knows when it was sent, and the next `up` would not look for it: the state has room for one, with its moment. */
  const isWaitedFor = ({ also = [] }: PendingCreate, record: CreateRecord) =>
    record.field !== undefined &&
    (record.isEarliest === true || (also.length > 0 && lastMomentSent(record, startedMs) === startedMs));
  const isLookedForAgain = ({ create, record, finding }: Look) => "words" in finding && isWaitedFor(create, record);

  try {
    let looks = await Promise.all(open.flatMap((create) => recordsOf(create).map((record) => look(create, record))));
    const dueMs = resendDueMs({ at: new Date(startedMs).toISOString() }, searcher);
    const found = new Set(looks.flatMap(({ create, finding }) => ("id" in finding ? create : [])));
    const again = new Set(looks.filter((each) => isLookedForAgain(each) && !found.has(each.create)));
    if (again.size > 0 && dueMs !== undefined) {
      console.error(
        `${count(again.size, "create")}, which may have been sent until just now, can't be found yet: ` +
          `looking again at ${new Date(dueMs).toISOString()} …`,
      );
      await clock.sleep(Math.max(0, dueMs - clock.wallMs()));
      looks = await Promise.all(looks.map((each) => (again.has(each) ? look(each.create, each.record) : each)));
    }
    return summed(looks);
  } finally {
    await transport.close();
  }
}

/**
 * Of a resource that several runs sent: one that is found is its object, and nothing looks for the others from then on; only where none of
 * them was made, it was not made.
 */
function summed(looks: readonly Look[]): Searched {
  const found: { urn: string; id: string; mark: string }[] = [];
  const notMade: string[] = [];
  const told: string[] = [];
  for (const [{ urn }, those] of Map.groupBy(looks, ({ create }) => create)) {
    const made = those.flatMap(({ record: { mark }, finding }) =>
      "id" in finding ? [{ urn, id: finding.id, mark }] : [],
    );
    const ids = new Set(made.map(({ id }) => id));
    const words = those.flatMap(({ finding }) => ("words" in finding ? [finding.words] : []));
    const [first] = made;
    if (ids.size > 1) {
      told.push(`${urn}\n  several runs created it: ${enumerate([...ids])}. ${KEEP_ONE}`);
    } else if (first !== undefined) {
      found.push(first);
      const others = those.filter(({ finding }) => "words" in finding);
      if (others.length > 0) told.push(`${urn}\n  ${besideFound(first.id, others)}`);
    } else if (words.length === 0) {
      notMade.push(urn);
      const gone = those.flatMap(({ finding }) => ("gone" in finding ? finding.gone : []));
      if (gone.length > 0) told.push(`${urn}\n  ${noneFound(gone)}.`);
    } else told.push(`${urn}\n  ${[...new Set(words)].join(" ")}`);
  }
  return { found, notMade, told };
}

function besideFound(id: string, others: readonly Look[]): string {
  return [
    `was found as ${id}. Further creates of it were sent, and their outcome is unknown: nothing manages what they made. Look in the account for`,
    ...others.map(({ create: { kind }, record }) => describe(kind, record)),
  ].join("\n    ");
}

function whyNot(field: string | undefined, kind: Kind): string {
  return field === undefined
    ? "it was sent without a mark"
    : `it holds its mark in ${field}; check advertising:markField and advertising:operations.${kind.create.noun}.search`;
}
