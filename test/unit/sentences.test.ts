/** The commands in messages: each on a line of its own, and ready to copy into a POSIX shell. */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { describeSettingProblem, readSettings } from "../../provider/src/settings/read-settings.js";
import { memberOf } from "../../provider/src/state/identity.js";
import {
  explain,
  forgetCommand,
  describe as inWords,
  reopenCommand,
  waysOut,
  whatIsOpen,
} from "../../provider/src/state/sentences.js";
import { commandsIn } from "../support/printed-commands.js";
import { filesIn, textIn } from "../support/retired-words.js";

const URN = "urn:pulumi:dev::shop::pulumi-nodejs:dynamic/advertising:ConversionEvent::";
const NAMES = ["purchase", "it's", 'a "b"', "a b", "$HOME `id` \\ !", "-x; rm y", memberOf("funnel", `it's "a" $b`)];

/** The words that a POSIX shell reads in a line. */
function wordsOf(line: string): string[] {
  const script = `npx() { printf '%s\\0' npx "$@"; }; pulumi() { printf '%s\\0' pulumi "$@"; }\n${line}`;
  return execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0").slice(0, -1);
}

describe("a command about a resource", () => {
  it.each(NAMES)("passes the name %s unchanged", (name) => {
    const urn = `${URN}${name}`;
    const record = { mark: "m", key: "k", fingerprint: "f", at: "2026-01-01T00:00:00.000Z", urn };
    const pending = (...args: string[]) => ["npx", "pulumi-advertising", "pending", ...args];
    const answers = [pending("--created", `${urn}=<its id>`), pending("--not-created", urn)];
    expect(commandsIn(explain("ConversionEvent", record)).map(wordsOf)).toEqual(answers);
    expect(commandsIn(whatIsOpen("ConversionEvent", record, urn, []).join("\n")).map(wordsOf)).toEqual(answers);
    const ofKnown = [pending("--created", `${urn}=7`), pending("--not-created", urn)];
    expect(commandsIn(explain("ConversionEvent", { ...record, createdAs: "7" })).map(wordsOf)).toEqual(ofKnown);
    const known = whatIsOpen("ConversionEvent", { ...record, id: "7" }, urn, []).join("\n");
    expect(commandsIn(known).map(wordsOf)).toEqual([pending("--forget", urn)]);
    expect([forgetCommand(urn), reopenCommand(urn)].map(wordsOf)).toEqual([
      pending("--forget", urn),
      pending("--reopen", urn),
    ]);
  });
});

describe("the commands that settle many", () => {
  const many = Array.from({ length: 3000 }, (_, at) => `k${at}`);
  const ofSet = many.map((key) => ({ urn: memberOf(`${URN}funnel`, key) }));
  const single = many.map((name) => ({ urn: `${URN}${name}` }));

  it.each([
    ["a set", ofSet, [20, 20, 1]],
    ["single resources", single, [20, 20]],
    ["known objects of a set", ofSet.map((each) => ({ ...each, id: "7" })), [20, 20]],
    ["as many as are listed", ofSet.slice(0, 20), [20, 20]],
  ])("of %s are about the first 20, and a set's own URN is about all that are left", (_, creates, amounts) => {
    const lines = waysOut(creates);
    const commands = commandsIn(lines.join("\n")).map((line) => wordsOf(line));
    const answered = commands.map((words) => words.filter((word) => word.startsWith("--")).length);
    expect(answered).toEqual(amounts);
    expect(lines.filter((line) => line === "  and 2980 more in the same way")).toHaveLength(
      creates.length > 20 ? 2 : 0,
    );
    if (amounts.length > 2) {
      expect(lines.at(-3)).toBe("Once what is there is settled, all others of funnel at once:");
      expect(commands.at(-1)).toEqual(["npx", "pulumi-advertising", "pending", "--not-created", `${URN}funnel`]);
    }
    expect(lines.join().length).toBeLessThan(10_000);
  });

  it("name existingId only for what the program declares", () => {
    const last = (...given: Parameters<typeof waysOut>) => waysOut(...given).at(-1);
    expect(last(single.slice(0, 1))).toBe(
      "Then run `pulumi up`. (If it is there, setting existingId to its id does the same.)",
    );
    expect(last(single.slice(0, 2), "perhaps declared")).toBe(
      "Then run `pulumi up`. (For those that are there and declared, setting existingId to their ids does the same.)",
    );
    expect(last(single.slice(0, 1), "not declared")).toBe("Then run `pulumi up`.");
  });
});

it.each([
  [{}, ", sent at 2026-01-01T00:00:00Z"],
  [{ isLatest: true } as const, ", sent at 2026-01-01T00:00:00Z or before"],
  [{ isEarliest: true } as const, ""],
])("R8: the message says when a create was sent as far as the record knows it: %j", (known, words) => {
  expect(inWords("Advertiser", { mark: "m", name: "A", at: "2026-01-01T00:00:00Z", ...known })).toBe(
    `the Advertiser named "A"${words}`,
  );
});

describe("a command about a setting", () => {
  it("is alone on its line, and has the right words", () => {
    const { problems } = readSettings({
      config: (key) => ({ operations: '{"event":{"raed":"GET rest/event/{id}"}}', markField: "a b" })[key],
      environment: {},
      keys: ["operations", "markField"],
      mayLackPassword: false,
    });
    expect(problems.length).toBeGreaterThan(4);
    for (const problem of problems) {
      const commands = commandsIn(describeSettingProblem(problem));
      expect(commands).toEqual([problem.command]);
      expect(wordsOf(commands[0] ?? "").slice(0, 2)).toEqual(["pulumi", "config"]);
    }
  });
});

it("no sentence of the package has a command in the middle of a line", () => {
  const calls = /npx pulumi-advertising|pulumi (?:config (?:set|rm)|state delete|refresh --clear)/;
  const inside = filesIn("provider/src/**/*.ts").flatMap((path) =>
    textIn(path)
      .split("\n")
      .filter((line) => !/^\s*(?:\*|\/\/|\/\*)|<code>/.test(line) && calls.test(line))
      // A text, or a line of one, that begins with the command.
      .filter((line) => !new RegExp(`(?:["\`']|\\\\n) *(?:${calls.source})`).test(line))
      .map((line) => `${path}: ${line.trim()}`),
  );
  expect(inside).toEqual([]);
});
