/** A preview as a comment on a pull request: what it reads, what it says, and that nobody breaks out of it. */
import { describe, expect, it, vi } from "vitest";
import { SIGNATURE_KEY } from "../../provider/src/base/index.js";
import { commentOf } from "../../provider/src/cli/comment.js";
import { type ObjectChange, readPreview } from "../../provider/src/cli/preview.js";
import {
  advertiser as advertiserKind,
  conversionEvent,
  type Kind,
} from "../../provider/src/kinds/index.js";
import {
  interruptedNotice,
  leavingNotice,
  notDeletedNotice,
  planMessage,
  replacedNotice,
} from "../../provider/src/operations/messages.js";
import { shownAction } from "../../provider/src/plan/index.js";
import { refOfUrn, UNKNOWN } from "../../provider/src/state/index.js";
import { EVENT, senderOf, urnOf } from "../support/stored.js";

type Values = Record<string, unknown>;

const side = (urn: string, id: string | undefined, inputs: Values, outputs?: Values) => ({
  type: urn.split("::")[2]?.split("$").at(-1),
  id,
  inputs,
  outputs,
  retainOnDelete: inputs.deletionPolicy !== "delete",
});
const ACME = urnOf("Advertiser", "acme");
const E = (name: string) => urnOf("ConversionEvent", name);
const event = (eventName: string, more: Values = {}) => ({
  eventName,
  advertiserId: 1,
  ...EVENT,
  ...more,
});

const step = (
  op: string,
  urn: string,
  id: string | undefined,
  olds?: Values,
  news?: Values,
) => ({
  op,
  urn,
  oldState: olds && { ...side(urn, id, olds, olds) },
  newState: news && side(urn, op === "replace" ? undefined : id, news),
});
const create = (urn: string, inputs: Values) =>
  step("create", urn, undefined, undefined, inputs);
const remove = (urn: string, id: string, inputs: Values) => step("delete", urn, id, inputs);
const replace = (urn: string, id: string, olds: Values, news: Values) =>
  step("replace", urn, id, olds, news);
/** As the state of a resource whose `deletionPolicy` is `delete`. */
const deleting = <T extends { oldState: Values | undefined }>({ oldState, ...rest }: T) => {
  const inputs = { ...(oldState?.inputs as Values), deletionPolicy: "delete" };
  return { ...rest, oldState: { ...oldState, retainOnDelete: undefined, inputs } };
};

const textIn = (
  preview: object,
  { operations, markField }: { operations?: string; markField?: string } = {},
) => {
  vi.stubEnv("ADVERTISING_OPERATIONS", operations);
  vi.stubEnv("ADVERTISING_MARK_FIELD", markField);
  return JSON.stringify(preview);
};
const read = (...given: Parameters<typeof textIn>) => commentOf(textIn(...given));
const unescaped = (text: string) =>
  text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));
const commentOn = (steps: object[], operations?: object) =>
  unescaped(
    read({ steps }, operations && { operations: JSON.stringify({ event: operations }) })
      .text,
  );
/** The steps as of the plugin's resources. */
const plugin = <T extends object>(steps: T): T =>
  JSON.parse(
    JSON.stringify(steps).replaceAll(
      "pulumi-nodejs:dynamic/advertising:",
      "advertising:index:",
    ),
  );
/** How many objects have which fate. */
const counted = (steps: object[], operations?: object, more: object = {}) => {
  const environment = { operations: JSON.stringify({ event: operations }), ...more };
  const { changes } = readPreview(textIn({ steps }, operations && environment));
  return amounts(changes);
};
const amounts = (changes: readonly ObjectChange[]) => {
  const byAction = Map.groupBy(changes, shownAction);
  return [...byAction]
    .map(([action, all]) => `${all.length} ${action}`)
    .toSorted()
    .join(", ");
};

const OTHER = {
  op: "create",
  urn: "urn:pulumi:dev::shop::random:index:X::x",
  newState: { type: "random:index:X" },
};
const C = {
  gone: remove(E("gone"), "6", event("B")),
  replaced: replace(E("c"), "7", event("C"), event("C2")),
};
const KNOWN = { update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" };
const secret = event("[secret]");
const pending = {
  unresolved: { mark: "m", at: "2026-01-01T00:00:00Z", what: "", body: "f" },
};

const onlyRead = (id: string) => ({
  ...side(E("a"), id, {}),
  retainOnDelete: undefined,
  external: true,
});
const same = step("same", E("moved"), "6", event("B"), event("B"));

it.each<[string, string, ...Parameters<typeof counted>]>([
  ["nothing", "", []],
  ["a new one", "1 create", [create(E("a"), event("A"))]],
  ["a removal", "1 retain", [C.gone]],
  [
    "an unknown advertiser",
    "1 replace",
    [replace(E("c"), "7", event("C"), event("C", { advertiserId: UNKNOWN }))],
  ],
  [
    "a secret that has changed, as the engine says",
    "1 replace",
    [replace(E("c"), "7", secret, secret)],
  ],
  [
    "a secret beside its existingId",
    "1 update state only",
    [
      step(
        "update",
        E("c"),
        "7",
        { ...secret, existingId: 7 },
        { ...secret, existingId: 7 },
      ),
    ],
  ],
  [
    "a replacement that only the engine was asked for",
    "1 replace",
    [replace(E("c"), "7", event("C"), event("C"))],
  ],
  [
    "deletes, where the package knows of one",
    "1 delete, 1 replace",
    [deleting(C.gone), deleting(C.replaced)],
    KNOWN,
  ],
  [
    "no delete is known",
    "1 replace, 1 retain",
    [deleting(C.gone), deleting(C.replaced)],
    {},
  ],
  ["retained", "1 retain", [C.gone], KNOWN],
  ["an unchanged resource has it too", "", [same, deleting(C.gone)], KNOWN],
  [
    "another one adopts it",
    "1 adopt",
    [deleting(C.gone), create(E("own"), event("B", { existingId: 6 }))],
    KNOWN,
  ],
  [
    "unresolved, and perhaps looked for",
    "1 blocked",
    [replace(E("c"), "unresolved-m", { ...event("C"), ...pending }, event("C"))],
  ],
  [
    "unresolved, and removed",
    "1 retain",
    [remove(E("c"), "unresolved-m", { ...event("C"), ...pending })],
  ],
  [
    "unresolved, and removed, beside a new one",
    "1 create, 1 retain",
    [
      create(E("a"), event("A")),
      remove(E("c"), "unresolved-m", { ...event("C"), ...pending }),
    ],
  ],
  ["what an earlier run replaced", "", [{ ...C.gone, op: "delete-replaced" }]],
  [
    "what is only read (.get) is nobody's",
    "1 retain",
    [{ op: "read", urn: E("a"), newState: onlyRead("6") }, C.gone],
  ],
])("%s: %s", (_, expected, ...given) => {
  expect(counted(...given)).toBe(expected);
});

it("counts, and a table that names each", () => {
  const comment = commentOn([
    create(E("a"), event("A")),
    replace(ACME, "1", { advertiserName: "Acme" }, { advertiserName: "Acme 2" }),
    OTHER,
  ]);
  expect(comment).toContain("**1 to replace, 1 to create**\n");
  expect(comment).toContain("<details open><summary>Changes (2)</summary>");
  expect(comment).toContain(
    '- replace: Advertiser <code>acme</code> 1 <code>"Acme 2"</code> <code>advertiserName "Acme" → "Acme 2"</code>',
  );
});

it.each<[string, object, RegExp]>([
  [
    "updated",
    step("update", E("a"), "5", event("A"), event("A", { value: 26 })),
    /^- update: .* 5 .* <code>value 1 → 26<.code>$/m,
  ],
  [
    "secret",
    replace(E("a"), "5", event("A"), event("[secret]")),
    / 5 .* <code>eventName "A" → not known yet<.code>$/m,
  ],
  [
    "not known yet",
    replace(E("a"), "5", event("A"), event("A", { value: UNKNOWN })),
    /value 1 → not known yet/,
  ],
  [
    "long",
    replace(E("a"), "5", event("A"), event("B".repeat(99))),
    /eventName "A" → "B{58}…</,
  ],
  [
    "adopts another",
    replace(E("a"), "5", event("A"), event("A", { existingId: 9 })),
    /^- adopt: .* 5 → 9 <code>"A"<.code>$/m,
  ],
  [
    "edited beside its existingId",
    step(
      "update",
      E("a"),
      "5",
      event("A", { existingId: 5 }),
      event("A", { existingId: 5, segmentId: 4 }),
    ),
    /^\*\*1 to update state only\*\*\n\n<details open>.*\n\n- update state only: .* 5 .* <code>segmentId none → 4<.code>$/m,
  ],
])("a change has its old and its new value: %s", (_, change, expected) => {
  expect(commentOn([change])).toMatch(expected);
});

it("says how many objects stay live and how many are deleted; the stack's setting comes before the environment's", () => {
  const fates = (live: number, deleted: number) => ({ live, deleted });
  const fatesIn = (comment: string) => {
    const amountOf = (fate: RegExp) => Number(fate.exec(comment)?.[1] ?? 0);
    const live = amountOf(/^Up to (\d+) objects? would stay live and unmanaged, and/m);
    return { live, deleted: amountOf(/^Up to (\d+) objects? would be deleted/m) };
  };
  expect(fatesIn(commentOn([C.gone, C.replaced]))).toEqual(fates(2, 0));
  expect(fatesIn(commentOn([deleting(C.gone), C.replaced], KNOWN))).toEqual(fates(1, 1));
  // What is replaced is deleted only if state and program have the option.
  expect(fatesIn(commentOn([deleting(C.replaced)], KNOWN))).toEqual(fates(1, 0));
  const both = replace(E("c"), "7", event("C"), event("C2", { deletionPolicy: "delete" }));
  expect(fatesIn(commentOn([deleting(both)], KNOWN))).toEqual(fates(0, 1));
  // The record's option, or one that a parent or a transformation brings in this run.
  for (const name of ["oldState", "newState"] as const) {
    const step = deleting(both);
    for (const option of [{ retainOnDelete: true }, { deletedWith: "a URN" }]) {
      const kept = { ...step, [name]: { ...step[name], ...option } };
      expect(fatesIn(commentOn([kept], KNOWN))).toEqual(fates(1, 0));
    }
  }
  const due = [
    "`c` was replaced by an earlier run. `pulumi up` deletes …",
    "7 more, each of which was replaced by an earlier run: …",
  ];
  const diagnostics = due.map((message) => ({ severity: "warning", message }));
  expect(
    fatesIn(
      read(
        { steps: [deleting(both)], diagnostics },
        { operations: JSON.stringify({ event: KNOWN }) },
      ).text,
    ),
  ).toEqual(fates(0, 9));
  // What the preview itself keeps.
  const keeping = `ConversionEvent "c" (7) leaves the state and isn't deleted, because …`;
  const { text: spared } = read(
    { steps: [deleting(both)], diagnostics: [{ severity: "warning", message: keeping }] },
    { operations: JSON.stringify({ event: KNOWN }) },
  );
  expect(fatesIn(spared)).toEqual(fates(1, 0));
  const kept = "`c` was replaced by an earlier run, and leaves the state. Its event …";
  const { text: left } = read({
    steps: [],
    diagnostics: [{ severity: "warning", message: kept }],
  });
  expect(left).toContain("**1 to leave the state, replaced by an earlier run**");
  expect(fatesIn(left)).toEqual(fates(1, 0));
  // Such a delete isn't among the steps of Pulumi's JSON.
  const { text } = read({ steps: [], diagnostics });
  expect(text).toContain("**8 to delete, replaced by an earlier run**");
  expect(text).not.toContain("no changes");
  const operations = JSON.stringify({ event: KNOWN });
  const of = (config: object, environment: object) =>
    read({ steps: [deleting(C.gone)], config }, environment).text;
  expect(
    fatesIn(of({ "advertising:operations": operations }, { operations: "{}" })),
  ).toEqual(fates(0, 1));
  expect(fatesIn(of({ "advertising:operations": "no JSON" }, { operations }))).toEqual(
    fates(1, 0),
  );
});

it("an object that another resource adopts is counted with that one, also if its own is replaced", () => {
  const steps = [
    deleting(replace(E("c"), "7", event("C"), event("C2", { deletionPolicy: "delete" }))),
    create(E("new"), event("C", { existingId: 7 })),
  ];
  expect(commentOn(steps, KNOWN)).not.toMatch(/would (be deleted|stay live)/);
  expect(commentOn(steps.slice(0, 1), KNOWN)).toContain("Up to 1 object would be deleted");
});

describe("an object that a preview's messages keep isn't counted as deleted", () => {
  const DELETES = { deletionPolicy: "delete" };
  const Z = urnOf("Advertiser", "z");
  const EVENTS = urnOf("ConversionEventSet", "funnel");
  const advertiser = { delete: "DELETE rest/advertiser/{id}" };
  const why = "a reason";
  const refAt = (urn: string) =>
    refOfUrn(
      urn.includes(":Advertiser::") ? "Advertiser" : "ConversionEvent",
      urn,
    ) as never;
  const leaves = (kind: Kind, urn: string, id: string) =>
    leavingNotice({ kind, ref: refAt(urn), name: "B" }, { id, isDeleted: false, why }).text;
  const replaces = (kind: Kind, urn: string, id: string) =>
    replacedNotice(kind, refAt(urn), { id, isDeleted: false, why }, "is replaced").text;
  const stays = (label: string) => notDeletedNotice(label, why).text;
  const gone = deleting(remove(Z, "6", { advertiserName: "Z" }));
  const replaced = deleting(
    replace(Z, "6", { advertiserName: "Z" }, { advertiserName: "Z 2", ...DELETES }),
  );
  const entry = { eventName: "A", value: 1 };
  const both = { advertiserId: 1, events: { a: entry, b: entry, c: entry }, ...DELETES };
  const set = step("update", EVENTS, "set-x", both, {
    ...both,
    events: {},
  });
  const shrunk = {
    ...set,
    oldState: {
      ...set.oldState,
      outputs: { ...both, eventIds: { a: 6, b: 7, c: 9 } },
    },
  };
  const event = deleting(C.gone);

  it.each<[number, string, object, string, string?]>([
    [1, "an advertiser: nothing says so", gone, ""],
    [0, "an advertiser", gone, leaves(advertiserKind, Z, "6")],
    [1, "an advertiser: it's an event", gone, leaves(conversionEvent, E("gone"), "6")],
    [0, "an advertiser that is replaced", replaced, replaces(advertiserKind, Z, "6"), Z],
    [1, "another one", replaced, replaces(advertiserKind, Z, "7"), Z],
    [0, "an advertiser that another resource has", gone, stays('Advertiser "z" (6)')],
    [0, "an event", event, leaves(conversionEvent, E("gone"), "6")],
    [
      0,
      "an event, in a list",
      event,
      `warning: 2 more, not deleted: x (5), ConversionEvent "gone" (6)`,
    ],
    [
      0,
      "an event, in another list",
      event,
      `1 more, no longer in the program, which stay live: ConversionEvent "gone" (6)`,
    ],
    [
      0,
      "a replaced event, in a list",
      event,
      `1 more, replaced, whose old objects stay live: ConversionEvent "gone" (6)`,
    ],
    [
      0,
      "an event that is perhaps replaced, in a list",
      event,
      `1 more, perhaps replaced, whose old objects stay live: ConversionEvent "gone" (6)`,
    ],
    [
      1,
      "a replaced event, in a list of deletes",
      event,
      `1 more, replaced, whose old objects are deleted: ConversionEvent "gone" (6)`,
    ],
    [
      1,
      "an event: the list is about an advertiser",
      event,
      `1 more, not deleted: Advertiser "gone" (6)`,
    ],
    [
      1,
      "an event: the list is about deletes",
      event,
      `1 more, deleted on the platform by \`pulumi up\`: ConversionEvent "gone" (6)`,
    ],
    [
      1,
      "two of a set's events",
      shrunk,
      "Each old object (6–7) stays live and unmanaged.",
      EVENTS,
    ],
    [
      1,
      "two of a set's events, with the plugin",
      plugin(shrunk),
      "Each old object (6, 7), unless another resource adopts it, stays live.",
      String(plugin([EVENTS])),
    ],
    [3, "another set's", shrunk, "Each old object (6–7) stays live and unmanaged.", Z],
  ])("%i: %s", (deleted, _, change, message, urn = "") => {
    const operations = JSON.stringify({ event: KNOWN, advertiser });
    const diagnostics = [{ severity: "info", message, urn }];
    const text = unescaped(read({ steps: [change], diagnostics }, { operations }).text);
    expect(/Up to (\d+) objects? would be deleted/.exec(text)?.[1] ?? "0").toBe(
      `${deleted}`,
    );
  });

  it("an explicit provider's operations aren't among the steps: its deletes count as known", () => {
    const provider = "urn:pulumi:dev::shop::pulumi:providers:advertising::ex::0";
    const of = (own: string) => {
      const { oldState, ...rest } = plugin(event);
      return commentOn([{ ...rest, oldState: { ...oldState, provider: own } }]);
    };
    expect(of(provider)).toContain("1 to delete");
    expect(of(provider.replace("::ex::", "::default_1_0_0::"))).not.toContain("to delete");
  });
});

it("a rename into the other face needs the former URN as an alias", () => {
  const renamed = create(
    E("bought").replace("pulumi-nodejs:dynamic/advertising:", "advertising:index:"),
    event("B"),
  );
  const [, hint = ""] =
    /To keep \d+, (.*)/.exec(
      commentOn([
        {
          ...renamed,
          newState: { ...renamed.newState, type: "advertising:index:ConversionEvent" },
        },
        C.gone,
      ]),
    ) ?? [];
  expect(hint).toContain(`add the alias <code>"${C.gone.urn}"</code>`);
});

describe("a set can't take a single event's state, nor the other way round: only existingId keeps the object", () => {
  const args = {
    advertiserId: 1,
    defaults: {},
    events: { k: { ...EVENT, eventName: "B" } },
  };
  const inCatalog = <T extends object>(steps: T): T =>
    JSON.parse(
      JSON.stringify(steps).replaceAll(
        /::shop::(.*?::)/g,
        "::shop::advertising:index:Catalog$$$1shop/acme/",
      ),
    );
  const SET = urnOf("ConversionEventSet", "acme");
  const toSet = [create(SET, args), C.gone];
  const removal = remove(SET, "set-1", args);
  const fromSet = [
    create(E("single"), event("B")),
    {
      ...removal,
      oldState: { ...removal.oldState, outputs: { ...args, eventIds: { k: 6 } } },
    },
  ];

  it.each<[string, object[]]>([
    ["to a set", toSet],
    ["from a set", fromSet],
    ["to a set of a catalog", inCatalog(toSet)],
    ["to a set, with the plugin", plugin(toSet)],
    ["from a set, with the plugin", plugin(fromSet)],
    ["to a set of the other form", [plugin(create(SET, args)), C.gone]],
  ])("%s", (_, steps) => {
    const hints = Array.from(
      commentOn(steps).matchAll(/To keep 6, (.*)/g),
      ([, hint]) => hint,
    );
    expect(hints).toEqual(["set <code>existingId: 6</code>."]);
  });
});

it("a rename with another change says to undo that, too", () => {
  const news = { ...event("B"), value: 2 };
  expect(commentOn([create(E("new"), news), C.gone])).toMatch(
    /To keep 6, add the alias .*, and undo its other changes unless an update is known\./,
  );
});

it("a formerKey stays within its catalog and advertiser", () => {
  const row = (place: string) =>
    `urn:pulumi:dev::shop::advertising:index:Catalog$pulumi-nodejs:dynamic/advertising:ConversionEvent::${place}`;
  const hintOf = (from: string, to: string) =>
    commentOn([create(row(to), event("B")), remove(row(from), "6", event("B"))]).match(
      /To keep 6, (.*)/,
    )?.[1];
  const adopt = "set <code>existingId: 6</code>.";
  expect(hintOf("shop/acme/a", "shop/acme/b")).toMatch(/^set <code>formerKey: /);
  expect(hintOf("shop/acme/a", "store/acme/a")).toBe(adopt);
  expect(hintOf("shop/acme/a", "shop/hats/a")).toBe(adopt);
});

it("counts renames and replacements, for --fail-on", () => {
  const steps = [create(E("bought"), event("B")), C.gone, C.replaced];
  expect(
    read({
      steps: [
        ...steps,
        replace(E("d"), "8", event("D"), event("D", { advertiserId: UNKNOWN })),
      ],
    }),
  ).toMatchObject({ renames: 1, replacements: 2 });
});

describe("the rename guard", () => {
  const looksLike = (...args: Parameters<typeof commentOn>) =>
    commentOn(...args).match(/ is new, and seems to be /g)?.length ?? 0;

  it("names a create with the advertiser and name of a removed resource, and the way to keep that", () => {
    expect(commentOn([create(E("bought"), event("B")), C.gone])).toContain(
      '<code>bought</code> is new, and seems to be <code>gone</code> (6), which leaves the state. To keep 6, add the alias <code>{ name: "gone" }</code>, or set <code>existingId: 6</code>.',
    );
  });

  it.each<[number, string, object[]]>([
    [1, "another argument differs", [create(E("x"), event("B", { value: 2 })), C.gone]],
    [0, "another name", [create(E("x"), event("B2")), C.gone]],
    [0, "another advertiser", [create(E("x"), event("B", { advertiserId: 2 })), C.gone]],
    [0, "another kind", [create(ACME, { advertiserName: "B" }), C.gone]],
    [1, "a hidden name", [create(E("x"), secret), remove(E("y"), "6", secret)]],
    [
      0,
      "a hidden name, and another argument differs",
      [create(E("x"), { ...secret, value: 2 }), remove(E("y"), "6", secret)],
    ],
    [
      2,
      "two creates with the same body",
      [create(E("x"), event("B")), create(E("y"), event("B")), C.gone],
    ],
    [
      1,
      "an advertiser that is not known yet",
      [create(E("x"), event("B", { advertiserId: UNKNOWN })), C.gone],
    ],
    [0, "an unchanged resource has it too", [same, create(E("x"), event("B")), C.gone]],
  ])("%i: %s", (expected, _, steps) => {
    expect(looksLike(steps)).toBe(expected);
  });
});

it("a catalog's removed row stays live if the catalog asks for deletes no longer, as in the `up`", () => {
  const row = (name: string, catalog = "shop") =>
    `urn:pulumi:dev::shop::advertising:index:Catalog$pulumi-nodejs:dynamic/advertising:ConversionEvent::${catalog}/acme/${name}`;
  const asking = event("A", { deletionPolicy: "delete" });
  const removal = deleting(remove(row("gone"), "6", event("Gone")));
  const keeps = step("update", row("a"), "5", asking, event("A"));
  const deletes = step("same", row("b"), "7", asking, asking);
  const elsewhere = step("update", row("a", "other"), "8", asking, event("A"));
  expect(counted([removal, keeps], KNOWN)).toBe("1 retain");
  expect(counted([removal, keeps, deletes], KNOWN)).toBe("1 delete");
  expect(counted([removal, elsewhere], KNOWN)).toBe("1 delete");
  expect(counted([removal], KNOWN)).toBe("1 delete");
});

describe("a set", () => {
  const SET = urnOf("ConversionEventSet", "funnel");
  const { value: __, ...defaults } = EVENT;
  const entry = (value: unknown, eventName = "A") => ({ eventName, value });
  const olds = {
    ...{
      advertiserId: 1,
      defaults,
      events: { a: entry(1), b: entry(1), same: entry(1), gone: entry(1) },
    },
    ...{
      eventIds: { a: 8, b: 9, same: 10, gone: 11 },
      sentAs: { b: { body: "a fingerprint of other arguments" } },
    },
  };
  const EVENTS = { a: entry(2), b: entry(2), same: entry(1), new: entry(5) };
  const update = (events: unknown, more: Values = {}, outputs: Values = {}) => ({
    ...step("update", SET, "set-x", olds, { advertiserId: 1, defaults, events, ...more }),
    oldState: side(SET, "set-x", olds, { ...olds, ...outputs }),
  });
  const DELETES = { deletionPolicy: "delete" };

  it.each<[string, string, ...Parameters<typeof counted>]>([
    ["its members, key by key", "1 create, 1 retain, 2 replace", [update(EVENTS)]],
    [
      "of another advertiser",
      "1 create, 1 retain, 3 replace",
      [update(EVENTS, { advertiserId: 2 })],
      KNOWN,
    ],
    [
      "that deletes",
      "1 create, 1 delete, 1 replace, 1 update",
      [deleting(update(EVENTS, DELETES))],
      KNOWN,
    ],
    ["that deletes, removed", "4 delete", [deleting(remove(SET, "set-x", olds))], KNOWN],
    [
      "replaced, because somebody asks the engine: it keeps its events, and deletes none",
      "1 create, 1 retain",
      [
        deleting(
          replace(SET, "set-x", olds, { ...olds, events: EVENTS, eventIds: undefined }),
        ),
      ],
      KNOWN,
    ],
    [
      "a secret that may have changed",
      "1 perhaps replace, 3 retain",
      [update({ a: entry("[secret]") })],
    ],
    [
      "of an advertiser that may be replaced",
      "1 create, 1 retain, 3 perhaps replace",
      [update(EVENTS, { advertiserId: UNKNOWN })],
      KNOWN,
    ],
    [
      "secret fields that all share",
      "4 perhaps replace",
      [update(olds.events, { defaults: { ...defaults, additionalFields: "[secret]" } })],
    ],
    [
      "a key that goes on under another one",
      "1 rename",
      [
        update(
          { ...olds.events, gone: undefined, kept: { ...entry(1), formerKey: "gone" } },
          {},
          { sentAs: {} },
        ),
      ],
    ],
    [
      "unresolved",
      "1 blocked",
      [
        update(
          { ...olds.events, new: entry(5) },
          {},
          { unresolved: { new: pending.unresolved }, sentAs: {} },
        ),
      ],
    ],
  ])("%s: %s", (_, expected, ...given) => {
    expect(counted(...given)).toBe(expected);
  });

  it.each([
    [true, {}, "1 create, 1 delete, 1 replace, 1 update"],
    [false, KNOWN, "1 create, 1 delete, 2 replace"],
  ])(
    "of an explicit provider: its own operations count, not the stack's: an update is known: %j",
    (canUpdate, operations, expected) => {
      const provider = "urn:pulumi:dev::shop::pulumi:providers:advertising::ex::0";
      const __sender = senderOf("shop/dev::funnel", { run: "run", canUpdate });
      const { oldState, ...rest } = plugin(
        deleting(update(EVENTS, { ...DELETES, __sender })),
      );
      expect(counted([{ ...rest, oldState: { ...oldState, provider } }], operations)).toBe(
        expected,
      );
    },
  );

  describe("whose state hides values: nothing is surely replaced", () => {
    /** `a` gets another value; nothing else changes, as far as one can tell. */
    const EVENTS = { a: entry(2), same: entry(1) };
    const hiding = (outputs: Values, args: Values = {}) => {
      const eventIds = { a: 8, same: 10 };
      const events = { a: entry(1), same: entry(1) };
      const shown = { events, eventIds, sentAs: {}, ...outputs };
      return deleting(update(EVENTS, { ...DELETES, ...args }, shown));
    };
    const entries = { a: entry("[secret]"), same: "[secret]" };
    const hidden = { ...defaults, clickWindow: "[secret]" };
    const owner = { advertiserId: "[secret]" };
    const { update: _, ...noUpdate } = KNOWN;
    const fields = { defaults: { ...defaults, additionalFields: "[secret]" } };

    it.each<[string, string, string, Values, Values?]>([
      ["all events", "2 perhaps replace", "2 update", { events: "[secret]" }],
      ["events", "2 perhaps replace", "2 update", { events: entries }],
      ["defaults", "1 perhaps replace, 1 replace", "2 update", { defaults: "[secret]" }],
      ["a default", "1 perhaps replace, 1 replace", "2 update", { defaults: hidden }],
      ["fields", "1 perhaps replace, 1 replace", "2 update", fields],
      ["fields, also new", "1 perhaps replace, 1 replace", "2 update", fields, fields],
      ["advertiser", "1 perhaps replace, 1 replace", "2 perhaps replace", owner],
      [
        "advertiser, also new",
        "1 perhaps replace, 1 replace",
        "2 perhaps replace",
        owner,
        owner,
      ],
    ])("%s: %s; with an update: %s", (_, expected, updating, ...given) => {
      expect(counted([hiding(...given)], noUpdate)).toBe(expected);
      expect(counted([hiding(...given)], KNOWN)).toBe(updating);
    });

    const planned = (key: string, id: string, action: Values["action"]) => {
      const leaves = ["replace", "delete"].includes((action as { do: string }).do);
      const leaving = leaves ? { id, isDeleted: true } : undefined;
      return { key, id, action, leaving, olds: {}, values: {}, isDeclared: true };
    };
    const messageOf = (...members: ReturnType<typeof planned>[]) => {
      const ref = refOfUrn("ConversionEventSet", SET);
      const plan = { kind: conversionEvent, can: {}, ref, stored: { left: [] } };
      return planMessage(plan, members as never, () => false);
    };
    const same = planned("same", "10", { do: "same" });
    const replaced = (perhaps: boolean, key = "a", id = "8") =>
      planned(key, id, { do: "replace", perhaps });

    it.each<[string, string, object, string | undefined, Values]>([
      ["1 replace", "one", noUpdate, messageOf(replaced(false), same), owner],
      [
        "1 perhaps replace",
        "perhaps",
        noUpdate,
        messageOf(replaced(true), same),
        { events: "[secret]" },
      ],
      [
        "2 replace",
        "both",
        KNOWN,
        messageOf(replaced(false), replaced(false, "same", "10")),
        owner,
      ],
      [
        "1 update",
        "none",
        KNOWN,
        messageOf(planned("a", "8", { do: "update" }), same),
        owner,
      ],
      [
        "1 replace",
        "one of hidden events",
        noUpdate,
        messageOf(replaced(false), same),
        { events: "[secret]" },
      ],
      [
        "2 perhaps replace",
        "one, and its id is masked",
        noUpdate,
        messageOf(replaced(false), same)?.replaceAll("8", "[secret]"),
        { events: "[secret]" },
      ],
      [
        "2 perhaps replace",
        "one, which another resource has",
        noUpdate,
        messageOf({ ...replaced(false), leaving: undefined }, same),
        { events: "[secret]" },
      ],
      ["2 perhaps replace", "no plan", noUpdate, "customTimeouts", { events: "[secret]" }],
    ])(
      "%s, by the preview's own message: %s",
      (expected, _, operations, message, outputs) => {
        const diagnostics = [
          { severity: "warning", message: `warning: ${message}\n`, urn: SET },
        ];
        const environment = { operations: JSON.stringify({ event: operations }) };
        const preview = { steps: [hiding(outputs)], diagnostics };
        const { changes } = readPreview(textIn(preview, environment));
        expect(amounts(changes)).toBe(expected);
      },
    );

    it("what is hidden is shown as secret", () => {
      expect(commentOn([hiding({ events: entries })])).toMatch(
        /funnel\/same.*<code>eventName secret → "A"<.code>.*<code>value secret → 1</,
      );
    });
  });

  it("of an advertiser that is replaced: its old events are counted as deleted, as far as they may be", () => {
    const step = deleting(update(EVENTS, { ...DELETES, advertiserId: UNKNOWN }));
    expect(commentOn([step], KNOWN)).toContain("Up to 4 objects would be deleted");
  });

  it("a member's change has both values", () => {
    expect(commentOn([update({ ...olds.events, a: entry(26) })])).toMatch(
      /funnel\/a.* <code>value \d+ → 26<.code>$/m,
    );
  });

  it("an unresolved member is looked for if a search is known", () => {
    const unresolved = { new: { ...pending.unresolved, field: "f" } };
    const steps = [update({ new: entry(5) }, {}, { unresolved, events: {}, eventIds: {} })];
    const known = { search: "GET rest/event?f={mark}" };
    expect(counted(steps, known, { markField: "f" })).toBe("1 recover");
  });

  it.each(["[secret]", UNKNOWN])("whose events are all hidden is named: %s", (events) => {
    const comment = read({ steps: [update(events)] });
    expect(comment.text).toMatch(
      /\*\*1 set with hidden events\*\*[\s\S]*<code>funnel<.code>: its events are secret or not/,
    );
    expect(comment.replacements).toBe(1);
    expect(commentOn([{ ...update(events), op: "same" }])).toContain(
      "The preview shows no changes to them",
    );
  });

  it("a key that was renamed, and an event that moved out of it, look like renames", () => {
    const events = { ...olds.events, gone: undefined, b: undefined };
    expect(
      commentOn([update({ ...events, renamed: entry(1) }, {}, { sentAs: {} })]),
    ).toMatch(
      /<code>funnel\/renamed<.code> is new.*set <code>formerKey: "b"<.code>, or set <code>existingId: 9</,
    );
    const own = create(E("own"), event("A"));
    expect(commentOn([update(events, {}, { sentAs: {} }), own])).toContain(
      "<code>own</code> is new",
    );
  });

  it("what was renamed has both keys", () => {
    const renamed = {
      ...olds.events,
      gone: undefined,
      kept: { ...entry(1), formerKey: "gone" },
    };
    expect(commentOn([update(renamed, {}, { sentAs: {} })])).toMatch(
      /\*\*1 to rename\*\*[\s\S]*- rename: .*funnel\/kept.* 11 .* <code>key gone → kept<.code>$/m,
    );
  });
});

/** GitHub takes 65,536, and a workflow adds some. */
const MAX_COMMENT = 62_000;

it("5,000 changes stay below 62,000 characters, and say how many have no room", () => {
  const steps = Array.from({ length: 5000 }, (_, i) => [
    create(E(`new ${i} ${"x".repeat(i % 90)}`), event(`Event ${i % 4000}`)),
    remove(E(`old ${i}`), String(i + 1), event(`Event ${i % 4000}`)),
  ]).flat();
  const { text } = read({
    steps,
    diagnostics: [{ severity: "warning", message: "long ".repeat(20_000), urn: ACME }],
  });
  expect(text.length).toBeLessThanOrEqual(MAX_COMMENT);
  expect(text).toContain("5000 to create, 5000 to leave the state");
  expect(text).toMatch(/… and \d+ more, which don't fit here/);
  expect(text.match(/<details/g)?.length ?? 0).toBe(
    text.match(/<\/details>/g)?.length ?? 0,
  );
  const errors = Array.from({ length: 500 }, () => ({
    severity: "error",
    message: "<b>".repeat(900),
    urn: ACME,
  }));
  expect(read({ steps, diagnostics: errors }).text.length).toBeLessThanOrEqual(MAX_COMMENT);
});

it.each([
  [[], undefined],
  [[create(E("a"), event("A"))], "**1 to create**\n"],
  [[OTHER], undefined],
])(
  "a failed preview never says that nothing changes, because it did not see everything",
  (steps, told) => {
    const { text } = read({ steps, diagnostics: [{ severity: "error", message: "no" }] });
    expect(text).toContain("**The preview failed: 1 error.**");
    expect(text).not.toContain("The preview shows no changes");
    expect(text).toContain(told ?? "");
  },
);

it.each([
  ["", "**The preview failed, and printed nothing: see its log.**"],
  [
    JSON.stringify({
      steps: [OTHER],
      diagnostics: [
        {
          severity: "warning",
          message:
            "advertising:password is not set. This preview needs none. For `pulumi up`, …",
        },
      ],
    }),
    "**The preview shows no changes to them**",
  ],
])("%s", (preview, text) => {
  expect(commentOf(preview).text).toBe(
    `### Advertisers and conversion events\n\n${text}\n`,
  );
});

it("messages have room before thousands of changes", () => {
  const steps = Array.from({ length: 5000 }, (_, at) => create(E(`e${at}`), event("E")));
  const diagnostics = [{ severity: "warning", message: "look here" }];
  const { text } = read({ steps, diagnostics });
  expect(text).toContain("<code>look here</code>");
  expect(text).toMatch(/\n- … and \d+ more, which don't fit here/);
});

describe("of what a killed update may have changed, all arguments are sent", () => {
  const told = (label: string, id: string) => interruptedNotice({ label }, id, "update");
  const operations = JSON.stringify({ event: KNOWN });
  const shown = (steps: object[], messages: string[]) => {
    const diagnostics = messages.map((message) => ({ severity: "warning", message }));
    return unescaped(read({ steps, diagnostics }, { operations }).text);
  };

  it("of a single event", () => {
    const same = step("update", E("a"), "3", event("A"), event("A"));
    const { text } = told('ConversionEvent "a"', "3");
    expect(shown([same], [text])).toContain("**1 to update**");
    const { sort, brief } = told('ConversionEvent "a"', "3");
    expect(shown([same], [`1 more, ${sort}: ${brief}`])).toContain("**1 to update**");
    expect(shown([same], [])).toContain("shows no changes");
  });

  it("of a set's events", () => {
    const urn = urnOf("ConversionEventSet", "s");
    const events = { k: { eventName: "K", value: 1 }, l: { eventName: "L", value: 1 } };
    const inputs = { advertiserId: 1, defaults: {}, events };
    const olds = { ...inputs, eventIds: { k: 3, l: 4 } };
    const same = step("update", urn, "s-1", olds, inputs);
    const { text } = told('events["k"] of ConversionEventSet "s"', "3");
    expect(shown([same], [text])).toContain("**1 to update**");
  });
});

it("a preview without a changed step points to its messages, for what only they say", () => {
  const diagnostics = [{ severity: "warning", message: "an interrupted run may have" }];
  const { text } = read({ steps: [OTHER], diagnostics });
  expect(text).toContain("**The preview shows no changes to them, but see the messages**");
});

it.each([
  [
    "a language host",
    {
      steps: [OTHER],
      diagnostics: [{ severity: "info#err", message: "\u001b[31mError\u001b[0m: typo" }],
    },
  ],
  ["no program", { diagnostics: [{ severity: "warning", message: "Error: typo" }] }],
])(
  "a preview that only %s shows to have failed: nothing says that all is as it was",
  (_, preview) => {
    const { text } = read(preview);
    expect(text).toContain(
      "**The preview shows no changes to them, and may have failed: see the messages**",
    );
    expect(text).toContain("<code>Error: typo</code>");
  },
);

it("names can't be markup, mention people, or turn the reading direction", () => {
  const name = "<script>alert(1)</script> @everyone | `x` **b** \u202egnp.exe\n# heading";
  const diagnostics = [{ severity: "error", message: name, urn: ACME }];
  const steps = [
    create(E("a"), event(name)),
    replace(E("b"), "5", event(name), event("B")),
  ];
  const { text } = read({ steps, diagnostics });
  for (const part of ["<script", "@everyone", "`x`", "**b**", "\u202e", "\n# heading"])
    expect(text).not.toContain(part);
  expect(unescaped(text)).toContain(
    "<script>alert(1)</script> @everyone | `x` **b**  gnp.exe # heading",
  );
});

it("two previews of the same changes have the same comment, in whichever order Pulumi prints them", () => {
  const steps = [
    create(E("e10"), event("A")),
    C.replaced,
    create(E("e2"), event("B")),
    C.gone,
    remove(E("z"), "8", event("B")),
    create(ACME, { advertiserName: "Acme" }),
    create(E("hidden"), { events: UNKNOWN }),
    create(urnOf("ConversionEventSet", "x"), { events: UNKNOWN }),
    create(urnOf("ConversionEventSet", "v"), { events: UNKNOWN }),
  ];
  const diagnostics = ["b", "c", "a", "c"].map((name, at) => {
    return { severity: "warning", message: `warning: ${at % 3}`, urn: E(name) };
  });
  const { text } = read({ steps, diagnostics });
  const reversed = { steps: steps.toReversed(), diagnostics: diagnostics.toReversed() };
  expect(read(reversed).text).toBe(text);
  expect(text).toMatch(/create: .*e2<[\s\S]*create: .*e10</);
});

it("lines of one resource's message stay in their order", () => {
  const diagnostics = ["z", "a", "m"].map((message) => {
    return { severity: "error", message, urn: ACME };
  });
  expect(read({ diagnostics }).text).toMatch(/>z<[\s\S]*>a<[\s\S]*>m</);
});

it("nobody can tell a secret from a value that is not known yet", () => {
  const { text } = read({
    steps: [create(E("a"), secret), create(E("b"), event(UNKNOWN))],
  });
  expect(unescaped(text).match(/"\(secret or not known yet\)"/g)).toHaveLength(2);
  expect(text).not.toContain(UNKNOWN);
});

describe("one engine event a line, as with PULUMI_ENABLE_STREAMING_JSON_PREVIEW", () => {
  const pre = ({ op, urn, oldState, newState }: ReturnType<typeof step>) => ({
    resourcePreEvent: {
      metadata: { op, urn, old: oldState ?? null, new: newState ?? null },
      planning: true,
    },
  });
  const said = (severity: string, message: string, urn?: string) => ({
    diagnosticEvent: { severity, message, urn, prefix: `${severity}: ` },
  });
  const replaced = pre(C.replaced);
  const ofReplaced = ["create-replacement", "replace", "delete-replaced"].map((op) => ({
    resourcePreEvent: { metadata: { ...replaced.resourcePreEvent.metadata, op } },
  }));
  const events = [
    { preludeEvent: { config: { "advertising:operations": "{}" } } },
    ...[create(E("a"), event("A")), C.gone].map(pre),
    { resOutputsEvent: pre(C.gone).resourcePreEvent },
    ...ofReplaced,
    said("debug", "Registering resource\n"),
    said("warning", "careful\n", ACME),
    { summaryEvent: { isPreview: true, result: "succeeded" } },
    { cancelEvent: {} },
  ];
  const textOf = (all: object[]) => all.map((each) => `${JSON.stringify(each)}\n`).join("");

  it("is read like one object", () => {
    const diagnostics = [{ severity: "warning", message: "warning: careful\n", urn: ACME }];
    const steps = [create(E("a"), event("A")), C.gone, C.replaced];
    const comment = commentOf(textOf(events));
    expect(comment).toEqual(commentOf(JSON.stringify({ steps, diagnostics })));
    expect(comment.text).toContain("1 to create, 1 to replace, 1 to leave the state");
  });

  it.each(["ciphertext", "plaintext"])("hides secrets: %s", (form) => {
    const secret = { [SIGNATURE_KEY]: "1b47061264138c4ac30d75fd1eb44270", [form]: "{1}" };
    const set = urnOf("ConversionEventSet", "funnel");
    const stepsWith = (hidden: unknown) => {
      const args = { advertiserId: 1, events: hidden };
      return [
        step("update", set, "set-1", { ...args, eventIds: { k: 102 } }, args),
        replace(E("a"), "7", event("A", { value: hidden }), event("A", { value: hidden })),
      ];
    };
    const streamed = [...stepsWith(secret).map(pre), ...events.slice(-2)];
    const steps = stepsWith("[secret]");
    const comment = commentOf(textOf(streamed));
    expect(comment).toEqual(commentOf(JSON.stringify({ steps })));
    expect(comment.text).toContain("1 set with hidden events");
    expect(comment.renames).toBe(0);
  });

  it.each([1, 4, events.length - 2])(
    "that was cut off is no preview: %i events",
    (length) => {
      const text = textOf(events.slice(0, length));
      expect(() => readPreview(text)).toThrow("to its end");
      expect(() => readPreview(text.slice(0, -9))).toThrow("to its end");
    },
  );
});

it("a message is there once, with all its names, each of its lines apart; what others print isn't", () => {
  const of = (severity: string, message: string, name = "a") => ({
    severity,
    message,
    urn: E(name),
  });
  const { text } = read({
    diagnostics: [
      of("error", "error: one\n  two\n", "a"),
      of("error", "error: one\n  two\n", "b"),
      of("info#err", "Pulumi's record can't be read"),
      of("info", "events: 1 to create"),
      of("debug", "Registering resource"),
    ],
  });
  expect(text).toContain("<summary>Errors (1)</summary>");
  expect(text).toContain(
    "- <code>a</code> and <code>b</code>: <code>one</code><br><code>two</code>\n",
  );
  expect(text).toContain("<summary>Messages (1)</summary>");
});

it("after a resolved create that was sent with other arguments, only what differs is shown", () => {
  const sentAs = { __sentAs: { body: "of other arguments", owner: "1" } };
  const olds = { ...event("A"), ...sentAs };
  expect(commentOn([step("update", E("a"), "5", olds, event("A", { value: 26 }))])).toMatch(
    /^- update: .* 5 <code>"A"<.code> <code>value 1 → 26<.code>$/m,
  );
  expect(commentOn([step("update", E("a"), "5", olds, event("A"))])).toMatch(
    /^- update: .* <code>not as it was sent<.code>$/m,
  );
});

it.each(["", "{}", "[]", "Previewing update (dev):"])("%j is no preview", (text) => {
  expect(() => readPreview(text)).toThrow("expected what `pulumi preview --json` prints");
});
