/** Messages about a set: whole texts, each key once, in the order people count, and short however many there are. */
import { describe, expect, it } from "vitest";
import { RefusedError } from "../../provider/src/base/index.js";
import { conversionEvent } from "../../provider/src/kinds/index.js";
import {
  driftNotice,
  leftMessage,
  planMessage,
  setFailureMessage,
  usedMessage,
} from "../../provider/src/operations/messages.js";
import type { FailedDelete, Outcome } from "../../provider/src/operations/outcome.js";
import {
  type Abilities,
  decideObjects,
  type PlannedObject,
} from "../../provider/src/plan/index.js";
import {
  memberRef,
  readDeclaredSet,
  readStoredSet,
  refOf,
  resolveCommands,
  staysLive,
  UNKNOWN,
} from "../../provider/src/state/index.js";
import { commandsIn } from "../support/printed-commands.js";

const NO_ABILITIES: Abilities = {};
const set = refOf("ConversionEventSet", "shop/dev::funnel");
const A = { eventName: "A", value: 1 };
const CHANGED = { ...A, value: 2 };
const OPEN = {
  at: "2026-01-01T00:00:00Z",
  mark: "m",
  body: "f",
  name: "A",
  what: "It was sent.",
};
const ALL: Abilities = {
  read: true,
  update: true,
  delete: true,
  search: true,
  markField: "m",
};
const END = `${staysLive(conversionEvent, "").trim()}.`;

function members(olds: object, news: object, can = NO_ABILITIES) {
  const shared = { advertiserId: 7, defaults: {} };
  const [stored, declared] = [
    readStoredSet({ ...shared, ...olds }),
    readDeclaredSet({ ...shared, ...news }),
  ];
  return decideObjects(conversionEvent, stored, declared, {
    can,
    fateOf: (id) => ({ id, isDeleted: Boolean(can.delete) }),
  });
}
const planOf = (those: readonly PlannedObject[], can = NO_ABILITIES, kept: string[] = []) =>
  planMessage(
    { kind: conversionEvent, can, ref: set, stored: readStoredSet({ __left: LEFT }) },
    those,
    (id) => kept.includes(id),
  );
const LEFT = [
  { key: "again", id: "51", at: "2026-01-01T00:00:00.000Z" },
  { key: "again", id: "52", at: "2026-01-01T00:00:00.000Z" },
  { key: "a", id: "53", at: "2026-01-01T00:00:00.000Z" },
];
/** As Pulumi gives them: sorted as text, `k10` before `k2`. */
const keys = (amount: number) => Array.from({ length: amount }, (_, at) => `k${at}`).sort();
const many = (amount: number) => Object.fromEntries(keys(amount).map((key) => [key, A]));
const FIRST_20 = Array.from({ length: 20 }, (_, at) => `k${at}`).join(", ");

describe("a preview says what becomes of each key", () => {
  const HELD = {
    events: { a: A, b: A, c: A, gone: A },
    eventIds: { a: 1, b: 2, c: 3, gone: 4 },
  };
  it("and what a new one was before, unless another resource has that", () => {
    expect(planOf(members({}, { events: { again: A } }), NO_ABILITIES, ["52"])).toBe(
      [
        "events: 1 to create, 0 unchanged",
        "  to create: again",
        "  again was 51 before, which was left live. To keep that, set existingId: 51.",
      ].join("\n"),
    );
  });

  it.each<[string, Abilities, object, object, string[], string[]]>([
    [
      "and which objects stay live",
      NO_ABILITIES,
      { f: OPEN },
      {
        a: A,
        b: CHANGED,
        c: { ...A, existingId: 9 },
        d: A,
        e: { ...A, existingId: 8 },
        f: A,
      },
      [],
      [
        "events: 1 to create, 1 to replace, 2 to adopt, 1 to remove from the state, 1 unchanged",
        "  to create: d",
        "  to replace: b (2)",
        "  to adopt (nothing is sent): c (9), e (8)",
        "  to remove from the state: gone (4)",
        '  d has the same advertiser and name on the platform as gone (4), no longer declared. If it is the same event, set formerKey: "gone".',
        `Each old object (2–4) ${END}`,
        "To keep one, undo the change; or set existingId, and make the change on the platform by hand.",
      ],
    ],
    [
      "and which are deleted",
      { ...ALL, update: false },
      {},
      { a: A, b: CHANGED, c: A },
      [],
      [
        "events: 1 to replace, 1 to delete on the platform, 2 unchanged",
        "  to replace: b (2)",
        "  to delete on the platform: gone (4)",
        'At the end, if all goes well in the set, `pulumi up` deletes each old object (2, 4) on the platform (deletionPolicy: "delete").',
        "To keep one, undo the change; or set existingId, and make the change on the platform by hand.",
      ],
    ],
    [
      "where objects can be changed, deleted and looked for",
      ALL,
      { d: { ...OPEN, field: "m" } },
      { a: A, b: CHANGED, c: { ...A, existingId: UNKNOWN }, d: A },
      [],
      [
        "events: 1 to update in place, 1 to look for on the platform, 1 to replace if an unknown value changes, 1 to delete on the platform, 1 unchanged",
        "  to update in place: b (2)",
        "  to look for on the platform: d",
        "  to replace if an unknown value changes: c (3)",
        "  to delete on the platform: gone (4)",
        "Each old object (3) stays live and unmanaged, and tags placed for it keep firing; once nothing uses it, deactivate it by hand. 3 isn't deleted, because existingId now names another object.",
        'At the end, if all goes well in the set, `pulumi up` deletes each old object (4) on the platform (deletionPolicy: "delete").',
      ],
    ],
    [
      "and that perhaps the old one stays live, where a value is not known yet",
      NO_ABILITIES,
      {},
      { a: { ...A, value: UNKNOWN }, b: A, c: A, gone: A },
      [],
      [
        "events: 1 to replace if an unknown value changes, 3 unchanged",
        "  to replace if an unknown value changes: a (1)",
        `Each old object (1) ${END}`,
      ],
    ],
    [
      "and that another resource goes on with one",
      NO_ABILITIES,
      {},
      { a: A, b: A, c: A },
      ["4"],
      [
        "events: 1 to remove from the state, 3 unchanged",
        "  to remove from the state: gone (4)",
      ],
    ],
  ])("%s", (_, can, unresolved, events, kept, lines) => {
    const those = members({ ...HELD, unresolved }, { events }, can);
    expect(planOf(those, can, kept)).toBe(lines.join("\n"));
  });

  it("and that perhaps the old ones are deleted, where the advertiser is replaced", () => {
    const { events } = HELD;
    const those = members(HELD, { events, advertiserId: UNKNOWN }, ALL);
    expect(planOf(those, ALL)?.split("\n").slice(2)).toEqual([
      'At the end, if all goes well in the set, `pulumi up` deletes each old object (1–4) on the platform (deletionPolicy: "delete").',
    ]);
  });

  it.each<[string, object, string[]]>([
    [
      "what goes on under another key",
      { a: A, b: A, c: A, d: { ...A, formerKey: "gone" } },
      ["events: 1 to rename, 3 unchanged", "  to rename: gone → d (4)"],
    ],
    [
      "… with other arguments",
      { a: A, b: A, c: A, d: { ...CHANGED, formerKey: "gone" } },
      ["events: 1 to update in place, 3 unchanged", "  to update in place: gone → d (4)"],
    ],
    [
      "which of several a new one may be",
      { b: A, c: A, d: A },
      [
        "events: 1 to create, 2 to delete on the platform, 2 unchanged",
        "  to create: d",
        "  to delete on the platform: a (1), gone (4)",
        '  d has the same advertiser and name on the platform as a (1), gone (4), no longer declared. If it is the same event, set formerKey: "a" or "gone".',
        'At the end, if all goes well in the set, `pulumi up` deletes each old object (1, 4) on the platform (deletionPolicy: "delete").',
      ],
    ],
    [
      "nothing of one with another name",
      { a: A, b: A, c: A, d: { ...A, eventName: "D" } },
      [
        "events: 1 to create, 1 to delete on the platform, 3 unchanged",
        "  to create: d",
        "  to delete on the platform: gone (4)",
        'At the end, if all goes well in the set, `pulumi up` deletes each old object (4) on the platform (deletionPolicy: "delete").',
      ],
    ],
  ])("%s", (_, events, lines) => {
    expect(planOf(members(HELD, { events }, ALL), ALL)).toBe(lines.join("\n"));
  });

  it("lists the first of thousands, without control characters, and says nothing if there is nothing to do", () => {
    const planned = (events: object, olds = {}) => planOf(members(olds, { events }));
    expect(planned(many(3000))).toBe(
      `events: 3000 to create, 0 unchanged\n  to create: ${FIRST_20}, and 2980 more`,
    );
    expect(planned({ "a\u202eb": A })).toContain("to create: a b");
    expect(planned(HELD.events, HELD)).toBeUndefined();
  });
});

describe("after an `up`", () => {
  const created = (id: string, isTakenOver = false): Outcome => ({
    kind: "created",
    id,
    mark: "m",
    ...(isTakenOver && { isTakenOver }),
  });

  it("lists objects that are no longer managed; of many the ids", () => {
    const left = (amount: number) =>
      keys(amount).map((key) => ({
        id: String(Number(key.slice(1)) + 1),
        key,
        isDeleted: false,
      }));
    const told = (amount: number) =>
      leftMessage(conversionEvent, set, left(amount))?.split("\n");
    expect(told(3)).toEqual([
      "No longer managed: 3 live events, 1–3.",
      "  k0 (1), k1 (2), k2 (3)",
      `Each ${END}`,
    ]);
    expect(told(0)).toBeUndefined();
    expect(told(25)).toEqual([
      "No longer managed: 25 live events, 1–25.",
      expect.stringMatching(/^ {2}k0 \(1\), .*, k19 \(20\), and 5 more$/),
      `Each ${END}`,
    ]);
  });

  it("the same name with another advertiser is another event: no hint", () => {
    const hint = "has the same advertiser and name";
    const told = (advertiserId: number) => {
      const news = { advertiserId, events: { d: A } };
      const olds = { events: { gone: A }, eventIds: { gone: 4 } };
      return planOf(members(olds, news));
    };
    expect(told(7)).toContain(hint);
    expect(told(8)).not.toContain(hint);
  });

  it("says which were adopted or taken over", () => {
    const outcomes = new Map(
      keys(40).map((key, at) => [key, created(key.slice(1), at % 2 === 0)] as const),
    );
    const those = members({}, { events: many(40) });
    expect(usedMessage(set, those, outcomes)?.match(/k\d+ \(\d+\)/g)).toHaveLength(20);
    expect(usedMessage(set, those, new Map([["k0", created("1")]]))).toBeUndefined();
  });
});

it("in a list of many that were changed by hand, each has its name and both values", () => {
  const { label } = memberRef(set, "a");
  const { brief } = driftNotice({ label: `${label} (3)`, resourceUrn: "" }, [
    "segmentId none → 8",
    "value 26 → 99",
  ]);
  expect(brief).toBe(
    'events["a"] of ConversionEventSet "funnel" (3) (segmentId none → 8 and value 26 → 99)',
  );
});

describe("the error of the whole set", () => {
  const trouble = (
    outcomes: readonly (readonly [string, Outcome])[],
    failedDeletes: FailedDelete[] = [],
  ) => setFailureMessage(set, new Map(outcomes), failedDeletes);
  const errorOf = (key: string, reason: string) =>
    new RefusedError(`${memberRef(set, key).label}: POST https://x was refused: ${reason}`);
  const refused = (key: string, reason: string) =>
    [key, { kind: "failed", error: errorOf(key, reason) }] as const;

  it("has each reason once, with all its keys and its code; of thousands the first ones", () => {
    const failed = keys(50).map((key) =>
      refused(key, key === "k7" ? "the name is taken" : "no"),
    );
    const { text, code } = trouble(failed);
    expect(code).toBe("ADVERTISING_REFUSED");
    expect(text.split("\n")).toEqual([
      'ConversionEventSet "funnel" is incomplete.',
      `  ${FIRST_20.replace(" k7,", "")}, k20, and 29 more: POST https://x was refused: no [ADVERTISING_REFUSED]`,
      "  k7: POST https://x was refused: the name is taken [ADVERTISING_REFUSED]",
      "The next `pulumi up` sends only what is missing or failed.",
    ]);
    const all = trouble(keys(3000).map((key) => refused(key, `no ${key}`))).text;
    expect(all).toContain("and 2980 more");
    expect(all.length).toBeLessThan(4000);
  });

  it("has deletes that failed, and what was made with other arguments", () => {
    // As `apply.ts` names what it deletes.
    const label = `${memberRef(set, "k9").label} (9)`;
    const error = new RefusedError(`${label}: DELETE https://x was refused: in use`);
    const kept = [{ key: "k9", id: "9", error }];
    const asSent = ["k10", "k2"].map((key) => {
      return [
        key,
        { kind: "created", id: key.slice(1), mark: "m", sentAs: { body: "f" } },
      ] as const;
    });
    expect(trouble(asSent, kept).text.split("\n")).toEqual([
      'ConversionEventSet "funnel" is incomplete.',
      "  k9 (9): DELETE https://x was refused: in use [ADVERTISING_REFUSED]",
      "The next `pulumi up` sends only what is missing or failed.",
      expect.stringMatching(
        /^These objects have .*: funnel\/k2 \(2\), funnel\/k10 \(10\)\. The state now has/,
      ),
    ]);
  });

  it("has all unknown outcomes, and the commands that resolve them; of hundreds the first ones", () => {
    const open = (key: string, more: object = {}, why?: string) =>
      [key, { kind: "unresolved", record: { ...OPEN, ...more }, why }] as const;
    const those = [
      open("k10", { what: `${memberRef(set, "k10").label}: it was sent.` }),
      open(`it's "a"`, { searched: "There is none." }, "It resolves nothing."),
    ];
    const { text, code } = trouble([...those, refused("k1", "no")]);
    expect(code).toBe("ADVERTISING_OUTCOME_UNKNOWN");
    expect(text.split("\n").slice(2)).toEqual([
      "The outcome of 2 creates is unknown. Nothing more is sent for them until that is resolved. Look in the account for:",
      '  funnel/it\'s "a": the ConversionEvent named "A", sent at 2026-01-01T00:00:00Z',
      "    It resolves nothing.",
      "    It was sent.",
      "    There is none.",
      '  funnel/k10: the ConversionEvent named "A", sent at 2026-01-01T00:00:00Z',
      '    events["k10"] of ConversionEventSet "funnel": it was sent.',
      ...resolveCommands(
        [`funnel/it's "a"`, "funnel/k10"].map((shownName) => ({ shownName })),
      ),
    ]);
    const all = trouble(keys(500).map((key) => open(key))).text;
    expect([...all.matchAll(/^ {2}funnel\/k(\d+):/gm)].map(([, at]) => Number(at))).toEqual(
      [...Array(20).keys()],
    );
    expect(all).toContain("and 480 more\n");
    expect(commandsIn(all).map((line) => line.match(/--/g)?.length ?? 0)).toEqual([
      20, 20, 0,
    ]);
  });
});
