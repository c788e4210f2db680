/** Catalogs, applied for real. */
import { expect, it } from "vitest";
import { asSpreadsheet, csvOf } from "../support/catalogs.js";
import { newStack, program, useSandbox } from "../support/stack.js";

const CATALOG = program(`
const shop = new advertising.Catalog("shop", { file: "events.csv" });
exports.advertiserIds = shop.advertiserIds;
exports.eventIds = shop.eventIds;`);

it("60 events of a spreadsheet: each created once; no change in another order", async () => {
  const sandbox = await useSandbox();
  // Saving the state after each step would be a third of the run.
  const stack = await newStack(CATALOG, { sandbox, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } });
  const [header = "", ...rows] = csvOf(60);

  stack.write("events.csv", asSpreadsheet([header, ...rows]));
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 10, eventPosts: 60 });
  expect(sandbox.events.find(({ event_name }) => event_name === "Purchase; no. 7")).toMatchObject({
    value: 7.5,
    event_type_id: 1,
    click_window: 604_800,
    view_window: 43_200,
    attribution: "WHITELIST",
    advertiser_id: sandbox.advertisers.find(({ advertiser_name }) => advertiser_name === "Store 7")?.id,
  });
  const { advertiserIds, eventIds } = (await stack.outputs()) as Record<string, Record<string, number>>;
  expect(advertiserIds?.["Store 3"]).toBe(
    sandbox.advertisers.find(({ advertiser_name }) => advertiser_name === "Store 3")?.id,
  );
  expect(eventIds).toEqual(
    Object.fromEntries(
      rows.map((_, i) => [
        `event-${i}`,
        sandbox.events.find(({ event_name }) => event_name === `Purchase; no. ${i}`)?.id,
      ]),
    ),
  );

  // In another order, with other delimiters, line breaks and spellings.
  const shuffled = [...rows.filter((_, i) => i % 3 === 0), ...rows.filter((_, i) => i % 3 !== 0).toReversed()];
  stack.write("events.csv", [header, ...shuffled].join("\n").replaceAll(";7d;", "; 7 days ;"));
  const preview = await stack.preview("--expect-no-changes");
  expect(preview.output).toContain("72 unchanged");
  expect(preview.output).not.toMatch(/warning|info/i);
  expect(preview.code).toBe(0);

  expect(sandbox.creates).toBe(70);
});

it("two catalogs below a component: its options reach their resources; with an alias a renamed one keeps them", async () => {
  const sandbox = await useSandbox();
  const yaml = (name: string) =>
    `advertisers: { a: { advertiserName: ${name}, events: { buy: { eventName: Buy, value: 1 }, constructor: { eventName: C, value: 1 } } } }`;
  const json = JSON.stringify({
    advertisers: {
      a: {
        advertiserName: "Two",
        events: { buy: { eventName: "buy", value: 2 }, sell: { eventName: "sell", value: 2 } },
      },
    },
  });
  const body = (name: string, options: string, shop = `"shop"`) =>
    program(`
class Shop extends pulumi.ComponentResource {
  constructor(name, options) {
    super("my:index:Shop", name, {}, options);
    this.catalogs = [
      new advertising.Catalog("one", { file: "one.yaml" }, { parent: this, protect: true }),
      new advertising.Catalog("${name}", { file: "two.json" }, { parent: this${options} }),
    ];
  }
}
const { catalogs } = new Shop(${shop});
exports.ids = catalogs.map(({ eventIds }) => eventIds);
exports.are = [catalogs[0], exports, advertising].map((each) => advertising.Catalog.isInstance(each));`);
  const stack = await newStack(body("two", ""), { sandbox });
  stack.write("one.yaml", yaml("One"));
  stack.write("two.json", json);
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 4 });
  const resources = (await stack.resources()) as readonly {
    urn: string;
    protect?: boolean;
    retainOnDelete?: boolean;
  }[];
  const below = "urn:pulumi:dev::tiny::my:index:Shop$advertising:index:Catalog$pulumi-nodejs:dynamic/advertising";
  expect(resources.map(({ urn, protect = false, retainOnDelete }) => [urn, protect, retainOnDelete])).toEqual([
    [`${below}:Advertiser::one/a`, true, true],
    [`${below}:Advertiser::two/a`, false, true],
    [`${below}:ConversionEvent::one/a/buy`, true, true],
    [`${below}:ConversionEvent::one/a/constructor`, true, true],
    [`${below}:ConversionEvent::two/a/buy`, false, true],
    [`${below}:ConversionEvent::two/a/sell`, false, true],
  ]);
  expect(await stack.outputs()).toMatchObject({
    ids: ["constructor", "sell"].map((other) => ({ buy: expect.any(Number), [other]: expect.any(Number) })),
    are: [true, false, false],
  });

  const options = ', aliases: [{ name: "two" }]';
  stack.program(body("zwei", options, `"store", { aliases: [{ name: "shop" }] }`));
  const moved = await stack.up("--expect-no-changes");
  expect(moved.code, moved.output).toBe(0);
  expect(sandbox.creates).toBe(6);
});

it("as sets: one resource an advertiser, each event created once; with existingId in the file they become single ones", async () => {
  const sandbox = await useSandbox();
  const as = (sets: boolean) =>
    program(`exports.ids = new advertising.Catalog("shop", { file: "shop.yaml", sets: ${sets} }).eventIds;`);
  const stack = await newStack(as(true), { sandbox });
  const yaml = (more: readonly string[] = ["", "", ""]) => `
defaults: { clickWindow: 7d }
advertisers:
  acme:
    advertiserName: Acme
    events:
      buy: { eventName: Buy, value: 1${more[0]} }
      look: { eventName: Look, value: 0, clickWindow: 1d${more[1]} }
  hats:
    advertiserName: Hats
    events: { buy: { eventName: Buy, value: 2${more[2]} } }
`;
  stack.write("shop.yaml", yaml());
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3 });
  expect(sandbox.events.map(({ click_window }) => click_window).sort()).toEqual([604_800, 604_800, 86_400]);
  const idOf = (name: string, value: number) =>
    sandbox.events.find((event) => event.event_name === name && event.value === value)?.id;
  const ids = { "acme/buy": idOf("Buy", 1), look: idOf("Look", 0), "hats/buy": idOf("Buy", 2) };
  expect((await stack.outputs()).ids).toEqual(ids);
  const below = "urn:pulumi:dev::tiny::advertising:index:Catalog$pulumi-nodejs:dynamic/advertising";
  const urns = async () => (await stack.resources()).map(({ urn }) => urn.replace(below, ""));
  expect(await urns()).toEqual([
    ":Advertiser::shop/acme",
    ":Advertiser::shop/hats",
    ":ConversionEventSet::shop/acme",
    ":ConversionEventSet::shop/hats",
  ]);

  stack.program(as(false));
  stack.write(
    "shop.yaml",
    yaml(Object.values({ a: ids["acme/buy"], b: ids.look, c: ids["hats/buy"] }).map((id) => `, existingId: ${id}`)),
  );
  const adopted = await stack.up();
  expect(adopted.code, adopted.output).toBe(0);
  expect((await stack.outputs()).ids).toEqual(ids);
  expect(await urns()).toHaveLength(5);
  expect(sandbox.creates).toBe(5);
});

it("with retainOnDelete: false it deletes what can be deleted, and nothing else; as sets too", async () => {
  const sandbox = await useSandbox({ operations: true });
  const FORMS = ["shop", "sets"] as const;
  const catalogs = (options = "") =>
    program(
      FORMS.map(
        (form) =>
          `new advertising.Catalog("${form}", { file: "${form}.csv", sets: ${form === "sets"} }, { ${options} });`,
      ).join("\n"),
    );
  const operations = { event: { delete: "DELETE rest/event/{id}" }, createdVisibleAfterSeconds: 0 };
  const stack = await newStack(catalogs("retainOnDelete: false"), {
    sandbox,
    environment: { ADVERTISING_OPERATIONS: JSON.stringify(operations) },
  });
  const write = (rows: number) => {
    for (const form of FORMS) {
      const all = ["key,advertiser,eventName,value", `a,Acme,A ${form},1`, `b,Acme,B ${form},2`, `c,Hats,C ${form},3`];
      stack.write(`${form}.csv`, all.slice(0, 1 + rows).join("\n"));
    }
  };
  write(3);
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  const retained = ({ urn, retainOnDelete = false }: { readonly urn: string; readonly retainOnDelete?: boolean }) =>
    retainOnDelete ? [urn.split("::").at(-1)] : [];
  const { deployment } = JSON.parse(await stack.exported());
  const advertisers = ["sets/Acme", "sets/Hats", "shop/Acme", "shop/Hats"];
  expect(deployment.resources.flatMap(retained).toSorted()).toEqual(advertisers);

  const of = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const gone = ["B shop", "C shop", "B sets", "C sets"].map(of);
  write(1);
  const removed = await stack.up();
  expect(removed.code, removed.output).toBe(0);
  for (const id of gone) expect(sandbox.events.map((each) => each.id)).not.toContain(id);
  expect(sandbox).toMatchObject({ creates: 10, deletes: 4 });
  expect(sandbox.advertisers).toHaveLength(4);
});
