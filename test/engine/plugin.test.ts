/** The plugin in real runs: what the engine makes of it. What is decided is tested at `operations/`. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, it } from "vitest";
import { struck, upAndKill } from "../support/killing.js";
import { eventOperations } from "../support/operated.js";
import { throughPlugin } from "../support/plugin.js";
import { commandsIn } from "../support/printed-commands.js";
import { objectsOf, pendingCommand, setShopOf } from "../support/recovery.js";
import { failed, newStack, program, useSandbox, well } from "../support/stack.js";

const PACKAGE = resolve(import.meta.dirname, "../../provider");

const shop = (value: number, cart = value) =>
  program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const purchase = new advertising.ConversionEvent("purchase", { eventName: "Purchase", advertiserId: acme.advertiserId, value: ${value} });
const funnel = new advertising.ConversionEventSet("funnel", { advertiserId: acme.advertiserId,
  events: { cart: { eventName: "Cart", value: ${cart} }, old: { eventName: "Old", value: 1, existingId: 9042 } } });
const old = new advertising.ConversionEvent("old", { eventName: "Older", advertiserId: acme.advertiserId, value: 1, existingId: 9043 });
exports.ids = [purchase.eventId, old.eventId, funnel.eventIds];`);

it("a stack's life through the plugin: each request once, each changed value shown, and what stays live is named", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(throughPlugin(shop(25)), { sandbox });
  const first = await well(stack.previewAndUp());
  expect(first).toContain("adopts 9043; nothing is sent");
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 1, eventPosts: 2 });
  expect(await stack.outputs()).toMatchObject({
    ids: [expect.any(Number), 9043, { old: 9042 }],
  });
  stack.program(throughPlugin(shop(30, 31)));
  const diff = await well(stack.preview("--diff"));
  expect(diff).toMatch(/~ value +: 25 => 30/);
  expect(diff).toMatch(/~ cart: \{[^}]*~ value\s*: 25 => 31/);
  expect(diff).toContain("stays live and unmanaged");
  const { purchase } = await stack.ids();
  const changed = await well(stack.up());
  for (const words of ["[diff: ~events]", "3 unchanged"]) expect(changed).toContain(words);
  expect(sandbox).toMatchObject({ advertiserPosts: 1, eventPosts: 4 });
  const { purchase: now } = await stack.ids();
  const report = JSON.parse(await well(stack.command("report", "ids")));
  expect(report.events).toMatchObject({ purchase: Number(now), "funnel/old": 9042 });
  expect(await well(stack.command("report", "page"))).toContain("Purchase");
  const left = JSON.parse(await well(stack.command("leftovers", "--format", "json")));
  expect(left.leftovers).toContainEqual(
    expect.objectContaining({ id: String(purchase), name: "Purchase" }),
  );
  const gone = await well(stack.destroy());
  expect(gone, "replaced before, and said then").not.toContain(
    `ConversionEvent ${purchase} left`,
  );
  expect(gone).toContain("leaves the state and isn't deleted");
  expect(sandbox).toMatchObject({ creates: 5, deletes: 0 });
});

it("killed, a set through the plugin is taken over: nothing is sent twice", async () => {
  const sandbox = await useSandbox({ latencyMs: 60 });
  const stack = await newStack(throughPlugin(setShopOf(40)), { sandbox });
  const sent = async () => {
    while (sandbox.creates < 15) await new Promise((resolve) => setTimeout(resolve, 2));
  };
  await upAndKill(stack, sent(), "tree");
  await stack.cancel();
  const preview = await stack.preview();
  expect(preview.output).toMatch(/takes it over|outcome of \d+ creates? is unknown/);
  const { code, output } = await stack.up();
  expect(preview.code, "what stops the up fails the preview").toBe(code);
  if (code !== 0) {
    expect(output).toContain("ADVERTISING_OUTCOME_UNKNOWN");
    const [deny = ""] = commandsIn(output).filter((line) => line.includes("--not-created"));
    expect(deny).toContain("--stack dev");
  }
  expect(new Set(objectsOf(sandbox).map(({ event_name }) => event_name)).size).toBe(
    objectsOf(sandbox).length,
  );
});

it("an open create is resolved first: in a slow program, with --target, for what depends on it, with two providers", async () => {
  const objects = { advertisers: [{ id: 1, advertiser_name: "A" }], events: [] };
  const sandbox = await useSandbox({ objects });
  const events = (...lines: string[]) =>
    throughPlugin(
      program(`
const event = (name, eventName, options) =>
  new advertising.ConversionEvent(name, { eventName, advertiserId: 1, value: 1 }, options);
module.exports = async () => {
  const registered = ({ urn }) => new Promise((resolve) => urn.apply(resolve));
  ${lines.join("\n  ")}
};`),
    );
  const buy = `const buy = event("buy", "Buy");`;
  const stack = await newStack(events(buy), { sandbox });
  const lost = sandbox.fail({ on: "event", act: true, with: { kind: "no-answer" } });
  expect(await upAndKill(stack, struck(lost), "tree")).toBe(true);
  await stack.cancel();
  const importing = ["import", "advertising:index:ConversionEvent", "buy", "1", "--yes"];
  expect(await failed(stack.run(importing))).toContain("an earlier run sent a create");

  stack.program(events(`await registered(event("namesake", "Buy"));`, buy));
  const slow = await failed(stack.up());
  expect(slow).toContain("[ADVERTISING_OUTCOME_UNKNOWN]");
  expect(sandbox.eventPosts).toBe(1);

  const follower = `event("follower", "Follow", { dependsOn: buy });`;
  stack.program(events(`await registered(event("other", "Other"));`, buy, follower));
  const urn = "urn:pulumi:dev::tiny::advertising:index:ConversionEvent::other";
  expect(await well(stack.up("--target", urn))).toContain("+ 1 created");
  expect(await failed(stack.preview())).toMatch(
    /all unresolved creates:\n +npx .* pending --s/,
  );
  expect(await failed(stack.up())).toContain("pending --created 'buy=");
  expect(sandbox.eventPosts).toBe(2);

  const second = `const second = new advertising.Provider("second", {});`;
  stack.program(events(second, `event("elsewhere", "Buy", { provider: second });`));
  const elsewhere = await failed(stack.up());
  expect(elsewhere).toContain('Provider "second": ');
  expect(elsewhere).toContain("an earlier run");
  expect(sandbox.eventPosts).toBe(2);

  stack.program(events(`event("other", "Other");`, buy, follower));
  const { code, output } = await pendingCommand(stack, "--created", "buy=1");
  expect(code, output).toBe(0);
  expect(await well(stack.up())).toContain("follower");
  expect(sandbox.eventPosts).toBe(3);
});

/** The program with an alias for each resource: its type with this prefix. */
function aliased(text: string, prefix: string) {
  const types = ["Advertiser", "ConversionEvent", "ConversionEventSet"];
  return types.reduce(
    (all, type) =>
      all.replaceAll(
        new RegExp(`(new advertising\\.${type}\\(.*(?:\\n  .*)*?)\\);`, "g"),
        `$1, { aliases: [{ type: "${prefix}${type}" }] });`,
      ),
    text,
  );
}
const inPlugin = (text: string) =>
  aliased(throughPlugin(text), "pulumi-nodejs:dynamic/advertising:");
const inClasses = (text: string) => aliased(text, "advertising:index:");

const BOUGHT = {
  ...{ event_name: "Bought", advertiser_id: 1, value: 25, count_unique: false },
  ...{ attribution: "ALL", click_window: 2_592_000, view_window: 2_592_000 },
};

it("a stack moves from the classes to the plugin and back by an alias, wherever a resource was born: nothing is sent, nothing changes, and it lives on there", async () => {
  // The next id is the advertiser's.
  const old = { ...BOUGHT, event_name: "Old", advertiser_id: 9044, value: 1 };
  const events = [
    { ...old, id: 9042 },
    { ...old, id: 9043, event_name: "Older" },
  ];
  const sandbox = await useSandbox({
    operations: true,
    objects: { advertisers: [], events },
  });
  const { search: _, ...event } = eventOperations;
  const operations = { event, createdVisibleAfterSeconds: 0 };
  const stack = await newStack(shop(25), {
    sandbox,
    environment: { ADVERTISING_OPERATIONS: JSON.stringify(operations) },
  });
  await well(stack.up());
  expect(sandbox).toMatchObject({ creates: 3 });

  const both = (value: number, more = "") => `${shop(25)}
const { advertiserId } = new advertising.Advertiser("born", { advertiserName: "Born" });
new advertising.ConversionEventSet("steps", { advertiserId, deletionPolicy: "delete",
  events: { cart: { eventName: "Cart", value: ${value} } } });
new advertising.ConversionEvent("buy", { eventName: "Buy", advertiserId, value: ${value} });
${more}`;
  const lead = `new advertising.ConversionEvent("lead", { eventName: "Lead", advertiserId, value: 1, deletionPolicy: "delete" });`;
  stack.program(inPlugin(both(1, lead)));
  const toPlugin = await well(stack.previewAndUp());
  expect(toPlugin.match(/\b5 unchanged/g)).toHaveLength(2);
  expect(toPlugin).toContain("4 created");
  expect(sandbox).toMatchObject({ creates: 7, updates: 0, deletes: 0 });
  const ids = await stack.ids();
  stack.program(inClasses(both(1, lead)));
  const toClasses = await well(stack.previewAndUp());
  expect(toClasses.match(/\b9 unchanged/g)).toHaveLength(2);
  expect(await stack.ids()).toEqual(ids);
  expect(sandbox).toMatchObject({ creates: 7, updates: 0, deletes: 0 });

  // Without the aliases from here on.
  stack.program(both(2));
  expect(await well(stack.refresh())).toContain("9 unchanged");
  const changed = await well(stack.previewAndUp());
  for (const words of ["2 updated", "1 deleted", "6 unchanged"])
    expect(changed).toContain(words);
  const { lead: gone, ...kept } = ids;
  expect(await stack.ids()).toEqual(kept);
  expect(sandbox.events.map(({ id }) => String(id))).not.toContain(gone);
  expect(sandbox).toMatchObject({ creates: 7, updates: 2, deletes: 1 });
  await well(stack.destroy());
  expect(sandbox).toMatchObject({ creates: 7, updates: 2, deletes: 2 });
});

it("import reads the arguments with a known read, and is refused without one; the program then changes nothing", async () => {
  const events = [70, 71].map((id) => ({ id, ...BOUGHT }));
  const sandbox = await useSandbox({
    operations: true,
    objects: { advertisers: [], events },
  });
  const config = { "advertising:operations": { event: { read: "GET rest/event/{id}" } } };
  const stack = await newStack(throughPlugin(shop(25)), { sandbox });
  await well(stack.up());
  const { purchase } = await stack.ids();
  const importOf = (id: unknown) => {
    const imported = ["import", "advertising:index:ConversionEvent", "bought", String(id)];
    return [...imported, "--yes", "--generate-code=false"];
  };
  const args = importOf(70);
  expect(await failed(stack.run(args))).toContain("existingId");
  stack.setEnvironment({
    ADVERTISING_OPERATIONS: JSON.stringify(config["advertising:operations"]),
  });
  expect(await failed(stack.run(importOf(purchase)))).toContain("already belongs to");
  await well(stack.run(args));
  expect(await stack.ids()).toMatchObject({ bought: "70", purchase });
  const bought = (more = "") =>
    `new advertising.ConversionEvent("bought", { eventName: "Bought", advertiserId: 1, value: 25 }, { protect: true${more} });`;
  stack.program(throughPlugin(shop(25) + bought()));
  expect(await well(stack.preview())).toContain("6 unchanged");
  const alias = `, aliases: [{ type: "advertising:index:ConversionEvent" }]`;
  stack.program(inClasses(shop(25)) + bought(alias));
  expect(await well(stack.previewAndUp())).toContain("6 unchanged");
  const type = "advertising:index:ConversionEvent";
  const resources = ["once", "twice"].map((name) => ({ type, name, id: "71" }));
  const file = join(stack.programFolder, "twice.json");
  writeFileSync(file, JSON.stringify({ resources }));
  const twice = ["import", "--file", file, "--yes", "--generate-code=false"];
  expect(await failed(stack.run(twice))).toContain("71 already belongs to");
  expect(sandbox).toMatchObject({ creates: 3 });
});

it("without a password nothing is imported; a preview of the option works", async () => {
  const objects = { advertisers: [], events: [{ id: 70, ...BOUGHT }] };
  const sandbox = await useSandbox({ operations: true, objects });
  const operations = { event: { read: "GET rest/event/{id}" } };
  const stack = await newStack(throughPlugin(program("")), {
    sandbox,
    environment: { ADVERTISING_OPERATIONS: JSON.stringify(operations) },
  });
  stack.setEnvironment({ ADVERTISING_PASSWORD: undefined });
  const event = ["advertising:index:ConversionEvent", "bought", "70"];
  const imported = ["import", ...event, "--yes", "--generate-code=false"];
  expect(await failed(stack.run(imported))).toContain("password is required");
  stack.program(
    throughPlugin(
      program(
        `new advertising.ConversionEvent("bought", { eventName: "Bought", advertiserId: 1, value: 25 }, { import: "70" });`,
      ),
    ),
  );
  expect(await well(stack.preview())).not.toContain("do not match");
  expect(await failed(stack.up())).toContain("password is required");
  expect(await stack.ids()).toEqual({});
  expect(sandbox).toMatchObject({ creates: 0 });
});

it("with known operations, a change updates and what has the deletionPolicy is deleted, in a set too, and a preview shows both; the rest stays live", async () => {
  const sandbox = await useSandbox({ operations: true });
  const { search: _, ...event } = eventOperations;
  const operations = { event, createdVisibleAfterSeconds: 0 };
  const events = (value: number, more = "", kept = "", owner = "acme") =>
    throughPlugin(
      program(`
const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const other = new advertising.Advertiser("other", { advertiserName: "Other" });
const { advertiserId } = acme;
new advertising.ConversionEvent("buy", { eventName: "Buy", advertiserId: ${owner}.advertiserId, value: ${value}, deletionPolicy: "delete" });
new advertising.ConversionEventSet("funnel", { advertiserId, deletionPolicy: "delete",
  events: { a: { eventName: "A", value: 1 }, ${kept} } });
${more}`),
    );
  const kept = `kept: { eventName: "Kept", value: 1 }`;
  const lead = `new advertising.ConversionEvent("lead", { eventName: "Lead", advertiserId, value: 1, deletionPolicy: "delete" });
new advertising.ConversionEvent("live", { eventName: "Live", advertiserId, value: 1 });
new advertising.ConversionEvent("held", { eventName: "Held", advertiserId, value: 1, deletionPolicy: "delete" }, { retainOnDelete: true });`;
  const stack = await newStack(events(25, lead, kept), {
    sandbox,
    environment: { ADVERTISING_OPERATIONS: JSON.stringify(operations) },
  });
  await well(stack.up());
  const before = await stack.ids();
  stack.program(events(30));
  const changed = await well(stack.previewAndUp("--diff"));
  const [preview = "", removed = ""] = changed.split("Updating (");
  expect(preview).toMatch(/~ value +: 25 => 30/);
  expect(preview).toMatch(/to delete on the platform: kept \(\d+\)/);
  expect(preview).toMatch(
    /`live` is no longer in the program(?:, unless an error ended it early, [^.]*)?\. (?:If none of these, i|I)ts event \d+ \("Live"\) stays live/,
  );
  expect(preview).toMatch(/`pulumi up` deletes event \d+ \("Lead"\) on the platform/);
  expect(removed).toMatch(/"lead" \(\d+\): deleted \d+ on the platform/);
  expect(removed).toMatch(/"live" \(\d+\) leaves the state and isn't deleted, because /);
  expect(sandbox).toMatchObject({ eventPosts: 6, updates: 1, deletes: 2 });
  expect((await stack.ids()).buy).toBe(before.buy);
  // Another advertiser's event is another object, and the engine deletes the old one.
  stack.program(events(30, "", "", "other"));
  const fate = `The old object ${before.buy}, unless another resource adopts it, will be deleted on the platform (deletionPolicy: "delete")`;
  const moved = await well(stack.previewAndUp());
  for (const words of [fate, `deleted ${before.buy} on the platform`])
    expect(moved).toContain(words);
  expect(sandbox).toMatchObject({ eventPosts: 7, deletes: 3 });
  await well(stack.destroy());
  expect(sandbox).toMatchObject({ eventPosts: 7, advertiserPosts: 2, deletes: 5 });
  const left = sandbox.events.map(({ event_name }) => event_name);
  expect(left.toSorted()).toEqual(["Held", "Live"]);
});

it("an event that the program only reads from now on isn't managed any more, and managed again it is another one: the preview says both", async () => {
  const sandbox = await useSandbox({ operations: true });
  const operations = { event: eventOperations, createdVisibleAfterSeconds: 0 };
  const buy = (args: string, options = "{}") =>
    throughPlugin(
      program(`const acme = new advertising.Advertiser("acme", { advertiserName: "Acme" });
new advertising.ConversionEvent("buy", ${args}, ${options});`),
    );
  const managed = buy(
    `{ eventName: "Buy", advertiserId: acme.advertiserId, value: 1, deletionPolicy: "delete" }`,
  );
  const stack = await newStack(managed, {
    sandbox,
    environment: {
      ADVERTISING_OPERATIONS: JSON.stringify(operations),
      ADVERTISING_MARK_FIELD: "alternative_id",
    },
  });
  await well(stack.up());
  const { buy: id } = await stack.ids();
  stack.program(buy("{}", `{ id: "${id}" }`));
  const reading = `\`buy\` is only read from now on. Its event ${id} ("Buy") stays live`;
  const [preview = "", up] = (await well(stack.previewAndUp())).split("Updating (");
  for (const each of [preview, up]) expect(each).toContain(reading);
  expect(sandbox).toMatchObject({ eventPosts: 1, deletes: 0 });
  stack.program(managed);
  const other = `The old object ${id}, unless another resource adopts it, stays live`;
  expect(await well(stack.previewAndUp())).toContain(other);
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
});

it("two accounts in one stack: each provider has its own; one with a wrong password creates nothing", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack("", { sandbox });
  // The password isn't marked: a program that declares the provider by its token has nothing that would mark it.
  const two = (password: string) =>
    throughPlugin(
      program(`
const second = new advertising.Provider("second", { baseUrl: "${sandbox.url}", email: "${sandbox.email}", password: "${password}", cookieFile: "none" });
const a = new advertising.Advertiser("a", { advertiserName: "A" });
new advertising.Advertiser("b", { advertiserName: pulumi.secret("Hush hush") }, { provider: second, dependsOn: a });`),
    );
  stack.program(two("a wrong one"));
  const wrong = await failed(stack.up());
  expect(wrong).toContain("[ADVERTISING_LOGIN");
  expect(wrong, "which of the two").toContain('Provider "second": ');
  expect(sandbox.advertiserPosts).toBe(1);
  stack.program(two(sandbox.password));
  await well(stack.up());
  expect(sandbox.advertiserPosts).toBe(2);
  expect(await well(stack.up())).toContain("4 unchanged");
  expect(sandbox.advertisers.at(-1)).toMatchObject({ advertiser_name: "Hush hush" });
  for (const secret of [sandbox.password, "Hush hush"])
    expect(await stack.exported()).not.toContain(secret);
  expect(readdirSync(join(stack.state, "pulumi-advertising"))).toEqual([]);
});

it("an object that moves to another provider of the same account is not deleted there", async () => {
  const sandbox = await useSandbox({ operations: true });
  const { search: _, ...event } = eventOperations;
  const operations = { event, createdVisibleAfterSeconds: 0 };
  // Its provider's process reads early what Pulumi has saved.
  const first = `const one = new advertising.Provider("one", {});
const { advertiserId } = new advertising.Advertiser("acme", { advertiserName: "Acme" });
new advertising.ConversionEvent("other", { eventName: "Other", advertiserId, value: 1 }, { provider: one });`;
  const before = `${first}
new advertising.ConversionEvent("buy", { eventName: "Buy", advertiserId, value: 1, deletionPolicy: "delete" }, { provider: one });`;
  const stack = await newStack(throughPlugin(program(before)), {
    sandbox,
    environment: { ADVERTISING_OPERATIONS: JSON.stringify(operations) },
  });
  await well(stack.up());
  const { buy } = await stack.ids();
  const moved = `${first}
new advertising.ConversionEventSet("funnel", { advertiserId, deletionPolicy: "delete",
  events: { buy: { eventName: "Buy", value: 1, existingId: ${buy} } } });`;
  stack.program(throughPlugin(program(moved)));
  expect(await well(stack.up())).toContain("because it also belongs to funnel/buy");
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 0 });
  // By now only the set has it.
  stack.program(throughPlugin(program(`${first}\nexports.id = advertiserId;`)));
  expect(await well(stack.up())).not.toContain("was not deleted");
  expect(sandbox).toMatchObject({ eventPosts: 2, deletes: 1 });
});

it("what is saved beside a failure keeps its secrets", async () => {
  const sandbox = await useSandbox();
  const lost = { on: "event", act: true, with: { kind: "close-without-answer" } } as const;
  sandbox.fail({ ...lost, times: 2 });
  const names = `{ eventName: pulumi.secret("Hush hush"), advertiserId, value: 1 }`;
  const shop = `const { advertiserId } = new advertising.Advertiser("acme", { advertiserName: "Acme" });
const buy = new advertising.ConversionEvent("buy", ${names});
new advertising.ConversionEventSet("funnel", { advertiserId,
  events: pulumi.secret({ cart: { eventName: "Hush too", value: 1 } }) });`;
  const stack = await newStack(throughPlugin(program(shop)), { sandbox });
  await failed(stack.up());
  expect(sandbox.eventPosts).toBe(2);
  const exported = await stack.exported();
  expect(exported.match(/unresolved/g)?.length).toBeGreaterThan(1);
  for (const secret of ["Hush hush", "Hush too"]) expect(exported).not.toContain(secret);
});

it("Pulumi reads the schema from the package's folder", async () => {
  const stack = await newStack("", {});
  const printed = await well(stack.run(["package", "get-schema", PACKAGE]));
  const { resources, provider } = JSON.parse(printed);
  const committed = JSON.parse(readFileSync(join(PACKAGE, "schema.json"), "utf8"));
  const names = (all: object) => Object.keys(all).toSorted();
  expect(names(resources)).toEqual(names(committed.resources));
  expect(names(provider.inputProperties)).toEqual(
    names(committed.provider.inputProperties),
  );
});

it("all that is wrong with a resource or a provider is said at once, and nothing is sent", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack("", { sandbox });
  stack.program(
    throughPlugin(
      program(
        `new advertising.ConversionEvent("e", { eventName: "", advertiserId: "x", value: "1" });`,
      ),
    ),
  );
  const wrong = await failed(stack.preview());
  for (const name of ["eventName", "advertiserId", "value"]) expect(wrong).toContain(name);
  stack.program(
    throughPlugin(
      program(`const p = new advertising.Provider("p", { emial: "x", authMode: "none", email: pulumi.secret("needle mail"), password: "needle word\\n" });
new advertising.Advertiser("a", { advertiserName: "A" }, { provider: p });`),
    ),
  );
  const settings = await failed(stack.preview());
  expect(settings).toContain("emial");
  expect(settings).toContain("authMode");
  expect(settings).toContain("password expected");
  expect(settings).not.toContain("needle");
  expect(settings, "which would change nothing").not.toContain("pulumi config set");
  expect(sandbox.requests).toHaveLength(0);
});
