/** Rules are made once for an installation, however often they are asked for. */
import { expect, it } from "vitest";
import {
  advertiser,
  conversionEvent,
  conversionEventSet,
  differencesIn,
} from "../../provider/src/kinds/index.js";
import { addressOf, fingerprintOfBody } from "../../provider/src/kinds/kind.js";

const kinds = [advertiser, conversionEvent, conversionEventSet];

it.each(kinds.map((kind) => [kind.name, kind] as const))(
  "%s makes its rules once for the same settings",
  (_, kind) => {
    const limits = { maxWindowSeconds: 3600, markField: "alternative_id" };
    expect(kind.rules(limits)).toBe(kind.rules(limits));
    const others = [
      kind.rules({ ...limits, maxWindowSeconds: 7200 }),
      kind.rules({ ...limits, markField: undefined }),
    ];
    for (const other of others) expect(other).not.toBe(kind.rules(limits));
  },
);

it("an operation's address has its query, with percent-encoded values", () => {
  const search = {
    ...conversionEvent.create,
    method: "GET",
    path: "rest/event?alternative_id={mark}",
  } as const;
  expect(addressOf(search, "https://x.example/api", { mark: "a/b&c=ä" }).href).toBe(
    "https://x.example/api/rest/event?alternative_id=a%2Fb%26c%3D%C3%A4",
  );
  expect(
    addressOf({ ...search, path: "rest/event/{id}" }, "https://x.example", { id: "../7?x" })
      .href,
  ).toBe("https://x.example/rest/event/..%2F7%3Fx");
  expect(addressOf(advertiser.create, "https://x.example").href).toBe(
    "https://x.example/rest/advertiser",
  );
});

it("a fingerprint does not depend on the order of fields, at any depth, and on nothing less than all of them", () => {
  const fingerprintOf = (additionalFields: object) =>
    fingerprintOfBody(conversionEvent, { additionalFields });
  const made = fingerprintOf({ a: 1, deep: { x: [1, { p: 1, q: 2 }], y: 2 } });
  expect(fingerprintOf({ deep: { y: 2, x: [1, { q: 2, p: 1 }] }, a: 1 })).toBe(made);
  for (const x of [
    [{ p: 1, q: 2 }, 1],
    [1, { p: 1, q: "2" }],
    [1, { p: 1 }],
  ])
    expect(fingerprintOf({ a: 1, deep: { x, y: 2 } })).not.toBe(made);
});

it.each([
  ["100.00", "1", { value: 100, countUnique: true }],
  ["100", 0, { value: 100, countUnique: false }],
  [100, "false", { value: 100, countUnique: false }],
  ["99.5", 1, { value: 99.5, countUnique: true }],
])(
  "a platform's value %j and count_unique %j are ours if they mean the same",
  (value, count_unique, ours) => {
    const limits = { maxWindowSeconds: 3600, markField: undefined };
    const differences = (values: object) =>
      Object.entries(
        differencesIn(conversionEvent, limits, { ...values }, { value, count_unique }),
      );
    expect(differences(ours)).toEqual([]);
    const others = { value: ours.value + 1, countUnique: !ours.countUnique };
    expect(differences(others)).toEqual(Object.entries(ours));
  },
);
