/** The requests of `login` and `pending --search`. This file loads the HTTP library. */
import { inStack, LoginError, SettingsError } from "../base/index.js";
import {
  Client,
  type ClientDependencies,
  logInAnew,
  secretsIn,
  systemDependencies,
} from "../client/index.js";
import { cookieFileFor } from "../journal/index.js";
import { kindsByName } from "../kinds/index.js";
import { foundOtherwiseMessage, searchByMark } from "../operations/index.js";
import { canSearch } from "../plan/index.js";
import {
  accountMatcher,
  describeSettingProblems,
  knownOperations,
} from "../settings/index.js";
import { hiddenEventsMessage, isOfHiddenEvents } from "../state/index.js";
import type { StackChoice } from "./harness.js";
import { type Answer, idConflict } from "./pending-answers.js";
import { programFolder, readingOf } from "./pulumi.js";
import type { Create, StackCreates } from "./stack-creates.js";

/** Calls `work` with the client's dependencies. @throws SettingsError; the errors of `work`, scrubbed. */
async function connected<T>(
  choice: StackChoice,
  work: (dependencies: ClientDependencies) => Promise<T>,
) {
  const reading = await readingOf(choice);
  const secrets = secretsIn(reading);
  for (const warning of reading.warnings)
    console.error(`Warning: ${secrets.scrub(warning)}`);
  if (reading.problems.length > 0)
    throw new SettingsError(
      secrets.scrub(`Nothing was sent:\n${describeSettingProblems(reading.problems)}`),
    );
  const cookieFile = cookieFileFor(reading.settings, programFolder(choice));
  const dependencies = systemDependencies(reading, cookieFile, secrets, console.error);
  try {
    return await work(dependencies);
  } catch (error) {
    if (error instanceof Error) error.message = secrets.scrub(error.message);
    throw error;
  } finally {
    await dependencies.transport.close();
  }
}

/** @returns a message. @throws LoginError */
export function logInAndReport(choice: StackChoice) {
  return connected(choice, async (dependencies) => {
    const { settings, credentialsSource, cookieFile, secrets } = dependencies;
    if (settings.authMode === "basic")
      return "No login is needed: authMode is basic. Only a create checks the credentials.";
    const { cure, endsAtMs } = await logInAnew(dependencies);
    const loggedIn = secrets.scrub(
      `Logged in as ${settings.email} at ${settings.baseUrl}, with ${credentialsSource}.`,
    );
    if (cure !== undefined)
      throw new LoginError(
        `${loggedIn} But the session could not be kept in ${cookieFile}. ${cure}, ` +
          "or name another place with advertising:cookieFile.",
      );
    const end = new Date(endsAtMs).toISOString();
    const place = cookieFile ?? "no file, since advertising:cookieFile is none";
    return `${loggedIn}\nThe session is likely good until ${end}.\nIt is kept in ${place}`;
  });
}

/** Searches for the open creates. @returns the answers; for each create without one it prints why. */
export async function searchOpen(creates: StackCreates, choice: StackChoice) {
  if (creates.open.length === 0) return [];
  return connected(choice, async (dependencies) => {
    const client = new Client(dependencies);
    const searchContext = { ...dependencies, client: () => client };
    const isSameAccount = accountMatcher(dependencies.settings);

    /** @returns a sentence if the search gives no answer. */
    const look = async (create: Create) => {
      const { ref, record: sent, formerIds } = create;
      const label = ref.shownName;
      const kind = kindsByName[ref.kind];
      if (isOfHiddenEvents(ref)) return hiddenEventsMessage(ref);
      if (!isSameAccount(sent.account))
        return `${label} was sent to another account than these settings name: run \`${inStack("pulumi up")}\`.`;
      if (!canSearch(knownOperations(kind, dependencies.settings), sent))
        return `${label} can't be searched for by its mark: check advertising:markField and advertising:operations.${kind.noun}.search.`;
      const finding = await searchByMark(searchContext, { kind, label, sent, formerIds });
      if (finding.kind === "not-made") return { create, id: "" };
      if (finding.kind === "open")
        return `${label}: ${dependencies.secrets.scrub(finding.searched)}`;
      const { id, contradicting } = finding;
      if (contradicting.length === 0) return { create, id };
      return `${label}: ${foundOtherwiseMessage(id, contradicting, true)}`;
    };

    const answers: Answer[] = [];
    for (const found of await Promise.all(creates.open.map(look))) {
      let answer = found;
      if (typeof answer !== "string")
        answer = idConflict(answer, creates, answers) ?? answer;
      if (typeof answer === "string") console.log(answer);
      else answers.push(answer);
    }
    return answers;
  });
}
