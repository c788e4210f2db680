/**
 * The provider process's one client, put together from the settings. All resources of a deployment share it: one login,
 * one pool of connections, one wait where the platform asks for quiet.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as setTimer } from "node:timers";
import { setTimeout } from "node:timers/promises";
import { Client } from "../api/client.js";
import { type Clock, systemClock } from "../clock.js";
import { accountOf } from "../config/account.js";
import { describeSettingProblems, readSettings, type Settings, type SettingsReading } from "../config/settings.js";
import { NotSentError, SettingsError } from "../errors.js";
import { type Places, placesOf } from "../files/places.js";
import { type AttemptReport, PatientSender } from "../http/patient.js";
import { createTransport } from "../http/transport.js";
import { Inventory, inventoryPath } from "../journal/inventory.js";
import { Journal } from "../journal/journal.js";
import { Secrets } from "../secrets.js";
import { CookieFile } from "../session/cookie-file.js";
import { Session } from "../session/session.js";
import { memoryStore } from "../session/store.js";
import { stackOf } from "../state/identity.js";
import { debugLog } from "./debug-log.js";
import { engineLog, type Severity, type TellAt } from "./engine-log.js";

/** So many warnings of a sort are told one by one; what comes within this time after them, together. */
const MAX_WARNINGS = 20;
const COLLECT_MS = 200;

/** A run of the same stack that was just interrupted may still be ending. */
const JOURNAL_WAIT_MS = 30_000;

export interface Runtime {
  readonly reading: SettingsReading;
  readonly secrets: Secrets;
  /** @throws SettingsError where the settings do not suffice to send anything. */
  client(): Client;
  /** At which installation, with which account; empty where the settings name none. */
  readonly account: string;
  /** What runs on this machine have created, for warnings. */
  inventory(identity: string): Inventory;
  /** A message at the resource with this URN. */
  readonly tellAt: (severity: Severity, urn: string, message: string) => void;
  /**
   * A warning at a resource, of a sort that may come for thousands: the first ones one by one, the others counted.
   * @param brief names the object in a list. @param summary tells of so many more, whose list follows.
   */
  readonly warnEach: (
    sort: string,
    urn: string,
    message: string,
    brief: string,
    summary: (amount: number) => string,
  ) => void;
  /** What the program said of its run, as far as it is known. */
  readonly run: { isUp: boolean | undefined; declares: number };
  /** By journal key: the id of the object that a resource's replacement takes the place of. */
  readonly replacing: Map<string, string>;
  /** By journal key: the create whose unknown outcome a resource's adoption settles. */
  readonly settling: Map<string, string>;
  /** By journal key: the former names of a resource that adopts an object, whose creates are settled by that. */
  readonly formerly: Map<string, readonly string[]>;
  /** By kind and id: the URN of the resource that holds, or adopts, this object in this run. */
  readonly holders: Map<string, string>;
  /** A message of the whole run; Pulumi shows it while the run goes on. Said once for each `topic`, by default itself. */
  readonly say: (message: string, topic?: string) => void;
  /** Whether it is asked for the first time in this run. */
  isFirst(question: string): boolean;
  readonly newMark: () => string;
  /** The journal of the stack that `identity` is of; a process serves one stack. */
  journal(identity: string): Journal;
  /** Runs one create; `mayBegin` throws once the engine is gone. */
  track<T>(create: (mayBegin: () => void) => Promise<T>): Promise<T>;
  /** That a resource of the program is looked at, as a refresh does not do; or that something was refused or failed. */
  noteProgress(what: "checked" | "failed"): void;
  /** For the end of the process that the engine ends cleanly, when there is hardly any time. */
  closeNow(): void;
  /** The engine is gone: begins nothing more, and resolves when what is under way has ended and is noted. */
  abandon(): Promise<void>;
}

export function createRuntime(
  config: (key: string) => string | undefined,
  environment: Readonly<Record<string, string | undefined>>,
  log: TellAt = engineLog(undefined),
): Runtime {
  // Without a password a preview goes on; a create asks for it below.
  const reading = readSettings({ config, environment, mayLackPassword: true });
  const secrets = new Secrets();
  secrets.add(reading.settings.password);
  for (const spelling of reading.proxy?.secrets ?? []) secrets.add(spelling);
  const said = new Set<string>();
  const asked = new Set<string>();
  const say = (message: string, topic = message) => {
    if (said.has(topic)) return;
    said.add(topic);
    console.warn(secrets.scrub(message));
  };

  const places = placesOf(
    reading.settings,
    sessionKindOf(reading.settings),
    reading.settings.cookieFile,
    process.cwd(),
  );
  const now = () => new Date(systemClock.wallMs()).toISOString();
  const tellAt = (severity: Severity, urn: string, message: string) => void log(severity, urn, secrets.scrub(message));
  const warned = new Map<string, number>();
  const collected = new Map<string, string[]>();
  const run: Runtime["run"] = { isUp: undefined, declares: 0 };
  let client: Client | undefined;
  let journal: Journal | undefined;
  let inventory: Inventory | undefined;
  const underWay = new Set<Promise<unknown>>();
  const progress = new Set<string>();
  const gone = new AbortController();
  return {
    reading,
    secrets,
    say,
    isFirst(question) {
      const isFirst = !asked.has(question);
      asked.add(question);
      return isFirst;
    },
    account: accountOf(reading.settings),
    tellAt,
    warnEach(sort, urn, message, brief, summary) {
      const amount = (warned.get(sort) ?? 0) + 1;
      warned.set(sort, amount);
      if (amount <= MAX_WARNINGS) return tellAt("warn", urn, message);
      const more = collected.get(sort) ?? [];
      collected.set(sort, more);
      // Nobody says which one is the last: they are told when none has come for a moment.
      if (more.push(brief) === 1) {
        setTimer(() => {
          collected.delete(sort);
          tellAt("warn", "", `${summary(more.length)}: ${more.join(", ")}`);
        }, COLLECT_MS);
      }
    },
    run,
    replacing: new Map(),
    settling: new Map(),
    formerly: new Map(),
    holders: new Map(),
    inventory(identity) {
      inventory ??= new Inventory(inventoryPath(places.journalFolder, stackOf(identity)));
      return inventory;
    },
    newMark: randomUUID,
    journal(identity) {
      const known = this.inventory(identity);
      journal ??= new Journal({
        folder: places.journalFolder,
        stack: stackOf(identity),
        clock: systemClock,
        newMark: randomUUID,
        maxWaitMs: JOURNAL_WAIT_MS,
        othersCreated: () => known.hasGrown,
      });
      return journal;
    },
    async track(create) {
      const running = create(() => {
        if (gone.signal.aborted) throw new NotSentError(ENGINE_GONE);
      });
      underWay.add(running);
      try {
        return await running;
      } finally {
        underWay.delete(running);
      }
    },
    noteProgress: (what) => void progress.add(what),
    closeNow() {
      const isWhole = progress.has("checked") && !progress.has("failed");
      journal?.closeNow(isWhole ? inventory?.declared : undefined);
      inventory?.closeNow({ letGo: isWhole && run.isUp === true, declares: run.declares });
    },
    async abandon() {
      gone.abort();
      await Promise.allSettled(underWay);
      await journal?.release();
    },
    client() {
      if (client === undefined) {
        const { problems } = readSettings({ config, environment, mayLackPassword: false });
        if (problems.length > 0) throw new SettingsError(`Nothing was sent:\n${describeSettingProblems(problems)}`);
        const debug = debugLog(environment.ADVERTISING_LOG, now, (text) => secrets.scrub(text), say);
        client = connect(reading, places, secrets, say, debug, clockUntil(gone.signal));
      }
      return client;
    },
  };
}

function connect(
  { settings, proxy }: SettingsReading,
  places: Places,
  secrets: Secrets,
  say: (message: string) => void,
  log: ((report: AttemptReport) => void) | undefined,
  clock: Clock,
): Client {
  const transport = createTransport({
    timeoutSeconds: settings.requestTimeoutSeconds,
    connections: settings.maxConcurrentRequests,
    proxy,
  });
  const sender = new PatientSender({
    transport,
    clock,
    random: Math.random,
    maxWaitSeconds: settings.maxWaitSeconds,
    maxConcurrentRequests: settings.maxConcurrentRequests,
    onWait: (seconds, reason) => say(`The platform limits the rate (${reason}): all requests wait for ${seconds} s.`),
    onRetry: (seconds, reason) =>
      say(`No connection to the platform yet (${reason}): trying for up to ${seconds} s more.`),
    ...(log === undefined ? {} : { onAttempt: log }),
  });
  const store =
    places.cookieFile === undefined || settings.authMode === "basic"
      ? memoryStore(randomUUID)
      : new CookieFile({
          path: places.cookieFile,
          account: settings,
          password: settings.password ?? "",
          keepLoggedIn: settings.keepLoggedIn,
          clock,
          newStamp: randomUUID,
          // Another process's login may have to wait for the rate limit, as long as this one would.
          maxLockWaitMs: (settings.maxWaitSeconds + settings.requestTimeoutSeconds) * 1000,
          say,
          onRead: async (jar) => {
            for (const value of await jar.allValues()) secrets.addPassing(value);
          },
        });
  const session = new Session({ settings, sender, secrets, clock, store });
  return new Client({ settings, session, clean: (text) => secrets.scrub(text) });
}

const ENGINE_GONE = "Not sent: the engine that asked for it has ended.";

/** Nobody waits any more for what sleeps when the engine is gone. */
function clockUntil(gone: AbortSignal): Clock {
  return {
    ...systemClock,
    async sleep(ms) {
      await setTimeout(ms, undefined, { signal: gone }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };
}

/** Sessions of one account that must not be taken for each other. */
function sessionKindOf({ keepLoggedIn, authenticatePath }: Settings): string {
  return `${keepLoggedIn ? "long-lived" : "short"} ${authenticatePath}`;
}
