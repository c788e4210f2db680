import { expect, it } from "vitest";
import { eventsProgram, newStack, program, useSandbox } from "../support/stack.js";

it("3 advertisers and 30 events: one login, 33 objects, each once; then nothing more is sent", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
for (const name of ["a", "b", "c"]) {
  const advertiser = new advertising.Advertiser(name, { advertiserName: "Advertiser " + name });
  for (let i = 0; i < 10; i++) {
    new advertising.ConversionEvent(name + i, { eventName: "Event " + name + i, advertiserId: advertiser.advertiserId, value: i });
  }
}`),
    { sandbox },
  );
  expect((await stack.up()).output).toContain("34 created");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 3, eventPosts: 30 });
  expect(new Set(sandbox.events.map((event) => event.event_name)).size).toBe(30);
  const ids = (await stack.resources()).map(({ id }) => id);
  expect(new Set(ids)).toEqual(new Set([...sandbox.advertisers, ...sandbox.events].map(({ id }) => String(id))));

  sandbox.resetCounts();
  const requests = () => sandbox.requests.length;
  for (const command of [stack.up, stack.refresh]) {
    const { code, output } = await command();
    expect(output).toMatch(/34 unchanged/);
    expect(code).toBe(0);
    expect(output.includes("A refresh does not compare any event")).toBe(command === stack.refresh);
  }
  const destroyed = await stack.destroy();
  expect(destroyed.output).toContain("[retain]");
  expect(destroyed.code).toBe(0);
  expect(requests()).toBe(0);
  expect(await stack.resources()).toEqual([]);

  // What was destroyed lives on; declared again, it is another object.
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 3, eventPosts: 30 });
  expect(sandbox.events).toHaveLength(60);
});

it("sends exactly the wire fields, optional ones only where given or defaulted", async () => {
  const sandbox = await useSandbox({ unknownFields: "ignore" });
  const stack = await newStack(
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A", additionalFields: { active: true } });
new advertising.ConversionEvent("least", { eventName: "Least", advertiserId: a.advertiserId, value: 0 });
new advertising.ConversionEvent("most", {
  eventName: "Möst ✓", advertiserId: a.advertiserId, value: 2.5, eventTypeId: advertising.EventType.LandingPage, segmentId: 77,
  countUnique: true, clickWindow: advertising.days(7), viewWindow: advertising.hours(1), attribution: "WHITELIST",
  additionalFields: { colour: { deep: [1, null, "x"] } },
}, { dependsOn: a });
exports.ids = a.advertiserId;`),
    { sandbox },
  );
  expect((await stack.up()).code).toBe(0);
  const bodies = sandbox.requests.filter(({ path }) => !path.endsWith("authenticate")).map(({ body }) => body);
  expect(bodies[0]).toEqual({ advertiser_name: "A", active: true });
  expect(bodies).toContainEqual({
    event_name: "Least",
    advertiser_id: 1,
    value: 0,
    count_unique: false,
    click_window: 2592000,
    view_window: 2592000,
    attribution: "ALL",
  });
  expect(bodies).toContainEqual({
    event_name: "Möst ✓",
    advertiser_id: 1,
    value: 2.5,
    event_type_id: 1,
    segment_id: 77,
    count_unique: true,
    click_window: 604800,
    view_window: 3600,
    attribution: "WHITELIST",
    colour: { deep: [1, null, "x"] },
  });
  expect(bodies).toHaveLength(3);
  expect(await stack.outputs()).toEqual({ ids: 1 });
});

it("every change is a replacement that names its property, keeps the old object and posts once", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(eventsProgram(1, 1), { sandbox });
  await stack.up();
  stack.program(eventsProgram(1, 2));
  sandbox.resetCounts();
  const preview = await stack.preview("--diff");
  expect(preview.output).toMatch(/replace/);
  expect(preview.output).toMatch(/value\s*: 1 => 2/);
  expect(preview.output).toContain("retain");
  expect(preview.output).toContain("2 stays live on the platform, and tags that were placed for it keep firing");
  expect(sandbox.requests).toEqual([]);
  expect((await stack.up()).code).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 0, eventPosts: 1 });
  expect(sandbox.events.map(({ id, value }) => [id, value])).toEqual([
    [2, 1],
    [3, 2],
  ]);
  expect((await stack.resources()).map(({ id }) => id)).toEqual(["1", "3"]);
});

it("adopts with existingId, and .get reads by id; refresh in every form changes nothing; existingId may be forgotten later; nothing is sent", async () => {
  const sandbox = await useSandbox();
  const body = (existing: string) =>
    program(`
const a = new advertising.Advertiser("a", { advertiserName: "A", existingId: 41 });
const e = new advertising.ConversionEvent("e", { eventName: "E", advertiserId: a.advertiserId, value: 1${existing} });
const readA = advertising.Advertiser.get("read-a", "7");
const readE = advertising.ConversionEvent.get("read-e", "8");
exports.ids = pulumi.all([a.advertiserId, e.eventId, e.id, readA.advertiserId, readE.eventId]);
exports.checks = [advertising.Advertiser.isInstance(readA), advertising.ConversionEvent.isInstance(readA), advertising.ConversionEvent.isInstance(readE), advertising.Advertiser.isInstance({})];`);
  const outputs = (event: number) => ({ ids: [41, event, `${event}`, 7, 8], checks: [true, false, true, false] });
  const stack = await newStack(body(", existingId: 42"), { sandbox });
  const first = await stack.up();
  expect(first.code, first.output).toBe(0);
  expect(await stack.outputs()).toEqual(outputs(42));
  const state = async () => JSON.stringify(await stack.resources()).replaceAll(/"(created|modified)":"[^"]*",?/g, "");
  const before = await state();
  for (const run of [() => stack.refresh("--run-program"), () => stack.up("--refresh")]) {
    const { code, output } = await run();
    expect(code, output).toBe(0);
    expect(output).toContain("unchanged");
    expect(await state()).toBe(before);
  }
  stack.program(body(""));
  expect((await stack.up()).output).toContain("3 unchanged"); // beside what is read
  stack.program(body(", existingId: 43"));
  const other = await stack.up("--diff");
  expect(other.output).toMatch(/existingId/);
  expect(other.code).toBe(0);
  expect(await stack.outputs()).toEqual(outputs(43));
  expect(sandbox.requests).toEqual([]);
});

it("a delete that comes although retainOnDelete: false is refused says what stays live", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(program('\nnew advertising.Advertiser("a", { advertiserName: "A" });'), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const [advertiser] = await stack.resources();
  expect(advertiser?.sourcePosition, "its place in the user's program").toMatch(/^project:\/\/\/index\.js#4,\d+$/);
  stack.write("state.json", (await stack.exported()).replace('"retainOnDelete": true', '"retainOnDelete": false'));
  expect((await stack.run(["stack", "import", "--file", "state.json"])).code).toBe(0);
  const { code, output } = await stack.destroy();
  expect(code, output).toBe(0);
  expect(output).toMatch(/Advertiser 1 left the state.* no known way to delete\W+1 stays live/);
  expect(sandbox.creates).toBe(1);
  expect(await stack.resources()).toEqual([]);
});

it("secret arguments stay encrypted in the state, and out of what is printed and saved of refusals and unknown outcomes", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const secret = pulumi.secret;
const good = new advertising.Advertiser("good", { advertiserName: secret("needle-name"), additionalFields: { alternative_id: secret("needle-deep") } });
new advertising.Advertiser("lost", { advertiserName: secret("needle-one") }, { dependsOn: good });
new advertising.Advertiser("refused", { advertiserName: secret("needle-two") }, { dependsOn: good });`),
    { sandbox },
  );
  sandbox.fail({ on: "create", after: 1, act: true, with: { kind: "close-without-answer" } });
  sandbox.fail({
    on: "create",
    after: 1,
    with: { kind: "answer", status: 406, body: { message: "needle-one, needle-two: no" } },
  });
  const { code, output } = await stack.up("--parallel", "1", "--continue-on-error", "--diff");
  expect(code).not.toBe(0);
  expect(sandbox.creates).toBe(3);
  expect(sandbox.advertisers[0]).toMatchObject({ advertiser_name: "needle-name", alternative_id: "needle-deep" });
  expect(output).toContain("[secret], [secret]: no");
  expect(output).toMatch(/Look in the account for the Advertiser, sent at \S+Z\./);
  const exported = await stack.exported();
  expect(exported).toContain("unresolved-");
  const later = await stack.preview();
  expect(later.output).toContain("Its outcome is unknown");
  expect(output + exported + later.output).not.toContain("needle");
});

it("keeps the place in the user's program in the traces of their own mistakes", async () => {
  const stack = await newStack(
    program(`
const limit = Error.stackTraceLimit;
try { new advertising.Advertiser(undefined, { advertiserName: "B" }); } catch (error) { console.log(error.stack); }
console.log("the limit is " + (Error.stackTraceLimit === limit ? "as before" : "another"));`),
  );
  const { output } = await stack.preview();
  expect(output).toMatch(/Missing resource name argument.*\n.*index\.js:5:/);
  expect(output).toContain("the limit is as before");
});
