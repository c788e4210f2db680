/** The single error of a program, and that a set, a catalog and a warning name a mistake once, however many make it. */
import * as pulumi from "@pulumi/pulumi";
import { describe, expect, it } from "vitest";
import { describeAlike } from "../../provider/src/catalog/written.js";
import { conversionEvent, conversionEventSet } from "../../provider/src/kinds/event-kind.js";
import { type Declaration, declare } from "../../provider/src/program/declaration.js";
import { programError } from "../../provider/src/program/findings.js";
import { Judge } from "../../provider/src/program/judge.js";
import { catalogFindings } from "../support/catalogs.js";
import { READ, settingsOf } from "../support/settings.js";

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

const upTo = (amount: number) => Array.from({ length: amount }, (_, index) => index + 1);

const event = (name: string, args: object) =>
  declare(
    { kind: conversionEvent, name, args: { eventName: name, advertiserId: 7, ...args }, options: {} },
    settingsOf(),
  );

function judged(...declarations: readonly Declaration[]) {
  const all = new Judge();
  for (const each of declarations) all.add(each);
  const { findings, warnings } = all.judge(declarations, new Map(), true);
  const { message } = programError(READ, findings, "nothing was sent");
  return { lines: message.split("\n"), warnings };
}

const inEvents = (...values: string[]) =>
  values.map((value, index) => `${value} in ConversionEvent "e${index + 2}"`).join(", ");

describe("a mistake of the same rule", () => {
  it.each([
    [2, []],
    [3000, ["  and problems of 2900 more"]],
  ])("in %i events of a program has a section each; of many the first ones", (amount, more) => {
    const { lines } = judged(...upTo(amount).map((each) => event(`e${each}`, { value: `${each},5` })));
    const sections = upTo(Math.min(amount, 100)).flatMap((each) => [
      `  ConversionEvent "e${each}":`,
      `    value expected a finite number; got the string "${each},5"`,
    ]);
    const expected = [`${amount} problems; nothing was sent.`, ...sections, ...more];
    expect(lines.join("\n")).toBe(
      `${expected.join("\n")} (docs/messages.md#advertising_arguments) [ADVERTISING_ARGUMENTS]`,
    );
  });

  it.each([
    [1, ""],
    [2, ' (also "2,5" in events["e2"].value)'],
    [50, ' (also "2,5" in events["e2"].value, "3,5" in events["e3"].value, "4,5" in events["e4"].value and 46 more)'],
  ])("in %i events of a set is one line", (amount, others) => {
    const wrong = upTo(amount).map((each): [string, object] => [`e${each}`, { eventName: "E", value: `${each},5` }]);
    const events = Object.fromEntries([...wrong, ["other", { eventName: "", value: 1 }]]);
    const set = declare(
      { kind: conversionEventSet, name: "funnel", args: { advertiserId: 7, events }, options: {} },
      settingsOf(),
    );
    expect(judged(set).lines).toEqual([
      `${amount + 1} problems; nothing was sent.`,
      '  ConversionEventSet "funnel":',
      `    events["e1"].value expected a finite number; got the string "1,5"${others}`,
      expect.stringMatching(
        /^ {4}events\["other"\]\.eventName expected a string .*; got the string "" \(docs\/messages\.md#advertising_arguments\) \[ADV/,
      ),
    ]);
  });

  it.each([
    [1, ""],
    [2, ' (also "2,5" in acme/e2 at 3:11)'],
    [50, ' (also "2,5" in acme/e2 at 3:11, "3,5" in acme/e3 at 4:11, "4,5" in acme/e4 at 5:11 and 46 more)'],
  ])("in %i rows of a catalog is one line, with the first places", (amount, others) => {
    const rows = upTo(amount).map((each) => `e${each};acme;E;${each},5`);
    const findings = catalogFindings("c.csv", ["key;advertiser;eventName;value", ...rows, "x;acme;;1", ""].join("\n"));
    expect(findings).toHaveLength(amount + 1);
    expect(describeAlike(findings)).toEqual([
      `c.csv:2:11 acme/e1: value expected a finite number; got the string "1,5"; write 1.5, with a decimal point${others}`,
      expect.stringMatching(/^c\.csv:\d+:\d+ acme\/x: eventName is required/),
    ]);
  });

  it.each([
    [1, ""],
    [2, ' (also 3 in ConversionEvent "e2")'],
    [50, ` (also ${inEvents("3", "4", "5")} and 46 more)`],
  ])("that is only likely one, in %i events, is one warning", (amount, others) => {
    const { warnings } = judged(...upTo(amount).map((each) => event(`e${each}`, { value: 1, clickWindow: each + 1 })));
    expect(warnings).toEqual([
      `ConversionEvent "e1": clickWindow is 2 seconds; windows are seconds here. If days were meant, write advertising.days(2)${others}`,
    ]);
  });

  it("names the other one of each that is there twice", () => {
    const described = (text: string) => describeAlike(catalogFindings("events.csv", text));
    const keys = ["A;acme", "b;Nord K", "a;acme", "B;Nord K", "c;acme", "C;acme"];
    expect(
      described(
        ["key;advertiser;eventName;value", ...keys.map((row, i) => `${row};E ${"uvwxyz"[i]};1`), ""].join("\n"),
      ),
    ).toEqual([
      'events.csv:4:1 acme/a: key "a" is already used at events.csv:2; keys of an advertiser\'s events must differ in more than case (also "B" is already used at events.csv:3 in Nord K/B at 5:1 and "C" is already used at events.csv:6 in acme/C at 7:1)',
    ]);
    const names = ["A 1", "A-1", "B 2", "B-2", "B_2"].map((name, index) => `k${index};acme;${name};1`);
    expect(described(["key;advertiser;eventName;value", ...names, ""].join("\n"))).toEqual([
      'events.csv:3:9 acme/k1: eventName "A-1" is also the name of "acme/k0", case and separators aside (also "B-2" is also the name of "acme/k2" in acme/k3 at 5:9 and "B_2" is also the name of "acme/k2" in acme/k4 at 6:9)',
    ]);
  });
});
