/**
 * Random lives of a program on an installation that has every operation, with lost answers and a search that lags: whatever
 * happens, each object is there once and managed, as it is declared, nothing is deleted, and nobody has to look.
 * RUNS sets how many, SEED repeats a run.
 */
import { expect, it } from "vitest";
import { FakeClock } from "../support/clock.js";
import { newFolder } from "../support/folder.js";
import { lostAnswers, lostChanges } from "../support/lost-answers.js";
import { oddSandbox, operatedSettings } from "../support/operated.js";
import { seededRandom } from "../support/random.js";
import { newRun } from "../support/run.js";
import { timed } from "../support/timed.js";

const RUNS = Math.min(Number(process.env.RUNS ?? 10), 200);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));

type Properties = Record<string, unknown>;

it(`${RUNS} random lives (SEED=${seed})`, { timeout: 20_000 + RUNS * 10_000 }, async () => {
  const random = seededRandom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const counts = { unresolved: 0, updates: 0, gone: 0, creates: 0 };
  for (let life = 0; life < RUNS; life++) {
    const clock = new FakeClock(Date.now());
    const sandbox = await oddSandbox(random, () => clock.wallMs());
    const folder = newFolder();
    const state = new Map<string, { id: string; outs: Properties }>();
    const letGo = new Set<string>();
    const declared = new Map<string, { eventName: string; value: number }>();
    const settings = operatedSettings();

    /** As the engine runs a program. @returns whether all went well. */
    const up = async (): Promise<boolean> => {
      const { event, closeNow } = newRun(sandbox, folder, {
        settings,
        adapt: (runtime) => timed(runtime, clock),
      });
      let isWell = true;
      const create = async (name: string, inputs: Properties) => {
        try {
          const { id, outs } = await event.create(inputs);
          state.set(name, { id, outs: outs as Properties });
        } catch (error) {
          isWell = false;
          const { id, properties } = error as { id?: string; properties?: Properties };
          if (id === undefined || properties === undefined) return;
          counts.unresolved++;
          state.set(name, { id, outs: properties });
        }
      };
      for (const [name, args] of declared) {
        const held = state.get(name);
        const news = {
          ...args,
          advertiserId: 1,
          __identity: { identity: `tiny/dev::${name}`, run: { isUp: true, resources: 1 } },
        };
        const { inputs } = await event.check(held === undefined ? {} : held.outs, news);
        if (held === undefined) {
          await create(name, inputs as Properties);
          continue;
        }
        const { changes, replaces } = await event.diff(held.id, held.outs, inputs as Properties);
        if ((replaces ?? []).length > 0) await create(name, (await event.check({}, news)).inputs as Properties);
        else if (changes) {
          const updated = await event.update(held.id, held.outs, inputs as Properties).catch(() => undefined);
          isWell &&= updated !== undefined;
          if (updated !== undefined) state.set(name, { id: held.id, outs: updated.outs as Properties });
        }
      }
      for (const [name, { id }] of state) {
        if (declared.has(name)) continue;
        if (id.startsWith("unresolved-"))
          declared.set(name, { eventName: name, value: 1 }); // the program refuses that
        else {
          letGo.add(id);
          state.delete(name);
        }
      }
      closeNow();
      return isWell;
    };

    const refresh = async () => {
      const { event, closeNow } = newRun(sandbox, folder, {
        settings,
        adapt: (runtime) => timed(runtime, clock),
      });
      for (const [name, { id, outs }] of state) {
        const read = await event.read(id, outs).catch(() => undefined);
        if (read === undefined) continue;
        if (read.id === "") {
          expect(sandbox.events.map((each) => String(each.id))).not.toContain(id);
          counts.gone++;
          state.delete(name);
        } else state.set(name, { id, outs: read.props as Properties });
      }
      closeNow();
    };

    for (let step = 0; step < 4; step++) {
      for (let change = 0; change < 3; change++) {
        const name = `e${Math.floor(random() * 6)}`;
        if (random() < 0.2) declared.delete(name);
        else declared.set(name, { eventName: `${name} ${pick(["x", "y", "z"])}`, value: Math.floor(random() * 9) });
      }
      for (const on of ["event", "update", "read"] as const) {
        if (random() < 0.5)
          sandbox.fail({
            on,
            with: pick(on === "event" ? lostAnswers : lostChanges),
            act: random() < 0.5,
            after: Math.floor(random() * 3),
            times: 1,
          });
      }
      // What happens by hand meanwhile.
      if (random() < 0.3) Object.assign(sandbox.events[0] ?? {}, { value: 77 });
      await up();
      if (random() < 0.5) await refresh();
      sandbox.endFaults();
      clock.advance(random() * 60_000);
    }
    for (let runs = 1; ; runs++) {
      clock.advance(100_000);
      await refresh();
      if (await up()) break;
      expect(runs, "runs until all is well").toBeLessThan(4);
    }
    const what = `life ${life} of SEED=${seed}`;
    const managed = [...state.values()].map(({ id }) => id);
    const live = sandbox.events.map(({ id }) => String(id));
    expect(live.toSorted(), what).toEqual([...managed, ...letGo].filter((id) => live.includes(id)).toSorted());
    expect(new Set(managed).size, what).toBe(declared.size);
    for (const [name, { eventName, value }] of declared) {
      const object = sandbox.events.find(({ id }) => String(id) === state.get(name)?.id);
      expect(object, what).toMatchObject({ event_name: eventName, value });
    }
    expect(sandbox.deletes, what).toBe(0);
    counts.updates += sandbox.updates;
    counts.creates += sandbox.creates;
    await sandbox.close();
  }
  console.log(`${RUNS} lives (SEED=${seed}):`, counts);
  if (RUNS >= 40) expect(counts.unresolved).toBeGreaterThan(0);
  expect(counts.updates).toBeGreaterThan(0);
});
