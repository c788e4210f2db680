/** What people read in a row of real runs: nothing twice in one run, and commands that work as they are printed. */
import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { commandsIn, reportIn, saidTwice } from "../support/printed-commands.js";
import { newStack, program, type RunResult, type TestStack, useSandbox } from "../support/stack.js";

const AWKWARD = `it's "a" $b`;
const RENAMED = `${AWKWARD} 2`;

function declare(stack: TestStack, events: Readonly<Record<string, string>>): void {
  const one = ([key, eventName]: [string, string]) =>
    `new advertising.ConversionEvent(${JSON.stringify(key)}, ${JSON.stringify({ eventName, value: 1, clickWindow: 7, advertiserId: 1 })});`;
  stack.program(program(Object.entries(events).map(one).join("\n")));
}

/** What a shell makes of a command. */
const argumentsIn = (line: string) =>
  execFileSync("sh", ["-c", `npx() { printf '%s\\0' "$@"; }\n${line}`], { encoding: "utf8" })
    .split("\0")
    .slice(0, -1);

function expectNothingTwice({ output }: RunResult): void {
  expect(saidTwice(output), output).toEqual([]);
}

it("single events, from the first preview to the end", async () => {
  const sandbox = await useSandbox({
    objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] },
  });
  const stack = await newStack("", { sandbox });
  declare(stack, { [AWKWARD]: "A", b: "B", c: "C" });

  // A pipeline for previews holds no password on purpose.
  stack.setEnvironment({ ADVERTISING_PASSWORD: undefined });
  const preview = await stack.preview();
  expect(preview.code, preview.output).toBe(0);
  expect(reportIn(preview.output).split("advertising:password is not set"), preview.output).toHaveLength(2);
  expect(preview.output).not.toMatch(/warning.*password/);
  expectNothingTwice(preview);
  expect(reportIn(preview.output).split("If days were meant")).toHaveLength(2);
  expect(sandbox.requests).toEqual([]);
  stack.setEnvironment({ ADVERTISING_PASSWORD: sandbox.password });

  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expectNothingTwice(up);
  expect(sandbox.creates).toBe(3);

  // One is replaced, one renamed, one removed; one answer is lost.
  declare(stack, { [AWKWARD]: "A 2", [RENAMED]: "B" });
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const lost = await stack.up("--continue-on-error");
  expect(lost.code, lost.output).not.toBe(0);
  expectNothingTwice(lost);
  const again = await stack.up();
  expect(again.code, again.output).not.toBe(0);
  expectNothingTwice(again);
  expect(sandbox.creates).toBe(5);
  // Each command as a shell takes it.
  const notCreated = commandsIn(lost.output).filter((line) => line.includes(" --not-created "));
  expect(notCreated, lost.output).toHaveLength(1);
  expect([AWKWARD, RENAMED]).toContain(argumentsIn(notCreated[0] ?? "").at(-1));
});
