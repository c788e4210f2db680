/** Problems that only show in the program as a whole: between its resources, and in what it no longer declares. */
import { describe, expect, it } from "vitest";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { judge, judgeRemovals } from "../../provider/src/program/batch.js";
import { type Declaration, type DeclaredObject, LATER } from "../../provider/src/program/declaration.js";
import { Declared } from "../../provider/src/program/declared.js";
import { type Finding, programError } from "../../provider/src/program/findings.js";
import { ANY } from "../../provider/src/program/place.js";
import { operationsSchema } from "../../provider/src/settings/operations-setting.js";
import type { Settings } from "../../provider/src/settings/settings.js";
import { labelOf, memberOf } from "../../provider/src/state/identity.js";
import type { Snapshot } from "../../provider/src/store/notes.js";
import { READ, settingsOf } from "../support/settings.js";

const keyOf = (name: string, kind = "ConversionEvent") => `${kind}::organization/shop/dev::${name}`;
const setKey = keyOf("funnel", "ConversionEventSet");
const memberKey = (key: string, set = setKey) => memberOf(set, key);

type Given = Partial<DeclaredObject> & Pick<Declaration, never>;

/** A single resource with this name in the program and this name on the platform. */
function declared(
  name: string,
  platformName?: string,
  object: Given = {},
  more: Partial<Declaration> = {},
): Declaration {
  const { kind = conversionEvent } = object;
  const key = keyOf(name, kind.name);
  return {
    label: labelOf(kind.name, name),
    key,
    isRead: false,
    setOf: undefined,
    objects: [objectOf(key, platformName, { name, ...object })],
    formerly: [],
    problems: [],
    warnings: [],
    tells: {},
    ...more,
  };
}

function objectOf(key: string, platformName?: string, more: Given = {}): DeclaredObject {
  return {
    kind: conversionEvent,
    key,
    name: "name",
    existingIdPath: "existingId",
    platformName,
    facts: {},
    adopts: undefined,
    sameAs: undefined,
    ...more,
  };
}

/** The set "funnel" with these members; `undefined` if they are not known yet. */
function aSet(objects: readonly DeclaredObject[] | undefined, key = setKey): Declaration {
  return { ...declared("funnel"), label: 'ConversionEventSet "funnel"', key, setOf: conversionEvent, objects };
}

const member = (key: string, platformName?: string, more: Given = {}) =>
  objectOf(memberKey(key), platformName, {
    name: memberOf("funnel", key),
    existingIdPath: `${memberOf("events", key)}.existingId`,
    ...more,
  });

function all(declarations: readonly Declaration[]): Declared {
  const known = new Declared();
  for (const each of declarations) known.add(each);
  return known;
}

const NOTHING: Snapshot = { creates: [], objects: new Map() };

/** What is found in one batch that is the whole program. */
const look = (snapshot: Snapshot, ...batch: Declaration[]) => judge(batch, all(batch), snapshot, true);

/** What is found at the program's end. */
const atEnd = (snapshot: Snapshot, batch: readonly Declaration[], settings: Settings = settingsOf()) =>
  judgeRemovals(all(batch), snapshot, settings);

const snapshotOf = (objects: Readonly<Record<string, string>>, creates: Snapshot["creates"] = []): Snapshot => ({
  objects: new Map(
    Object.entries(objects).map(([name, eventName], index) => [
      keyOf(name),
      { id: String(index + 1), fingerprint: "f", name: eventName },
    ]),
  ),
  creates,
});

/** A create of unknown outcome that was reported to the engine. */
const unresolved = {
  mark: "m",
  key: keyOf("old"),
  fingerprint: "f",
  at: "2026-01-01T00:00:00.000Z",
  name: "Signup",
  field: "alternative_id",
  isReported: true,
} as const;

/** A create that an interrupted run left behind without reporting it. */
const { isReported: _, ...killed } = unresolved;

const moved: Partial<Declaration> = { formerly: [{ name: "old", parentTypes: undefined }] };
const anywhere: Partial<Declaration> = { formerly: [{ name: ANY, parentTypes: ANY }] };

it("an advertiser that the program still uses by its id is not listed for deactivation", () => {
  const acme = keyOf("shop/Acme", "Advertiser");
  const snapshot: Snapshot = { creates: [], objects: new Map([[acme, { id: "9", fingerprint: "f", name: "Acme" }]]) };
  const warningsFor = (advertiserId: number, at = snapshot) =>
    atEnd(at, [declared("e", "E", { facts: { advertiserId } })]).warnings;
  expect(warningsFor(9)).toEqual([
    'Advertiser "shop/Acme" (9) is no longer declared, and stays live: the program uses 9 as an advertiser.',
  ]);
  expect(warningsFor(8)).toEqual([expect.stringContaining("deactivate it there by hand")]);
  const events = { ...snapshot, objects: new Map([[keyOf("old"), { id: "9", fingerprint: "f", name: "Old" }]]) };
  expect(warningsFor(9, events)).toEqual([expect.stringContaining("deactivate it there by hand")]);
});

describe("between resources", () => {
  it("two resources can't adopt one object, in the same batch or in different ones", () => {
    const one = declared("one", "A", { adopts: "7" });
    const two = declared("two", "A", { adopts: "7" });
    const other = declared("acme", "A", { adopts: "7", kind: advertiser });
    const set = aSet([
      member("a", "A", { adopts: "7" }),
      member("b", "B", { adopts: "8" }),
      member("c", "C", { adopts: "8" }),
    ]);
    const later = declared("later", "A", { adopts: LATER });
    expect(look(NOTHING, one, other, later).findings).toEqual([]);
    expect(look(NOTHING, one, two, set).findings).toEqual([
      {
        title: 'ConversionEvent "two"',
        lines: [
          'existingId 7 belongs to "one" already: one object can\'t be two resources; correct this existingId, or remove the other one',
        ],
        problems: 1,
      },
      {
        title: 'ConversionEventSet "funnel"',
        lines: [
          'events["a"].existingId 7 belongs to "one" already: one object can\'t be two resources; correct this existingId, or remove the other one',
          'events["c"].existingId 8 belongs to "funnel["b"]" already: one object can\'t be two resources; correct this existingId, or remove the other one',
        ],
        problems: 2,
      },
    ]);
    const { findings } = judge([two], all([one, two]), NOTHING, true);
    expect(findings.map(({ title }) => title)).toEqual(['ConversionEvent "two"']);
  });

  it("a resource's own problems come before those between resources, and its warnings are kept", () => {
    const wrong = declared("one", "A", {}, { problems: ["value is required"], warnings: ["a warning"] });
    const { findings, warnings } = look(NOTHING, declared("two", "B", { adopts: "7" }), {
      ...wrong,
      objects: [objectOf("key", "A", { adopts: "7" })],
    });
    expect(findings).toMatchObject([
      { lines: ["value is required", expect.stringContaining('belongs to "two" already')], problems: 2 },
    ]);
    expect(warnings).toEqual(["a warning"]);
  });

  it("resources with the same arguments are a warning in the batch that adds one; five are named, the rest counted", () => {
    const same = (name: string, sameAs: string) => declared(name, "A", { sameAs });
    const [a, b, c] = [same("a", "1"), same("b", "1"), same("c", "2")];
    expect(look(NOTHING, a, c, declared("d", "A"), declared("e", "A")).warnings).toEqual([]);
    expect(look(NOTHING, a, c, b).warnings).toEqual([
      'ConversionEvent "a" and "b" have the same arguments: that makes 2 live objects; if you meant one, remove the others',
    ]);
    const later = judge([c], all([a, b, c]), NOTHING, true);
    expect(later.warnings).toEqual([]);
    const many = Array.from({ length: 7 }, (_, index) => same(`e${index}`, "1"));
    expect(look(NOTHING, ...many).warnings).toEqual([
      'ConversionEvent "e0", "e1", "e2", "e3", "e4" and 2 more have the same arguments: that makes 7 live objects; if you meant one, remove the others',
    ]);
  });
});

describe("a live object", () => {
  const snapshot = snapshotOf({ old: "Signup" });

  it.each<[string, Declaration, readonly string[] | undefined]>([
    ["may have become a new resource with its platform name", declared("new", "Signup"), [keyOf("old")]],
    ["not one with another name", declared("new", "Other"), undefined],
    ["not one whose name is not known yet", declared("new"), undefined],
    ["not one of another kind", declared("new", "Signup", { kind: advertiser }), undefined],
    ["not one that only reads an object", declared("new", undefined, {}, { isRead: true }), undefined],
    ["not one that adopts another object", declared("new", "Signup", { adopts: "99" }), undefined],
    ["not one with an alias for it, which is known to be it", declared("new", "Signup", {}, moved), undefined],
  ])("%s", (_, declaration, formerly) => {
    expect(look(snapshot, declaration).briefings.get(declaration.key ?? "")?.formerly).toEqual(formerly);
  });

  it("may have become a new member of a set", () => {
    expect(look(snapshot, aSet([member("a", "Signup"), member("b", "Other")])).briefings.get(setKey)).toMatchObject({
      membersFormerly: { [memberKey("a")]: [keyOf("old")] },
    });
  });

  it("has no heir if it is still declared, or if the other resource existed in earlier runs", () => {
    const formerlyIn = (snapshot: Snapshot, ...batch: Declaration[]) =>
      [...look(snapshot, ...batch).briefings.values()].flatMap(({ formerly = [] }) => formerly);
    expect(formerlyIn(snapshot, declared("old", "Signup"), declared("new", "Signup"))).toEqual([]);
    expect(formerlyIn(snapshotOf({ old: "Signup", known: "Signup" }), declared("known", "Signup"))).toEqual([]);
  });

  it.each<[string, Declaration[], boolean]>([
    ["no new resource may be it", [], true],
    ["a new resource may be it: the provider reports it", [declared("new", "Signup")], false],
    ["it is declared", [declared("old", "Signup")], false],
    ["it is declared under another name with an alias", [declared("new", "Signup", {}, moved)], false],
    ["an alias that only the engine can resolve may name it", [declared("new", "Other", {}, anywhere)], false],
    ["a resource adopts it", [declared("new", "Signup", { adopts: "1" })], false],
    ["a resource adopts another object with its name", [declared("new", "Signup", { adopts: "2" })], true],
  ])("leaves the state: %s; warned: $2", (_, batch, isWarned) => {
    const expected = isWarned ? [expect.stringContaining('ConversionEvent "old"')] : [];
    expect(atEnd(snapshot, batch).warnings).toEqual(expected);
  });

  it("is not confused with a resource that has the same platform name and an alias for another one", () => {
    const two = snapshotOf({ old: "Signup", gone: "Signup" });
    const note = { ...killed, key: keyOf("gone"), id: "2" };
    const renamed = declared("new", "Signup", {}, moved);
    expect(look(two, renamed).briefings.get(keyOf("new"))?.formerly).toBeUndefined();
    expect(look({ ...two, creates: [note] }, renamed).findings).toEqual([]);
    expect(atEnd(two, [renamed]).warnings).toEqual([
      expect.stringContaining('ConversionEvent "gone" is no longer declared. If event 2'),
    ]);
    // The same for an event of a set that was renamed.
    const former = { [memberKey("a", keyOf("former", "ConversionEventSet"))]: "Signup" };
    const objects = new Map(
      Object.entries({ ...former, [keyOf("gone")]: "Signup" }).map(([key, name], index) => [
        key,
        { id: String(index + 1), fingerprint: "f", name },
      ]),
    );
    const set = { ...aSet([member("a", "Signup")]), formerly: [{ name: "former", parentTypes: undefined }] };
    expect(atEnd({ creates: [], objects }, [set]).warnings).toEqual([
      expect.stringContaining('"gone" is no longer declared. If event 2'),
    ]);
  });

  it("is not reported if it is known under two resources and one of them is still declared", () => {
    const twice = snapshotOf({ old: "Signup" });
    const [[, live] = []] = twice.objects;
    const objects = new Map([...twice.objects, ...(live === undefined ? [] : [[memberKey("a"), live] as const])]);
    expect(atEnd({ creates: [], objects }, [aSet([member("a", "A")])]).warnings).toEqual([]);
    expect(atEnd({ creates: [], objects }, []).warnings).toHaveLength(2);
  });

  it("that leaves a declared set is reported by the set, not here", () => {
    const objects = new Map([[memberKey("a"), { id: "1", fingerprint: "f", name: "A" }]]);
    for (const members of [[member("b", "B")], [], undefined]) {
      expect(atEnd({ creates: [], objects }, [aSet(members)]).warnings).toEqual([]);
    }
    expect(atEnd({ creates: [], objects }, []).warnings).toHaveLength(1);
  });

  it("is named in the warning up to the twentieth; the rest are listed by id", () => {
    const many = snapshotOf(Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`e${index}`, `E${index}`])));
    const { warnings } = atEnd(many, [declared("e3", "E3")]);
    expect(warnings).toHaveLength(21);
    expect(warnings.at(-1)).toBe(
      "4 more objects are no longer declared. If they leave the state, they stay live on the platform: 22–25.",
    );
  });

  it("is reported as deleted with its resource if a delete is known", () => {
    const gone = Array.from({ length: 22 }, (_, index) => [keyOf(`e${index}`), index + 1] as const);
    const deleted = new Map(gone.map(([key, id]) => [key, { id: String(id), fingerprint: "f", deletes: true }]));
    const canDelete = settingsOf({
      operations: operationsSchema.parse({ event: { delete: "DELETE rest/event/{id}" } }),
    });
    const wayOut =
      "To keep an object that would be deleted, declare it again without retainOnDelete: false, run `pulumi up`, and remove it after that.";
    const [first, ...more] = atEnd({ objects: deleted, creates: [] }, [], canDelete).warnings;
    expect(first).toBe(
      'ConversionEvent "e0" is no longer declared. If event 1 leaves the state, it is deleted on the platform, as retainOnDelete: false says.',
    );
    expect(more.slice(-2)).toEqual([
      "2 more objects are no longer declared. If they leave the state, they are deleted on the platform, as retainOnDelete: false says: 21–22.",
      wayOut,
    ]);
    expect(more.filter((warning) => warning === wayOut)).toHaveLength(1);
    expect(atEnd({ objects: deleted, creates: [] }, []).warnings[0]).toContain(
      "If event 1 leaves the state, it stays live on the platform",
    );
    expect(atEnd({ objects: deleted, creates: [] }, []).warnings).not.toContain(wayOut);

    const objects = new Map(
      ["a", "b"].map((key, id) => [memberKey(key), { id: `${id}`, fingerprint: "f", deletes: true }]),
    );
    expect(atEnd({ objects, creates: [] }, [], canDelete).warnings).toEqual([
      'ConversionEventSet "funnel" is no longer declared. If its 2 events (0–1) leave the state, they are deleted on the platform, as retainOnDelete: false says.',
      wayOut,
    ]);

    // A resource adopts an event whose id is not known yet.
    const later = atEnd({ objects, creates: [] }, [declared("later", "L", { adopts: LATER })], canDelete).warnings;
    expect(later).toEqual([
      expect.stringMatching(
        /retainOnDelete: false says, unless an existingId that is not known yet names one of them\.$/,
      ),
      wayOut,
    ]);
    const single = new Map([[keyOf("e"), { id: "1", fingerprint: "f", deletes: true }]]);
    expect(
      atEnd({ objects: single, creates: [] }, [declared("later", "L", { adopts: LATER })], canDelete).warnings,
    ).toEqual([expect.stringMatching(/says, unless an existingId that is not known yet names it\.$/), wayOut]);
    // That resource may manage what stays live, so the advice to deactivate it is conditional.
    for (const left of [objects, single]) {
      const warnings = atEnd({ objects: left, creates: [] }, [declared("later", "L", { adopts: LATER })]).warnings;
      expect(warnings).toEqual([
        expect.stringMatching(/deactivate it there by hand, unless an existingId that is not known yet names it\.$/),
      ]);
    }
    const other = declared("later", "L", { adopts: LATER, kind: advertiser });
    for (const settings of [canDelete, undefined])
      expect(atEnd({ objects: single, creates: [] }, [other], settings).warnings[0]).not.toContain("unless");
  });

  it("that would be deleted with its resource and moves to another one: a warning not to run half of the move", () => {
    const canDelete = settingsOf({
      operations: operationsSchema.parse({ event: { delete: "DELETE rest/event/{id}" } }),
    });
    const known = (deletes: boolean) => ({
      creates: [],
      objects: new Map([
        [keyOf("p"), { id: "12", fingerprint: "f", deletes }],
        [memberKey("x"), { id: "2", fingerprint: "f", deletes }],
        [memberKey("y"), { id: "3", fingerprint: "f", deletes }],
      ]),
    });
    const batch = [
      aSet([member("x", "X"), objectOf(memberKey("p"), "P", { adopts: "12" })]),
      declared("y", "Y", { adopts: "3" }),
    ];
    expect(atEnd(known(true), batch, canDelete).warnings).toEqual([
      'As far as this machine knows, this program moves 12 from ConversionEvent "p" to ConversionEventSet "funnel" and 3 from ' +
        'ConversionEventSet "funnel" to ConversionEvent "y". Run it without --target and --exclude: otherwise the state may keep an object ' +
        "in both places, and removing the old one on another machine may delete it.",
    ]);
    expect(atEnd(known(false), batch, canDelete).warnings).toEqual([]);
    expect(atEnd(known(true), batch).warnings).toEqual([]);
    // No move: between keys of one set, and between two names that an alias connects.
    const within = aSet([objectOf(memberKey("z"), "Z", { adopts: "3" }), member("x", "X")]);
    const renamed = declared("new", "P", { adopts: "12" }, { formerly: [{ name: "p", parentTypes: undefined }] });
    expect(atEnd(known(true), [within, renamed], canDelete).warnings).toEqual([]);
  });
});

describe("a create of unknown outcome", () => {
  const snapshot = snapshotOf({}, [unresolved]);

  it.each<[string, Declaration[], before: number, end: number]>([
    ["whose resource is declared is reported by the provider", [declared("old", "Signup")], 0, 0],
    [
      "whose resource was renamed with an alias is reported by the provider",
      [declared("new", "Signup", {}, moved)],
      0,
      0,
    ],
    [
      "whose resource is not declared stops the run at its end: it may still be declared later",
      [declared("new", "Other")],
      0,
      1,
    ],
    [
      "that a new resource would send again stops the run before anything is registered",
      [declared("new", "Signup")],
      1,
      1,
    ],
    [
      "is settled by a resource with its platform name that adopts an object",
      [declared("new", "Signup", { adopts: "99" })],
      0,
      0,
    ],
  ])("%s", (_, batch, before, end) => {
    expect(look(snapshot, ...batch).findings).toHaveLength(before);
    expect(atEnd(snapshot, batch).findings).toHaveLength(end);
  });

  it("whose resource is not declared: the error says what to look for, and which alias to add if it may be a rename", () => {
    const [gone] = atEnd(snapshot, [declared("new", "Other")]).findings;
    expect(gone?.title).toBe('ConversionEvent "old" is no longer declared, and the outcome of its create is unknown');
    expect(gone?.lines.join("\n")).toContain("alternative_id = m");
    const codeWith = (...findings: Finding[]) => /\s\[(\w+)\]$/.exec(programError(READ, findings, "").message)?.[1];
    const wrong = { title: "x", lines: ["value is wrong"], problems: 1 };
    expect(gone && codeWith(gone)).toBe("ADVERTISING_OUTCOME_UNKNOWN");
    expect(gone && codeWith(gone, wrong)).toBe("ADVERTISING_ARGUMENTS");
    // It may have been settled on another machine, so that the state no longer has it.
    expect(gone?.lines.slice(-2)).toEqual([
      "This is what the journal on this machine says. If it was settled on another machine, and the state no longer has it:",
      expect.stringMatching(/^ {2}npx pulumi-advertising pending --forget '.*::old'$/),
    ]);
    expect(look(snapshot, declared("new", "Signup")).findings[0]?.lines).toContainEqual(
      expect.stringContaining(
        'If ConversionEvent "new" is its new name or place, add { aliases: [{ name: "old" }] } to it.',
      ),
    );
  });

  it.each<[string, object, object, settles: boolean]>([
    ["all facts agree", { advertiserId: 5, value: 1 }, { advertiserId: 5, value: 1 }, true],
    ["one gives an id as a number, the other as digits", { advertiserId: 5 }, { advertiserId: "5" }, true],
    ["nothing else is known about the create", {}, { advertiserId: 6 }, true],
    ["only the provider will know the advertiser", { advertiserId: 5, value: 1 }, { value: 1 }, true],
    ["the advertisers differ", { advertiserId: 5, value: 1 }, { advertiserId: 6, value: 1 }, false],
    ["the values differ", { advertiserId: 5, value: 1 }, { advertiserId: 5, value: 2 }, false],
  ])("and an adoption with its name: %s: %j, %j; settled: $3", (_, facts, its, settles) => {
    const create = { ...unresolved, facts: facts as Readonly<Record<string, number>> };
    const adopter = declared("new", "Signup", { adopts: "99", facts: its as DeclaredObject["facts"] });
    expect(look(snapshotOf({}, [create]), adopter).briefings.get(keyOf("new"))?.formerly).toEqual(
      settles ? [keyOf("old")] : undefined,
    );
    expect(atEnd(snapshotOf({}, [create]), [adopter]).findings).toHaveLength(settles ? 0 : 1);
  });

  it("of a member that has left its set: the set learns which object is adopted for it elsewhere, unless an earlier run adopted that", () => {
    const creates = [
      { ...killed, key: memberKey("a") },
      { ...killed, key: memberKey("b"), name: "Other" },
    ];
    const { briefings, findings } = look(
      snapshotOf({}, creates),
      aSet([member("c", "New")]),
      declared("single", "Signup", { adopts: "5" }),
    );
    expect(findings).toEqual([]);
    expect(briefings.get(setKey)).toMatchObject({ adoptedAs: { [memberKey("a")]: "5" }, adopted: "5" });
    expect(briefings.get(keyOf("single"))?.formerly).toEqual([memberKey("a")]);
    const before = look(
      snapshotOf({ single: "Signup" }, creates),
      aSet([member("c", "New")]),
      declared("single", "Signup", { adopts: "1" }),
    );
    expect(before.briefings.get(setKey)?.adoptedAs).toBe(undefined);
  });

  it("of a key that its set no longer has stops the run if a new key or resource would create it again", () => {
    for (const id of [undefined, "16"]) {
      const noted = { ...killed, key: memberKey("a"), ...(id === undefined ? {} : { id }) };
      const heirs = [[aSet([member("b", "Signup")])], [aSet([]), declared("single", "Signup")]];
      for (const batch of heirs) expect(look(snapshotOf({}, [noted]), ...batch).findings).toHaveLength(1);
      // Otherwise, or under its own key, the set reports it, at the end too.
      for (const batch of [
        [aSet([]), declared("single", "Other")],
        [aSet([member("a", "Signup")])],
        [aSet(undefined)],
      ]) {
        expect(look(snapshotOf({}, [noted]), ...batch).findings).toEqual([]);
        expect(atEnd(snapshotOf({}, [noted]), batch).findings).toEqual([]);
      }
    }
  });

  it("several of one set make one finding, with the first twenty keys", () => {
    const creates = Array.from({ length: 22 }, (_, index) => ({ ...unresolved, key: memberKey(`k${index}`) }));
    const [finding, ...others] = atEnd(snapshotOf({}, creates), []).findings;
    expect(others).toEqual([]);
    expect(finding?.title).toBe(
      '22 events of ConversionEventSet "funnel" are no longer declared, and an interrupted run left their creates behind',
    );
    expect(finding?.lines[0]).toBe("  k0: sent at 2026-01-01T00:00:00.000Z, outcome unknown");
    expect(finding?.lines[20]).toBe("  and 2 more");
  });

  it("several single resources: each has its own commands, and `pending` lists those after the first twenty", () => {
    const creates = Array.from({ length: 300 }, (_, at) => ({ ...unresolved, mark: `m${at}`, key: keyOf(`e${at}`) }));
    const text = (amount: number) =>
      programError(READ, atEnd(snapshotOf({}, creates.slice(0, amount)), []).findings, "nothing was sent").message;
    for (const option of ["created", "not-created", "forget"])
      expect(text(20).match(new RegExp(`pending --${option} `, "g"))).toHaveLength(20);
    expect(text(300)).toMatch(/^300 problems; nothing was sent\./);
    expect(text(300)).toContain(
      "  280 more resources are no longer declared, which this lists:\n    npx pulumi-advertising pending\n",
    );
    expect(text(300).length).toBeLessThan(25_000);
  });

  it("R7: several of one single resource are each about that resource, not about events of a set", () => {
    const creates = ["1", "2"].map((mark) => ({ ...unresolved, mark, name: `Signup ${mark}` }));
    const { message } = programError(READ, atEnd(snapshotOf({}, creates), []).findings, "nothing was sent");
    expect(message).not.toContain("events of");
    for (const { name } of creates) expect(message).toContain(`the ConversionEvent named "${name}", sent at`);
    expect(message.match(/pending --created '[^']+::old=<its id>'/g)).toHaveLength(2);
  });

  it("several of one set, some of unknown outcome: those are to be settled first, and no command forgets all of them", () => {
    const commandsOf = (...ids: (string | undefined)[]) => {
      const creates = ids.map((id, at) => ({
        ...unresolved,
        mark: `m${at}`,
        key: memberKey(`k${at}`),
        ...(id && { id }),
      }));
      const [finding] = atEnd(snapshotOf({}, creates), []).findings;
      return finding?.lines.filter((line) => line.includes("npx"));
    };
    const linesOf = (...ids: (string | undefined)[]) =>
      commandsOf(...ids)?.map((line) => line.replace(/ '.*/, "").trim());
    const [list, settle, forget] = ["", " --not-created", " --forget"].map(
      (option) => `npx pulumi-advertising pending${option}`,
    );
    expect(linesOf(undefined, undefined)).toEqual([list, settle, forget]);
    expect(linesOf(undefined, "5")).toEqual([list, settle]);
    expect(linesOf("4", "5")).toEqual([forget]);
    // By the set's own URN, what is noted of the events that are still declared would go too.
    expect(commandsOf("4", "5")?.join()).toMatch(/--forget '\S+\["k0"\]' --forget '\S+\["k1"\]'$/);
    const [forgetSome = "", rest] = commandsOf(...Array.from({ length: 300 }, (_, at) => `${at + 1}`)) ?? [];
    expect([forgetSome.match(/--forget/g)?.length, rest?.trim()]).toEqual([20, list]);
  });

  it("left by a kill under the former name stops the run despite an alias, which renames only what is in the state", () => {
    const left = snapshotOf({}, [killed, { ...killed, mark: "m2", id: "5" }]);
    expect(look(left, declared("new", "Signup", {}, moved)).findings.map(({ title }) => title)).toEqual([
      'ConversionEvent "old" has a new name or place, and an interrupted run left creates under the former one',
    ]);
    expect(look(left, declared("new", "Signup", { adopts: "5" }, moved)).findings).toEqual([]);
    expect(look(left, declared("old", "Signup", {}, moved)).findings).toEqual([]);
  });

  it("reported under the former name of an alias is passed to the provider, which sees whether the state has it", () => {
    const left = snapshotOf({}, [
      { ...killed, isReported: true },
      { ...killed, mark: "m2", isReported: true, id: "5" },
    ]);
    const { findings, briefings } = look(left, declared("new", "Signup", {}, moved));
    expect(findings).toEqual([]);
    expect(briefings.get(keyOf("new"))?.moved).toEqual([keyOf("old")]);
    expect(look(left, declared("new", "Signup", { adopts: "5" }, moved)).briefings.get(keyOf("new"))?.moved).toBe(
      undefined,
    );
  });

  it("left by a kill stops nothing, unless a new resource would send it again", () => {
    const left = snapshotOf({}, [killed]);
    expect(atEnd(left, []).findings).toEqual([]);
    expect(look(left, declared("new", "Signup")).findings).toHaveLength(1);
  });

  it("R9: left by a kill is listed by the run that no longer declares it, and by the provider from the next run on", () => {
    const of = (...creates: Snapshot["creates"]) => snapshotOf({ old: "Signup" }, creates);
    const leftBehindIn = (snapshot: Snapshot, ...batch: Declaration[]) =>
      atEnd(snapshot, batch).warnings.filter((text) => text.startsWith("Interrupted runs left"));
    const inSet = { ...killed, key: memberKey("a") };
    for (const create of [killed, { ...killed, id: "5" }]) expect(leftBehindIn(of(create))).toHaveLength(1);
    const [text] = leftBehindIn(of(inSet), aSet([member("b", "B")]));
    expect(text).toContain('events["a"] of ConversionEventSet "funnel": an interrupted run sent it at 2026-01-01');
    expect(text).toContain("npx pulumi-advertising pending --forget ");
    // Not listed here: it is declared, the provider lists it, the set does, or exactly that object leaves the state.
    expect(leftBehindIn(of(killed), declared("old", "Signup"))).toEqual([]);
    expect(leftBehindIn(of({ ...killed, unclaimed: true }))).toEqual([]);
    expect(leftBehindIn(of({ ...inSet, isReported: true }), aSet([]))).toEqual([]);
    expect(
      leftBehindIn({ creates: [inSet], objects: new Map([[memberKey("a"), { id: "9", fingerprint: "f" }]]) }, aSet([])),
    ).toEqual([]);
    expect(leftBehindIn(of({ ...killed, id: "1" }))).toEqual([]);
  });
});

describe("the briefing for the provider", () => {
  it("has the number of declared resources with each one, because the engine may ask about any of them alone", () => {
    const first = declared("zero", "Z");
    const batch = [
      { ...declared("shop"), key: undefined, objects: [] },
      declared("read", undefined, {}, { isRead: true }),
      declared("one", "A"),
      aSet([member("a", "A")]),
    ];
    const runsIn = (isPreview: boolean) =>
      [...judge(batch, all([first, ...batch]), NOTHING, isPreview).briefings].map(([key, { run }]) => [key, run]);
    expect(runsIn(true)).toEqual(
      [keyOf("one"), setKey].map((key) => [key, expect.objectContaining({ isUp: false, resources: 3 })]),
    );
    expect(runsIn(false)[1]?.[1]).toMatchObject({ isUp: true, resources: 3 });
  });

  it("has what the resource itself passes on, whatever the others are", () => {
    const tells = { deletes: true, replaceOnChanges: ["value"] };
    expect(
      look(NOTHING, declared("one", "A"), declared("two", "B", {}, { tells })).briefings.get(keyOf("two")),
    ).toMatchObject(tells);
  });

  it("of a set has the ids of its kind that are adopted anywhere, and whether others adopt an id that is not known yet", () => {
    const other = `${setKey}2`;
    const briefingWith = (...others: Declaration[]) =>
      look(NOTHING, aSet([member("a", "A", { adopts: "6" })]), ...others).briefings.get(setKey);
    const single = declared("a", "A", { adopts: "7" });
    const unknown = declared("b", "B", { adopts: LATER });
    expect(briefingWith(single, declared("acme", "A", { kind: advertiser, adopts: "9" }))?.adopted).toBe("6 7");
    expect(briefingWith(single)?.adoptsUnknown).toBeUndefined();
    expect(briefingWith(unknown)?.adoptsUnknown).toBe(true);
    expect(briefingWith(declared("acme", "A", { adopts: LATER, kind: advertiser }))?.adoptsUnknown).toBeUndefined();
    expect(briefingWith(aSet(undefined, other))?.adoptsUnknown).toBe(true);
    expect(briefingWith(aSet([], other))?.adoptsUnknown).toBeUndefined();
    // The provider knows the set's own members without this.
    for (const objects of [undefined, [member("a", "A", { adopts: LATER })]]) {
      expect(look(NOTHING, aSet(objects)).briefings.get(setKey)?.adoptsUnknown).toBeUndefined();
    }
  });

  it("of a single resource has the same, because an untargeted one may adopt its object; many ids only if it deletes", () => {
    const briefingWith = (adopting: readonly Declaration[], deletes?: true) =>
      look(NOTHING, declared("one", "One", {}, { tells: { deletes } }), ...adopting).briefings.get(keyOf("one"));
    const few = [declared("a", "A", { adopts: "7" }), declared("b", "B", { adopts: LATER })];
    for (const deletes of [true, undefined] as const) {
      expect(briefingWith(few, deletes)).toMatchObject({ adopted: "7", adoptsUnknown: true });
    }
    const many = Array.from({ length: 100 }, (_, id) => declared(`a${id}`, `A${id}`, { adopts: String(1000 + id) }));
    expect(briefingWith(many, true)?.adopted?.split(" ")).toHaveLength(100);
    expect(briefingWith(many)?.adopted).toBeUndefined();
  });

  it("shares one text of adopted ids among a thousand sets until more is declared", () => {
    const known = all([declared("one", "A", { adopts: "7" }), declared("two", "B", { adopts: "8" })]);
    const sets = Array.from({ length: 1000 }, (_, index) => aSet([], `${setKey}${index}`));
    for (const each of sets) known.add(each);
    const { briefings } = judge(sets, known, NOTHING, false);
    expect(new Set([...briefings.values()].map(({ adopted }) => adopted))).toEqual(new Set(["7 8"]));
    known.add(declared("three", "C", { adopts: "10" }));
    expect(known.adoptedIds("ConversionEvent")).toBe("7 8 10");
    expect(known.adoptedIds("Advertiser")).toBe("");
  });
});
