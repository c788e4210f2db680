/** How Pulumi is run to read a stack's record, and why that may fail. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { type PulumiOptions, runPulumi } from "../../provider/src/record/pulumi.js";
import { readRecord } from "../../provider/src/record/read-record.js";
import { newFolder } from "../support/folder.js";
import { exportOf, storedEvent } from "../support/stored.js";

/** A command that does this in a shell. */
function commandOf(script: string, mode = 0o755) {
  const path = join(newFolder(), "pulumi");
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, mode);
  return path;
}

const run = (script: string, options: PulumiOptions = {}) =>
  runPulumi(["stack", "export"], { executable: commandOf(script), ...options });

describe("running Pulumi", () => {
  it("gives its words and variables, and no input", async () => {
    const printed = await run('echo "$@ $A $PULUMI_SKIP_UPDATE_CHECK"; cat', {
      cwd: "/a b",
      environment: { A: "x" },
    });
    expect(printed).toBe("stack export --cwd /a b --non-interactive x true\n");
  });

  it.each<[string, string, PulumiOptions, string]>([
    [
      "an exit code",
      "echo SECRET; printf 'error: \\033[31mno stack\\n\\nselected\\n' >&2; exit 6",
      {},
      "`pulumi stack export` failed: error:  [31mno stack\nselected",
    ],
    ["nothing but an exit code", "echo SECRET; exit 6", {}, "failed: it ended with 6"],
    ["a signal", "kill -9 $$", {}, "failed: it ended with SIGKILL"],
    [
      "no answer",
      "echo SECRET; exec sleep 60",
      { timeoutMs: 100 },
      "`pulumi stack export` did not end within 0.1 s",
    ],
    [
      "what a refresh prints",
      "echo failed; echo why >&2; exit 1",
      { isOutputShown: true },
      "`pulumi stack export` failed: why\nfailed",
    ],
    [
      "no such file",
      "",
      { executable: "/none/pulumi" },
      "the command `/none/pulumi` can't be run (ENOENT)",
    ],
  ])("%s", async (_, script, options, message) => {
    const error = await run(script, options).catch((caught: Error) => caught);
    expect(error).toMatchObject({ message: expect.stringContaining(message) });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain(
      "SECRET",
    );
  });

  it("no rights", async () => {
    const executable = commandOf("", 0o644);
    await expect(runPulumi([], { executable })).rejects.toThrow(
      `the command \`${executable}\` can't be run (EACCES)`,
    );
  });

  it("not on the PATH", async () => {
    const environment = { PATH: newFolder() };
    await expect(runPulumi([], { environment })).rejects.toThrow(
      /^the command `pulumi` can't be run \(ENOENT\): .* on the PATH: https:\/\/www\.pulumi\.com\/docs\/install\/$/,
    );
  });
});

const EXPORT = exportOf([storedEvent("buy", 1)]);

describe("the record", () => {
  const where = { executable: "/bin/pulumi", cwd: "/tmp/automation" };

  it.each<[string, string | undefined, string[]]>([
    ["of the stack that is known", "acme/shop/dev", ["--stack", "acme/shop/dev"]],
    ["of the selected stack", undefined, []],
  ])("%s", async (_, stack, words) => {
    const runs = vi.fn<typeof runPulumi>(async () => EXPORT);
    const { resources } = await readRecord(stack, where, runs);
    expect(resources).toHaveLength(1);
    expect(runs.mock.calls).toEqual([
      [expect.arrayContaining(["stack", "export", ...words]), where],
    ]);
    expect(runs.mock.calls[0]?.[0].includes("--stack")).toBe(words.length > 0);
  });

  it("is no other output, which stays unseen", async () => {
    const reading = readRecord("dev", where, async () => "SECRET");
    await expect(reading).rejects.toThrow(/^`pulumi stack export` printed no state$/);
  });

  // A URN has no organization. Pulumi Cloud knows none of the name that file backends use.
  const ofCloud = (selected: string) =>
    vi.fn<typeof runPulumi>(async (words) => {
      if (words.includes("--stack")) throw new Error("no stack organization/shop/dev");
      return selected;
    });

  it("is the selected stack's if the organization isn't known", async () => {
    const { resources } = await readRecord("organization/shop/dev", where, ofCloud(EXPORT));
    expect(resources).toHaveLength(1);
    const pending_operations = [{ type: "creating", resource: storedEvent("buy", 1) }];
    const empty = JSON.stringify({ version: 3, deployment: { pending_operations } });
    const { pending } = await readRecord("organization/shop/dev", where, ofCloud(empty));
    expect(pending).toHaveLength(1);
  });

  it.each([
    ["of another name", EXPORT.replaceAll(":dev::", ":prod::")],
    ["of another project", EXPORT.replaceAll("::shop::", "::other::")],
    ["of nothing", exportOf([])],
  ])("is not a selected stack's %s", async (_, selected) => {
    const reading = readRecord("organization/shop/dev", where, ofCloud(selected));
    await expect(reading).rejects.toThrow("no stack organization/shop/dev");
  });

  it.each<[string, string, unknown]>([
    ["as the command line names it", "dev", undefined],
    ["of a known organization", "acme/shop/dev", undefined],
    ["if Pulumi gave no answer", "organization/shop/dev", "ABORT_ERR"],
  ])("is never asked for twice: %s", async (_, stack, cause) => {
    const runs = vi.fn<typeof runPulumi>(async () => {
      throw new Error("no", { cause });
    });
    const reading = readRecord(stack, where, runs);
    await expect(reading).rejects.toThrow("no");
    expect(runs).toHaveBeenCalledTimes(1);
  });
});

it("the environment's options move no record to a file, and show no secrets", async () => {
  const runs = vi.fn<typeof runPulumi>(async () => EXPORT);
  await readRecord("dev", {}, runs);
  const words = ["--file=", "--show-secrets=false", "--version="];
  expect(runs.mock.calls[0]?.[0]).toEqual(expect.arrayContaining(words));
});
