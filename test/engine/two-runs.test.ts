/**
 * Two runs of a stack at once, as after `pulumi cancel` of a run that goes on: the second one's engine has read the state before the first one's
 * has saved it. The second waits for the stack's memory, and takes over what the first has made.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { upAndSignal } from "../support/killing.js";
import { pendingCommand } from "../support/recovery.js";
import { newStack, program, useSandbox } from "../support/stack.js";

const EVENTS = 6;
/** An event and a set, once the file `go` is there. */
const shop = (isHeld: boolean) =>
  program(`
const { existsSync, writeFileSync } = require("node:fs");
if (${isHeld}) {
  writeFileSync("waits", "");
  while (!existsSync("go")) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
}
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const events = {};
for (let i = 0; i < ${EVENTS}; i++) events["e" + i] = { eventName: "E" + i, value: 1 };
new advertising.ConversionEvent("single", { advertiserId: a, eventName: "S", value: 1 });
new advertising.ConversionEventSet("funnel", { advertiserId: a, events });`);

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(5);
};

it.each(["after the first one's end", "while the first one is under way"])(
  "the second run goes on %s: nothing is sent twice, and everything is in its state",
  async (when) => {
    const sandbox = await useSandbox();
    // The first run gets no further than this before the second one's engine has read the state.
    const limited = sandbox.fail({
      on: "event",
      after: 3,
      times: Number.MAX_SAFE_INTEGER,
      with: { kind: "answer", status: 429, headers: { "retry-after": "1" }, body: { message: "slowly" } },
    });
    const stack = await newStack(shop(false), { sandbox });
    const first = upAndSignal(stack, [], "process");
    await until(() => limited.hits > 0);
    const pending = await pendingCommand(stack, "--not-created", "single");
    expect(pending.code, pending.output).toBe(2);
    stack.program(shop(true));
    expect((await stack.run(["cancel", "--yes"])).code).toBe(0);
    const second = stack.up();
    await until(() => existsSync(join(stack.programFolder, "waits")));
    const go = () => writeFileSync(join(stack.programFolder, "go"), "");
    if (when.startsWith("while")) go();
    limited.cancel();
    expect((await first).code).toBe(0);
    go();
    const { code, output } = await second;
    expect(code, output).toBe(0);
    expect(output).toContain("nothing is sent");
    expect(sandbox.creates - limited.hits).toBe(EVENTS + 2);

    stack.program(shop(false));
    expect((await stack.up()).output).toContain("4 unchanged");
    const ids = (await stack.resources()).flatMap(({ id, outputs }) => Object.values(outputs?.eventIds ?? { id }));
    const live = [...sandbox.advertisers, ...sandbox.events].map(({ id }) => String(id));
    expect(ids.map(String).sort()).toEqual(live.sort());
    expect(sandbox.creates - limited.hits).toBe(EVENTS + 2);
  },
);
