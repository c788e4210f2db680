/** Pulumi's option `retainOnDelete` from elsewhere than the resource itself, in the run that also removes or replaces. */
import { expect, it } from "vitest";
import { throughPlugin } from "../support/plugin.js";
import { newStack, program, useSandbox, well } from "../support/stack.js";

const DELETED = 'deletionPolicy: "delete"';
const operations = { event: { delete: "DELETE rest/event/{id}" } };

/** What keeps the objects of `later`, and whether the program knows it, so that a preview does. */
const WAYS: readonly (readonly [string, boolean, string])[] = [
  [
    "a stack's transformation",
    true,
    `pulumi.runtime.registerStackTransformation(({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } }));`,
  ],
  [
    "ignoreChanges beside a program that asks no longer",
    true,
    `pulumi.runtime.registerStackTransformation(({ props, opts }) => ({
  props: { ...props, deletionPolicy: undefined }, opts: { ...opts, ignoreChanges: ["deletionPolicy"] } }));`,
  ],
  [
    "a parent component, and its transform",
    false,
    `options.transforms = [({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } })];
options.retainOnDelete = true;`,
  ],
];

it.each(WAYS)(
  "%s keeps what is replaced or removed in the same run (known to a preview: %s)",
  async (_, isKnown, way) => {
    const sandbox = await useSandbox({ operations: true });
    const shop = (value: number, more = "") =>
      program(`
const options = {};
${more}
const parent = new pulumi.ComponentResource("shop:index:Shop", "shop", {}, options);
const { advertiserId } = new advertising.Advertiser("acme", { advertiserName: "Acme" }, { parent });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId, value: ${value}, ${DELETED} }, { parent });
const events = { own: { eventName: "Own", value: 1 }, gone: { eventName: "Gone", value: 1 } };
if (${value} > 1) delete events.gone;
new advertising.ConversionEventSet("s", { advertiserId, events, ${DELETED} }, { parent });`);
    const stack = await newStack(shop(1), {
      sandbox,
      config: { "advertising:operations": operations },
    });
    await well(stack.up());
    stack.program(shop(2, way));
    const kept = await well(stack.previewAndUp());
    expect(kept.includes("to delete on the platform")).toBe(!isKnown);
    expect(kept.slice(kept.indexOf("Updating"))).toMatch(/stays live/);
    expect(sandbox).toMatchObject({ eventPosts: 4, deletes: 0 });
    expect((await stack.resources()).map((each) => each.retainOnDelete)).not.toContain(
      false,
    );
    if (isKnown) return;
    // From now on the record has it, and a preview says so.
    stack.program(shop(3, way));
    expect(await well(stack.previewAndUp())).toMatch(/The old object \d+ stays live/);
    expect(sandbox).toMatchObject({ eventPosts: 5, deletes: 0 });
  },
);

it("a child of one of our resources has its own options", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
const parent = new advertising.Advertiser("acme", { advertiserName: "Acme", ${DELETED} });
new advertising.Advertiser("child", { advertiserName: "Child" }, { parent });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: parent, value: 1 }, { parent });`),
    { sandbox, config: { "advertising:operations": operations } },
  );
  await well(stack.up());
  const all = await stack.resources();
  const retains = all.map(({ urn, retainOnDelete = false }) => [
    urn.split("::").at(-1),
    retainOnDelete,
  ]);
  expect(Object.fromEntries(retains)).toMatchObject({ acme: false, child: true, e: true });
});

/** An advertiser and its events. @param options the events'. */
const owned = (options: string, isDeclared = true) =>
  program(`
new advertising.Advertiser("other", { advertiserName: "Other" });
if (${isDeclared}) {
  const acme = new advertising.Advertiser("acme", { advertiserName: "Acme", ${DELETED} });
  const { advertiserId } = acme;
  const options = ${options};
  new advertising.ConversionEvent("e", { eventName: "E", advertiserId, value: 1, ${DELETED} }, options);
  const events = { own: { eventName: "Own", value: 1 } };
  new advertising.ConversionEventSet("s", { advertiserId, events, ${DELETED} }, options);
}`);

/** Pulumi takes such a resource out of the state without a call of the provider, if the other one is deleted too. */
it("deletedWith, which the plugin finds in Pulumi's record, keeps objects: preview and up say so", async () => {
  const sandbox = await useSandbox({ operations: true });
  const advertiser = { delete: "DELETE rest/advertiser/{id}" };
  const stack = await newStack(throughPlugin(owned("{ deletedWith: acme }")), {
    sandbox,
    config: { "advertising:operations": { ...operations, advertiser } },
  });
  await well(stack.up());
  const kept = /(\d)\)?(?: leaves the state and)? isn't deleted, because .* deletedWith/g;
  stack.program(throughPlugin(owned("{}", false)));
  const output = await well(stack.previewAndUp());
  for (const text of output.split("Updating (dev)"))
    expect(new Set(Array.from(text.matchAll(kept), ([, id]) => id))).toEqual(
      new Set(["3", "4"]),
    );
  expect(output).not.toContain("deletes event");
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
});

it("deletedWith by a transformation of the classes is an error", async () => {
  const sandbox = await useSandbox({ operations: true });
  const way =
    "{ transformations: [({ props, opts }) => ({ props, opts: { ...opts, deletedWith: acme } })] }";
  const stack = await newStack(owned(way), {
    sandbox,
    config: { "advertising:operations": operations },
  });
  const { code, output } = await stack.preview();
  expect(code).toBe(1);
  expect(output).toMatch(/"e":\n +deletedWith isn't .*"s":\n +deletedWith isn't /s);
});
