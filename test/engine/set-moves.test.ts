/** Events that move between single resources, sets and a catalog: nothing is sent with existingId, and a warning comes before it without. */
import { resolve } from "node:path";
import { expect, it } from "vitest";
import { newStack, program, runProcess, type TestStack, useSandbox } from "../support/stack.js";

const command = resolve(import.meta.dirname, "../../provider/dist/tools/command.js");

/** Events of one shop, by their place: `purchase` and `lead` as single resources or in sets. */
const shop = (places: { single?: Record<string, string>; a?: Record<string, string>; b?: Record<string, string> }) => {
  const entries = (given: Record<string, string> = {}) =>
    Object.entries(given).map(
      ([key, more]) => [key, `{ eventName: "${key.split("-")[0]}", value: 5, ${more} }`] as const,
    );
  const set = (name: string, given: Record<string, string> | undefined) =>
    given === undefined
      ? ""
      : `new advertising.ConversionEventSet("${name}", { advertiserId: 1, events: { ${entries(given)
          .map(([key, entry]) => `"${key}": ${entry}`)
          .join(", ")} } });`;
  return program(
    [
      ...entries(places.single).map(
        ([key, entry]) => `new advertising.ConversionEvent("${key}", { ...${entry}, advertiserId: 1 });`,
      ),
      set("a", places.a),
      set("b", places.b),
    ].join("\n"),
  );
};

it("single to set, key to key, set to set, set to single", async () => {
  const sandbox = await useSandbox({ firstId: 11, objects: { advertisers: [{ id: 1, active: true }], events: [] } });
  const stack: TestStack = await newStack(shop({ single: { purchase: "", lead: "" }, b: {} }), { sandbox });
  expect((await stack.up()).code).toBe(0);
  const id = (name: string) => sandbox.events.find(({ event_name }) => event_name === name)?.id;
  const [purchase, lead] = [id("purchase"), id("lead")];
  expect(sandbox.eventPosts).toBe(2);

  const warned = async (text: string, words: string | RegExp) => {
    stack.program(text);
    const { code, output } = await stack.preview();
    expect(code, output).toBe(0);
    expect(output).toMatch(/warning/);
    expect(output.replaceAll(/\s+/g, " ")).toMatch(words);
  };
  const moved = async (text: string) => {
    stack.program(text);
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    expect(output).not.toContain("second");
    expect(sandbox.eventPosts, output).toBe(2);
    return output;
  };
  const [isPurchase, isLead] = [`existingId: ${purchase}`, `existingId: ${lead}`];

  await warned(
    shop({ a: { purchase: "", lead: isLead }, b: {} }),
    new RegExp(
      `\`purchase\` \\(${purchase}\\) is no longer declared and \`a\\["purchase"\\]\` has the same arguments.*set existingId: ${purchase}`,
    ),
  );
  await moved(shop({ a: { purchase: isPurchase, lead: isLead }, b: {} }));

  await warned(
    shop({ a: { "purchase-web": "", lead: "" }, b: {} }),
    new RegExp(
      `1 new key has the arguments of a key that is no longer declared.*purchase-web has the arguments of purchase: existingId: ${purchase}`,
    ),
  );
  await moved(shop({ a: { "purchase-web": isPurchase, lead: "" }, b: {} }));

  await warned(
    shop({ a: { lead: "" }, b: { purchase: "" } }),
    new RegExp(
      `\`a\\["purchase-web"\\]\` \\(${purchase}\\) is no longer declared and \`b\\["purchase"\\]\` has the same arguments.*set existingId: ${purchase}`,
    ),
  );
  await moved(shop({ a: { lead: "" }, b: { purchase: isPurchase } }));

  await warned(
    shop({ single: { purchase: "" }, a: { lead: "" }, b: {} }),
    new RegExp(
      `\`b\\["purchase"\\]\` \\(${purchase}\\) is no longer declared and \`purchase\` has the same arguments.*set existingId: ${purchase}`,
    ),
  );
  await moved(shop({ single: { purchase: isPurchase }, a: { lead: "" }, b: {} }));

  // Once moved, existingId may go.
  expect(await moved(shop({ single: { purchase: "" }, a: { lead: "" }, b: {} }))).toContain("4 unchanged");

  // An id that comes late: before it is known, no message says to deactivate the object; both are true whatever the engine calls first.
  const late = `existingId: pulumi.secret(new Promise((later) => setTimeout(() => later(${lead}), 1500)))`;
  stack.program(shop({ single: { purchase: "", lead: late }, a: {}, b: {} }));
  const { output: previewed } = await stack.preview();
  const upped = await moved(shop({ single: { purchase: "", lead: late }, a: {}, b: {} }));
  expect(previewed).toContain(`to remove from the state: lead (${lead}`);
  for (const output of [previewed, upped]) expect(output).not.toMatch(/by hand\.|No longer managed/);
  expect((await stack.up()).output).toContain("5 unchanged");
});

it("with deletes on, a renamed key, moves and swaps of rows, members and single events: with existingId nothing is sent or deleted", async () => {
  const sandbox = await useSandbox({
    operations: true,
    firstId: 11,
    objects: { advertisers: [{ id: 1, advertiser_name: "A", active: true }], events: [] },
  });
  const environment = { ADVERTISING_OPERATIONS: JSON.stringify({ event: { delete: "DELETE rest/event/{id}" } }) };
  const stack = await newStack("", { sandbox, environment });
  type Places = Readonly<Record<string, string>>;
  /** Where each event is, by its name: a row of the catalog, a member of a set, or a single one. The moved ones name their object. */
  const declare = (places: Places, before?: Places) => {
    const of = (owner: string) =>
      Object.entries(places).flatMap(([place, eventName]) => {
        const [, key = ""] = place.split(`${owner}/`);
        const isMoved = before !== undefined && before[place] !== eventName;
        const found = sandbox.events.find(({ event_name }) => event_name === eventName);
        return place.startsWith(`${owner}/`) ? [{ key, eventName, existingId: isMoved ? found?.id : undefined }] : [];
      });
    const rows = of("row").map(({ key, eventName, existingId = "" }) => `${key},1,${eventName},1,${existingId}`);
    stack.write("shop.csv", ["key,advertiser,eventName,value,existingId", ...rows].join("\n"));
    const own = (name: string) =>
      JSON.stringify(Object.fromEntries(of(name).map(({ key, ...args }) => [key, { ...args, value: 1 }])));
    stack.program(
      program(`
const deleted = { retainOnDelete: false };
new advertising.Catalog("shop", { file: "shop.csv" }, deleted);
for (const [name, events] of Object.entries({ s: ${own("s")}, t: ${own("t")} }))
  new advertising.ConversionEventSet(name, { advertiserId: 1, events }, deleted);
for (const [name, args] of Object.entries(${own("single")}))
  new advertising.ConversionEvent(name, { advertiserId: 1, ...args }, deleted);`),
    );
  };
  const held = async () => {
    const resources = await stack.resources();
    const ids = resources.flatMap(({ urn, id, outputs }): [string, string][] => {
      const name = urn.split("::").at(-1)?.replace("shop/1/", "row/") ?? "";
      const members = Object.entries((outputs?.eventIds ?? {}) as Record<string, number>);
      if (outputs?.eventIds !== undefined) return members.map(([key, each]) => [`${name}/${key}`, String(each)]);
      return [[name.includes("/") ? name : `single/${name}`, String(id)]];
    });
    const nameOf = (id: string) => sandbox.events.find((each) => String(each.id) === id)?.event_name;
    return Object.fromEntries(ids.map(([place, id]) => [place, nameOf(id)]));
  };
  const upAs = async (places: Places) => {
    const { code, output } = await stack.up();
    expect(code, output).toBe(0);
    expect(await held()).toEqual(places);
    expect(sandbox).toMatchObject({ eventPosts: 8, deletes: 0 });
  };

  const begun = {
    "row/a": "A",
    "row/b": "B",
    "row/c": "C",
    "s/x": "X",
    "s/y": "Y",
    "t/z": "Z",
    "single/e": "E",
    "single/f": "F",
  };
  declare(begun);
  await upAs(begun);

  const { "row/a": _, ...others } = begun;
  const renamed = { ...others, "row/a2": "A" };
  declare(renamed, renamed);
  const a = sandbox.events.find(({ event_name }) => event_name === "A")?.id;
  const preview = await stack.preview();
  const json = await stack.preview("--json", "--show-sames");
  const args = ["report", "comment"];
  const comment = await runProcess("node", [command, ...args], stack.programFolder, stack.environment, json.output);
  expect(preview.output).toContain(
    `set existingId: ${a} in the catalog's file (in a CSV file, the column existingId of its row).`,
  );
  expect(comment.output).toContain(`add <code>existingId: ${a}</code> to <code>shop/1/a2</code>`);
  for (const { output } of [preview, comment]) expect(output).not.toContain("alias");
  declare(renamed, begun);
  await upAs(renamed);

  const moved = {
    "row/a2": "A",
    "single/b": "B",
    "row/c": "C",
    "single/x": "X",
    "t/y": "Y",
    "s/z": "Z",
    "s/e": "E",
    "row/f": "F",
  };
  declare(moved, renamed);
  await upAs(moved);
  const swapped = {
    "row/a2": "C",
    "row/b": "B",
    "row/c": "A",
    "s/z": "E",
    "s/e": "Y",
    "t/y": "Z",
    "single/x": "F",
    "row/f": "X",
  };
  declare(swapped, moved);
  await upAs(swapped);
});
