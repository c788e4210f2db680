/**
 * What all resources of a deployment share in the provider's process: one client with one login, one pool of connections and one wait for
 * rate limits; one journal; one place for messages. What a run knows is in `run.ts`. And the calls of the engine ({@link Calls}), each of which
 * gets all this.
 */
import { randomUUID } from "node:crypto";
import { type Clock, momentOf, type Secrets, SettingsError, systemClock } from "../base/index.js";
import { Client, secretsIn, transportFor } from "../client/index.js";
import { type Disk, systemDisk } from "../files/index.js";
import type { Kind } from "../kinds/index.js";
import { accountOf, describeSettingProblems, readSettings, type SettingsReading } from "../settings/index.js";
import { aboutWhom, type CreateRecord, objectKey, stackOf } from "../state/index.js";
import {
  backendIn,
  forgetObjects,
  forgetSettlements,
  Inventory,
  Journal,
  lookAround,
  pathsIn,
  placesFor,
  Seen,
  type Snapshot,
  seenIn,
} from "../store/index.js";
import { createMessages, debugLog, engineLog, type Messages, Progress, type TellAt, UnderWay } from "./engine.js";
import type { Properties } from "./inputs.js";
import { Run } from "./run.js";

/** How long to wait for the journal: a run of the same stack that was interrupted may still be ending. */
const JOURNAL_WAIT_MS = 30_000;

export interface Services extends Messages {
  readonly reading: SettingsReading;
  readonly secrets: Secrets;
  /** A sleep on it fails once the engine is gone. */
  readonly clock: Clock;
  /** @throws SettingsError if the settings do not suffice to send anything. */
  client(): Client;
  /** The installation and account; empty if the settings name none. */
  readonly account: string;
  /** The objects that runs on this machine created, for warnings. */
  inventory(identity: string): Inventory;
  /**
   * Once the program has ended: adds to `run` what the program noted and the engine may not have asked about.
   * @returns whether it ended without a failure, so that its declarations are complete.
   */
  learnLater(): boolean;
  /** What this machine remembers of every stack of the account, for a `destroy`, which does not say whose objects it deletes. */
  everyStack(): Snapshot[];
  /** The resources that have an object, by the notes of runs on this machine, if the state does not say it. */
  rememberedOf(kind: Kind["name"], id: string): readonly Owner[];
  /** What runs on this machine have learned of objects, and sent for them with an unknown outcome. */
  readonly seen: Seen;
  readonly newMark: () => string;
  /** ISO 8601. */
  readonly now: () => string;
  /** The journal of `identity`'s stack; a process serves one stack. */
  journal(identity: string): Journal;
  /** What this machine remembers of the stack under the former name that an identity has. */
  formerly(identity: string): Formerly;
  /** Runs work that sends; `expectMayBegin` throws once the engine is gone. */
  track<T>(work: (expectMayBegin: () => void) => Promise<T>): Promise<T>;
  /** Awaited before an update or a delete. @throws JournalError if another run of the stack has overtaken this one. */
  expectNewest(): Promise<void>;
  /** Called before an object is deleted, which the state has: the journal drops its create. Never fails: a note that can't be written is reported. */
  forgetCreate(kind: Kind["name"], id: string): Promise<void>;
  /** Counts an object that was read, for the progress of a long refresh. */
  noteRead(): void;
  /** Ends everything when the engine ends the process cleanly, with hardly any time left. */
  closeNow(): void;
  /** After the engine is gone: begins nothing more, and resolves when work in progress has ended and is noted. */
  abandon(): Promise<void>;
}

/** A resource on this machine, or a member of a set, that has an object. */
export interface Owner {
  /** The journal key. */
  readonly key: string;
  /** When a run on this machine created it, ISO 8601. */
  readonly at?: string | undefined;
  /** Whether Pulumi's option `protect` keeps it in the state, also once the program no longer declares it. */
  readonly protects?: boolean | undefined;
}

export interface Formerly {
  readonly journal: Journal;
  readonly inventory: Inventory;
}

export interface Runtime extends Services {
  readonly run: Run;
}

/** The inputs and all their problems, which the engine shows at the resource. */
export interface CheckAnswer {
  readonly inputs: Properties;
  readonly failures: { readonly property: string; readonly reason: string }[];
}

/** The engine's calls for a resource. `Properties` are inputs or the state's properties; `outs` are the next ones. */
export interface Calls<Resource> {
  check(resource: Resource, runtime: Runtime, olds: Properties, given: Properties): Promise<CheckAnswer>;
  /** @returns whether anything changes, and the arguments whose change replaces the resource. */
  plan(
    resource: Resource,
    runtime: Runtime,
    id: string,
    olds: Properties,
    news: Properties,
  ): Promise<{ readonly changes: boolean; readonly replaces: string[] }>;
  create(
    resource: Resource,
    runtime: Runtime,
    inputs: Properties,
  ): Promise<{ readonly id: string; readonly outs: Properties }>;
  update(resource: Resource, runtime: Runtime, id: string, olds: Properties, news: Properties): Promise<Properties>;
  /** @returns none if the object no longer exists. */
  read(resource: Resource, runtime: Runtime, id: string, properties: Properties): Promise<Properties | undefined>;
  delete(resource: Resource, runtime: Runtime, id: string, properties: Properties): Promise<void>;
}

export function createRuntime(
  config: (key: string) => string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  log: TellAt = engineLog(undefined),
  /** When this run's engine was started, if that is known. */
  engineStarted?: number,
  disk: Disk = systemDisk,
): Runtime {
  // A preview works without a password; a create checks it below.
  const reading = readSettings({ config, environment, mayLackPassword: true });
  const { settings } = reading;
  const secrets = secretsIn(reading);
  const messages = createMessages(secrets, log);
  const places = placesFor(settings, process.cwd());
  const underWay = new UnderWay();
  const run = new Run();
  let client: Client | undefined;
  let journal: Journal | undefined;
  let inventory: Inventory | undefined;
  const everyStack = () => lookAround(places.journalFolder, disk);
  let remembered: ReadonlyMap<string, readonly Owner[]> | undefined;
  let reads: Progress | undefined;
  /** By the stack's former name. */
  const formerly = new Map<string, Formerly>();

  const seen = new Seen(seenIn(places.journalFolder), systemClock, disk);
  const savesLast = isTrue(environment.PULUMI_SKIP_CHECKPOINTS);
  const ofJournals = {
    folder: places.journalFolder,
    clock: systemClock,
    newMark: randomUUID,
    maxWaitMs: JOURNAL_WAIT_MS,
    disk,
  };
  const now = () => momentOf(systemClock);

  const inventoryOf = (identity: string) => {
    inventory ??= new Inventory(pathsIn(places.journalFolder, stackOf(identity)).objects, disk);
    return inventory;
  };

  const learnLater = () => {
    if (run.program === undefined || run.identity === undefined) return false;
    const noted = inventoryOf(run.identity).ofProgram(run.program);
    if (noted === undefined) return false;
    run.noteDeclares(noted.declares);
    for (const [key, id] of noted.adopts) run.holders.add(aboutWhom(key).kind, id, key, "is to adopt");
    if (noted.adoptsLater !== undefined) run.adoptsLater = new Set(noted.adoptsLater);
    run.hasProgramEnded = noted.hasEnded;
    return noted.hasEnded;
  };

  const newClient = () => {
    const { problems } = readSettings({ config, environment, mayLackPassword: false });
    if (problems.length > 0) throw new SettingsError(`Nothing was sent:\n${describeSettingProblems(problems)}`);
    return new Client(settings, {
      transport: transportFor(reading),
      clock: underWay.clock,
      random: Math.random,
      newId: randomUUID,
      cookieFile: places.cookieFile,
      credentials: reading.credentials,
      disk,
      secrets,
      say: messages.say,
      onAttempt: debugLog(environment.ADVERTISING_LOG, now, (text) => secrets.scrub(text), messages.say),
    });
  };

  return {
    ...messages,
    reading,
    secrets,
    clock: underWay.clock,
    account: accountOf(settings),
    run,
    seen,
    newMark: randomUUID,
    now,
    inventory: inventoryOf,
    everyStack,
    learnLater,
    rememberedOf(kind, id) {
      remembered ??= Map.groupBy(
        everyStack().flatMap(({ objects }) => [...objects].map(([key, live]) => ({ key, ...live }))),
        (each) => objectKey(aboutWhom(each.key).kind, each.id),
      );
      return remembered.get(objectKey(kind, id)) ?? [];
    },
    journal(identity) {
      journal ??= new Journal({
        ...ofJournals,
        stack: stackOf(identity),
        beganMs: engineStarted,
        backend: backendIn(environment),
        savedLast: savesLast,
      });
      return journal;
    },
    formerly(identity) {
      const stack = stackOf(identity);
      const known = formerly.get(stack) ?? {
        journal: new Journal({ ...ofJournals, stack }),
        inventory: new Inventory(pathsIn(places.journalFolder, stack).objects, disk),
      };
      formerly.set(stack, known);
      return known;
    },
    client() {
      client ??= newClient();
      return client;
    },
    track: (work) => underWay.track(work),
    expectNewest: async () => journal?.expectNewest(),
    async forgetCreate(kind, id) {
      const isOfIt = (record: CreateRecord) => record.id === id && aboutWhom(record.key).kind === kind;
      await journal?.settle(isOfIt).catch((error: Error) => messages.say(error.message));
    },
    noteRead() {
      reads ??= new Progress(undefined, systemClock, (text) => messages.tellAt("info", "", `Reading objects: ${text}`));
      reads.done();
    },
    closeNow() {
      // A program that failed half way has not declared the rest, and the engine removes none of that from the state.
      const isWhole = learnLater() && run.isWhole && !run.hasFailed;
      // The program's half knows these objects too, and has reported which of them leave the state.
      const isSaid = ({ key, id }: CreateRecord) => id !== undefined && inventory?.asItBegan.get(key)?.id === id;
      journal?.closeNow(isWhole ? run.declared : undefined, run.isUp === true, isSaid);
      for (const former of formerly.values()) former.journal.release();
      forgetObjects(places.journalFolder, run.gone, disk);
      // A preview that refreshes saves nothing.
      if (run.isUp !== true) return;
      if (!savesLast) {
        // The engine has saved it. Without checkpoints, a later run sees it in the state.
        seen.forgetDone();
        for (const [mark, id] of run.settled) seen.noteSettled(mark, id);
      }
      inventory?.noteOver(run.program ?? "");
      if (!isWhole) return;
      inventory?.closeNow(run.declared, run.removed);
      if (run.identity !== undefined) {
        forgetSettlements(pathsIn(places.journalFolder, stackOf(run.identity)).settlements, disk);
      }
    },
    async abandon() {
      if (run.isUp === true) inventory?.noteOver(run.program ?? "");
      await underWay.end();
      journal?.release();
      for (const former of formerly.values()) former.journal.release();
      forgetObjects(places.journalFolder, run.gone, disk);
    },
  };
}

/** As Pulumi reads its own settings. */
function isTrue(text: string | undefined): boolean {
  return text === "1" || text?.toLowerCase() === "true";
}
