/** Ids in every form that a program may hold them in: real runs. */
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const FORMS: Record<string, string> = {
  "the id": "acme.advertiserId",
  "the Advertiser": "acme",
  "an Output of the Advertiser": "pulumi.output(acme)",
  "a promise of the Advertiser": "Promise.resolve(acme)",
  "the resource's id, a string": "acme.id",
  "a string from the configuration": 'config.require("advertiser")',
  "a number from the configuration": 'config.requireNumber("advertiser")',
  "what .get() refers to": 'advertising.Advertiser.get("got", 1)',
};

/** One event for each form. @param options of the events: some forms do not tell Pulumi that they wait for the advertiser. */
const programOf = (advertiserName: string, forms: readonly string[], options = "{}") =>
  program(`
const config = new pulumi.Config("tiny");
const acme = new advertising.Advertiser("acme", { advertiserName: "${advertiserName}" });
const forms = [${forms.join(", ")}];
exports.ids = forms.map((advertiserId, index) =>
  new advertising.ConversionEvent("e" + index, { eventName: "E" + index, advertiserId, value: 1 }, ${options}).advertiserId);`);

it("an event's advertiser in any form: the same number is sent and stored, and another form is no change", async () => {
  const sandbox = await useSandbox();
  const forms = Object.values(FORMS);
  const ordered = "{ dependsOn: acme }";
  const stack = await newStack(programOf("A", forms, ordered), { sandbox, config: { "tiny:advertiser": "1" } });
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: forms.length });
  expect(sandbox.events.map((event) => event.advertiser_id)).toEqual(forms.map(() => 1));
  expect(await stack.outputs()).toEqual({ ids: forms.map(() => 1) });

  stack.program(programOf("A", [...forms.slice(3), ...forms.slice(0, 3)], ordered));
  const other = await stack.preview("--expect-no-changes");
  expect(other.code, other.output).toBe(0);
  expect(sandbox.eventPosts).toBe(forms.length);
});

it("an advertiser's replacement takes the events with it that name it in whichever form", async () => {
  const sandbox = await useSandbox();
  const forms = ["acme", "pulumi.output(acme)", "acme.id", "acme.advertiserId"];
  const stack = await newStack(programOf("A", forms), { sandbox });
  expect((await stack.up()).code).toBe(0);
  stack.program(programOf("B", forms));
  expect((await stack.preview()).output).toContain("5 to replace");
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 8 });
  const replacement = sandbox.advertisers.at(-1)?.id;
  expect(sandbox.events.slice(4).map((event) => event.advertiser_id)).toEqual(forms.map(() => replacement));
});

it("an advertiser whose create has an unknown outcome stops the events that name it", async () => {
  const sandbox = await useSandbox();
  sandbox.fail({ on: "advertiser", act: true, with: { kind: "close-without-answer" } });
  const programWith = (existing: string) =>
    program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "A"${existing} });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: acme, value: 1 });
new advertising.ConversionEvent("f", { eventName: "F", advertiserId: acme.advertiserId, value: 1 });`);
  const stack = await newStack(programWith(""), { sandbox });
  for (const command of [() => stack.up("--continue-on-error"), stack.up]) {
    const { code, output } = await command();
    expect(code).not.toBe(0);
    expect(output).toContain("outcome is unknown");
  }
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 0 });
  stack.program(programWith(', existingId: "1"'));
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 2 });
  expect(sandbox.events.map((event) => event.advertiser_id)).toEqual([1, 1]);
});

it("another resource as the advertiser is refused by name, before anything is registered", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "A" });
const purchase = new advertising.ConversionEvent("purchase", { eventName: "P", advertiserId: acme, value: 1 });
class Shop extends pulumi.ComponentResource { constructor(name) { super("my:shop:Shop", name); } }
new advertising.ConversionEvent("wrong-1", { eventName: "E", advertiserId: purchase, value: 1 });
new advertising.ConversionEvent("wrong-2", { eventName: "E", advertiserId: new Shop("shop"), value: 1, segmentId: acme });`),
    { sandbox },
  );
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("3 problems; nothing was registered and nothing was sent.");
  expect(output).toMatch(/"wrong-1":\s+advertiserId expected an Advertiser or its id.*; got a ConversionEvent\n/);
  expect(output).toMatch(/"wrong-2":\s+advertiserId expected an Advertiser or its id.*; got a Shop\n/);
  expect(output).toMatch(
    /segmentId expected the id of a segment.*; got an Advertiser \(docs\/messages\.md#advertising_arguments\) \[ADVERTISING_ARGUMENTS\]\n/,
  );
  expect(sandbox.requests).toEqual([]);
});

it("another resource inside an Output is refused by the engine's check: its id is never taken for an advertiser's", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "A" });
const purchase = new advertising.ConversionEvent("purchase", { eventName: "P", advertiserId: acme, value: 1 });
new advertising.ConversionEvent("wrong", { eventName: "E", advertiserId: pulumi.output(purchase), value: 1 });`),
    { sandbox },
  );
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toMatch(/expected an Advertiser or its id.*a ConversionEvent/);
  // Whether the first event is created before the program ends is a matter of moments.
  expect(sandbox.events.filter((event) => event.event_name === "E")).toEqual([]);
  expect(sandbox.eventPosts).toBeLessThanOrEqual(1);
});
