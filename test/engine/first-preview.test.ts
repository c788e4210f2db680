/** What a newcomer sees first: the README's program, with nothing configured. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const readme = readFileSync(resolve(import.meta.dirname, "../../README.md"), "utf8");

it("the README's program with nothing configured: the one list, and no noise of ours or of Node's", async () => {
  const [, text = ""] = /```ts\n(import \* as advertising[\s\S]*?)```/.exec(readme) ?? [];
  expect(text).toContain("new advertising.ConversionEvent");
  const stack = await newStack(text, { file: "index.ts" });
  const { code, output } = await stack.preview();
  expect(code).not.toBe(0);
  expect(output).toContain("advertising:baseUrl is required");
  expect(output).toContain("advertising:email is required");
  expect(output).toContain("[ADVERTISING_SETTINGS]");
  expect(output).not.toMatch(/PromiseRejection|Unhandled|Warning: |^\s+at /m);
});

it("wrong arguments are told together, and nothing is sent", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "" });
new advertising.ConversionEvent("purchase", {
  eventName: "Purchase", advertiserId: acme.advertiserId, value: Number.NaN, clickWindow: advertising.days(31),
});`),
    { sandbox },
  );
  const { code, output } = await stack.preview();
  expect(code).not.toBe(0);
  for (const words of [
    "3 problems; nothing was registered and nothing was sent",
    "advertiserName expected",
    "got NaN",
    "clickWindow is 31 days",
    "[ADVERTISING_ARGUMENTS]",
  ])
    expect(output).toContain(words);
  expect(sandbox.requests).toEqual([]);
});

it("a wrong name of an output is told as such, with all that is wrong of the resource", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme", existingId: 5 });
new advertising.ConversionEvent("purchase", { eventName: pulumi.output(" "), advertiserId: acme.apply ?? pulumi.output(acme).apply((a) => a.advertizerId), value: 1 });`),
    { sandbox },
  );
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("advertiserId is required: is the output's name right?");
  expect(output).toContain("eventName expected a string of 1 to 99 characters, not blank");
  expect(output).not.toContain("<nil>");
  expect(sandbox.requests).toEqual([]);
});
