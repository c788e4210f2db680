/** Users' unit tests, under each test runner: what is wrong is an error that a test catches, or that fails the test. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { projectEnvironment } from "../support/packed.js";
import { runProcess } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");

const FILE = "shop.test.mjs";
/** How Node.js starts each. */
const RUNNERS = [
  [
    "vitest",
    [
      join(repository, "node_modules/vitest/vitest.mjs"),
      "run",
      "--root",
      ".",
      "--config",
      "none.mjs",
    ],
  ],
  ["node:test", ["--test", FILE]],
] as const;

const loading = (runner: string) => `import { beforeEach, it } from "${runner}";
import * as advertising from "pulumi-advertising";
import { outputOf, setMocks } from "pulumi-advertising/testing";
import * as pulumi from "@pulumi/pulumi";`;

const GOOD = `
const thrown = async (run) => { try { await run(); } catch (error) { return error.message; } return "nothing"; };
const expectText = (text, part) => { if (!text.includes(part)) throw new Error("expected " + part + " in " + text); };
const event = (value) => new advertising.ConversionEvent("purchase", { eventName: "Purchase", advertiserId: 7, value });

beforeEach(async () => { await setMocks(); });
it("a right event has an id", async () => expectText(String(await outputOf(event(25).eventId)), "1"));
it("a wrong event is caught", async () => expectText(await thrown(() => event("25")), "value expected a finite number"));
it("a wrong event is caught where an Output brings it", async () =>
  expectText(await thrown(() => outputOf(event(pulumi.output("25")).eventId)), "value expected a finite number"));
`;
const WRONG = `
it("a wrong event fails its test", () => { event("25"); });
it("a wrong event fails its test where an Output brings it", async () => { await outputOf(event(pulumi.output("x")).eventId); });
`;
it.each(RUNNERS)(
  "%s: right events pass, wrong ones are caught or fail their test with all that is wrong, and nothing is unhandled",
  async (runner, command) => {
    // Inside the repository, so that its node_modules are found.
    const parent = join(repository, ".pulumi-local", "test");
    mkdirSync(parent, { recursive: true });
    const folder = mkdtempSync(join(parent, "user-tests-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    writeFileSync(join(folder, FILE), [loading(runner), GOOD, WRONG].join("\n"));
    writeFileSync(join(folder, "none.mjs"), "export default {};");
    const { code, output } = await runProcess(
      "node",
      command,
      folder,
      projectEnvironment(),
    );
    expect(code, output).toBe(1);
    expect(output).toMatch(/2 failed.*3 passed|pass 3\n.*fail 2/);
    expect(output).not.toMatch(/unhandled|uncaught/i);
    expect(output).toContain('ConversionEvent "purchase":');
    expect(output).toContain('value expected a finite number; got the string "25"');
    expect(output).toContain('value expected a finite number; got the string "x"');
  },
);
