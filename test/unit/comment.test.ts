/** A preview as a comment on a pull request. */
import { describe, expect, it } from "vitest";
import { UNKNOWN } from "../../provider/src/state/stored.js";
import { commentOf, MAX_CHARACTERS } from "../../provider/src/tools/comment.js";
import { readPreview } from "../../provider/src/tools/preview.js";
import { EVENT, urnOf } from "../support/stored.js";

type Values = Record<string, unknown>;

const typeOf = (urn: string) => (urn.split("::")[2] ?? "").split("$").at(-1);
const side = (urn: string, id: string | undefined, inputs: Values, outputs: Values | undefined = undefined) => ({
  urn,
  type: typeOf(urn),
  id,
  inputs,
  outputs,
  retainOnDelete: true,
  propertyDependencies: urn === ACME ? {} : { advertiserId: [ACME] },
});
const ACME = urnOf("Advertiser", "acme");
const event = (eventName: string, more: Values = {}) => ({ eventName, advertiserId: 1, ...EVENT, ...more });

const create = (urn: string, inputs: Values) => ({ op: "create", urn, newState: side(urn, undefined, inputs) });
const remove = (urn: string, id: string, inputs: Values) => ({
  op: "delete",
  urn,
  oldState: side(urn, id, inputs, inputs),
});
const replace = (urn: string, id: string, olds: Values, news: Values) => ({
  op: "replace",
  urn,
  oldState: side(urn, id, olds, olds),
  newState: side(urn, undefined, news),
});

const commentOn = (steps: object[], diagnostics: object[] = []) => textOf({ steps, diagnostics });
const textOf = (preview: object, environment = {}) => commentOf(readPreview(JSON.stringify(preview), environment)).text;
const unescaped = (text: string) => text.replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)));

const E = (name: string) => urnOf("ConversionEvent", name);

it("begins with counts; adoptions and other resources are counted apart", () => {
  const comment = commentOn([
    create(E("a"), event("A")),
    create(E("b"), event("B", { existingId: 12 })),
    remove(E("c"), "5", event("C")),
    {
      op: "same",
      urn: E("d"),
      oldState: side(E("d"), "6", event("D"), event("D")),
      newState: side(E("d"), "6", event("D")),
    },
    { op: "create", urn: "urn:pulumi:dev::shop::random:index:X::x", newState: { type: "random:index:X" } },
    {
      op: "create",
      urn: "urn:pulumi:dev::shop::pulumi:pulumi:Stack::shop-dev",
      newState: { type: "pulumi:pulumi:Stack" },
    },
  ]);
  expect(comment).toMatch(/^### /);
  expect(comment).toContain("**1 to create, 1 to adopt, 1 to leave the state and stay live**; and 1 change of other");
  expect(comment).toContain("| ConversionEvent | 1 | 1 | 1 |");
  expect(comment).toContain("Up to 1 object would stay live");
  expect(comment).toContain("<details><summary>Changes (3)</summary>");
});

describe("an object that an unchanged resource also has", () => {
  const inputs = event("Buy", { advertiserId: 1 });
  const same = { ...create(E("moved"), inputs), op: "same", oldState: side(E("moved"), "5", inputs, inputs) };
  const set = urnOf("ConversionEventSet", "funnel");
  const shared = { advertiserId: 1, defaults: {}, events: { a: { ...EVENT, eventName: "Buy" } } };
  const sameSet = {
    op: "same",
    urn: set,
    oldState: side(set, "set-x", shared, { ...shared, eventIds: { a: 5 } }),
    newState: side(set, "set-x", shared),
  };

  it.each([same, sameSet])("is not listed as left live, and no rename is suggested", (unchanged) => {
    const comment = commentOn([unchanged, remove(E("a"), "5", inputs), create(E("b"), inputs)]);
    expect(comment).toContain("**1 to create, 1 to move elsewhere and stay managed**");
    expect(comment).not.toContain("Up to");
    expect(comment).not.toContain("rename");
  });

  it("is unchanged if the engine says so, also if a value has become a secret", () => {
    const newState = side(E("moved"), "5", { ...inputs, eventName: "[secret]" });
    expect(commentOn([{ ...same, newState }])).toContain("**The preview shows no changes**");
  });
});

describe("an object that is only read (.get)", () => {
  const inputs = event("Buy");
  const managed = (urn: string, id: string | undefined, more: Values = {}) => ({
    ...side(urn, id, inputs, id === undefined ? undefined : { ...inputs, __at: "here" }),
    ...more,
  });
  const read = (urn: string, id: string) => ({ ...side(urn, id, {}), retainOnDelete: undefined, external: true });
  const refers = { op: "read", urn: E("ref"), oldState: read(E("ref"), "5"), newState: read(E("ref"), "5") };
  const deleting = { retainOnDelete: undefined };

  it.each([
    ["removed", "1 to leave the state and stay live", [refers, { op: "delete", oldState: managed(E("a"), "5") }]],
    [
      "removed, and deleted",
      "1 to leave the state and be deleted",
      [refers, { op: "delete", oldState: managed(E("a"), "5", deleting) }],
    ],
    // The engine deletes nothing if the resource keeps its id.
    [
      "read under the same name",
      "1 to leave the state and stay live",
      [{ op: "read", oldState: managed(E("a"), "5", deleting), newState: read(E("a"), "5") }],
    ],
    [
      "another id read under the same name",
      "1 to leave the state and be deleted",
      [{ op: "replace", oldState: managed(E("a"), "5", deleting), newState: read(E("a"), "6") }],
    ],
    [
      "managed under a name that was only read before",
      "1 to create",
      [{ op: "replace", oldState: read(E("a"), "5"), newState: managed(E("a"), undefined) }],
    ],
    ["no longer read", "The preview shows no changes", [{ op: "read-discard", oldState: read(E("a"), "5") }]],
  ])("keeps no object managed: %s", (_, comment, steps) => {
    const operations = JSON.stringify({ event: { delete: "DELETE rest/event/{id}" } });
    const preview = JSON.stringify({ steps: steps.map((step) => ({ urn: E("a"), ...step })) });
    expect(commentOf(readPreview(preview, { operations })).text).toContain(`**${comment}**\n`);
  });
});

it("counts renames and replacements, for --fail-on", () => {
  const steps = [
    create(E("bought"), event("Buy")),
    remove(E("buy"), "5", event("Buy")),
    replace(E("c"), "6", event("C"), event("C", { advertiserId: UNKNOWN })),
    replace(E("d"), "7", event("D"), event("D2")),
  ];
  expect(commentOf(readPreview(JSON.stringify({ steps })))).toMatchObject({ renames: 1, replacements: 2 });
});

describe("the rename guard", () => {
  it("names a create whose whole body is that of a removed resource", () => {
    const comment = unescaped(
      commentOn([create(E("bought"), event("Buy")), remove(E("buy"), "5", { ...event("Buy"), eventId: 5 })]),
    );
    expect(comment).toContain("<code>bought</code> is new, and all its arguments are those of <code>buy</code> (5)");
    expect(comment).toContain("to go on with 5, add an alias or set <code>existingId: 5</code>.");
  });

  it("leaves out an event of an advertiser that is created, whose id the removed event can't have", () => {
    const HATS = urnOf("Advertiser", "hats");
    const { newState, ...step } = create(E("bought"), event("Buy", { advertiserId: UNKNOWN }));
    const ofHats = { ...step, newState: { ...newState, propertyDependencies: { advertiserId: [HATS] } } };
    const buy = remove(E("buy"), "5", event("Buy"));
    const hats = create(HATS, { advertiserName: "Hats" });
    expect(commentOn([hats, ofHats, buy])).not.toContain("looks like a rename");
    const renamed = commentOn([hats, ofHats, buy, remove(ACME, "1", { advertiserName: "Hats" })]);
    expect(renamed.match(/looks like a rename/g)).toHaveLength(2);
  });

  it("does not name a create with one different argument, nor a second create with the same body", () => {
    const comment = commentOn([
      create(E("x"), event("Buy", { value: 2 })),
      create(E("y"), event("Sign up")),
      create(E("z"), event("Sign up")),
      remove(E("buy"), "5", event("Buy")),
      remove(E("up"), "6", event("Sign up")),
    ]);
    expect(comment.match(/is new, and/g)).toHaveLength(1);
  });

  it("says what it can't compare if the advertiser is not known yet or something is secret", () => {
    const comment = commentOn([
      create(E("b"), event("Buy", { advertiserId: UNKNOWN })),
      remove(E("a"), "5", event("Buy")),
    ]);
    expect(comment).toContain("as far as this preview shows");
    const secret = event("[secret]");
    expect(commentOn([create(E("b"), secret), remove(E("a"), "5", secret)])).toContain("as far as this preview shows");
  });

  it("names an event that moves out of a set, and a renamed key, by the id", () => {
    const set = urnOf("ConversionEventSet", "funnel");
    const { value: _, ...defaults } = EVENT;
    const shared = { advertiserId: 1, defaults };
    const olds = { ...shared, events: { a: { eventName: "A", value: 1 } }, eventIds: { a: 8 } };
    const news = { ...shared, events: { b: { eventName: "A", value: 1 } } };
    const renamed = {
      op: "update",
      urn: set,
      oldState: side(set, "set-x", olds, olds),
      newState: side(set, "set-x", news),
    };
    expect(unescaped(commentOn([renamed]))).toContain("to go on with 8, set <code>existingId: 8</code>.");
    const moved = { ...renamed, newState: side(set, "set-x", { ...shared, events: {} }) };
    expect(unescaped(commentOn([moved, create(E("own"), event("A"))]))).toContain("<code>own</code> is new");
  });
});

it("says what else a replaced advertiser would replace, of resources and of sets", () => {
  const set = urnOf("ConversionEventSet", "funnel");
  const olds = { advertiserId: 1, defaults: {}, events: { a: { eventName: "A", value: 1 } }, eventIds: { a: 8 } };
  const comment = commentOn([
    replace(ACME, "1", { advertiserName: "Acme" }, { advertiserName: "Acme 2" }),
    replace(E("buy"), "5", event("Buy"), event("Buy", { advertiserId: UNKNOWN })),
    {
      op: "update",
      urn: set,
      oldState: side(set, "set-x", olds, olds),
      newState: side(set, "set-x", { ...olds, advertiserId: UNKNOWN }),
    },
  ]);
  expect(comment).toContain(
    "<code>acme</code> (1) is replaced, which would also replace 2 events: <code>buy</code> (5) and <code>funnel/a</code> (8)",
  );
  expect(comment).toContain("| replace | Advertiser | <code>acme</code> | <code>Acme 2</code> | 1 | advertiserName |");
  expect(comment).toContain("**1 to replace, 2 to replace if the advertiser's id changes**");
});

it("5,000 changes stay below 60,000 characters, and say how many have no room", () => {
  const steps = Array.from({ length: 5000 }, (_, i) => [
    create(E(`new ${i} ${"x".repeat(i % 90)}`), event(`Event ${i % 4000}`)),
    remove(E(`old ${i}`), String(i + 1), event(`Event ${i % 4000}`)),
  ]).flat();
  const comment = commentOn(steps, [{ severity: "warning", message: "long ".repeat(20_000), urn: ACME }]);
  expect(comment.length).toBeLessThanOrEqual(MAX_CHARACTERS);
  expect(comment).toContain("5000 to create, 5000 to leave the state");
  expect(comment).toMatch(/… and \d+ more, for which there is no room here/);
  expect(comment.match(/<details>/g)?.length ?? 0).toBe(comment.match(/<\/details>/g)?.length ?? 0);
});

it("many long errors leave room for nothing more than themselves", () => {
  const errors = Array.from({ length: 500 }, () => ({ severity: "error", message: "<b>".repeat(900), urn: ACME }));
  const comment = commentOn([create(E("a"), event("A"))], errors);
  expect(comment.length).toBeLessThanOrEqual(MAX_CHARACTERS);
  expect(comment).toContain("**The preview failed: 500 errors.**");
});

it("a failed preview never says that nothing changes, because it did not see everything", () => {
  const errors = [{ severity: "error", message: "no" }];
  const other = { op: "create", urn: "urn:pulumi:dev::shop::random:index:X::x", newState: { type: "random:index:X" } };
  const [none, some, others] = [[], [create(E("a"), event("A"))], [other]].map((steps) => commentOn(steps, errors));
  for (const comment of [none, some, others]) expect(comment).toContain("**The preview failed: 1 error.**");
  for (const comment of [none, some, others]) expect(comment).not.toContain("The preview shows no changes");
  expect(none).not.toContain("As far as it got");
  expect(some).toContain("As far as it got: **1 to create**\n");
  expect(others).toContain("As far as it got: 1 change of other resources\n");
});

it("names can't be markup, mention people, or turn the reading direction", () => {
  const name = "<script>alert(1)</script> @everyone | `x` **b** \u202egnp.exe\n# heading";
  const comment = commentOn([create(E("a"), event(name))], [{ severity: "error", message: name, urn: ACME }]);
  for (const part of ["<script", "@everyone", "`x`", "**b**", "\u202e", "\n# heading"])
    expect(comment).not.toContain(part);
  expect(unescaped(comment)).toContain("<script>alert(1)</script> @everyone | `x` **b**  gnp.exe # heading");
});

it("a secret is shown as secret, and a value that is not known yet is left out", () => {
  const comment = commentOn([create(E("a"), event("[secret]")), create(E("b"), event(UNKNOWN))]);
  expect(comment).toContain("(secret)");
  expect(comment).not.toContain(UNKNOWN);
});

it.each(["", "{}", "[]", "Previewing update (dev):"])("%j is no preview", (text) => {
  expect(() => readPreview(text)).toThrow("this is not what `pulumi preview --json` prints");
});

it("a preview without steps is one", () => {
  expect(commentOn([])).toContain("**The preview shows no changes**");
});

describe("on an installation with more than the documented operations", () => {
  const OPERATIONS = { event: { update: "PUT rest/event/{id}", delete: "DELETE rest/event/{id}" } };
  const setting = JSON.stringify(OPERATIONS);
  const deletable = <T extends { oldState: { inputs: Values; outputs?: Values | undefined } }>({
    oldState,
    ...step
  }: T) => {
    const [inputs, outputs] = [
      { ...oldState.inputs, __delete: true },
      { ...oldState.outputs, __at: "here me" },
    ];
    return { ...step, oldState: { ...oldState, retainOnDelete: undefined, inputs, outputs } };
  };
  const commentWith = (steps: object[], operations: string | undefined = setting, config?: object) =>
    unescaped(textOf({ steps, config }, { operations }));

  const gone = deletable(remove(E("b"), "6", event("B")));
  const replaced = deletable(replace(E("c"), "7", event("C"), event("C2")));

  it("an update in place and a delete leave nothing live", () => {
    const urn = E("a");
    const update = {
      op: "update",
      urn,
      oldState: side(urn, "5", event("A"), event("A")),
      newState: side(urn, "5", event("A", { value: 3 })),
    };
    const comment = commentWith([update, gone, replaced]);
    expect(comment).toContain("**1 to replace, 1 to update in place, 1 to leave the state and be deleted**");
    expect(comment).toContain("| update | ConversionEvent | <code>a</code> | <code>A</code> | 5 | value |");
    expect(comment).toContain("Up to 2 objects would be deleted on the platform, which can't be undone");
    expect(comment).not.toContain("stay live");
  });

  it("a resource with retainOnDelete stays live, and so does every one without a known delete", () => {
    expect(commentWith([replace(E("c"), "7", event("C"), event("C2"))])).toContain("Up to 1 object would stay live");
    const switchedOff = commentWith([gone, replaced], "{}");
    expect(switchedOff).toContain("**1 to replace, 1 to leave the state and stay live**");
    expect(switchedOff).not.toContain("deleted");
    expect(commentWith([gone], "no JSON")).toContain("stay live");
  });

  it("a resource that is removed together with its deletedWith resource stays live, because Pulumi does not delete it", () => {
    const withAcme = <T extends { oldState: object }>(step: T) => ({
      ...step,
      oldState: { ...step.oldState, deletedWith: ACME },
    });
    const acme = { advertiserName: "Acme" };
    expect(commentWith([withAcme(gone)])).toContain("leave the state and be deleted");
    for (const leaving of [remove(ACME, "1", acme), replace(ACME, "1", acme, { advertiserName: "Acme 2" })]) {
      const comment = commentWith([withAcme(gone), withAcme(replaced), leaving]);
      expect(comment).toContain("leave the state and stay live");
      expect(comment).not.toContain("deleted");
    }
  });

  it("without the package's own note of the option, a replaced object stays live, and a removed one is deleted by the engine", () => {
    const byTransformation = ({ oldState, ...step }: typeof gone | typeof replaced) => {
      return { ...step, oldState: { ...oldState, inputs: { ...oldState.inputs, __delete: undefined } } };
    };
    const comment = commentWith([byTransformation(gone), byTransformation(replaced)]);
    expect(comment).toContain("1 to leave the state and be deleted");
    expect(comment).toContain("Up to 1 object would stay live");
  });

  it("the stack's setting takes precedence over the environment's", () => {
    expect(commentWith([gone], "{}", { "advertising:operations": setting })).toContain("be deleted");
    expect(commentWith([gone], setting, { "advertising:operations": "{}" })).toContain("stay live");
    expect(commentWith([gone], setting, { "advertising:email": "ops@example.com" })).toContain("be deleted");
  });

  it("the rename guard says if the former object would be deleted", () => {
    const comment = commentWith([create(E("bought"), event("B")), gone]);
    expect(comment).toContain("This would delete that object, and make another one. It looks like a rename");
  });

  it("a replaced advertiser: the comment says which of the old objects are deleted", () => {
    const acme = replace(ACME, "1", { advertiserName: "Acme" }, { advertiserName: "Acme 2" });
    const of = (step: object) => ({ ...step, newState: { ...side(E("c"), undefined, event("C")) } });
    expect(commentWith([acme, of(replaced)])).toContain("; 1 of the 2 old ones would be deleted.");
    const all = JSON.stringify({ ...OPERATIONS, advertiser: { delete: "DELETE rest/advertiser/{id}" } });
    expect(commentWith([deletable(acme), of(replaced)], all)).toContain("(7); 2 of the 2 old ones would be deleted.");
  });

  describe("a set", () => {
    const set = urnOf("ConversionEventSet", "funnel");
    const entry = (value: number) => ({ eventName: "A", value });
    const olds = {
      advertiserId: 1,
      defaults: {},
      events: { a: entry(1), b: entry(1), same: entry(1), gone: entry(1) },
      eventIds: { a: 8, b: 9, same: 10, gone: 11 },
      earlier: { b: "a fingerprint of other arguments" },
    };
    const EVENTS = { a: entry(2), b: entry(2), same: entry(1), new: entry(5) };
    interface Given {
      readonly advertiserId?: unknown;
      readonly events?: Values;
      readonly inputs?: Values;
      readonly replaceOnChanges?: readonly string[];
      readonly outputs?: Values;
    }
    const step = (given: Given = {}) => {
      const { advertiserId = 1, events = EVENTS, inputs, replaceOnChanges, outputs } = given;
      return {
        op: "update",
        urn: set,
        oldState: side(set, "set-x", olds, { ...olds, __at: "here me", ...outputs }),
        newState: {
          ...side(set, "set-x", { advertiserId, defaults: {}, events, ...inputs }),
          ...(replaceOnChanges === undefined ? {} : { replaceOnChanges }),
        },
      };
    };
    const DELETES = { inputs: { __delete: true } };

    it("its members are updated with its own advertiser, and what leaves it stays live", () => {
      const comment = commentWith([step()]);
      expect(comment).toContain(
        "**1 to create, 1 to replace, 1 to update in place, 1 to leave the state and stay live**",
      );
      expect(comment).toContain("| update | ConversionEvent | <code>funnel/a</code> | <code>A</code> | 8 | value |");
      expect(comment).toContain("Up to 2 objects would stay live");
      expect(commentWith([step({ advertiserId: 2 })])).toContain("**1 to create, 3 to replace, 1 to leave");
      expect(commentWith([step({ advertiserId: UNKNOWN })])).not.toContain("update in place");
      expect(commentWith([step()], "{}")).toContain("**1 to create, 2 to replace, 1 to leave");
    });

    it("with retainOnDelete: false, what leaves it is deleted, and so is what is replaced", () => {
      const comment = commentWith([step(DELETES)]);
      expect(comment).toContain(
        "**1 to create, 1 to replace, 1 to update in place, 1 to leave the state and be deleted**",
      );
      expect(comment).toContain("Up to 2 objects would be deleted on the platform, which can't be undone");
      expect(comment).not.toContain("stay live");
    });

    it("nothing is deleted without a known delete, or if the state does not say at which account", () => {
      expect(commentWith([step(DELETES)], "{}")).toContain("leave the state and stay live");
      expect(commentWith([step({ ...DELETES, outputs: { __at: undefined } })])).toContain(
        "leave the state and stay live",
      );
    });

    it("what another resource adopts is not deleted", () => {
      const adopts = (existingId: unknown) => create(E("own"), event("A", { existingId }));
      expect(commentWith([step(DELETES), adopts(11)])).toContain("Up to 1 object would be deleted"); // the replaced one
      const unknown = commentWith([step(DELETES), adopts(UNKNOWN)]);
      expect(unknown).toContain("leave the state and stay live");
      expect(unknown).not.toContain("deleted");
    });

    it("while an `existingId` of its kind is not known yet, nothing is deleted; a secret one is no reason to say so", () => {
      const adopter = (existingId: unknown) => create(E("own"), event("A", { existingId }));
      expect(commentWith([gone, step(DELETES), adopter(UNKNOWN)])).not.toContain("be deleted");
      expect(commentWith([gone, step(DELETES), adopter("[secret]")])).toContain("2 to leave the state and be deleted");
      const ofAdvertiser = create(urnOf("Advertiser", "a"), { advertiserName: "A", existingId: UNKNOWN });
      expect(commentWith([gone, ofAdvertiser])).toContain("1 to leave the state and be deleted**");
    });

    it("when it is removed, all its events stay live or are deleted, by the option in the state", () => {
      const { newState: _, ...gone } = step();
      const removed = (retainOnDelete: boolean | undefined) => ({
        ...gone,
        op: "delete",
        oldState: { ...gone.oldState, retainOnDelete },
      });
      expect(commentWith([removed(true)])).toContain("**4 to leave the state and stay live**");
      expect(commentWith([removed(undefined)])).toContain("**4 to leave the state and be deleted**");
    });

    it("a change in a secret that the preview does not show counts as one, as the engine says", () => {
      const hidden = { a: { eventName: "A", value: "[secret]" }, b: { eventName: "B", value: 1 } };
      const known = { ...olds, events: hidden, eventIds: { a: 8, b: 9 }, earlier: undefined };
      const comment = commentWith([{ ...step({ events: hidden }), oldState: side(set, "set-x", known, known) }], "{}");
      expect(comment).toContain("**1 to replace if the advertiser's id changes**");
    });

    it.each([
      ["created", { oldState: undefined, op: "create" }],
      ["updated", {}],
    ])("if all events are secret and the set is %s, they are not counted, and the comment says so", (_, more) => {
      const hidden = { ...olds, events: "[secret]" };
      const all = { ...step({ events: olds.events }), oldState: side(set, "set-x", hidden, hidden), ...more };
      const comment = commentWith([{ ...all, newState: side(set, "set-x", hidden, undefined) }], "{}");
      expect(comment).toContain("Not counted: the events of <code>funnel</code>, which are secret.");
      expect(comment).not.toContain("stay live");
      expect(comment).not.toContain("The preview shows no changes");
    });

    it("an unresolved member stays unresolved, or is looked for if a search is known", () => {
      const unresolved = {
        new: { mark: "m", at: "2026-01-01T00:00:00Z", body: "", what: "", field: "f" },
      };
      const events = { same: entry(1), new: entry(5) };
      const waits = commentWith([step({ events, outputs: { unresolved } })]);
      expect(waits).toContain("1 to stay unresolved until somebody settles it");
      const search = JSON.stringify({ event: { search: "GET rest/event?f={mark}" } });
      const looks = commentWith([step({ events, outputs: { unresolved } })], search, { "advertising:markField": "f" });
      expect(looks).toContain("1 to look for, and create if it is not there");
    });
  });

  it("an unresolved event that the program no longer declares waits for somebody who settles it", () => {
    const unresolved = { mark: "m", at: "2026-01-01T00:00:00Z", what: "", body: "f" };
    const open = remove(E("c"), "unresolved-m", { ...event("C"), unresolved });
    expect(commentWith([open])).toContain("**1 to stay unresolved until somebody settles it**");
  });

  it.each(["advertiserId", "segmentId", "value", "eventName"])("a secret %s is no error", (name) => {
    const [olds, news] = [
      event("C", { [name]: "[secret]" }),
      event(name === "eventName" ? "C" : "D", { value: 5, [name]: "[secret]" }),
    ];
    expect(commentWith([replace(E("c"), "7", olds, news), create(E("d"), news)])).toContain(
      "**1 to create, 1 to replace**",
    );
  });

  it("a replacement that only the engine was asked for counts as one", () => {
    expect(commentWith([replace(E("c"), "7", event("C"), event("C"))])).toContain("**1 to replace**");
  });

  it("a changed secret counts as a replacement or an update, as the engine says", () => {
    const secret = event("[secret]");
    expect(commentWith([replace(E("c"), "7", secret, secret)])).toContain("**1 to replace**");
    const updated = { ...replace(E("c"), "7", secret, secret), op: "update" };
    expect(commentWith([updated])).toContain("**1 to update in place**");
  });

  it("an update that sends nothing, as of a resource that an earlier version saved, counts as no change", () => {
    expect(commentWith([{ ...replace(E("c"), "7", event("C"), event("C")), op: "update" }])).toContain(
      "**The preview shows no changes**",
    );
  });

  it("an object that one resource loses and another one adopts stays live and managed", () => {
    const comment = commentWith([gone, create(E("own"), event("B", { existingId: 6 }))]);
    expect(comment).toContain("**1 to adopt, 1 to move elsewhere and stay managed**");
    expect(comment).toMatch(/\| managed elsewhere \| ConversionEvent \| <code>\w+<\/code> \| <code>B<\/code> \| 6 \|/);
    expect(comment).not.toMatch(/Up to|leave live/);
  });
});
