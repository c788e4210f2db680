/** Pulumi's option `retainOnDelete` from elsewhere than the resource itself, in the run that also removes or replaces. */
import { expect, it } from "vitest";
import { throughPlugin } from "../support/plugin.js";
import { newStack, program, useSandbox, well } from "../support/stack.js";

const DELETED = 'deletionPolicy: "delete"';
const operations = { event: { delete: "DELETE rest/event/{id}" } };

/** What keeps the objects of a shop of this name, and whether the program knows it, so that a preview does. */
const WAYS: readonly (readonly [string, boolean, string])[] = [
  [
    "transformed", // by a stack's transformation
    true,
    `pulumi.runtime.registerStackTransformation(({ name, props, opts }) =>
  name.startsWith("transformed") ? { props, opts: { ...opts, retainOnDelete: true } } : undefined);`,
  ],
  [
    "ignoring", // ignoreChanges beside a program that asks no longer
    true,
    `pulumi.runtime.registerStackTransformation(({ name, props, opts }) => name.startsWith("ignoring") ? {
  props: { ...props, deletionPolicy: undefined }, opts: { ...opts, ignoreChanges: ["deletionPolicy"] } } : undefined);`,
  ],
  [
    "parent", // a parent component, and its transform
    false,
    `options.parent.transforms = [({ props, opts }) => ({ props, opts: { ...opts, retainOnDelete: true } })];
options.parent.retainOnDelete = true;`,
  ],
];

const shops = (value: number, isKept: boolean) =>
  program(`
const options = { transformed: {}, ignoring: {}, parent: {} };
${isKept ? WAYS.map(([, , way]) => way).join("\n") : ""}
for (const way of Object.keys(options)) {
  const parent = new pulumi.ComponentResource("shop:index:Shop", way, {}, options[way]);
  const { advertiserId } = new advertising.Advertiser(way + "-acme", { advertiserName: way }, { parent });
  new advertising.ConversionEvent(way + "-e", { eventName: way + " E", advertiserId, value: ${value}, ${DELETED} }, { parent });
  const events = { own: { eventName: way + " own", value: 1 }, gone: { eventName: way + " gone", value: 1 } };
  if (${value} > 1) delete events.gone;
  new advertising.ConversionEventSet(way + "-s", { advertiserId, events, ${DELETED} }, { parent });
}
const parent = new advertising.Advertiser("acme", { advertiserName: "Acme", ${DELETED} });
new advertising.Advertiser("child", { advertiserName: "Child" }, { parent });
new advertising.ConversionEvent("e", { eventName: "E", advertiserId: parent, value: 1 }, { parent });`);

it("transformations, ignoreChanges and a parent component keep what is replaced or removed in the same run; a child of one of our resources has its own options", async () => {
  const sandbox = await useSandbox({ operations: true });
  const stack = await newStack(shops(1, false), {
    sandbox,
    config: { "advertising:operations": operations },
  });
  await well(stack.up());
  const retained = async () => {
    const all = await stack.resources();
    return Object.fromEntries(
      all.map(({ urn, retainOnDelete = false }) => [
        urn.split("::").at(-1),
        retainOnDelete,
      ]),
    );
  };
  expect(await retained()).toMatchObject({ acme: false, child: true, e: true });
  const ids = await stack.ids();
  stack.program(shops(2, true));
  const [preview = "", up] = (await well(stack.previewAndUp())).split("Updating (");
  for (const [way, isKnown] of WAYS) {
    const { gone } = ids[`${way}-s`] as { gone: number };
    const isToDelete = preview.includes(`to delete on the platform: gone (${gone})`);
    expect(isToDelete, way).toBe(!isKnown);
    for (const id of [gone, ids[`${way}-e`]])
      expect(up).toMatch(
        new RegExp(`\\b${id}\\)?(?: leaves the state and)? isn't deleted`),
      );
    expect(up).toMatch(new RegExp(`bject ${ids[`${way}-e`]} stays live`));
  }
  expect(sandbox).toMatchObject({ eventPosts: 13, deletes: 0 });
  const kept = Object.entries(await retained()).filter(([name]) => name !== "acme");
  expect(kept.filter(([, isRetained]) => !isRetained)).toEqual([]);
  // From now on the record has the component's too, and a preview says so.
  const { "parent-e": old } = await stack.ids();
  stack.program(shops(3, true));
  const [later] = (await well(stack.previewAndUp())).split("Updating (");
  expect(later).toContain(`The old object ${old} stays live`);
  expect(sandbox).toMatchObject({ eventPosts: 16, deletes: 0 });
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
