/** What only a whole program shows: between its resources, and what this machine remembers but it does not declare. */
import { describe, expect, it } from "vitest";
import type { JournalEntry } from "../../provider/src/journal/journal-entry.js";
import { advertiser } from "../../provider/src/kinds/advertiser-kind.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import type {
  DeclaredObject,
  ResourceDeclaration,
} from "../../provider/src/program/declaration.js";
import { ProgramValidator } from "../../provider/src/program/program-validator.js";
import { memberOf, parseKey, UNKNOWN } from "../../provider/src/state/index.js";

const event = (name: string) => `ConversionEvent::${name}`;
const FUNNEL = "ConversionEventSet::funnel";

/** A single resource, or with a set's key the set with these members. */
function declared(
  key: string,
  object: Partial<DeclaredObject> = {},
  more: Partial<ResourceDeclaration> = {},
): ResourceDeclaration {
  const kind = parseKey(key).kind === "Advertiser" ? advertiser : conversionEvent;
  const { formerKeys = [] } = more;
  const own = { key, formerKeys, adopts: undefined, kindAndName: kind.name, ...object };
  return { key, kind, objects: [own], formerKeys, deletes: false, ...more };
}

/** @param adopts by key; `undefined` for a set whose events are not known yet. */
function aSet(adopts: Record<string, string | undefined> | undefined): ResourceDeclaration {
  const objects = Object.entries(adopts ?? {}).map(([key, id]) => {
    return {
      key: memberOf(FUNNEL, key),
      formerKeys: [],
      adopts: id,
      kindAndName: "ConversionEvent",
    };
  });
  return declared(FUNNEL, { adopts: UNKNOWN }, adopts === undefined ? {} : { objects });
}

const journal = (
  ...records: (Partial<JournalEntry> & Pick<JournalEntry, "key" | "state">)[]
): JournalEntry[] =>
  records.map((each) => ({
    at: "2026-01-01T00:00:00.000Z",
    mark: "m",
    body: "b",
    ...each,
  }));
const live = (key: string, id: string, name?: string) =>
  ({ key, state: "confirmed", id, name }) as const;

function all(declarations: ResourceDeclaration[], isPreview = true) {
  const validator = new ProgramValidator(isPreview);
  return { validator, wrong: declarations.map((each) => validator.add(each)) };
}
/** What the provider gets about each, by key. */
function contextsOf(...declarations: ResourceDeclaration[]) {
  const { validator } = all(declarations);
  return new Map(declarations.map((each) => [each.key, validator.contextOf(each)]));
}
const atEnd = (records: JournalEntry[], batch: ResourceDeclaration[], isPreview = false) =>
  all(batch, isPreview).validator.atEnd(records);

describe("between resources", () => {
  it("two can't adopt one object of a kind", () => {
    const one = declared(event("one"), { adopts: "7" });
    const others = [
      declared("Advertiser::acme", { adopts: "7" }),
      declared(event("later"), { adopts: UNKNOWN }),
      declared(event("latest"), { adopts: UNKNOWN }),
    ];
    const set = aSet({ a: "7", b: "8", c: "8", d: undefined });
    const why = (path: string, id: string, by: string) =>
      `${path}existingId ${id} already belongs to "${by}": one object can't be two resources; correct this existingId, or remove the other one`;
    expect(all([one, ...others]).wrong.flat()).toEqual([]);
    const lines = [why('events["a"].', "7", "one"), why('events["c"].', "8", "funnel/b")];
    expect(all([one, set]).wrong).toEqual([[], lines]);
  });

  it("a resource that may delete has all that the program adopts; another one, if that is short", () => {
    const deletes = { deletes: true };
    const batch = [
      declared(event("a"), { adopts: "7" }, deletes),
      declared(event("b"), { adopts: "8" }),
      declared("Advertiser::acme", {}, deletes),
    ];
    const run = { isUp: false, resources: 3 };
    const adopted = "ConversionEvent 7,ConversionEvent 8";
    const context = { run, formerKeys: [], sameNamed: [], adopted };
    const few = contextsOf(...batch);
    expect(few.get(event("a"))).toEqual({ ...context, deletes: true });
    expect(few.get(event("b"))).toEqual({ ...context, deletes: undefined });
    expect(few.get("Advertiser::acme")).toMatchObject({ run, deletes: true });
    const many = Array.from({ length: 100 }, (_, n) =>
      declared(event(`e${n}`), { adopts: String(n) }),
    );
    const contexts = contextsOf(...batch, ...many);
    expect(contexts.get(event("a"))?.adopted?.split(",")).toHaveLength(100);
    expect(contexts.get(event("b"))?.adopted).toBeUndefined();
    for (const later of [declared(event("c"), { adopts: UNKNOWN }), aSet(undefined)])
      expect(contextsOf(...batch, later).get(event("a"))).toMatchObject({
        adopted: `${adopted},ConversionEvent ${UNKNOWN}`,
      });
  });
});

describe("what crosses to the provider process", () => {
  it("other objects of the program with the same platform name, and the keys that aliases say it had", () => {
    const named = (
      key: string,
      platformName: string,
      more: Partial<ResourceDeclaration> = {},
    ) => declared(key, { kindAndName: `${parseKey(key).kind} ${platformName}` }, more);
    const member = memberOf(FUNNEL, "a");
    const set = declared(
      FUNNEL,
      {},
      {
        objects: [
          {
            key: member,
            formerKeys: [],
            adopts: undefined,
            kindAndName: "ConversionEvent Buy",
          },
        ],
      },
    );
    const batch = [
      named(event("one"), "Buy", { formerKeys: [event("was")] }),
      named(event("two"), "Buy"),
      named(event("three"), "Lead"),
      named("Advertiser::a", "Buy"),
      set,
    ];
    const contexts = contextsOf(...batch);
    expect(contexts.get(event("one"))).toMatchObject({
      formerKeys: [event("was")],
      sameNamed: [event("two"), member],
    });
    expect(contexts.get(FUNNEL)).toMatchObject({
      sameNamed: [event("one"), event("was"), event("two")],
    });
    for (const key of [event("three"), "Advertiser::a"])
      expect(contexts.get(key)).toMatchObject({ formerKeys: [], sameNamed: [] });
  });
});

describe("open creates of earlier runs", () => {
  const member = memberOf(FUNNEL, "a");
  const [MOVED, OTHER] = [
    "ConversionEventSet::my:A$::funnel",
    "ConversionEventSet::other",
  ] as const;
  const ALIAS = { formerKeys: [FUNNEL] };
  const records = journal(
    { key: event("sent"), state: "sent" },
    { key: event("made"), state: "created", id: "9" },
    { key: event("answered"), state: "created", id: "10", answered: true },
    { key: member, state: "sent" },
    { key: event("reported"), state: "reported", id: "3" },
    { key: memberOf(FUNNEL, "b"), state: "reported", id: "8", unsaved: true }, // its run ended, with checkpoints off
    live(event("live"), "4"),
    { key: event("none"), state: "closed" },
  );
  const [sent, made, inSet] = [
    "sent (outcome unknown)",
    "made (9)",
    "funnel/a (outcome unknown)",
  ];
  it.each<[string, ResourceDeclaration[], (string | undefined)[]]>([
    ["by nothing", [declared(event("new")), aSet({})], [inSet, made, sent]],
    [
      "by their own keys",
      [declared(event("sent")), declared(event("made")), aSet({ a: undefined })],
      [],
    ],
    ["by a set whose events are unknown", [aSet(undefined)], [made, sent]],
    [
      "by a former key",
      [declared(FUNNEL, { key: memberOf(FUNNEL, "b"), formerKeys: [member] })],
      [made, sent],
    ],
    ["by the id of one", [aSet({ b: "9" })], [inSet, sent]],
    [
      "by an alias",
      [declared(event("x"), {}, { formerKeys: [event("sent"), event("made")] }), aSet({})],
      [inSet],
    ],
    ["by a set that has another event", [aSet({ b: undefined })], [inSet, made, sent]],
    [
      "by a set of another parent",
      [declared(MOVED, { key: memberOf(MOVED, "a") })],
      [made, sent],
    ],
    [
      "by a set whose alias says so",
      [declared(OTHER, { key: memberOf(OTHER, "a"), formerKeys: [member] }, ALIAS)],
      [made, sent],
    ],
    [
      "by one whose events are unknown",
      [declared(OTHER, { adopts: UNKNOWN }, ALIAS)],
      [made, sent],
    ],
  ])("are declared %s, in previews too", (_, batch, names) => {
    for (const isPreview of [true, false]) {
      const lines = atEnd(
        records,
        [declared(event("live")), declared(event("reported")), ...batch],
        isPreview,
      );
      const [line = ""] = lines;
      expect(lines).toHaveLength(names.length === 0 ? 0 : 1);
      for (const name of names) expect(line).toContain(name);
      for (const name of [sent, made, inSet])
        if (!names.includes(name)) expect(line).not.toContain(name);
    }
  });

  it("are named at the end, with the command that tells what to do", () => {
    expect(
      atEnd(records, [declared(event("live")), declared(event("reported")), aSet({})]),
    ).toEqual([
      expect.stringMatching(
        /^An interrupted run sent 3 creates .*: funnel\/a \(outcome unknown\), made \(9\), sent \(outcome unknown\)\. .*\n {2}npx pulumi-advertising pending$/,
      ),
    ]);
  });
});

describe("what leaves", () => {
  const purchase = live(event("purchase"), "42", "Purchase");
  const leaves = (names: string) =>
    `No longer declared, says this machine's journal: ${names}. Each stays live and unmanaged, unless Pulumi deletes it; once nothing uses it, deactivate it by hand.`;
  const stays = leaves("purchase (42)");

  it.each<[string, ResourceDeclaration[], string[]]>([
    ["is named with its id", [], [stays]],
    ["but not if it is declared", [declared(event("purchase"))], []],
    ["nor below another parent", [declared("ConversionEvent::my:A$::purchase")], []],
    [
      "nor if an alias names it",
      [declared(event("buy"), {}, { formerKeys: [event("purchase")] })],
      [],
    ],
    ["nor if it is adopted", [declared(event("buy"), { adopts: "42" })], []],
    [
      "another kind's id is another object's",
      [declared("Advertiser::a", { adopts: "42" })],
      [stays],
    ],
  ])("%s", (_, batch, lines) => {
    const known = live(event("known"), "1");
    expect(atEnd(journal(purchase, known), [declared(event("known")), ...batch])).toEqual(
      lines,
    );
  });

  it("is not said in a preview, where the journal may be older than the state, nor of what is deleted", () => {
    const records = journal(purchase, { ...live(event("lead"), "6"), deletes: true });
    expect(atEnd(records, [], true)).toEqual([]);
    expect(atEnd(records, [])).toEqual([stays]);
  });

  it("a set that is declared says itself what left it; one that is gone leaves with all", () => {
    const records = journal(
      live(memberOf(FUNNEL, "a"), "1"),
      live(memberOf(FUNNEL, "b"), "2"),
    );
    expect(atEnd(records, [aSet({ a: undefined })])).toEqual([]);
    expect(atEnd(records, [declared(event("a"))])).toEqual([
      leaves("funnel/a (1), funnel/b (2)"),
    ]);
  });

  it("goes on under another key that has the object by now", () => {
    expect(
      atEnd(journal(purchase, live(event("buy"), "42")), [declared(event("buy"))]),
    ).toEqual([]);
  });

  it("is all kinds in one sentence, sorted as people count; of many the ids are said", () => {
    const made = (n: number) =>
      ({ key: event(`e-${n}`), state: "reported", id: String(n) }) as const;
    expect(atEnd(journal(made(10), made(2), live("Advertiser::a", "5")), [])).toEqual([
      leaves("a (5), e-2 (2), e-10 (10)"),
    ]);
    const many = Array.from({ length: 30 }, (_, n) => made(n + 1));
    const [line] = atEnd(journal(...many), []);
    expect(line).toMatch(/: e-1 \(1\), e-2 \(2\), .*, e-20 \(20\), and 10 more: 21–30\. /);
  });
});
