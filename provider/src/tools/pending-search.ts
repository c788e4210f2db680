/**
 * Looks on the platform for creates of unknown outcome, by the marks that they were sent with. `pending --search` loads this
 * file, and with it the HTTP library, when it is asked for.
 */
import { count, momentOf } from "../base/index.js";
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
  const now = momentOf(clock);
  const answers: Answer[] = [];
  const told: string[] = [];

  const look = async (create: Create) => {
    const { ref, record, formerIds } = create;
    const kind = kindNamed(ref.kind);
    const tell = (words: string) => told.push(`${ref.short}: ${words}`);
    if (!abilitiesOf(kind, settings).search(record.field)) {
      const check = `check advertising:markField and advertising:operations.${kind.create.noun}.search`;
      return tell(`can't be searched for by its mark (${record.field ?? "none"}): ${check}.`);
    }
    const sent = { ...record, at: record.at || now };
    const finding = await lookFor(kind, looker, ref.short, sent, { wasJustSent: false, formerIds });
    if (finding.kind === "open") return tell(secrets.scrub(finding.words));
    return answers.push({ create, id: finding.kind === "found" ? finding.id : undefined });
  };

  try {
    // Nobody has noted when these were sent: perhaps just now.
    const undated = open.filter(({ record: { at, field } }) => at === "" && field !== undefined).length;
    const dueMs = resendDueMs({ at: now }, looker);
    if (undated > 0 && dueMs !== undefined) {
      const until = new Date(dueMs).toISOString();
      console.error(`${count(undated, "create")} may have been sent just now: looking from ${until} on …`);
      await clock.sleep(dueMs - clock.wallMs());
    }
    await Promise.all(open.map(look));
    return { answers, told };
  } finally {
    await transport.close();
  }
}
