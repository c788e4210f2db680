/** Catalogs, applied for real. */
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

it("two catalogs below a component: its options reach their resources", async () => {
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
  const shop = program(`
class Shop extends pulumi.ComponentResource {
  constructor(name, options) {
    super("my:index:Shop", name, {}, options);
    this.catalogs = [
      new advertising.Catalog("one", { file: "one.yaml" }, { parent: this, protect: true }),
      new advertising.Catalog("two", { file: "two.json" }, { parent: this }),
    ];
  }
}
const { catalogs } = new Shop("shop");
exports.ids = catalogs.map(({ eventIds }) => eventIds);
exports.are = [catalogs[0], exports, advertising].map((each) => advertising.Catalog.isInstance(each));`);
  const stack = await newStack(shop, { sandbox });
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
});

it("as sets: one resource an advertiser, each event created once", async () => {
  const sandbox = await useSandbox();
  const shop = program(`exports.ids = new advertising.Catalog("shop", { file: "shop.yaml", sets: true }).eventIds;`);
  const stack = await newStack(shop, { sandbox });
  const yaml = `
defaults: { clickWindow: 7d }
advertisers:
  acme:
    advertiserName: Acme
    events:
      buy: { eventName: Buy, value: 1 }
      look: { eventName: Look, value: 0, clickWindow: 1d }
  hats:
    advertiserName: Hats
    events: { buy: { eventName: Buy, value: 2 } }
`;
  stack.write("shop.yaml", yaml);
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 2, eventPosts: 3 });
  expect(sandbox.events.map(({ click_window }) => click_window).sort()).toEqual([604_800, 604_800, 86_400]);
  const idOf = (name: string, value: number) =>
    sandbox.events.find((event) => event.event_name === name && event.value === value)?.id;
  const ids = { "acme/buy": idOf("Buy", 1), look: idOf("Look", 0), "hats/buy": idOf("Buy", 2) };
  expect((await stack.outputs()).ids).toEqual(ids);
  const below = "urn:pulumi:dev::tiny::advertising:index:Catalog$pulumi-nodejs:dynamic/advertising";
  expect((await stack.resources()).map(({ urn }) => urn.replace(below, ""))).toEqual([
    ":Advertiser::shop/acme",
    ":Advertiser::shop/hats",
    ":ConversionEventSet::shop/acme",
    ":ConversionEventSet::shop/hats",
  ]);

  expect(sandbox.creates).toBe(5);
});
