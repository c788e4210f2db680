/** One stack, one installation, one account: another one is stopped before anything is sent. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { eventsProgram, newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");
const relocate = (stack: TestStack, ...args: string[]) =>
  runProcess("node", [command, "relocate", ...args], stack.programFolder, stack.environment);

it("another address or account stops preview, up and refresh, names both and the ways out, and sends nothing", async () => {
  const first = await useSandbox();
  const second = await useSandbox({ email: "me@shoes.example" });
  const stack = await newStack(eventsProgram(1), { sandbox: first });
  expect((await stack.up()).code).toBe(0);
  const place = (url: string) => url.replace("http://", "");

  stack.setEnvironment({ ADVERTISING_BASE_URL: second.url, ADVERTISING_EMAIL: "me@shoes.example" });
  stack.program(eventsProgram(2));
  for (const run of [stack.preview, stack.up, stack.refresh]) {
    const { code, output } = await run();
    expect(code).not.toBe(0);
    expect(output).toContain(`${place(first.url)} as ops@example.com`);
    expect(output).toContain(`${place(second.url)} as me@shoes.example`);
    expect(output).toContain("set advertising:baseUrl and advertising:email back");
    expect(output).toContain("pulumi stack init");
    expect(output).toContain(`npx pulumi-advertising relocate '${place(first.url)} ops@example.com'`);
    expect(output).toContain("[ADVERTISING_ACCOUNT_MISMATCH]");
    expect(output).not.toMatch(/^\s+at .*:\d+/m);
  }
  expect(second.requests).toEqual([]);
  expect(first.creates).toBe(2);

  stack.setEnvironment({ ADVERTISING_BASE_URL: first.url, ADVERTISING_EMAIL: "ops@example.com" });
  expect((await stack.up()).code).toBe(0);
  expect(first.creates).toBe(3);
});

it("the same platform under a new address is declared with `relocate`; nothing is created again", async () => {
  const old = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox: old });
  expect((await stack.up()).code).toBe(0);
  const moved = await useSandbox({ objects: old.snapshot() });
  stack.setEnvironment({ ADVERTISING_BASE_URL: moved.url });
  const account = `${old.url.replace("http://", "")} ops@example.com`;

  const wrong = await relocate(stack, "elsewhere.example ops@example.com");
  expect(wrong.code).toBe(2);
  expect(wrong.output).toContain(`its resources were created at '${account}'`);
  expect((await relocate(stack, "elsewhere")).output).toContain("expected '<host> <e-mail>'");
  const done = await relocate(stack, account);
  expect(done.code, done.output).toBe(0);
  expect(done.output).toContain(
    `2 resources of '${account}' are at '${moved.url.replace("http://", "")} ops@example.com' now`,
  );
  expect(done.output).toContain("Nothing was sent. Next, run `pulumi up`.");
  stack.program(eventsProgram(2));
  expect((await stack.up()).output).toMatch(/1 created\s+3 unchanged/);
  expect(moved.creates).toBe(1);
  expect(old.creates).toBe(2);
});

it("a plain refresh after `relocate` and before the next `up` has the former settings: it says so, and what it says works", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1), { sandbox });
  const setEmail = (email: string) => stack.run(["config", "set", "advertising:email", email]);
  await setEmail("ops@example.com");
  expect((await stack.up()).code).toBe(0);
  await setEmail("boss@example.com");
  const place = sandbox.url.replace("http://", "");
  expect((await relocate(stack, `${place} ops@example.com`)).code).toBe(0);

  const plain = await stack.refresh();
  expect(plain.code).not.toBe(0);
  expect(plain.output).toContain(
    `Advertiser 1 at ${place} as boss@example.com, and the settings of this run name ${place} as ops@example.com`,
  );
  expect(plain.output).toContain("uses those of the last `pulumi up`. Run that, or add --run-program.");
  const again = await relocate(stack, `${place} boss@example.com`);
  expect(again.output).toContain(`nothing was changed: '${place} boss@example.com' is what the settings name.`);
  expect(again.code).toBe(2);

  expect((await stack.run(["refresh", "--yes", "--run-program"])).code).toBe(0);
  expect((await stack.up()).output).toContain("3 unchanged");
  expect((await stack.refresh()).code).toBe(0);
  expect(sandbox.creates).toBe(2);
});

it("resources of an earlier version take on the current account once, and show no change", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(program(`new advertising.Advertiser("a", { advertiserName: "A" });`), { sandbox });
  expect((await stack.up()).code).toBe(0);
  // As 0.1.0 wrote it: the longer identity, and nothing of an account.
  const state = JSON.parse(await stack.exported());
  const resource = state.deployment.resources.at(-1);
  delete resource.outputs.__at;
  resource.inputs.__identity = "organization/tiny/dev::a";
  stack.write("state.json", JSON.stringify(state));
  expect((await stack.run(["stack", "import", "--file", "state.json"])).code).toBe(0);

  expect((await stack.up()).output).toContain("2 unchanged");
  expect((await stack.resources())[0]?.inputs?.__at).toBe(`${sandbox.url.replace("http://", "")} ops@example.com`);
  expect(sandbox.creates).toBe(1);
});
