import { expect, it } from "vitest";
import { openCreates, readExport, settle, type Verdict } from "../../provider/src/cli/pending.js";
import { UNRESOLVED } from "../../provider/src/schema/properties.js";

const urnOf = (kind: string, name: string) =>
  `urn:pulumi:dev::tiny::pulumi-nodejs:dynamic/advertising:${kind}::${name}`;
const A = urnOf("Advertiser", "a");
const E = urnOf("ConversionEvent", "e");

const resource = (urn: string, rest: object = {}) => ({ urn, type: urn.split("::")[2], inputs: {}, ...rest });
/** With other arguments than what the state holds. */
const creating = (urn: string, rest: object = {}) => ({
  type: "creating",
  resource: resource(urn, { inputs: { value: 2 }, ...rest }),
});

/** Each resource that is left as its name, its id, and whether it is marked as replaced. */
function settled(resources: object[], operations: object[], verdicts: Verdict[]): string[] {
  const text = JSON.stringify({ version: 3, deployment: { resources, pending_operations: operations } });
  const { deployment } = settle(readExport(text), verdicts, () => "mark");
  return (deployment.resources ?? []).map(
    (each) => `${each.urn.split("::").at(-1)} ${String(each.id)}${each.delete === undefined ? "" : " replaced"}`,
  );
}

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
])("puts a replacement after its %s, where that stands later", (_, reference) => {
  const state = [resource(E, { id: "2" }), resource(A, { id: "1" })];
  const ids = settled(state, [creating(E, reference)], [{ urn: E, createdAs: "3" }]);
  expect(ids).toEqual(["a 1", "e 3", "e 2 replaced"]);
});

it("leaves the order of what stands right", () => {
  const state = [resource(E, { id: "2" }), resource(A, { id: "1" })];
  expect(settled(state, [], [])).toEqual(["e 2", "a 1"]);
});

it("makes the latest object the current one again where its replacement was not created after all", () => {
  const open = resource(E, { id: "unresolved-x", outputs: { [UNRESOLVED]: { since: "", what: "" } } });
  const state = [open, resource(E, { id: "2", delete: true }), resource(E, { id: "1", delete: true })];
  expect(settled(state, [], [{ urn: E, createdAs: undefined }])).toEqual(["e 2", "e 1 replaced"]);
  expect(settled(state, [], [{ urn: E, createdAs: "3" }])).toEqual(["e 3", "e 2 replaced", "e 1 replaced"]);
});

it("does not tell a name that is secret", () => {
  const marked = (secret: string[]) => {
    const inputs = { eventName: "hidden", __secret: secret };
    const operation = { type: "creating", resource: { ...resource(E), inputs } };
    const text = JSON.stringify({ version: 3, deployment: { resources: [], pending_operations: [operation] } });
    return settle(readExport(text), [], () => "mark").deployment.resources?.[0]?.outputs?.[UNRESOLVED];
  };
  expect(marked(["eventName"])).toMatchObject({ nameIsSecret: true });
  expect(marked(["value"])).not.toHaveProperty("nameIsSecret");
});

it("takes a pending create for history where the state holds it with the same arguments, or as unresolved", () => {
  const inputs = { eventName: "E", value: 1, __identity: "x" };
  const open = (current: object) => {
    const resources = [resource(E, { id: "2", ...current })];
    const pending_operations = [creating(E, { inputs })];
    const stack = readExport(JSON.stringify({ version: 3, deployment: { resources, pending_operations } }));
    const left = settle(stack, [], () => "mark").deployment;
    expect(left.pending_operations).toEqual([]);
    return { open: openCreates(stack).map(({ heldAs }) => heldAs), left: left.resources?.length };
  };
  expect(open({ inputs: { ...inputs, __identity: "y" } })).toEqual({ open: [], left: 1 });
  expect(open({ inputs: { ...inputs, existingId: 2 } })).toEqual({ open: [], left: 1 });
  const unresolved = { inputs: {}, outputs: { [UNRESOLVED]: { since: "", what: "" } } };
  expect(open(unresolved)).toEqual({ open: [undefined], left: 1 }); // the saved one
  expect(open({ inputs: { ...inputs, value: 2 } })).toEqual({ open: ["2"], left: 2 });
  expect(open({ inputs, delete: true })).toEqual({ open: [undefined], left: 2 });
});

it("does not take two secret arguments for the same", () => {
  const secret = { "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", ciphertext: "v1:same" };
  const inputs = { eventName: secret, additionalFields: { note: secret } };
  const resources = [resource(E, { id: "2", inputs })];
  const pending_operations = [creating(E, { inputs })];
  const stack = readExport(JSON.stringify({ version: 3, deployment: { resources, pending_operations } }));
  expect(openCreates(stack)).toMatchObject([{ heldAs: "2" }]);
});
