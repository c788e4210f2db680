/** How the commands call the Pulumi CLI. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import { stateOf } from "../../provider/src/cli/pulumi.js";
import { newFolder } from "../support/folder.js";

it.each([
  ["file://./state", "PROGRAM/state"],
  ["file://state?no_tmp_dir=true", "PROGRAM/state?no_tmp_dir=true"],
  ["file:///state", "/state"],
  ["s3://bucket", undefined],
])("an inline program's backend %s begins in the program's folder", async (url, path) => {
  const folder = newFolder();
  const program = join(folder, "program");
  mkdirSync(program);
  const printed = join(folder, "backend");
  const script = `#!/bin/sh\nprintf %s "$PULUMI_BACKEND_URL" > '${printed}'\necho '{"deployment":null}'\n`;
  writeFileSync(join(folder, "pulumi"), script, { mode: 0o755 });
  vi.stubEnv("PATH", `${folder}:/usr/bin:/bin`);
  vi.stubEnv("PULUMI_BACKEND_URL", url);
  onTestFinished(() => void vi.unstubAllEnvs());
  await stateOf({ stack: "organization/shop/dev", cwd: program });
  const expected = path === undefined ? url : `file://${path.replace("PROGRAM", program)}`;
  expect(readFileSync(printed, "utf8")).toBe(expected);
  // The same if only `pulumi login` has stored it.
  writeFileSync(join(folder, "credentials.json"), JSON.stringify({ current: url }));
  vi.stubEnv("PULUMI_BACKEND_URL", "");
  vi.stubEnv("PULUMI_HOME", folder);
  await stateOf({ stack: "organization/shop/dev", cwd: program });
  expect(readFileSync(printed, "utf8")).toBe(expected);
});
