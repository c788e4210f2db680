/**
 * Random lives of one set: edits, faults, an engine that asks again, kills. Nothing is created twice, nothing is lost, and
 * whatever nothing manages any more was told. SET_RUNS sets how many (`npm run model-test` runs the long version), SEED
 * repeats a run: the first sequence has that seed, the next one the next.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type Fault, type Sandbox, startSandbox } from "../../provider/src/sandbox/index.js";
import { memberOf } from "../../provider/src/state/identity.js";
import { newFolder } from "../support/folder.js";
import { seededRandom } from "../support/random.js";
import { SetEngine } from "../support/set-engine.js";

const RUNS = Number(process.env.SET_RUNS ?? 12);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const KEYS = ["a", "b.c", `d"]["e`, "constructor", "ф", "1", "g h", "k".repeat(100)];
const SET_KEY = "ConversionEventSet::organization/tiny/dev::funnel";

const lost: Fault[] = [
  { kind: "close-without-answer" },
  { kind: "reset" },
  { kind: "half-body" },
  { kind: "answer", status: 500, body: { message: "internal" } },
  { kind: "answer", status: 200, body: { success: true } },
];
const refusals: Fault[] = [
  { kind: "answer", status: 406, body: { errors: ["bad"] } },
  { kind: "answer", status: 200, body: { success: false, message: "bad" } },
  { kind: "session-refusal" },
];

type Events = Record<string, { eventName: string; value: number; existingId?: number }>;

/** One set's life, and what its users know of it. */
class Life {
  readonly counts = { ups: 0, failed: 0, kills: 0, unresolved: 0 };
  readonly #random: () => number;
  readonly #sandbox: Sandbox;
  readonly #engine: SetEngine;
  readonly #told: string[] = [];
  #events: Events = {};
  #version = 0;

  constructor(random: () => number, sandbox: Sandbox) {
    this.#random = random;
    this.#sandbox = sandbox;
    this.#engine = new SetEngine(sandbox, newFolder());
  }

  async live(steps: number): Promise<void> {
    for (let step = 0; step < steps; step++) {
      this.#edit();
      const faults = Array.from({ length: this.#below(3) }, () => this.#fault());
      await [() => this.#up(), () => this.#up(), () => this.#upAskedTwice(), () => this.#kill()][this.#below(4)]?.();
      for (const fault of faults) fault.cancel();
      this.#expectNothingTwice();
      if (this.#below(2) === 0) await this.#settle();
    }
    for (let attempt = 0; attempt < 4; attempt++) {
      await this.#settle();
      if ((await this.#up()) === undefined) break;
    }
    for (const event of Object.values(this.#events)) delete event.existingId;
    const posts = this.#sandbox.eventPosts;
    expect(await this.#up()).toBe(undefined);
    expect(this.#sandbox.eventPosts, "existingId may go").toBe(posts);
    this.#expectNothingLost();
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }

  /** Each version of an event has a name of its own on the platform. */
  #edit(): void {
    for (const key of KEYS) {
      const chance = this.#below(6);
      if (chance === 0) delete this.#events[key];
      if (chance === 1 || (chance === 2 && !Object.hasOwn(this.#events, key))) {
        this.#events[key] = { eventName: `E${++this.#version}`, value: this.#below(3) };
      }
    }
  }

  #fault() {
    const isLost = this.#below(2) === 0;
    const faults = isLost ? lost : refusals;
    return this.#sandbox.fail({
      on: "event",
      act: isLost && this.#below(2) === 0,
      after: this.#below(4),
      times: 1 + this.#below(2),
      with: faults[this.#below(faults.length)] as Fault,
    });
  }

  get #declared() {
    return { advertiserId: 1, events: structuredClone(this.#events) };
  }

  #hear({ told, said }: { told: readonly { message: string }[]; said: readonly string[] }, error: string | undefined) {
    this.#told.push(...told.map(({ message }) => message), ...said, error ?? "");
  }

  async #up(): Promise<string | undefined> {
    this.counts.ups++;
    const { error, run } = await this.#engine.up(this.#declared);
    this.#hear(run, error);
    this.#judge(error);
    return error;
  }

  async #upAskedTwice(): Promise<void> {
    this.counts.ups++;
    const run = this.#engine.newRun();
    const before = structuredClone(this.#engine.state);
    let error = await this.#engine.apply(run, this.#declared);
    if (error !== undefined) {
      this.#engine.state = before;
      error = await this.#engine.apply(run, this.#declared);
    }
    run.closeNow();
    this.#hear(run, error);
    this.#judge(error);
  }

  async #kill(): Promise<void> {
    this.counts.kills++;
    const until = this.#sandbox.eventPosts + this.#below(5);
    const moment = async () => {
      for (let waited = 0; waited < 30 && this.#sandbox.eventPosts < until; waited++) await sleep(1);
    };
    await this.#engine.upAndKill(this.#declared, moment());
  }

  /** Somebody looks into the account for each event of unknown outcome, and says what is there. */
  async #settle(): Promise<void> {
    for (const [key, mark] of Object.entries(this.#engine.unresolved)) {
      this.counts.unresolved++;
      const name = String(mark.name);
      const found = this.#sandbox.events.find(({ event_name }) => event_name === name);
      if (found !== undefined) {
        // A key may be the name of something that every object inherits.
        const known = Object.hasOwn(this.#events, key) ? this.#events[key] : undefined;
        this.#events[key] = { ...(known ?? { eventName: name, value: 0 }), existingId: found.id };
        continue;
      }
      // As `pending --not-created` does it.
      delete this.#engine.unresolved[key];
      const run = this.#engine.newRun();
      await run.runtime.journal("tiny/dev::funnel").settle(memberOf(SET_KEY, key), "none");
      run.closeNow();
    }
  }

  #judge(error: string | undefined): void {
    const live = new Set(this.#sandbox.events.map(({ id }) => id));
    for (const id of Object.values(this.#engine.eventIds)) expect(live.has(id as number), `${id} exists`).toBe(true);
    if (error !== undefined) {
      this.counts.failed++;
      expect(error).toMatch(/\[ADVERTISING_(REFUSED|OUTCOME_UNKNOWN|LOGIN|NOT_SENT|ARGUMENTS)\]/);
      return;
    }
    expect(this.#engine.unresolved).toEqual({});
    expect(Object.keys(this.#engine.eventIds).sort()).toEqual(Object.keys(this.#events).sort());
  }

  #expectNothingTwice(): void {
    const names = this.#sandbox.events.map(({ event_name }) => event_name);
    expect(names.length, "nothing twice").toBe(new Set(names).size);
  }

  #expectNothingLost(): void {
    this.#expectNothingTwice();
    const held = Object.values(this.#engine.eventIds);
    expect(new Set(held).size, "no object is two").toBe(held.length);
    const all = this.#told.join("\n");
    for (const { id } of this.#sandbox.events) {
      if (!held.includes(id)) expect(new RegExp(`\\b${id}\\b`).test(all), `${id}, unmanaged, was told`).toBe(true);
    }
  }
}

it(`${RUNS} random lives of a set (SEED=${seed})`, { timeout: RUNS * 20_000 }, async () => {
  const counts = { ups: 0, failed: 0, kills: 0, unresolved: 0 };
  let posts = 0;
  for (let run = 0; run < RUNS; run++) {
    const sandbox = await startSandbox({
      objects: { advertisers: [{ id: 1, active: true }], events: [] },
      // Ids that stand for nothing else in a message.
      firstId: 70_001,
      loginLimit: { count: 1000, windowSeconds: 60 },
    });
    try {
      const life = new Life(seededRandom(seed + run), sandbox);
      await life.live(6).catch((error: Error) => {
        error.message = `SEED=${seed + run} SET_RUNS=1: ${error.message}`;
        throw error;
      });
      for (const [name, amount] of Object.entries(life.counts)) counts[name as keyof typeof counts] += amount;
      posts += sandbox.eventPosts;
    } finally {
      await sandbox.close();
    }
  }
  console.log(`${RUNS} lives (SEED=${seed}), ${posts} POSTs:`, counts);
  for (const amount of Object.values(counts)) expect(amount).toBeGreaterThan(0);
});
