/**
 * Shared by all resources of a deployment in the provider process: the client, the journal, messages (scrubbed, and
 * limited in number), and the work in progress, which ends once the engine is gone.
 */
import { randomBytes } from "node:crypto";
import { setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import {
  asRecord,
  type Clock,
  isoNow,
  jsonIn,
  NotSentError,
  natural,
  type Secrets,
  SettingsError,
  systemClock,
  type Values,
} from "../base/index.js";
import { Client, secretsIn, systemDependencies } from "../client/index.js";
import { type Disk, readHints, systemDisk } from "../files/index.js";
import {
  backendIn,
  CreatesByName,
  cookieFileFor,
  deletedObjects,
  endedPath,
  everyJournal,
  Journal,
  journalFolder,
  journalPath,
  keysHolding,
  openElsewhere,
  type StackJournal,
  type StackPlace,
  setPrintedStack,
} from "../journal/index.js";
import type { Kind } from "../kinds/index.js";
import {
  accountMatcher,
  accountOf,
  describeSettingProblems,
  readSettings,
} from "../settings/index.js";
import { type ResourceRef, stackOf } from "../state/index.js";
import { Deployment } from "./deployment.js";

export type Runtime = ReturnType<typeof createRuntime>;

/** A resource's id and outputs in the state, and its current inputs. */
export interface Change {
  id: string;
  olds: Values;
  news: Values;
}

export function createRuntime(
  config: (key: string) => string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  log: TellAt,
  {
    disk = systemDisk,
    folder = journalFolder(),
    provider,
  }: {
    disk?: Disk;
    folder?: string;
    /** The plugin's provider, with a journal of its own; undefined for the dynamic provider. */
    provider?: string;
  } = {},
) {
  const readAll = (mayLackPassword: boolean) =>
    readSettings({ config, environment, mayLackPassword });
  // A preview works without a password; `client` below requires it.
  const reading = readAll(true);
  const { settings } = reading;
  const secrets = secretsIn(reading);
  const messages = createMessages(secrets, log);
  const underWay = createTracker();
  const deployment = new Deployment();
  const account = accountOf(settings);
  const isSameAccount = accountMatcher(settings);
  const now = () => isoNow(systemClock);
  let client: Client | undefined;
  let journal: Journal | undefined;
  let openCreates: CreatesByName | undefined;
  /** A cache, since a `destroy` reads all journals for each of thousands of deletes. */
  const knownJournals = new Map<string, StackJournal>();
  /** Names this run in its journal, and in the inputs of the resources that it creates. */
  const runName = `${now()} ${randomBytes(4).toString("hex")}`;

  /** There is one journal, since a process serves one stack. */
  const journalOf = ({ identity }: Pick<ResourceRef, "identity">) => {
    if (journal) return journal;
    const stack = stackOf(identity);
    const place = { stack, backend: backendIn(environment, process.cwd()), provider };
    setPrintedStack(stack);
    const { say } = messages;
    const runs = [runName];
    journal = new Journal({ ...place, folder, disk, runs, account, isSameAccount, say });
    return journal;
  };

  return {
    ...messages,
    ...underWay,
    reading,
    settings,
    secrets,
    deployment,
    /** The installation and account; empty if the settings name none. */
    account,
    isSameAccount,
    provider,
    runName,
    /** @throws SettingsError */
    client() {
      if (client) return client;
      const { problems } = readAll(false);
      if (problems.length > 0)
        throw new SettingsError(`Nothing was sent:\n${describeSettingProblems(problems)}`);
      const cookieFile = cookieFileFor(settings, process.cwd());
      const dependencies = systemDependencies(reading, cookieFile, secrets, messages.say);
      client = new Client({ ...dependencies, clock: underWay.clock });
      return client;
    },
    journal: journalOf,
    /** Creates that were open when this run began, in this machine's journals of the project. */
    openCreates(ref: ResourceRef) {
      openCreates ??= new CreatesByName([
        ...journalOf(ref).openAtStart,
        ...openElsewhere(journalOf(ref).place, everyJournal(folder, disk)),
      ]);
      return openCreates;
    },
    /**
     * The other keys that have this object, by the journals of this stack with all its providers; or by those of all
     * stacks, if this one is unknown, as in a `destroy`. Empty if fewer than two keys have the object. Commands in
     * later messages name the stack that was found. @param own a key that is known to have the object.
     */
    otherKeys(kind: Kind, id: string, own?: string): string[] {
      const stackKey = ({ backend, stack }: StackPlace) => JSON.stringify([backend, stack]);
      // This run's own journal may know more than its file.
      const all = everyJournal(folder, disk, knownJournals).filter(
        (each) => journalPath(each, folder) !== journal?.path,
      );
      if (journal) all.push({ ...journal.place, runs: [], records: journal.records });
      for (const [stack, journals] of Map.groupBy(all, stackKey)) {
        if (journal && stack !== stackKey(journal.place)) continue;
        const records = journals.flatMap((each) => [...each.records.values()]);
        const ours = records.filter((each) => isSameAccount(each.account));
        const keys = keysHolding(ours, kind.name, id);
        if (own !== undefined) keys.add(own);
        if (keys.size < 2) continue;
        const [first] = journals;
        if (first) setPrintedStack(first.stack);
        return [...keys].filter((key) => key !== own);
      }
      return [];
    },
    deleted: deletedObjects(folder, account, isSameAccount, disk),
    /** The answers that `pending` passes to a refresh, by mark: the platform's id, or null if nothing was created. */
    answers: asRecord(jsonIn(environment.ADVERTISING_ANSWERS)) as Readonly<
      Record<string, string | null>
    >,
    now,
    /** Closes the journal when the engine ends the process cleanly, with hardly any time left. */
    closeNow() {
      if (!journal) return;
      // If the whole program ran to its end, undeclared objects leave the state. The program process has reported them.
      const { isUp, isWhole, hasFailed } = deployment;
      const hasEnded = readHints(endedPath(journal.path), disk) !== "";
      const isComplete = isUp && isWhole && hasEnded && !hasFailed;
      const leaving = [...journal.records.values()].filter(({ key, id = "" }) => {
        return deployment.hasLeft(key, id) || (isComplete && !deployment.isDeclared(key));
      });
      const hasCheckpoints = !/^(1|true)$/i.test(environment.PULUMI_SKIP_CHECKPOINTS ?? "");
      journal.closeNow(
        leaving.map(({ key }) => key),
        hasCheckpoints,
      );
    },
    /** After the engine is gone: begins nothing more, and resolves when work in progress has ended and is noted. */
    async abandon() {
      await underWay.end();
      journal?.release();
    },
  };
}

export type Severity = "info" | "warn";

/** Shows a message at the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

const ENGINE_GONE = "Not sent: Pulumi's engine has ended. Run this again.";

/** Tracks the work in progress, which ends once the engine is gone. */
export function createTracker() {
  const running = new Set<Promise<unknown>>();
  const gone = new AbortController();
  /** Sleeping on this clock fails with a `NotSentError` once the engine is gone. */
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      await sleep(ms, undefined, { signal: gone.signal }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };
  /** @throws NotSentError once the engine is gone: nothing would receive the result of a request. */
  const assertEngine = () => {
    if (gone.signal.aborted) throw new NotSentError(ENGINE_GONE);
  };
  return {
    clock,
    assertEngine,
    async track<T>(work: () => Promise<T>): Promise<T> {
      assertEngine();
      const promise = work();
      running.add(promise);
      return promise.finally(() => running.delete(promise));
    },
    /** The engine is gone. Resolves when work in progress has ended. */
    async end(): Promise<void> {
      gone.abort();
      await Promise.allSettled(running);
    },
  };
}

/** The first notices of a sort are shown one by one; further ones are collected for a moment and shown together. */
const MAX_NOTICES = 10;
const COLLECT_MS = 200;

export interface Notice {
  /** A phrase that fits all notices of this sort, as it follows "3 more, ". */
  sort: string;
  urn: string;
  text: string;
  /** The object's name in a list of collected notices. */
  brief: string;
}

export function createMessages(secrets: Secrets, log: TellAt) {
  const shown = new Set<string>();
  /** The engine asks twice about a replaced resource, and with `--refresh` about each: a message is shown once. */
  const isNew = (...about: readonly string[]) => {
    const text = about.join(" ");
    if (shown.has(text)) return false;
    shown.add(text);
    return true;
  };
  const sorts = new Map<
    string,
    { severity: Severity; amount: number; collected: string[] }
  >();
  let timer: NodeJS.Timeout | undefined;
  const tellAt = (severity: Severity, urn: string, message: string | undefined) => {
    if (message !== undefined && isNew(severity, urn, message))
      void log(severity, urn, secrets.scrub(message));
  };
  /** Shows collected notices at once, for callers that know which one is the last. */
  const tellCollected = () => {
    clearTimeout(timer);
    for (const [sort, { severity, collected }] of sorts) {
      if (collected.length === 0) continue;
      const briefs = collected.splice(0).toSorted(natural);
      tellAt(severity, "", `${briefs.length} more, ${sort}: ${briefs.join(", ")}`);
    }
  };
  /** A notice that thousands of resources may have. */
  const tellEach = (severity: Severity, { sort, urn, text, brief }: Notice) => {
    if (!isNew(severity, urn, text)) return;
    const known = sorts.get(sort) ?? { severity, amount: 0, collected: [] };
    sorts.set(sort, known);
    known.amount++;
    if (known.amount <= MAX_NOTICES) {
      void log(severity, urn, secrets.scrub(text));
      return;
    }
    known.collected.push(brief);
    // The last resource is not always known, so collected notices are shown once no other follows for a moment.
    clearTimeout(timer);
    timer = setTimeout(tellCollected, COLLECT_MS);
  };
  return {
    tellAt,
    tellCollected,
    /** Shows a message about the whole run, once for each `topic`. */
    say(message: string, topic = message): void {
      if (isNew(topic)) console.warn(secrets.scrub(message));
    },
    informEach: (notice: Notice) => tellEach("info", notice),
    warnEach: (notice: Notice) => tellEach("warn", notice),
  };
}
