/** Looks on the platform for creates of unknown outcome, by their marks. Loads the HTTP library. */
import { count, momentOf } from "../base/index.js";
import { Client, systemDependencies } from "../client/index.js";
import { cookieFileFor } from "../journal/index.js";
import { kindsByName } from "../kinds/index.js";
import { resendDueMs, searchByMark } from "../operations/index.js";
import { abilitiesOf } from "../plan/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";
import type { StackChoice } from "./harness.js";
import { type Answer, conflictOf } from "./pending-answers.js";
import type { Create, Facts } from "./pending-facts.js";
import { programFolder, readingOf } from "./pulumi.js";

/** What a search finds out of what has no answer yet; of the rest it prints why. @param given answers that count. */
export async function searchUnanswered(
  given: readonly Answer[],
  facts: Facts,
  choice: StackChoice,
): Promise<Answer[]> {
  const open = facts.open.filter((create) => !given.some((answer) => answer.create === create));
  if (open.length === 0) return [];
  const { reading, origin } = await readingOf(choice);
  if (reading.problems.length > 0) {
    const problems = describeSettingProblems(reading.problems);
    throw new Error(`nothing was searched (settings ${origin}):\n${problems}`);
  }
  const { answers: found, told } = await searchFor(open, reading, programFolder(choice));
  for (const line of told) console.log(line);
  const answers: Answer[] = [];
  for (const answer of found) {
    const { conflict, managedAs } = conflictOf(answer, facts, [...given, ...answers]);
    if (conflict === undefined) answers.push({ ...answer, managedAs });
    else console.log(`Found, but not resolved: ${conflict}`);
  }
  return answers;
}

export interface Searched {
  readonly answers: readonly Answer[];
  /** Of what has no answer: in words, what was asked and what came back. */
  readonly told: readonly string[];
}

/** @param folder the program's. */
export async function searchFor(
  open: readonly Create[],
  reading: SettingsReading,
  folder: string,
): Promise<Searched> {
  const { settings } = reading;
  const cookieFile = cookieFileFor(settings, folder);
  const dependencies = systemDependencies(reading, {
    cookieFile,
    tell: (message) => console.error(message),
  });
  const { transport, clock, secrets } = dependencies;
  const client = new Client(dependencies);
  const searchContext = { reading, clock, client: () => client };
  const now = momentOf(clock);

  const look = async (create: Create): Promise<Answer | string> => {
    const { ref, record, formerIds } = create;
    const kind = kindsByName[ref.kind];
    if (!abilitiesOf(kind, settings).search(record.field)) {
      const setting = `advertising:operations.${kind.create.noun}.search`;
      const why = `can't be searched for by its mark (${record.field ?? "none"})`;
      return `${ref.short}: ${why}: check advertising:markField and ${setting}.`;
    }
    const sent = { ...record, at: record.at || now };
    const finding = await searchByMark(
      searchContext,
      { kind, label: ref.short, sent, formerIds },
      false,
    );
    if (finding.kind === "found") return { create, id: finding.id };
    if (finding.kind === "not-made") return { create, id: undefined };
    return `${ref.short}: ${secrets.scrub(finding.words)}`;
  };

  try {
    // Nobody has noted when these were sent: perhaps just now.
    const undated = open.filter(({ record }) => record.at === "" && record.field !== undefined);
    const dueMs = resendDueMs(now, searchContext);
    if (undated.length > 0 && dueMs !== undefined) {
      const creates = count(undated.length, "create");
      const until = new Date(dueMs).toISOString();
      console.error(`${creates} may have been sent just now: looking from ${until} on …`);
      await clock.sleep(dueMs - clock.wallMs());
    }
    const found = await Promise.all(open.map(look));
    return {
      answers: found.filter((each) => typeof each !== "string"),
      told: found.filter((each) => typeof each === "string"),
    };
  } finally {
    await transport.close();
  }
}
