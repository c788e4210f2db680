/**
 * Real runs that are killed at random moments, then ordinary ones: nothing twice, nothing lost. KILLS: how many of each
 * kind, without runs that end before their moment (`npm run kill-test`); EVENTS: how many events; SEED repeats a run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { upAndKill, type Victims } from "../support/killing.js";
import { throughPlugin } from "../support/plugin.js";
import { seededRandom } from "../support/random.js";
import {
  expectEachOnce,
  pendingCommand,
  recover,
  setShopOf,
  shopOf,
} from "../support/recovery.js";
import { newStack, type TestStack, useSandbox } from "../support/stack.js";

const EVENTS = Number(process.env.EVENTS ?? 24);
const KILLS = Number(process.env.KILLS ?? 0);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const LATENCY_MS = 60;

const OFF = { PULUMI_SKIP_CHECKPOINTS: "true" };
const SEARCH = {
  ADVERTISING_MARK_FIELD: "alternative_id",
  ADVERTISING_REQUEST_TIMEOUT_SECONDS: "2",
  ADVERTISING_MAX_WAIT_SECONDS: "1",
  // The sandbox carries out what it has received at once, so that nothing comes later than its sender gives up.
  ADVERTISING_OPERATIONS: JSON.stringify({
    event: { search: "GET rest/event?alternative_id={mark}" },
    advertiser: { search: "GET rest/advertiser?alternative_id={mark}" },
    resendAfterSeconds: 1,
    createdVisibleAfterSeconds: 0,
  }),
};
/** The time limit, and what comes after it. */
const UNTIL_SENT_AGAIN_MS = 3100;

/** Nobody has to look: the search finds out, perhaps only a while later. */
async function searchUntilWell(run: () => ReturnType<TestStack["up"]>): Promise<void> {
  for (let runs = 1; ; runs++) {
    const { code, output } = await run();
    if (code === 0) return;
    if (runs === 4) throw new Error(output);
    await sleep(UNTIL_SENT_AGAIN_MS);
  }
}

interface Kind {
  readonly what: string;
  readonly events: number;
  readonly shop: string;
  readonly environment: Record<string, string>;
  readonly losesDisk?: boolean;
}

const singles = { events: EVENTS, shop: shopOf(EVENTS) };
const set = { events: 200, shop: setShopOf(200) };
const KINDS: Kind[] = [
  { what: "single events", ...singles, environment: {} },
  { what: "single events, checkpoints off", ...singles, environment: OFF },
  { what: "a set", ...set, environment: {} },
  { what: "a set, checkpoints off", ...set, environment: OFF },
  {
    what: "single events, the plugin",
    ...singles,
    shop: throughPlugin(singles.shop),
    environment: {},
  },
  { what: "a set, the plugin", ...set, shop: throughPlugin(set.shop), environment: {} },
  { what: "single events with a search", ...singles, environment: SEARCH },
  {
    what: "a set with a search, and the disk lost",
    ...set,
    environment: SEARCH,
    losesDisk: true,
  },
];

it.skipIf(KILLS === 0).each(KINDS)(
  `kills of $what (SEED=${seed})`,
  { timeout: (KILLS + 1) * 120_000 },
  async ({ what, events, shop, environment, losesDisk = false }) => {
    const random = seededRandom(seed);
    for (let killed = 0, round = 0; killed < KILLS; round++) {
      const sandbox = await useSandbox({ latencyMs: LATENCY_MS, operations: true });
      const stack = await newStack(shop, { sandbox, environment });
      const victims: Victims = round % 4 === 3 && !losesDisk ? "engine" : "tree";
      const at = Math.floor(random() * (events + 2));
      const done = new AbortController();
      const reached = async () => {
        while (sandbox.creates < at && !done.signal.aborted) await sleep(2);
        await sleep(random() * LATENCY_MS);
      };
      if (await upAndKill(stack, reached(), victims)) killed++;
      done.abort();
      const how = `${what}, round ${round}: ${victims} killed after ${at} creates (${sandbox.creates} sent)`;
      if (losesDisk) await stack.loseDisk();
      if (environment === SEARCH) {
        await stack.cancel();
        if (losesDisk) await searchUntilWell(() => pendingCommand(stack, "--search"));
        await searchUntilWell(() => stack.up("--continue-on-error"));
      } else {
        await stack.cancel();
        console.log(`${how}, ${await recover(stack, sandbox)} unresolved`);
      }
      await expectEachOnce(stack, sandbox, events, how);
      expect(sandbox).toMatchObject({ updates: 0, deletes: 0 });
    }
  },
);
