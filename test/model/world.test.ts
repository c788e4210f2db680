/**
 * Random lives of a whole stack, in one process without real time and without sockets (`test/support/world/`). LIVES sets how many (`npm
 * run model-test` runs the long version), SEED the seed of the first one. The seed of a life that fails is printed.
 */
import "../support/world/mocks.js";

import { createHash } from "node:crypto";
import * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import { type Life, type Played, play, randomLife, shrunken } from "../support/world/life.js";
import type { World } from "../support/world/world.js";

const LIVES = Number(process.env.LIVES ?? 250);
const seed = Number(process.env.SEED ?? 1);

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

/** One in so many lives is played twice, and must go the same way; otherwise failures could not be replayed. */
const REPLAYED_EACH = 25;

const whatHappened = ({ log, root }: World) =>
  log.join("\n").replaceAll(root, "").replaceAll(`process ${process.pid}`, "process");

const inOneLine = (text: string) => text.replace(/\s+/g, " ").slice(0, 300);

async function expectWell(life: Life): Promise<Played> {
  try {
    return await play(life);
  } catch (error) {
    const { message } = error as Error;
    if (process.env.MUTATION !== undefined)
      return expect.fail(`SEED=${life.config.seed} LIVES=1: ${inOneLine(message)}`);
    const small = await shrunken(life);
    const { config, steps } = small.life;
    return expect.fail(
      [
        `SEED=${config.seed} LIVES=1: ${message}`,
        `Shrunken to: ${small.why}`,
        `config ${JSON.stringify(config)}`,
        ...steps.map((step) => `  ${JSON.stringify(step)}`),
        "What happened:",
        ...small.log,
      ].join("\n"),
    );
  }
}

it(`${LIVES} lives of a stack (SEED=${seed})`, { timeout: 60_000 + LIVES * 1000 }, async () => {
  const counts: Record<string, number> = {};
  const beganMs = performance.now();
  const happened = createHash("sha256");
  const count = (name: string, amount: number) => {
    counts[name] = (counts[name] ?? 0) + amount;
  };
  for (let life = 0; life < LIVES; life++) {
    const one = randomLife(seed + life);
    const { world, ups } = await expectWell(one);
    for (const [name, amount] of Object.entries(world.counts)) count(name, amount);
    const log = whatHappened(world);
    happened.update(log);
    if (life % REPLAYED_EACH === 0)
      expect(whatHappened((await expectWell(one)).world), `SEED=${seed + life} again`).toBe(log);
    const { posts, updates, deletes, searches, reads } = world.platform;
    for (const [name, amount] of Object.entries({ posts, updates, deletes, searches, reads })) count(name, amount);
    count("lives", 1);
    count(`ended after ${ups}`, 1);
  }
  const seconds = (performance.now() - beganMs) / 1000;
  console.log(
    `${LIVES} lives (SEED=${seed}), ${(LIVES / seconds).toFixed(1)} a second; what happened: ${happened.digest("hex").slice(0, 12)}`,
  );
  console.log(`figures ${JSON.stringify(counts)}`);
});
