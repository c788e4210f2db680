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
  /** The clock of `work`. */
  clock: Clock;
  record: RunRecord;
  /** The engine's command line; undefined if it isn't known. */
  command: EngineRun | undefined;
  /** The answers that `pending` passes to a refresh. */
  answers: Values;
  /**
   * Names the stack. There is one, since a process serves one stack. In a refresh, the resources of a renamed stack still
   * have its former name: then the program has the right one.
   */
  begin(ref: Pick<ResourceRef, "identity">, isOfProgram?: boolean): void;
  journal(): Journal;
  /** @throws SettingsError */
  client(): Client;
  /** The platform's time, as `Client.platformNow` has it. */
  platformNow(): string | undefined;
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

/** The work in progress, which ends once the run is cancelled or the engine is gone. */
export class Work {
  readonly #running = new Set<Promise<unknown>>();
  #endedAtMs = Number.NEGATIVE_INFINITY;
  readonly #stopped = new AbortController();
  /** Sleeping on this clock fails like {@link assertGoesOn}. */
  readonly clock: Clock = {
    ...systemClock,
    sleep: async (ms) => {
      const { signal } = this.#stopped;
      await sleep(ms, undefined, { signal }).catch(this.assertGoesOn);
    },
  };

  /** @throws NotSentError once nothing new may begin. */
  readonly assertGoesOn = () => this.#stopped.signal.throwIfAborted();

  /** Somebody cancels the run: what is in flight goes on, and nothing new begins. */
  cancel() {
    const why = "this run was cancelled, or Pulumi's engine has ended";
    this.#stopped.abort(new NotSentError(`Not sent: ${why}. Run this again.`));
  }

  async track<T>(work: () => Promise<T>) {
    this.assertGoesOn();
    return this.hold(work());
  }

  /** Counts a call of the engine as work in progress, until its result is known. */
  hold<T>(call: Promise<T>) {
    this.#running.add(call);
    return call.finally(() => {
      this.#running.delete(call);
      this.#endedAtMs = systemClock.monotonicMs();
    });
  }

  /** The time since the last result was known. */
  get idleMs() {
    return systemClock.monotonicMs() - this.#endedAtMs;
  }

  /** Whether anything is in progress whose outcome the engine needs. */
  get isBusy() {
    return this.#running.size > 0;
  }

  /** The engine is gone: nothing would receive a result. Resolves when work in progress has ended. */
  async end() {
    this.cancel();
    await Promise.allSettled(this.#running);
  }
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

/** The collected notices of a sort. */
interface Sort {
  severity: Severity;
  amount: number;
  collected: string[];
}

export class Messages {
  readonly #shown = new Set<string>();
  readonly #sorts = new Map<string, Sort>();
  readonly #logging = new Set<Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly secrets: Secrets,
    private readonly log: TellAt,
  ) {}

  tellAt(severity: Severity, urn: string, message: string | undefined) {
    if (message !== undefined && this.#isNew(severity, urn, message))
      this.#show(severity, urn, message);
  }

  /** Shows a message about the whole run, once for each `topic`. */
  readonly say = (message: string, topic = message) => {
    if (this.#isNew(topic)) this.#show("warn", "", message);
  };

  /** A notice that thousands of resources may have. */
  tellEach({ sort, urn, text, brief }: Notice, severity: Severity = "warn") {
    if (!this.#isNew(severity, urn, text)) return;
    const known = this.#sorts.get(sort) ?? { severity, amount: 0, collected: [] };
    this.#sorts.set(sort, known);
    known.amount++;
    if (known.amount <= MAX_NOTICES) {
      this.#show(severity, urn, text);
      return;
    }
    known.collected.push(brief);
    // The last resource is not always known, so collected notices are shown once no other follows for a moment.
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.tellCollected(), COLLECT_MS);
  }

  /** Shows collected notices at once, for callers that know which one is the last. */
  tellCollected() {
    clearTimeout(this.#timer);
    for (const [sort, { severity, collected }] of this.#sorts) {
      if (collected.length === 0) continue;
      const briefs = collected.splice(0).toSorted(natural);
      this.tellAt(severity, "", `${briefs.length} more, ${sort}: ${briefs.join(", ")}`);
    }
  }

  /** Resolves once the engine has all messages. */
  async settled() {
    await Promise.all(this.#logging);
  }

  /** The engine asks twice about a replaced resource, and with `--refresh` about each: a message is shown once. */
  #isNew(...about: readonly string[]) {
    const before = this.#shown.size;
    return this.#shown.add(about.join(" ")).size > before;
  }

  #show(severity: Severity, urn: string, message: string) {
    const shown = this.log(severity, urn, this.secrets.scrub(message));
    this.#logging.add(shown);
    void shown.finally(() => this.#logging.delete(shown));
  }
}
