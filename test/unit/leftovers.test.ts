/** Objects that are live and no longer managed. */
import { describe, expect, it } from "vitest";
import { LEFT_LIVE, leftLiveIn } from "../../provider/src/state/properties.js";
import { LEFTOVER_FORMATS, leftoversOf, nothingSince, otherStackThan } from "../../provider/src/tools/leftovers.js";
import { markDone } from "../../provider/src/tools/leftovers-command.js";
import { pendingIn } from "../../provider/src/tools/pending-facts.js";
import { settle } from "../../provider/src/tools/pending-settle.js";
import { type ExportedStack, type Resource, readExport, stateIn } from "../../provider/src/tools/stack-export.js";
import {
  CIPHERTEXT,
  encrypted,
  exportOf,
  storedAdvertiser,
  storedEvent,
  storedSet,
  UNRESOLVED_OUTPUT,
  urnOf,
} from "../support/stored.js";

const stateOf = (resources: readonly Resource[], time = "2026-03-02T10:00:00Z") => ({ resources, time });
const NOTED = { id: "7", name: "Old", advertiserId: "1", at: "2026-03-01T00:00:00.000Z", why: "replaced", by: "8" };
const inShort = (...args: Parameters<typeof leftoversOf>) =>
  leftoversOf(...args).map(({ kind, id, name, key, why }) => `${kind} ${id} ${name} ${key}: ${why}`);
const idsOf = (...args: Parameters<typeof leftoversOf>) => leftoversOf(...args).map(({ kind, id }) => `${kind} ${id}`);

it("lists what the state notes about replacements and about events that left a set, newest first", () => {
  const set = storedSet("funnel", {
    eventIds: { a: 20 },
    [LEFT_LIVE]: [{ id: "9", name: "Gone", key: "b", at: "2026-03-02T00:00:00.000Z", why: "removed" }],
  });
  expect(inShort(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), set]), [])).toEqual([
    "ConversionEvent 9 Gone funnel/b: removed from its set",
    "ConversionEvent 7 Old buy: replaced by 8",
  ]);
});

it("leaves out an object that is in the state again", () => {
  const adopted = storedEvent("again", 7);
  expect(inShort(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), adopted]), [])).toEqual([]);
});

it("leaves out what another resource had by then and deleted: by that one's note, or by this machine's", () => {
  const now = (more: object = {}) =>
    stateOf([
      storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }),
      storedSet("funnel", { [LEFT_LIVE]: [{ ...NOTED, ...more }] }),
    ]);
  const [before, after] = ["2026-02-01T00:00:00.000Z", "2026-03-01T00:00:01.000Z"];
  expect(idsOf(now(), [])).toEqual(["ConversionEvent 7"]);
  expect(idsOf(now({ at: after, done: after }), [])).toEqual([]);
  const deletedAt = (at: string) => (kind: string, id: string) =>
    `${kind} ${id}` === "ConversionEvent 7" ? at : undefined;
  expect(idsOf(now(), [], deletedAt(after))).toEqual([]);
  expect(idsOf(now(), [], deletedAt(before))).toEqual(["ConversionEvent 7"]);
  // An earlier state that had it says nothing of later.
  const [had, left] = [storedEvent("adopter", 7, {}, { retainOnDelete: false }), storedEvent("buy", 8)];
  expect(idsOf(stateOf([left]), [stateOf([had, left], after)], deletedAt("2026-03-01T00:00:02.000Z"))).toEqual([]);
  expect(idsOf(stateOf([left]), [stateOf([had, left], after)], deletedAt(before))).toEqual(["ConversionEvent 7"]);
});

it("lists a replaced object that is still in the state", () => {
  expect(inShort(stateOf([storedEvent("buy", 8), storedEvent("buy", 7, {}, { delete: true })]), [])).toEqual([
    "ConversionEvent 7 buy buy: replaced; the next `pulumi up` takes it out of the state",
  ]);
});

it("an object that awaits its replacement (`deleteBeforeReplace`) is listed if it stays live, not if it was deleted", () => {
  const awaiting = (retainOnDelete: boolean) =>
    storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }, { pendingReplacement: true, retainOnDelete });
  expect(inShort(stateOf([awaiting(true)]), [])).toEqual([
    "ConversionEvent 7 Old buy: replaced by 8",
    "ConversionEvent 8 buy buy: replaced; the next `pulumi up` takes it out of the state",
  ]);
  expect(idsOf(stateOf([awaiting(false)]), [])).toEqual(["ConversionEvent 7"]);
  for (const before of [storedEvent("buy", 8), awaiting(true)]) {
    expect(idsOf(stateOf([]), [stateOf([before])])).toContain("ConversionEvent 8");
  }
});

it("removed objects are listed from earlier states, with the latest one that had them, also if two kinds share an id", () => {
  const first = stateOf(
    [storedAdvertiser("acme", 1), storedEvent("a", 1), storedEvent("b", 2)],
    "2026-01-01T00:00:00Z",
  );
  const noted = storedEvent("c", 3, { [LEFT_LIVE]: [NOTED] });
  const second = stateOf([storedAdvertiser("acme", 1), storedEvent("b", 2), noted], "2026-02-01T00:00:00Z");
  expect(inShort(stateOf([storedAdvertiser("acme", 1)]), [first, second])).toEqual([
    "ConversionEvent 7 Old c: replaced by 8",
    "ConversionEvent 1 a a: removed: it was in the state of 2026-01-01T00:00:00Z and is not now",
    "ConversionEvent 2 b b: removed: it was in the state of 2026-02-01T00:00:00Z and is not now",
    "ConversionEvent 3 c c: removed: it was in the state of 2026-02-01T00:00:00Z and is not now",
  ]);
});

describe("an earlier export and a later one", () => {
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

  it("what both note as left live is listed too: it is live still", () => {
    expect(idsOf(before, [before])).toEqual(["ConversionEvent 7"]);
    const replaced = { ...NOTED, id: "8", name: "buy", at: "2026-03-03T00:00:00.000Z", by: "9" };
    const after = stateOf([
      storedAdvertiser("acme", 1),
      set,
      storedEvent("buy", 9, { [LEFT_LIVE]: [NOTED, replaced] }),
    ]);
    expect(inShort(after, [before])).toEqual([
      "ConversionEvent 8 buy buy: replaced by 9",
      "ConversionEvent 7 Old buy: replaced by 8",
    ]);
    const done = stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [{ ...NOTED, done: "2026-03-04T00:00:00.000Z" }] })]);
    expect(idsOf(done, [stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] })])])).toEqual([]);
  });

  it("an object that any resource of its kind still has in the later one has not left it", () => {
    const rest = [
      storedEvent("adopted", 20, { existingId: 20 }),
      storedSet("other", { eventIds: { x: 8 } }),
      storedAdvertiser("renamed", 1),
      storedAdvertiser("same-number", 21),
    ];
    expect(
      idsOf(stateOf(rest), [
        stateOf(before.resources.map((each) => ({ ...each, outputs: { ...each.outputs, [LEFT_LIVE]: [] } }))),
      ]),
    ).toEqual(["ConversionEvent 21"]);
  });

  describe("an object that is only read (.get)", () => {
    const read = (name: string, id: number) => storedAdvertiser(name, id, name, { external: true });

    it("was never managed by this stack", () => {
      expect(idsOf(stateOf([]), [stateOf([read("theirs", 5)])])).toEqual([]);
      expect(nothingSince(stateOf([]), [stateOf([read("theirs", 5)])])).toContain("has no object of this package");
      const replaced = { ...read("theirs", 5), delete: true };
      expect(idsOf(stateOf([read("theirs", 6), replaced]), [])).toEqual([]);
    });

    it("is not managed: the resource that managed it left it live", () => {
      const before = stateOf([storedAdvertiser("acme", 1)]);
      for (const name of ["ref", "acme"]) expect(idsOf(stateOf([read(name, 1)]), [before])).toEqual(["Advertiser 1"]);
      const noted = { ...storedAdvertiser("acme", 8), outputs: { [LEFT_LIVE]: [NOTED] } };
      const stack = readExport(exportOf([noted, read("ref", 7)]));
      expect(idsOf(stateIn(stack), [])).toEqual(["Advertiser 7"]);
      expect(markDone(stack, ["7"], "2026-03-03T00:00:00.000Z").done).toHaveLength(1);
      expect(() => markDone(readExport(exportOf([read("ref", 7)])), ["7"], "")).toThrow("7 is not on the list");
    });

    it("does not make two stacks count as one", () => {
      const of = (stack: string, name: string, id: number) =>
        readExport(
          exportOf([
            read("ref", 9),
            { ...storedEvent(name, id), inputs: { __identity: `organization/shop/${stack}::x` } },
          ]),
        );
      expect(otherStackThan("organization/shop/dev", of("prod", "a", 1), of("dev", "b", 2))).toBe(
        "organization/shop/prod",
      );
    });
  });

  it("an object that was deleted with its resource (retainOnDelete: false) is not called live", () => {
    const deleting = { retainOnDelete: undefined };
    const resources = [
      storedAdvertiser("acme", 1),
      storedEvent("gone", 2, {}, deleting),
      storedSet("funnel", { eventIds: { a: 3 } }, deleting),
    ];
    const left = leftoversOf(stateOf([]), [stateOf(resources)]);
    expect(left.map(({ id, live }) => `${id} ${live}`)).toEqual(["1 yes", "2 perhaps", "3 perhaps"]);
    const [live = "", deleted = ""] = (LEFTOVER_FORMATS.text?.(left, "") ?? "").split(/^(?=2 objects)/m);
    expect(live).toMatch(/^1 object is live on the platform, and this stack no longer manages it:[\s\S]* 1 /);
    expect(live).toContain("Tags that were placed for it keep firing: deactivate it in the platform's own interface.");
    expect(deleted).toMatch(
      /^2 objects that retainOnDelete: false deletes with the resource are live only if that was not done yet, or never,[\s\S]* 2 [\s\S]* 3 /,
    );
    // A replaced one that is still in the state is deleted by the next run.
    const replaced = storedEvent("gone", 1, {}, { ...deleting, delete: true });
    expect(leftoversOf(stateOf([storedEvent("gone", 9), replaced]), [])).toMatchObject([
      { id: "1", live: "perhaps", why: "replaced; the next `pulumi up` deletes it" },
    ]);
    const undone = { id: "4", at: "2026-03-01T00:00:00.000Z", why: "removed", toDelete: true, key: "b" } as const;
    expect(inShort(stateOf([storedSet("funnel", { eventIds: {}, [LEFT_LIVE]: [undone] })]), [])).toEqual([
      "ConversionEvent 4  funnel/b: removed from its set; it could not be deleted, and the next `pulumi up` tries again",
    ]);
  });

  it("an export of another stack is refused, unless the two share an object", () => {
    const of = (stack: string, ...resources: Resource[]) =>
      readExport(
        exportOf(resources.map((each) => ({ ...each, inputs: { __identity: `organization/shop/${stack}::x` } }))),
      );
    const [dev, prod] = [of("dev", storedEvent("a", 1)), of("prod", storedEvent("b", 2))];
    expect(otherStackThan("organization/shop/dev", dev, of("dev"))).toBeUndefined();
    expect(otherStackThan("organization/shop/dev", prod, dev)).toBe("organization/shop/prod");
    expect(otherStackThan("organization/shop/dev", prod, of("dev"))).toBe("organization/shop/prod");
    expect(otherStackThan(undefined, prod, of("dev"))).toBeUndefined();
    expect(otherStackThan("organization/shop/renamed", dev, of("renamed", storedEvent("a", 1)))).toBeUndefined();
  });
});

it.each(Object.keys(LEFTOVER_FORMATS))("%s shows no secret", (format) => {
  const before = stateOf([storedEvent("a", 12, { eventName: encrypted, advertiserId: encrypted })]);
  const text = LEFTOVER_FORMATS[format]?.(leftoversOf(stateOf([]), [before]), "") ?? "";
  expect(text).toContain("12");
  expect(text).toContain("(secret)");
  expect(text).not.toContain(CIPHERTEXT);
});

it("R9: a create of unknown outcome that left the state is listed, unless it was replaced or renamed", () => {
  const [single, set] = [
    storedEvent("buy", "unresolved-x", UNRESOLVED_OUTPUT),
    storedSet("funnel", { unresolved: { a: { mark: "m", since: "2026-03-01T08:00:00Z", what: "sent" } } }),
  ];
  const before = stateOf([single, set]);
  const left = leftoversOf(stateOf([]), [before]);
  expect(left.map(({ id, key, live, why }) => [id, key, live, why])).toEqual([
    [
      "",
      "buy",
      "unknown",
      `its create was sent at ${UNRESOLVED_OUTPUT.unresolved.since}, and it was not settled in that state`,
    ],
    ["", "funnel/a", "unknown", "its create was sent at 2026-03-01T08:00:00Z, and it was not settled in that state"],
  ]);
  expect(LEFTOVER_FORMATS.text?.(left, "")).toMatch(/^2 creates of unknown outcome, no longer in the state\. Look in/);
  expect(leftoversOf(before, [before])).toEqual([]);
  expect(leftoversOf(stateOf([storedEvent("buy", 8), set]), [before])).toEqual([]);
  expect(leftoversOf(stateOf([storedEvent("new", "unresolved-x", UNRESOLVED_OUTPUT), set]), [before])).toEqual([]);
  // Creates that one command saves have the same time.
  const another = storedEvent("new", "unresolved-y", UNRESOLVED_OUTPUT);
  expect(leftoversOf(stateOf([another, set]), [before])).toMatchObject([{ key: "buy", live: "unknown" }]);
});

it("R9: nor is one listed whose adopted object a resource has, then or since", () => {
  const unresolved = { a: { mark: "m", since: "2026-03-01T08:00:00Z", what: "sent", adoptedAs: "5" } };
  const [set, adopter] = [storedSet("funnel", { unresolved }), storedEvent("signup", 5)];
  const leftSince = (before: Resource[], now: Resource[]) => leftoversOf(stateOf(now), [stateOf(before)]);
  expect(leftSince([set, adopter], [storedSet("funnel", {}), adopter])).toEqual([]);
  expect(leftSince([set], [storedSet("funnel", {}), adopter])).toEqual([]);
  expect(leftSince([set], [storedEvent("signup", 6)])).toMatchObject([{ key: "funnel/a", live: "unknown" }]);
});

it("an empty list says in words what can't be known", () => {
  expect(LEFTOVER_FORMATS.text?.([])).toMatch(/^Nothing is known[\s\S]*--before/);
  const event = storedEvent("a", 1);
  const [now, earlier] = [stateOf([event]), stateOf([event], "2026-03-01T10:00:00Z")];
  const since = (...states: (typeof now)[]) => LEFTOVER_FORMATS.text?.([], nothingSince(now, states));
  expect(since(earlier)).toBe("Nothing that is live on the platform has left the state since the earlier export.\n");
  expect(since(stateOf([], ""), earlier)).toMatch(/^Nothing that is live/);
  // The newest checkpoint of a stack is its current state.
  for (const [states, why] of [
    [[now], "is the current state"],
    [[stateOf([])], "has no object of this package"],
    [[stateOf([], ""), stateOf([], "2026-03-01T10:00:00Z")], "has no object of this package"],
  ] as const) {
    expect(since(...states)).toContain(`The earlier export ${why}, so it shows nothing that a run took out.`);
    expect(since(...states)).toContain("pulumi stack export --version N");
  }
  // `pulumi state delete` does not change the time.
  expect(since(stateOf([event, storedAdvertiser("acme", 1)]))).toMatch(/^Nothing that is live/);
  const unresolved = stateOf([storedEvent("buy", "unresolved-x", UNRESOLVED_OUTPUT)], "");
  expect(since(unresolved)).toMatch(/^Nothing that is live/);
});

it("a set whose unresolved create is settled as created notes the object that it replaced", () => {
  const mark = { mark: "m", since: "2026-03-01T00:00:00Z", what: "sent" };
  const stack = readExport(exportOf([storedSet("funnel", { eventIds: { a: 4 }, unresolved: { a: mark } })]));
  const verdict = { urn: `${urnOf("ConversionEventSet", "funnel")}["a"]`, createdAs: "9" };
  const { deployment } = settle(stack, pendingIn(stack, []), [verdict], {
    now: "2026-03-02T00:00:00Z",
    newMark: () => "x",
    account: () => "",
  });
  const [saved] = deployment.resources ?? [];
  expect(leftLiveIn(saved?.outputs ?? {})).toEqual([
    { id: "4", advertiserId: "1", at: mark.since, why: "replaced", by: "9", key: "a" },
  ]);
});

describe("an object that was marked as done", () => {
  const DONE_AT = "2026-03-03T00:00:00.000Z";
  const set = storedSet("funnel", { eventIds: { a: 20 }, [LEFT_LIVE]: [{ ...NOTED, id: "9", key: "b" }] });
  const advertiser = { ...storedAdvertiser("acme", 1), outputs: { [LEFT_LIVE]: [{ ...NOTED, name: "Was", by: "1" }] } };
  const resources = [storedEvent("buy", 8, { [LEFT_LIVE]: [NOTED] }), set, advertiser];
  const stack = readExport(exportOf(resources));
  const listed = (state: ExportedStack, ...earlier: Parameters<typeof leftoversOf>[1]) =>
    inShort(stateIn(state), earlier).map((line) => line.replace(/ \S* .*/, (rest) => ` ${rest.split(" ")[1]}`));

  it("is no longer listed, also if an earlier state has it, or if its resource leaves the state", () => {
    expect(listed(stack)).toEqual(["Advertiser 7", "ConversionEvent 7", "ConversionEvent 9"]);
    const first = markDone(stack, ["ConversionEvent:7", "9", "9"], DONE_AT);
    expect(first.done.map(({ kind, id }) => `${kind} ${id}`)).toEqual(["ConversionEvent 7", "ConversionEvent 9"]);
    expect(listed(first.stack)).toEqual(["Advertiser 7"]);
    expect(listed(first.stack, stateIn(stack), stateOf([storedEvent("buy", 7)]))).toEqual(["Advertiser 7"]);
    expect(listed(readExport(exportOf([advertiser])), stateIn(first.stack), stateOf([storedEvent("buy", 7)]))).toEqual([
      "Advertiser 7",
      "ConversionEvent 8", // removed with its set since
      "ConversionEvent 20",
    ]);
    expect(listed(markDone(first.stack, ["7"], DONE_AT).stack)).toEqual([]);
  });

  it("is listed again if it was in the state again since", () => {
    const { stack: done } = markDone(stack, ["ConversionEvent:7"], DONE_AT);
    const later = stateOf([storedEvent("back", 7)], "2026-03-04T01:00:00+01:00");
    expect(listed(done, later)).toContain("ConversionEvent 7");
    const again = { ...NOTED, at: "2026-03-05T00:00:00.000Z" };
    const left = [{ ...NOTED, done: DONE_AT }, again];
    expect(inShort(stateOf([storedEvent("buy", 8, { [LEFT_LIVE]: left })]), [])).toHaveLength(1);
  });

  it("is the only change in the state", () => {
    const { stack: done } = markDone(stack, ["9"], DONE_AT);
    const text = JSON.stringify(done).replace(`,"done":"${DONE_AT}"`, "");
    expect(text).toBe(JSON.stringify(stack));
  });

  it("all problems are reported at once, and nothing is changed", () => {
    const replaced = storedEvent("old", 12, {}, { delete: true });
    const state = readExport(exportOf([...resources, replaced]));
    expect(() => markDone(state, ["9", "7", "8", "99", "12", "Event:9", "buy", ""], DONE_AT)).toThrow(
      [
        "nothing was taken off the list: 7 is Advertiser:7 or ConversionEvent:7: say which",
        `8 is managed: the state has it as ${urnOf("ConversionEvent", "buy")}`,
        "99 is not on the list",
        "12 is still in the state: the next `pulumi up` takes it out; do that first",
        "Event:9 is not on the list",
        '--done takes an id of the list, such as 4711 or ConversionEvent:4711; got "buy"',
        '--done takes an id of the list, such as 4711 or ConversionEvent:4711; got ""',
      ].join("; "),
    );
    expect(() => markDone(stack, ["9", "9"], DONE_AT)).not.toThrow();
  });

  it("a state with operations of an interrupted run is refused, because they would be lost", () => {
    const pending_operations = [{ type: "creating", resource: { urn: urnOf("ConversionEvent", "x"), type: "x" } }];
    const killed = { ...stack, deployment: { ...stack.deployment, pending_operations } };
    expect(() => markDone(killed, ["9"], DONE_AT)).toThrow("pulumi-advertising pending");
  });
});
