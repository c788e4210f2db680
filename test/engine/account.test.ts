/** One stack, one installation, one account: another one is stopped before anything is sent. */
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { eventsProgram, newStack, program, type RunResult, useSandbox } from "../support/stack.js";

const place = (url: string) => url.replace("http://", "");

/** @param accounts what the state or the memory has, and what the settings name. */
function expectStopped({ code, output }: RunResult, ...accounts: string[]): void {
  expect(code).not.toBe(0);
  for (const words of [...accounts, "pulumi stack init", "[ADVERTISING_ACCOUNT_MISMATCH]"])
    expect(output).toContain(words);
  expect(output).toContain(`pulumi config set advertising:formerAccount '${accounts[0]}'`);
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
}

it("another address or account stops preview, up and refresh, names both and the ways out, and sends nothing", async () => {
  const first = await useSandbox();
  const second = await useSandbox({ email: "me@shoes.example" });
  const stack = await newStack(eventsProgram(1), { sandbox: first });
  expect((await stack.up()).code).toBe(0);

  stack.setEnvironment({ ADVERTISING_BASE_URL: second.url, ADVERTISING_EMAIL: "me@shoes.example" });
  stack.program(eventsProgram(2));
  for (const run of [stack.preview, stack.up, stack.refresh])
    expectStopped(await run(), `${place(first.url)} ops@example.com`, `${place(second.url)} me@shoes.example`);
  expect(second.requests).toEqual([]);
  expect(first.creates).toBe(2);

  stack.setEnvironment({ ADVERTISING_BASE_URL: first.url, ADVERTISING_EMAIL: "ops@example.com" });
  expect((await stack.up()).code).toBe(0);
  expect(first.creates).toBe(3);
});

it("so does what an interrupted run sent to the other one, which the state does not have", async () => {
  const first = await useSandbox();
  const second = await useSandbox();
  const lost = first.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  const events = (...names: string[]) =>
    program(
      names
        .map(
          (name) => `new advertising.ConversionEvent("${name}", { eventName: "${name}", advertiserId: 1, value: 1 });`,
        )
        .join("\n"),
    );
  const stack = await newStack(events("a"), { sandbox: first });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  stack.setEnvironment({ ADVERTISING_BASE_URL: second.url });
  stack.program(events("a", "b"));
  expectStopped(await stack.up(), `${place(first.url)} ops@example.com`, `${place(second.url)} ops@example.com`);
  expect(second.requests).toEqual([]);
  expect(first.creates).toBe(1);
});

it("the same platform under a new address, as formerAccount says: nothing is created again, in a refresh too", async () => {
  const old = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox: old });
  expect((await stack.up()).code).toBe(0);
  const moved = await useSandbox({ objects: old.snapshot() });
  const account = `${place(old.url)} ops@example.com`;
  stack.setEnvironment({ ADVERTISING_BASE_URL: moved.url });
  expect((await stack.run(["config", "set", "advertising:formerAccount", account])).code).toBe(0);
  stack.program(eventsProgram(2));
  expect((await stack.up()).output).toMatch(/1 created\s+3 unchanged/);
  expect((await stack.refresh()).code).toBe(0);
  expect((await stack.up()).output).toContain("4 unchanged");
  expect(moved.creates).toBe(1);
  expect(old.creates).toBe(2);
});
