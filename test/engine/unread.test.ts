/** Each run asks Pulumi for what it has saved at most once. If that fails, one warning says so, and nothing is sent twice. */
import { execFileSync } from "node:child_process";
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { shopOf } from "../support/recovery.js";
import { failed, newStack, type TestStack, useSandbox, well } from "../support/stack.js";

/**
 * From now on the stack's engine is a copy, in whose place its program writes a script: so what the provider finds as
 * its engine's executable counts its calls, and fails if FAILING is "yes".
 */
function countCalls(stack: TestStack) {
  const folder = join(stack.folder, "bin");
  const [copy, engine, script, calls] = ["copy", "pulumi", "script", "calls"].map((name) =>
    join(folder, name),
  ) as [string, string, string, string];
  mkdirSync(folder);
  const real = execFileSync("which", ["pulumi"], { encoding: "utf8" }).trim();
  copyFileSync(real, copy);
  const lines = [
    "#!/bin/sh",
    `echo "$*" >> '${calls}'`,
    `[ "$FAILING" = yes ] && { echo "error: no rights" >&2; exit 255; }`,
    `exec '${real}' "$@"`,
  ];
  writeFileSync(script, lines.join("\n"), { mode: 0o755 });
  stack.setEnvironment({ PATH: `${folder}${delimiter}${stack.environment.PATH}` });
  return {
    declare: (events: number) =>
      stack.program(`
const { linkSync, rmSync } = require("node:fs");
rmSync("${engine}");
linkSync("${script}", "${engine}");
${shopOf(events)}`),
    /** To be called before each run. @returns a function that returns the calls since. */
    begin: () => {
      for (const path of [engine, calls]) rmSync(path, { force: true });
      linkSync(copy, engine);
      writeFileSync(calls, "");
      return () => readFileSync(calls, "utf8").split("\n").filter(Boolean);
    },
  };
}

it("one export a run; without it one warning, and a killed run's create is not sent again", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack("", { sandbox });
  const { declare, begin } = countCalls(stack);
  declare(2);
  let calls = begin();
  await well(stack.up());
  expect(calls()).toEqual([expect.stringMatching(/^stack export /)]);
  calls = begin();
  await well(stack.up());
  expect(calls().length).toBeLessThanOrEqual(1);

  declare(3);
  begin();
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  stack.setEnvironment({ FAILING: "yes" });
  calls = begin();
  const output = await failed(stack.up());
  // A second time, in case that the engine was just writing; each time by name, then as the selected one.
  expect(calls()).toHaveLength(4);
  const report = output.slice(output.indexOf("Diagnostics:"));
  expect(
    report.match(/Pulumi's record of this stack can't be read: .*no rights/g),
    report,
  ).toHaveLength(1);
  expect(report).toContain("--created 'e2=<its id>'");
  expect(sandbox.creates).toBe(4);
});
