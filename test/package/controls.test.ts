/**
 * Controls: each takes one protection away, in a copy of the source, and a named test must then fail. A check that can't fail is no
 * check. `npm test` tries a few of them, `npm run control-test` all (CONTROLS=all).
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { controls } from "../support/controls.js";
import { mutated } from "../support/mutation.js";
import { runProcess } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const chosen = controls.filter(({ isQuick }) => isQuick || process.env.CONTROLS === "all");
const environment = { ...(process.env as Record<string, string>), NO_COLOR: "1" };

/** One copy for all. */
let copy: string;

beforeAll(() => {
  // Inside the repository, so that its node_modules are found.
  const parent = join(repository, ".pulumi-local", "test");
  mkdirSync(parent, { recursive: true });
  copy = mkdtempSync(join(parent, "control-"));
  const files = ["vitest.config.ts", "tsconfig.json", "package.json", "provider/package.json", "provider/src"];
  for (const name of [...files, "test/unit", "test/sandbox", "test/support"])
    cpSync(join(repository, name), join(copy, name), { recursive: true });
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function test(files: readonly string[], names: readonly string[]) {
  const named = names.map((name) => name.replace(/[^\w ,:-]/g, ".")).join("|");
  const args = ["run", ...files.map((file) => `test/${file}.test.ts`), "-t", named];
  return runProcess("node", [join(repository, "node_modules/vitest/vitest.mjs"), ...args], copy, environment);
}

it("the copy as it is passes the tests of all of them", { timeout: 900_000 }, async () => {
  const files = new Set(chosen.map((control) => control.test));
  const { code, output } = await test([...files], [...new Set(chosen.map(({ named }) => named))]);
  expect(code, output).toBe(0);
  expect(output).toMatch(/\d+ passed/);
});

it.each(chosen.map((control) => [control.promise, control] as const))(
  "%s: its test turns red without",
  async (_, control) => {
    const { file, named } = control;
    const path = join(copy, "provider/src", file);
    const source = readFileSync(path, "utf8");
    try {
      writeFileSync(path, mutated(source, control));
      const { code, output } = await test([control.test], [named]);
      expect(code).not.toBe(0);
      expect(output).toContain(named);
      expect(output).toMatch(/\d+ failed/);
    } finally {
      writeFileSync(path, source);
    }
  },
);
