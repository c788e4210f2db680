/**
 * The plugin from other languages: the same tiny program sends the same requests. Python, with its packed SDK, stands in
 * test/package/release.test.ts.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { RESOURCES } from "../../provider/src/kinds/index.js";
import { examplePath } from "../../scripts/lib/examples.mjs";
import { hostOf, useLanguages } from "../support/languages.js";
import { throughPlugin } from "../support/plugin.js";
import {
  newStack,
  program,
  type StackOptions,
  useSandbox,
  well,
} from "../support/stack.js";

const TYPESCRIPT = program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme Shoes" });
const purchase = new advertising.ConversionEvent("purchase", { eventName: "Purchase", advertiserId: acme.advertiserId, value: 25,
  eventTypeId: 0, clickWindow: 604800 });
new advertising.ConversionEventSet("funnel", { advertiserId: acme.advertiserId, defaults: { attribution: "WHITELIST" },
  events: { cart: { eventName: "Cart", value: 1.5 }, landing: { eventName: "Landing page", value: 0, eventTypeId: 1 } } },
  { dependsOn: purchase });
exports.eventId = purchase.eventId;`);

/** The examples in the resources' descriptions, as one program. */
function yamlExamples(): string {
  const examples = RESOURCES.map(({ name }) =>
    parse(readFileSync(examplePath("yaml", name), "utf8")),
  );
  const resources = Object.assign({}, ...examples.map((example) => example.resources));
  // So that the order is certain.
  resources.funnel.options = { dependsOn: [`\${purchase}`] };
  const outputs = { eventId: `\${purchase.eventId}` };
  return stringify({ runtime: "yaml", resources, outputs });
}

/** What each program sends: method, path and body of each request. */
async function requestsOf(text: string, options: StackOptions = {}) {
  const sandbox = await useSandbox();
  const stack = await newStack(text, { sandbox, ...options });
  await well(stack.up());
  expect(await stack.outputs()).toEqual({ eventId: 2 });
  // A set's events are sent side by side.
  const requests = sandbox.requests
    .map(({ method, path, body }) => JSON.stringify({ method, path, body }))
    .toSorted();
  return { stack, requests };
}

let ofClasses: readonly string[] | undefined;
async function expected() {
  ofClasses ??= (await requestsOf(TYPESCRIPT)).requests;
  return ofClasses;
}

useLanguages();

it("TypeScript through the plugin sends what the classes send", async () => {
  const { requests } = await requestsOf(throughPlugin(TYPESCRIPT));
  expect(requests).toEqual(await expected());
});

it("YAML sends what the classes send", async (context) => {
  const options = { runtime: yamlExamples(), environment: hostOf("yaml", context) };
  const { stack, requests } = await requestsOf("", options);
  expect(requests).toEqual(await expected());
  expect(await well(stack.up())).toContain("4 unchanged");
});

/** An event as the sandbox keeps it. */
const LIVE = {
  advertiser_id: 1,
  attribution: "ALL",
  click_window: 2_592_000,
  view_window: 2_592_000,
  count_unique: false,
};
const STRANGE = [
  'quote "x"',
  "it's",
  "back\\slash",
  "  blanks  around  ",
  ["$", "{a}"].join(""),
  "ümlaut: yes",
  "日本",
  "# no comment",
  "<b>",
  "x".repeat(99),
];

it("ten live events with strange names are imported, and the code that Pulumi writes changes nothing", async (context) => {
  const events = STRANGE.map((event_name, at) => {
    return { ...LIVE, id: 100 + at, event_name, value: at / 8 };
  });
  const sandbox = await useSandbox({
    operations: true,
    objects: { advertisers: [{ id: 1, advertiser_name: "A" }], events },
  });
  const read = JSON.stringify({ event: { read: "GET rest/event/{id}" } });
  const stack = await newStack("", {
    sandbox,
    runtime: "runtime: yaml",
    environment: { ...hostOf("yaml", context), ADVERTISING_OPERATIONS: read },
  });
  const resources = events.map(({ id }, at) => {
    return { type: "advertising:index:ConversionEvent", name: `e${at}`, id: String(id) };
  });
  stack.write("import.json", JSON.stringify({ resources }));
  const args = ["--file", "import.json", "--out", "generated.yaml", "--yes"];
  await well(stack.run(["import", ...args]));
  const project = readFileSync(join(stack.programFolder, "Pulumi.yaml"), "utf8");
  const generated = readFileSync(join(stack.programFolder, "generated.yaml"), "utf8");
  stack.write("Pulumi.yaml", `${project}${generated}`);
  const both = await well(stack.previewAndUp());
  expect(both.match(/\b11 unchanged/g)).toHaveLength(2);
  expect(sandbox).toMatchObject({ creates: 0, updates: 0, deletes: 0 });
});
