/**
 * Rows of the table of faults, through a real `pulumi up`: what the engine gets and saves. How many
 * bytes went where is the matter of the client's own test of the same name.
 */
import { describe, expect, it } from "vitest";
import type { FaultRule, Sandbox } from "../../provider/src/sandbox/index.js";
import { newStack, program, type TestStack, useSandbox } from "../support/stack.js";
import { halfBody } from "../support/wire-faults.js";

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

const advertiser1 = {
  advertisers: [{ id: 1, advertiser_name: "A", active: true }],
  events: [],
};

describe("an unknown outcome", () => {
  type Case = readonly [
    row: string,
    fault: FaultRule["with"],
    told: RegExp,
    acted?: boolean,
  ];
  const casesOf = (elsewhere: string): Case[] => [
    ["a reset before it was carried out", { kind: "reset" }, /failed after sending/],
    [
      "read, and closed without an answer",
      { kind: "close-without-answer" },
      /failed after sending/,
      true,
    ],
    [
      "no answer",
      { kind: "no-answer" },
      /within 6 s \(advertising:requestTimeoutSeconds\)/,
      true,
    ],
    ["half a body", halfBody, /status 200\): its body is incomplete/, true],
    [
      "307 to another origin",
      { kind: "answer", status: 307, headers: { location: `${elsewhere}/rest/event` } },
      /got an unusable response \(status 307\): its status doesn't show the outcome/,
    ],
    [
      "500",
      { kind: "answer", status: 500, body: { message: "internal" } },
      /\(status 500\): its status.*internal/,
      true,
    ],
    [
      "no id",
      { kind: "answer", status: 200, body: { success: true } },
      /\(status 200\): it isn't clearly about one new object/,
      true,
    ],
  ];

  it("of each kind in one program: one POST, saved as unresolved; of a refused one nothing is saved", async () => {
    const sandbox = await useSandbox({ authMode: "basic", objects: advertiser1 });
    const elsewhere = await useSandbox();
    const cases = casesOf(elsewhere.url);
    for (const [, fault, , acted = false] of cases)
      sandbox.fail({ on: "event", act: acted, with: fault });
    const rude = { errors: [{ field: "event_name", message: "is rude" }] };
    sandbox.fail({ on: "event", with: { kind: "answer", status: 422, body: rude } });
    const stack = await newStack(eventsOf1(cases.length + 2), {
      sandbox,
      config: {
        "advertising:authMode": "basic",
        "advertising:requestTimeoutSeconds": TIMEOUT_SECONDS,
      },
    });
    const { code, output } = await stack.up("--continue-on-error", "--parallel", "32");
    expect(code).not.toBe(0);
    expect(output).not.toMatch(STACK_TRACE);
    expect(output).toMatch(/was sent at 20\d\d-/);
    expect(output).toContain("existingId");
    expect(sandbox.eventPosts).toBe(cases.length + 2);
    expect(elsewhere).toMatchObject({ requests: [] });

    // The faults strike in the order of arrival, which the requests were logged in.
    const struck = namesByArrival(sandbox);
    const saved = await unresolvedOf(stack);
    expect(Object.keys(saved).sort()).toEqual(struck.slice(0, cases.length).sort());
    for (const [index, [row, , told, acted = false]] of cases.entries()) {
      const name = String(struck[index]);
      expect.soft(saved[name]?.id, row).toMatch(/^unresolved-/);
      expect.soft(saved[name]?.what, row).toMatch(told);
      expect
        .soft(saved[name]?.initErrors?.join(), row)
        .toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
      expect
        .soft(output, row)
        .toMatch(new RegExp(`pending --not-created '${name.toLowerCase()}'`));
      expect
        .soft(
          sandbox.events.filter((event) => event.event_name === name),
          row,
        )
        .toHaveLength(acted ? 1 : 0);
    }

    const refused = String(struck[cases.length]);
    const line = output
      .split("\n")
      .find((text) => text.includes(`ConversionEvent "${refused.toLowerCase()}": POST`));
    expect(line).toMatch(/status 422: .*event_name.*is rude.*Nothing was created\./);
    expect(await stack.resources()).toHaveLength(cases.length + 1);
  });

  /** Which event came when. */
  function namesByArrival({ requests }: Sandbox): string[] {
    return requests.map(({ body }) => (body as { readonly event_name: string }).event_name);
  }

  /** The unresolved resources in the exported state, by their events' names. */
  async function unresolvedOf(stack: TestStack) {
    const unresolved = (await stack.resources()).flatMap(
      ({ id, inputs, outputs, initErrors }) => {
        const mark = outputs?.unresolved as { what: string } | undefined;
        return mark === undefined
          ? []
          : [[String(inputs?.eventName), { id, what: mark.what, initErrors }] as const];
      },
    );
    return Object.fromEntries(unresolved);
  }
});
