/** Sentences that the halves and the command share, whole; each command alone on its line, ready for a POSIX shell. */
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { describe, expect, it } from "vitest";
import { conversionEvent } from "../../provider/src/kinds/index.js";
import {
  describe as inWords,
  resolveCommands,
  staysLive,
  whatHappened,
} from "../../provider/src/state/index.js";
import { commandsIn } from "../support/printed-commands.js";

const AT = "2026-01-01T00:00:00.000Z";
const record = {
  at: AT,
  mark: "m",
  body: "f",
  what: "It was sent, and the connection ended.",
};
const args = { advertiserId: 7, value: 1 };
/** The words that a POSIX shell reads in a line. */
function wordsOf(line: string): string[] {
  const script = `npx() { printf '%s\\0' npx "$@"; }; pulumi() { printf '%s\\0' pulumi "$@"; }\n${line}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

it.each([
  [{}, `the ConversionEvent, sent at ${AT}`],
  [{ at: "" }, "the ConversionEvent"],
  [
    { name: "A\nB", args },
    `the ConversionEvent named "A B" (advertiserId 7, value 1), sent at ${AT}`,
  ],
  [
    { field: "alternative_id", replaces: "5" },
    `the ConversionEvent, sent at ${AT}, alternative_id = m (not 5, the object that it replaces)`,
  ],
])("what to look for: %j", (more, words) => {
  expect(inWords("ConversionEvent", { ...record, ...more })).toBe(words);
});

describe("the ways out", () => {
  it("of one create", () => {
    expect(resolveCommands([{ shownName: "purchase" }])).toEqual([
      "If it is in the account:",
      "  npx pulumi-advertising pending --created 'purchase=<its id>'",
      "If it is not in the account:",
      "  npx pulumi-advertising pending --not-created 'purchase'",
      expect.stringMatching(/^Then run `pulumi up`\..* existingId: <its id> /),
    ]);
  });

  it("of thousands name the first ones", () => {
    const lines = resolveCommands(
      Array.from({ length: 3000 }, (_, at) => ({ shownName: `k${at}` })),
    );
    const commands = commandsIn(lines.join("\n"));
    expect(commands.map((line) => line.match(/--/g)?.length)).toEqual([20, 20, undefined]);
    expect(commands.at(-1)).toBe("npx pulumi-advertising pending");
    expect(lines.filter((line) => !line.startsWith("  "))).toEqual([
      "For those that are in the account:",
      "For those that are not in the account:",
      "Then, for 2980 more:",
      expect.stringMatching(/^Then run `pulumi up`\..* existingId: <its id> /),
    ]);
  });

  it.each([
    "purchase",
    "it's",
    'a "b"',
    "a b",
    "$HOME `id` \\ !",
    "-x; rm y",
    "--created",
    'funnel/it\'s "a" $b',
  ])("pass the name %s unchanged", (name) => {
    const printed = commandsIn(resolveCommands([{ shownName: name }]).join("\n"));
    const answers = printed.map((line) => {
      const [npx, command, pending, ...args] = wordsOf(line);
      expect([npx, command, pending]).toEqual(["npx", "pulumi-advertising", "pending"]);
      const options = {
        created: { type: "string" },
        "not-created": { type: "string" },
      } as const;
      return { ...parseArgs({ args, options }).values };
    });
    expect(answers).toEqual([{ created: `${name}=<its id>` }, { "not-created": name }]);
  });
});

it("what this machine knows of a create", () => {
  expect(whatHappened("X", { at: AT })).toBe(
    `X: an earlier run sent it at ${AT}, and its outcome is unknown.`,
  );
  expect(whatHappened("X", { at: AT, id: "5" })).toBe("X: an earlier run created it as 5.");
});

it("what becomes of an object", () => {
  expect(staysLive(conversionEvent, "5")).toMatch(
    /^5 stays live and unmanaged, .*tags.*; .*by hand$/,
  );
});
