/** How answers about creates of unknown outcome are checked, and how one is taken back. */
import { describe, expect, it } from "vitest";
import type { CreateRecord } from "../../provider/src/state/create-record.js";
import {
  checkVerdicts,
  expectOfStack,
  notesAfter,
  readForgotten,
  readVerdicts,
  reopen,
  slicesOf,
} from "../../provider/src/tools/pending-answers.js";
import type { PendingCreate } from "../../provider/src/tools/pending-facts.js";
import { readExport } from "../../provider/src/tools/stack-export.js";
import { encrypted, exportOf, storedAdvertiser, storedEvent, storedSet, urnOf } from "../support/stored.js";

describe("answers", () => {
  const E = (name: string) => urnOf("ConversionEvent", name);
  const SET = urnOf("ConversionEventSet", "funnel");
  const record = (mark: string, more: Partial<CreateRecord> = {}): CreateRecord => ({
    mark,
    key: "",
    fingerprint: "",
    at: "",
    ...more,
  });
  const create = (urn: string, more: Partial<PendingCreate> = {}): PendingCreate => ({
    urn,
    kind: "ConversionEvent",
    record: record(`mark of ${urn}`),
    known: "state",
    ...more,
  });

  const stack = readExport(
    exportOf([
      storedAdvertiser("acme", 1),
      storedEvent("kept", 2),
      storedSet("other", { eventIds: { a: 3 } }),
      storedEvent("f19", 50),
      storedEvent("only-read", 51, {}, { external: true }),
    ]),
  );
  const pending = [
    create(E("f0"), { known: "journal", record: record("m0", { id: "503" }) }),
    create(E("f19"), { held: { id: "50", isDeleted: false }, record: record("m19", { replaces: "49" }) }),
    create(E("twin")),
    create(`${urnOf("x$ConversionEvent", "twin")}`),
    create(urnOf("Advertiser", "buyer"), { kind: "Advertiser" }),
    create(`${SET}["a"]`),
    create(`${SET}["b"]`, { record: record("mb", { id: "77" }) }),
    create(E("new"), { formerly: [E("old"), E("twin")] }),
    create(`${urnOf("ConversionEventSet", "ss")}["c"]`, { formerly: [`${urnOf("ConversionEventSet", "s")}["c"]`] }),
  ];
  const notes = [
    record("m0", { key: "ConversionEvent::organization/shop/dev::f0", id: "503" }),
    record("m-renamed", { key: "ConversionEvent::organization/shop/dev::former", id: "600" }),
  ];
  const read = (created: readonly string[], notCreated: readonly string[] = []) =>
    readVerdicts({ created, notCreated }, { pending, stack, notes, answered: [] });

  it.each([
    [["f19=60"], [], [[E("f19"), "60"]]],
    [["f19=51"], [], [[E("f19"), "51"]]],
    [[`${E("f19")}=60`], [], [[E("f19"), "60"]]],
    [
      [`${SET}["a"]=4`, "buyer=2"],
      [],
      [
        [`${SET}["a"]`, "4"],
        [urnOf("Advertiser", "buyer"), "2"],
      ],
    ], // an event has the id 2
    [[], ["funnel"], [[`${SET}["a"]`, undefined]]], // b has an id
    [[], [SET], [[`${SET}["a"]`, undefined]]],
    [
      ["funnel/a=4"],
      ["funnel/b"],
      [
        [`${SET}["a"]`, "4"],
        [`${SET}["b"]`, undefined],
      ],
    ], // as reports name them
    [[], [`${SET}["b"]`], [[`${SET}["b"]`, undefined]]],
    [["funnel"], [], [[`${SET}["b"]`, "77"]]],
    [[E("f0")], [], [[E("f0"), "503"]]],
    [["f0"], [], [[E("f0"), "503"]]],
    [["f0=503"], [], [[E("f0"), "503"]]],
    [["f0=504"], [], [[E("f0"), "504"]]],
    [
      ["old=60"],
      ["s"],
      [
        [E("new"), "60"],
        [`${urnOf("ConversionEventSet", "ss")}["c"]`, undefined],
      ],
    ],
    [
      [`${E("old")}=60`, `${urnOf("ConversionEventSet", "s")}["c"]=61`],
      [],
      [
        [E("new"), "60"],
        [`${urnOf("ConversionEventSet", "ss")}["c"]`, "61"],
      ],
    ],
  ])("created %j, not created %j", (created, notCreated, verdicts) => {
    expect(read(created, notCreated).map(({ urn, createdAs }) => [urn, createdAs])).toEqual(verdicts);
  });

  it.each([
    [["f19=x"], [], '--created takes URN=ID with a number from 1 up as ID; got "f19=x"'],
    [["f19"], [], 'no journal on this machine has the id of "f19": give it as ID in URN=ID'],
    [["f19=02"], [], '--created takes URN=ID with a number from 1 up as ID; got "f19=02"'],
    [["f19=0"], [], '--created takes URN=ID with a number from 1 up as ID; got "f19=0"'],
    [["nobody=4"], [], '"nobody" is not a pending create (`pulumi-advertising pending` lists them)'],
    [[], ["kept"], '"kept" is not a pending create (`pulumi-advertising pending` lists them)'],
    [["nobody"], [], '"nobody" is not a pending create (`pulumi-advertising pending` lists them)'],
    [["byer=4"], [], '"byer" is not a pending create (`pulumi-advertising pending` lists them); did you mean buyer?'],
    [[], ["funel"], '"funel" is not a pending create (`pulumi-advertising pending` lists them); did you mean funnel?'],
    [
      [],
      ["funnel[a]"],
      '"funnel[a]" is not a pending create (`pulumi-advertising pending` lists them); did you mean \'funnel["a"]\'?',
    ],
    [
      [`${E("byer")}=4`],
      [],
      `"${E("byer")}" is not a pending create (\`pulumi-advertising pending\` lists them); did you mean ${urnOf("Advertiser", "buyer")}?`,
    ],
    [["funnel=4"], [], `"funnel" is a set: append the key of its event, as in ${SET}["a"]`],
    [["twin=4"], [], '"twin" is the name of 2 pending creates: give the URN'],
    [["f19=60"], ["f19"], '"f19" is given two answers'],
    [["f19=50"], [], '50 is not the id of "f19": the state already has it, as the object to replace'],
    [["f19=49"], [], '49 is not the id of "f19": it is the id of the object to replace'],
    [["f19=2"], [], `2 is not the id of "f19": the state has it as ${E("kept")}`],
    [["f19=3"], [], `3 is not the id of "f19": the state has it as ${urnOf("ConversionEventSet", "other")}["a"]`],
    [["buyer=1"], [], `1 is not the id of "buyer": the state has it as ${urnOf("Advertiser", "acme")}`],
    [
      ["f19=503"],
      [],
      `503 is not the id of "f19": a journal on this machine has it as ${E("f0").replace("shop", "shop")}`,
    ],
    [["f19=60", `${SET}["a"]=60`], [], `60 can't be both "${SET}["a"]" and ${E("f19")}`],
  ])("created %j, not created %j is refused", (created, notCreated, fault) => {
    expect(() => read(created, notCreated)).toThrow(`nothing was settled: ${fault}`);
  });

  it("R9: a set whose creates all have ids can't be answered as not created by its own name", () => {
    const known = [
      create(`${SET}["b"]`, { record: record("mb", { id: "77" }) }),
      create(`${SET}["c"]`, { record: record("mc", { createdAs: "78" }), also: [record("md")] }),
    ];
    const answer = (urn: string) =>
      readVerdicts({ created: [], notCreated: [urn] }, { pending: known, stack, notes, answered: [] });
    expect(() => answer("funnel")).toThrow(
      'nothing was settled: "funnel" is a set, and its creates have ids: b (77) and c (78); answer for each event with its own URN',
    );
    expect(answer(`${SET}["b"]`)).toEqual([{ urn: `${SET}["b"]`, createdAs: undefined }]);
  });

  it("what was answered already names the command that takes it back", () => {
    const answered = [E("done"), `${SET}["x"]`].map((urn) => ({ urn, before: 1, after: 2, notes: new Map() }));
    for (const [text, urn] of [
      ["done", E("done")],
      [E("done"), E("done")],
      [`${SET}["x"]`, `${SET}["x"]`],
    ] as const) {
      expect(() =>
        readVerdicts({ created: [`${text}=4`], notCreated: [] }, { pending, stack, notes, answered }),
      ).toThrow(
        `nothing was settled: "${text}" was answered already; to give another answer, first take that one back:\n  npx pulumi-advertising pending --reopen '${urn}'`,
      );
    }
    expect(() => readVerdicts({ created: [], notCreated: [SET] }, { pending: [], stack, notes, answered })).toThrow(
      `first take that one back:\n  npx pulumi-advertising pending --reopen '${SET}'`,
    );
  });

  it.each<[string, string[], string?]>([
    [
      E("f0").replace("dev", "dev2"),
      ["organization/shop/dev"],
      "is of the stack dev2, and dev is selected: add --stack dev2",
    ],
    [E("f0").replace("dev", "dev2"), ["dev"], "is of the stack dev2, and dev is selected: add --stack dev2"],
    [
      `${E("f0")}=4`,
      ["organization/shop2/dev"],
      "is of the stack shop/dev, and shop2/dev is selected: add --cwd with the folder of the project shop",
    ],
    [E("f0"), ["organization/shop/now", "organization/shop/dev"]],
    [E("f0"), ["dev"]],
    [E("f0"), []],
    ["f0", ["organization/shop/dev2"]],
  ])("a URN of another stack is refused: %s in %j", (text, names, fault) => {
    const answer = () => expectOfStack(["f19=4", text], new Set(names));
    if (fault === undefined) answer();
    else expect(answer).toThrow(`nothing was changed: "${text}" ${fault}`);
  });

  it.each(["state", "engine", "journal"] as const)(
    "R7: a set with a create of unknown outcome (%s) is not forgotten by its own name",
    (known) => {
      const noteOf = (key: string, more = {}) =>
        record(`m${key}`, { key: `ConversionEventSet::organization/shop/dev::funnel["${key}"]`, ...more });
      const open = create(`${SET}["b"]`, { known, record: noteOf("b") });
      const all = { pending: [open], stack, notes: [noteOf("a", { id: "7" }), noteOf("b")], answered: [] };
      for (const text of ["funnel", SET]) {
        expect(() => readForgotten([text], new Set(), all)).toThrow(
          `nothing was forgotten: the outcome of "${SET}["b"]" is unknown; settle it with --created or --not-created; to forget other events of its set, give their own URNs`,
        );
      }
      expect(readForgotten([`${SET}["a"]`], new Set(), all).marks).toEqual(new Set(["ma"]));
      expect(readForgotten([SET], new Set([open.urn]), all).marks).toEqual(new Set(["ma", "mb"]));
      const forgetIt = () => readForgotten([`${SET}["b"]`], new Set(), all);
      if (known === "state") expect(forgetIt).toThrow("is unknown; settle it with --created or --not-created");
      else expect(forgetIt().marks).toEqual(new Set(["mb"]));
    },
  );

  it("results of a search are judged one by one: an object that another resource has does not block the others", () => {
    const found = { created: [`${E("f19")}=2`, `${SET}["a"]=4`], notCreated: [] };
    const { verdicts, faults } = checkVerdicts(found, { pending, stack, notes, answered: [] });
    expect(verdicts).toEqual([{ urn: `${SET}["a"]`, createdAs: "4" }]);
    expect(faults).toEqual([`2 is not the id of "${E("f19")}": the state has it as ${E("kept")}`]);
  });

  it("a key and its set can't have two answers", () => {
    expect(() => read([`${SET}["a"]=60`], ["funnel"])).toThrow(
      `nothing was settled: "${SET}["a"]" is given two answers`,
    );
  });

  it("of what only a journal has, the id goes to the create that a search found, otherwise to the last one; the rest is forgotten", () => {
    const [urn, also] = [E("j"), [record("two"), record("three")]];
    const notesOf = (known: PendingCreate["known"], createdAs: string | undefined, mark?: string) =>
      notesAfter([{ urn, createdAs, mark }], new Map([[urn, create(urn, { known, record: record("one"), also })]])).map(
        ([of, id]) => `${of} ${id}`,
      );
    expect(notesOf("journal", "5", "two")).toEqual(["one undefined", "two 5", "three undefined"]);
    expect(notesOf("journal", "5")).toEqual(["one undefined", "two undefined", "three 5"]);
    const forgotten = ["one undefined", "two undefined", "three undefined"];
    expect(notesOf("journal", undefined)).toEqual(forgotten);
    expect(notesOf("engine", "5", "two")).toEqual(forgotten); // the state has it
  });

  it("a bare name that several creates have is refused", () => {
    const known = (urn: string) => create(urn, { record: record(`mark of ${urn}`, { id: "503" }) });
    const twins = [known(E("f0")), known(urnOf("x$ConversionEvent", "f0"))];
    expect(() =>
      readVerdicts({ created: ["f0"], notCreated: [] }, { pending: twins, stack, notes, answered: [] }),
    ).toThrow('nothing was settled: "f0" is the name of several: give the URN');
  });

  it("all problems are reported at once", () => {
    expect(() => read(["nobody=1", "f19=2"], ["kept"])).toThrow(
      `nothing was settled: "nobody" is not a pending create (\`pulumi-advertising pending\` lists them); 2 is not the id of "f19": the state has it as ${E("kept")}; "kept" is not a pending create (\`pulumi-advertising pending\` lists them)`,
    );
  });

  it("an id that was noted under the resource's former name is accepted as that create's own", () => {
    const renamed = [create(E("now"), { record: record("m-renamed", { id: "600" }) })];
    const verdicts = readVerdicts(
      { created: ["now=600"], notCreated: [] },
      { pending: renamed, stack, notes, answered: [] },
    );
    expect(verdicts).toEqual([{ urn: E("now"), createdAs: "600" }]);
  });

  it("the message names the command that drops a create settled elsewhere that only this journal still has", () => {
    const noted = [...notes, record("m-kept", { key: "ConversionEvent::organization/shop/dev::kept" })];
    for (const [created, notCreated] of [
      [["kept=2"], []],
      [[], [E("kept")]],
    ] as const) {
      expect(() => readVerdicts({ created, notCreated }, { pending, stack, notes: noted, answered: [] })).toThrow(
        `is settled: the state has it as 2. To drop what the journal of this machine noted of it:\n  npx pulumi-advertising pending --forget '${E("kept")}'`,
      );
    }
    expect(() => read(["kept=2"])).toThrow('"kept" is not a pending create');
  });
});

describe("an answer taken back", () => {
  const EVENT = "pulumi-nodejs:dynamic/advertising:ConversionEvent";
  const urnOf = (name: string, type = EVENT) => `urn:pulumi:dev::tiny::${type}::${name}`;
  const single = (name: string, id: string, more: object = {}) => ({ urn: urnOf(name), type: EVENT, id, ...more });
  const stackOf = (...resources: object[]) => readExport(JSON.stringify({ version: 3, deployment: { resources } }));
  const SET = `${EVENT}Set`;
  const setOf = (outputs: object) => ({ urn: urnOf("s", SET), type: SET, id: "set-1", outputs });
  const member = (key: string) => `${urnOf("s", SET)}["${key}"]`;

  /** An answer that changed the state from the first to the second. */
  const answered = (before: ReturnType<typeof stackOf>, after: ReturnType<typeof stackOf>, urn: string) => ({
    urn,
    before: JSON.parse(JSON.stringify(slicesOf(before)(urn))),
    after: JSON.parse(JSON.stringify(slicesOf(after)(urn))),
    notes: new Map(),
  });

  const WAY_OUT =
    "If a run has gone on with a wrong answer, look in the account, and set existingId to the id of the right object: nothing is created.";
  const tooLate = (urn: string) =>
    `nothing was reopened: a run has gone on with the answer about "${urn}".\n${WAY_OUT}`;

  describe("a single resource", () => {
    const before = stackOf(
      single("a", "1"),
      single("e", "unresolved-m"),
      single("e", "7", { delete: true }),
      single("b", "2"),
    );
    const after = stackOf(single("a", "1"), single("e", "7"), single("b", "2"));
    const known = [answered(before, after, urnOf("e"))];

    it("is as it was, beside the object that it was to replace, whatever happened to other resources", () => {
      const now = stackOf(single("a", "5"), single("e", "7"));
      const { resources = [] } = reopen(now, ["e"], known).stack.deployment;
      expect(resources?.map(({ id, delete: isReplaced }) => [id, isReplaced])).toEqual([
        ["5", undefined],
        ["unresolved-m", undefined],
        ["7", true],
      ]);
    });

    it("gets the stack's present account, which `relocate` may have changed since the answer", () => {
      const at = (host: string, of = "outputs") => ({ [of]: { __at: `${host}.example me@example.com` } });
      const then = stackOf(
        single("e", "unresolved-m", at("there")),
        single("e", "7", { delete: true, ...at("there", "inputs") }),
      );
      const since = stackOf(single("a", "1", at("here")), single("e", "8", at("here")));
      const given = [answered(then, since, urnOf("e"))];
      const { resources = [] } = reopen(since, ["e"], given).stack.deployment;
      expect(resources?.map(({ id, inputs, outputs }) => [id, { ...inputs, ...outputs }])).toEqual([
        ["1", at("here").outputs],
        ["unresolved-m", at("here").outputs],
        ["7", at("here").outputs],
      ]);
    });

    it("is done when the command is run again after a kill", () => {
      expect(reopen(before, [urnOf("e")], known).stack.deployment.resources).toHaveLength(4);
    });

    it("that a run has used since stays as it is", () => {
      for (const now of [stackOf(single("e", "8")), stackOf(single("a", "1"))]) {
        expect(() => reopen(now, ["e"], known)).toThrow(tooLate(urnOf("e")));
      }
    });

    it("without a noted answer is refused, and no other is reopened", () => {
      expect(() => reopen(after, ["e", "b"], known)).toThrow(
        `nothing was reopened: no answer about "b" can be taken back here: it was given on another machine (take it back there), or a \`pulumi up\` of the whole program has succeeded since.\n${WAY_OUT}`,
      );
    });
  });

  it("whose answer only a journal had leaves the state as it is", () => {
    const now = stackOf(setOf({ advertiserId: 1, events: { k: { value: 1 } }, eventIds: { k: 1 } }), single("b", "2"));
    for (const urn of [member("gone"), urnOf("gone")]) {
      expect(reopen(now, [urn], [answered(now, now, urn)]).stack).toEqual(now);
    }
  });

  describe("a member of a set with secret arguments", () => {
    /** Pulumi encrypts each secret again at each import. */
    const secret = (ciphertext: string) => ({ ...encrypted, ciphertext });
    const set = (ciphertext: string, rest: object) =>
      stackOf(setOf({ advertiserId: 1, events: { x: { eventName: secret(ciphertext) } }, eventIds: {}, ...rest }));
    const open = { unresolved: { x: { since: "2026-01-01T00:00:00Z", what: "lost", mark: "m" } } };
    const [before, after] = [set("a", open), set("b", { eventIds: { x: 9 } })];
    const known = [answered(before, after, member("x"))];
    const reopenedIn = (stack: ReturnType<typeof stackOf>) => reopen(stack, [member("x")], known).stack;

    it("is as it was", () => {
      const { resources = [] } = reopenedIn(set("c", { eventIds: { x: 9 } })).deployment;
      expect(resources?.[0]?.outputs).toEqual(before.deployment.resources?.[0]?.outputs);
    });

    it("is done when the command is run again after a kill", () => {
      const now = set("d", open);
      expect(reopenedIn(now)).toEqual(now);
    });

    it.each([
      ["replaced", { eventIds: { x: 10 } }],
      ["sent again", { unresolved: { x: { ...open.unresolved.x, mark: "n" } } }],
      ["removed", { events: {} }],
    ])("that a run has %s since stays as it is", (_, rest) => {
      expect(() => reopenedIn(set("b", rest))).toThrow(tooLate(member("x")));
    });
  });

  it("members of a set: each by its own name, or all by the set's", () => {
    const unresolved = (mark: string) => ({ since: "2026-01-01T00:00:00Z", what: "lost", mark });
    const outputs = { advertiserId: 1, events: { k: { value: 1 } }, eventIds: { k: 1 } };
    const before = stackOf(setOf({ ...outputs, unresolved: { x: unresolved("m"), y: unresolved("n") } }));
    const left = { id: "1", at: "2026-01-01T00:00:00Z", why: "replaced", by: "9", key: "x" };
    const after = stackOf(
      setOf({ ...outputs, events: { k: { value: 1 }, x: { value: 2 } }, eventIds: { k: 1, x: 9 }, __left: [left] }),
    );
    const known = ["x", "y"].map((key) => answered(before, after, member(key)));
    const one = reopen(after, [member("x")], known).stack.deployment.resources?.[0];
    expect(one?.outputs).toEqual({ ...outputs, unresolved: { x: unresolved("m") } });
    for (const wanted of [[urnOf("s", SET)], ["s"], [member("x"), member("y")]]) {
      const all = reopen(after, wanted, known).stack.deployment.resources?.[0];
      expect(all?.outputs).toEqual({ ...outputs, unresolved: { x: unresolved("m"), y: unresolved("n") } });
    }
  });
});
