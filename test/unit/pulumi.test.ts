/** What is read from a Pulumi project without running Pulumi. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { programFolder } from "../../provider/src/tools/pulumi.js";
import { newFolder } from "../support/folder.js";

const YAML = "name: shop\nruntime: nodejs\n";

// Each result is what Pulumi's engine does (pkg/engine/project.go, sdk/go/common/workspace/paths.go).
it.each<[string, Record<string, string>, string, string]>([
  ["no project", {}, "docs", "docs"],
  ["no main", { "Pulumi.yaml": YAML }, ".", "."],
  ["no main, from a folder in it", { "Pulumi.yaml": YAML }, "docs", "."],
  ["main is a file beside it", { "Pulumi.yaml": `${YAML}main: index.ts\n`, "index.ts": "" }, ".", "."],
  ["main is a file in a folder", { "Pulumi.yaml": `${YAML}main: src/index.js\n`, "src/index.js": "" }, "docs", "src"],
  ["main is a folder", { "Pulumi.yaml": `${YAML}main: ./src/\n`, "src/index.js": "" }, ".", "src"],
  ["main is outside", { "a/Pulumi.yaml": `${YAML}main: ../src\n`, "src/index.js": "" }, "a", "src"],
  ["JSON", { "Pulumi.json": '{"main":"src"}', "Pulumi.yaml": YAML, "src/index.js": "" }, ".", "src"],
  ["the other ending", { "Pulumi.yml": `${YAML}main: src\n`, "src/index.js": "" }, ".", "src"],
  ["the nearest counts", { "Pulumi.yaml": YAML, "a/Pulumi.yaml": YAML, "a/b/x": "" }, "a/b", "a"],
  ["a folder with that name does not count", { "Pulumi.yaml": YAML, "a/Pulumi.yaml/x": "" }, "a", "."],
  ["a file that can't be read", { "Pulumi.yaml": "main: [" }, ".", "."],
])("the folder that a program runs in: %s", (_, files, from, expected) => {
  const top = newFolder();
  for (const [name, text] of Object.entries({ "docs/x": "", ...files })) {
    mkdirSync(dirname(join(top, name)), { recursive: true });
    writeFileSync(join(top, name), text);
  }
  expect(programFolder({ cwd: join(top, from) })).toBe(join(top, expected));
});
