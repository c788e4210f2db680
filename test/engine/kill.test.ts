/**
 * Real runs of 60 events, killed at random moments and followed by ordinary ones: nothing twice, nothing lost.
 * KILLS sets how many (the short version runs here; `npm run kill-test` runs the long one), SEED repeats a run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { upAndKill, type Victims } from "../support/killing.js";
import { seededRandom } from "../support/random.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = 60;
const KILLS = Number(process.env.KILLS ?? 4);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const LATENCY_MS = 60;

/** ADOPT names ids that were found in the account, by the resource's name. */
const shop = program(`
const adopt = JSON.parse(process.env.ADOPT ?? "{}");
const a = new advertising.Advertiser("a", { advertiserName: "A", existingId: adopt.a });
for (let i = 0; i < ${EVENTS}; i++) {
  new advertising.ConversionEvent("e" + i, { eventName: "E" + i, advertiserId: a.advertiserId, value: 1, existingId: adopt["e" + i] });
}`);

/** Resolves when the sandbox has received so many creates, and a moment later. */
async function received(sandbox: Sandbox, creates: number, thenMs: number, signal: AbortSignal): Promise<void> {
  while (sandbox.creates < creates && !signal.aborted) await sleep(2);
  await sleep(thenMs);
}

/** What ordinary users do after a kill, until all is well: unlock, look, follow the advice. */
async function recover(stack: TestStack, sandbox: Sandbox): Promise<{ unresolved: number }> {
  await stack.run(["cancel", "--yes"]);
  let unresolved = 0;
  for (let attempt = 1; attempt <= 12; attempt++) {
    const { code, output } = await stack.up("--continue-on-error");
    if (code === 0) return { unresolved };
    if (attempt === 12) throw new Error(output);
    const adopt: Record<string, number> = {};
    for (const { urn, id } of await stack.resources()) {
      if (!id?.startsWith("unresolved-")) continue;
      unresolved++;
      const name = urn.split("::").at(-1) ?? "";
      const found = [...sandbox.advertisers, ...sandbox.events].filter(
        (object) => (object.advertiser_name ?? object.event_name) === name.toUpperCase(),
      );
      expect(found.length, "at most one object of an unresolved resource").toBeLessThanOrEqual(1);
      if (found[0] !== undefined) adopt[name] = found[0].id;
      else expect((await stack.run(["state", "delete", urn, "--yes"])).code).toBe(0);
    }
    stack.setEnvironment({ ADOPT: JSON.stringify(adopt) });
  }
  throw new Error("unreachable");
}

it(`${KILLS} kills of ${EVENTS} events at random moments (SEED=${seed})`, { timeout: KILLS * 120_000 }, async () => {
  const random = seededRandom(seed);
  let killed = 0;
  let unresolvedInAll = 0;
  for (let round = 0; round < KILLS; round++) {
    const sandbox = await useSandbox({ latencyMs: LATENCY_MS });
    const stack = await newStack(shop, { sandbox });
    const victims: Victims = round % 4 === 3 ? "engine" : "tree";
    const at = Math.floor(random() * (EVENTS + 2));
    const done = new AbortController();
    const moment = received(sandbox, at, random() * LATENCY_MS, done.signal);
    if (await upAndKill(stack, moment, victims)) killed++;
    done.abort();
    const inFlight = sandbox.creates - (await stack.resources()).length;
    const { unresolved } = await recover(stack, sandbox);
    unresolvedInAll += unresolved;

    const names = [...sandbox.advertisers, ...sandbox.events].map(
      (object) => object.advertiser_name ?? object.event_name,
    );
    expect(new Set(names).size, `round ${round}: nothing twice (${victims}, after ${at} creates)`).toBe(names.length);
    const managed = (await stack.resources()).map(({ id }) => id).sort();
    expect(managed).toEqual([...sandbox.advertisers, ...sandbox.events].map(({ id }) => String(id)).sort());
    expect(managed).toHaveLength(EVENTS + 1);
    expect((await stack.up()).output).toContain(`${EVENTS + 2} unchanged`);
    console.log(
      `round ${round}: ${victims} killed after ${at} creates, ${inFlight} not saved, ${unresolved} unresolved`,
    );
  }
  expect(killed).toBeGreaterThan(0);
  console.log(`killed ${killed} of ${KILLS} runs (SEED=${seed}); ${unresolvedInAll} resources were unresolved in all`);
});
