/** Looks on the platform for creates of unknown outcome, by their marks. Loads the HTTP library. */
import { momentOf } from "../base/index.js";
import { Client, systemDependencies } from "../client/index.js";
import { cookieFileFor } from "../journal/index.js";
import { kindsByName } from "../kinds/index.js";
import { resendDueMs, searchByMark } from "../operations/index.js";
import { abilitiesOf } from "../plan/index.js";
import { describeSettingProblems } from "../settings/index.js";
import type { StackChoice } from "./harness.js";
import { type Answer, withVerdict } from "./pending-answers.js";
import type { Create, Facts } from "./pending-facts.js";
import { programFolder, readingOf } from "./pulumi.js";

/** What a search finds out of what has no answer yet; of the rest it prints why. @param given answers that count. */
export async function searchUnanswered(
  given: readonly Answer[],
  facts: Facts,
  choice: StackChoice,
): Promise<Answer[]> {
  const answered = new Set(given.map(({ create }) => create));
  const open = facts.open.filter((create) => !answered.has(create));
  if (open.length === 0) return [];
  const { reading, origin } = await readingOf(choice);
  const { settings, problems } = reading;
  if (problems.length > 0) {
    const why = describeSettingProblems(problems);
    throw new Error(`nothing was searched (settings ${origin}):\n${why}`);
  }
  const cookieFile = cookieFileFor(settings, programFolder(choice));
  const tell = (message: string) => console.error(message);
  const dependencies = systemDependencies(reading, { cookieFile, tell });
  const { transport, clock, secrets } = dependencies;
  const client = new Client(dependencies);
  const searchContext = { settings, clock, client: () => client };
  const now = momentOf(clock);

  /** @returns a sentence about what has no answer. */
  const look = async (create: Create): Promise<Answer | string> => {
    const { ref, record, formerIds = [] } = create;
    const { short } = ref;
    const kind = kindsByName[ref.kind];
    if (!abilitiesOf(kind, settings).search(record.field)) {
      const setting = `advertising:operations.${kind.create.noun}.search`;
      return `${short}: can't be searched for by its mark: check advertising:markField and ${setting}.`;
    }
    const sent = { ...record, at: record.at || now };
    const wanted = { kind, label: short, sent, formerIds };
    const finding = await searchByMark(searchContext, wanted);
    if (finding.kind === "found") return { create, id: finding.id };
    if (finding.kind === "not-made") return { create };
    return `${short}: ${secrets.scrub(finding.words)}`;
  };

  try {
    // Nobody has noted when these were sent: perhaps just now.
    const isUndated = open.some(
      ({ record }) => record.at === "" && record.field !== undefined,
    );
    const dueMs = resendDueMs(now, searchContext);
    if (isUndated && dueMs !== undefined) {
      const until = new Date(dueMs).toISOString();
      console.error(`Some may have been sent just now: looking from ${until} on …`);
      await clock.sleep(dueMs - clock.wallMs());
    }
    const found = await Promise.all(open.map(look));
    const answers: Answer[] = [];
    for (const each of found) {
      if (typeof each === "string") {
        console.log(each);
        continue;
      }
      const answer = withVerdict(each, facts, [...given, ...answers]);
      if (answer.conflict === undefined) answers.push(answer);
      else console.log(`Found, but not resolved: ${answer.conflict}`);
    }
    return answers;
  } finally {
    await transport.close();
  }
}
