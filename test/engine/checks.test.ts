import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, type RunResult, useSandbox } from "../support/stack.js";

const readme = readFileSync(resolve(import.meta.dirname, "../../README.md"), "utf8");

const wrongProgram = program(`
const a = new advertising.Advertiser("wrong-a", { advertiserName: "", advertisrName: "x" });
new advertising.ConversionEvent("wrong-1", { eventName: "x".repeat(120), advertiserId: -1, value: NaN, viewWindow: 99999999 });
new advertising.ConversionEvent("wrong-2", { eventName: "a\\u001b[31m", advertiserId: a.advertiserId, value: 1, attribution: "WHITELST", countUnique: "yes" });
new advertising.ConversionEvent("wrong-3", { eventName: "ok", advertiserId: a.advertiserId });
new advertising.ConversionEvent("wrong-4", { eventName: "ok", advertiserId: 1, value: 1, existingId: 1.5, click_window: 3, additionalFields: { event_name: "x" } });
new advertising.ConversionEvent("right", { eventName: "ok", advertiserId: 1, value: 1 });`);

/** Resource and property of each fault, in the order of the program. */
const wrongInputs = [
  ['Advertiser "wrong-a"', "advertiserName", "advertisrName"],
  ['ConversionEvent "wrong-1"', "eventName", "advertiserId", "value", "viewWindow"],
  ['ConversionEvent "wrong-2"', "eventName", "countUnique", "attribution"],
  ['ConversionEvent "wrong-3"', "value"],
  ['ConversionEvent "wrong-4"', "existingId", "additionalFields", "click_window"],
];
const wrongSettings = [
  "ADVERTISING_BASE_URL",
  "advertising:email",
  "advertising:authMode",
  "advertising:maxWaitSecond",
];

it("a program with wrong inputs and settings is told everything once, and nothing is registered or sent", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(wrongProgram, {
    sandbox,
    environment: {
      ADVERTISING_BASE_URL: `${sandbox.url.replace("//", "//user:needle@")}`,
      ADVERTISING_EMAIL: "",
    },
    config: { "advertising:maxWaitSecond": "3", "advertising:authMode": "digest" },
  });
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  const report = output.slice(output.indexOf("Diagnostics:"));
  const lines = report.split("\n").map((line) => line.trim());
  for (const setting of wrongSettings)
    expect(lines.filter((line) => line.startsWith(`${setting} `))).toHaveLength(1);
  for (const [resource, ...properties] of wrongInputs) {
    const at = lines.indexOf(`${resource}:`);
    expect(at, resource).toBeGreaterThan(0);
    expect(
      lines.slice(at + 1, at + 1 + properties.length).map((line) => line.split(" ")[0]),
    ).toEqual(properties);
  }
  expect(report).toContain("17 problems");
  expect(report).toContain("did you mean advertiserName?");
  expect(report).toContain("did you mean maxWaitSeconds?");
  expect(report).not.toContain("right");
  expect(output).not.toContain("needle");
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  expect(output).not.toContain("\u001b[31m");
  expect(await stack.resources()).toEqual([]);
  expect(sandbox.requests).toEqual([]);
});

it("values that become known through Outputs, and assets and archives, are checked by the engine's check, all of a resource at once", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const o = (value) => pulumi.output(value);
const { StringAsset, FileAsset, FileArchive } = pulumi.asset;
const additionalFields = { a: new StringAsset("hi"), b: o(new FileAsset("index.js")), c: o([new FileArchive(".")]) };
new advertising.ConversionEvent("wrong", {
  eventName: o("x".repeat(300)), advertiserId: o(-1), value: pulumi.secret(1234567), clickWindow: o(-5), viewWindow: pulumi.secret(87654321), attribution: o("WHITELST"),
  additionalFields,
});`),
    { sandbox },
  );
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toMatch(
    /eventName expected a string of 1 to 99 .*; got a string of 300 characters/,
  );
  for (const property of ["advertiserId", "clickWindow", "viewWindow", "attribution"]) {
    expect(output).toMatch(new RegExp(`${property}.*expected`));
  }
  expect(output).toMatch(/additionalFields expected JSON .* not allowed: "a", "b", "c"/);
  expect(output).not.toMatch(/\bvalue expected/);
  expect(output).not.toMatch(/8\.?7654321/); // the engine would print a secret argument's value itself
  expect(output).not.toContain("xxxxx");
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  expect(await stack.resources()).toEqual([]);
  expect(sandbox.requests).toEqual([]);
});

it("a first preview without a password, as a pipeline has it, writes nothing; then an up with one", async () => {
  const sandbox = await useSandbox({ password: "needle-password" });
  const shop = (advertiserName: string) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "${advertiserName}" });
new advertising.ConversionEvent("e", {
  eventName: pulumi.interpolate\`of \${a.advertiserId}\`, advertiserId: a.advertiserId, value: a.advertiserId,
  additionalFields: { alternative_id: a.id },
});`);
  const stack = await newStack(shop("A"), {
    config: {
      "advertising:baseUrl": `${sandbox.url}/api/v1/`,
      "advertising:email": sandbox.email,
    },
  });
  const expectPassed = ({ code, output }: RunResult) => {
    expect(code, output).toBe(0);
  };
  const preview = await stack.preview();
  expectPassed(preview);
  expect(preview.output).toContain("3 to create");
  expect(preview.output).toContain("pulumi config set --secret advertising:password");
  expect(existsSync(stack.cache)).toBe(false);
  expect(sandbox.requests).toEqual([]);

  stack.setEnvironment({ ADVERTISING_PASSWORD: sandbox.password });
  expectPassed(await stack.up());
  expect(sandbox.events).toMatchObject([
    { event_name: "of 1", value: 1, alternative_id: "1" },
  ]);
  expect(sandbox).toMatchObject({ logins: 1, creates: 2 });
  expect(await stack.exported()).not.toContain("needle");
});

it("what comes after a wait of the program is told all at once as well; `import` is explained", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
module.exports = (async () => {
  new advertising.Advertiser("early", { advertiserName: "Early" });
  await new Promise((resolve) => setTimeout(resolve, 50));
  new advertising.Advertiser("late-1", { advertiserName: "" });
  new advertising.ConversionEvent("late-2", { eventName: "E", advertiserId: 1, value: 1 }, { import: "7" });
})();`),
    { sandbox },
  );
  const { code, output } = await stack.preview();
  expect(code).not.toBe(0);
  const report = output.slice(output.indexOf("Diagnostics:"));
  expect(report).toContain("2 problems");
  expect(report).toContain("Nothing was sent");
  expect(report).toMatch(/"late-1":\s+advertiserName/);
  expect(report).toMatch(/"late-2":\s+import isn't supported. .* existingId/);
  expect(output).not.toMatch(/^\s+at .*:\d+/m);
  expect(sandbox.requests).toEqual([]);
});

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

it("an ES module in TypeScript, with a top-level await and an import of another one", async () => {
  const sandbox = await useSandbox();
  const text = `import * as advertising from "pulumi-advertising";
import { names } from "./names.ts";
const advertiserName: string = await Promise.resolve(names.acme);
export const id = new advertising.Advertiser("acme", { advertiserName }).advertiserId;`;
  const stack = await newStack(text, { file: "index.ts", sandbox });
  stack.write(
    "package.json",
    JSON.stringify({ name: "tiny", private: true, type: "module" }),
  );
  stack.write("names.ts", 'export const names = { acme: "Acme" };');
  expect((await stack.up()).code).toBe(0);
  expect([await stack.outputs(), sandbox.creates]).toEqual([{ id: 1 }, 1]);
});
