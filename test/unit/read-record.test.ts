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
    ["no such file", "", { executable: "/none/pulumi" }, "/none/pulumi does not exist"],
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
      `\`${executable}\` may not be run (EACCES)`,
    );
  });

  it("not on the PATH", async () => {
    const environment = { PATH: newFolder() };
    await expect(runPulumi([], { environment })).rejects.toThrow(
      /^the `pulumi` command is not on the PATH; to install it: https:/,
    );
  });
});

const EXPORT = exportOf([storedEvent("buy", 1)]);

describe("the record", () => {
  const engineWith = (...args: string[]) => ({
    ...{ executable: "/bin/pulumi", folder: "/tmp/automation", args, id: "7 1" },
  });
  const STACK = "acme/shop/dev";

  it.each<[string, Omit<Parameters<typeof readRecord>[0], "folder">, string[], object]>([
    [
      "of the stack that the engine's command names",
      { engine: engineWith("up", "-s", "dev"), stack: STACK },
      ["--stack", "dev"],
      { executable: "/bin/pulumi", cwd: "/tmp/automation" },
    ],
    [
      "of the stack that is known",
      { engine: engineWith("up"), stack: STACK },
      ["--stack", STACK],
      { executable: "/bin/pulumi", cwd: "/tmp/automation" },
    ],
    [
      "of the selected stack",
      { engine: engineWith("up") },
      [],
      { executable: "/bin/pulumi", cwd: "/tmp/automation" },
    ],
    ["without an engine", { stack: STACK }, ["--stack", STACK], { cwd: "/shop" }],
  ])("%s", async (_, choice, words, options) => {
    const runs = vi.fn<typeof runPulumi>(async () => EXPORT);
    const { resources } = await readRecord({ ...choice, folder: "/shop" }, runs);
    expect(resources).toHaveLength(1);
    expect(runs.mock.calls).toEqual([
      [expect.arrayContaining(["stack", "export", ...words]), options],
    ]);
    expect(runs.mock.calls[0]?.[0].includes("--stack")).toBe(words.length > 0);
  });

  it("is no other output, which stays unseen", async () => {
    const reading = readRecord({ folder: "." }, async () => "SECRET");
    await expect(reading).rejects.toThrow(/^`pulumi stack export` printed no state$/);
  });

  it("is never asked for twice", async () => {
    const runs = vi.fn<typeof runPulumi>(async () => {
      throw new Error("no");
    });
    const reading = readRecord({ engine: engineWith("up"), folder: "." }, runs);
    await expect(reading).rejects.toThrow("no");
    expect(runs).toHaveBeenCalledTimes(1);
  });
});

it("the environment's options move no record to a file, and show no secrets", async () => {
  const runs = vi.fn<typeof runPulumi>(async () => EXPORT);
  await readRecord({ folder: "." }, runs);
  const words = ["--file=", "--show-secrets=false", "--version="];
  expect(runs.mock.calls[0]?.[0]).toEqual(expect.arrayContaining(words));
});
