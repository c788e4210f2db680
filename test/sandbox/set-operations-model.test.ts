/**
 * Random lives of a set on an installation that has more operations, with lost answers, kills and a search that lags: each event
 * is there once and as it is declared, nothing is deleted that was not asked for, what is told is true, and nobody has to look.
 * RUNS sets how many, SEED repeats a run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Runtime } from "../../provider/src/provider/services.js";
import type { Fault, Sandbox } from "../../provider/src/sandbox/index.js";
import { memberOf } from "../../provider/src/state/identity.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { lostAnswers, lostChanges } from "../support/lost-answers.js";
import { eventOperations, oddSandbox, operatedSettings } from "../support/operated.js";
import { seededRandom } from "../support/random.js";
import { SetEngine, type SetResult } from "../support/set-engine.js";
import { timed } from "../support/timed.js";

const RUNS = Math.min(Number(process.env.RUNS ?? 10), 200);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const KEYS = ["a", "b.c", `d"]["e`, "constructor", "ф", "1"];

const { update: _, ...WITHOUT_UPDATE } = eventOperations;
const refused: Fault = { kind: "answer", status: 406, body: { errors: ["not now"] } };

/** Holds what a run has told against the state and the platform. */
function expectTrueReport(
  { error, run }: SetResult,
  engine: SetEngine,
  sandbox: Sandbox,
  keys: string[],
  what: string,
) {
  const held = new Map(Object.entries(engine.eventIds).map(([key, id]) => [key, String(id)]));
  const live = new Set(sandbox.events.map(({ id }) => String(id)));
  const inState = keys.filter((key) => held.has(key)).length;
  const [, ...amounts] = /(\d+) of (\d+) declared events? (?:is|are) in the state/.exec(error ?? "") ?? [];
  expect(amounts.map(Number), `${what}: ${error}`).toEqual(error === undefined ? [] : [inState, keys.length]);
  if (error === undefined) expect(inState, what).toBe(keys.length);
  // Each that is not there is named, with its reason or as one to look for.
  for (const key of keys.filter((each) => !held.has(each)))
    expect(
      [key, memberOf("events", key)].some((name) => error?.includes(name)),
      `${what}: ${key} in ${error}`,
    ).toBe(true);
  for (const key of Object.keys(engine.unresolved)) expect(error, what).toContain(memberOf("events", key));

  for (const { message } of run.told) {
    const about = `${what}: ${message}`;
    const [, amount, ids = ""] = /^Deleted on the platform, .*: (\d+) events?, (.*)\.$/.exec(message) ?? [];
    const deleted = ids.split(", ").flatMap((range) => idsIn(range));
    expect(deleted.length, about).toBe(Number(amount ?? 0));
    expect(
      deleted.filter((id) => live.has(id) || [...held.values()].includes(id)),
      about,
    ).toEqual([]);
    if (message.startsWith("No longer managed")) {
      for (const [, id = ""] of message.matchAll(/^ {2}(\d+)[,:]/gm))
        expect([live.has(id), [...held.values()].includes(id)], about).toEqual([true, false]);
    }
    if (message.includes("which are taken over")) {
      const taken = [...message.matchAll(/ \((\d+)\)(?=,|$)/g)].map(([, id]) => id);
      expect(taken.length, about).toBe(Number(/had created (\d+) event/.exec(message)?.[1]));
      for (const id of taken) expect([...held.values()], about).toContain(id);
      expect(
        taken.every((id) => live.has(String(id))),
        about,
      ).toBe(true);
    }
  }
}

/** @param range `7`, `7–9`, or nothing. */
function idsIn(range: string): string[] {
  const [first, last = first] = range
    .split("–")
    .filter((id) => id !== "")
    .map(Number);
  return first === undefined ? [] : Array.from({ length: Number(last) - first + 1 }, (_, more) => String(first + more));
}

type Events = Record<string, { eventName: string; value: number }>;

it(`${RUNS} random lives of a set (SEED=${seed})`, { timeout: 20_000 + RUNS * 10_000 }, async () => {
  const random = seededRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const pick = <T>(from: readonly T[]): T => from[below(from.length)] as T;
  const counts = { unresolved: 0, updates: 0, deletes: 0, creates: 0, failed: 0, kills: 0 };
  for (let life = 0; life < RUNS; life++) {
    const what = `life ${life} of SEED=${seed}`;
    const clock = new FakeClock(Date.now());
    const sandbox = await oddSandbox(random, () => clock.wallMs());
    const deletes = random() < 0.6;
    const event = random() < 0.5 ? eventOperations : WITHOUT_UPDATE;
    const engine = new SetEngine(sandbox, newFolder());
    engine.declares = { deletes };
    const options = {
      settings: operatedSettings(event),
      adapt: (runtime: Runtime): Runtime => ({ ...timed(runtime, clock), tellAt: runtime.tellAt }),
    };
    const events: Events = {};
    const upReported = async () => {
      const result = await engine.up(declared(), options);
      expectTrueReport(result, engine, sandbox, Object.keys(events), what);
      return result.error;
    };
    const declared = () => ({ advertiserId: 1, events: structuredClone(events) });
    let version = 0;
    // What a killed run has made of a key that is removed next is the journal's alone, and told.
    let wasKilled = false;
    for (let step = 0; step < 5; step++) {
      for (const key of KEYS) {
        // Of what is open, a person has to say what becomes of another one, or of none.
        if (Object.hasOwn(engine.unresolved, key)) continue;
        const chance = below(5);
        if (chance === 0 && !wasKilled) delete events[key];
        if (chance === 1) events[key] = { eventName: `E${++version}`, value: below(9) };
      }
      for (const on of ["event", "update", "delete", "read"] as const) {
        const act = random() < 0.4;
        const fault = !act && random() < 0.3 ? refused : pick(on === "event" ? lostAnswers : lostChanges);
        if (random() < 0.5) sandbox.fail({ on, with: fault, act, after: below(3), times: 1 });
      }
      if (random() < 0.2) Object.assign(sandbox.events.at(-1) ?? {}, { value: 77 });
      // Of what a killed run has sent with other arguments only an update makes the event of now.
      if (event === eventOperations && random() < 0.3) {
        await engine.upAndKill(declared(), sleep(below(40)), options);
        counts.kills++;
        wasKilled = true;
      } else if ((await upReported()) !== undefined) counts.failed++;
      else wasKilled = false;
      counts.unresolved += Object.keys(engine.unresolved).length;
      if (random() < 0.4) await engine.refresh(options);
      sandbox.endFaults();
      clock.advance(random() * 60_000);
    }
    // Twice: what the first run takes over is held against the platform by the next one's refresh.
    for (let [runs, well] = [1, 0]; well < 2; runs++) {
      clock.advance(100_000);
      expect(await engine.refresh(options), what).toBe(undefined);
      const error = await upReported();
      if (error === undefined) well++;
      else expect(runs, `${what}: runs until all is well; ${error}`).toBeLessThan(4);
    }
    const managed = Object.entries(engine.eventIds).map(([key, id]) => [key, String(id)] as const);
    expect(new Set(managed.map(([key]) => key)), what).toEqual(new Set(Object.keys(events)));
    for (const [key, id] of managed) {
      const object = sandbox.events.find((each) => String(each.id) === id);
      expect(object, what).toMatchObject({ event_name: events[key]?.eventName, value: events[key]?.value });
    }
    const left = ((engine.state?.outputs.__left ?? []) as { id: string }[]).map(({ id }) => id);
    const live = sandbox.events.map(({ id }) => String(id));
    expect(live.toSorted(), what).toEqual([...managed.map(([, id]) => id), ...left].toSorted());
    if (deletes) expect(left, what).toEqual([]);
    else expect(sandbox.deletes, what).toBe(0);
    counts.updates += sandbox.updates;
    counts.deletes += sandbox.deletes;
    counts.creates += sandbox.eventPosts;
    await sandbox.close();
  }
  console.log(`${RUNS} lives of a set (SEED=${seed}):`, counts);
  if (RUNS >= 40) for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(0);
});
