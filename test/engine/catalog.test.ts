/** Catalogs, applied for real. */
import { expect, it } from "vitest";
import { asSpreadsheet, csvOf } from "../support/catalogs.js";
import { newStack, program, useSandbox } from "../support/stack.js";

const CATALOG = program(`
const shop = new advertising.Catalog("shop", { file: "events.csv" });
exports.advertiserIds = shop.advertiserIds;
exports.eventIds = shop.eventIds;`);

it("200 events of a spreadsheet: each created once; no change in another order; a mistake is no removal", async () => {
  const sandbox = await useSandbox();
  // Saving the state after each of 212 steps would be a third of the run.
  const stack = await newStack(CATALOG, { sandbox, environment: { PULUMI_SKIP_CHECKPOINTS: "true" } });
  const [header = "", ...rows] = csvOf(200);

  stack.write("events.csv", asSpreadsheet([header, ...rows]));
  const { code, output } = await stack.up();
  expect(code, output).toBe(0);
  expect(sandbox).toMatchObject({ logins: 1, advertiserPosts: 10, eventPosts: 200 });
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
  expect(preview.output).toContain("212 unchanged");
  expect(preview.output).not.toMatch(/warning|info/i);
  expect(preview.code).toBe(0);

  // A mistake in one row is not a removal of the others.
  stack.write("events.csv", asSpreadsheet([header, ...rows, rows[0] ?? ""]));
  const again = await stack.preview();
  expect(again.code).not.toBe(0);
  expect(again.output).toContain("1 problem; nothing was registered and nothing was sent.");
  expect(again.output).not.toContain("No longer declared");
  expect(sandbox.creates).toBe(210);
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
  const renamed = await stack.preview("--expect-no-changes");
  expect(renamed.output).not.toContain("to create");
  const moved = await stack.up();
  expect(moved.code, moved.output).toBe(0);
  expect(sandbox.creates).toBe(6);
});

it("what is wrong with a catalog's arguments, options and file is told with the rest of the program", async () => {
  const sandbox = await useSandbox();
  const stack = await newStack(
    program(`
new advertising.Advertiser("a", { advertiserName: "A", existingId: 7 });
new advertising.Catalog("one", { file: "no.yaml" });
new advertising.Catalog("two", { file: pulumi.output("two.yaml"), fil: 1 });
new advertising.Catalog("three", { file: "three.csv" }, { retainOnDelete: false });
new advertising.Catalog("four");
new advertising.Advertiser("b", { advertiserName: "" });`),
    { sandbox },
  );
  stack.write("three.csv", "key,advertiser,eventName,value,clickWindow\nx,7,X,1,7\ny,7,x ,1,7d\n");
  const { code, output } = await stack.preview();
  expect(code).not.toBe(0);
  const lines = output.split("\n").map((line) => line.trim());
  for (const line of [
    "error: 6 problems; nothing was registered and nothing was sent.",
    expect.stringMatching(/^no\.yaml:1:1 is not there; looked for \/.*no\.yaml$/),
    "file expected the path of a file, known when the program runs; got an object",
    "fil is not a known argument; did you mean file?",
    expect.stringMatching(/^retainOnDelete can't be false/),
    "file is required: expected the path of a file, known when the program runs",
    expect.stringMatching(/^advertiserName expected a string of at least 1 character/),
    "three.csv:2 7/x: clickWindow is 7 seconds; windows are seconds if no unit is written. If days were meant, write 7d",
    'three.csv:3 7/y: eventName "x" is also the name of "7/x", case and separators aside',
  ])
    expect(lines).toContainEqual(line);
  expect(output).not.toContain("advertising.days(7)");
  expect(sandbox.requests).toEqual([]);
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
  const preview = (await stack.preview()).output;
  expect(preview).toContain(`to delete, if everything else goes well: b (${of("B sets")})`);
  const sets = `sets/Hats \\(\\d\\), sets/Hats/c \\(${of("C sets")}\\)`;
  const single = `shop/Acme/b \\(${of("B shop")}\\), shop/Hats \\(\\d\\), shop/Hats/c \\(${of("C shop")}\\)`;
  expect(preview).toMatch(
    new RegExp(`No longer declared: ${sets}, ${single}\\. What leaves the state without a delete`),
  );
  const removed = await stack.up();
  expect(removed.code, removed.output).toBe(0);
  for (const id of gone) expect(sandbox.events.map((each) => each.id)).not.toContain(id);
  expect(sandbox).toMatchObject({ creates: 10, deletes: 4 });
  expect(sandbox.advertisers).toHaveLength(4);

  // The way to keep an object: the option first, the resource afterwards.
  stack.program(catalogs());
  expect((await stack.up()).code).toBe(0);
  stack.program(program(""));
  const kept = await stack.up();
  expect(kept.code, kept.output).toBe(0);
  expect(sandbox).toMatchObject({ creates: 10, deletes: 4 });
});
