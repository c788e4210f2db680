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

const argumentsOf = ({ events, window }: Told) =>
  Object.entries(events).map(([key, eventName]) => [key, { eventName, value: 1, clickWindow: window }] as const);

/** A program that declares the events, by key with their names on the platform, and its data file. */
const KINDS = {
  "single events": (told: Told) => ({
    body: argumentsOf(told)
      .map(([key, args]) => {
        return `new advertising.ConversionEvent(${JSON.stringify(key)}, ${JSON.stringify({ ...args, advertiserId: 1 })});`;
      })
      .join("\n"),
    catalog: "",
  }),
  "a set": (told: Told) => {
    const args = { advertiserId: 1, events: Object.fromEntries(argumentsOf(told)) };
    return { body: `new advertising.ConversionEventSet("funnel", ${JSON.stringify(args)});`, catalog: "" };
  },
  "a catalog": (told: Told) => ({
    body: 'new advertising.Catalog("shop", { file: "events.csv" });',
    catalog: [
      "key,advertiser,eventName,value,clickWindow",
      ...argumentsOf(told).map(([key, each]) => `${key},1,${each.eventName},1,${each.clickWindow ?? ""}`),
    ].join("\n"),
  }),
};
type KindOfProgram = keyof typeof KINDS;

function declare(stack: TestStack, kind: KindOfProgram, told: Told): void {
  const { body, catalog } = KINDS[kind](told);
  stack.program(program(body));
  stack.write("events.csv", catalog);
}

/** Copies a command into a shell. */
const copied = (stack: TestStack, line: string) =>
  runProcess("sh", ["-c", `npx() { shift; node '${command}' "$@"; }\n${line}`], stack.programFolder, stack.environment);

function expectNothingTwice({ output }: RunResult): void {
  expect(saidTwice(output), output).toEqual([]);
}

const withAdvertiser = () =>
  useSandbox({ objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] } });

it("single events, from the first preview to the end", async () => {
  const kind = "single events";
  const sandbox = await withAdvertiser();
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
  expect(sandbox.requests).toEqual([]);
  stack.setEnvironment({ ADVERTISING_PASSWORD: sandbox.password });

  // One answer is lost.
  sandbox.fail({ on: "event", act: true, with: { kind: "close-without-answer" } });
  const lost = await stack.up();
  expect(lost.code, lost.output).not.toBe(0);
  expectNothingTwice(lost);
  expectNothingTwice(await stack.preview());
  expectNothingTwice(await stack.up());
  // Nothing declares it any longer.
  declare(stack, kind, { events: { z: "Z" } });
  const stopped = await stack.preview();
  expect(stopped.code, stopped.output).not.toBe(0);
  expectNothingTwice(stopped);
  declare(stack, kind, { events, window: 7 });
  // Each command is copied as it is printed; only the id is filled in.
  const listed = await runProcess("node", [command, "pending"], stack.programFolder, stack.environment);
  expect(listed.code, listed.output).toBe(1);
  const [there = "", notThere = "", ...more] = commandsIn(listed.output);
  expect([notThere.includes(" --not-created "), more]).toEqual([true, []]);
  const name = /look in the account for the ConversionEvent named "(\w)"/.exec(listed.output)?.[1];
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

it.each(["a set", "a catalog"] as const)("%s: one event is refused and one unresolved", async (kind) => {
  const sandbox = await withAdvertiser();
  const stack = await newStack("", { sandbox });
  const events = { a: "A", b: "B", c: "C", d: "D" };
  declare(stack, kind, { events, window: 7 });
  const preview = await stack.preview();
  expect(preview.code, preview.output).toBe(0);
  expectNothingTwice(preview);

  const refused = { success: false, errors: ["event_name is taken"] };
  sandbox.fail({ on: "event", with: { kind: "answer", status: 400, body: refused } });
  sandbox.fail({ on: "event", after: 2, act: true, with: { kind: "close-without-answer" } });
  // What was not sent in the second run of a catalog, since Pulumi stops at an unresolved resource, is sent by a later one.
  for (const [refusals, creates] of [
    [1, 4],
    [0, 5],
  ] as const) {
    const up = await stack.up("--continue-on-error");
    const report = reportIn(up.output);
    expect(up.code, up.output).not.toBe(0);
    expectNothingTwice(up);
    expect(report.match(/was refused with status 400/g) ?? [], report).toHaveLength(refusals);
    expect(commandsIn(report).map((line) => line.split(" ")[3])).toEqual(["--created", "--not-created"]);
    expect(sandbox.creates).toBeLessThanOrEqual(creates);
  }
  expect(sandbox.creates).toBeGreaterThan(kind === "a set" ? 4 : 3);
  const names = sandbox.events.map(({ event_name }) => event_name);
  expect(new Set(names).size, String(names)).toBe(names.length);
});
