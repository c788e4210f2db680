/** The single error of a program: what it says of mistakes that many make. */
import * as pulumi from "@pulumi/pulumi";
import { expect, it } from "vitest";
import { saidOnce } from "../../provider/src/base/index.js";
import { describeAlike } from "../../provider/src/catalog/written.js";
import {
  conversionEvent,
  conversionEventSet,
} from "../../provider/src/kinds/event-kind.js";
import { type Declaration, declare } from "../../provider/src/program/declaration.js";
import { programError } from "../../provider/src/program/program.js";
import { catalogFindings } from "../support/catalogs.js";
import { READ, settingsOf } from "../support/settings.js";

await pulumi.runtime.setMocks({
  newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  call: ({ inputs }) => inputs,
});

const upTo = (amount: number) => Array.from({ length: amount }, (_, index) => index + 1);

const event = (name: string, args: object) =>
  declare(
    {
      kind: conversionEvent,
      name,
      args: { eventName: name, advertiserId: 7, ...args },
      options: {},
    },
    settingsOf(),
  );

function judged(...declarations: readonly Declaration[]) {
  const { message } = programError(READ, declarations, "Nothing was sent.");
  return message.split("\n");
}

it.each([
  [1, ""],
  [2, " (the same in 2)"],
  [4, " (the same in 2, 3 and 4)"],
  [50, " (the same in 2, 3, 4 and 46 more)"],
])("a mistake that %i make is said once, whatever the values", (amount, others) => {
  const items = upTo(amount).map((each) => ({
    name: `${each}`,
    reason: `got "${each}", ${each}`,
  }));
  const said = (all: typeof items) =>
    saidOnce(
      all,
      ({ name, reason }) => `${name} ${reason}`,
      ({ name }) => name,
      ({ reason }) => reason,
    );
  expect(said(items)).toEqual([`1 got "1", 1${others}`]);
  expect(said([...items, { name: "x", reason: "is absent" }])).toEqual([
    `1 got "1", 1${others}`,
    "x is absent",
  ]);
});

it.each([
  [2, []],
  [3000, ["  and 2900 more"]],
])(
  "in %i events of a program it has a section each, of many the first 100",
  (amount, more) => {
    const wrong = upTo(amount).map((each) => event(`e${each}`, { value: `${each},5` }));
    const sections = upTo(Math.min(amount, 100)).flatMap((each) => [
      `  ConversionEvent "e${each}":`,
      `    value expected a finite number; got the string "${each},5"`,
    ]);
    const all = [`${amount} problems. Nothing was sent.`, ...sections, ...more].join("\n");
    expect(judged(...wrong).join("\n")).toBe(
      `${all} (node_modules/pulumi-advertising/docs/messages.md#advertising_arguments) [ADVERTISING_ARGUMENTS]`,
    );
  },
);

it("in events of a set it is one line", () => {
  const wrong = upTo(50).map((each): [string, object] => [
    `e${each}`,
    { eventName: "E", value: `${each},5` },
  ]);
  const args = {
    advertiserId: 7,
    events: { ...Object.fromEntries(wrong), other: { eventName: "", value: 1 } },
  };
  expect(
    judged(
      declare(
        { kind: conversionEventSet, name: "funnel", args, options: {} },
        settingsOf(),
      ),
    ),
  ).toEqual([
    "2 problems. Nothing was sent.",
    '  ConversionEventSet "funnel":',
    '    events["e1"].value expected a finite number; got the string "1,5" (the same in events["e2"].value, events["e3"].value, events["e4"].value and 46 more)',
    expect.stringMatching(
      /^ {4}events\["other"\]\.eventName expected a string .*; got the string "" \(node_modules.pulumi-advertising.docs/,
    ),
  ]);
});

it("in rows of a catalog it is one line, with the first places", () => {
  const rows = upTo(50).map((each) => `e${each};acme;E${each};${each}%`);
  const text = ["key;advertiser;eventName;value", ...rows, "x;acme;;1", ""].join("\n");
  expect(describeAlike(catalogFindings("c.csv", text))).toEqual([
    expect.stringMatching(
      /^c\.csv:2 acme\/e1: value .* \(the same in "acme\/e2" at c\.csv:3, "acme\/e3" at c\.csv:4, "acme\/e4" at c\.csv:5 and 46 more\)$/,
    ),
    expect.stringMatching(/^c\.csv:52 acme\/x: eventName is required/),
  ]);
});

it("texts that are wrong in different ways have a line each", () => {
  const keys = ["a/b", "12", "cc/dd", "3456"];
  const advertisers = keys.map((key) => `  ${key}: { advertiserName: N${key} }`);
  const text = ["advertisers:", ...advertisers, ""].join("\n");
  expect(describeAlike(catalogFindings("c.yaml", text))).toEqual([
    expect.stringMatching(/got the string "a\/b" \(the same in "cc\/dd" at c\.yaml:4:3\)$/),
    expect.stringMatching(/got the string "12" \(the same in "3456" at c\.yaml:5:3\)$/),
  ]);
});
