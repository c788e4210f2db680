/** What all resources of a deployment share in the provider process. */
import { randomBytes } from "node:crypto";
import {
  asRecord,
  commandsTake,
  jsonIn,
  momentOf,
  SettingsError,
  systemClock,
  type Values,
} from "../base/index.js";
import { Client, secretsIn, systemDependencies } from "../client/index.js";
import { type Disk, readHints, systemDisk } from "../files/index.js";
import {
  backendIn,
  CreatesByName,
  commandTargetOf,
  cookieFileFor,
  deletedObjects,
  endedPath,
  everyJournal,
  isTwiceIn,
  Journal,
  journalFolder,
  openElsewhere,
} from "../journal/index.js";
import type { Kind } from "../kinds/index.js";
import {
  accountMatcher,
  accountOf,
  describeSettingProblems,
  readSettings,
} from "../settings/index.js";
import { type ProgramContext, stackOf } from "../state/index.js";
import { Deployment } from "./deployment.js";
import { createMessages, type TellAt, UnderWay } from "./notices.js";

export type Runtime = ReturnType<typeof createRuntime>;

/** What the state has of a resource, and its inputs of now. */
export interface Change {
  readonly id: string;
  readonly olds: Values;
  readonly news: Values;
}

/** What a check is given: of the state only the inputs, none for a new resource. */
export type CheckRequest = Omit<Change, "id"> & { readonly context: ProgramContext };

export function createRuntime(
  config: (key: string) => string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  log: TellAt,
  {
    disk = systemDisk,
    folder = journalFolder(),
    provider,
  }: {
    readonly disk?: Disk;
    readonly folder?: string;
    /** The name of the provider resource, each with a journal of its own. */
    readonly provider?: string;
  } = {},
) {
  // A preview works without a password; a create checks it below.
  const reading = readSettings({
    config,
    environment,
    mayLackPassword: true,
  });
  const { settings } = reading;
  const secrets = secretsIn(reading);
  const messages = createMessages(secrets, log);
  const underWay = new UnderWay();
  const deployment = new Deployment();
  const account = accountOf(settings);
  const isSameAccount = accountMatcher(settings);
  const now = () => momentOf(systemClock);
  let client: Client | undefined;
  let journal: Journal | undefined;
  let openCreates: CreatesByName | undefined;
  /** In the inputs of what this run sends, and in its journal. */
  const runName = `${now()} ${randomBytes(4).toString("hex")}`;

  let backend: string | undefined;
  const placeOf = (identity: string) => {
    backend ??= backendIn(environment, process.cwd()); // asks the disk
    return { stack: stackOf(identity), backend, provider };
  };
  /** A process serves one stack. */
  const journalOf = (identity: string) => {
    if (journal === undefined) {
      const place = placeOf(identity);
      commandsTake(() => commandTargetOf(place.stack, process.cwd()));
      journal = new Journal({
        ...place,
        folder,
        disk,
        runs: [runName],
        account,
        isSameAccount,
        say: messages.say,
      });
    }
    return journal;
  };

  return {
    ...messages,
    reading,
    secrets,
    clock: underWay.clock,
    deployment,
    /** The installation and account; empty if the settings name none. */
    account,
    isSameAccount,
    runName,
    /** @throws SettingsError */
    client() {
      if (client !== undefined) return client;
      const { problems } = readSettings({
        config,
        environment,
        mayLackPassword: false,
      });
      if (problems.length > 0)
        throw new SettingsError(`Nothing was sent:\n${describeSettingProblems(problems)}`);
      const dependencies = systemDependencies(reading, {
        cookieFile: cookieFileFor(settings, process.cwd()),
        tell: messages.say,
        secrets,
        log: environment.ADVERTISING_LOG,
      });
      client = new Client({ ...dependencies, clock: underWay.clock });
      return client;
    },
    placeOf,
    journalFolder: folder,
    journal: journalOf,
    /** Creates that were open when this run began, here and in other stacks of the project. */
    openCreates(identity: string) {
      openCreates ??= new CreatesByName([
        ...journalOf(identity).openAtStart,
        ...openElsewhere(placeOf(identity), everyJournal(folder, disk)),
      ]);
      return openCreates;
    },
    /** Whether this stack's journal has an object twice; or any journal, if the stack is unknown, as in a `destroy`. */
    isShared(kind: Kind, id: string) {
      const all = journal === undefined ? everyJournal(folder, disk) : [journal];
      return all.some(({ records }) => {
        const ours = [...records.values()].filter((each) => isSameAccount(each.account));
        return isTwiceIn(ours, kind.name, id);
      });
    },
    deleted: deletedObjects(folder, account, isSameAccount, disk),
    /** What the command answers in a refresh, by mark: the platform's id, or null if nothing was created. */
    answers: asRecord(jsonIn(environment.ADVERTISING_ANSWERS)) as Readonly<
      Record<string, string | null>
    >,
    now,
    assertEngine: () => underWay.assertEngine(),
    track: <T>(work: () => Promise<T>) => underWay.track(work),
    /** Ends everything when the engine ends the process cleanly, with hardly any time left. */
    closeNow() {
      // What a run of the whole program, to its end, has not declared leaves the state; the program process has said so.
      if (journal === undefined) return;
      const { isUp, isWhole, hasFailed } = deployment;
      const hasEnded = readHints(endedPath(journal.path), disk) !== "";
      const isComplete = isUp && isWhole && hasEnded && !hasFailed;
      const left = [...journal.records.keys()].filter(
        (key) => isComplete && !deployment.isDeclared(key),
      );
      const { PULUMI_SKIP_CHECKPOINTS = "" } = environment;
      journal.closeNow(left, !/^(1|true)$/i.test(PULUMI_SKIP_CHECKPOINTS));
    },
    /** After the engine is gone: begins nothing more, and resolves when work in progress has ended and is noted. */
    async abandon() {
      await underWay.end();
      journal?.release();
    },
  };
}
