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
])("a mistake that %i make is said once", (amount, others) => {
  const items = upTo(amount).map((each) => ({
    name: `${each}`,
    reason: `events["${each}"] got "x", 5`,
  }));
  const said = (all: typeof items) =>
    saidOnce(
      all,
      ({ name, reason }) => `${name} ${reason}`,
      ({ name }) => name,
      ({ reason }) => reason,
    );
  expect(said(items)).toEqual([`1 events["1"] got "x", 5${others}`]);
  expect(said([...items, { name: "x", reason: "is absent" }])).toEqual([
    `1 events["1"] got "x", 5${others}`,
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

it("in events of a set it is one line, if the value is the same", () => {
  const wrong = upTo(50).map((each): [string, object] => [
    `e${each}`,
    { eventName: "E", value: each === 7 ? "8,5" : "1,5" },
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
    "3 problems. Nothing was sent.",
    '  ConversionEventSet "funnel":',
    '    events["e1"].value expected a finite number; got the string "1,5" (the same in events["e2"].value, events["e3"].value, events["e4"].value and 45 more)',
    '    events["e7"].value expected a finite number; got the string "8,5"',
    expect.stringMatching(
      /^ {4}events\["other"\]\.eventName expected a string .*; got the string "" \(node_modules.pulumi-advertising.docs/,
    ),
  ]);
});

it("in thousands of events of a set, each with another value, it has a line for the first", () => {
  const wrong = upTo(3000).map((each) => [
    `e${each}`,
    { eventName: "E", value: `${each},5` },
  ]);
  const args = { advertiserId: 7, events: Object.fromEntries(wrong) };
  const set = { kind: conversionEventSet, name: "funnel", args, options: {} };
  const lines = judged(declare(set, settingsOf()));
  expect(lines[0]).toBe("3000 problems. Nothing was sent.");
  expect(lines).toHaveLength(2 + 100 + 1);
  expect(lines.at(-1)).toMatch(/^ {4}and 2900 more \(/);
});

it("in rows of a catalog it is one line, with the first places", () => {
  const rows = upTo(50).map((each) => `e${each};acme;E${each};n/a`);
  const text = ["key;advertiser;eventName;value", ...rows, "x;acme;;1", ""].join("\n");
  expect(describeAlike(catalogFindings("c.csv", text))).toEqual([
    expect.stringMatching(
      /^c\.csv:2 acme\/e1: value .* \(the same in "acme\/e2" at c\.csv:3, "acme\/e3" at c\.csv:4, "acme\/e4" at c\.csv:5 and 46 more\)$/,
    ),
    expect.stringMatching(/^c\.csv:52 acme\/x: eventName is required/),
  ]);
});

it("cells with another value, suggestion or first place have a line each", () => {
  const rows = [
    "a;x;A;1.000,5;;8001.0",
    "b;x;B;2.000,5;LandingPgae;8002.0",
    "c;x;C;1.234;Purchas;9",
    "d;x;D;2.345;LandingPgae;8001.0",
    "a;x;E;1;;",
    "b;x;F;1;;",
    "a;x;G;1;;",
  ];
  const text = ["key;advertiser;eventName;value;eventTypeId;existingId", ...rows].join(
    "\n",
  );
  const lines = describeAlike(catalogFindings("c.csv", text)).map((line) =>
    line.replace(/ expected .*?; got /, " ").replace(/; keys must .*? details/, ""),
  );
  expect(lines).toEqual([
    'c.csv:2 x/a: value "1.000,5": write 1000,5',
    'c.csv:2 x/a: existingId the string "8001.0"; write 8001 (the same in "x/d" at c.csv:5)',
    'c.csv:3 x/b: value "2.000,5": write 2000,5',
    'c.csv:3 x/b: eventTypeId the string "LandingPgae"; did you mean LandingPage? (the same in "x/d" at c.csv:5)',
    'c.csv:3 x/b: existingId the string "8002.0"; write 8002',
    'c.csv:4 x/c: value "1.234", which may mean thousands or decimals: write 1234 or 1.2340',
    'c.csv:4 x/c: eventTypeId the string "Purchas"; did you mean Purchase?',
    'c.csv:5 x/d: value "2.345", which may mean thousands or decimals: write 2345 or 2.3450',
    'c.csv:6 x/a: key "a" is already used at c.csv:2 (the same in "x/a" at c.csv:8)',
    'c.csv:7 x/b: key "b" is already used at c.csv:3',
  ]);
});

it("bad keys are all shown", () => {
  const keys = ["a/b", "12", "cc/dd"];
  const advertisers = keys.map((key) => `  ${key}: { advertiserName: N${key} }`);
  const text = ["advertisers:", ...advertisers, ""].join("\n");
  expect(describeAlike(catalogFindings("c.yaml", text))).toEqual(
    keys.map((key) => expect.stringMatching(new RegExp(`got the string "${key}"$`))),
  );
});

it("findings that are about no object are named by their places", () => {
  const names = Array(6).fill("  a: { advertiserName: A }");
  const findings = catalogFindings("c.yaml", ["advertisers:", ...names].join("\n"));
  expect(describeAlike(findings)).toEqual([
    'c.yaml:3:3 "a" is already used at c.yaml:2:3 (the same in c.yaml:4:3, c.yaml:5:3, c.yaml:6:3 and 1 more)',
  ]);
});
