/** Each kind of resource, and each of its arguments, is known wherever it must be: what no compiler can name. */
import { describe, expect, it, vi } from "vitest";
import { readCsvEvents } from "../../provider/src/catalog/csv-catalog.js";
import * as handlers from "../../provider/src/handlers.js";
import * as publicNames from "../../provider/src/index.js";
import {
  conversionEvent,
  KINDS,
  type KindName,
  type kindsByName,
  providerReference,
  SETS,
} from "../../provider/src/kinds/index.js";
import type {
  AdvertiserArgs,
  ConversionEventArgs,
} from "../../provider/src/program/resources.js";
import type { Noun } from "../../provider/src/sandbox/options.js";
import { FIELDS, routeOf } from "../../provider/src/sandbox/platform.js";
import { LIMITS } from "../support/catalogs.js";
import { page } from "../support/pages.js";

/** The compiler says which argument a program can't give, or can't read. */
const OTHERS = ["existingId", "additionalFields", "deletionPolicy"];

const declared: {
  readonly [Name in KindName]: readonly Record<
    keyof (typeof kindsByName)[Name]["wireNames"],
    unknown
  >[];
} = {
  Advertiser: [{} as Required<AdvertiserArgs>, {} as publicNames.Advertiser],
  ConversionEvent: [{} as Required<ConversionEventArgs>, {} as publicNames.ConversionEvent],
};

const reference = page("docs/reference.md").text;

/** The part of the reference page about a resource, or about what all resources have. */
function sectionOf(title: string): string {
  const [, section = ""] = reference.split(`\n## ${title}\n`);
  return section.split("\n## ", 1)[0] ?? "";
}

describe.each([...KINDS, ...SETS].map(({ name }) => name))("%s", (name) => {
  it("has a class and a provider", () => {
    expect(Object.keys(publicNames)).toContain(name);
    expect(Object.keys(handlers)).toContain(providerReference(name).split(".").at(-1));
  });

  it("has a section of the reference page", () => {
    expect(sectionOf(`\`${name}\``)).not.toBe("");
  });
});

describe.each(KINDS.map((kind) => [kind.name, kind] as const))(
  "each wire name of %s",
  (name, kind) => {
    const { wireNames, noun, owner } = kind;

    it("has a rule, and each rule a wire name", () => {
      const rules = Object.keys(kind.rules(LIMITS).shape);
      expect(rules.toSorted()).toEqual([...Object.keys(wireNames), ...OTHERS].toSorted());
    });

    it("is known to the sandbox", () => {
      expect(routeOf("POST", `/rest/${noun}`, false)).toMatchObject({
        operation: noun,
      });
      const known = Object.keys(FIELDS[noun as Noun].shape);
      expect(known).toEqual(expect.arrayContaining(Object.values(wireNames)));
    });

    it("stands on the reference page", () => {
      const section = sectionOf(`\`${name}\``);
      const missing = Object.entries(wireNames).flat();
      expect(missing.filter((each) => !section.includes(`\`${each}\``))).toEqual([]);
    });

    it("has an owner among them, if any", () => {
      expect([undefined, ...Object.keys(wireNames)]).toContain(owner);
      if (owner !== undefined) expect(kind.identifyingProperties).toContain(owner);
      if (owner !== undefined) expect(kind.idArguments).toContain(owner);
      expect(kind.ownerKind === undefined).toBe(owner === undefined);
    });

    it("has a rule, if it holds an id", () => {
      const rules = Object.keys(kind.rules(LIMITS).shape);
      expect(rules).toEqual(expect.arrayContaining([...kind.idArguments]));
    });
  },
);

it("a program can give each argument, and read it: the compiler says which one it can't", () => {
  expect(Object.keys(declared)).toEqual(KINDS.map(({ name }) => name));
});

it("each wire name of an event is a column of a CSV file", () => {
  const columns = Object.values(conversionEvent.wireNames);
  const report = vi.fn();
  readCsvEvents(`${["key", ...columns].join()}\na\n`, "c.csv", report);
  expect(report).not.toHaveBeenCalled();
});
