/** Runs of one stack on two machines, at once, and with two copies of the package. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { upAndKill, upAndSignal } from "../support/killing.js";
import { answer, expectEachOnce, pendingCommand, shopOf } from "../support/recovery.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

const until = async (condition: () => boolean) => {
  while (!condition()) await sleep(5);
};

it("two machines: one is killed, the other one, without a journal, takes the stack over, and the first goes on", async () => {
  const [events, inFlight] = [12, 3];
  const sandbox = await useSandbox();
  const first = await newStack(shopOf(events), { sandbox });
  const second = await first.onAnotherMachine();
  sandbox.fail({
    on: "event",
    act: true,
    times: inFlight,
    after: 5,
    with: { kind: "no-answer" },
  });
  const locked = async () => {
    await until(() => sandbox.creates === events + 1);
    while ((await second.resources()).length < events + 1 - inFlight) await sleep(10);
  };
  expect(await upAndKill(first, locked(), "tree")).toBe(true);
  await second.cancel();
  expect(
    await answer(second, sandbox, (await pendingCommand(second)).output),
    "Pulumi's record",
  ).toBe(inFlight);
  await well(second.up());
  // The first one remembers its own creates, and finds them in the state.
  await expectEachOnce(first, sandbox, events, "two machines");
  expect(sandbox.creates).toBe(events + 1);
});

it("two runs at once, after `pulumi cancel` of one that goes on: the second one waits, and takes over what the first has made", async () => {
  const sandbox = await useSandbox();
  // The first run gets no further than this before the second one's engine has read the state.
  const limited = sandbox.fail({
    ...{ on: "event", after: 3, times: Number.MAX_SAFE_INTEGER },
    with: {
      kind: "answer",
      status: 429,
      headers: { "retry-after": "1" },
      body: { message: "slowly" },
    },
  });
  const shop = (more: string) =>
    program(`${more}
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const events = Object.fromEntries([1, 2, 3, 4, 5].map((n) => ["e" + n, { eventName: "E" + n, value: 1 }]));
new advertising.ConversionEvent("single", { advertiserId: a, eventName: "S", value: 1 });
new advertising.ConversionEventSet("funnel", { advertiserId: a, events });`);
  const stack = await newStack(shop(""), { sandbox });
  const journals = () =>
    readdirSync(join(stack.state, "pulumi-advertising")).filter((name) =>
      name.endsWith(".jsonl"),
    );
  const first = upAndSignal(stack, [], "process");
  await until(() => limited.hits > 0);
  const answered = await failed(stack.command("pending", "--not-created", "funnel"));
  expect(answered, "an answer about what is being sent").toContain("currently locked");
  stack.program(shop(`require("node:fs").writeFileSync("begun", "");`));
  await stack.cancel();
  const second = stack.up();
  await until(() => existsSync(join(stack.programFolder, "begun")));
  // The second run has read what Pulumi has saved by now, and waits.
  await until(() => journals().length === 2);
  await sleep(2000);
  sandbox.endFaults();
  expect((await first).code).toBe(0);
  const taken = await well(second);
  expect(sandbox.creates - limited.hits).toBe(7);
  expect(taken).toMatch(/"funnel.*taken over.*: e1 \(\d+\), .*e5 /);
});

const built = resolve(import.meta.dirname, "../../provider/dist");
const LIBRARY = `
const advertising = require("pulumi-advertising");
exports.advertiser = () => new advertising.Advertiser("web", { advertiserName: "Web" });`;

it("two copies of the package: nothing is sent, and both are named, with the cure", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack("", { sandbox });
  const ofLibrary = `require("./library").advertiser();`;
  const copyIn = (folder: string, version: string) => {
    const copy = join(stack.programFolder, folder, "node_modules", "pulumi-advertising");
    mkdirSync(copy, { recursive: true });
    cpSync(built, join(copy, "dist"), { recursive: true });
    const exports = { ".": "./dist/index.js", "./handlers": "./dist/handlers.js" };
    writeFileSync(
      join(copy, "package.json"),
      JSON.stringify({ name: "pulumi-advertising", version, exports }),
    );
    return realpathSync(copy);
  };
  const copies = [copyIn(".", "0.2.0"), copyIn("library", "0.1.0")];
  stack.write("library/index.js", LIBRARY);
  // The library's in the program, and the other one in the provider process.
  stack.program(ofLibrary);
  const output = await failed(stack.up());
  for (const words of [
    ...copies.map((each) => `  ${each}\n`),
    "npm dedupe",
    "Nothing was sent.",
  ])
    expect(output).toContain(words);
  expect(sandbox.requests).toEqual([]);
  expect(await stack.resources()).toEqual([]);
});
