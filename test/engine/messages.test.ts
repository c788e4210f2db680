/** What people read in a row of real runs: nothing twice in one run, and commands that work as they are printed. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { commandsIn, reportIn, saidTwice } from "../support/printed-commands.js";
import { newStack, program, type RunResult, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");
const AWKWARD = `it's "a" $b`;

interface Told {
  readonly events: Readonly<Record<string, string>>;
  readonly window?: number;
}

/** A program that declares the events, by key with their names on the platform, and its data file. */
const KINDS: Readonly<Record<string, (told: Told) => { readonly body: string; readonly catalog?: string }>> = {
  "single events": ({ events, window }) => ({
    body: Object.entries(events)
      .map(([key, eventName]) => {
        const args = { eventName, advertiserId: 1, value: 1, clickWindow: window };
        return `new advertising.ConversionEvent(${JSON.stringify(key)}, ${JSON.stringify(args)});`;
      })
      .join("\n"),
  }),
};

function declare(stack: TestStack, kind: string, told: Told): void {
  const { body, catalog } = KINDS[kind]?.(told) ?? { body: "" };
  stack.program(program(body));
  if (catalog !== undefined) stack.write("events.csv", catalog);
}

/** Copies a command into a shell. */
const copied = (stack: TestStack, line: string) =>
  runProcess("sh", ["-c", `npx() { shift; node '${command}' "$@"; }\n${line}`], stack.programFolder, stack.environment);

function expectNothingTwice({ output }: RunResult): void {
  expect(saidTwice(output), output).toEqual([]);
}

it.each(Object.keys(KINDS))("%s", async (kind) => {
  const sandbox = await useSandbox({
    objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] },
  });
  const stack = await newStack("", { sandbox });
  const events = { [AWKWARD]: "A", b: "B", c: "C" };
  declare(stack, kind, { events, window: 7 });

  // A pipeline for previews holds no password on purpose.
  stack.setEnvironment({ ADVERTISING_PASSWORD: undefined });
  const preview = await stack.preview();
  expect(preview.code, preview.output).toBe(0);
  expect(reportIn(preview.output).split("advertising:password is not set"), preview.output).toHaveLength(2);
  expect(preview.output).not.toMatch(/warning.*password/);
  expectNothingTwice(preview);
  expect(reportIn(preview.output).split("If days were meant")).toHaveLength(2);
  stack.write("preview.json", (await stack.preview("--json", "--show-sames")).output);
  const comment = await runProcess(
    "node",
    [command, "report", "comment", "--preview", "preview.json"],
    stack.programFolder,
    stack.environment,
  );
  expect(comment.output).toContain("3 create");
  expect(comment.output).not.toContain("password");
  expect(sandbox.requests).toEqual([]);
  stack.setEnvironment({ ADVERTISING_PASSWORD: sandbox.password });

  // One answer is lost.
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const lost = await stack.up();
  expect(lost.code, lost.output).not.toBe(0);
  expectNothingTwice(lost);
  expectNothingTwice(await stack.preview());
  expectNothingTwice(await stack.up());
  // Each command is copied as it is printed; only the id is filled in.
  const listed = await runProcess("node", [command, "pending"], stack.programFolder, stack.environment);
  expect(listed.code, listed.output).toBe(1);
  const [there = "", notThere = "", ...more] = commandsIn(listed.output);
  expect([notThere.includes(" --not-created "), more]).toEqual([true, []]);
  const name = /look into the account for the ConversionEvent named "(\w)"/.exec(listed.output)?.[1];
  const found = sandbox.events.find(({ event_name }) => event_name === name);
  const { code, output } = await copied(stack, there.replace("<its id>", String(found?.id)));
  expect(output, `${there}\n${listed.output}`).toContain(`Settled as created with id ${found?.id}`);
  expect(code, output).toBe(0);
  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  expectNothingTwice(up);
  expect(sandbox.creates).toBe(3);

  // One is replaced, one renamed, one removed.
  declare(stack, kind, { events: { [AWKWARD]: "A 2", renamed: "B" }, window: 7 });
  expectNothingTwice(await stack.preview());
  const changed = await stack.up();
  expect(changed.code, changed.output).toBe(0);
  expectNothingTwice(changed);
  expectNothingTwice(await stack.destroy());
});
