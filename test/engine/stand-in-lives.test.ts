/**
 * Random lives of the model (`test/model/world.test.ts`). The model plays each of them and checks its rules after each step; then Pulumi itself
 * plays it on a sandbox. In each run the provider gets the same calls with the same values and finds the same state saved, as many creates
 * arrive, and it ends in the same way, with the same state and the same objects on the platform: so the rules hold there as well. REAL_LIVES
 * sets how many, which are played to their ends then, and SEED the first one.
 */
import "../support/world/mocks.js";

import * as pulumi from "@pulumi/pulumi";
import { afterAll, expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { elsewhere, expectSame, masked, throughPulumi } from "../support/both-engines.js";
import { useSandbox } from "../support/stack.js";
import { PROJECT, STACK } from "../support/stack-init.js";
import { FIRST_ID } from "../support/world/platform.js";
import { type Living, type Recording, recording } from "../support/world/recording.js";

const LIVES = Number(process.env.REAL_LIVES ?? 3);
const seed = Number(process.env.SEED ?? 12);
const MOST_RUNS = process.env.REAL_LIVES === undefined ? 7 : 40;
const URL = "https://platform.example";

await pulumi.runtime.setMocks(
  { newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }), call: ({ inputs }) => inputs },
  PROJECT,
  STACK,
  false,
  "organization",
);

const counts = { runs: 0, commands: 0, kills: 0, failed: 0, creates: 0 };
const NOUNS = ["advertiser", "event"] as const;

const living = ({ advertisers, events }: Sandbox) => ({ advertiser: advertisers, event: events });

/** What other clients have done to the platform since the run before. @param nextId as that run left it. */
async function catchUp(sandbox: Sandbox, nextId: number, wanted: Living): Promise<void> {
  for (let id = nextId; id < wanted.nextId; id++) {
    const noun = wanted.event.some((each) => each.id === id) ? "event" : "advertiser";
    const object = wanted[noun].find((each) => each.id === id);
    await elsewhere(sandbox, "POST", `rest/${noun}`, object ?? { advertiser_name: "Gone" });
  }
  for (const noun of NOUNS) {
    for (const found of living(sandbox)[noun]) {
      const object = wanted[noun].find(({ id }) => id === found.id);
      const path = `rest/${noun}/${found.id}`;
      if (object === undefined) await elsewhere(sandbox, "DELETE", path);
      else if (object.value !== found.value) await elsewhere(sandbox, "PUT", path, { ...found, value: object.value });
    }
  }
}

async function replay({ life: { config }, runs }: Recording): Promise<void> {
  const { dress: recordDress, gone: goneShape } = config.dressing;
  const sandbox = await useSandbox({ authMode: "both", operations: true, firstId: FIRST_ID, recordDress, goneShape });
  const { play, lose } = await throughPulumi(sandbox, config.checkpoints ? {} : { PULUMI_SKIP_CHECKPOINTS: "true" });
  const expectLiving = ({ nextId: _, ...objects }: Living, where: string) =>
    expect(masked(living(sandbox), sandbox.url), where).toEqual(masked(objects, URL));
  for (const [index, run] of runs.entries()) {
    const where = `run ${index + 1}, ${[run.how, ...(run.args ?? [])].join(" ")}`;
    await catchUp(sandbox, runs[index - 1]?.after.nextId ?? FIRST_ID, run.before);
    for (const machine of run.lost) lose(machine);
    expectLiving(run.before, `before ${where}`);
    const posts = sandbox.creates;
    const played = await play(run, run.resources, run.settings, run.catalogs);
    expectSame(masked(run.played, URL), masked(played, sandbox.url), where);
    expect(sandbox.creates - posts, where).toBe(run.posts);
    expectLiving(run.after, where);
    if (run.how === "pending") counts.commands++;
    else counts.runs++;
    counts.creates += run.posts;
    if (run.isKilled) counts.kills++;
    else if (played.isWell !== true) counts.failed++;
  }
}

for (let life = seed; life < seed + LIVES; life++) {
  it(`SEED=${life} REAL_LIVES=1`, async () => {
    await replay(await recording(life, MOST_RUNS));
  });
}

afterAll(() => console.log(`${LIVES} lives (SEED=${seed}): ${JSON.stringify(counts)}`));
