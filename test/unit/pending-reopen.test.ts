import { describe, expect, it } from "vitest";
import { reopen, sliceOf } from "../../provider/src/tools/pending-answers.js";
import { readExport } from "../../provider/src/tools/stack-export.js";
import { encrypted } from "../support/stored.js";

const EVENT = "pulumi-nodejs:dynamic/advertising:ConversionEvent";
const urnOf = (name: string, type = EVENT) => `urn:pulumi:dev::tiny::${type}::${name}`;
const single = (name: string, id: string, more: object = {}) => ({ urn: urnOf(name), type: EVENT, id, ...more });
const stackOf = (...resources: object[]) => readExport(JSON.stringify({ version: 3, deployment: { resources } }));
const SET = `${EVENT}Set`;
const setOf = (outputs: object) => ({ urn: urnOf("s", SET), type: SET, id: "set-1", outputs });
const member = (key: string) => `${urnOf("s", SET)}["${key}"]`;

/** An answer that made the second of the first. */
const answered = (before: ReturnType<typeof stackOf>, after: ReturnType<typeof stackOf>, urn: string) => ({
  urn,
  before: JSON.parse(JSON.stringify(sliceOf(before, urn))),
  after: JSON.parse(JSON.stringify(sliceOf(after, urn))),
  notes: new Map(),
});

const WAY_OUT =
  "If a run has gone on with a wrong answer, look into the account, and set existingId to the id of the right object: nothing is created.";
const tooLate = (urn: string) => `nothing was reopened: a run has gone on with the answer about "${urn}".\n${WAY_OUT}`;

describe("a single resource", () => {
  const before = stackOf(
    single("a", "1"),
    single("e", "unresolved-m"),
    single("e", "7", { delete: true }),
    single("b", "2"),
  );
  const after = stackOf(single("a", "1"), single("e", "7"), single("b", "2"));
  const known = [answered(before, after, urnOf("e"))];

  it("is as it was, beside what it was to replace, whatever happened to others meanwhile", () => {
    const now = stackOf(single("a", "5"), single("e", "7"));
    const { resources = [] } = reopen(now, ["e"], known).stack.deployment;
    expect(resources?.map(({ id, delete: isReplaced }) => [id, isReplaced])).toEqual([
      ["5", undefined],
      ["unresolved-m", undefined],
      ["7", true],
    ]);
  });

  it("called again after it was killed, finds it done", () => {
    expect(reopen(before, [urnOf("e")], known).stack.deployment.resources).toHaveLength(4);
  });

  it("that a run has gone on with stays as it is", () => {
    for (const now of [stackOf(single("e", "8")), stackOf(single("a", "1"))]) {
      expect(() => reopen(now, ["e"], known)).toThrow(tooLate(urnOf("e")));
    }
  });

  it("without a noted answer is refused, and nothing else is reopened", () => {
    expect(() => reopen(after, ["e", "b"], known)).toThrow(
      `nothing was reopened: no answer about "b" can be taken back here: it was given on another machine (take it back there), or a \`pulumi up\` of the whole program has succeeded since.\n${WAY_OUT}`,
    );
  });
});

it("an answer that the state never showed, of what a journal alone knew, leaves the state as it is", () => {
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

  it("called again after it was killed, finds it done", () => {
    const now = set("d", open);
    expect(reopenedIn(now)).toEqual(now);
  });

  it.each([
    ["replaced", { eventIds: { x: 10 } }],
    ["sent again", { unresolved: { x: { ...open.unresolved.x, mark: "n" } } }],
    ["removed", { events: {} }],
  ])("that a run has %s stays as it is", (_, rest) => {
    expect(() => reopenedIn(set("b", rest))).toThrow(tooLate(member("x")));
  });
});

it("members of a set: each by itself, or all by the set", () => {
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
