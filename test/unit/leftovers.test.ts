/** Objects that are live and no longer managed. */
import { describe, expect, it } from "vitest";
import { LEFT_LIVE } from "../../provider/src/state/stored.js";
import { LEFTOVER_FORMATS, leftoversOf, nothingKnown, otherStackThan } from "../../provider/src/tools/leftovers.js";
import { type Resource, readExport } from "../../provider/src/tools/stack-export.js";
import { CIPHERTEXT, encrypted, exportOf, storedAdvertiser, storedEvent, storedSet } from "../support/stored.js";

const stateOf = (resources: readonly Resource[], time = "2026-03-02T10:00:00Z") => ({ resources, time });
const NOTED = { id: "7", name: "Old", at: "2026-03-01T00:00:00.000Z" };
const inShort = (...args: Parameters<typeof leftoversOf>) =>
  leftoversOf(...args).map(({ kind, id, name, key, why }) => `${kind} ${id} ${name} ${key}: ${why}`);
const idsOf = (...args: Parameters<typeof leftoversOf>) => leftoversOf(...args).map(({ kind, id }) => `${kind} ${id}`);

it("lists what the state notes about replacements and about events that left a set: newest first, then in natural order", () => {
  const at = "2026-03-02T00:00:00.000Z";
  const left = ["e10", "e2"].map((key, index) => ({ id: String(index + 30), name: key, key, at }));
  const owed = { id: "9", key: "b", at: "2026-03-03T00:00:00.000Z", owed: true };
  const set = storedSet("funnel", { eventIds: { a: 20 }, [LEFT_LIVE]: [...left, owed] });
  expect(inShort(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), set]), [])).toEqual([
    "ConversionEvent 9  funnel/b: replaced in its set, or removed from it; it could not be deleted, and the next `pulumi up` tries again",
    "ConversionEvent 31 e2 funnel/e2: replaced in its set, or removed from it",
    "ConversionEvent 30 e10 funnel/e10: replaced in its set, or removed from it",
    "ConversionEvent 7 Old buy: replaced",
  ]);
});

it("leaves out an object that is in the state again", () => {
  const adopted = storedEvent("again", 7);
  expect(inShort(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), adopted]), [])).toEqual([]);
});

it("what is replaced, or awaits its replacement (`deleteBeforeReplace`), is in the state until the next run", () => {
  const why = (rest: object) => leftoversOf(stateOf([storedEvent("buy", 7, {}, rest)]), []).map((each) => each.why);
  for (const mark of [{ delete: true }, { pendingReplacement: true }]) {
    expect(why(mark)).toEqual(["replaced; the next `pulumi up` takes it out of the state"]);
    expect(why({ ...mark, retainOnDelete: undefined })).toEqual(["replaced; the next `pulumi up` deletes it"]);
  }
});

describe("earlier exports", () => {
  const set = storedSet("funnel", { eventIds: { a: 20, b: 21 } });
  const before = stateOf([storedAdvertiser("acme", 1), storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), set]);

  it("after a destroy all ids are listed: single resources, members and what was noted", () => {
    expect(idsOf(stateOf([]), [before])).toEqual([
      "ConversionEvent 7",
      "Advertiser 1",
      "ConversionEvent 8",
      "ConversionEvent 20",
      "ConversionEvent 21",
    ]);
  });

  it("the latest that had an object is named, also if two kinds share an id", () => {
    const first = stateOf(
      [storedAdvertiser("acme", 1), storedEvent("a", 1), storedEvent("b", 2)],
      "2026-01-01T00:00:00Z",
    );
    const second = stateOf([storedAdvertiser("acme", 1), storedEvent("b", 2)], "2026-02-01T00:00:00Z");
    expect(inShort(stateOf([storedAdvertiser("acme", 1)]), [first, second])).toEqual([
      "ConversionEvent 1 a a: removed: it was in the state of 2026-01-01T00:00:00Z",
      "ConversionEvent 2 b b: removed: it was in the state of 2026-02-01T00:00:00Z",
    ]);
  });

  it("what the state of now notes is said with its words; what any resource of its kind has again is not listed", () => {
    const after = stateOf([
      storedAdvertiser("acme", 1),
      storedEvent("buy", 9, { [LEFT_LIVE]: [NOTED, { ...NOTED, id: "8", at: "2026-03-03T00:00:00.000Z" }] }),
      storedSet("other", { eventIds: { x: 20 } }),
      storedAdvertiser("same-number", 21),
    ]);
    expect(inShort(after, [before])).toEqual([
      "ConversionEvent 8 Old buy: replaced",
      "ConversionEvent 7 Old buy: replaced",
      "ConversionEvent 21  funnel/b: removed: it was in the state of 2026-03-02T10:00:00Z",
    ]);
  });

  it("an object that was to be deleted with its resource is not called live", () => {
    const deleting = stateOf([storedEvent("gone", 2, {}, { retainOnDelete: undefined })], "");
    expect(leftoversOf(stateOf([]), [deleting])[0]?.why).toBe(
      "removed: it was in an earlier state; live only if its delete was not done (retainOnDelete was off)",
    );
  });

  it("an object that is only read (.get) was never managed, and keeps none managed", () => {
    const read = (name: string, id: number) => storedAdvertiser(name, id, name, { external: true });
    expect(idsOf(stateOf([]), [stateOf([read("theirs", 5)])])).toEqual([]);
    expect(idsOf(stateOf([read("ref", 1)]), [stateOf([storedAdvertiser("acme", 1)])])).toEqual(["Advertiser 1"]);
  });

  it("an export of another stack is refused, unless the two share an object", () => {
    const of = (stack: string, ...resources: Resource[]) =>
      readExport(exportOf(resources.map((each) => ({ ...each, inputs: { __identity: `shop/${stack}::x` } }))));
    const [dev, prod] = [of("dev", storedEvent("a", 1)), of("prod", storedEvent("b", 2))];
    expect(otherStackThan("organization/shop/dev", dev, of("dev"))).toBeUndefined();
    expect(otherStackThan("organization/shop/dev", prod, dev)).toBe("organization/shop/prod");
    expect(otherStackThan(undefined, prod, of("dev"))).toBeUndefined();
    expect(otherStackThan("organization/shop/renamed", dev, of("renamed", storedEvent("a", 1)))).toBeUndefined();
  });

  it("an empty list says in words what can't be known", () => {
    const earlier = stateOf([storedEvent("a", 1), storedAdvertiser("b", 2)]);
    expect(nothingKnown([])).toMatch(/^Nothing is known/);
    expect(nothingKnown([earlier])).toMatch(/^Nothing that is live/);
    expect(LEFTOVER_FORMATS.text?.([], "nothing\n")).toBe("nothing\n");
  });
});

it("text says what to do with them", () => {
  const text = LEFTOVER_FORMATS.text?.(leftoversOf(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] })]), []));
  expect(
    text,
  ).toBe(`1 object that this stack no longer manages. Tags that were placed for it keep firing: deactivate it in the platform's own interface.
  kind             id  name  advertiserId  key  at                        why
  ConversionEvent  7   Old                 buy  2026-03-01T00:00:00.000Z  replaced
`);
});

it.each(Object.keys(LEFTOVER_FORMATS))("%s shows no secret", (format) => {
  const before = stateOf([storedEvent("a", 12, { eventName: encrypted, advertiserId: encrypted })]);
  const text = LEFTOVER_FORMATS[format]?.(leftoversOf(stateOf([]), [before]), "") ?? "";
  expect(text).toContain("12");
  expect(text).toContain("(secret)");
  expect(text).not.toContain(CIPHERTEXT);
});
