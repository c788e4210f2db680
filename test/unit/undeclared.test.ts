/** What is declared no longer, as the program's half tells it before anything is registered. */
import { describe, expect, it } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { Declarations, type DeclaredHere } from "../../provider/src/program/declarations.js";
import type { History } from "../../provider/src/program/history.js";
import { removalWarnings, undeclaredIn } from "../../provider/src/program/undeclared.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import { memberOf } from "../../provider/src/state/identity.js";
import { settingsOf } from "../support/settings.js";

const keyOf = (name: string, kind = "ConversionEvent") => `${kind}::organization/shop/dev::${name}`;

const declared = (name: string, platformName: unknown, more: Partial<DeclaredHere> = {}): DeclaredHere => ({
  kind: conversionEvent,
  name,
  parentTypes: undefined,
  key: keyOf(name, more.kind?.name),
  platformName,
  existingId: undefined,
  isRead: false,
  hasKnownMembers: false,
  formerly: [],
  ...more,
});

function declarationsOf(...all: DeclaredHere[]): Declarations {
  const declarations = new Declarations();
  for (const each of all) declarations.add(each);
  return declarations;
}

const historyOf = (live: Readonly<Record<string, string>>, open: History["open"] = []): History => ({
  live: new Map(
    Object.entries(live).map(([name, eventName], index) => [
      keyOf(name),
      { id: String(index + 1), fingerprint: "f", name: eventName },
    ]),
  ),
  open,
});

const unresolved = {
  mark: "m",
  key: keyOf("old"),
  fingerprint: "f",
  at: "2026-01-01T00:00:00.000Z",
  field: "alternative_id",
  name: "Signup",
  told: true,
} as const;

const look = (history: History, ...all: DeclaredHere[]) => undeclaredIn(history, declarationsOf(...all));

it("what is adopted is told as one text, by kind, and anew when more is declared", () => {
  const declarations = declarationsOf(
    declared("one", "One", { existingId: 7 }),
    declared("two", "Two", { existingId: "8" }),
    declared("acme", "Acme", { existingId: 9, kind: advertiser }),
    declared("later", "Later", { existingId: Promise.resolve(1) }),
  );
  expect(declarations.adoptedOf("ConversionEvent")).toBe("7 8");
  expect(declarations.adoptedOf("Advertiser")).toBe("9");
  declarations.add(declared("three", "Three", { existingId: 10 }));
  expect(declarations.adoptedOf("ConversionEvent")).toBe("7 8 10");
  expect(declarations.adoptedOf("Advertiser")).toBe("9");
});

describe("a live object", () => {
  const history = historyOf({ old: "Signup" });

  it.each<[string, DeclaredHere, string[]]>([
    ["a new resource of its name may be it", declared("new", "Signup"), [keyOf("old")]],
    ["one of another name is not", declared("new", "Other"), []],
    ["one of a name that is not known yet is not", declared("new", Promise.resolve("Signup")), []],
    ["one of another kind is not", declared("new", "Signup", { kind: advertiser }), []],
    ["one that only refers to something is not", declared("new", "Signup", { isRead: true }), []],
    ["one that adopts is not", declared("new", "Signup", { existingId: 99 }), []],
    [
      "one with an alias for it is known to be it",
      declared("new", "Signup", { formerly: [{ name: "old", parentTypes: undefined }] }),
      [],
    ],
  ])("%s", (_, resource, formerly) => {
    expect(look(history, resource).formerly.get(resource.key) ?? []).toEqual(formerly);
  });

  it("that is still declared has no heir, nor has one that earlier runs knew", () => {
    expect(look(history, declared("old", "Signup"), declared("new", "Signup")).formerly.size).toBe(0);
    const both = historyOf({ old: "Signup", known: "Signup" });
    expect(look(both, declared("known", "Signup")).formerly.size).toBe(0);
  });

  it("that leaves without an heir is warned of, each of the first twenty by name", () => {
    expect(removalWarnings(history, declarationsOf(declared("new", "Signup")), settingsOf())).toEqual([]);
    expect(removalWarnings(history, declarationsOf(), settingsOf())).toEqual([
      expect.stringContaining('ConversionEvent "old"'),
    ]);
    const many = historyOf(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`e${index}`, `E${index}`])));
    const warnings = removalWarnings(many, declarationsOf(declared("e3", "E3")), settingsOf());
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toMatch(/^4 more objects leave the state and stay live on the platform: \d+[^ ]*/);
  });

  it("that is deleted with its resource is told so, where a delete is known", () => {
    const gone = Array.from({ length: 22 }, (_, index) => [keyOf(`e${index}`), index + 1] as const);
    const deleted = new Map(gone.map(([key, id]) => [key, { id: String(id), fingerprint: "f", deletes: true }]));
    const operations = (setting: unknown) => ({ operations: operationsSchema.parse(setting) });
    const warningsWith = (setting: unknown) =>
      removalWarnings({ live: deleted, open: [] }, declarationsOf(), settingsOf(operations(setting)));
    const [first, ...more] = warningsWith({ event: { delete: "DELETE rest/event/{id}" } });
    expect(first).toBe(
      'ConversionEvent "e0" (1) is no longer declared, so it is deleted on the platform, as retainOnDelete: false says.',
    );
    expect(more.at(-1)).toBe("2 more objects leave the state and are deleted on the platform: 21–22.");
    expect(warningsWith(undefined)[0]).toContain("1 stays live on the platform");

    const member = (key: string) => `ConversionEventSet::organization/shop/dev::funnel["${key}"]`;
    const live = new Map(["a", "b"].map((key, id) => [member(key), { id: `${id}`, fingerprint: "f", deletes: true }]));
    const settings = settingsOf(operations({ event: { delete: "DELETE rest/event/{id}" } }));
    expect(removalWarnings({ live, open: [] }, declarationsOf(), settings)).toEqual([
      'ConversionEventSet "funnel" is no longer declared, so its 2 events are deleted on the platform, as retainOnDelete: false says: 0–1.',
    ]);
  });
});

describe("a create of unknown outcome", () => {
  const history = historyOf({}, [unresolved]);

  it("that is declared, or has moved with an alias, is not told here", () => {
    expect(look(history, declared("old", "Signup")).open).toEqual([]);
    const moved = declared("new", "Signup", { formerly: [{ name: "old", parentTypes: undefined }] });
    expect(look(history, moved).open).toEqual([]);
  });

  it("that is gone is told, with what to look for", () => {
    const [open, ...others] = look(history, declared("new", "Other")).open;
    expect(others).toEqual([]);
    expect(open).toMatchObject({
      isAboutToBeSent: false,
      title: 'ConversionEvent "old" is no longer declared, and the outcome of its create is unknown',
    });
    expect(open?.lines.join("\n")).toContain("alternative_id = m");
  });

  it("that a new resource would send again is told before, with the alias", () => {
    const [open] = look(history, declared("new", "Signup")).open;
    expect(open?.isAboutToBeSent).toBe(true);
    expect(open?.lines).toContainEqual(
      expect.stringContaining(
        'If ConversionEvent "new" is its new name or place, add { aliases: [{ name: "old" }] } to it.',
      ),
    );
  });

  it("that a resource of its name adopts is settled by that", () => {
    const adopter = declared("new", "Signup", { existingId: 99 });
    expect(look(history, adopter)).toEqual({
      open: [],
      formerly: new Map([[adopter.key, [keyOf("old")]]]),
      settled: new Set([keyOf("old")]),
    });
  });

  it("of a key that its set has no longer stops the run where a new key or resource would make it again", () => {
    const memberKey = (key: string) => memberOf(keyOf("funnel", "ConversionEventSet"), key);
    const { told: _, ...noted } = { ...unresolved, key: memberKey("a") };
    const set = declared("funnel", undefined, {
      key: keyOf("funnel", "ConversionEventSet"),
      hasKnownMembers: true,
    });
    const renamed = declared("funnel", "Signup", { key: memberKey("b") });
    for (const heir of [renamed, declared("single", "Signup")]) {
      for (const id of [undefined, "16"]) {
        const history = historyOf({}, [{ ...noted, ...(id === undefined ? {} : { id }) }]);
        expect(look(history, set, heir).open.map(({ isAboutToBeSent }) => isAboutToBeSent)).toEqual([true]);
      }
    }
    // Without an heir, or under its own key, it is the set's to tell.
    expect(look(historyOf({}, [noted]), set, declared("single", "Other")).open).toEqual([]);
    expect(look(historyOf({}, [noted]), set, declared("funnel", "Signup", { key: memberKey("a") })).open).toEqual([]);
  });

  it("left by a kill under the name before an alias stops the run: an alias renames just what the state holds", () => {
    const { told: _, ...noted } = unresolved;
    const killed = historyOf({}, [noted, { ...noted, mark: "m2", id: "5" }]);
    const formerly = [{ name: "old", parentTypes: undefined }];
    const { open } = look(killed, declared("new", "Signup", { formerly }));
    expect(open.map(({ title, isAboutToBeSent }) => [title, isAboutToBeSent])).toEqual([
      [
        'ConversionEvent "old" has a new name or place, and a run that was interrupted has left creates under the former one',
        true,
      ],
    ]);
    expect(look(killed, declared("new", "Signup", { formerly, existingId: 5 })).open).toEqual([]);
    expect(look(killed, declared("old", "Signup", { formerly })).open).toEqual([]);
  });

  it("left by a kill is the provider's to tell, unless a new resource would send it again", () => {
    const { told: _, ...noted } = unresolved;
    const killed = historyOf({}, [noted]);
    expect(look(killed).open).toEqual([]);
    expect(look(killed, declared("new", "Signup")).open).toHaveLength(1);
  });
});

it("an id, or a set's members, that the program does not know yet may be any object of the kind", () => {
  const set = `ConversionEventSet::organization/shop/dev::funnel`;
  const unknown = Promise.resolve(5);
  const ask = (...all: DeclaredHere[]) => declarationsOf(...all).adoptsUnknown("ConversionEvent", set);
  expect(ask(declared("a", "A"), declared("b", "B", { existingId: 5 }))).toBe(false);
  expect(ask(declared("a", "A", { existingId: unknown }))).toBe(true);
  expect(ask(declared("a", "A", { existingId: unknown, isRead: true }))).toBe(false);
  expect(ask(declared("a", "A", { existingId: unknown, kind: advertiser }))).toBe(false);
  // Its own members the provider knows.
  expect(ask(declared("funnel", undefined, { key: set }))).toBe(false);
  expect(ask(declared("funnel", "A", { key: memberOf(set, "a"), existingId: unknown }))).toBe(false);
  expect(ask(declared("other", undefined, { key: `${set}2` }))).toBe(true);
  expect(ask(declared("other", undefined, { key: `${set}2`, hasKnownMembers: true }))).toBe(false);
});
