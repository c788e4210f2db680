/** Looks on the platform for creates of unknown outcome, by their marks. Loads the HTTP library. */
import { count, momentOf } from "../base/index.js";
import { Client, systemDependencies } from "../client/index.js";
import { cookieFileFor } from "../journal/index.js";
import { kindsByName } from "../kinds/index.js";
import { lookFor, resendDueMs } from "../operations/index.js";
import { abilitiesOf } from "../plan/index.js";
import { describeSettingProblems, type SettingsReading } from "../settings/index.js";
import type { StackChoice } from "./harness.js";
import { type Answer, type Create, type Facts, verdictOn } from "./pending-facts.js";
import { programFolder, readingOf } from "./pulumi.js";

/** What a search finds out of what has no answer yet; of the rest it prints why. @param given answers that count. */
export async function searched(given: readonly Answer[], facts: Facts, choice: StackChoice): Promise<Answer[]> {
  const open = facts.open.filter((create) => !given.some((answer) => answer.create === create));
  if (open.length === 0) return [];
  const { reading, origin } = await readingOf(choice);
  if (reading.problems.length > 0)
    throw new Error(`nothing was searched (settings ${origin}):\n${describeSettingProblems(reading.problems)}`);
  const { answers, told } = await searchFor(open, reading, programFolder(choice));
  for (const line of told) console.log(line);
  return answers.flatMap((answer, index): Answer[] => {
    const { create, id } = answer;
    if (id === undefined) return [answer];
    const others = [...given, ...answers.slice(0, index)];
    const { conflict, managedAs } = verdictOn(create, id, facts, others);
    if (conflict === undefined) return [{ ...answer, managedAs }];
    console.log(`Found, but not resolved: ${conflict}`);
    return [];
  });
}

/** @param folder the program's. @returns `told`: in words, of what has no answer, what was asked and what came back. */
export async function searchFor(open: readonly Create[], reading: SettingsReading, folder: string) {
  const { settings } = reading;
  const dependencies = systemDependencies(reading, cookieFileFor(settings, folder), (text) => console.error(text));
  const { transport, clock, secrets } = dependencies;
  const client = new Client(settings, dependencies);
  const looker = { reading, clock, client: () => client };
  const now = momentOf(clock);

  const look = async (create: Create): Promise<Answer | string> => {
    const { ref, record, formerIds } = create;
    const kind = kindsByName[ref.kind];
    if (!abilitiesOf(kind, settings).search(record.field)) {
      const check = `check advertising:markField and advertising:operations.${kind.create.noun}.search`;
      return `${ref.short}: can't be searched for by its mark (${record.field ?? "none"}): ${check}.`;
    }
    const sent = { ...record, at: record.at || now };
    const finding = await lookFor(kind, looker, ref.short, sent, false, formerIds);
    if (finding.kind === "open") return `${ref.short}: ${secrets.scrub(finding.words)}`;
    return { create, id: finding.kind === "found" ? finding.id : undefined };
  };

  try {
    // Nobody has noted when these were sent: perhaps just now.
    const undated = open.filter(({ record: { at, field } }) => at === "" && field !== undefined).length;
    const dueMs = resendDueMs(now, looker);
    if (undated > 0 && dueMs !== undefined) {
      const until = new Date(dueMs).toISOString();
      console.error(`${count(undated, "create")} may have been sent just now: looking from ${until} on …`);
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
