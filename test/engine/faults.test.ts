/**
 * Rows of the table of faults, through a real `pulumi up`: what the engine gets and saves, and what the next run does. How many
 * bytes went where is the matter of the client's own test of the same name.
 */
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Fault, Sandbox, SandboxRequest } from "../../provider/src/sandbox/index.js";
import { eventsProgram, newStack, program, type TestStack, useSandbox } from "../support/stack.js";

/** Time for every honest answer, also on a busy machine; those that never come take as long, all at once. */
const TIMEOUT_SECONDS = "6";

/** Of anybody's: ours are cut, and so are those that Pulumi makes with `--continue-on-error`. */
const STACK_TRACE = /^\s+at .*:\d+/m;

/** Events `e0`, `e1`, … of an advertiser that lives already: none waits for another one. */
const eventsOf1 = (count: number) =>
  program(`
for (let i = 0; i < ${count}; i++) {
  new advertising.ConversionEvent("e" + i, { eventName: "E" + i, advertiserId: 1, value: 1 });
}`);

const advertiser1 = { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] };

const eventsPosted = ({ requests }: Sandbox): string[] =>
  requests
    .filter(({ path }) => path.endsWith("/event"))
    .map(({ body }) => String((body as { event_name?: unknown }).event_name));

const failing = (count: number) => Array.from({ length: count }, (_, i) => `E${i}`);

describe("an unknown outcome", () => {
  type Case = readonly [row: string, fault: Fault, told: RegExp, acted?: boolean];
  const casesOf = (elsewhere: string): Case[] => [
    ["6: a reset before anything was read", { kind: "reset-before-read" }, /failed after sending/],
    ["7: read, and closed without an answer", { kind: "close-without-answer" }, /failed after sending/, true],
    ["9: no answer", { kind: "no-answer" }, /within 6 s \(advertising:requestTimeoutSeconds\)/, true],
    ["10: half a body", { kind: "half-body" }, /status 200, but its body is not whole/, true],
    [
      "19: 307 to another origin",
      { kind: "answer", status: 307, headers: { location: `${elsewhere}/rest/event` } },
      /got status 307, a redirect, which is never followed/,
    ],
    ["27: 500", { kind: "answer", status: 500, body: { message: "internal" } }, /got status 500.*internal/, true],
    ["30: no id", { kind: "answer", status: 200, body: { success: true } }, /status 200, but/, true],
  ];

  it("of each kind in one program: one POST, saved as unresolved, and nothing is sent again", async () => {
    const sandbox = await useSandbox({ authMode: "basic", objects: advertiser1 });
    const elsewhere = await useSandbox();
    const cases = casesOf(elsewhere.url);
    for (const [, fault, , acted = false] of cases) sandbox.fail({ on: "event", act: acted, with: fault });
    const stack = await newStack(eventsOf1(cases.length + 1), {
      sandbox,
      config: { "advertising:authMode": "basic", "advertising:requestTimeoutSeconds": TIMEOUT_SECONDS },
    });
    const { code, output } = await stack.up("--continue-on-error", "--parallel", "32");
    expect(code).not.toBe(0);
    expect(output).not.toMatch(STACK_TRACE);
    expect(output).toMatch(/was sent at 20\d\d-/);
    expect(output).toContain("existingId");
    expect(sandbox.eventPosts).toBe(cases.length + 1);
    expect(elsewhere).toMatchObject({ requests: [], maxOpenConnections: 0 });

    // The faults strike in the order of arrival, which the requests were logged in.
    const struck = namesByArrival(sandbox, cases.length + 1);
    const saved = await unresolvedOf(stack);
    expect(Object.keys(saved).sort()).toEqual(struck.slice(0, cases.length).sort());
    for (const [index, [row, , told, acted = false]] of cases.entries()) {
      const name = String(struck[index]);
      expect.soft(saved[name]?.id, row).toMatch(/^unresolved-/);
      expect.soft(saved[name]?.what, row).toMatch(told);
      expect.soft(saved[name]?.initErrors?.join(), row).toContain("outcome is unknown");
      expect.soft(output, row).toMatch(new RegExp(`pending --not-created '${name.toLowerCase()}'`));
      expect
        .soft(
          sandbox.events.filter((event) => event.event_name === name),
          row,
        )
        .toHaveLength(acted ? 1 : 0);
    }

    sandbox.resetCounts();
    const again = await stack.up("--continue-on-error");
    expect(again.code).not.toBe(0);
    expect(sandbox.requests).toEqual([]);
    expect(await unresolvedOf(stack)).toEqual(saved);
  });

  /** Which event came when. One whose request was never read is the one that is missing. */
  function namesByArrival({ requests }: Sandbox, events: number): string[] {
    const names = requests.map(({ body }: SandboxRequest) => (body as { event_name?: string } | undefined)?.event_name);
    const missing = failing(events).filter((name) => !names.includes(name));
    expect(missing).toHaveLength(1);
    return names.map((name) => name ?? String(missing[0]));
  }

  /** The unresolved resources in the exported state, by their events' names. */
  async function unresolvedOf(stack: TestStack) {
    const unresolved = (await stack.resources()).flatMap(({ id, inputs, outputs, initErrors }) => {
      const mark = outputs?.unresolved as { what: string } | undefined;
      return mark === undefined ? [] : [[String(inputs?.eventName), { id, what: mark.what, initErrors }] as const];
    });
    return Object.fromEntries(unresolved);
  }
});

describe("nothing is created, and nothing is in the state", () => {
  const refusals: [row: string, status: number, body: unknown, told: RegExp][] = [
    ["20", 422, { errors: [{ field: "event_name", message: "is rude" }] }, /status 422: .*event_name.*is rude/],
    ["22", 405, { message: "not here" }, /status 405: not here.*Check advertising:baseUrl/],
  ];

  it("rows 20 to 23: each refusal in one program, one POST each, with the platform's words", async () => {
    const sandbox = await useSandbox({ objects: advertiser1 });
    for (const [, status, body] of refusals) sandbox.fail({ on: "event", with: { kind: "answer", status, body } });
    const stack = await newStack(eventsOf1(refusals.length), { sandbox });
    const { code, output } = await stack.up("--continue-on-error");
    expect(code).not.toBe(0);
    expect(output).not.toMatch(STACK_TRACE);
    expect(sandbox).toMatchObject({ logins: 1, eventPosts: refusals.length, events: [] });
    const struck = eventsPosted(sandbox);
    for (const [index, [row, , , told]] of refusals.entries()) {
      const name = String(struck[index]).toLowerCase();
      const line = output.split("\n").find((text) => text.includes(`ConversionEvent "${name}": POST`));
      expect.soft(line, `row ${row}`).toMatch(told);
      expect.soft(line, `row ${row}`).toContain("Nothing was created.");
    }
    expect(await stack.resources()).toEqual([]);

    expect((await stack.up()).code).toBe(0);
    expect(eventsPosted(sandbox).slice(refusals.length).sort()).toEqual(failing(refusals.length));
  });
});

describe("row 63: a preview", () => {
  /** Every file below the folder, with what shows that it was written. */
  const filesIn = (folder: string) =>
    existsSync(folder)
      ? readdirSync(folder, { recursive: true, encoding: "utf8" })
          .sort()
          .map((name) => {
            const { mtimeMs, ino, size, mode } = statSync(join(folder, name));
            return { name, mtimeMs, ino, size, mode };
          })
      : [];

  it("writes no file and sends nothing, neither on a cold machine nor on a warm one", async () => {
    const sandbox = await useSandbox();
    const stack = await newStack(eventsProgram(2), { sandbox });
    expect((await stack.preview()).output).toContain("4 to create");
    expect(filesIn(stack.cache)).toEqual([]);
    expect(sandbox).toMatchObject({ requests: [], maxOpenConnections: 0 });

    expect((await stack.up()).code).toBe(0);
    const warm = filesIn(stack.cache);
    expect(warm.map(({ name }) => name)).toContainEqual(expect.stringMatching(/session-\w+\.json$/));
    sandbox.resetCounts();
    stack.program(eventsProgram(3, 2));
    const { output } = await stack.preview();
    expect(output).toContain("1 to create");
    expect(output).toContain("2 to replace");
    expect(filesIn(stack.cache)).toEqual(warm);
    expect(sandbox.requests).toEqual([]);
  });
});
