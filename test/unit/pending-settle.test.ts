import { describe, expect, it } from "vitest";
import { membersOf } from "../../provider/src/decision/members.js";
import { conversionEvent } from "../../provider/src/kinds/event-kind.js";
import { fingerprintOf } from "../../provider/src/kinds/kind.js";
import { leftLiveIn, UNRESOLVED } from "../../provider/src/state/properties.js";
import { memberMark, readDeclaredSet, readStoredSet } from "../../provider/src/state/stored-set.js";
import type { Verdict } from "../../provider/src/tools/pending-answers.js";
import { pendingIn, recordsOf } from "../../provider/src/tools/pending-facts.js";
import { settle as settleStack } from "../../provider/src/tools/pending-settle.js";
import { type ExportedStack, readExport, underNewNames } from "../../provider/src/tools/stack-export.js";

const urnOf = (kind: string, name: string) =>
  `urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:${kind}::${name}`;
const A = urnOf("Advertiser", "a");
const E = urnOf("ConversionEvent", "e");

const resource = (urn: string, rest: object = {}) => ({ urn, type: urn.split("::")[2], inputs: {}, ...rest });
/** A pending create, with different arguments from the object in the state. */
const creating = (urn: string, rest: object = {}) => ({
  type: "creating",
  resource: resource(urn, { inputs: { value: 2 }, ...rest }),
});

const HERE = "here.example me@example.com";
const NOW = "2026-11-22T09:28:31.735Z";
/** @param operations that the engine noted as begun, those of the latest run first. */
const stackOf = (resources: object[], operations: object[], time?: string) => {
  const manifest = time === undefined ? {} : { manifest: { time } };
  const deployment = { ...manifest, resources, pending_operations: operations };
  return readExport(JSON.stringify({ version: 3, deployment }));
};

const settle = (stack: ExportedStack, verdicts: readonly Verdict[], notes: Parameters<typeof pendingIn>[1] = []) =>
  settleStack(stack, pendingIn(stack, notes), verdicts, { now: NOW, newMark: () => "mark", account: () => HERE });

const openCreates = (stack: ExportedStack) => pendingIn(stack, []).open;

/** The remaining resources: name, id, and whether it is marked as replaced. */
function settled(resources: object[], operations: object[], verdicts: Verdict[]): string[] {
  const text = JSON.stringify({ version: 3, deployment: { resources, pending_operations: operations } });
  const { deployment } = settle(readExport(text), verdicts);
  return (deployment.resources ?? []).map(
    (each) => `${each.urn.split("::").at(-1)} ${String(each.id)}${each.delete === undefined ? "" : " replaced"}`,
  );
}

it("a create that its set no longer declares is pending until another resource has the object that was adopted for it", () => {
  const set = urnOf("ConversionEventSet", "s");
  const unresolved = { a: { mark: "m", since: NOW, what: "sent", name: "A", adoptedAs: "5" } };
  const outputs = { advertiserId: 1, events: {}, eventIds: {}, unresolved };
  const openBeside = (...others: object[]) =>
    openCreates(stackOf([resource(set, { id: "set-1", outputs }), ...others], [])).map(({ urn }) => urn);
  const open = [`${set}["a"]`];
  expect(openBeside()).toEqual(open);
  expect(openBeside(resource(E, { id: "6" }))).toEqual(open);
  expect(openBeside(resource(A, { id: "5" }))).toEqual(open);
  expect(openBeside(resource(E, { id: "5", delete: true }))).toEqual(open);
  expect(openBeside(resource(E, { id: "5", outputs: { eventName: "B" } }))).toEqual(open);
  expect(openBeside(resource(E, { id: "5", outputs: { eventName: "A" } }))).toEqual([]);
  const other = { events: { x: { eventName: "B" }, y: { eventName: "A" } }, eventIds: { x: 5, y: 6 } };
  const held = resource(urnOf("ConversionEventSet", "t"), { id: "set-2", outputs: other });
  expect(openBeside(held)).toEqual(open);
  expect(openBeside({ ...held, outputs: { ...other, eventIds: { y: 5 } } })).toEqual([]);
});

it("an unresolved resource that the engine has only still to remove is settled if its own adoption or a search has found what it made", () => {
  const unresolved = { mark: "m", since: NOW, what: "sent" };
  const sent = { eventName: "A", advertiserId: 1, value: 1 };
  const old = resource(E, { id: "unresolved-m", delete: true, inputs: sent, outputs: { unresolved } });
  const openBeside = (now: object, id?: string) => {
    const key = "ConversionEvent::organization/tiny/dev::e";
    const notes = id === undefined ? [] : [{ mark: "m", key, fingerprint: "f", at: NOW, id }];
    return pendingIn(stackOf([resource(E, { id: "2", inputs: sent, ...now }), old], []), notes).open.map(
      ({ urn }) => urn,
    );
  };
  expect(openBeside({ inputs: { ...sent, existingId: 2 } })).toEqual([]);
  expect(openBeside({}, "2")).toEqual([]);
  // Replaced because somebody asked the engine for it, by an adoption of another object, or after another create was found.
  expect(openBeside({})).toEqual([E]);
  expect(openBeside({ inputs: { ...sent, advertiserId: 3, existingId: 2 } })).toEqual([E]);
  expect(openBeside({ inputs: { ...sent, existingId: 4 } })).toEqual([E]);
  expect(openBeside({}, "4")).toEqual([E]);
});

it("puts a replacement before what it replaces and before what depends on both", () => {
  const state = [resource(A, { id: "1" }), resource(E, { id: "2", dependencies: [A] })];
  const created = [{ urn: A, createdAs: "3" }];
  expect(settled(state, [creating(A)], created)).toEqual(["a 3", "a 1 replaced", "e 2"]);
  expect(settled(state, [creating(A)], [])).toEqual(["a unresolved-mark", "a 1 replaced", "e 2"]);
  expect(settled(state, [creating(A)], [{ urn: A, createdAs: undefined }])).toEqual(["a 1", "e 2"]);
});

it.each([
  ["parent", { parent: A }],
  ["provider", { provider: `${A}::0b2f` }],
  ["dependencies", { dependencies: [A] }],
  ["propertyDependencies", { dependencies: null, propertyDependencies: { advertiserId: [A], value: null } }],
  ["deletedWith", { deletedWith: A }],
])("puts a replacement after its %s, if that comes later", (_, reference) => {
  const state = [resource(E, { id: "2" }), resource(A, { id: "1" })];
  const ids = settled(state, [creating(E, reference)], [{ urn: E, createdAs: "3" }]);
  expect(ids).toEqual(["a 1", "e 3", "e 2 replaced"]);
});

it.each([
  ["of the resources", "there.example me@example.com"],
  ["of the creates, if no resource says one", undefined],
])("all saved resources get the account %s", (_, account) => {
  const set = urnOf("ConversionEventSet", "s");
  const other = resource(urnOf("ConversionEvent", "other"), { id: "9", outputs: {}, inputs: { __at: account } });
  const operations = [creating(A), creating(E), creating(set, { inputs: { events: { a: { eventName: "A" } } } })];
  const { resources } = settle(stackOf([other], operations), [{ urn: A, createdAs: "1" }]).deployment;
  const accounts = new Map(resources?.map(({ urn, outputs }) => [urn, outputs?.__at]));
  expect([A, E, set].map((urn) => accounts.get(urn))).toEqual([1, 2, 3].map(() => account ?? HERE));
});

it("leaves a correct order as it is", () => {
  const state = [resource(E, { id: "2" }), resource(A, { id: "1" })];
  expect(settled(state, [], [])).toEqual(["e 2", "a 1"]);
});

it("makes the latest object the current one again if its replacement was not created after all", () => {
  const open = resource(E, { id: "unresolved-x", outputs: { [UNRESOLVED]: { since: "", what: "" } } });
  const state = [open, resource(E, { id: "2", delete: true }), resource(E, { id: "1", delete: true })];
  expect(settled(state, [], [{ urn: E, createdAs: undefined }])).toEqual(["e 2", "e 1 replaced"]);
  expect(settled(state, [], [{ urn: E, createdAs: "3" }])).toEqual(["e 3", "e 2 replaced", "e 1 replaced"]);
});

it("an object that is only read (.get) is not managed", () => {
  const open = resource(E, { id: "unresolved-x", outputs: { [UNRESOLVED]: { since: "", what: "" } } });
  const ref = resource(urnOf("ConversionEvent", "ref"), { id: "2", external: true });
  const state = [open, resource(E, { id: "2", delete: true }), ref];
  expect(settled(state, [], [{ urn: E, createdAs: undefined }])).toEqual(["e 2", "ref 2"]);
  const named = resource(E, { id: "2", external: true });
  expect(openCreates(stackOf([named], [creating(E)]))).toMatchObject([{ urn: E, held: undefined }]);
});

describe("the object that `deleteBeforeReplace` removed first, if its replacement was not created", () => {
  const left = [{ id: "1", at: NOW, why: "replaced" }];
  const open = (outputs: object = {}) =>
    resource(A, {
      id: "unresolved-x",
      outputs: { ...outputs, [UNRESOLVED]: { since: "", what: "" } },
      initErrors: [""],
    });
  const leftOf = (...state: object[]) =>
    settle(stackOf(state, []), [{ urn: A, createdAs: undefined }]).deployment.resources?.filter(({ urn }) => urn === A);
  const awaiting = { urn: A, id: "unresolved-x", pendingReplacement: true };

  it.each([{ dependencies: [A] }, { propertyDependencies: { advertiserId: [A] } }, { deletedWith: A }])(
    "stays, to be replaced, while others refer to it: $0",
    (reference) => {
      const kept = leftOf(open(), resource(E, { id: "2", pendingReplacement: true, ...reference }));
      expect(kept).toMatchObject([awaiting]);
      expect(kept?.[0]).not.toHaveProperty("initErrors");
      expect(kept?.[0]?.outputs).not.toHaveProperty(UNRESOLVED);
    },
  );

  it("leaves the state if only another create that made nothing refers to it", () => {
    const other = resource(E, { ...open(), urn: E, type: E.split("::")[2], dependencies: [A] });
    const verdicts = [A, E].map((urn) => ({ urn, createdAs: undefined }));
    expect(settle(stackOf([open(), other], []), verdicts).deployment.resources).toEqual([]);
  });

  it("stays if no other resource lists what was left live; otherwise it leaves the state", () => {
    const [kept] = leftOf(open({ __left: left })) ?? [];
    expect(kept).toMatchObject(awaiting);
    expect(leftLiveIn(kept?.outputs ?? {})).toMatchObject(left);
    expect(leftOf(open())).toEqual([]);
    expect(leftOf(open({ __left: left }), resource(A, { id: "1", delete: true }))).toMatchObject([{ id: "1" }]);
  });
});

it("the create of an interrupted run lists the object that it leaves live and those listed before; one with pendingReplacement leaves the state", () => {
  const before = { id: "5", at: NOW, why: "replaced" };
  const old = (more: object) => resource(A, { id: "1", outputs: { advertiserName: "A", __left: [before] }, ...more });
  const settledAs = (former: object, createdAs?: string) => {
    const verdicts = createdAs === undefined ? [] : [{ urn: A, createdAs }];
    return (
      settle(stackOf([former, resource(E, { id: "2", dependencies: [A] })], [creating(A)]), verdicts).deployment
        .resources ?? []
    );
  };
  const listed = (former: object, createdAs?: string) => leftLiveIn(settledAs(former, createdAs)[0]?.outputs ?? {});
  const left = { id: "1", at: NOW, why: "replaced", name: "A" };
  const retained = { retainOnDelete: true };
  expect(listed(old(retained), "3")).toEqual([before, { ...left, by: "3" }]);
  expect(listed(old(retained))).toEqual([before, left]); // without an answer
  expect(listed(old({}), "3")).toEqual([before]); // the next run deletes it
  const idsOf = (former: object) => settledAs(former, "3").map(({ id, delete: isReplaced }) => [id, isReplaced]);
  expect(idsOf(old({ pendingReplacement: true }))).toEqual([
    ["3", undefined],
    ["2", undefined],
  ]);
  expect(listed(old({ ...retained, pendingReplacement: true }), "3")).toEqual([before, { ...left, by: "3" }]);
  expect(idsOf(old(retained))).toEqual([
    ["3", undefined],
    ["1", true],
    ["2", undefined],
  ]);
});

it("R4: a create with different arguments from the program's is saved as it was sent, so that the next up sees the change", () => {
  const now = { eventName: "Two", advertiserId: 4, value: 5, clickWindow: 60 };
  const settledAs = (sent: object) => {
    const unresolved = { ...now, [UNRESOLVED]: { since: "", what: "", ...sent } };
    const inputs = { ...now, __provider: "p" };
    const stack = stackOf([resource(E, { id: "unresolved-x", inputs, outputs: unresolved })], []);
    const [saved] = settle(stack, [{ urn: E, createdAs: "3" }]).deployment.resources ?? [];
    const { eventName, advertiserId, value, clickWindow, __provider } = saved?.outputs ?? {};
    expect(__provider).toBe("p"); // the engine can't read the state without it
    return { eventName, advertiserId, value, clickWindow };
  };
  expect(settledAs({})).toEqual(now);
  expect(settledAs({ name: "One", facts: { advertiserId: 1, value: 5 } })).toEqual({
    ...now,
    eventName: "One",
    advertiserId: 1,
  });
  // Another argument has changed, and which one is not known.
  expect(settledAs({ name: "Two", facts: { advertiserId: 4, value: 5 } })).toEqual({ ...now, clickWindow: undefined });
});

it("R2: an object that another resource has adopted meanwhile does not become a second resource's", () => {
  const open = resource(E, { id: "unresolved-x", outputs: { [UNRESOLVED]: { since: "", what: "" } } });
  const old = resource(E, { id: "2", delete: true });
  const adopter = resource(urnOf("ConversionEvent", "other"), { id: "2" });
  const set = resource(urnOf("ConversionEventSet", "s"), {
    id: "set-x",
    outputs: { advertiserId: 1, events: { k: {} }, eventIds: { k: 2 } },
  });
  const notCreated = [{ urn: E, createdAs: undefined }];
  expect(settled([open, old, adopter], [], notCreated)).toEqual(["e 2 replaced", "other 2"]);
  expect(settled([open, old, set], [], notCreated)).toEqual(["e 2 replaced", "s set-x"]);
  // An advertiser may have the same id.
  expect(settled([open, old, resource(A, { id: "2" })], [], notCreated)).toEqual(["e 2", "a 2"]);
});

it("keeps a secret name secret", () => {
  const marked = (secret: string[]) => {
    const inputs = { eventName: "hidden", __secret: secret };
    const operation = { type: "creating", resource: { ...resource(E), inputs } };
    const text = JSON.stringify({ version: 3, deployment: { resources: [], pending_operations: [operation] } });
    return settle(readExport(text), []).deployment.resources?.[0]?.outputs?.[UNRESOLVED];
  };
  expect(marked(["eventName"])).toMatchObject({ secret: ["eventName"] });
  expect(marked(["value"])).toMatchObject({ secret: ["value"] });
});

it("a pending create is history if the state has it with the same arguments, or as unresolved", () => {
  const inputs = { eventName: "E", value: 1, __identity: "x" };
  const open = (current: object) => {
    const resources = [resource(E, { id: "2", ...current })];
    const pending_operations = [creating(E, { inputs })];
    const stack = readExport(JSON.stringify({ version: 3, deployment: { resources, pending_operations } }));
    const left = settle(stack, []).deployment;
    expect(left.pending_operations).toEqual([]);
    return { open: openCreates(stack).map(({ held }) => held?.id), left: left.resources?.length };
  };
  expect(open({ inputs: { ...inputs, __identity: "y" } })).toEqual({ open: [], left: 1 });
  expect(open({ inputs: { ...inputs, existingId: 2 } })).toEqual({ open: [], left: 1 });
  const unresolved = { inputs: {}, outputs: { [UNRESOLVED]: { since: "", what: "" } } };
  expect(open(unresolved)).toEqual({ open: [undefined], left: 1 }); // the one in the state
  expect(open({ inputs: { ...inputs, value: 2 } })).toEqual({ open: ["2"], left: 2 });
  expect(open({ inputs, delete: true })).toEqual({ open: [undefined], left: 2 });
});

it("a set that is in the state is history with any arguments, and is counted, because of a possible `--replace`", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const events = (value: number) => ({ advertiserId: 1, events: { a: { eventName: "A", value } } });
  const pendingWith = (...values: number[]) => {
    const set = resource(urn, { id: "set-1", inputs: events(1), outputs: { ...events(1), eventIds: { a: 5 } } });
    const began = values.map((value) => ({ type: "creating", resource: resource(urn, { inputs: events(value) }) }));
    const { open, history } = pendingIn(stackOf([set], began), []);
    return { open: open.length, history };
  };
  // R7: it counts once, even if several runs that created it were killed.
  expect([[1], [2], [1, 2]].map((values) => pendingWith(...values))).toEqual(
    [1, 2, 3].map(() => ({ open: 0, history: 1 })),
  );
});

it("two secret arguments never count as the same", () => {
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:same" };
  const inputs = { eventName: secret, additionalFields: { note: secret } };
  const resources = [resource(E, { id: "2", inputs })];
  const pending_operations = [creating(E, { inputs })];
  const stack = readExport(JSON.stringify({ version: 3, deployment: { resources, pending_operations } }));
  expect(openCreates(stack)).toMatchObject([{ held: { id: "2" } }]);
});

describe("with a journal on this machine", () => {
  const key = "ConversionEvent::organization/tiny/dev::e";
  const note = (more: object = {}) => ({
    mark: "m",
    key,
    fingerprint: "f",
    at: "2026-11-21T09:28:31.735Z",
    name: "E",
    ...more,
  });
  const inputs = { eventName: "E", advertiserId: 1, value: 2 };
  const same = fingerprintOf({ event_name: "E", advertiser_id: 1, value: 2 });

  it("`pending` says when a create was sent, and which ones the next up takes over", () => {
    const stack = stackOf([], [creating(E, { inputs })]);
    expect(pendingIn(stack, [note({ fingerprint: same })])).toMatchObject({
      open: [{ urn: E, known: "engine", record: { name: "E", at: "2026-11-21T09:28:31.735Z" } }],
      created: [],
    });
    expect(pendingIn(stack, [note({ fingerprint: same, id: "7" })])).toMatchObject({
      open: [],
      created: [{ urn: E, record: { id: "7" } }],
    });
    // A replacement: the state has the object that it was to replace.
    expect(pendingIn(stackOf([resource(E, { id: "2", inputs })], []), [note({ id: "7" })])).toMatchObject({
      open: [],
      created: [{ urn: E, record: { id: "7" }, held: { id: "2" } }],
    });
    // With another body the next up saves it as unresolved.
    expect(pendingIn(stack, [note({ id: "7" })])).toMatchObject({ open: [{ urn: E }], created: [] });
    const sent = note({ id: "7", facts: { advertiserId: 1, value: 1 } });
    const [saved] = settle(stack, [{ urn: E, createdAs: "7" }], [sent]).deployment.resources ?? [];
    expect(saved).toMatchObject({ id: "7", inputs: { value: 2 }, outputs: { value: 1 } });
  });

  it("R7: a create whose body is not known is listed, also if that of the object in the state is not known either", () => {
    const urn = urnOf("ConversionEventSet", "s");
    const events = { a: { eventName: "E", value: 2 } };
    const outputs = { advertiserId: 1, events, eventIds: { a: 5 }, earlier: { a: "" } };
    const sent = note({ key: 'ConversionEventSet::organization/tiny/dev::s["a"]', fingerprint: "" });
    expect(pendingIn(stackOf([resource(urn, { id: "set-1", outputs })], []), [sent]).open).toMatchObject([
      { urn: `${urn}["a"]`, known: "journal", held: { id: "5" } },
    ]);
  });

  it("an adoption in flight is no create, because it sends none; what was sent before it is still pending", () => {
    const adopting = creating(E, { inputs: { ...inputs, existingId: "7" } });
    const none = { open: [], created: [], history: 0 };
    expect(pendingIn(stackOf([], [adopting]), [])).toMatchObject(none);
    expect(pendingIn(stackOf([resource(urnOf("ConversionEvent", "f"), { id: "7" })], [adopting]), [])).toMatchObject(
      none,
    );
    expect(pendingIn(stackOf([], [adopting]), [note()])).toMatchObject({ open: [{ urn: E, known: "journal" }] });
    expect(pendingIn(stackOf([], [adopting, creating(E, { inputs })]), [note()]).open).toMatchObject([
      { urn: E, known: "engine", record: { mark: "m" } },
    ]);
    const set = urnOf("ConversionEventSet", "s");
    const events = { a: { eventName: "A", value: 1, existingId: 7 }, b: { eventName: "B", value: 1 } };
    const ofSet = { type: "creating", resource: resource(set, { inputs: { advertiserId: 1, events } }) };
    expect(openCreates(stackOf([], [ofSet])).map(({ urn }) => urn)).toEqual([`${set}["b"]`]);
  });

  it("a create is listed that neither the engine nor the state has", () => {
    expect(pendingIn(stackOf([], []), [note()])).toMatchObject({
      open: [{ urn: E, known: "journal", kind: "ConversionEvent", record: { name: "E" } }],
    });
  });

  it("a create is not listed if the state shows it to be settled, and listed once if it is unresolved there", () => {
    expect(pendingIn(stackOf([resource(E, { id: "2", inputs })], []), [note({ fingerprint: same })]).open).toEqual([]);
    expect(pendingIn(stackOf([resource(E, { id: "2", inputs })], []), [note()]).open).toMatchObject([
      { held: { id: "2" } },
    ]);
    const unresolved = resource(E, {
      id: "unresolved-m",
      inputs,
      outputs: { [UNRESOLVED]: { since: "then", what: "", replaces: "5" } },
    });
    // It was sent again since: the last moment counts (R6).
    expect(pendingIn(stackOf([unresolved], []), [note()]).open).toMatchObject([
      { known: "state", record: { at: note().at, replaces: "5", facts: { advertiserId: 1, value: 2 } } },
    ]);
  });
});

describe("a replacement with the same arguments, which `--replace` asked for", () => {
  const inputs = { eventName: "E", advertiserId: 1, value: 2 };
  const held = resource(E, { id: "2", inputs });
  const key = "ConversionEvent::organization/tiny/dev::e";
  const note = {
    mark: "m",
    key,
    fingerprint: fingerprintOf({ event_name: "E", advertiser_id: 1, value: 2 }),
    at: "2026-11-21T09:28:31.735Z",
    replaces: "2",
  };
  const killed = stackOf([held], [creating(E, { inputs })]);

  it("is open while the state has the object that it was to replace, and is settled like any other", () => {
    const open = [{ urn: E, known: "engine", record: { mark: "m", replaces: "2" }, held: { id: "2" } }];
    expect(pendingIn(killed, [note])).toMatchObject({ open, created: [], history: 0 });
    const idsOf = (verdicts: Verdict[]) =>
      (settle(killed, verdicts, [note]).deployment.resources ?? []).map((each) => [each.id, each.delete === true]);
    expect(idsOf([{ urn: E, createdAs: "7" }])).toEqual([
      ["7", false],
      ["2", true],
    ]);
    expect(idsOf([{ urn: E, createdAs: undefined }])).toEqual([["2", false]]);
    // Only the journal has it once the engine's list is cleared.
    const alone = [{ urn: E, known: "journal", record: { mark: "m" }, held: { id: "2" } }];
    expect(pendingIn(stackOf([held], []), [note])).toMatchObject({ open: alone, created: [] });
  });

  it("counts as created if the journal has its id", () => {
    const created = [{ urn: E, record: { id: "7" }, held: { id: "2" } }];
    expect(pendingIn(killed, [{ ...note, id: "7" }])).toMatchObject({ open: [], created, history: 0 });
  });

  it("is history once the state has another object, or if no journal has it", () => {
    const replaced = stackOf([resource(E, { id: "7", inputs })], [creating(E, { inputs })]);
    expect(pendingIn(replaced, [note])).toMatchObject({ open: [], created: [], history: 1 });
    expect(pendingIn(killed, [])).toMatchObject({ open: [], created: [], history: 1 });
  });
});

it("a create whose id is in the journal is saved with it when another one is settled", () => {
  const inputs = { eventName: "E", advertiserId: 1, value: 2 };
  const body = { event_name: "E", advertiser_id: 1, value: 2 };
  const other = urnOf("ConversionEvent", "other");
  const stack = stackOf([], [creating(E, { inputs }), creating(other, { inputs: { ...inputs, eventName: "Other" } })]);
  const note = {
    mark: "m",
    key: "ConversionEvent::organization/tiny/dev::e",
    fingerprint: fingerprintOf(body),
    at: "2026-11-21T09:28:31.735Z",
    id: "7",
  };
  const { resources } = settle(stack, [{ urn: other, createdAs: "9" }], [note]).deployment;
  expect(resources?.map(({ urn, id }) => [urn, id])).toEqual([
    [E, "7"],
    [other, "9"],
  ]);
});

it("a key that was removed from its set is listed until its create is settled", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const set = resource(urn, {
    id: "set-1",
    outputs: { advertiserId: 1, events: { a: { eventName: "A", value: 1 } }, eventIds: { a: 5 } },
  });
  const note = {
    mark: "m",
    key: `ConversionEventSet::organization/tiny/dev::funnel["gone"]`,
    fingerprint: "f",
    at: "2026-11-21T09:28:31.735Z",
    name: "Gone",
    unclaimed: true as const,
  };
  expect(pendingIn(stackOf([set], []), [note]).open).toMatchObject([
    { urn: `${urn}["gone"]`, known: "journal", record: { name: "Gone" } },
  ]);
});

it("the members of an interrupted set have marks derived from the set's, and may have been sent until now", () => {
  const set = {
    urn: urnOf("ConversionEventSet", "funnel"),
    type: "pulumi-nodejs:dynamic/advertising:ConversionEventSet",
    inputs: {
      advertiserId: 1,
      events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } },
      __mark: "alternative_id of-the-set",
    },
  };
  const text = JSON.stringify({
    version: 3,
    deployment: {
      manifest: { time: "2026-11-21T00:00:00Z" },
      pending_operations: [{ type: "creating", resource: set }],
    },
  });
  const stack = readExport(text);
  const sought = openCreates(stack).map(({ urn, record: { isEarliest, field, mark } }) => ({
    urn,
    isEarliest,
    trace: { field, value: mark },
  }));
  const traceOf = (key: string) => ({ field: "alternative_id", value: memberMark("of-the-set", key) });
  expect(sought).toEqual([
    { urn: `${set.urn}["a"]`, isEarliest: true, trace: traceOf("a") },
    { urn: `${set.urn}["b"]`, isEarliest: true, trace: traceOf("b") },
  ]);
  // A contract, because another version may have written the record.
  expect(["a", "b"].map((key) => memberMark("of-the-set", key))).toEqual([
    "6977caa2-9674-2303-b647-b44283b61d37",
    "0fefbf9d-2708-b38d-9678-13c7a646c781",
  ]);

  const [saved] = settle(stack, [{ urn: `${set.urn}["a"]`, createdAs: "7" }]).deployment.resources ?? [];
  expect(saved?.outputs).toMatchObject({
    eventIds: { a: 7 },
    unresolved: { b: { since: NOW, isLatest: true, trace: traceOf("b"), mark: traceOf("b").value } },
  });
});

it("the next run deletes the object that a settled member replaced, if its set deletes", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const declared = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };
  const changed = { ...declared, events: { a: { eventName: "A", value: 2 } } };
  const set = (deletes: object) =>
    stackOf(
      [resource(urn, { id: "set-1", inputs: declared, outputs: { ...declared, eventIds: { a: 5 } } })],
      [{ type: "updating", resource: resource(urn, { id: "set-1", inputs: { ...changed, ...deletes } }) }],
    );
  const leftOf = (deletes: object) => {
    const verdict = { urn: `${urn}["a"]`, createdAs: "9" };
    const [saved] = settle(set(deletes), [verdict]).deployment.resources ?? [];
    expect(saved?.outputs).toMatchObject({ eventIds: { a: 9 } });
    return leftLiveIn(saved?.outputs ?? {});
  };
  expect(leftOf({ __delete: true })).toMatchObject([
    { id: "5", by: "9", toDelete: true, name: "A", advertiserId: "1" },
  ]);
  expect(leftOf({})[0]).not.toHaveProperty("toDelete");
});

it("a member that was created with different defaults from its set's may have been sent again by an interrupted update", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const declared = { advertiserId: 1, defaults: {}, events: { a: { eventName: "A", value: 1 } } };
  const set = (more: object) => resource(urn, { id: "set-1", inputs: declared, outputs: { ...declared, ...more } });
  const inFlight = (earlier: object) =>
    openCreates(stackOf([set({ eventIds: { a: 5 }, ...earlier })], [{ type: "updating", resource: set({}) }])).map(
      ({ urn: member, held }) => [member, held?.id],
    );
  expect(inFlight({})).toEqual([]);
  expect(inFlight({ earlier: { a: "of another body" } })).toEqual([[`${urn}["a"]`, "5"]]);
});

it("a member that is missing in the inputs, as after a failed update, is saved as it was sent, so that a refresh compares it", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const sent = { event_name: "A", advertiser_id: 1, value: 2 };
  const unresolved = { since: NOW, what: "lost", mark: "m", name: "A", facts: { advertiserId: 1, value: 2 } };
  const set = resource(urn, {
    id: "set-1",
    inputs: { advertiserId: 1, events: {} },
    outputs: { advertiserId: 1, events: {}, [UNRESOLVED]: { a: { ...unresolved, fingerprint: fingerprintOf(sent) } } },
  });
  const [saved] = settle(stackOf([set], []), [{ urn: `${urn}["a"]`, createdAs: "7" }]).deployment.resources ?? [];
  expect(saved?.outputs).toMatchObject({ events: { a: { eventName: "A", value: 2 } }, eventIds: { a: 7 } });
  expect(saved?.outputs).not.toHaveProperty("earlier");
});

it.each([["f 1"], ["f"]])(
  "a member of another advertiser that is settled is what its set declares; before it was earlier: %s",
  (before) => {
    const urn = urnOf("ConversionEventSet", "funnel");
    const declared = { advertiserId: 3, events: { a: { eventName: "A", value: 1 } } };
    const fingerprint = fingerprintOf({ event_name: "A", advertiser_id: 3, value: 1 });
    const unresolved = {
      a: { since: NOW, what: "lost", mark: "m", fingerprint, name: "A", facts: { advertiserId: 3, value: 1 } },
    };
    const outputs = { ...declared, eventIds: { a: 5 }, earlier: { a: before }, unresolved };
    const stack = stackOf([resource(urn, { id: "set-1", inputs: declared, outputs })], []);
    const [saved] = settle(stack, [{ urn: `${urn}["a"]`, createdAs: "7" }]).deployment.resources ?? [];
    expect(saved?.outputs).toMatchObject({ eventIds: { a: 7 }, __left: [{ id: "5", by: "7" }] });
    expect(saved?.outputs).not.toHaveProperty("earlier");
    const [not] = settle(stack, [{ urn: `${urn}["a"]`, createdAs: undefined }]).deployment.resources ?? [];
    expect(not?.outputs).toMatchObject({ eventIds: { a: 5 }, earlier: { a: before } });
  },
);

it.each([
  ["exactly", {}, {}, ["value"]],
  [
    "by name, advertiser and value",
    { click_window: 60 },
    { viewWindow: 30 },
    ["eventTypeId", "segmentId", "value", "countUnique", "clickWindow", "viewWindow", "attribution"],
  ],
])(
  "a member that was sent with other arguments, which are known %s, is updated by the next run, and not replaced",
  (_, then, now, changed) => {
    const urn = urnOf("ConversionEventSet", "funnel");
    const fingerprint = fingerprintOf({ event_name: "A", advertiser_id: 1, value: 1, ...then });
    const facts = { advertiserId: 1, value: 1 };
    const unresolved = { a: { since: NOW, what: "lost", mark: "m", fingerprint, name: "A", facts } };
    const inputs = { advertiserId: 1, events: { a: { eventName: "A", value: 2, ...now } } };
    const outputs = { advertiserId: 1, events: {}, eventIds: {}, unresolved };
    const actionNow = (declared: object) => {
      const stack = stackOf([resource(urn, { id: "set-1", inputs, outputs })], []);
      const [saved] = settle(stack, [{ urn: `${urn}["a"]`, createdAs: "7" }]).deployment.resources ?? [];
      const can = { read: false, update: true, delete: false, search: () => false };
      const news = readDeclaredSet({ ...inputs, ...declared });
      const circumstances = { can, replaceOnChanges: [], deletes: () => false };
      return membersOf(conversionEvent, readStoredSet(saved?.outputs ?? {}), news, circumstances)[0]?.action;
    };
    expect(actionNow({})).toEqual({ do: "update", changed });
    expect(actionNow({ advertiserId: 2 })).toEqual({ do: "replace", perhaps: false });
  },
);

describe("the members of a set that was sent without a mark", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const inputs = { advertiserId: 1, events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } } };
  const creatingSet = { type: "creating", resource: resource(urn, { inputs }) };
  const note = { mark: "m", key: `ConversionEventSet::organization/tiny/dev::funnel["a"]`, fingerprint: "f" };
  const keysOf = (operations: object[], at: string) =>
    pendingIn(stackOf([], operations, "2026-11-22T09:00:00.000000001+01:00"), [{ ...note, at }]).open.map(
      (create) => create.urn.split('"')[1],
    );

  it("were sent if the journal says so, provided it has a note from after the state was saved", () => {
    expect(keysOf([creatingSet], "2026-11-22T08:00:00.001Z")).toEqual(["a"]);
  });

  it("may otherwise all have been sent, because the last run may have been on another machine", () => {
    expect(keysOf([creatingSet], "2026-11-22T08:00:00.000Z")).toEqual(["a", "b"]);
  });

  it("may all have been sent if there was a second run, which the journal does not know", () => {
    expect(keysOf([creatingSet, creatingSet], "2026-11-22T08:00:00.001Z")).toEqual(["a", "b"]);
  });
});

describe("creates of two interrupted runs", () => {
  const inputs = { eventName: "E", advertiserId: 1, value: 2, __provider: "p" };
  const sent = (mark: string | undefined, more: object = {}) =>
    creating(E, { inputs: { ...inputs, ...(mark === undefined ? {} : { __mark: `field ${mark}` }), ...more } });
  const STORED = { since: "then", what: "It was lost.", trace: { field: "field", value: "one" } };
  const idsOf = ({ deployment }: ExportedStack) => (deployment.resources ?? []).map(({ id }) => id);

  it.each([
    ["each with its mark", [sent("one"), sent("two")], ["two", "one"]],
    ["without marks", [sent(undefined), sent(undefined)], [""]],
    ["only the second one with a mark", [sent(undefined), sent("two")], ["two", ""]],
  ])("%s: are listed as one create with all marks, and saved as one resource", (_, operations, marks) => {
    const stack = stackOf([], operations);
    const open = openCreates(stack);
    expect(open).toHaveLength(1);
    expect(open.flatMap(recordsOf).map(({ mark }) => mark)).toEqual(marks);
    expect(idsOf(settle(stack, [{ urn: E, createdAs: "7" }]))).toEqual(["7"]);
    expect(idsOf(settle(stack, [{ urn: E, createdAs: undefined }]))).toEqual([]);
    const undecided = settle(stack, []).deployment.resources ?? [];
    expect(undecided.map(({ id }) => id)).toEqual([`unresolved-${marks[0] || "mark"}`]);
    // A search for one mark would say nothing about the other create, so no single mark is saved to search for.
    if (marks.length > 1) expect(undecided[0]?.outputs?.[UNRESOLVED]).not.toHaveProperty("trace");
  });

  it("one unresolved in the state and one of a later run: are listed as one", () => {
    const saved = resource(E, { id: "unresolved-one", inputs, outputs: { [UNRESOLVED]: STORED } });
    const marksOf = (mark: string) =>
      openCreates(stackOf([saved], [sent(mark)])).map((create) => [
        create.known,
        ...recordsOf(create).map((each) => each.mark),
      ]);
    expect(marksOf("one")).toEqual([["state", "one"]]);
    expect(marksOf("two")).toEqual([["state", "one", "two"]]);
  });

  it("R7: a create whose id the state has does not hide another one of unknown outcome, which is saved with it", () => {
    const outputs = { ...inputs, [UNRESOLVED]: { ...STORED, createdAs: "7" } };
    const saved = resource(E, { id: "unresolved-one", inputs, outputs });
    const stack = stackOf([saved], [sent("two", { value: 3 })]);
    expect(pendingIn(stack, [])).toMatchObject({
      open: [{ known: "state", record: { mark: "one", createdAs: "7" }, also: [{ mark: "two" }] }],
      created: [],
    });
    // It is the one that has made that object.
    expect(settle(stack, [{ urn: E, createdAs: "7" }]).deployment.resources).toMatchObject([
      { id: "7", outputs: { value: 2 } },
    ]);
    const [kept] = settle(stack, []).deployment.resources ?? [];
    expect(kept?.outputs?.[UNRESOLVED]).toMatchObject({
      createdAs: "7",
      what: expect.stringContaining("Look also for the ConversionEvent"),
    });
  });

  it("C3: one that was sent again with other arguments, under its mark: is saved as it was sent last", () => {
    const stack = stackOf([], [sent("two", { value: 3 }), sent("one", { value: 1 })]);
    const note = { mark: "one", key: "ConversionEvent::organization/tiny/dev::e", at: NOW, field: "field" };
    const fingerprint = fingerprintOf({ event_name: "E", advertiser_id: 1, value: 3 });
    const notes = [{ ...note, fingerprint, name: "E", facts: { advertiserId: 1, value: 3 } }];
    const [saved] = settle(stack, [{ urn: E, createdAs: "7", mark: "one" }], notes).deployment.resources ?? [];
    expect(saved).toMatchObject({ id: "7", outputs: { value: 3 } });
  });

  it("with the same mark, because the second run went on with the first one's: are listed as one create with one mark", () => {
    const stack = stackOf([], [sent("one"), sent("one")]);
    const open = openCreates(stack);
    expect(open.map((create) => recordsOf(create).map(({ mark }) => mark))).toEqual([["one"]]);
    expect(settle(stack, []).deployment.resources?.[0]?.outputs?.[UNRESOLVED]).toMatchObject({
      trace: { value: "one" },
    });
    const note = { mark: "one", key: "ConversionEvent::organization/tiny/dev::e", at: NOW, id: "7" };
    const fingerprint = fingerprintOf({ event_name: "E", advertiser_id: 1, value: 2 });
    expect(pendingIn(stack, [{ ...note, fingerprint }])).toMatchObject({
      open: [],
      created: [{ record: { id: "7" } }],
    });
  });

  it("the journal's note of the object in the state does not count as a second create of its replacement", () => {
    const fingerprint = fingerprintOf({ event_name: "E", advertiser_id: 1, value: 2 });
    const note = { mark: "zero", key: "ConversionEvent::organization/tiny/dev::e", at: NOW, fingerprint };
    const stack = stackOf([resource(E, { id: "5", inputs })], [sent("two", { value: 3 })]);
    expect(pendingIn(stack, [note])).toMatchObject({ open: [{ record: { mark: "two" }, also: [] }], created: [] });
  });

  it("R7: one unresolved in the state and one of a later run: neither is forgotten when another resource is settled", () => {
    const [outputs, other] = [{ ...inputs, [UNRESOLVED]: STORED }, urnOf("ConversionEvent", "other")];
    const saved = resource(E, { id: "unresolved-one", inputs, outputs });
    const stack = stackOf([saved], [sent("two", { value: 3 }), creating(other)]);
    const [kept] = settle(stack, [{ urn: other, createdAs: "7" }]).deployment.resources ?? [];
    expect(kept).toMatchObject({ id: "unresolved-one", outputs: { value: 2 } });
    const unresolved = kept?.outputs?.[UNRESOLVED];
    expect(unresolved).not.toHaveProperty("trace"); // otherwise a search that does not find this one would have it sent again
    expect(unresolved).toMatchObject({
      since: NOW, // the later run may have sent this one again
      isLatest: true,
      what: 'It was lost. More than one create of it was sent. Look also for the ConversionEvent named "E" (advertiserId 1, value 3), field = two.',
    });
    // The sentence is not added twice, nor for a resource with one create.
    const again = stackOf(
      [{ ...saved, outputs: { ...outputs, [UNRESOLVED]: unresolved } }],
      [sent("two", { value: 3 })],
    );
    expect(settle(again, []).deployment.resources?.[0]?.outputs?.[UNRESOLVED]).toEqual(unresolved);
    expect(settle(stackOf([saved], [sent("one")]), []).deployment.resources).toEqual([saved]);
  });

  it("a journal of one of the two: both are listed", () => {
    const note = {
      mark: "one",
      key: "ConversionEvent::organization/tiny/dev::e",
      fingerprint: "f",
      at: NOW,
      field: "field",
    };
    const open = pendingIn(stackOf([], [sent("one"), sent("two")]), [note]).open;
    expect(open.map((create) => recordsOf(create).map(({ mark }) => mark))).toEqual([["two", "one"]]);
    // Two that only a journal has are listed as one too.
    const alone = pendingIn(stackOf([], []), [note, { ...note, mark: "two" }]).open;
    expect(alone.map((create) => recordsOf(create).map(({ mark }) => mark))).toEqual([["one", "two"]]);
  });

  it("R7: a create that was found by its mark is saved as it was sent, so that the next up sees what has changed since", () => {
    const stack = stackOf([], [sent("one", { value: 1 }), sent("two", { value: 3 })]);
    const saved = (mark: string | undefined, more: ExportedStack = stack) => {
      const [only] = settle(more, [{ urn: E, createdAs: "7", mark }]).deployment.resources ?? [];
      expect(only?.outputs?.__provider).toBe("p");
      return only?.outputs?.value;
    };
    expect(["one", "two"].map((mark) => saved(mark))).toEqual([1, 3]);
    // A person's answer does not say which create made the object: what differs is left unknown, and the next preview shows that.
    expect(saved(undefined)).toBeUndefined();
    expect(saved(undefined, stackOf([], [sent("one", { value: 3 }), sent("two", { value: 3 })]))).toBe(3);
    // The create that was found is not the one that is unresolved in the state.
    const unresolved = { since: "then", what: "", trace: { field: "field", value: "zero" } };
    const open = resource(E, {
      id: "unresolved-zero",
      inputs: { ...inputs, value: 3 },
      outputs: { [UNRESOLVED]: unresolved },
    });
    expect(saved("one", stackOf([open], [sent("one", { value: 1 })]))).toBe(1);
    expect(saved("zero", stackOf([open], [sent("one", { value: 1 })]))).toBe(3);
  });

  describe("if a journal has the id of one of them", () => {
    const noteOf = (mark: string, value = 1) => ({
      mark,
      key: "ConversionEvent::organization/tiny/dev::e",
      fingerprint: fingerprintOf({ event_name: "E", advertiser_id: 1, value }),
      at: NOW,
      id: "7",
    });
    const valuesOf = (stack: ExportedStack, createdAs: string | undefined, notes = [noteOf("one")]) =>
      (settle(stack, [{ urn: E, createdAs }], notes).deployment.resources ?? []).map(({ id, outputs }) => [
        id,
        outputs?.value,
      ]);

    it.each([
      ["the earlier one", [sent("two", { value: 3 }), sent("one", { value: 1 })], "two"],
      ["the later one", [sent("one", { value: 1 }), sent("two", { value: 3 })], "two"],
      ["without marks", [sent(undefined, { value: 3 }), sent(undefined, { value: 1 })], ""],
      ["without marks, the other way round", [sent(undefined, { value: 1 }), sent(undefined, { value: 3 })], ""],
    ])("%s: the other one is asked about, with the arguments that it was sent with", (_, operations, mark) => {
      const stack = stackOf([], operations);
      const { open, created } = pendingIn(stack, [noteOf("one")]);
      expect(open).toMatchObject([{ urn: E, known: "engine", record: { mark, facts: { value: 3 } }, also: [] }]);
      expect(open[0]?.record.id).toBeUndefined();
      expect(created).toMatchObject([{ urn: E, record: { mark: "one", id: "7" } }]);
      expect(valuesOf(stack, undefined)).toEqual([["7", 1]]);
      expect(valuesOf(stack, "8")).toEqual([["8", 3]]); // 7 stays in the journal
      const [undecided] = settle(stack, [], [noteOf("one")]).deployment.resources ?? [];
      expect(undecided).toMatchObject({ id: `unresolved-${mark || "mark"}`, outputs: { value: 3 } });
      const words = JSON.stringify(undecided?.outputs?.[UNRESOLVED]);
      expect(words).toContain("More than one create of it was sent. Look also for 7, the ConversionEvent");
      expect(words).not.toContain('"trace"'); // otherwise a search on another machine that does not find it would have it sent again
    });

    it("and of the other, both without marks: none is asked about", () => {
      const stack = stackOf([], [sent(undefined), sent(undefined)]);
      const notes = [noteOf("one", 2), { ...noteOf("two", 2), id: "8" }];
      expect(pendingIn(stack, notes)).toMatchObject({
        open: [],
        created: [{ record: { id: "7" } }, { record: { id: "8" } }],
      });
      const saved = settle(stackOf([], [sent(undefined), sent(undefined)]), [], notes).deployment.resources;
      expect(saved).toMatchObject([{ id: "7" }]); // 8 stays in the journal
    });

    it("and the other is unresolved in the state, that one does not get the id", () => {
      const saved = resource(E, { id: "unresolved-two", inputs, outputs: { ...inputs, [UNRESOLVED]: STORED } });
      const { open, created } = pendingIn(stackOf([saved], [sent("one", { value: 1 })]), [noteOf("one")]);
      expect(open).toMatchObject([{ known: "state", record: { mark: "one" } }]);
      const other = resource(E, { ...saved, outputs: { ...inputs, [UNRESOLVED]: { since: "then", what: "" } } });
      const stack = stackOf([other], [sent("one", { value: 1 })]);
      const found = pendingIn(stack, [noteOf("one")]);
      expect(found).toMatchObject({
        open: [{ known: "state", record: { mark: "two", id: undefined }, also: [] }],
        created: [{ record: { mark: "one", id: "7" } }],
      });
      expect({ open: open[0]?.record.id, created }).toEqual({ open: "7", created: [] });
      expect(valuesOf(stack, undefined)).toEqual([["7", 1]]);
      expect(valuesOf(stack, "8")).toEqual([["8", 2]]);
      expect(settle(stack, [], [noteOf("one")]).deployment.resources).toMatchObject([{ id: "unresolved-two" }]);
    });

    it("and only the journal has a third one, that is asked about, and the created one is saved", () => {
      const stack = stackOf([], [sent("one", { value: 1 })]);
      const { id: _, ...lost } = noteOf("zero");
      const notes = [lost, noteOf("one")];
      expect(pendingIn(stack, notes)).toMatchObject({
        open: [{ known: "journal", record: { mark: "zero" } }],
        created: [{ record: { mark: "one", id: "7" } }],
      });
      expect(settle(stack, [], notes).deployment.resources).toMatchObject([{ id: "7", outputs: { value: 1 } }]);
    });

    it("in a set: the other one is asked about", () => {
      const urn = urnOf("ConversionEventSet", "funnel");
      const declared = { advertiserId: 1, events: { a: { eventName: "A", value: 1 } } };
      const set = (mark: string) => creating(urn, { inputs: { ...declared, __mark: `f ${mark}` } });
      const mark = memberMark("one", "a");
      const note = { ...noteOf(mark), key: `ConversionEventSet::organization/tiny/dev::funnel["a"]` };
      expect(pendingIn(stackOf([], [set("two"), set("one")]), [note])).toMatchObject({
        open: [{ urn: `${urn}["a"]`, record: { mark: memberMark("two", "a"), id: undefined }, also: [] }],
        created: [{ urn: `${urn}["a"]`, record: { mark, id: "7" } }],
      });
    });
  });

  it("R7: an event of a set that was found by its mark is saved as it was sent", () => {
    const urn = urnOf("ConversionEventSet", "funnel");
    const set = (mark: string, value: number) => ({
      type: "creating",
      resource: resource(urn, {
        inputs: { advertiserId: 1, events: { a: { eventName: "A", value } }, __mark: `f ${mark}` },
      }),
    });
    const savedAs = (mark: string) => {
      const verdict = { urn: `${urn}["a"]`, createdAs: "7", mark: memberMark(mark, "a") };
      const [saved] = settle(stackOf([], [set("one", 1), set("two", 3)]), [verdict]).deployment.resources ?? [];
      return saved?.outputs;
    };
    const asSent = (value: number) => ({
      advertiserId: 1,
      eventIds: { a: 7 },
      events: { a: { eventName: "A", value } },
    });
    expect(savedAs("one")).toMatchObject(asSent(1));
    expect(savedAs("two")).toMatchObject(asSent(3)); // as it is declared now
    for (const mark of ["one", "two"]) expect(savedAs(mark)).not.toHaveProperty("earlier");
  });

  it("members of a set are listed with the marks of both runs", () => {
    const urn = urnOf("ConversionEventSet", "funnel");
    const set = (mark: string) => ({
      type: "creating",
      resource: resource(urn, {
        inputs: {
          advertiserId: 1,
          events: { a: { eventName: "A", value: 1 }, b: { eventName: "B", value: 1 } },
          __mark: `f ${mark}`,
        },
      }),
    });
    const stack = stackOf([], [set("one"), set("two")]);
    const open = openCreates(stack);
    expect(open.map((create) => [create.urn, recordsOf(create).map(({ mark }) => mark)])).toEqual(
      ["a", "b"].map((key) => [`${urn}["${key}"]`, [memberMark("two", key), memberMark("one", key)]]),
    );
    const saved = settle(stack, [{ urn: `${urn}["a"]`, createdAs: "7" }]).deployment.resources ?? [];
    expect(saved).toHaveLength(1);
    expect(saved[0]?.outputs).toMatchObject({
      eventIds: { a: 7 },
      unresolved: { b: { mark: memberMark("two", "b") } },
    });
    expect(JSON.stringify(saved[0]?.outputs)).not.toContain('"trace"');
    // A journal of only the second run says nothing about the first.
    const note = {
      mark: memberMark("two", "a"),
      key: `ConversionEventSet::organization/tiny/dev::funnel["a"]`,
      fingerprint: "f",
      at: NOW,
      field: "f",
    };
    const noted = pendingIn(stack, [note]).open;
    expect(noted.map((create) => [create.urn, recordsOf(create).map(({ mark }) => mark)])).toEqual([
      [`${urn}["a"]`, [memberMark("two", "a"), memberMark("one", "a")]],
      [`${urn}["b"]`, [memberMark("one", "b")]],
    ]);
  });
});

it("R6: a member that waits may have been sent again by the interrupted run, if a search can find it and nothing adopts it", () => {
  const urn = urnOf("ConversionEventSet", "funnel");
  const openWith = (a: object, trace?: object) => {
    const waiting = { since: "then", what: "", mark: "one", name: "A", facts: { advertiserId: 1, value: 1 }, trace };
    const outputs = { advertiserId: 1, events: {}, eventIds: {}, unresolved: { a: waiting } };
    const declared = { advertiserId: 1, events: { a }, __mark: "f two" };
    const updating = { type: "updating", resource: resource(urn, { id: "set-1", inputs: declared }) };
    return openCreates(stackOf([resource(urn, { id: "set-1", outputs })], [updating])).map((create) =>
      recordsOf(create).map(({ mark, isEarliest }) => [mark, isEarliest]),
    );
  };
  const trace = { field: "f", value: "one" };
  expect(openWith({ eventName: "A", value: 1 }, trace)).toEqual([[["one", true]]]);
  expect(openWith({ eventName: "A", value: 1 })).toEqual([[["one", undefined]]]);
  expect(openWith({ eventName: "B", value: 2, existingId: 9 }, trace)).toEqual([[["one", undefined]]]);
});

it("a create is also found under its name from before `pulumi state rename`, unless another resource has that name now", () => {
  const [was, is] = ["r", "rr"].map((name) => urnOf("ConversionEvent", name)) as [string, string];
  const set = urnOf("ConversionEventSet", "ss");
  const events = { a: { eventName: "A", value: 1 } };
  const unresolved = { since: NOW, what: "?", trace: { field: "f", value: "m" } };
  const state = [
    resource(is, {
      id: "unresolved-m",
      inputs: { eventName: "R" },
      outputs: { unresolved: { ...unresolved, urn: was } },
    }),
    resource(set, {
      id: "set-1",
      inputs: { events },
      outputs: { events, eventIds: {}, unresolved: { a: { ...unresolved, mark: "ma" } } },
    }),
  ];
  const note = (mark: string, key: string) => ({ mark, key, fingerprint: "", at: NOW, isReported: true as const });
  const notes = [
    note("m", "ConversionEvent::organization/tiny/dev::rrr"),
    note("ma", 'ConversionEventSet::organization/tiny/dev::s["a"]'),
  ];
  const open = (...more: object[]) =>
    pendingIn(stackOf([...state, ...more], []), notes).open.map(({ urn, formerly }) => [urn, formerly]);
  const ofSet = [`${set}["a"]`, [`${urnOf("ConversionEventSet", "s")}["a"]`]];
  expect(open()).toEqual([[is, [was, urnOf("ConversionEvent", "rrr")]], ofSet]);
  expect(open(resource(was, { id: "7" }))).toEqual([[is, [urnOf("ConversionEvent", "rrr")]], ofSet]);
});

it("R7: a set that the interrupted run renamed with an alias counts as the one in the state", () => {
  const [old, now] = ["old", "$&now"].map((name) => urnOf("ConversionEventSet", name)) as [string, string];
  const bucketOf = (name: string) => `urn:pulumi:dev::tiny::other:index:Bucket::${name}`;
  const [bucket, after] = [bucketOf("before"), bucketOf("after")];
  const events = (keys: string[]) => Object.fromEntries(keys.map((key) => [key, { eventName: key, value: 1 }]));
  const held = { advertiserId: 1, events: events(["a"]) };
  const state = [
    resource(old, { id: "set-1", inputs: held, outputs: { ...held, eventIds: { a: 7 } } }),
    resource(E, { id: "2", dependencies: [old] }),
    resource(bucket, { id: "b" }),
  ];
  const begun = { advertiserId: 1, events: events(["a", "b"]) };
  const operation = { type: "updating", resource: resource(now, { inputs: begun, aliases: [old] }) };
  // A renamed resource of another package is left to the engine.
  const others = { type: "updating", resource: resource(after, { aliases: [bucket] }) };
  const stack = underNewNames(stackOf(state, [operation, others]));
  expect(openCreates(stack).map(({ urn }) => urn)).toEqual([`${now}["b"]`]);
  const { resources = [] } = settle(stack, [{ urn: `${now}["b"]`, createdAs: "8" }]).deployment;
  expect(resources?.map(({ urn }) => urn)).toEqual([now, E, bucket]);
  expect(resources?.[0]?.outputs?.eventIds).toEqual({ a: 7, b: 8 });
  expect(resources?.[1]?.dependencies).toEqual([now]);
});

it("R9: the object that the interrupted run was replacing under a new name, by an alias, is said, and leaves as replaced", () => {
  const now = urnOf("ConversionEvent", "renamed");
  const state = [resource(E, { id: "2", inputs: { value: 1 } })];
  const operation = creating(now, { aliases: [E] });
  const stack = underNewNames(stackOf(state, [operation]));
  expect(openCreates(stack)).toMatchObject([{ urn: now, held: { id: "2", isDeleted: false } }]);
  const { resources = [] } = settle(stack, [{ urn: now, createdAs: "8" }]).deployment;
  expect(resources?.map(({ urn, id, delete: isReplaced }) => [urn, id, isReplaced])).toEqual([
    [now, "8", undefined],
    [now, "2", true],
  ]);
});
