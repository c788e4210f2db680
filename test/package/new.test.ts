/** `npm run new`: a project of one's own, from a template of Pulumi's, in one command. pipelines.test.ts makes one in TypeScript. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { expect, it, vi } from "vitest";
import { hostOf, useLanguages } from "../support/languages.js";
import { lifeOf, runNew } from "../support/new-project.js";
import { useTemporaryFolder } from "../support/packed.js";
import { useSandbox } from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const temporary = useTemporaryFolder();
useLanguages();

it("the README has the same commands, at most five to the first preview", async () => {
  const readme = readFileSync(join(repository, "README.md"), "utf8");
  const [, table = ""] =
    /\| TypeScript \| YAML \|\n\|---\|---\|\n((?:\|.*\n)+)/.exec(readme) ?? [];
  const rows = table
    .trim()
    .split("\n")
    .map((row) => [...row.matchAll(/`(.*?)`/g)].map(([, text]) => text));
  const rest = [
    "cd ../shop",
    'export PULUMI_BACKEND_URL="file://$PWD" PULUMI_CONFIG_PASSPHRASE=sandbox',
    "pulumi preview",
  ];
  expect(rows.map(([typescript]) => typescript)).toEqual(["npm run new ../shop", ...rest]);
  expect(rows.map(([, yaml]) => yaml)).toEqual(["npm run new ../shop yaml", ...rest]);
});

/** `npm run new` with this as the Node.js that runs npm. */
function useNode(version: string) {
  const node = join(temporary(), "node");
  writeFileSync(node, `#!/bin/sh\necho ${version}\n`, { mode: 0o755 });
  vi.stubEnv("npm_node_execpath", node);
}

it("YAML: previews at once, and applies against the sandbox", async (context) => {
  hostOf("yaml", context);
  useNode("v20.20.2");
  const sandbox = await useSandbox();
  const place = "with space/yaml-shop";
  const { output, preview } = await lifeOf(temporary(), place, "yaml", sandbox);
  expect(output).toContain(`\n  cd '${place}'\n`);
  expect(output).toContain(
    "\nYour Node.js is v20.20.2. The project needs 22.19.0 or later",
  );
  const [, path = ""] = /^ {2}export PATH="(.*):\$PATH"$/m.exec(output) ?? [];
  const own = join(repository, "node_modules/node/bin");
  if (!process.env.OWN_NODE) expect(path.split(delimiter).at(-1)).toBe(own);
  expect(preview).toContain("5 to create");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 2, eventPosts: 3 });
});

it("a folder with files in it, a name that Pulumi refuses, and an unknown language: nothing is written", async () => {
  mkdirSync(join(temporary(), "full", "src"), { recursive: true });
  for (const [args, message] of [
    [["full"], /isn't empty/],
    [["a shop"], /may only have letters/],
    [["other", "pascal"], /Usage: npm run new DIR/],
    [[], /Usage: npm run new DIR/],
  ] as const) {
    const { code, output } = await runNew(temporary(), ...args);
    expect(output).toMatch(message);
    expect(code).not.toBe(0);
  }
  expect(readdirSync(temporary())).not.toContain("other");
});
