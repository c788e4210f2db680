/**
 * Controls: each takes one protection away by changing one line, and a named test must then fail. A check that can't
 * fail is no check. `npm test` tries the last of them, `npm run control-test` all (CONTROLS=all).
 */
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { controls } from "../support/controls.js";
import type { Mutation } from "../support/mutation.js";
import { runProcess } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const chosen = process.env.CONTROLS === "all" ? controls : controls.slice(-1);

function test(files: readonly string[], names: readonly string[], mutation?: Mutation) {
  const named = names.map((name) => name.replace(/[^\w ,:-]/g, ".")).join("|");
  const args = ["run", ...files.map((file) => `test/${file}.test.ts`), "-t", named];
  const change = mutation === undefined ? {} : { MUTATION: JSON.stringify(mutation) };
  const environment = {
    ...(process.env as Record<string, string>),
    NO_COLOR: "1",
    ...change,
  };
  return runProcess(
    "node",
    [join(repository, "node_modules/vitest/vitest.mjs"), ...args],
    repository,
    environment,
  );
}

it("the source as it is passes the tests of all of them", {
  timeout: 900_000,
}, async () => {
  const { code, output } = await test(
    [...new Set(chosen.map((each) => each.test))],
    [...new Set(chosen.map(({ named }) => named))],
  );
  expect(code, output).toBe(0);
  expect(output).toMatch(/\d+ passed/);
});

it.each(chosen.map((control) => [control.promise, control] as const))(
  "%s: its test turns red without",
  async (_, control) => {
    const { code, output } = await test([control.test], [control.named], control);
    expect(code).not.toBe(0);
    expect(output).toContain(control.named);
    expect(output).toMatch(/\d+ failed/);
  },
);
