/**
 * Random lives of a set on an installation that has more operations, with lost answers, kills and a search that lags: each event
 * is there once and as it is declared, nothing is deleted that was not asked for, and nobody has to look.
 * RUNS sets how many, SEED repeats a run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Fault } from "../../provider/src/sandbox/index.js";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { lostAnswers } from "../support/lost-answers.js";
import { eventOperations, oddSandbox, operatedSettings } from "../support/operated.js";
import { seededRandom } from "../support/random.js";
import { SetEngine } from "../support/set-engine.js";
import { timed } from "../support/timed.js";

const RUNS = Math.min(Number(process.env.RUNS ?? 10), 200);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const KEYS = ["a", "b.c", `d"]["e`, "constructor", "ф", "1"];

const { update: _, ...WITHOUT_UPDATE } = eventOperations;
const refused: Fault = { kind: "answer", status: 406, body: { errors: ["not now"] } };

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
      adapt: (runtime: Parameters<typeof timed>[0]) => timed(runtime, clock),
    };
    const events: Events = {};
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
        const fault = !act && random() < 0.3 ? refused : pick(lostAnswers);
        if (random() < 0.5) sandbox.fail({ on, with: fault, act, after: below(3), times: 1 });
      }
      if (random() < 0.2) Object.assign(sandbox.events.at(-1) ?? {}, { value: 77 });
      // Of what a killed run has sent with other arguments only an update makes the event of now.
      if (event === eventOperations && random() < 0.3) {
        await engine.upAndKill(declared(), sleep(below(40)), options);
        counts.kills++;
        wasKilled = true;
      } else if ((await engine.up(declared(), options)).error !== undefined) counts.failed++;
      else wasKilled = false;
      counts.unresolved += Object.keys(engine.unresolved).length;
      if (random() < 0.4) await engine.refresh(options);
      sandbox.endFaults();
      clock.advance(random() * 60_000);
    }
    for (let runs = 1; ; runs++) {
      clock.advance(100_000);
      expect(await engine.refresh(options), what).toBe(undefined);
      const { error } = await engine.up(declared(), options);
      if (error === undefined) break;
      expect(runs, `${what}: runs until all is well; ${error}`).toBeLessThan(4);
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
  if (RUNS >= 10) for (const [name, count] of Object.entries(counts)) expect(count, name).toBeGreaterThan(0);
});
