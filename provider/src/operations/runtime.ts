/**
 * Shared by all resources of a deployment in the provider process: the client, the journal, Pulumi's record, messages
 * (scrubbed, and limited in number), and the work in progress, which ends once the engine is gone.
 */
import { setTimeout } from "node:timers";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type Clock,
  NotSentError,
  natural,
  type Secrets,
  systemClock,
  type Values,
} from "../base/index.js";
import type { Client } from "../client/index.js";
import type { Journal } from "../journal/index.js";
import type { EngineRun } from "../record/index.js";
import type { IsSameAccount, Settings, SettingsReading } from "../settings/index.js";
import type { ResourceRef } from "../state/index.js";
import type { Deployment } from "./deployment.js";
import type { RunRecord } from "./run-record.js";

export interface Runtime {
  reading: SettingsReading;
  settings: Settings;
  secrets: Secrets;
  /** The installation and account; empty if the settings name none. */
  account: string;
  isSameAccount: IsSameAccount;
  /** The plugin's provider; undefined for the dynamic provider. */
  provider: string | undefined;
  /** Names this run in its journal, and in the inputs of the resources that it creates. */
  runName: string;
  deployment: Deployment;
  messages: Messages;
  work: Work;
  record: RunRecord;
  /** What the engine's command line says; undefined if that isn't known. */
  command: EngineRun | undefined;
  /** The answers that `pending` passes to a refresh. */
  answers: Values;
  /** Names the stack. There is one, since a process serves one stack. */
  begin(ref: Pick<ResourceRef, "identity">): void;
  journal(): Journal;
  /** @throws SettingsError */
  client(): Client;
  /** The platform's time, as `Client.platformNow` has it. */
  platformNow(): string | undefined;
  /** The present moment by this machine's clock, ISO 8601, for people. */
  now(): string;
  /** Ends the run when the engine ends the process cleanly, after it has saved the state. */
  close(): Promise<void>;
  /** After the engine is gone: begins nothing more, and resolves when work in progress has ended and is noted. */
  abandon(): Promise<void>;
}

/** A resource's id and outputs in the state, and its current inputs. */
export interface Change {
  id: string;
  olds: Values;
  news: Values;
}

export type Severity = "info" | "warn";

/** Shows a message at the resource with this URN. Resolves once the engine has it; never fails. */
export type TellAt = (severity: Severity, urn: string, message: string) => Promise<void>;

const ENGINE_GONE = "Not sent: Pulumi's engine has ended. Run this again.";

/** The work in progress, which ends once the engine is gone. */
export interface Work {
  /** Sleeping on this clock fails with a `NotSentError` once the engine is gone. */
  clock: Clock;
  /** @throws NotSentError once the engine is gone: nothing would receive the result of a request. */
  assertEngine(): void;
  track<T>(work: () => Promise<T>): Promise<T>;
  /** The engine is gone. Resolves when work in progress has ended. */
  end(): Promise<void>;
}

export function createWork(): Work {
  const running = new Set<Promise<unknown>>();
  const gone = new AbortController();
  const clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      await sleep(ms, undefined, { signal: gone.signal }).catch(() => {
        throw new NotSentError(ENGINE_GONE);
      });
    },
  };
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
    async end() {
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

export interface Messages {
  tellAt(severity: Severity, urn: string, message: string | undefined): void;
  /** Shows collected notices at once, for callers that know which one is the last. */
  tellCollected(): void;
  /** Shows a message about the whole run, once for each `topic`. */
  say(message: string, topic?: string): void;
  informEach(notice: Notice): void;
  warnEach(notice: Notice): void;
  /** Resolves once the engine has all messages. */
  settled(): Promise<unknown>;
}

export function createMessages(secrets: Secrets, log: TellAt): Messages {
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
  const logging = new Set<Promise<void>>();
  const show = (severity: Severity, urn: string, message: string) => {
    const shown = log(severity, urn, secrets.scrub(message));
    logging.add(shown);
    void shown.finally(() => logging.delete(shown));
  };
  const tellAt = (severity: Severity, urn: string, message: string | undefined) => {
    if (message !== undefined && isNew(severity, urn, message))
      show(severity, urn, message);
  };
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
      show(severity, urn, text);
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
    say(message, topic = message) {
      if (isNew(topic)) console.warn(secrets.scrub(message));
    },
    informEach: (notice) => tellEach("info", notice),
    warnEach: (notice) => tellEach("warn", notice),
    settled: () => Promise.all(logging),
  };
}
