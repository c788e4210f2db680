/** The plugin from other languages: the same tiny program in four ways sends the same requests. */
import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { expect, it, type TestContext } from "vitest";
import { languagesFolder } from "../../scripts/lib/base.mjs";
import { throughPlugin } from "../support/plugin.js";
import {
  newStack,
  program,
  type StackOptions,
  useSandbox,
  well,
} from "../support/stack.js";

const repository = resolve(import.meta.dirname, "../..");
const run = promisify(execFile);
const { version: VERSION } = createRequire(import.meta.url)("@pulumi/pulumi/package.json");

const TYPESCRIPT = program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const purchase = new advertising.ConversionEvent("purchase", { eventName: "Purchase", advertiserId: acme.advertiserId, value: 25 });
const funnel = new advertising.ConversionEventSet("funnel", { advertiserId: acme.advertiserId, defaults: { countUnique: true },
  events: { cart: { eventName: "Cart", value: 1 } } }, { dependsOn: purchase });
exports.eventId = purchase.eventId;`);

const YAML = `runtime: yaml
resources:
  acme:
    type: advertising:Advertiser
    properties: { advertiserName: Acme }
  purchase:
    type: advertising:ConversionEvent
    properties: { eventName: Purchase, advertiserId: "\${acme.advertiserId}", value: 25 }
  funnel:
    type: advertising:ConversionEventSet
    properties:
      advertiserId: \${acme.advertiserId}
      defaults: { countUnique: true }
      events: { cart: { eventName: Cart, value: 1 } }
    options: { dependsOn: ["\${purchase}"] }
outputs:
  eventId: \${purchase.eventId}`;

const PYTHON = `import pulumi
import pulumi_advertising as advertising

acme = advertising.Advertiser("acme", advertiser_name="Acme")
purchase = advertising.ConversionEvent("purchase", event_name="Purchase", advertiser_id=acme.advertiser_id, value=25)
advertising.ConversionEventSet(
    "funnel",
    advertiser_id=acme.advertiser_id,
    defaults={"count_unique": True},
    events={"cart": {"event_name": "Cart", "value": 1}},
    opts=pulumi.ResourceOptions(depends_on=[purchase]),
)
pulumi.export("eventId", purchase.event_id)
`;

/** What each program sends: method, path and body of each request. */
async function requestsOf(text: string, options: StackOptions = {}) {
  const sandbox = await useSandbox();
  const stack = await newStack(text, { sandbox, ...options });
  await well(stack.previewAndUp());
  expect(await stack.outputs()).toEqual({ eventId: 2 });
  expect(await well(stack.up())).toContain("4 unchanged");
  return sandbox.requests.map(({ method, path, body }) => ({ method, path, body }));
}

const expected = () => requestsOf(TYPESCRIPT);

/** The language host, or a test that is skipped with the reason. */
function hostOf(language: string, { skip }: TestContext): Record<string, string> {
  const host = join(languagesFolder, `pulumi-language-${language}`);
  skip(!existsSync(host), `${host} is not built: it needs Go`);
  return { PATH: [languagesFolder, process.env.PATH].join(delimiter) };
}

it("TypeScript through the plugin sends what the classes send", async () => {
  expect(await requestsOf(throughPlugin(TYPESCRIPT))).toEqual(await expected());
});

it("YAML sends what the classes send", async (context) => {
  const environment = hostOf("yaml", context);
  expect(await requestsOf("", { runtime: YAML, environment })).toEqual(await expected());
});

it("Python with its generated SDK sends what the classes send", async (context) => {
  const environment = hostOf("python", context);
  const folder = join(repository, ".pulumi-local", "python");
  const virtualenv = join(folder, "venv");
  mkdirSync(folder, { recursive: true });
  await run("node", ["scripts/sdks.mjs", folder], { cwd: repository });
  try {
    await run("python3", ["-m", "venv", virtualenv]);
    const packages = [`pulumi==${VERSION}`, join(folder, "python")];
    await run(join(virtualenv, "bin", "pip"), ["install", "--quiet", ...packages]);
  } catch (error) {
    context.skip(`Python, or its package pulumi, is not to be had: ${error}`);
  }
  // This language host is older than the engine, which would tell a newer one the virtual environment.
  environment.PATH = [join(virtualenv, "bin"), environment.PATH].join(delimiter);
  const options = { file: "__main__.py", runtime: "runtime: python", environment };
  expect(await requestsOf(PYTHON, options)).toEqual(await expected());
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
  expect(await well(stack.preview())).toContain("11 unchanged");
  expect(await well(stack.up())).toContain("11 unchanged");
  expect(sandbox).toMatchObject({ creates: 0, updates: 0, deletes: 0 });
});
