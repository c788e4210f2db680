/**
 * Nothing is kept: a run is killed, its disk is lost, and nobody runs a command before the next preview and `up`. They
 * send nothing again. KILLS: how many kills of each kind (`npm run kill-test`); SEED repeats a run.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import type { Values } from "../../provider/src/base/index.js";
import type { Sandbox } from "../../provider/src/sandbox/index.js";
import { struck, upAndKill } from "../support/killing.js";
import { throughPlugin } from "../support/plugin.js";
import { commandsIn, typed } from "../support/printed-commands.js";
import { seededRandom } from "../support/random.js";
import {
  answer,
  bothShopOf,
  expectEachOnce,
  idOf,
  pendingCommand,
  setShopOf,
} from "../support/recovery.js";
import { newStack, program, type TestStack, useSandbox, well } from "../support/stack.js";

const KILLS = Number(process.env.KILLS ?? 1);
const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 31));
const LATENCY_MS = 100;

interface Scene {
  what: string;
  /** How many events the `up` that is killed declares. */
  events: number;
  /** How many of them exist before. */
  before?: number;
  shop: (events: number) => string;
  /** How often it is killed, on another machine each time. */
  kills?: number;
  /** Whether somebody refreshes first, which takes interrupted updates out of Pulumi's record. */
  refreshes?: boolean;
}

const SCENES: Scene[] = [
  {
    what: "single events and a set, killed again on a second machine",
    events: 24,
    shop: bothShopOf,
    kills: 2,
  },
  {
    what: "a set that is updated",
    before: 12,
    events: 24,
    shop: setShopOf,
    refreshes: true,
  },
  {
    what: "single events and a set, through the plugin",
    events: 24,
    shop: (events) => throughPlugin(bothShopOf(events)),
  },
];

/** Kills an `up` at a random moment. */
async function kill(
  stack: TestStack,
  sandbox: Sandbox,
  events: number,
  random: () => number,
) {
  const before = sandbox.creates;
  const at = before + 2 + Math.floor(random() * (events - before - 1));
  const done = new AbortController();
  const reached = async () => {
    while (sandbox.creates < at && !done.signal.aborted) await sleep(2);
    await sleep(random() * LATENCY_MS);
  };
  const isKilled = await upAndKill(stack, reached(), "tree", ["--continue-on-error"]);
  done.abort();
  // What was in flight is carried out.
  await sleep(2 * LATENCY_MS);
  return isKilled;
}

function expectSentOnce(sandbox: Sandbox, how: string) {
  const names = sandbox.requests.flatMap(({ operation, body = {} }) => {
    const { event_name, advertiser_name } = body as Values;
    return operation === "advertiser" || operation === "event"
      ? (event_name ?? advertiser_name)
      : [];
  });
  expect(new Set(names).size, `${how}: each sent once`).toBe(names.length);
}

/** The creates that Pulumi has as begun, with a set's as one. */
async function begun(stack: TestStack) {
  const { pending_operations = [] } = await stack.deployment();
  return pending_operations.map(({ resource }) => resource.urn.split("::").at(-1) ?? "");
}

/** The names in printed commands. */
const namesIn = (printed: readonly string[]) =>
  printed.flatMap((command) =>
    Array.from(command.matchAll(/--created '([^=]+)=<its id>'/g), ([, name = ""]) => name),
  );

/** True answers, given on another machine: one as it is printed, then the others. */
async function answerElsewhere(
  stack: TestStack,
  sandbox: Sandbox,
  printed: readonly string[],
) {
  const other = await stack.onAnotherMachine();
  const [name = ""] = namesIn(printed);
  const id = idOf(sandbox, name);
  const option = id === undefined ? `--not-created '${name}'` : `--created '${name}=`;
  const [command = ""] = printed.filter((each) => each.includes(option));
  const filledIn = command.replaceAll(
    /'([^=']+)=<its id>'/g,
    (_, each) => `'${each}=${idOf(sandbox, each) ?? "none"}'`,
  );
  // Not each create of a set that the record has as begun has made an object, and some have.
  const denied = Array.from(
    filledIn.matchAll(/--not-created '([^']+)'/g),
    ([, each = ""]) => idOf(sandbox, each),
  );
  const isTrue = !filledIn.includes("none") && denied.every((each) => each === undefined);
  const typing = isTrue ? typed(other, filledIn) : pendingCommand(other);
  const { output } = await typing;
  if (isTrue) expect(output).toMatch(/^Resolved as /);
  if (!output.includes("No create is unresolved")) await answer(other, sandbox, output);
}

it.each(SCENES)(
  `killed, and the disk lost: $what (SEED=${seed})`,
  { timeout: (KILLS + 1) * 45_000 },
  async ({ what, events, before, shop, kills = 1, refreshes = false }) => {
    const random = seededRandom(seed);
    for (let round = 0; round < KILLS; round++) {
      const sandbox = await useSandbox({ latencyMs: LATENCY_MS });
      const how = `${what}, round ${round}`;
      let stack = await newStack(shop(before ?? events), { sandbox });
      if (before !== undefined) await well(stack.up());
      stack.program(shop(events));
      for (let each = 0; each < kills; each++) {
        await kill(stack, sandbox, events, random);
        const next = await stack.onAnotherMachine();
        await stack.loseDisk();
        stack = next;
        await stack.cancel();
      }
      const posts = sandbox.creates;
      const open = await begun(stack);
      if (refreshes) {
        await well(stack.refresh());
        const { pending_operations = [] } = await stack.deployment();
        expect(pending_operations.map(({ type }) => type)).not.toContain("updating");
        stack = await stack.onAnotherMachine();
      }
      const preview = await stack.preview();
      expect(sandbox.creates, how).toBe(posts);
      const up = await stack.up();
      expect(up.code, how).toBe(preview.code);
      expectSentOnce(sandbox, how);
      if (preview.code !== 0) {
        for (const { output } of [preview, up]) {
          const names = namesIn(commandsIn(output));
          expect(names.length, output).toBeGreaterThan(0);
          for (const name of names) expect(open).toContain(name.split("/")[0]);
        }
        await answerElsewhere(stack, sandbox, commandsIn(up.output));
        await well((await stack.onAnotherMachine()).up());
      }
      stack = await stack.onAnotherMachine();
      console.log(`${how}: ${posts} POSTs before the kill, begun: ${open}`);
      await expectEachOnce(stack, sandbox, events, how);
      expect(sandbox).toMatchObject({ updates: 0, deletes: 0 });
    }
  },
);

it("the next `up` saves a component before it comes to a killed set: what its preview has read counts, on a new machine", async () => {
  const sandbox = await useSandbox({ operations: true });
  const event = {
    search: "GET rest/event?alternative_id={mark}",
    update: "PUT rest/event/{id}",
  };
  const shop = (value: number, before = "", more = "") =>
    program(`
${before}
const a = new advertising.Advertiser("a", { advertiserName: "A" });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: a, value: ${value} });
new advertising.ConversionEventSet("s", { advertiserId: a, events: { k: { eventName: "K", value: 1 }${more} } });`);
  const added = ', l: { eventName: "L", value: 1 }';
  const stack = await newStack(shop(1), {
    sandbox,
    config: {
      "advertising:markField": "alternative_id",
      "advertising:operations": { createdVisibleAfterSeconds: 0, event },
    },
  });
  await well(stack.up());
  stack.program(shop(2, "", added));
  const updated = sandbox.fail({ on: "update", act: true, with: { kind: "no-answer" } });
  const created = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(updated, created), "tree")).toBe(true);
  const next = await stack.onAnotherMachine();
  await stack.loseDisk();
  await next.cancel();
  expect(sandbox).toMatchObject({ creates: 4, updates: 1 });
  next.program(shop(1, 'new pulumi.ComponentResource("my:index:First", "first");', added));
  await well(next.previewAndUp());
  expect(sandbox).toMatchObject({ creates: 4, updates: 2 });
  const live = sandbox.events.map(({ event_name, value }) => `${event_name} ${value}`);
  expect(live.sort()).toEqual(["E 1", "K 1", "L 1"]);
  expect(await next.ids()).toMatchObject({ s: { l: Number(idOf(sandbox, "s/l")) } });
});
