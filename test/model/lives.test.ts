/**
 * Random lives of one stack or two, in one process, without real time or sockets (`test/support/model/`). LIVES: how many
 * (`npm run model-test` runs the long version), SEED: the first one's seed. A failing life prints its seed and steps.
 */
import "../support/model/mocks.js";
import { expect, it } from "vitest";
import { configOf, Life } from "../support/model/life.js";
import { counts, Simulation } from "../support/model/simulation.js";
import { seededRandom } from "../support/random.js";

const LIVES = Number(process.env.LIVES ?? 60);
const seed = Number(process.env.SEED ?? 1);

it(`${LIVES} lives of a stack (SEED=${seed})`, {
  timeout: 60_000 + LIVES * 1000,
}, async () => {
  for (let life = 0; life < LIVES; life++) {
    const config = configOf(seed + life, seededRandom(~(seed + life)));
    const simulation = new Simulation(config);
    await new Life(simulation).live().catch((error: Error) => {
      const log =
        process.env.MUTATION === undefined ? ["What happened:", ...simulation.log] : [];
      return expect.fail(
        [
          `SEED=${seed + life} LIVES=1: ${error.stack}`,
          JSON.stringify(config),
          ...log,
        ].join("\n"),
      );
    });
  }
  const { questions, ...others } = counts;
  const taken = [...questions]
    .toSorted(([a], [b]) => a - b)
    .map(([commands, times]) => `${times} × ${commands}`);
  if (process.env.LIVES !== undefined)
    console.log(
      `${JSON.stringify(others)}; answers and edits until an up was well: ${taken.join(", ")}`,
    );
});
