/** What `report comment` says of a preview is what the `up` then does, where most is known. */
import { expect, it } from "vitest";
import { throughPlugin } from "../support/plugin.js";
import { newStack, program, useSandbox } from "../support/stack.js";

const DELETING = { deletionPolicy: "delete" };

/** The `deletionPolicy` and options of a resource, and of the set beside it. */
const OPTIONS: Readonly<
  Record<string, { readonly ofEvent: object; readonly ofSet: object }>
> = {
  plain: { ofEvent: {}, ofSet: {} },
  deleting: { ofEvent: DELETING, ofSet: DELETING },
  replacing: {
    ofEvent: { replaceOnChanges: ["value"] },
    ofSet: { replaceOnChanges: ["events"] },
  },
  guarded: { ofEvent: {}, ofSet: { ...DELETING, protect: true } },
};
const NAMES = Object.keys(OPTIONS);
/** The id of an object that is on the platform already, for the event or the member that adopts it. */
const foundId = (name: string, isMember: boolean) =>
  901 + NAMES.indexOf(name) * 2 + (isMember ? 1 : 0);

/**
 * @param isLater this is the second version: kept, changed, removed, renamed, added and adopted ones, of each option.
 */
function programOf(isLater: boolean): string {
  const lines = NAMES.flatMap((name) => {
    const { ofEvent, ofSet } = OPTIONS[name] ?? { ofEvent: {}, ofSet: {} };
    const value = isLater ? 2 : 1;
    const objects = (isMember: boolean): [string, object][] => [
      ["kept", { eventName: `${name} kept ${isMember}`, value: 1 }],
      ["changed", { eventName: `${name} changed ${isMember}`, value }],
      [
        isLater ? "renamed" : "former",
        { eventName: `${name} renamed ${isMember}`, value: 1 },
      ],
      ...(isLater
        ? ([
            ["added", { eventName: `${name} added ${isMember}`, value: 1 }],
            [
              "adopted",
              {
                eventName: `found ${foundId(name, isMember)}`,
                value: 1,
                existingId: foundId(name, isMember),
              },
            ],
          ] as [string, object][])
        : ([["removed", { eventName: `${name} removed ${isMember}`, value: 1 }]] as [
            string,
            object,
          ][])),
    ];
    const singles = objects(false).map(
      ([key, args]) =>
        `event("${name}-${key}", ${JSON.stringify(args)}, ${JSON.stringify(ofEvent)});`,
    );
    return [
      ...singles,
      `set("${name}", ${JSON.stringify(Object.fromEntries(objects(true)))}, ${JSON.stringify(ofSet)});`,
    ];
  });
  return program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme", existingId: 1 });
const { advertiserId } = acme;
const event = (name, args, { deletionPolicy, ...options }) =>
  new advertising.ConversionEvent(name, { advertiserId, deletionPolicy, ...args }, options);
const set = (name, events, { deletionPolicy, ...options }) =>
  new advertising.ConversionEventSet(name, { advertiserId, deletionPolicy, events }, options);
${lines.join("\n")}
// An advertiser that is replaced, with what belongs to it.
const other = new advertising.Advertiser("other", { advertiserName: "${isLater ? "Other 2" : "Other"}" });
const own = { advertiserId: other.advertiserId };
new advertising.ConversionEvent("of-other", { ...own, eventName: "Of other", value: 1 });
new advertising.ConversionEventSet("of-other", { ...own, events: { a: { eventName: "Of other too", value: 1 } }, deletionPolicy: "delete" });
`);
}

const ACME = { id: 1, advertiser_name: "Acme", active: true };
const UPDATE = { update: "PUT rest/event/{id}" };
const DELETE = { delete: "DELETE rest/event/{id}" };

const knowing = (event: object) => ({ ADVERTISING_OPERATIONS: JSON.stringify({ event }) });
const found = NAMES.flatMap((name) => [foundId(name, false), foundId(name, true)]).map(
  (id) => ({
    ...{ id, event_name: `found ${id}`, advertiser_id: 1, value: 1 },
  }),
);

it("where an update, a delete and a read are known", async () => {
  const sandbox = await useSandbox({
    operations: true,
    objects: { advertisers: [ACME], events: found },
  });
  const environment = knowing(DELETE);
  const stack = await newStack(programOf(false), { sandbox, environment });
  const first = await stack.up();
  expect(first.code, first.output).toBe(0);
  const begun = sandbox.creates;
  stack.setEnvironment(knowing({ ...UPDATE, ...DELETE, read: "GET rest/event/{id}" }));
  const unmanaged = async () => {
    const ids = (await stack.resources()).flatMap(({ id = "", outputs }) =>
      outputs?.eventIds === undefined
        ? [id]
        : Object.values(outputs.eventIds as object).map(String),
    );
    return [...sandbox.advertisers, ...sandbox.events].filter(
      ({ id }) => !ids.includes(String(id)),
    ).length;
  };
  expect(await unmanaged()).toBe(found.length);

  stack.program(programOf(true));
  const preview = (await stack.preview("--json", "--show-sames")).output;
  const output = await stack.commentOn(preview);
  const amountOf = (sentence: RegExp) => Number(sentence.exec(output)?.[1] ?? 0);
  const [creates, adopts, updates] = [
    /(\d+) to create/,
    /(\d+) to adopt/,
    /(\d+) to update/,
  ].map(amountOf);
  const replaces = amountOf(/(\d+) to replace,/) + amountOf(/(\d+) to replace if/);
  expect([creates, adopts], output).toEqual([NAMES.length * 4, NAMES.length * 2]);
  expect(replaces + (updates ?? 0), output).toBe(NAMES.length * 2 + 3);

  const up = await stack.up();
  expect(up.code, up.output).toBe(0);
  const { creates: posts, updates: puts, deletes } = sandbox;
  expect(
    { posts: posts - begun, puts, deletes, left: await unmanaged() },
    `${output}\n${up.output}`,
  ).toEqual({
    posts: NAMES.length * 4 + replaces,
    puts: updates,
    deletes: amountOf(/Up to (\d+) objects? would be deleted/),
    left: amountOf(/Up to (\d+) objects? would stay live/),
  });
});

it("what the preview keeps: an advertiser whose event stays, and what an Output may adopt", async () => {
  const sandbox = await useSandbox({ operations: true });
  const operations = {
    event: DELETE,
    advertiser: { delete: "DELETE rest/advertiser/{id}" },
  };
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify(operations) };
  const shop = (lines: string) =>
    program(`
const policy = { deletionPolicy: "delete" };
const event = (name, args) =>
  new advertising.ConversionEvent(name, { advertiserId: 1, eventName: name, value: 1, ...args });
${lines}`);
  const first = `
const { advertiserId } = new advertising.Advertiser("z", { advertiserName: "Z", ...policy });
event("x", { advertiserId });
event("gone", { advertiserId, ...policy });
event("later", { advertiserId });`;
  const stack = await newStack(shop(first), { sandbox, environment });
  expect((await stack.up()).code).toBe(0);
  const { later } = await stack.ids();
  stack.program(
    shop(`event("x"); event("later", { existingId: pulumi.output(${later}) });`),
  );
  const preview = (await stack.preview("--json", "--show-sames")).output;
  const output = await stack.commentOn(preview);
  expect(preview).toContain("because another resource may adopt it");
  expect(preview).toMatch(/because ConversionEvent .* belongs to it/);
  expect(output).toContain("2 to leave the state");
  expect(output).not.toMatch(/to delete|be deleted/);
  const up = await stack.up();
  expect([up.code, sandbox.deletes], up.output).toEqual([0, 0]);
});

it("a set of an explicit provider: its own operations count, not the stack's, also if they are secret", async () => {
  const sandbox = await useSandbox({ operations: true, objects: { advertisers: [ACME] } });
  const event = { ...UPDATE, ...DELETE, read: "GET rest/event/{id}" };
  const shop = (value: number) =>
    throughPlugin(
      program(`
const operations = pulumi.secret(JSON.stringify(${JSON.stringify({ event })}));
const provider = new advertising.Provider("own", { operations });
const events = { x: { eventName: "X", value: ${value} }, y: { eventName: "Y", value: 1 } };
new advertising.ConversionEventSet("funnel", { advertiserId: 1, events, deletionPolicy: "delete" }, { provider });`),
    );
  const stack = await newStack(shop(1), { sandbox });
  expect((await stack.up()).code).toBe(0);
  stack.program(shop(2));
  const output = await stack.commentOn((await stack.preview("--json")).output);
  expect(output).toContain("**1 to update**");
  expect(output).not.toContain("be deleted");
  const up = await stack.up();
  expect([up.code, sandbox.updates, sandbox.deletes], up.output).toEqual([0, 1, 0]);
});

it("what a set's state hides isn't replaced: the preview knows better", async () => {
  const sandbox = await useSandbox({ operations: true, objects: { advertisers: [ACME] } });
  const shop = (value: number) =>
    program(`
const set = (name, args, options) => new advertising.ConversionEventSet(name, { advertiserId: 1, ...args, deletionPolicy: "delete",
  events: { x: { eventName: name + " x", value: ${value} }, y: { eventName: name + " y", value: ${value === 1 ? "pulumi.secret(1)" : 1} } } }, options);
set("outputs", {}, { additionalSecretOutputs: ["events"] });
set("default", { defaults: { clickWindow: ${value === 1 ? "pulumi.secret(86400)" : 86400} } });
set("advertiser", { advertiserId: pulumi.secret(1) });`);
  const stack = await newStack(shop(1), { sandbox, environment: knowing(DELETE) });
  expect((await stack.up()).code).toBe(0);
  const begun = sandbox.creates;
  stack.program(shop(2));
  const output = await stack.commentOn((await stack.preview("--json")).output);
  expect(output).toContain("**3 to replace**");
  expect(output).toContain("Up to 3 objects would be deleted");
  const up = await stack.up();
  expect([up.code, sandbox.creates - begun, sandbox.deletes], up.output).toEqual([0, 3, 3]);
});
