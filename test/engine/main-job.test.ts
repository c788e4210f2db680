import { expect, it } from "vitest";
import {
  countConnections,
  newStack,
  program,
  resetCounts,
  useSandbox,
  well,
} from "../support/stack.js";

/** Every form in which a program may hold an advertiser's id. */
const FORMS = [
  "acme.advertiserId",
  "acme",
  "pulumi.output(acme)",
  "Promise.resolve(acme)",
  "acme.id",
  'config.require("advertiser")',
  'config.requireNumber("advertiser")',
  'advertising.Advertiser.get("got", 1)',
];
const MORE = 40;
/** With the stack, an advertiser and an event that is adopted; without what is only read. */
const RESOURCES = FORMS.length + MORE + 3;

const shop = (forms: readonly string[], most: string, more = "") =>
  program(`
const limit = Error.stackTraceLimit;
const config = new pulumi.Config("tiny");
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme", additionalFields: { active: true } });
const event = (name, args) => new advertising.ConversionEvent(name, { eventName: name, value: 1, ...args }, { dependsOn: acme });
const ids = [${forms.join(", ")}].map((advertiserId, index) => event("form" + index, { advertiserId }).advertiserId);
for (let i = 0; i < ${MORE - 1}; i++) event("more" + i, { advertiserId: acme });
event("most", { advertiserId: acme, ${most} });
event("adopted", { advertiserId: acme, existingId: 9042 });
const read = advertising.ConversionEvent.get("read", "8");
exports.ids = pulumi.all([...ids, read.eventId]);
${more}`);

const MOST = `value: 2.5, eventTypeId: advertising.EventType.LandingPage, segmentId: 77, countUnique: true, clickWindow: advertising.days(7),
  viewWindow: advertising.hours(1), attribution: "WHITELIST", additionalFields: { colour: { deep: [1, null, "x"] } }`;

it("a stack's life: previewed, created, applied again, refreshed, changed and destroyed; nothing is sent but what is new", async () => {
  const sandbox = await useSandbox({
    advertisersStartActive: false,
    latencyMs: 5,
  });
  const mostConnections = countConnections(sandbox);
  const config = { "tiny:advertiser": "1", "advertising:maxConcurrentRequests": "6" };
  const mistake = `
try { new advertising.Advertiser(undefined, { advertiserName: "B" }); } catch (error) { console.log(error.stack); }
console.log("the limit is " + (Error.stackTraceLimit === limit ? "as before" : "another"));`;
  const stack = await newStack(shop(FORMS, MOST, mistake), { sandbox, config });
  // Also if the program catches it.
  const { code, output: refused } = await stack.preview();
  expect(code).not.toBe(0);
  expect(refused, "the user's own mistake, with its place").toMatch(
    /Missing resource name.*\n.*index\.js:\d+:/,
  );
  expect(refused).toContain("the limit is as before");
  expect(sandbox.requests).toEqual([]);
  stack.program(shop(FORMS, MOST));
  const first = await well(stack.previewAndUp("--parallel", "1000"));
  expect(first).toContain(`${RESOURCES} created`);
  expect(sandbox).toMatchObject({
    logins: 1,
    advertiserPosts: 1,
    eventPosts: FORMS.length + MORE,
  });
  expect(mostConnections()).toBeLessThanOrEqual(6 + 1); // the first may not be known to be free yet
  expect(new Set(sandbox.events.map(({ event_name }) => event_name)).size).toBe(
    sandbox.eventPosts,
  );
  expect(await stack.outputs()).toEqual({ ids: [...FORMS.map(() => 1), 8] });
  const bodyOf = (name: string) =>
    sandbox.requests
      .map(({ body }) => body as Record<string, unknown>)
      .find((body) => body.event_name === name);
  const plain = {
    advertiser_id: 1,
    value: 1,
    count_unique: false,
    click_window: 2592000,
    view_window: 2592000,
  };
  expect(bodyOf("form0")).toEqual({ event_name: "form0", ...plain, attribution: "ALL" });
  expect(bodyOf("most")).toEqual({
    ...{
      event_name: "most",
      advertiser_id: 1,
      value: 2.5,
      event_type_id: 1,
      segment_id: 77,
      count_unique: true,
    },
    ...{
      click_window: 604800,
      view_window: 3600,
      attribution: "WHITELIST",
      colour: { deep: [1, null, "x"] },
    },
  });
  const saved = (await stack.resources()).find(({ urn }) => urn.endsWith("::most"));
  expect(saved?.sourcePosition, "its place in the user's program").toMatch(
    /^project:\/\/\/index\.js#\d+,\d+$/,
  );
  const ids = await stack.ids();
  expect(ids).toMatchObject({ acme: "1", adopted: "9042" });

  // Again, with the forms in another order and the id to adopt forgotten; and with a refresh.
  resetCounts(sandbox);
  const forgotten = shop(FORMS.toReversed(), MOST).replace(", existingId: 9042", "");
  stack.program(forgotten);
  // Not the dependencies, whose order the engine does not keep, nor what is forgotten.
  const state = async () =>
    (await stack.resources()).map(
      ({ urn, id, inputs, outputs, initErrors, retainOnDelete }) => {
        return {
          urn,
          id,
          inputs: { ...inputs, existingId: undefined },
          outputs,
          initErrors,
          retainOnDelete,
        };
      },
    );
  const before = await state();
  const again = await well(stack.up("--refresh"));
  expect(again).toContain(`${RESOURCES} unchanged`);
  expect(again).toContain("A refresh does not compare any event");
  expect(await state()).toEqual(before);
  expect(sandbox.requests).toEqual([]);

  const most = sandbox.events.find(({ event_name }) => event_name === "most")?.id;
  stack.program(
    forgotten
      .replace("value: 2.5", "value: 3")
      .replace(
        "advertiserId: acme });\nconst",
        "advertiserId: acme, existingId: 9043 });\nconst",
      ),
  );
  const up = await well(stack.previewAndUp("--diff"));
  for (const words of [/value\s*: 2\.5 => 3/, /existingId/, /retain/])
    expect(up).toMatch(words);
  expect(up).toContain(`${most} stays live and unmanaged`);
  expect(up).toMatch(new RegExp(`"most" is \\d+ now. The old object ${most} stays live`));
  expect(sandbox).toMatchObject({ advertiserPosts: 0, eventPosts: 1 });
  const now = await stack.ids();
  expect(now).toEqual({ ...ids, most: String(sandbox.events.at(-1)?.id), adopted: "9043" });

  // A delete comes if somebody takes [retain] away.
  stack.editState((text) =>
    text.replace(/"retainOnDelete": ?true/, '"retainOnDelete":false'),
  );
  const destroyed = await well(stack.destroy());
  expect(destroyed).toContain("[retain]");
  expect(destroyed).toMatch(
    /Advertiser "acme" \(1\) leaves the state and isn't deleted, because .* has no delete\./,
  );
  expect(await stack.resources()).toEqual([]);
  expect(sandbox).toMatchObject({ advertiserPosts: 0, eventPosts: 1, deletes: 0 });
});

it("one resource's failure loses nothing of the others; a warning is shown once, and an id comes to the last digit", async () => {
  const sandbox = await useSandbox();
  const events = `for (const n of [1, 2, 3, 4]) new advertising.ConversionEvent("e" + n, { eventName: "E" + n, advertiserId: a, value: 1, additionalFields: { colour: "red" } });`;
  const shop = program(`
const a = new advertising.Advertiser("a", { advertiserName: "A" });
const z = new advertising.Advertiser("z", { advertiserName: "Z" }, { dependsOn: a });
const lost = new advertising.Advertiser("lost", { advertiserName: "Lost" }, { dependsOn: z });
new advertising.ConversionEvent("of-lost", { eventName: "Of", advertiserId: lost, value: 1 });
${events}`);
  const stack = await newStack(shop, { sandbox });
  const body = '{"success":true,"payload":{"id":9007199254740993}}';
  sandbox.fail({
    on: "advertiser",
    after: 1,
    act: true,
    with: { kind: "answer", status: 200, body },
  });
  sandbox.fail({
    on: "advertiser",
    after: 1,
    act: true,
    with: { kind: "close-without-answer" },
  });
  for (const [after, id] of [71, 72].entries()) {
    const warned = {
      success: true,
      payload: { id },
      errors: ["WARNING: unknown field colour was dropped"],
    };
    sandbox.fail({
      on: "event",
      after,
      with: { kind: "answer", status: 200, body: warned },
    });
  }
  sandbox.fail({
    on: "event",
    after: 2,
    with: { kind: "answer", status: 406, body: { errors: ["no"] } },
  });
  const { code, output } = await stack.up("--continue-on-error");
  expect(code).not.toBe(0);
  expect(output).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  expect(
    output
      .slice(output.indexOf("Diagnostics:"))
      .match(/WARNING: unknown field colour was dropped/g),
  ).toHaveLength(1);
  const ids = await stack.ids();
  expect(Object.values(ids)).toContain("9007199254740993");
  expect(Object.values(ids)).toContain("?");
  expect(ids).not.toHaveProperty("of-lost");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 3, eventPosts: 4 });
});
