/**
 * Random lives of a stack, in one process, without real time and without sockets (`test/support/model/`). LIVES sets how many (`npm run
 * model-test` runs the long version), SEED the seed of the first one. A life that fails prints its seed and its steps.
 */
import "../support/model/mocks.js";
import { expect, it } from "vitest";
import { configOf, Life } from "../support/model/life.js";
import { World } from "../support/model/world.js";
import { seededRandom } from "../support/random.js";

const LIVES = Number(process.env.LIVES ?? 300);
const seed = Number(process.env.SEED ?? 1);

it(`${LIVES} lives of a stack (SEED=${seed})`, { timeout: 60_000 + LIVES * 1000 }, async () => {
  const beganMs = performance.now();
  const counts: Record<string, number> = {};
  const count = (name: string, amount: number) => {
    counts[name] = (counts[name] ?? 0) + amount;
  };
  for (let life = 0; life < LIVES; life++) {
    const config = configOf(seed + life, seededRandom(~(seed + life)));
    const world = new World(config);
    const ups = await new Life(world).live().catch((error: Error) => {
      const log = process.env.MUTATION === undefined ? ["What happened:", ...world.log] : [];
      return expect.fail([`SEED=${seed + life} LIVES=1: ${error.stack}`, JSON.stringify(config), ...log].join("\n"));
    });
    for (const [name, amount] of Object.entries(world.counts)) count(name, amount);
    count("creates", world.platform.posts);
    count(`ended after ${ups}`, 1);
  }
  const seconds = (performance.now() - beganMs) / 1000;
  console.log(`${LIVES} lives (SEED=${seed}), ${(LIVES / seconds).toFixed(1)} a second`);
  console.log(`figures ${JSON.stringify(counts)}`);
});
