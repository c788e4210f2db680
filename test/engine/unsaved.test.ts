/** A kill between the provider's clean end and Pulumi's save of the state, which with checkpoints off is the only one. */
import { spawnSync } from "node:child_process";
import { lstatSync, readdirSync, renameSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { upAndKill } from "../support/killing.js";
import { eventsProgram, newStack, useSandbox, well } from "../support/stack.js";

it("with checkpoints off: what was created is not created again", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(2), {
    sandbox,
    environment: { PULUMI_SKIP_CHECKPOINTS: "true" },
  });
  const state = stack.fromFile.STATE_FILE ?? "";
  const hasEnded = () => {
    // The provider has let go of its journal, which is kept until a run has seen its objects.
    const files = readdirSync(stack.state, { recursive: true, encoding: "utf8" });
    const count = (end: string) => files.filter((name) => name.endsWith(end)).length;
    return count(".jsonl") === 1 && count(".lock") === 0;
  };
  const unsaved = async () => {
    while (sandbox.creates === 0) await sleep(5);
    // Before it saves, Pulumi copies the former state. That waits for a writer, who never comes.
    renameSync(state, `${state}.before`);
    spawnSync("mkfifo", [state]);
    while (!hasEnded()) await sleep(5);
  };
  expect(await upAndKill(stack, unsaved(), "tree")).toBe(true);
  expect(lstatSync(state).isFIFO(), "Pulumi was about to save").toBe(true);
  renameSync(`${state}.before`, state);
  await stack.cancel();
  expect([await stack.resources(), sandbox.creates]).toEqual([[], 3]);

  await well(stack.up());
  expect([Object.keys(await stack.ids()), sandbox.creates]).toEqual([["a", "e0", "e1"], 3]);
});
