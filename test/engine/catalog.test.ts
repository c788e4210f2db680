/** Catalogs, applied for real. */
import { expect, it } from "vitest";
import { newStack, program, useSandbox } from "../support/stack.js";

const ONE = `advertisers: { a: { advertiserName: One, events: { buy: { eventName: Buy, value: 1 }, constructor: { eventName: C, value: 1 } } } }`;
const SETS = `
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

it("below a component, whose options reach their resources; and as sets, one resource an advertiser: each event created once", async () => {
  const sandbox = await useSandbox();
  const shop = program(`
class Shop extends pulumi.ComponentResource {
  constructor(name, options) {
    super("my:index:Shop", name, {}, options);
    this.catalog = new advertising.Catalog("one", { file: "one.yaml" }, { parent: this, protect: true });
  }
}
const { catalog } = new Shop("shop");
const sets = new advertising.Catalog("sets", { file: "sets.yaml", sets: true });
exports.ids = [catalog, sets].map(({ eventIds }) => eventIds);
exports.are = [catalog, exports, advertising].map((each) => advertising.Catalog.isInstance(each));`);
  const stack = await newStack(shop, { sandbox });
  stack.write("one.yaml", ONE);
  stack.write("sets.yaml", SETS);
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ advertiserPosts: 3, eventPosts: 5 });
  expect(
    sandbox.events.filter(({ click_window }) => click_window === 604_800),
  ).toHaveLength(2);
  const idOf = (name: string, value: number) =>
    sandbox.events.find(
      (event) =>
        event.event_name === name &&
        event.value === value &&
        event.click_window !== 2592000,
    )?.id;
  const ids: readonly object[] = [
    { buy: expect.any(Number), constructor: expect.any(Number) },
    { "acme/buy": idOf("Buy", 1), look: idOf("Look", 0), "hats/buy": idOf("Buy", 2) },
  ];
  expect(await stack.outputs()).toEqual({ ids, are: [true, false, false] });
  const resources = (await stack.resources()) as readonly {
    urn: string;
    protect?: boolean;
    retainOnDelete?: boolean;
  }[];
  const of = (urn: string) =>
    urn
      .split("::")
      .slice(2)
      .join("::")
      .replaceAll("pulumi-nodejs:dynamic/advertising:", "");
  expect(
    resources.map(({ urn, protect = false, retainOnDelete }) => [
      of(urn),
      protect,
      retainOnDelete,
    ]),
  ).toEqual([
    ["advertising:index:Catalog$Advertiser::sets/acme", false, true],
    ["advertising:index:Catalog$Advertiser::sets/hats", false, true],
    ["advertising:index:Catalog$ConversionEventSet::sets/acme", false, true],
    ["advertising:index:Catalog$ConversionEventSet::sets/hats", false, true],
    ["my:index:Shop$advertising:index:Catalog$Advertiser::one/a", true, true],
    ["my:index:Shop$advertising:index:Catalog$ConversionEvent::one/a/buy", true, true],
    [
      "my:index:Shop$advertising:index:Catalog$ConversionEvent::one/a/constructor",
      true,
      true,
    ],
  ]);
});

it("a file with a mistake: the program's one error lists it, also if the program uses the ids of what is right", async () => {
  const sandbox = await useSandbox();
  const shop = program(`
const { eventIds } = new advertising.Catalog("shop", { file: "shop.yaml" });
exports.text = eventIds.apply((ids) => ids.buy.toFixed());
new advertising.Advertiser("wrong", { advertiserName: "" });`);
  const stack = await newStack(shop, { sandbox });
  stack.write(
    "shop.yaml",
    "advertisers: { a: { advertiserName: A, events: { buy: { eventName: Buy, value: 1 }, sell: { eventName: Sell } } } }",
  );
  const { code, output } = await stack.up();
  expect(code).not.toBe(0);
  expect(output).toContain("2 problems");
  expect(output).toContain("a/sell: value is required");
  expect(output).not.toContain("TypeError");
  expect(sandbox.creates).toBe(0);
});
