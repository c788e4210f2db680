/** A killed run, and one thing else before the next `up`: nothing is made twice, and whatever is live is in the state or named. */
import { cpSync, mkdtempSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { commandsIn } from "../support/printed-commands.js";
import { type Shared, useSharedStack } from "../support/shared-stack.js";
import { program, well } from "../support/stack.js";

const shop = (...events: string[]) =>
  program(`
const advertiserId = new advertising.Advertiser("a", { advertiserName: "A" });
const event = (name, dependsOn, args) =>
  new advertising.ConversionEvent(name, { eventName: name.toUpperCase(), advertiserId, value: 1, ...args }, { dependsOn });
const ${events.join("\nconst ")}`);
const [E0, E1, E2] = [`e0 = event("e0", []);`, `e1 = event("e1", e0);`, `e2 = event("e2", e1);`];
const ALL = shop(E0, E1, E2);

/** Of the killed run nothing is saved. `a` is 1 and `e0` is 2; `e1` is 3, and no answer has said so; `e2` was not sent. */
const killed = useSharedStack(
  ALL,
  async ({ sandbox, stack }) => {
    const lost = sandbox.fail({ on: "event", act: true, after: 1, with: { kind: "no-answer" } });
    expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
    await stack.cancel();
    expect(sandbox.creates).toBe(3);
    const memories = readdirSync(stack.cache, { recursive: true, encoding: "utf8" });
    expect(memories.filter((name) => name.endsWith(".jsonl"))).toHaveLength(1);
    expect(await stack.resources()).toEqual([]);
  },
  { environment: { PULUMI_SKIP_CHECKPOINTS: "true" } },
);

const LOOK = 'Look in the account for the ConversionEvent named "E1" (advertiserId 1, value 1), sent at 20';
const TAKEN = '"e0" was created as 2 by an earlier run';

interface Row {
  readonly next: string;
  readonly change: (shared: Shared) => unknown;
  readonly says: readonly string[];
}

it.each<Row>([
  {
    next: "another checkout of the program",
    change: async ({ stack }) => {
      const folder = mkdtempSync(join(dirname(stack.programFolder), "checkout-"));
      cpSync(stack.programFolder, folder, { recursive: true });
      stack.programFolder = folder;
      await stack.select();
    },
    says: [TAKEN, LOOK],
  },
  {
    next: "another value: what was made is saved as it was sent, and then replaced",
    change: ({ stack }) => stack.program(shop('e0 = event("e0", [], { value: 2 });', E1, E2)),
    says: ["as 2 by an earlier run, with arguments that differ"],
  },
  {
    next: "another name without an alias: nothing new is sent",
    change: ({ stack }) => stack.program(shop(E0, 'lead = event("lead", e0, { eventName: "E1" });')),
    says: ["Nothing new is created: the program does not declare 1 create of interrupted runs"],
  },
  {
    next: "another account: nothing is sent to it",
    change: ({ stack }) => stack.setEnvironment({ ADVERTISING_EMAIL: "me@x.example" }),
    says: ["ops@example.com", "me@x.example", "[ADVERTISING_ACCOUNT_MISMATCH]"],
  },
  {
    next: "another name of the stack",
    change: ({ stack }) => well(stack.run(["stack", "rename", "prod"])),
    says: ["That was in the stack organization/tiny/dev", "pending --created 'a=1'"],
  },
])("killed with nothing in the state, then $next", async ({ change, says }) => {
  const shared = killed();
  const { stack, sandbox } = shared;
  const before = sandbox.creates;
  stack.programFolder = join(stack.folder, "program");
  await change(shared);
  const { code, output } = await stack.up();
  expect(code, output).not.toBe(0);
  for (const words of says) expect(output).toContain(words);
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  expect(commandsIn(output).join(), "commands that are alone on their lines").not.toMatch(/\[ADV|docs\//);
  expect(sandbox.creates).toBe(before);
});
