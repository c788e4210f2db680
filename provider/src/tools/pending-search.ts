/**
 * Looks on the platform for creates of unknown outcome, by the marks that they were sent with. `pending --search` loads this
 * file, and with it the HTTP library, when it is asked for.
 */
import { count } from "../base/index.js";
import { Client, systemSurroundings } from "../client/index.js";
import { abilitiesOf } from "../decision/index.js";
import { kindNamed } from "../kinds/index.js";
import { lookFor, resendDueMs } from "../provider/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";
import { cookieFileFor } from "../store/index.js";
import type { StackChoice } from "./harness.js";
import { type Answer, type Create, type Facts, whyNotIts } from "./pending-facts.js";
import { programFolder, readingOf } from "./pulumi.js";

/** What a search finds out about these; of what it does not, it prints why. */
export async function searched(open: readonly Create[], facts: Facts, choice: StackChoice): Promise<Answer[]> {
  if (open.length === 0) return [];
  const { reading, origin } = await readingOf(choice);
  if (reading.problems.length > 0)
    throw new Error(`nothing was searched (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
  const { answers, told } = await searchFor(open, reading, programFolder(choice));
  for (const line of told) console.log(line);
  return answers.filter(({ create, id }, index) => {
    const why = id === undefined ? undefined : whyNotIts(create, id, facts, answers.slice(0, index));
    if (why !== undefined) console.log(`Found, but not settled: ${why}`);
    return why === undefined;
  });
}

type Found = Answer | { readonly create: Create; readonly words: string };

/** @param folder the program's. @returns also, of the others, in words, what was asked and what came back. */
export async function searchFor(
  open: readonly Create[],
  reading: SettingsReading,
  folder: string,
): Promise<{ readonly answers: readonly Answer[]; readonly told: readonly string[] }> {
  const { settings } = reading;
  const surroundings = systemSurroundings(reading, cookieFileFor(settings, folder), (text) => console.error(text));
  const { transport, clock, secrets } = surroundings;
  const client = new Client(settings, surroundings);
  const looker = { reading, clock, client: () => client };
  const startedMs = clock.wallMs();

  const look = async (create: Create): Promise<Found> => {
    const { ref, record, formerIds } = create;
    const kind = kindNamed(ref.kind);
    if (!abilitiesOf(kind, settings).search(record.field)) {
      const check = `check advertising:markField and advertising:operations.${kind.create.noun}.search`;
      return { create, words: `can't be searched for by its mark (${record.field ?? "none"}): ${check}.` };
    }
    const at = isUndated(create) ? new Date(startedMs).toISOString() : record.at;
    const how = { wasJustSent: false, isOnce: isUndated(create), formerIds };
    const finding = await lookFor(kind, looker, ref.short, { ...record, at }, how);
    if (finding.kind === "open") return { create, words: secrets.scrub(finding.words) };
    return { create, id: finding.kind === "found" ? finding.id : undefined };
  };

  try {
    let looks = await Promise.all(open.map(look));
    const dueMs = resendDueMs({ at: new Date(startedMs).toISOString() }, looker);
    const isOpen = (each: Found) => "words" in each && each.create.record.field !== undefined && isUndated(each.create);
    const again = looks.filter(isOpen).length;
    if (dueMs !== undefined && again > 0) {
      const until = new Date(dueMs).toISOString();
      console.error(
        `${count(again, "create")}, perhaps sent just now, can't be found yet: looking again at ${until} …`,
      );
      await clock.sleep(Math.max(0, dueMs - clock.wallMs()));
      looks = await Promise.all(looks.map((each) => (isOpen(each) ? look(each.create) : each)));
    }
    return {
      answers: looks.filter((each): each is Answer => !("words" in each)),
      told: looks.flatMap((each) => ("words" in each ? [`${each.create.ref.short}: ${each.words}`] : [])),
    };
  } finally {
    await transport.close();
  }
}

/** Nobody has noted when it was sent: perhaps just now. */
function isUndated({ record }: Create): boolean {
  return Number.isNaN(Date.parse(record.at));
}
