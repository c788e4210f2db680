/**
 * Controls: each takes one protection away, in a copy of the source, and a named test must then fail. A check that can't
 * fail is no check.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runProcess } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");

interface Control {
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
  readonly test: string;
  readonly named: string;
  /** Its test starts processes, which run what is built. @default false */
  readonly isBuilt?: boolean;
}

const controls: [string, Control][] = [
  [
    "a create is sent again after a reset",
    {
      file: "client/patient.ts",
      from: "const mayRepeat = repeatable && ",
      to: "const mayRepeat = ",
      test: "test/unit/patient.test.ts",
      named: "ECONNRESET after sending: never",
    },
  ],
  [
    "a create is written however long ago it was noted",
    {
      file: "client/transport.ts",
      from: "this.#timedOut || this.isTooLate()",
      to: "this.#timedOut",
      test: "test/sandbox/faults.test.ts",
      named: "while it connects: no byte leaves",
    },
  ],
  [
    "unresolved resources are not marked",
    {
      file: "state/create-record.ts",
      from: 'return typeof stored === "object" && stored !== null;',
      to: "return stored === null;",
      test: "test/unit/lifecycle.test.ts",
      named: "stops diff, read and update with the same advice",
    },
  ],
  [
    "there is no lock between processes",
    {
      file: "files/private-file.ts",
      from: "linkSync(temporary, path);",
      to: "rmSync(path, { force: true });\n      linkSync(temporary, path);",
      test: "test/sandbox/lock-processes.test.ts",
      named: "one holder at a time among 8 processes",
      isBuilt: true,
    },
  ],
  [
    "secrets are not scrubbed",
    {
      file: "base/secrets.ts",
      from: "scrubbed += text.slice(done, start) + MASK;",
      to: "scrubbed += text.slice(done, end);",
      test: "test/unit/secrets.test.ts",
      named: "a secret is removed as it is",
    },
  ],
];

it.each(controls)("%s: its test turns red", async (_, { file, from, to, test, named, isBuilt = false }) => {
  // Inside the repository, so that its node_modules are found.
  const parent = join(repository, ".pulumi-local", "test");
  mkdirSync(parent, { recursive: true });
  const copy = mkdtempSync(join(parent, "control-"));
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of [
    "vitest.config.ts",
    "tsconfig.json",
    "package.json",
    "provider/package.json",
    "provider/tsconfig.json",
    "provider/src",
    "provider/dist", // so that only what is changed is compiled
    "test/unit",
    "test/sandbox",
    "test/support",
  ]) {
    cpSync(join(repository, name), join(copy, name), { recursive: true });
  }
  const environment = { ...(process.env as Record<string, string>), NO_COLOR: "1" };
  const tool = (path: string, ...args: string[]) =>
    runProcess("node", [join(repository, "node_modules", path), ...args], copy, environment);
  const run = async () => {
    if (isBuilt) expect(await tool("typescript/bin/tsc", "--build", "provider")).toMatchObject({ code: 0 });
    return tool("vitest/vitest.mjs", "run", test, "-t", named);
  };
  expect(await run(), "the copy as it is").toMatchObject({ code: 0, output: expect.stringMatching(/\d+ passed/) });

  const path = join(copy, "provider/src", file);
  const source = readFileSync(path, "utf8");
  const changed = source.replace(from, to);
  expect(changed, `${file} no longer holds what this control takes away`).not.toBe(source);
  writeFileSync(path, changed);
  const { code, output } = await run();
  expect(code).not.toBe(0);
  expect(output).toContain(`${named}`);
  expect(output).toMatch(/\d+ failed/);
});
